//! Integer arithmetic.

use super::{Emit, Sign};
use crate::llvm::{IntPredicate, Value};

impl<'c> Emit<'_, 'c> {
    pub(crate) fn int_min(&self, sign: Sign, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.call1(if sign == Sign::Signed { "llvm.smin" } else { "llvm.umin" }, a.ty(), &[a, b])
    }

    pub(crate) fn int_max(&self, sign: Sign, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.call1(if sign == Sign::Signed { "llvm.smax" } else { "llvm.umax" }, a.ty(), &[a, b])
    }

    /// The absolute value; the least integer stays what it is.
    pub(crate) fn int_abs(&self, a: Value<'c>) -> Value<'c> {
        self.call1("llvm.abs", a.ty(), &[a, self.context().int(1).constant(0)])
    }

    /// `a + b`, held at the limits.
    pub(crate) fn add_saturated(&self, sign: Sign, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.call1(if sign == Sign::Signed { "llvm.sadd.sat" } else { "llvm.uadd.sat" }, a.ty(), &[a, b])
    }

    /// `a - b`, held at the limits.
    pub(crate) fn sub_saturated(&self, sign: Sign, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.call1(if sign == Sign::Signed { "llvm.ssub.sat" } else { "llvm.usub.sat" }, a.ty(), &[a, b])
    }

    /// The product in twice as many bits.
    pub(crate) fn mul_wide(&self, sign: Sign, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let bits = a.ty().bits();
        self.mul(self.resize(sign, a, bits * 2), self.resize(sign, b, bits * 2))
    }

    /// The upper half of the product.
    pub(crate) fn mul_high(&self, sign: Sign, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let product = self.mul_wide(sign, a, b);
        let bits = a.ty().bits();
        self.trunc(self.lshr(product, product.ty().constant(bits.into())), a.ty())
    }

    /// The low 24 bits, read as a number of 32.
    pub(crate) fn low_24(&self, sign: Sign, a: Value<'c>) -> Value<'c> {
        match sign {
            Sign::Unsigned => self.and_constant(a, 0xff_ffff),
            Sign::Signed => {
                let eight = a.ty().constant(8);
                self.ashr(self.shl(a, eight), eight)
            }
        }
    }

    /// Bits 16 to 47 of the product of two numbers of 24 bits.
    pub(crate) fn mul_24_high(&self, sign: Sign, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let product = self.mul_wide(sign, self.low_24(sign, a), self.low_24(sign, b));
        self.trunc(self.lshr(product, product.ty().constant(16)), a.ty())
    }

    /// `a + b + carry`, and the carry out. The carries are predicates.
    pub(crate) fn add_with_carry(
        &self,
        a: Value<'c>,
        b: Value<'c>,
        carry: Option<Value<'c>>,
    ) -> (Value<'c>, Value<'c>) {
        let sum = self.add(a, b);
        let over = self.icmp(IntPredicate::LLVMIntULT, sum, a);
        match carry {
            None => (sum, over),
            Some(carry) => {
                let total = self.add(sum, self.zext(carry, sum.ty()));
                let over_again = self.icmp(IntPredicate::LLVMIntULT, total, sum);
                (total, self.or(over, over_again))
            }
        }
    }

    /// `a - b - borrow`, and the borrow out. The borrows are predicates.
    pub(crate) fn sub_with_borrow(
        &self,
        a: Value<'c>,
        b: Value<'c>,
        borrow: Option<Value<'c>>,
    ) -> (Value<'c>, Value<'c>) {
        let difference = self.sub(a, b);
        let under = self.icmp(IntPredicate::LLVMIntULT, a, b);
        match borrow {
            None => (difference, under),
            Some(borrow) => {
                let total = self.sub(difference, self.zext(borrow, difference.ty()));
                let under_again = self.icmp(IntPredicate::LLVMIntULT, difference, total);
                (total, self.or(under, under_again))
            }
        }
    }

    /// The absolute difference, in the same number of bits.
    pub(crate) fn absolute_difference(&self, sign: Sign, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.select(self.less(sign, a, b), self.sub(b, a), self.sub(a, b))
    }

    /// Shift left; zero past the width. The amount has 32 bits.
    pub(crate) fn shift_left(&self, a: Value<'c>, amount: Value<'c>) -> Value<'c> {
        let (amount, past) = self.shift_amount(a, amount);
        self.select(past, a.ty().zero(), self.shl(a, amount))
    }

    /// Shift right; past the width zero, or the sign in all bits.
    pub(crate) fn shift_right(&self, sign: Sign, a: Value<'c>, amount: Value<'c>) -> Value<'c> {
        let width = a.ty().bits();
        match sign {
            Sign::Unsigned => {
                let (amount, past) = self.shift_amount(a, amount);
                self.select(past, a.ty().zero(), self.lshr(a, amount))
            }
            Sign::Signed => {
                let last = amount.ty().constant(u64::from(width - 1));
                let amount = self.int_min(Sign::Unsigned, amount, last);
                self.ashr(a, self.resize(Sign::Unsigned, amount, width))
            }
        }
    }

    /// An amount that is less than the width of `a`, and whether the one given was not.
    fn shift_amount(&self, a: Value<'c>, amount: Value<'c>) -> (Value<'c>, Value<'c>) {
        let width = a.ty().bits();
        let past = self.icmp(IntPredicate::LLVMIntUGE, amount, amount.ty().constant(width.into()));
        let amount = self.and_constant(amount, u64::from(width - 1));
        (self.resize(Sign::Unsigned, amount, width), past)
    }
}
