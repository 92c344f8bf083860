//! Conversions.

use super::{Emit, Rounding, Sign};
use crate::llvm::{FloatPredicate, Ty, TyKind, Value};

/// A floating-point format that registers hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum FloatFormat {
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
}

/// How a number is rounded to an integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum IntegerRounding {
    /// `.rni`
    NearestEven,
    /// `.rzi`
    TowardZero,
    /// `.rmi`
    Down,
    /// `.rpi`
    Up,
}

impl FloatFormat {
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::F16 | Self::Bf16 => 16,
            Self::F32 | Self::Tf32 => 32,
            Self::F64 => 64,
        }
    }

    /// Whether numbers of the format live in registers as bits, and are widened to compute with them.
    pub(crate) fn is_half(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16)
    }
}

impl<'c> Emit<'_, 'c> {
    /// The value that bits of a format stand for, as `float`, or `double` for the widest. Exact.
    pub(crate) fn decode_float(&self, format: FloatFormat, value: Value<'c>) -> Value<'c> {
        match format {
            FloatFormat::F16 | FloatFormat::Bf16 => self.widen_half(format, value),
            FloatFormat::F32 | FloatFormat::Tf32 => self.bitcast(value, self.f32()),
            FloatFormat::F64 => self.bitcast(value, self.f64()),
        }
    }

    /// From one format to another.
    pub(crate) fn convert_float(
        &self,
        from: FloatFormat,
        to: FloatFormat,
        value: Value<'c>,
        rounding: Rounding,
    ) -> Value<'c> {
        let value = self.decode_float(from, value);
        match (to, value.ty().kind()) {
            (FloatFormat::F64, TyKind::Double) => value,
            (FloatFormat::F64, _) => self.fpext(value, self.f64()),
            (FloatFormat::F32 | FloatFormat::Tf32, TyKind::Double) => self.round_double(value, rounding),
            (FloatFormat::F32 | FloatFormat::Tf32, _) => value,
            (_, TyKind::Double) => self.narrow_to_half(to, self.round_double_to_odd(value), rounding),
            _ => self.narrow_to_half(to, value, rounding),
        }
    }

    /// `cvt.rna.tf32`: 10 bits after the point, ties away from zero; or another rounding.
    pub(crate) fn round_to_tf32(&self, value: Value<'c>, rounding: Option<Rounding>) -> Value<'c> {
        let bits = self.to_bits(value);
        let ty = bits.ty();
        let rounded = match rounding {
            None => self.add(bits, ty.constant(0x1000)),
            Some(Rounding::Nearest) => {
                let odd = self.and_constant(self.lshr(bits, ty.constant(13)), 1);
                self.add(bits, self.add(odd, ty.constant(0xfff)))
            }
            Some(Rounding::TowardZero) => bits,
            Some(direction @ (Rounding::Up | Rounding::Down)) => {
                let is_negative = self.less(Sign::Signed, bits, ty.zero());
                let goes_out = if direction == Rounding::Down { is_negative } else { self.not(is_negative) };
                // As much as carries whatever is cut off, unless nothing is.
                self.add(bits, self.select(goes_out, ty.constant(0x1fff), ty.zero()))
            }
        };
        let cut = self.and_constant(rounded, !0x1fff);
        let result = self.select(self.is_nan(value), ty.constant(0x7fff_ffff), cut);
        // Infinities stay what they are: adding to them carries into the mantissa, which is cut off.
        self.bitcast(result, self.f32())
    }

    /// A number as an integer in floating-point form.
    pub(crate) fn round_to_integer(&self, value: Value<'c>, rounding: IntegerRounding) -> Value<'c> {
        let name = match rounding {
            IntegerRounding::NearestEven => "llvm.roundeven",
            IntegerRounding::TowardZero => "llvm.trunc",
            IntegerRounding::Down => "llvm.floor",
            IntegerRounding::Up => "llvm.ceil",
        };
        self.call1(name, value.ty(), &[value])
    }

    /// A number as an integer of so many bits, held at its limits. What is no number becomes 0, except that the hardware
    /// gives the top bit where either side has 64 bits.
    pub(crate) fn float_to_int(&self, value: Value<'c>, rounding: IntegerRounding, sign: Sign, bits: u32) -> Value<'c> {
        let integral = self.round_to_integer(value, rounding);
        let result = self.saturated_int(integral, sign, bits);
        if bits == 64 || value.ty().kind() == TyKind::Double {
            return self.select(self.is_nan(value), result.ty().constant(1 << (bits - 1)), result);
        }
        result
    }

    /// A number without its fraction as an integer of so many bits, held at its limits. What is no number becomes 0.
    ///
    /// LLVM's `fptosi.sat` means the same, but becomes code for one lane after the other.
    pub(crate) fn saturated_int(&self, value: Value<'c>, sign: Sign, bits: u32) -> Value<'c> {
        let (ty, float) = (self.int(bits), value.ty());
        // Powers of two, which no format rounds to another finite number.
        let power = |exponent: u32| 2_f64.powi(exponent as i32);
        let (least, past) = if sign == Sign::Signed { (-power(bits - 1), power(bits - 1)) } else { (0.0, power(bits)) };
        let is_small = self.float_less(value, float.float_constant(least));
        let is_large = self.fcmp(FloatPredicate::LLVMRealOGE, value, float.float_constant(past));
        let is_outside = self.or(self.or(is_small, is_large), self.is_nan(value));
        let inside = self.select(is_outside, float.zero(), value);
        if sign == Sign::Unsigned {
            return self.select(is_large, ty.all_ones(), self.fptoui(inside, ty));
        }
        let top = 1 << (bits - 1);
        let result = self.select(is_large, ty.constant(top - 1), self.fptosi(inside, ty));
        self.select(is_small, ty.constant(top), result)
    }

    /// An integer as a floating-point number.
    pub(crate) fn int_to_float(&self, sign: Sign, value: Value<'c>, to: FloatFormat, rounding: Rounding) -> Value<'c> {
        let bits = value.ty().bits();
        let convert = |value: Value<'c>, ty: Ty<'c>| match sign {
            Sign::Signed => self.sitofp(value, ty),
            Sign::Unsigned => self.uitofp(value, ty),
        };
        if rounding == Rounding::Nearest {
            match to {
                FloatFormat::F32 => return convert(value, self.f32()),
                FloatFormat::F64 => return convert(value, self.f64()),
                _ => {}
            }
        }
        let (sum, error) = if bits < 64 {
            let exact = convert(value, self.f64());
            (exact, exact.ty().zero())
        } else {
            // Both halves are exact; so is the error of their sum.
            let high = match sign {
                Sign::Signed => self.ashr(value, value.ty().constant(32)),
                Sign::Unsigned => self.lshr(value, value.ty().constant(32)),
            };
            let high = self.fmul(convert(high, self.f64()), self.f64().float_constant(4_294_967_296.0));
            let low = self.uitofp(self.and_constant(value, 0xffff_ffff), self.f64());
            self.two_sum(high, low)
        };
        if to == FloatFormat::F64 {
            return self.round_pair(sum, error, rounding);
        }
        let odd = self.add_to_odd(sum, error);
        match to {
            FloatFormat::F32 | FloatFormat::Tf32 => self.round_double(odd, rounding),
            _ => self.narrow_to_half(to, self.round_double_to_odd(odd), rounding),
        }
    }

    /// An integer in the limits of a smaller or differently signed one.
    pub(crate) fn int_to_int_saturated(&self, from: Sign, value: Value<'c>, to: Sign, to_bits: u32) -> Value<'c> {
        let from_bits = value.ty().bits();
        // One bit more than either side has room for all values of both.
        let bits = from_bits.max(to_bits) + 1;
        let wide = self.resize(from, value, bits);
        let ty = wide.ty();
        let (least, greatest): (i128, i128) = match to {
            Sign::Unsigned => (0, (1 << to_bits) - 1),
            Sign::Signed => (-(1 << (to_bits - 1)), (1 << (to_bits - 1)) - 1),
        };
        let least = ty.wide_constant(least as u128);
        let greatest = ty.wide_constant(greatest as u128);
        let held = self.int_max(Sign::Signed, self.int_min(Sign::Signed, wide, greatest), least);
        self.resize(Sign::Unsigned, held, to_bits)
    }

    /// The largest finite number of the format instead of an infinite one (`.satfinite`); NaN stays NaN.
    pub(crate) fn hold_finite(&self, format: FloatFormat, bits: Value<'c>) -> Value<'c> {
        let (infinity, largest) = match format {
            FloatFormat::F16 => (0x7c00, 0x7bff),
            FloatFormat::Bf16 => (0x7f80, 0x7f7f),
            FloatFormat::Tf32 => (0x7f80_0000, 0x7f7f_e000),
            FloatFormat::F32 => (0x7f80_0000, 0x7f7f_ffff),
            FloatFormat::F64 => (0x7ff0 << 48, 0x7fef_ffff_ffff_ffff),
        };
        let top = 1_u64 << (format.bits() - 1);
        let is_infinite = self.equal(self.and_constant(bits, !top), bits.ty().constant(infinity));
        let held = self.or(self.and_constant(bits, top), bits.ty().constant(largest));
        self.select(is_infinite, held, bits)
    }

    /// Whether a number is less than another, both being numbers.
    pub(crate) fn float_less(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.fcmp(FloatPredicate::LLVMRealOLT, a, b)
    }
}
