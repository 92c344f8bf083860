//! Numbers of 16 bits: `f16` and `bf16`. They live in registers as bits; arithmetic widens them.

use super::{Arithmetic, Emit, FloatFormat, FloatStyle, Rounding, Sign};
use crate::llvm::Value;

impl<'c> Emit<'_, 'c> {
    /// The number that 16 bits stand for, as `float`: always exact.
    pub(crate) fn widen_half(&self, format: FloatFormat, bits: Value<'c>) -> Value<'c> {
        match format {
            FloatFormat::F16 => {
                let half = bits.ty().with_element(self.context().half());
                self.fpext(self.bitcast(bits, half), self.f32())
            }
            _ => {
                let wide = self.resize(Sign::Unsigned, bits, 32);
                self.bitcast(self.shl(wide, wide.ty().constant(16)), self.f32())
            }
        }
    }

    /// A `float` as 16 bits. NaN becomes the canonical one.
    pub(crate) fn narrow_to_half(&self, format: FloatFormat, value: Value<'c>, rounding: Rounding) -> Value<'c> {
        let nearest = match format {
            FloatFormat::F16 => {
                let half = self.shaped(self.context().half());
                self.bitcast(self.fptrunc(value, half), self.int(16))
            }
            _ => {
                let bits = self.to_bits(value);
                let odd = self.and_constant(self.lshr(bits, bits.ty().constant(16)), 1);
                let rounded = self.add(bits, self.add(odd, bits.ty().constant(0x7fff)));
                self.trunc(self.lshr(rounded, bits.ty().constant(16)), self.int(16))
            }
        };
        let stepped = if rounding == Rounding::Nearest {
            nearest
        } else {
            self.step(nearest, self.widen_half(format, nearest), value, rounding)
        };
        self.select(self.is_nan(value), self.int(16).constant(0x7fff), stepped)
    }

    /// An operation on numbers of 16 bits.
    pub(crate) fn half_arithmetic(
        &self,
        format: FloatFormat,
        op: Arithmetic,
        style: FloatStyle,
        args: &[Value<'c>],
    ) -> Value<'c> {
        let wide: Vec<_> =
            args.iter().map(|&arg| self.widen_half(format, self.flushed_half(style, format, arg))).collect();
        let result = match op {
            // With at least twice the bits plus two, rounding twice is rounding once.
            Arithmetic::Fma => {
                let wide: Vec<_> = wide.iter().map(|&arg| self.fpext(arg, self.f64())).collect();
                self.round_double_to_odd(self.rounded_to_odd(op, &wide))
            }
            _ => self.arithmetic(op, Rounding::Nearest, &wide),
        };
        let bits = self.narrow_to_half(format, result, style.rounding);
        self.finish_half(format, style, bits)
    }

    /// A result of 16 bits: flushed and saturated as the style says.
    pub(crate) fn finish_half(&self, format: FloatFormat, style: FloatStyle, bits: Value<'c>) -> Value<'c> {
        let bits = self.flushed_half(style, format, bits);
        if !style.saturate && !style.relu {
            return bits;
        }
        let value = self.widen_half(format, bits);
        // Saturation and clamping only choose among the value and constants, all of which have 16 bits.
        let result = self.finish(FloatStyle { flush: false, ..style }, value);
        self.narrow_to_half(format, result, Rounding::Nearest)
    }

    /// Zero, with its sign, for subnormal numbers, if the style says so.
    pub(crate) fn flushed_half(&self, style: FloatStyle, format: FloatFormat, bits: Value<'c>) -> Value<'c> {
        if !style.flush {
            return bits;
        }
        let exponent = if format == FloatFormat::F16 { 0x7c00 } else { 0x7f80 };
        let is_tiny = self.is_zero(self.and_constant(bits, exponent));
        self.select(is_tiny, self.and_constant(bits, 0x8000), bits)
    }

    /// The larger or smaller of two numbers of 16 bits.
    pub(crate) fn half_min_max(
        &self,
        format: FloatFormat,
        what: super::MinMax,
        style: FloatStyle,
        a: Value<'c>,
        b: Value<'c>,
    ) -> Value<'c> {
        let [a, b] = [a, b].map(|bits| self.widen_half(format, self.flushed_half(style, format, bits)));
        let result = self.float_min_max(what, a, b);
        let bits = self.narrow_to_half(format, result, Rounding::Nearest);
        self.finish_half(format, style, bits)
    }

    /// Applies a function to both halves of a register of 32 bits.
    pub(crate) fn both_halves(&self, args: &[Value<'c>], mut each: impl FnMut(&[Value<'c>]) -> Value<'c>) -> Value<'c> {
        let low: Vec<_> = args.iter().map(|&arg| self.low_half(arg)).collect();
        let high: Vec<_> = args.iter().map(|&arg| self.high_half(arg)).collect();
        let (low, high) = (each(&low), each(&high));
        self.pair(low, high)
    }

    pub(crate) fn low_half(&self, a: Value<'c>) -> Value<'c> {
        self.resize(Sign::Unsigned, a, a.ty().bits() / 2)
    }

    pub(crate) fn high_half(&self, a: Value<'c>) -> Value<'c> {
        let half = a.ty().bits() / 2;
        self.resize(Sign::Unsigned, self.lshr(a, a.ty().constant(half.into())), half)
    }
}
