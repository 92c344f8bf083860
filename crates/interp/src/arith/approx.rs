//! The approximate functions. They return what a computation in doubles gives, rounded to the nearest, with the special
//! cases of the manual. Hardware and other devices may be off by what [`approximation_bound`] says.

use ptx::form::Form;
use ptx::ops::{Mod, Op};
use ptx::types::Type;

use super::float::{Mode, compare};
use super::format::{F32, F64, Format, Number, Round};

/// An approximate function of one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Approx {
    /// `rcp`
    Rcp,
    /// `sqrt`
    Sqrt,
    /// `rsqrt`
    Rsqrt,
    /// `sin`
    Sin,
    /// `cos`
    Cos,
    /// `lg2`
    Lg2,
    /// `ex2`
    Ex2,
    /// `tanh`
    Tanh,
}

/// How far a device may be off.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bound {
    /// Units in the last place of the result.
    pub ulps: f64,
    /// An absolute error that is allowed besides.
    pub absolute: f64,
}

/// Applies a function to a value of a format.
pub fn apply(function: Approx, format: Format, flush: bool, bits: u64) -> u64 {
    let mode = Mode { flush, ..Mode::NEAREST };
    let input = mode.input(format, bits);
    let x = f64::from_bits(F64.pack(input, Round::NearestEven));
    let value = match function {
        Approx::Rcp => 1.0 / x,
        Approx::Sqrt => x.sqrt(),
        // The root of -0 is -0, and its reciprocal minus infinity.
        Approx::Rsqrt => 1.0 / x.sqrt(),
        Approx::Sin => x.sin(),
        Approx::Cos => x.cos(),
        Approx::Lg2 if x == 0.0 => f64::NEG_INFINITY,
        Approx::Lg2 => x.log2(),
        Approx::Ex2 => x.exp2(),
        Approx::Tanh => x.tanh(),
    };
    mode.output(format, Number::from_f64(value))
}

/// `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64`, which read and write the upper half of a double only.
pub fn apply_upper_half(function: Approx, bits: u64) -> u64 {
    const UPPER: u64 = !0xffff_ffff;
    let result = apply(function, F64, true, bits & UPPER);
    if F64.is_nan(result) { result } else { result & UPPER }
}

/// `div.approx.f32`: for large divisors the reciprocal is zero.
pub fn div_approx(flush: bool, a: u64, b: u64) -> u64 {
    let mode = Mode { flush, ..Mode::NEAREST };
    let magnitude = F32.unpack(b & !F32.sign());
    let is_large = compare(magnitude, Number::from_f64(2_f64.powi(126))) == Some(std::cmp::Ordering::Greater);
    if is_large && !matches!(magnitude, Number::Infinite(_)) {
        let sign = (a ^ b) & F32.sign();
        return match mode.input(F32, a) {
            Number::Nan | Number::Infinite(_) => F32.canonical_nan,
            _ => sign,
        };
    }
    super::float::div(F32, mode, a, b)
}

/// How far a device may be off in a form, by the manual; nothing for forms that are exact.
///
/// The bounds of relative errors are given as units in the last place, rounded up.
pub fn approximation_bound(form: &Form) -> Option<Bound> {
    let op = form.op()?;
    let ty = form.types().last().copied()?;
    let is_approximate = form.has(Mod::Approx) || form.has(Mod::Full);
    if !is_approximate {
        return None;
    }
    let bound = match (op, ty) {
        (Op::Div, _) => Bound { ulps: 2.0, absolute: 0.0 },
        // Relative error 2^-20 and upper halves only.
        (Op::Rcp | Op::Rsqrt, Type::F64) => Bound { ulps: 2_f64.powi(33), absolute: 0.0 },
        (Op::Rcp, _) => Bound { ulps: 1.0, absolute: 0.0 },
        // Relative error 2^-23, 2^-22.9; a unit in the last place is at least 2^-24 of a number.
        (Op::Sqrt, _) => Bound { ulps: 2.0, absolute: 0.0 },
        (Op::Rsqrt, _) => Bound { ulps: 3.0, absolute: 0.0 },
        // Absolute error 2^-20.5 within two pi of zero; nothing is promised of larger arguments.
        (Op::Sin | Op::Cos, _) => Bound { ulps: 0.0, absolute: 2_f64.powf(-20.5) },
        // Absolute error 2^-22 within 0.5 … 2, else relative error 2^-22.
        (Op::Lg2, _) => Bound { ulps: 2.0, absolute: 2_f64.powi(-22) },
        (Op::Ex2, Type::F32) => Bound { ulps: 2.0, absolute: 0.0 },
        // Relative error 2^-9.9 for halves, 2^-7 for `bf16`.
        (Op::Ex2, _) => Bound { ulps: 2.0, absolute: 0.0 },
        // Relative error 2^-11 in singles, absolute error 2^-10.987 in halves, 2^-8 for `bf16`.
        (Op::Tanh, Type::F32) => Bound { ulps: 4096.0, absolute: 0.0 },
        (Op::Tanh, Type::F16 | Type::F16x2) => Bound { ulps: 1.0, absolute: 2_f64.powf(-10.987) },
        (Op::Tanh, _) => Bound { ulps: 1.0, absolute: 2_f64.powi(-8) },
        _ => return None,
    };
    Some(bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(function: Approx, flush: bool, value: f32) -> f32 {
        f32::from_bits(apply(function, F32, flush, value.to_bits().into()) as u32)
    }

    #[test]
    fn special_cases_of_the_manual() {
        let tiny = f32::from_bits(1);
        assert_eq!(single(Approx::Rcp, true, tiny), f32::INFINITY);
        assert_eq!(single(Approx::Rcp, false, f32::NEG_INFINITY).to_bits(), 0x8000_0000);
        assert_eq!(single(Approx::Lg2, true, -tiny), f32::NEG_INFINITY);
        assert!(single(Approx::Lg2, false, -tiny).is_nan());
        assert_eq!(single(Approx::Lg2, false, -0.0), f32::NEG_INFINITY);
        assert_eq!(single(Approx::Lg2, false, tiny), -149.0);
        assert_eq!(single(Approx::Ex2, false, -149.0), tiny);
        assert_eq!(single(Approx::Ex2, true, -149.0), 0.0);
        assert_eq!(single(Approx::Rsqrt, false, -0.0), f32::NEG_INFINITY);
        assert!(single(Approx::Sin, false, f32::INFINITY).is_nan());
        assert_eq!(single(Approx::Cos, true, tiny), 1.0);
        assert_eq!(single(Approx::Sqrt, true, -tiny).to_bits(), 0x8000_0000);
        assert_eq!(single(Approx::Tanh, false, f32::NEG_INFINITY), -1.0);
    }

    #[test]
    fn large_divisors() {
        let bits = |value: f32| u64::from(value.to_bits());
        assert_eq!(div_approx(false, bits(1.0), bits(2_f32.powi(127))), 0);
        assert_eq!(div_approx(false, bits(-1.0), bits(2_f32.powi(127))), 0x8000_0000);
        assert_eq!(div_approx(false, bits(f32::INFINITY), bits(2_f32.powi(127))), 0x7fff_ffff);
        assert_eq!(div_approx(false, bits(6.0), bits(2.0)), bits(3.0));
        assert_eq!(div_approx(false, bits(1.0), bits(f32::INFINITY)), 0);
    }
}
