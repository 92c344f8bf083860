//! Division of integers.
//!
//! Processors divide vectors of floats, not of integers. A quotient of two numbers of 32 bits is never so near below an
//! integer that a division of `f64` would round up to it: the distance is at least 1/b, and the quotient, of at most 32
//! bits, is exact to 2⁻²⁰/b. So vectors are divided as floats.

use super::{Emit, Sign};
use crate::llvm::Value;

/// Up to so many bits, integers are divided as floats.
const MOST_BITS: u32 = 32;

impl<'c> Emit<'_, 'c> {
    /// The quotient: all ones for a divisor of zero, as the hardware gives it; the least integer divided by -1 is itself.
    ///
    /// The divisor may be one number for all lanes.
    pub(crate) fn int_div(&self, sign: Sign, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let of_b = Emit { lanes: b.ty().lanes(), ..*self };
        let by_zero = of_b.is_zero(b);
        let quotient = match sign {
            Sign::Unsigned => self.quotient(sign, a, of_b.select(by_zero, b.ty().constant(1), b)),
            Sign::Signed => {
                // Dividing by -1 is negation, which does not trap.
                let by_minus_one = of_b.equal(b, b.ty().all_ones());
                let safe = of_b.select(of_b.or(by_zero, by_minus_one), b.ty().constant(1), b);
                self.select(by_minus_one, self.neg(a), self.quotient(sign, a, safe))
            }
        };
        self.select(by_zero, a.ty().all_ones(), quotient)
    }

    /// The remainder: the dividend for a divisor of zero.
    ///
    /// The divisor may be one number for all lanes.
    pub(crate) fn int_rem(&self, sign: Sign, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let of_b = Emit { lanes: b.ty().lanes(), ..*self };
        let by_zero = of_b.is_zero(b);
        let safe = match sign {
            Sign::Unsigned => of_b.select(by_zero, b.ty().constant(1), b),
            Sign::Signed => {
                // Nothing remains when dividing by -1, as when dividing by 1.
                let by_minus_one = of_b.equal(b, b.ty().all_ones());
                of_b.select(of_b.or(by_zero, by_minus_one), b.ty().constant(1), b)
            }
        };
        let safe_in_all = self.in_all_lanes(safe);
        let remainder = if self.divides_floats(a, safe) {
            self.sub(a, self.mul(self.quotient(sign, a, safe), safe_in_all))
        } else {
            match sign {
                Sign::Unsigned => self.urem(a, safe_in_all),
                Sign::Signed => self.srem(a, safe_in_all),
            }
        };
        self.select(by_zero, a, remainder)
    }

    /// The quotient, if the divisor is not zero, and if signed not -1.
    fn quotient(&self, sign: Sign, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        if !self.divides_floats(a, b) {
            let b = self.in_all_lanes(b);
            return match sign {
                Sign::Unsigned => self.udiv(a, b),
                Sign::Signed => self.sdiv(a, b),
            };
        }
        let to_float = |emit: &Self, value: Value<'c>| {
            let value = emit.resize(sign, value, MOST_BITS);
            match sign {
                Sign::Unsigned => emit.uitofp(value, emit.f64()),
                Sign::Signed => emit.sitofp(value, emit.f64()),
            }
        };
        let dividend = to_float(self, a);
        let quotient = if b.ty().lanes().is_some() {
            self.fdiv(dividend, to_float(self, b))
        } else {
            // Half of 1/b more, and what the product is off does not matter: the sum is at least 1/2b from any integer.
            let scalar = self.scalar();
            let reciprocal = scalar.fdiv(scalar.f64().float_constant(1.0), to_float(&scalar, b));
            let half = scalar.fmul(reciprocal, scalar.f64().float_constant(0.5));
            let product = self.fmul(dividend, self.broadcast(reciprocal));
            self.fadd(product, self.copysign(self.broadcast(half), product))
        };
        let wide = self.int(MOST_BITS);
        let quotient = match sign {
            Sign::Unsigned => self.fptoui(quotient, wide),
            Sign::Signed => self.fptosi(quotient, wide),
        };
        self.resize(sign, quotient, a.ty().bits())
    }

    /// Whether it is better to divide floats: LLVM multiplies by the inverse of what it knows.
    fn divides_floats(&self, a: Value<'c>, b: Value<'c>) -> bool {
        self.lanes.is_some() && a.ty().bits() <= MOST_BITS && !b.is_constant()
    }

    fn in_all_lanes(&self, value: Value<'c>) -> Value<'c> {
        if self.lanes.is_some() && value.ty().lanes().is_none() { self.broadcast(value) } else { value }
    }
}
