//! Loops: iteration by iteration, or one iteration that stands for all.
//!
//! A summary says of each register that the loop writes how it looks at the beginning of iteration `k`: as before the
//! loop plus `k` times a step, or some number of a range, or anything. What it says is guessed from one iteration and
//! then verified: an iteration that begins so must end as the next one begins. How often a loop goes around follows
//! from what holds where it does not end.

use std::rc::Rc;

use super::super::linear::{Linear, Symbol, SymbolKind};
use super::super::path::{Fact, Path};
use super::super::value::Value;
use super::{Execution, Frame, LOOP_STEPS, Mode, State, Stop};
use crate::analysis::{Block, LoopId};
use crate::ir::Reg;

/// What a register is at the beginning of an iteration.
#[derive(Clone, Debug, PartialEq)]
enum Shape {
    /// As before the loop, plus the number of the iteration times this.
    Steps(i64),
    /// A number of a range, or an offset in the object from before the loop.
    Within(i64, i64),
    /// Anything, or in the object from before the loop at any offset.
    Any,
    /// Nobody knows.
    Unknown,
}

/// No loop is thought to go around more often.
const MOST_ITERATIONS: i64 = 1 << 54;
/// How often guesses are made weaker.
const ATTEMPTS: usize = 5;

/// What is thrown away when an execution of a loop was only a trial.
#[derive(Clone, Copy)]
struct Mark(usize, usize, usize);

impl Execution<'_> {
    /// Executes a loop; returns where control leaves it, with which state.
    pub(super) fn run_loop(&mut self, id: LoopId, state: State) -> Result<Vec<(Block, State)>, Stop> {
        let mark = self.mark();
        let divergence = self.divergence;
        let (depth, frames) = (self.depth, self.frames.len());
        if !self.summarised.contains(&id) {
            let limit = self.steps + LOOP_STEPS[usize::from(self.code.loops[id].has_barrier)];
            match self.run_frame(id, Mode::Concrete, limit, state.clone()) {
                Ok((frame, _)) => return Ok(frame.exits),
                Err(Stop::Summarise(wanted)) if wanted == id => {
                    self.summarised.insert(id);
                    self.back_to(mark);
                    self.divergence = divergence;
                    self.depth = depth;
                    self.frames.truncate(frames);
                }
                Err(stop) => return Err(stop),
            }
        }
        self.summarise(id, &state)
    }

    fn mark(&self) -> Mark {
        Mark(self.records.len(), self.refusals.len(), self.bad_barriers.len())
    }

    fn back_to(&mut self, Mark(records, refusals, barriers): Mark) {
        self.records.truncate(records);
        self.refusals.truncate(refusals);
        self.bad_barriers.truncate(barriers);
    }

    /// Executes from the header; returns the frame, and the state in which control comes back to the header.
    fn run_frame(&mut self, id: LoopId, mode: Mode, limit: u64, state: State) -> Result<(Frame, Option<State>), Stop> {
        let header = self.code.loops[id].header;
        let depth = self.depth + 1;
        self.frames.push(Frame { id, mode, exits: Vec::new(), goes_on: Vec::new(), is_uniform: true, depth, limit });
        let stop = (mode != Mode::Concrete).then_some(header);
        let back = self.run(header, stop, state)?;
        let frame = self.frames.pop().expect("the frame is there");
        Ok((frame, back))
    }

    fn summarise(&mut self, id: LoopId, before: &State) -> Result<Vec<(Block, State)>, Stop> {
        let code = self.code;
        let mark = self.mark();
        let (_, after) = self.run_frame(id, Mode::Probe, 0, before.clone())?;
        self.back_to(mark);
        let Some(after) = after else {
            // It never goes around.
            let (frame, _) = self.run_frame(id, Mode::Summary, 0, before.clone())?;
            return Ok(frame.exits);
        };
        let header = code.loops[id].header;
        let live = &code.blocks[header].live;
        let written: Vec<Reg> = code.loops[id].written.iter().copied().filter(|reg| live.contains(reg)).collect();
        let mut shapes: Vec<Shape> = written
            .iter()
            .map(|&reg| self.guess(&before.regs[reg], &before.path, &after.regs[reg], &after.path))
            .collect();
        let mut interval_step = after.interval.plus(&before.interval, -1).and_then(|step| step.as_constant());
        for attempt in 0.. {
            if attempt >= ATTEMPTS {
                shapes.iter_mut().for_each(|shape| {
                    if matches!(shape, Shape::Steps(_) | Shape::Within(..)) {
                        *shape = Shape::Any;
                    }
                });
            }
            // With few iterations nothing overflows: what holds where the loop goes on, as a function of their number.
            let few = self.arithmetic.symbols.push(SymbolKind::Other, (0, 1), true);
            let state = self.iteration(before, &written, &shapes, interval_step, few, &[]);
            let (probe, _) = self.run_frame(id, Mode::Probe, 0, state)?;
            self.back_to(mark);
            let known = self.arithmetic.symbols.next();
            let bounds: Vec<(Fact, Fact)> = probe
                .goes_on
                .iter()
                .filter(|fact| fact.linear().terms.iter().all(|term| term.0 <= few))
                .filter_map(|fact| Some((fact.clone(), self.bound(fact, few, &before.path)?)))
                .collect();
            debug_assert!(few < known);
            let many = self.arithmetic.symbols.push(SymbolKind::Other, (0, MOST_ITERATIONS), probe.is_uniform);
            let rename = |fact: &Fact| rename(fact, few, many);
            let facts: Vec<Fact> = bounds.iter().filter_map(|(_, bound)| rename(bound)).collect();
            let many = self.narrowed(before, &facts, many, probe.is_uniform);
            let facts: Vec<Fact> = bounds.iter().filter_map(|(_, bound)| self::rename(bound, few, many)).collect();
            let state = self.iteration(before, &written, &shapes, interval_step, many, &facts);
            self.divergence += u32::from(!probe.is_uniform);
            let (frame, back) = self.run_frame(id, Mode::Summary, 0, state)?;
            self.divergence -= u32::from(!probe.is_uniform);
            let relied_on = bounds.iter().map(|(fact, _)| self::rename(fact, few, many));
            let holds = relied_on.into_iter().all(|fact| fact.is_some_and(|fact| frame.goes_on.contains(&fact)));
            let is_uniform = frame.is_uniform || !probe.is_uniform;
            let mut is_verified = holds && is_uniform;
            if let Some(back) = &back {
                for (place, &reg) in written.iter().enumerate() {
                    let begins = &before.regs[reg];
                    if !self.is_verified(&shapes[place], begins, many, &back.regs[reg], &back.path) {
                        shapes[place] = weaker(&shapes[place], begins, &back.regs[reg]);
                        is_verified = false;
                    }
                }
                if let Some(step) = interval_step
                    && step_from(&before.interval, step, many, 1).as_ref() != Some(&*back.interval)
                {
                    interval_step = None;
                    is_verified = false;
                }
            }
            if is_verified {
                return Ok(frame.exits);
            }
            self.back_to(mark);
            if attempt > ATTEMPTS + 2 {
                break;
            }
        }
        Err(Stop::Refused(self.site, "is in a loop that is not understood"))
    }

    /// The state at the beginning of an iteration.
    fn iteration(
        &mut self,
        before: &State,
        written: &[Reg],
        shapes: &[Shape],
        interval_step: Option<i64>,
        number: Symbol,
        facts: &[Fact],
    ) -> State {
        let code = self.code;
        // Which threads come to an iteration is not said exactly.
        let mut state = State { is_certain: false, ..before.clone() };
        // What the loop writes and nobody reads at its beginning may stay as it is.
        for (&reg, shape) in written.iter().zip(shapes) {
            let signed = i128::from(i64::MAX) >> (64 - code.register_bits[reg].clamp(8, 64));
            let begins = &before.regs[reg];
            let linear = match (begins, shape) {
                (Value::Number(linear) | Value::Pointer(_, linear), Shape::Steps(step)) => {
                    step_from(linear, *step, number, 0)
                }
                (_, Shape::Within(least, most)) => {
                    Some(self.arithmetic.fresh((i128::from(*least), i128::from(*most)), false))
                }
                (_, Shape::Any) => Some(self.arithmetic.fresh((-signed - 1, signed), false)),
                _ => None,
            };
            state.regs[reg] = match (linear, begins) {
                (Some(linear), Value::Pointer(object, _)) => Value::Pointer(*object, Rc::new(linear)),
                (Some(linear), Value::Number(_)) => Value::number(linear),
                _ => Value::Unknown,
            };
        }
        state.interval = Rc::new(match interval_step {
            Some(step) => step_from(&before.interval, step, number, 0).unwrap_or_else(|| Linear::constant(0)),
            None => self.arithmetic.fresh((0, i64::MAX.into()), false),
        });
        Rc::make_mut(&mut state.path).assume(&self.arithmetic.symbols, facts);
        state
    }

    /// A symbol for the number of the iteration that has the range which follows from facts, if that is narrower.
    fn narrowed(&mut self, before: &State, facts: &[Fact], number: Symbol, is_uniform: bool) -> Symbol {
        let mut path = (*before.path).clone();
        if !path.assume(&self.arithmetic.symbols, facts) {
            // Nobody comes to the loop.
            return number;
        }
        let (least, most) = path.range_of(&self.arithmetic.symbols, number);
        self.arithmetic.symbols.push(SymbolKind::Other, (least.max(0), most.max(0)), is_uniform)
    }

    fn guess(&self, before: &Value, on: &Path, after: &Value, also: &Path) -> Shape {
        let symbols = &self.arithmetic.symbols;
        match (before, after) {
            (Value::Number(one), Value::Number(other)) => {
                match other.plus(one, -1).and_then(|difference| difference.as_constant()) {
                    Some(step) => Shape::Steps(step),
                    None => {
                        let (low, high) = (on.tight_range(symbols, one), also.tight_range(symbols, other));
                        let range = (low.0.min(high.0), low.1.max(high.1));
                        match (i64::try_from(range.0), i64::try_from(range.1)) {
                            (Ok(least), Ok(most)) => Shape::Within(least, most),
                            _ => Shape::Any,
                        }
                    }
                }
            }
            (Value::Pointer(object, one), Value::Pointer(same, other)) if object == same => {
                match other.plus(one, -1).and_then(|difference| difference.as_constant()) {
                    Some(step) => Shape::Steps(step),
                    None => Shape::Any,
                }
            }
            (Value::Number(_), Value::Unknown) => Shape::Any,
            _ => Shape::Unknown,
        }
    }

    /// Whether an iteration ends as the next one is said to begin.
    fn is_verified(&self, shape: &Shape, begins: &Value, number: Symbol, ends: &Value, path: &Path) -> bool {
        match (shape, begins, ends) {
            (Shape::Unknown, _, _) => true,
            (Shape::Steps(step), Value::Number(linear), Value::Number(ends)) => {
                step_from(linear, *step, number, 1).as_ref() == Some(&**ends)
            }
            (Shape::Steps(step), Value::Pointer(object, linear), Value::Pointer(same, ends)) => {
                object == same && step_from(linear, *step, number, 1).as_ref() == Some(&**ends)
            }
            (Shape::Within(least, most), Value::Number(_), Value::Number(ends)) => {
                let range = path.tight_range(&self.arithmetic.symbols, ends);
                i128::from(*least) <= range.0 && range.1 <= i128::from(*most)
            }
            (Shape::Any, Value::Number(_), Value::Number(_) | Value::Unknown) => true,
            (Shape::Any, Value::Pointer(object, _), Value::Pointer(same, _)) => object == same,
            _ => false,
        }
    }

    /// From what holds where the loop goes on, what holds in every iteration.
    ///
    /// If `m + a·k ≥ 0` at the end of iteration `k`, and `a` is negative, it held for `k - 1` in every iteration but the
    /// first; there, `m - a` is at least its minimum.
    fn bound(&self, fact: &Fact, number: Symbol, before: &Path) -> Option<Fact> {
        let linear = match fact {
            Fact::AtLeastZero(linear) => (**linear).clone(),
            Fact::NotZero(linear) => {
                // It goes towards zero in steps that do not miss it, so it does not get behind.
                let step = linear.coefficient(number);
                if step == 0 {
                    return None;
                }
                let linear = if step > 0 { linear.times(-1)? } else { (**linear).clone() };
                let step = -linear.coefficient(number);
                let begins = without(&linear, number);
                let is_multiple = linear.constant % step == 0 && linear.terms.iter().all(|term| term.1 % step == 0);
                if !is_multiple || before.tight_range(&self.arithmetic.symbols, &begins).0 < 0 {
                    return None;
                }
                linear.plus_constant(-step)?
            }
        };
        let step = linear.coefficient(number);
        if step >= 0 {
            return None;
        }
        let previous = linear.plus_constant(step.checked_neg()?)?;
        let least = before.tight_range(&self.arithmetic.symbols, &without(&previous, number)).0.min(0);
        Some(Fact::AtLeastZero(Rc::new(previous.plus_constant(i64::try_from(-least).ok()?)?)))
    }
}

/// A weaker shape than one that was not verified.
fn weaker(shape: &Shape, begins: &Value, ends: &Value) -> Shape {
    let is_same_kind = match (begins, ends) {
        (Value::Number(_), Value::Number(_) | Value::Unknown) => true,
        (Value::Pointer(object, _), Value::Pointer(same, _)) => object == same,
        _ => false,
    };
    match shape {
        Shape::Steps(_) | Shape::Within(..) if is_same_kind => Shape::Any,
        _ => Shape::Unknown,
    }
}

/// `linear + step × (number + more)`
fn step_from(linear: &Linear, step: i64, number: Symbol, more: i64) -> Option<Linear> {
    linear.plus(&Linear::symbol(number), step)?.plus_constant(step.checked_mul(more)?)
}

/// The expression where the symbol is zero.
fn without(linear: &Linear, symbol: Symbol) -> Linear {
    let mut linear = linear.clone();
    linear.terms.retain(|term| term.0 != symbol);
    linear
}

/// The same of another symbol.
fn rename(fact: &Fact, from: Symbol, to: Symbol) -> Option<Fact> {
    let rename = |linear: &Linear| {
        let coefficient = linear.coefficient(from);
        without(linear, from).plus(&Linear::symbol(to), coefficient).map(Rc::new)
    };
    Some(match fact {
        Fact::AtLeastZero(linear) => Fact::AtLeastZero(rename(linear)?),
        Fact::NotZero(linear) => Fact::NotZero(rename(linear)?),
    })
}
