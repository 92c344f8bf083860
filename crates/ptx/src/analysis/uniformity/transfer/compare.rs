//! Comparisons and selections.

use super::super::value::{ALL_BITS, LaneBits, LaneValue, Signedness, low_mask};
use super::{At, Integer, Outcome};
use crate::ops::Mod;
use crate::types::Type;

impl At<'_, '_> {
    pub(super) fn compare(&self, ty: Type) -> Option<Outcome> {
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

    /// Predicates decide on control flow, which must not depend on guards.
    pub(super) fn function_of_predicates(&self) -> Option<Outcome> {
        let outcome = self.function_of_operands()?;
        Some(if outcome.rest_needs_guard { Outcome::rest(ALL_BITS) } else { outcome })
    }

    pub(super) fn select(&self, ty: Type) -> Option<Outcome> {
        let bits = ty.bits();
        let choice = self.input(3, 1)?.value.certain_dependence();
        let (a, b) = (self.input(1, bits)?.value, self.input(2, bits)?.value);
        Some(self.write(0, a.either(b, choice), Integer { bits, signedness: Signedness::Unsigned }))
    }
}

/// The bits of the lane's number on which it depends whether two values are equal; nothing if all that they depend on.
fn equal(a: &LaneValue, b: &LaneValue) -> Option<LaneBits> {
    if a.range().1 < b.range().0 || b.range().1 < a.range().0 {
        return Some(0);
    }
    // Where both change by the same from lane to lane, they are equal in all lanes or in none.
    let difference = a.sub(*b);
    Some(difference.dependence())
}

/// The bits of the lane's number on which it depends whether `a < b`; nothing if all that they depend on.
pub(super) fn less(ty: Integer, a: &LaneValue, b: &LaneValue) -> Option<LaneBits> {
    let is_decided = match ty.signedness {
        Signedness::Unsigned => a.range().1 < b.range().0 || a.range().0 >= b.range().1,
        Signedness::Signed => {
            let (a, b) = (a.signed_range(), b.signed_range());
            a.1 < b.0 || a.0 >= b.1
        }
    };
    if is_decided {
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
