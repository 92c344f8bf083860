//! Instructions: what they do to registers, memory and intervals.

use std::rc::Rc;

use super::super::code::{self, Access, Action, Logic, Source, Step, Width};
use super::super::linear::Linear;
use super::super::path::Path;
use super::super::record::Record;
use super::super::value::{Predicate, Value};
use super::{Execution, State, Stop};
use crate::types::Space;

impl Execution<'_> {
    pub(super) fn predicate(&self, state: &State, source: Source) -> Rc<Predicate> {
        match source {
            Source::Reg(reg) => match &state.regs[reg] {
                Value::Predicate(predicate) => Rc::clone(predicate),
                _ => Rc::new(Predicate::default()),
            },
            Source::Not(reg) => Rc::new(self.predicate(state, Source::Reg(reg)).negated()),
            Source::Int(value) => Rc::new(Predicate::known(value != 0)),
            _ => Rc::new(Predicate::default()),
        }
    }

    pub(super) fn step(&mut self, step: &Step, state: &mut State) -> Result<(), Stop> {
        let mut guard = None;
        if let Some((reg, negated)) = step.guard {
            let predicate = self.predicate(state, Source::Reg(reg));
            let predicate = if negated { Rc::new(predicate.negated()) } else { predicate };
            match predicate.decide(&state.path, &self.arithmetic.symbols) {
                Some(false) => return Ok(()),
                Some(true) => {}
                None => guard = Some(predicate),
            }
        }
        let Some(guard) = guard else {
            return self.execute(step, state);
        };
        // Only some threads do it.
        let mut own = state.clone();
        if !own.assume(&self.arithmetic, &guard.when_true) {
            return Ok(());
        }
        own.is_certain &= guard.is_exact[0];
        self.divergence += u32::from(!guard.is_uniform);
        let result = self.execute(step, &mut own);
        self.divergence -= u32::from(!guard.is_uniform);
        result?;
        for target in &step.targets {
            let (one, other) = (own.regs[target.reg].clone(), state.regs[target.reg].clone());
            state.regs[target.reg] = self.either(&one, &own.path, &other, &state.path, guard.is_uniform);
        }
        state.interval =
            self.arithmetic.either((&own.interval, &own.path), (&state.interval, &state.path), guard.is_uniform);
        Ok(())
    }

    fn execute(&mut self, step: &Step, state: &mut State) -> Result<(), Stop> {
        match &step.action {
            Action::Nothing => {}
            Action::Refused(reason) => {
                self.refusals.push((step.site, reason));
                self.write(step, state, Value::Unknown);
            }
            Action::Barrier => {
                if self.divergence > 0 {
                    self.bad_barriers.push(step.site);
                }
                let next = state.interval.plus_constant(1).expect("fewer barriers than 2^63");
                state.interval = Rc::new(next);
                self.write(step, state, Value::Unknown);
            }
            Action::Access(access) => {
                self.access(step, access, state);
                self.write(step, state, Value::Unknown);
            }
            Action::Load { access, value } => {
                let known = self.access(step, access, state);
                match (known, value) {
                    (Some(offset), Some(width)) if step.targets.len() == 1 => {
                        let value = self.objects.parameter(self.launch, offset, *width);
                        self.write(step, state, value);
                    }
                    (_, Some(width)) => {
                        for target in &step.targets {
                            state.regs[target.reg] = Value::number(self.arithmetic.fresh(width.range(), false));
                        }
                    }
                    (_, None) => self.write(step, state, Value::Unknown),
                }
            }
            Action::Compare { comparison, width, combine } => {
                let mut holds = self.compare(step, state, *comparison, *width);
                let mut fails = holds.negated();
                if let (Some(logic), Some(&source)) = (combine, step.sources.get(2)) {
                    let other = self.predicate(state, source);
                    holds = self.logic(*logic, &holds, &other, &state.path);
                    fails = self.logic(*logic, &fails, &other, &state.path);
                }
                for (target, value) in step.targets.iter().zip([holds, fails]) {
                    state.regs[target.reg] = Value::Predicate(Rc::new(value));
                }
            }
            Action::Logic(logic) => {
                let operands = [step.sources[0], step.sources[1]].map(|source| self.predicate(state, source));
                let value = self.logic(*logic, &operands[0], &operands[1], &state.path);
                self.write(step, state, Value::Predicate(Rc::new(value)));
            }
            Action::Complement => {
                let value = self.predicate(state, step.sources[0]).negated();
                self.write(step, state, Value::Predicate(Rc::new(value)));
            }
            Action::Select => {
                let chosen = self.predicate(state, step.sources[2]);
                let values = [step.sources[0], step.sources[1]].map(|source| self.value(state, source));
                let value = match chosen.decide(&state.path, &self.arithmetic.symbols) {
                    Some(holds) => values[usize::from(!holds)].clone(),
                    None => {
                        let mut paths = [(*state.path).clone(), (*state.path).clone()];
                        paths[0].assume(&self.arithmetic.symbols, &chosen.when_true);
                        paths[1].assume(&self.arithmetic.symbols, &chosen.when_false);
                        self.either(&values[0], &paths[0], &values[1], &paths[1], chosen.is_uniform)
                    }
                };
                self.write(step, state, value);
            }
            action => {
                let value = self.compute(action, step, state);
                self.write(step, state, value);
            }
        }
        Ok(())
    }

    /// Writes all registers of an instruction; several get what nobody knows.
    fn write(&self, step: &Step, state: &mut State, value: Value) {
        match &step.targets[..] {
            [target] => {
                let fits = target.is_predicate == matches!(value, Value::Predicate(_));
                state.regs[target.reg] = if fits { value } else { Value::Unknown };
            }
            targets => {
                for target in targets {
                    state.regs[target.reg] = Value::Unknown;
                }
            }
        }
    }

    fn logic(&self, logic: Logic, one: &Predicate, other: &Predicate, path: &Path) -> Predicate {
        let symbols = &self.arithmetic.symbols;
        match logic {
            Logic::And => one.and(other, path, symbols),
            Logic::Or => one.negated().and(&other.negated(), path, symbols).negated(),
            Logic::Xor => match (one.decide(path, symbols), other.decide(path, symbols)) {
                (Some(true), _) => other.negated(),
                (Some(false), _) => other.clone(),
                (_, Some(true)) => one.negated(),
                (_, Some(false)) => one.clone(),
                (None, None) => Predicate { is_uniform: one.is_uniform && other.is_uniform, ..Predicate::default() },
            },
        }
    }

    /// Records an access; for one of a parameter at a known place, that place.
    fn access(&mut self, step: &Step, access: &Access, state: &State) -> Option<i64> {
        let base = match access.base {
            Source::Other => Value::Unknown,
            base => self.value(state, base),
        };
        let is_narrow = matches!(access.base, Source::Reg(reg) if self.code.register_bits[reg] == 32);
        let address = match base {
            Value::Pointer(object, offset) => offset.plus_constant(access.offset).and_then(|offset| {
                // Addresses of 32 bits wrap: one offset has one number.
                let width = Width { bits: 32, signed: true };
                let offset = if is_narrow { self.arithmetic.wrap(&state.path, &offset, width)? } else { offset };
                Some((object, Rc::new(offset)))
            }),
            _ => None,
        };
        let address = address.filter(|(object, _)| {
            let space = self.objects[*object].space;
            access.space.is_none_or(|wanted| wanted == space || (wanted, space) == (Space::Global, Space::Const))
        });
        if let Some((object, offset)) = &address
            && *object == code::parameters()
            && let Some(offset) = offset.as_constant()
        {
            return Some(offset);
        }
        self.records.push(Record {
            site: step.site,
            address,
            access: *access,
            interval: Rc::clone(&state.interval),
            path: Rc::clone(&state.path),
            is_certain: state.is_certain,
        });
        None
    }

    pub(super) fn value(&self, state: &State, source: Source) -> Value {
        match source {
            Source::Reg(reg) => state.regs[reg].clone(),
            Source::Not(_) => Value::Predicate(self.predicate(state, source)),
            Source::Int(value) => Value::constant(value),
            Source::Special(special) => self.ids.special(special, self.launch),
            Source::Address(object, offset) => {
                Value::Pointer(self.objects.resolve(object), Rc::new(Linear::constant(offset)))
            }
            Source::Other => Value::Unknown,
        }
    }

    /// The number that a source is, if it is no pointer.
    pub(super) fn number(&mut self, state: &State, source: Source, width: Width) -> Option<Rc<Linear>> {
        match self.value(state, source) {
            Value::Number(linear) => Some(linear),
            Value::Unknown => Some(Rc::new(self.arithmetic.fresh(width.as_signed().range(), false))),
            Value::Pointer(..) | Value::Predicate(_) => None,
        }
    }
}
