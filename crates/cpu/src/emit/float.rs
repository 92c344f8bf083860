//! Floating-point operations beyond rounding: flushing, saturation, minima and maxima, classes of numbers.

use super::{Arithmetic, Emit, Rounding};
use crate::llvm::{FloatPredicate, Ty, TyKind, Value};

/// What the modifiers of a floating-point instruction ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FloatStyle {
    pub(crate) rounding: Rounding,
    /// `.ftz`: subnormal numbers of 32 bits, read or made, are zero.
    pub(crate) flush: bool,
    /// `.sat`: between 0 and 1; what is no number is 0.
    pub(crate) saturate: bool,
    /// `.relu`: nothing below 0; what is no number stays so.
    pub(crate) relu: bool,
}

/// What the modifiers of `min` and `max` ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MinMax {
    pub(crate) is_max: bool,
    /// `.NaN`: no number if either is none.
    pub(crate) propagates_nan: bool,
    /// `.xorsign.abs`: of the magnitudes, with the product of the signs.
    pub(crate) xorsign: bool,
}

impl<'c> Emit<'_, 'c> {
    /// An operation with the style of its instruction.
    pub(crate) fn styled(&self, op: Arithmetic, style: FloatStyle, args: &[Value<'c>]) -> Value<'c> {
        let args: Vec<_> = args.iter().map(|&arg| self.flushed(style, arg)).collect();
        let result = self.arithmetic(op, style.rounding, &args);
        self.finish(style, result)
    }

    /// An operand, with subnormal numbers flushed if the style says so.
    pub(crate) fn flushed(&self, style: FloatStyle, a: Value<'c>) -> Value<'c> {
        if style.flush { self.flush(a) } else { a }
    }

    /// A result: flushed and saturated as the style says.
    pub(crate) fn finish(&self, style: FloatStyle, result: Value<'c>) -> Value<'c> {
        let result = self.flushed(style, result);
        let result = if style.saturate { self.saturated(result) } else { result };
        if style.relu { self.clamped_below(result) } else { result }
    }

    /// Zero, with its sign, for a subnormal number.
    pub(crate) fn flush(&self, a: Value<'c>) -> Value<'c> {
        let ty = a.ty();
        let least_normal = match ty.kind() {
            TyKind::Float => f64::from(f32::MIN_POSITIVE),
            TyKind::Double => f64::MIN_POSITIVE,
            _ => panic!("half precision is flushed by its own conversion"),
        };
        let is_tiny = self.fcmp(FloatPredicate::LLVMRealOLT, self.fabs(a), ty.float_constant(least_normal));
        self.select(is_tiny, self.copysign(ty.zero(), a), a)
    }

    /// Between 0 and 1; 0 for what is no number.
    pub(crate) fn saturated(&self, a: Value<'c>) -> Value<'c> {
        let ty = a.ty();
        let (zero, one) = (ty.zero(), ty.float_constant(1.0));
        let is_positive = self.fcmp(FloatPredicate::LLVMRealOGT, a, zero);
        let is_large = self.fcmp(FloatPredicate::LLVMRealOGT, a, one);
        self.select(is_large, one, self.select(is_positive, a, zero))
    }

    /// Nothing below 0; the canonical NaN for what is no number.
    fn clamped_below(&self, a: Value<'c>) -> Value<'c> {
        let is_negative = self.fcmp(FloatPredicate::LLVMRealOLT, a, a.ty().zero());
        // Minus zero becomes zero as well.
        let is_zero = self.fcmp(FloatPredicate::LLVMRealOEQ, a, a.ty().zero());
        self.select(self.or(is_negative, is_zero), a.ty().zero(), a)
    }

    /// Zeros are ordered by their signs; of a number and something that is none, the number, unless asked otherwise.
    pub(crate) fn float_min_max(&self, what: MinMax, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let ty = a.ty();
        let (x, y) = if what.xorsign { (self.fabs(a), self.fabs(b)) } else { (a, b) };
        let result = self.call1(if what.is_max { "llvm.maximum" } else { "llvm.minimum" }, ty, &[x, y]);
        // What becomes of NaN is written out: LLVM 22 takes `minimumnum` of a NaN and what it knows to be a number for the NaN
        // on processors with AVX-512, and `minimum` of a signalling NaN for the number.
        let canonical = self.canonical_nan(ty);
        let (of_x, of_y) = if what.propagates_nan { (canonical, canonical) } else { (y, x) };
        let result = self.select(self.is_nan(y), of_y, result);
        let result = self.select(self.is_nan(x), of_x, result);
        // Where neither is a number, the result is the canonical NaN, not one of them.
        let result = self.select(self.is_nan(result), canonical, result);
        if !what.xorsign {
            return result;
        }
        let signs = self.xor(self.to_bits(a), self.to_bits(b));
        let sign = self.and(signs, signs.ty().constant(1 << (ty.bits() - 1)));
        let with_sign = self.bitcast(self.or(self.to_bits(result), sign), ty);
        self.select(self.is_nan(result), result, with_sign)
    }

    /// What PTX returns for no number.
    pub(crate) fn canonical_nan(&self, ty: Ty<'c>) -> Value<'c> {
        let bits = match ty.kind() {
            TyKind::Float => 0x7fff_ffff,
            TyKind::Double => 0x7fff_ffff_ffff_ffff,
            _ => 0x7fff,
        };
        let int = ty.with_element(self.context().int(ty.bits()));
        self.bitcast(int.constant(bits), ty)
    }

    /// `testp`, for the bits of a number of 32 or 64 bits.
    pub(crate) fn is_infinite(&self, a: Value<'c>) -> Value<'c> {
        self.fcmp(FloatPredicate::LLVMRealOEQ, self.fabs(a), a.ty().float_constant(f64::INFINITY))
    }

    /// Neither zero nor normal nor infinite.
    pub(crate) fn is_subnormal(&self, a: Value<'c>) -> Value<'c> {
        let least_normal = match a.ty().kind() {
            TyKind::Double => f64::MIN_POSITIVE,
            _ => f64::from(f32::MIN_POSITIVE),
        };
        let magnitude = self.fabs(a);
        let is_tiny = self.fcmp(FloatPredicate::LLVMRealOLT, magnitude, a.ty().float_constant(least_normal));
        self.and(is_tiny, self.fcmp(FloatPredicate::LLVMRealOGT, magnitude, a.ty().zero()))
    }

    /// Neither infinite nor NaN.
    pub(crate) fn is_finite(&self, a: Value<'c>) -> Value<'c> {
        self.fcmp(FloatPredicate::LLVMRealOLT, self.fabs(a), a.ty().float_constant(f64::INFINITY))
    }
}
