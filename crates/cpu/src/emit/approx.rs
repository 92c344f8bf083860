//! Approximate functions, at least as accurate as the PTX manual demands of the hardware.
//!
//! All take and return `float`, are built from fused multiply-adds in a fixed order, and so give the same bits in every
//! shape and at every level of optimisation.

use super::{Arithmetic, Emit, Rounding, Sign};
use crate::llvm::{FloatPredicate, Value};

/// An approximate function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Approximation {
    /// 2 to the power of x.
    Ex2,
    /// The logarithm to the base of 2.
    Lg2,
    Sin,
    Cos,
    Tanh,
}

/// 2^x on -0.5 to 0.5, error 1.9e-9.
const EX2: [f64; 7] = [
    1.0,
    0.693_147_182_464_599_6,
    0.240_226_507_186_889_65,
    0.055_503_271_520_137_79,
    0.009_618_025_273_084_64,
    0.001_340_043_265_372_514_7,
    0.000_154_697_321_704_588_83,
];

/// (sin(x)/x - 1)/x² in x² up to π/4, error 5.8e-11.
const SIN: [f64; 4] =
    [-0.166_666_671_633_720_4, 0.008_333_331_905_305_386, -0.000_198_400_870_431_214_57, 2.724_995_965_763_81e-6];

/// (cos(x) - 1 + x²/2)/x⁴ in x² up to π/4, error 2.0e-9.
const COS: [f64; 3] = [0.041_666_664_183_139_8, -0.001_388_830_016_367_137_4, 2.454_758_941_894_397e-5];

/// 2·artanh(s)/(s·ln 2) in s², for arguments between √½ and √2, error 1.2e-11.
const LG2: [f64; 5] = [
    2.885_390_081_790_086_4,
    0.961_796_673_341_389_5,
    0.577_083_585_643_133_9,
    0.411_672_648_933_045,
    0.340_731_862_191_541_5,
];

/// (tanh(x)/x - 1)/x² in x² up to 0.6, error 8.5e-7.
const TANH: [f64; 4] =
    [-0.333_332_474_032_957_96, 0.133_255_883_610_304_22, -0.052_857_537_609_988_396, 0.016_595_904_238_619_296];

impl<'c> Emit<'_, 'c> {
    /// An approximate function of a `float`.
    pub(crate) fn approximate(&self, what: Approximation, x: Value<'c>) -> Value<'c> {
        let result = match what {
            Approximation::Ex2 => self.ex2(x),
            Approximation::Lg2 => self.lg2(x),
            Approximation::Sin => self.sin_cos(x, 0),
            Approximation::Cos => self.sin_cos(x, 1),
            Approximation::Tanh => self.tanh(x),
        };
        self.select(self.is_nan(result), self.canonical_nan(x.ty()), result)
    }

    fn ex2(&self, x: Value<'c>) -> Value<'c> {
        let ty = x.ty();
        // Beyond these, the result is infinite or zero; what is no number stays so.
        let held = self.select(self.float_less(x, ty.float_constant(-160.0)), ty.float_constant(-160.0), x);
        let held = self.select(self.float_less(ty.float_constant(160.0), held), ty.float_constant(160.0), held);
        let whole = self.call1("llvm.roundeven", ty, &[held]);
        let power = self.polynomial(&EX2, self.fsub(held, whole));
        if self.lanes.is_some() && self.module.has_avx512 {
            return self.scale_by_float(power, whole);
        }
        // What is no number makes the power none.
        let exponent = self.fptosi(self.select(self.is_nan(whole), ty.zero(), whole), self.int(32));
        self.scale(power, exponent)
    }

    /// `value · 2^exponent` for integers in floats, rounded once, by instructions of AVX-512.
    fn scale_by_float(&self, value: Value<'c>, exponent: Value<'c>) -> Value<'c> {
        const LANES: u32 = 16;
        // All lanes; rounded as usual.
        let (all, usual) = (self.context().int(LANES).all_ones(), self.context().int(32).constant(4));
        let name = "llvm.x86.avx512.mask.scalef.ps.512";
        self.in_parts(name, LANES, &[value, exponent], |part| vec![part.zero(), all, usual])
    }

    /// `value · 2^exponent` in two steps, so that subnormal results are rounded once: the first step is exact.
    fn scale(&self, value: Value<'c>, exponent: Value<'c>) -> Value<'c> {
        let int = exponent.ty();
        let half = self.ashr(exponent, int.constant(1));
        let rest = self.sub(exponent, half);
        let power = |exponent| {
            let biased = self.add(exponent, int.constant(127));
            self.bitcast(self.shl(biased, int.constant(23)), value.ty())
        };
        self.fmul(self.fmul(value, power(half)), power(rest))
    }

    fn lg2(&self, x: Value<'c>) -> Value<'c> {
        let ty = x.ty();
        // Subnormal numbers are scaled up first.
        let is_tiny = self.float_less(x, ty.float_constant(f64::from(f32::MIN_POSITIVE)));
        let scaled = self.select(is_tiny, self.fmul(x, ty.float_constant(8_388_608.0)), x);
        let bits = self.to_bits(scaled);
        let int = bits.ty();
        // The mantissa between √½ and √2.
        let offset = self.sub(bits, int.constant(0x3f35_04f3));
        let exponent = self.ashr(offset, int.constant(23));
        let mantissa = self.bitcast(self.sub(bits, self.shl(exponent, int.constant(23))), ty);
        let correction = self.select(is_tiny, int.constant(23), int.zero());
        let exponent = self.sitofp(self.sub(exponent, correction), ty);
        let one = ty.float_constant(1.0);
        let s = self.fdiv(self.fsub(mantissa, one), self.fadd(mantissa, one));
        let series = self.polynomial(&LG2, self.fmul(s, s));
        let result = self.fma(series, s, exponent);
        // Zero, negative, infinite, no number.
        let is_zero = self.fcmp(FloatPredicate::LLVMRealOEQ, x, ty.zero());
        let is_negative = self.float_less(x, ty.zero());
        let stays = self.fcmp(FloatPredicate::LLVMRealUEQ, x, ty.float_constant(f64::INFINITY));
        let result = self.select(is_zero, ty.float_constant(f64::NEG_INFINITY), result);
        let result = self.select(is_negative, self.canonical_nan(ty), result);
        self.select(stays, x, result)
    }

    /// The sine of `x + quarters·π/2`. The argument is reduced in doubles, which is exact enough far beyond what the
    /// manual asks for.
    fn sin_cos(&self, x: Value<'c>, quarters: u64) -> Value<'c> {
        let ty = x.ty();
        let wide = self.f64();
        let argument = self.fpext(x, wide);
        let turns = self.call1(
            "llvm.roundeven",
            wide,
            &[self.fmul(argument, wide.float_constant(std::f64::consts::FRAC_2_PI))],
        );
        let reduced = self.fma(turns, wide.float_constant(-std::f64::consts::FRAC_PI_2), argument);
        let reduced = self.fma(turns, wide.float_constant(-6.123_233_995_736_766e-17), reduced);
        let reduced = self.fptrunc(reduced, ty);
        let quadrant = self.saturated_int(turns, Sign::Signed, 64);
        let quadrant = self.resize(Sign::Unsigned, quadrant, 32);
        let quadrant = self.add(quadrant, quadrant.ty().constant(quarters));
        let square = self.fmul(reduced, reduced);
        let sine = self.fma(self.fmul(self.polynomial(&SIN, square), square), reduced, reduced);
        let half = self.fma(square, ty.float_constant(-0.5), ty.float_constant(1.0));
        let cosine = self.fma(self.fmul(self.polynomial(&COS, square), square), square, half);
        let is_odd = self.is_not_zero(self.and_constant(quadrant, 1));
        let is_lower = self.is_not_zero(self.and_constant(quadrant, 2));
        let result = self.select(is_odd, cosine, sine);
        let result = self.select(is_lower, self.fneg(result), result);
        // Huge arguments leave nothing of the reduction; the result stays between -1 and 1.
        let result = self.select(self.float_less(ty.float_constant(1.0), result), ty.float_constant(1.0), result);
        let result = self.select(self.float_less(result, ty.float_constant(-1.0)), ty.float_constant(-1.0), result);
        self.select(self.is_finite(x), result, self.canonical_nan(ty))
    }

    fn tanh(&self, x: Value<'c>) -> Value<'c> {
        let ty = x.ty();
        let magnitude = self.fabs(x);
        let square = self.fmul(x, x);
        let small = self.fma(self.fmul(self.polynomial(&TANH, square), square), x, x);
        // 1 - 2/(e^2x + 1)
        let power = self.ex2(self.fmul(magnitude, ty.float_constant(2.885_390_081_777_926_8)));
        let one = ty.float_constant(1.0);
        let large = self.fsub(one, self.fdiv(ty.float_constant(2.0), self.fadd(power, one)));
        let is_small = self.float_less(magnitude, ty.float_constant(0.6));
        self.select(is_small, small, self.copysign(large, x))
    }

    /// `c0 + x·(c1 + x·(c2 + …))`
    fn polynomial(&self, coefficients: &[f64], x: Value<'c>) -> Value<'c> {
        let (last, rest) = coefficients.split_last().expect("a polynomial has coefficients");
        let start = x.ty().float_constant(*last);
        rest.iter().rev().fold(start, |sum, &coefficient| self.fma(sum, x, x.ty().float_constant(coefficient)))
    }

    fn fma(&self, a: Value<'c>, b: Value<'c>, c: Value<'c>) -> Value<'c> {
        self.arithmetic(Arithmetic::Fma, Rounding::Nearest, &[a, b, c])
    }
}
