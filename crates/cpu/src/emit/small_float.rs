//! Floating-point formats of 8 bits and fewer: `e4m3`, `e5m2`, `e3m2`, `e2m3`, `e2m1`.
//!
//! All their numbers, subnormal ones too, are normal numbers of `float`, so conversions move bits of a `float`, except
//! for results that are subnormal, which are counted in units of the smallest.

use super::{Emit, FloatFormat, Rounding, Sign};
use crate::llvm::{IntPredicate, Value};

/// A format of 8 bits or fewer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum SmallFormat {
    E4m3,
    E5m2,
    E3m2,
    E2m3,
    E2m1,
}

impl SmallFormat {
    /// From one number to the next in a packed type.
    pub(crate) fn stride(self) -> u32 {
        if self == Self::E2m1 { 4 } else { 8 }
    }

    fn exponent_bits(self) -> u32 {
        match self {
            Self::E5m2 => 5,
            Self::E4m3 => 4,
            Self::E3m2 => 3,
            Self::E2m3 | Self::E2m1 => 2,
        }
    }

    fn fraction_bits(self) -> u32 {
        match self {
            Self::E4m3 | Self::E2m3 => 3,
            Self::E5m2 | Self::E3m2 => 2,
            Self::E2m1 => 1,
        }
    }

    fn sign(self) -> u64 {
        1 << (self.exponent_bits() + self.fraction_bits())
    }

    fn bias(self) -> u32 {
        (1 << (self.exponent_bits() - 1)) - 1
    }

    /// The smallest number above zero.
    fn unit(self) -> f64 {
        2_f64.powi(1 - self.bias() as i32 - self.fraction_bits() as i32)
    }

    /// The bits of the largest number.
    fn largest(self) -> u64 {
        match self {
            Self::E5m2 => 0x7b,
            Self::E4m3 => 0x7e,
            _ => self.sign() - 1,
        }
    }

    /// What NaN becomes: formats without one have the largest number instead.
    fn nan(self) -> u64 {
        self.sign() - 1
    }
}

impl<'c> Emit<'_, 'c> {
    /// A `float` in a small format, in 32 bits: `.satfinite`, and, if asked for, `.relu`. Rounding is to the nearest or
    /// toward zero.
    pub(crate) fn narrow_to_small(
        &self,
        format: SmallFormat,
        value: Value<'c>,
        rounding: Rounding,
        relu: bool,
    ) -> Value<'c> {
        let bits = self.to_bits(value);
        let ty = bits.ty();
        let fraction = format.fraction_bits();
        let magnitude = self.and_constant(bits, 0x7fff_ffff);
        let cut = 23 - fraction;
        // Numbers that are normal in the format: rounded where it ends, and with its bias.
        let rounded = if rounding == Rounding::Nearest {
            let odd = self.and_constant(self.lshr(magnitude, ty.constant(cut.into())), 1);
            self.add(magnitude, self.add(odd, ty.constant((1 << (cut - 1)) - 1)))
        } else {
            magnitude
        };
        let bias = u64::from(127 - format.bias()) << fraction;
        let normal = self.sub(self.lshr(rounded, ty.constant(cut.into())), ty.constant(bias));
        // Smaller ones: how many times the smallest number they are.
        let least_normal = u64::from(128 - format.bias()) << 23;
        let is_subnormal = self.less(Sign::Unsigned, magnitude, ty.constant(least_normal));
        let positive = self.bitcast(magnitude, self.f32());
        let scaled = self.fmul(positive, self.f32().float_constant(format.unit().recip()));
        let name = if rounding == Rounding::Nearest { "llvm.roundeven" } else { "llvm.trunc" };
        let integral = self.call1(name, scaled.ty(), &[scaled]);
        let units = self.intrinsic(self.module, "llvm.fptoui.sat", &[ty, integral.ty()], &[integral]);
        let magnitude = self.select(is_subnormal, units, normal);
        let held = self.int_min(Sign::Unsigned, magnitude, ty.constant(format.largest()));
        let is_negative = self.less(Sign::Signed, bits, ty.zero());
        let signed = if relu { ty.zero() } else { self.or(held, ty.constant(format.sign())) };
        let result = self.select(is_negative, signed, held);
        self.select(self.is_nan(value), ty.constant(format.nan()), result)
    }

    /// The number that the low bits of 32 stand for in a small format, as `float`.
    pub(crate) fn widen_small(&self, format: SmallFormat, bits: Value<'c>) -> Value<'c> {
        let ty = bits.ty();
        let fraction = format.fraction_bits();
        let magnitude = self.and_constant(bits, format.sign() - 1);
        let bias = u64::from(127 - format.bias()) << 23;
        let normal = self.add(self.shl(magnitude, ty.constant(u64::from(23 - fraction))), ty.constant(bias));
        let units = self.fmul(self.uitofp(magnitude, self.f32()), self.f32().float_constant(format.unit()));
        let is_subnormal = self.less(Sign::Unsigned, magnitude, ty.constant(1 << fraction));
        let mut result = self.select(is_subnormal, self.to_bits(units), normal);
        let nan = ty.constant(0x7fff_ffff);
        match format {
            SmallFormat::E5m2 => {
                let infinity = ty.constant(0x7c);
                result = self.select(self.equal(magnitude, infinity), ty.constant(0x7f80_0000), result);
                let is_nan = self.icmp(IntPredicate::LLVMIntUGT, magnitude, infinity);
                result = self.select(is_nan, nan, result);
            }
            SmallFormat::E4m3 => {
                result = self.select(self.equal(magnitude, ty.constant(0x7f)), nan, result);
            }
            _ => {}
        }
        let is_negative = self.is_not_zero(self.and_constant(bits, format.sign()));
        let negative = self.or(result, ty.constant(0x8000_0000));
        self.bitcast(self.select(is_negative, negative, result), self.f32())
    }

    /// Both numbers of a register of 32 bits that holds two of 16, as `float`s, the lower first.
    pub(crate) fn widen_halves(&self, format: FloatFormat, pair: Value<'c>) -> [Value<'c>; 2] {
        [self.low_half(pair), self.high_half(pair)].map(|half| self.widen_half(format, half))
    }
}
