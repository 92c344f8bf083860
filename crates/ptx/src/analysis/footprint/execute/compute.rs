//! What instructions compute from registers.

use std::rc::Rc;

use super::super::code::{Action, Comparison, Source, Step, Width};
use super::super::linear::Linear;
use super::super::path::Fact;
use super::super::value::{Predicate, Value};
use super::{Execution, State};
use crate::types::Space;

impl Execution<'_> {
    pub(super) fn compute(&mut self, action: &Action, step: &Step, state: &State) -> Value {
        self.try_compute(action, step, state).unwrap_or(Value::Unknown)
    }

    fn try_compute(&mut self, action: &Action, step: &Step, state: &State) -> Option<Value> {
        let path = Rc::clone(&state.path);
        let source = |place: usize| step.sources.get(place).copied().unwrap_or(Source::Other);
        let double = |width: Width| Width { bits: width.bits * 2, ..width };
        Some(match *action {
            Action::Copy => self.value(state, source(0)),
            Action::ConvertAddress => match self.value(state, source(0)) {
                pointer @ Value::Pointer(..) => pointer,
                _ => Value::Unknown,
            },
            Action::Add(width) => {
                let (one, other) = (self.value(state, source(0)), self.value(state, source(1)));
                self.add(state, one, other, 1, width)
            }
            Action::Sub(width) => {
                let (one, other) = (self.value(state, source(0)), self.value(state, source(1)));
                self.add(state, one, other, -1, width)
            }
            Action::Mul(width) | Action::Mad(width) => {
                let (one, other) = (self.number(state, source(0), width)?, self.number(state, source(1), width)?);
                let product = Value::number(self.arithmetic.multiply(&path, &one, &other, width));
                match action {
                    Action::Mad(_) => {
                        let addend = self.value(state, source(2));
                        self.add(state, product, addend, 1, width)
                    }
                    _ => product,
                }
            }
            Action::MulWide(width) | Action::MadWide(width) => {
                let (one, other) = (self.number(state, source(0), width)?, self.number(state, source(1), width)?);
                let (one, other) =
                    (self.arithmetic.wrap(&path, &one, width)?, self.arithmetic.wrap(&path, &other, width)?);
                let product = Value::number(self.arithmetic.multiply(&path, &one, &other, double(width)));
                match action {
                    Action::MadWide(_) => {
                        let addend = self.value(state, source(2));
                        self.add(state, product, addend, 1, double(width))
                    }
                    _ => product,
                }
            }
            Action::MulHigh(width) => {
                let (one, other) = (self.number(state, source(0), width)?, self.number(state, source(1), width)?);
                Value::number(self.arithmetic.multiply_high(&path, &one, &other, width))
            }
            Action::Div(width) | Action::Rem(width) => {
                let (one, other) = (self.number(state, source(0), width)?, self.number(state, source(1), width)?);
                let (quotient, rest) = self.arithmetic.divide_towards_zero(&path, &one, &other, width);
                Value::number(if matches!(action, Action::Div(_)) { quotient } else { rest })
            }
            Action::Neg(width) => {
                let number = self.number(state, source(0), width)?;
                Value::number(self.arithmetic.fit(&path, number.times(-1), width))
            }
            Action::Not(width) => {
                let number = self.number(state, source(0), width)?;
                Value::number(self.arithmetic.fit(&path, number.negated_at_least_zero(), width))
            }
            Action::Abs(width) => {
                let number = self.number(state, source(0), width)?;
                let number = self.arithmetic.wrap(&path, &number, width.as_signed())?;
                let range = path.range(&self.arithmetic.symbols, &number);
                if range.0 >= 0 {
                    Value::number(number)
                } else if range.1 <= 0 {
                    Value::number(self.arithmetic.fit(&path, number.times(-1), width))
                } else {
                    // The absolute value of the least number is itself.
                    let full = width.as_signed().range();
                    let range = if range.0 == full.0 { full } else { (0, range.1.max(-range.0)) };
                    Value::number(self.arithmetic.fresh(range, false))
                }
            }
            Action::Min(width) | Action::Max(width) => {
                let (one, other) = (self.number(state, source(0), width)?, self.number(state, source(1), width)?);
                let (one, other) =
                    (self.arithmetic.wrap(&path, &one, width)?, self.arithmetic.wrap(&path, &other, width)?);
                if matches!(action, Action::Min(_)) {
                    Value::number(self.arithmetic.minimum(&path, &one, &other))
                } else {
                    let smaller = self.arithmetic.minimum(&path, &one.times(-1)?, &other.times(-1)?);
                    Value::number(smaller.times(-1)?)
                }
            }
            Action::And(width) | Action::Or(width) | Action::Xor(width) => {
                let (one, other) = (self.number(state, source(0), width)?, self.number(state, source(1), width)?);
                Value::number(match action {
                    Action::And(_) => self.arithmetic.and(&path, &one, &other, width),
                    Action::Or(_) => self.arithmetic.or(&path, &one, &other, width),
                    _ => self.arithmetic.xor(&path, &one, &other, width),
                })
            }
            Action::ShiftLeft(width) => {
                let number = self.number(state, source(0), width)?;
                match self.shift(state, source(1), width)? {
                    amount if amount >= width.bits => Value::constant(0),
                    amount if amount < 62 => {
                        let product = number.times(1 << amount);
                        Value::number(self.arithmetic.fit(&path, product, width))
                    }
                    _ => Value::Unknown,
                }
            }
            Action::ShiftRight(width) => {
                let number = self.number(state, source(0), width)?;
                let Some(amount) = self.shift(state, source(1), width) else {
                    // Whatever the amount is, the number does not grow.
                    let number = self.arithmetic.wrap(&path, &number, width)?;
                    let range = path.range(&self.arithmetic.symbols, &number);
                    return Some(Value::number(self.arithmetic.fresh((range.0.min(0), range.1.max(0)), false)));
                };
                let number = self.arithmetic.wrap(&path, &number, width)?;
                // Shifting by all bits leaves the sign.
                let amount = if width.signed { amount.min(width.bits - 1) } else { amount };
                if amount >= width.bits {
                    Value::constant(0)
                } else if amount > 61 {
                    Value::Unknown
                } else {
                    Value::number(self.arithmetic.divide(&path, &number, 1 << amount).0)
                }
            }
            Action::ExtractBits(width) => {
                let number = self.number(state, source(0), width)?;
                let (first, count) = (self.shift(state, source(1), width)?, self.shift(state, source(2), width)?);
                if width.signed || first >= width.bits || count == 0 || first + count > width.bits || first + count > 61
                {
                    return None;
                }
                let number = self.arithmetic.wrap(&path, &number, width)?;
                let shifted = self.arithmetic.divide(&path, &number, 1 << first).0;
                Value::number(self.arithmetic.divide(&path, &shifted, 1 << count).1)
            }
            Action::InsertBits(width) => {
                let (field, into) = (self.number(state, source(0), width)?, self.number(state, source(1), width)?);
                let (first, count) = (self.shift(state, source(2), width)?, self.shift(state, source(3), width)?);
                if first >= width.bits || count == 0 || first + count > width.bits || first + count > 61 {
                    return None;
                }
                let mask = ((1_i64 << count) - 1) << first;
                let field = self.arithmetic.divide(&path, &field, 1 << count).1;
                let rest = self.arithmetic.and(&path, &into, &Linear::constant(!mask), width);
                let sum = rest.plus(&field, 1 << first);
                Value::number(self.arithmetic.fit(&path, sum, width))
            }
            Action::UpTo(most) => Value::number(self.arithmetic.fresh((0, most.into()), false)),
            Action::Number(width) => {
                let width = if width.bits >= 32 { width.as_signed() } else { width };
                Value::number(self.arithmetic.fresh(width.range(), false))
            }
            Action::Convert { from, to } => match self.value(state, source(0)) {
                Value::Pointer(object, offset)
                    if from.bits == to.bits || (self.objects[object].space == Space::Shared && to.bits >= 32) =>
                {
                    Value::Pointer(object, offset)
                }
                Value::Pointer(..) | Value::Predicate(_) => return None,
                _ => {
                    let number = self.number(state, source(0), from)?;
                    let number = self.arithmetic.wrap(&path, &number, from)?;
                    // Narrow results are extended to the register as the type says.
                    if to.bits < 32 {
                        Value::number(self.arithmetic.wrap(&path, &number, to)?)
                    } else {
                        Value::number(self.arithmetic.fit(&path, Some(number), to))
                    }
                }
            },
            _ => return None,
        })
    }

    /// A known amount to shift by, or a place or count of bits.
    fn shift(&mut self, state: &State, source: Source, width: Width) -> Option<u32> {
        let amount = self.number(state, source, width)?.as_constant()?;
        // Amounts are unsigned, and more than all bits is all bits.
        Some(if (0..=255).contains(&amount) { amount as u32 } else { return None })
    }

    fn add(&mut self, state: &State, one: Value, other: Value, sign: i64, width: Width) -> Value {
        let path = Rc::clone(&state.path);
        let unknown = |this: &mut Self, value: Value| match value {
            Value::Unknown => Value::number(this.arithmetic.fresh(width.as_signed().range(), false)),
            value => value,
        };
        let (one, other) = (unknown(self, one), unknown(self, other));
        match (one, other) {
            (Value::Number(one), Value::Number(other)) => {
                Value::number(self.arithmetic.fit(&path, one.plus(&other, sign), width))
            }
            (Value::Pointer(object, offset), Value::Number(number)) => {
                Value::Pointer(object, Rc::new(self.arithmetic.fit(&path, offset.plus(&number, sign), width)))
            }
            (Value::Number(number), Value::Pointer(object, offset)) if sign == 1 => {
                Value::Pointer(object, Rc::new(self.arithmetic.fit(&path, offset.plus(&number, 1), width)))
            }
            (Value::Pointer(object, one), Value::Pointer(same, other)) if object == same && sign == -1 => {
                Value::number(self.arithmetic.fit(&path, one.plus(&other, -1), width))
            }
            _ => Value::Unknown,
        }
    }

    pub(super) fn compare(&mut self, step: &Step, state: &State, comparison: Comparison, width: Width) -> Predicate {
        self.try_compare(step, state, comparison, width).unwrap_or_default()
    }

    fn try_compare(&mut self, step: &Step, state: &State, comparison: Comparison, width: Width) -> Option<Predicate> {
        let path = Rc::clone(&state.path);
        let [one, other] = [step.sources[0], step.sources[1]];
        let difference = match (self.value(state, one), self.value(state, other)) {
            (Value::Pointer(object, one), Value::Pointer(same, other)) if object == same => one.plus(&other, -1)?,
            _ => {
                let (one, other) = (self.number(state, one, width)?, self.number(state, other, width)?);
                let is_order = !matches!(comparison, Comparison::Eq | Comparison::Ne);
                // Equality does not depend on how numbers are written, as long as both are written alike.
                let width = if is_order { width } else { width.as_signed() };
                self.arithmetic.wrap(&path, &one, width)?.plus(&self.arithmetic.wrap(&path, &other, width)?, -1)?
            }
        };
        let is_uniform = self.arithmetic.symbols.is_uniform(&difference);
        let at_least = |linear: Linear| Fact::AtLeastZero(Rc::new(linear));
        let negated = difference.times(-1)?;
        // The expression that is at least zero, and whether that is what is asked, or its opposite.
        let (linear, holds) = match comparison {
            Comparison::Ge => (difference, true),
            Comparison::Lt => (difference, false),
            Comparison::Le => (negated, true),
            Comparison::Gt => (negated, false),
            Comparison::Eq | Comparison::Ne => {
                let equal = Predicate {
                    when_true: [at_least(difference.clone()), at_least(negated)].into_iter().collect(),
                    when_false: [Fact::NotZero(Rc::new(difference.clone()))].into_iter().collect(),
                    is_exact: [true; 2],
                    is_uniform,
                };
                return Some(if comparison == Comparison::Eq { equal } else { equal.negated() });
            }
        };
        let opposite = linear.negated_at_least_zero()?;
        let predicate = Predicate {
            when_true: [at_least(linear)].into_iter().collect(),
            when_false: [at_least(opposite)].into_iter().collect(),
            is_exact: [true; 2],
            is_uniform,
        };
        Some(if holds { predicate } else { predicate.negated() })
    }
}
