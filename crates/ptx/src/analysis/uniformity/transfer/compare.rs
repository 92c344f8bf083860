//! Comparisons and selections.

use super::super::value::{ALL_BITS, LaneBits, LaneValue, Signedness, low_mask};
use super::{At, Integer, Outcome};
use crate::ir::Operand;
use crate::ops::Mod;
use crate::types::Type;

impl At<'_, '_> {
    pub(super) fn compare(&self, ty: Type) -> Option<Outcome> {
        if (self.transfer.given.is_false)(self.statement) {
            return self.compare_false();
        }
        let Some(integer) = Integer::of(ty) else { return self.function_of_predicates() };
        let (a, b) = (self.input(1, integer.bits)?.value, self.input(2, integer.bits)?.value);
        let other = match self.view.operands().get(3) {
            Some(operand) => self.operand(operand, 1)?.value.certain_dependence(),
            None => 0,
        };
        if a.needs_guard || b.needs_guard {
            return Some(Outcome::rest(ALL_BITS));
        }
        let unsigned = Integer { signedness: Signedness::Unsigned, ..integer };
        if self.view.operands().len() == 3
            && let Some(result) = self.decided(integer, &a, &b)
        {
            return Some(self.write_predicates(result));
        }
        let compared = self.view.form.words().find_map(|word| match word {
            Mod::Eq | Mod::Ne => Some(equal(&a, &b)),
            Mod::Lt | Mod::Ge => Some(less(integer, &a, &b)),
            Mod::Gt | Mod::Le => Some(less(integer, &b, &a)),
            Mod::Lo | Mod::Hs => Some(less(unsigned, &a, &b)),
            Mod::Hi | Mod::Ls => Some(less(unsigned, &b, &a)),
            _ => None,
        });
        let compared = compared.flatten().unwrap_or(a.dependence() | b.dependence());
        Some(Outcome::rest(compared | other))
    }

    /// The result of a comparison, if it is the same for all values in the ranges of its operands.
    fn decided(&self, ty: Integer, a: &LaneValue, b: &LaneValue) -> Option<bool> {
        let unsigned = Integer { signedness: Signedness::Unsigned, ..ty };
        let not = |result: Option<bool>| result.map(|result| !result);
        self.view.form.words().find_map(|word| match word {
            Mod::Eq => is_equal(a, b),
            Mod::Ne => not(is_equal(a, b)),
            Mod::Lt => is_less(ty, a, b),
            Mod::Ge => not(is_less(ty, a, b)),
            Mod::Gt => is_less(ty, b, a),
            Mod::Le => not(is_less(ty, b, a)),
            Mod::Lo => is_less(unsigned, a, b),
            Mod::Hs => not(is_less(unsigned, a, b)),
            Mod::Hi => is_less(unsigned, b, a),
            Mod::Ls => not(is_less(unsigned, b, a)),
            _ => None,
        })
    }

    /// What a comparison writes that is false for all lanes.
    fn compare_false(&self) -> Option<Outcome> {
        let Some(condition) = self.view.operands().get(3) else { return Some(self.write_predicates(false)) };
        let condition = self.operand(condition, 1)?.value;
        let mut outcome = Outcome::rest(condition.certain_dependence());
        if self.has(Mod::And) {
            let (first, second) = match self.view.operands().first() {
                Some(&Operand::Reg(reg)) => (Some(reg), None),
                Some(&Operand::Pair(first, second)) => (first.reg(), second.reg()),
                _ => (None, None),
            };
            outcome.values.extend(first.map(|reg| (reg, LaneValue::number(1, 0))));
            let both = second.zip(condition.constant());
            outcome.values.extend(both.map(|(reg, holds)| (reg, LaneValue::number(1, holds))));
        }
        Some(outcome)
    }

    /// Writes a predicate, and its opposite if the destination is a pair.
    fn write_predicates(&self, result: bool) -> Outcome {
        let mut outcome = Outcome::rest(0);
        let value = |result: bool| LaneValue::number(1, result.into());
        match self.view.operands().first() {
            Some(&Operand::Reg(reg)) => outcome.values.push((reg, value(result))),
            Some(&Operand::Pair(yes, no)) => {
                outcome.values.extend(yes.reg().map(|reg| (reg, value(result))));
                outcome.values.extend(no.reg().map(|reg| (reg, value(!result))));
            }
            _ => {}
        }
        outcome
    }

    /// Predicates decide on control flow, which must not depend on guards.
    pub(super) fn function_of_predicates(&self) -> Option<Outcome> {
        let outcome = self.function_of_operands()?;
        Some(if outcome.rest_needs_guard { Outcome::rest(ALL_BITS) } else { outcome })
    }

    pub(super) fn select(&self, ty: Type) -> Option<Outcome> {
        let bits = ty.bits();
        let choice = self.input(3, 1)?.value;
        let (a, b) = (self.input(1, bits)?.value, self.input(2, bits)?.value);
        let chosen = match choice.constant() {
            Some(0) => b,
            Some(_) => a,
            None => a.either(b, choice.certain_dependence()),
        };
        Some(self.write(0, chosen, Integer { bits, signedness: Signedness::Unsigned }))
    }
}

/// Whether two values are equal, if that is the same for all values in their ranges.
fn is_equal(a: &LaneValue, b: &LaneValue) -> Option<bool> {
    match (a.constant(), b.constant()) {
        (Some(a), Some(b)) => Some(a == b),
        _ => (a.range().1 < b.range().0 || b.range().1 < a.range().0).then_some(false),
    }
}

/// Whether `a < b`, if that is the same for all values in their ranges.
fn is_less(ty: Integer, a: &LaneValue, b: &LaneValue) -> Option<bool> {
    let decide = |always: bool, never: bool| if always { Some(true) } else { never.then_some(false) };
    match ty.signedness {
        Signedness::Unsigned => decide(a.range().1 < b.range().0, a.range().0 >= b.range().1),
        Signedness::Signed => {
            let (a, b) = (a.signed_range(), b.signed_range());
            decide(a.1 < b.0, a.0 >= b.1)
        }
    }
}

/// The bits of the lane's number on which it depends whether two values are equal; nothing if all that they depend on.
fn equal(a: &LaneValue, b: &LaneValue) -> Option<LaneBits> {
    if is_equal(a, b).is_some() {
        return Some(0);
    }
    // Where both change by the same from lane to lane, they are equal in all lanes or in none.
    let difference = a.sub(*b);
    Some(difference.dependence())
}

/// The bits of the lane's number on which it depends whether `a < b`; nothing if all that they depend on.
pub(super) fn less(ty: Integer, a: &LaneValue, b: &LaneValue) -> Option<LaneBits> {
    if is_less(ty, a, b).is_some() {
        return Some(0);
    }
    let free = a.free | b.free;
    if a.sub(*b).dependence() == free && a.never_wraps(ty.signedness) && b.never_wraps(ty.signedness) {
        return Some(free);
    }
    // `tid < 64`, where 32 lanes have all bits of the thread's number in common but the lowest five: all are below 64
    // or none. `a < b` is the same as `a < b` without the lowest bits if those of `b` are zero, and those of `a` hold
    // all that the lanes add; and `b < a` is `!(a < b + 1)`, so that those of `b` must be ones there.
    let blocks = |varying: &LaneValue, constant: &LaneValue, ones: bool| {
        let is_constant = constant.dependence() == constant.free;
        let fits = |&bits: &u8| varying.fits_low(bits) && constant.known >= bits;
        let bits = (0..varying.bits).find(fits)?;
        let low = constant.low & low_mask(bits);
        (is_constant && low == if ones { low_mask(bits) } else { 0 }).then_some(free)
    };
    blocks(a, b, false).or_else(|| blocks(b, a, true))
}
