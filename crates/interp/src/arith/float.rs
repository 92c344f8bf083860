//! Floating-point operations with every rounding mode, flushing and saturation.

use std::cmp::Ordering;

use super::format::{F32, Format, Number, Round};

/// How the result of an operation is made from the exact one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mode {
    /// The rounding.
    pub round: Round,
    /// `.ftz`: subnormal inputs and results are zeros of the same sign. The result is rounded first, and flushed if it
    /// is then subnormal.
    pub flush: bool,
    /// What is done to the rounded result.
    pub limit: Limit,
}

/// What is done to a rounded result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Limit {
    /// Nothing.
    #[default]
    None,
    /// `.sat`: clamped to 0 … 1, NaN becomes +0.
    Saturate,
    /// `.relu`: what is negative becomes +0, NaN the canonical one.
    Relu,
    /// `.satfinite`: what is too large becomes the largest number.
    Finite,
    /// `.relu.satfinite`
    ReluFinite,
}

impl Mode {
    /// To the nearest, and nothing else.
    pub const NEAREST: Self = Self { round: Round::NearestEven, flush: false, limit: Limit::None };

    /// Reads an operand.
    pub fn input(self, format: Format, bits: u64) -> Number {
        format.unpack(if self.flush { format.flush(bits) } else { bits })
    }

    /// Makes a result.
    pub fn output(self, format: Format, number: Number) -> u64 {
        let mut bits = format.pack(number, self.round);
        if self.flush {
            bits = format.flush(bits);
        }
        self.limit(format, number, bits)
    }

    fn limit(self, format: Format, exact: Number, bits: u64) -> u64 {
        let is_negative = bits & format.sign() != 0;
        let magnitude = bits & (format.sign() - 1);
        let is_nan = exact == Number::Nan;
        match self.limit {
            Limit::None => bits,
            Limit::Saturate if is_nan || is_negative => 0,
            Limit::Saturate => bits.min(format.one()),
            Limit::Relu | Limit::ReluFinite | Limit::Finite if is_nan => format.canonical_nan,
            Limit::Relu | Limit::ReluFinite if is_negative => 0,
            Limit::Relu => bits,
            // Neither format with NaN has finite numbers above its largest.
            Limit::Finite | Limit::ReluFinite if magnitude > format.largest() => match exact.is_negative() {
                true if self.limit == Limit::ReluFinite => 0,
                negative => format.largest() | if negative { format.sign() } else { 0 },
            },
            Limit::Finite | Limit::ReluFinite => bits,
        }
    }
}

/// `a + b`
pub fn add(format: Format, mode: Mode, a: u64, b: u64) -> u64 {
    let sum = exact_sum(mode.input(format, a), mode.input(format, b), mode.round);
    mode.output(format, sum)
}

/// `a - b`
pub fn sub(format: Format, mode: Mode, a: u64, b: u64) -> u64 {
    let difference = exact_sum(mode.input(format, a), mode.input(format, b).negate(), mode.round);
    mode.output(format, difference)
}

/// `a * b`
pub fn mul(format: Format, mode: Mode, a: u64, b: u64) -> u64 {
    mode.output(format, exact_product(mode.input(format, a), mode.input(format, b)))
}

/// `a * b + c` with one rounding.
pub fn fma(format: Format, mode: Mode, a: u64, b: u64, c: u64) -> u64 {
    let product = exact_product(mode.input(format, a), mode.input(format, b));
    mode.output(format, exact_sum(product, mode.input(format, c), mode.round))
}

/// `a / b`
pub fn div(format: Format, mode: Mode, a: u64, b: u64) -> u64 {
    let (a, b) = (mode.input(format, a), mode.input(format, b));
    let negative = a.is_negative() != b.is_negative();
    let quotient = match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite(_), Number::Infinite(_)) | (Number::Zero(_), Number::Zero(_)) => Number::Nan,
        (Number::Infinite(_), _) | (_, Number::Zero(_)) => Number::Infinite(negative),
        (Number::Zero(_), _) | (_, Number::Infinite(_)) => Number::Zero(negative),
        (
            Number::Finite { exponent, significand, .. },
            Number::Finite { exponent: divisor_exponent, significand: divisor, .. },
        ) => {
            // At least 126 - 53 bits of the quotient, and whether anything is left.
            let shift = significand.leading_zeros() as i32 - 1;
            let dividend = significand << shift;
            let quotient = (dividend / divisor) << 1 | u128::from(!dividend.is_multiple_of(divisor));
            Number::Finite { negative, exponent: exponent - shift - divisor_exponent - 1, significand: quotient }
        }
    };
    mode.output(format, quotient)
}

/// The square root.
pub fn sqrt(format: Format, mode: Mode, a: u64) -> u64 {
    let root = match mode.input(format, a) {
        Number::Zero(negative) => Number::Zero(negative),
        number if number == Number::Nan || number.is_negative() => Number::Nan,
        Number::Infinite(_) => Number::Infinite(false),
        Number::Finite { exponent, significand, .. } => {
            // An even exponent, and a radicand of at least 124 bits: 62 bits of the root.
            let mut shift = significand.leading_zeros() as i32 - 2;
            if (exponent - shift) % 2 != 0 {
                shift -= 1;
            }
            let radicand = significand << shift;
            let root = radicand.isqrt();
            let significand = root << 1 | u128::from(root * root != radicand);
            Number::Finite { negative: false, exponent: (exponent - shift) / 2 - 1, significand }
        }
        Number::Nan => Number::Nan,
    };
    mode.output(format, root)
}

/// `1 / a`
pub fn rcp(format: Format, mode: Mode, a: u64) -> u64 {
    div(format, mode, format.one(), a)
}

/// The exact product.
pub fn exact_product(a: Number, b: Number) -> Number {
    let negative = a.is_negative() != b.is_negative();
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite(_), Number::Zero(_)) | (Number::Zero(_), Number::Infinite(_)) => Number::Nan,
        (Number::Infinite(_), _) | (_, Number::Infinite(_)) => Number::Infinite(negative),
        (Number::Zero(_), _) | (_, Number::Zero(_)) => Number::Zero(negative),
        (
            Number::Finite { exponent, significand, .. },
            Number::Finite { exponent: other_exponent, significand: other, .. },
        ) => Number::Finite { negative, exponent: exponent + other_exponent, significand: significand * other },
    }
}

/// The sum, exact but for a sticky last bit at least 18 places below the last one that any format keeps. The rounding
/// decides only the sign of an exact zero.
pub fn exact_sum(a: Number, b: Number, round: Round) -> Number {
    let zero = Number::Zero(round == Round::Down);
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite(left), Number::Infinite(right)) if left != right => Number::Nan,
        (Number::Infinite(_), _) => a,
        (_, Number::Infinite(_)) => b,
        (Number::Zero(left), Number::Zero(right)) => {
            if left == right {
                a
            } else {
                zero
            }
        }
        (Number::Zero(_), _) => b,
        (_, Number::Zero(_)) => a,
        (Number::Finite { .. }, Number::Finite { .. }) => {
            let (large, small) = if compare_magnitude(a, b) == Ordering::Less { (b, a) } else { (a, b) };
            let (exponent, large_significand) = normalized(large);
            let (small_exponent, small_significand) = normalized(small);
            let aligned = shift_right_sticky(small_significand, (exponent - small_exponent) as u32);
            let significand = if large.is_negative() == small.is_negative() {
                large_significand + aligned
            } else {
                large_significand - aligned
            };
            if significand == 0 {
                return zero;
            }
            Number::Finite { negative: large.is_negative(), exponent, significand }
        }
    }
}

/// A finite number with its highest bit at place 125, so that a sum does not overflow. Products of doubles have 106
/// bits, so 19 bits are free below.
fn normalized(number: Number) -> (i32, u128) {
    let Number::Finite { exponent, significand, .. } = number else {
        panic!("only finite numbers have a significand");
    };
    let shift = significand.leading_zeros() as i32 - 2;
    assert!(shift >= 0, "a significand of more than 126 bits");
    (exponent - shift, significand << shift)
}

fn shift_right_sticky(value: u128, shift: u32) -> u128 {
    if shift >= 127 {
        return u128::from(value != 0);
    }
    let kept = value >> shift;
    kept | u128::from(kept << shift != value)
}

fn compare_magnitude(a: Number, b: Number) -> Ordering {
    match (a, b) {
        (Number::Zero(_), Number::Zero(_)) | (Number::Infinite(_), Number::Infinite(_)) => Ordering::Equal,
        (Number::Zero(_), _) | (_, Number::Infinite(_)) => Ordering::Less,
        (_, Number::Zero(_)) | (Number::Infinite(_), _) => Ordering::Greater,
        (Number::Nan, _) | (_, Number::Nan) => panic!("NaN is not compared by magnitude"),
        (Number::Finite { .. }, Number::Finite { .. }) => normalized(a).cmp(&normalized(b)),
    }
}

/// The order of two numbers, zeros being equal; nothing if one is NaN.
pub fn compare(a: Number, b: Number) -> Option<Ordering> {
    if a == Number::Nan || b == Number::Nan {
        return None;
    }
    if matches!((a, b), (Number::Zero(_), Number::Zero(_))) {
        return Some(Ordering::Equal);
    }
    Some(match (a.is_negative(), b.is_negative()) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => compare_magnitude(a, b),
        (true, true) => compare_magnitude(b, a),
    })
}

/// The modifiers of `min` and `max`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MinMax {
    /// The larger one is wanted.
    pub max: bool,
    /// `.ftz`
    pub flush: bool,
    /// `.NaN`: NaN if any operand is.
    pub nan: bool,
    /// `.abs`: of the magnitudes.
    pub abs: bool,
    /// `.xorsign`: with the product of the signs.
    pub xorsign: bool,
}

/// The smaller or larger of two numbers, with -0 below +0.
pub fn min_max(format: Format, how: MinMax, a: u64, b: u64) -> u64 {
    let prepare = |bits: u64| {
        let bits = if how.flush { format.flush(bits) } else { bits };
        if how.abs { bits & !format.sign() } else { bits }
    };
    let sign = (a ^ b) & format.sign();
    let (a, b) = (prepare(a), prepare(b));
    let picked = match (format.is_nan(a), format.is_nan(b)) {
        (true, true) => return format.canonical_nan,
        (true, false) | (false, true) if how.nan => return format.canonical_nan,
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            let is_less = order_key(format, a) < order_key(format, b);
            if is_less != how.max { a } else { b }
        }
    };
    if how.xorsign { picked & !format.sign() | sign } else { picked }
}

/// An integer that orders numbers as IEEE 754 orders them, -0 below +0.
fn order_key(format: Format, bits: u64) -> i64 {
    let magnitude = (bits & (format.sign() - 1)) as i64;
    if bits & format.sign() != 0 { -1 - magnitude } else { magnitude }
}

/// A comparison of floating-point numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FloatCompare {
    /// Holds where the first is less.
    pub less: bool,
    /// Holds where both are equal.
    pub equal: bool,
    /// Holds where the first is greater.
    pub greater: bool,
    /// Holds where one is NaN.
    pub unordered: bool,
}

impl FloatCompare {
    /// Whether it holds.
    pub fn holds(self, format: Format, flush: bool, a: u64, b: u64) -> bool {
        let mode = Mode { flush, ..Mode::NEAREST };
        match compare(mode.input(format, a), mode.input(format, b)) {
            None => self.unordered,
            Some(Ordering::Less) => self.less,
            Some(Ordering::Equal) => self.equal,
            Some(Ordering::Greater) => self.greater,
        }
    }
}

/// Rounds to an integer in the same format.
pub fn round_to_integer(number: Number, round: Round) -> Number {
    let Number::Finite { negative, exponent, significand } = number else {
        return number;
    };
    if exponent >= 0 {
        return number;
    }
    match super::format::round_shift(negative, significand, -exponent, round) {
        0 => Number::Zero(negative),
        significand => Number::Finite { negative, exponent: 0, significand },
    }
}

/// The bits of a native single.
pub fn f32_bits(value: f32) -> u64 {
    value.to_bits().into()
}

/// A single from a number.
pub fn to_f32(number: Number) -> u64 {
    F32.pack(number, Round::NearestEven)
}

#[cfg(test)]
mod tests {
    use super::super::format::{BF16, F16, F64};
    use super::*;

    pub(super) const F32_EDGES: &[u32] = &[
        0,
        0x8000_0000,
        1,
        0x8000_0001,
        0x7f_ffff,
        0x80_0000,
        0x80_0001,
        0x3f80_0000,
        0xbf80_0000,
        0x3f80_0001,
        0x3f7f_ffff,
        0x4b80_0000,
        0x7f7f_ffff,
        0xff7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x7fa0_0000,
        0x3400_0000,
        0x3380_0000,
        0x4049_0fdb,
        0x0040_0000,
        0x1f80_0000,
        0x5f00_0000,
        0x7e80_0000,
    ];
    const F64_EDGES: &[u64] = &[
        0,
        1 << 63,
        1,
        (1 << 63) | 1,
        0xf_ffff_ffff_ffff,
        0x10_0000_0000_0000,
        0x3ff0_0000_0000_0000,
        0xbff0_0000_0000_0000,
        0x3ff0_0000_0000_0001,
        0x3fef_ffff_ffff_ffff,
        0x7fef_ffff_ffff_ffff,
        0xffef_ffff_ffff_ffff,
        0x7ff0_0000_0000_0000,
        0xfff0_0000_0000_0000,
        0x7ff8_0000_0000_0000,
        0x3ca0_0000_0000_0000,
        0x3cb0_0000_0000_0000,
        0x4009_21fb_5444_2d18,
        0x1ff0_0000_0000_0000,
    ];

    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = *state;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    fn f32_inputs() -> Vec<u32> {
        let mut state = 7;
        let mut inputs = F32_EDGES.to_vec();
        inputs.extend((0..60).map(|_| random(&mut state) as u32));
        // Close exponents, so that sums cancel.
        inputs.extend((0..40).map(|_| random(&mut state) as u32 & 0x81ff_ffff | 0x3f00_0000));
        inputs
    }

    fn f64_inputs() -> Vec<u64> {
        let mut state = 9;
        let mut inputs = F64_EDGES.to_vec();
        inputs.extend((0..40).map(|_| random(&mut state)));
        inputs.extend((0..40).map(|_| random(&mut state) & 0x803f_ffff_ffff_ffff | 0x3fc0_0000_0000_0000));
        inputs
    }

    fn same32(bits: u64, expected: f32, what: &str) {
        let expected = if expected.is_nan() { 0x7fff_ffff } else { expected.to_bits() };
        assert_eq!(bits, u64::from(expected), "{what}");
    }

    fn same64(bits: u64, expected: f64, what: &str) {
        let is_same = f64::from_bits(bits).is_nan() && expected.is_nan() || bits == expected.to_bits();
        assert!(is_same, "{what}: {bits:#x}, expected {:#x}", expected.to_bits());
    }

    #[test]
    fn rounding_to_nearest_agrees_with_the_processor() {
        let mode = Mode::NEAREST;
        for &a in &f32_inputs() {
            let (fa, wa) = (f32::from_bits(a), u64::from(a));
            same32(sqrt(F32, mode, wa), fa.sqrt(), "sqrt");
            for &b in &f32_inputs() {
                let (fb, wb) = (f32::from_bits(b), u64::from(b));
                same32(add(F32, mode, wa, wb), fa + fb, &format!("{fa:e} + {fb:e}"));
                same32(sub(F32, mode, wa, wb), fa - fb, &format!("{fa:e} - {fb:e}"));
                same32(mul(F32, mode, wa, wb), fa * fb, &format!("{fa:e} * {fb:e}"));
                same32(div(F32, mode, wa, wb), fa / fb, &format!("{fa:e} / {fb:e}"));
                for &c in F32_EDGES {
                    let fc = f32::from_bits(c);
                    same32(fma(F32, mode, wa, wb, c.into()), fa.mul_add(fb, fc), &format!("{fa:e}*{fb:e}+{fc:e}"));
                }
            }
        }
        for &a in &f64_inputs() {
            let fa = f64::from_bits(a);
            same64(sqrt(F64, mode, a), fa.sqrt(), "sqrt");
            for &b in &f64_inputs() {
                let fb = f64::from_bits(b);
                same64(add(F64, mode, a, b), fa + fb, &format!("{fa:e} + {fb:e}"));
                same64(mul(F64, mode, a, b), fa * fb, &format!("{fa:e} * {fb:e}"));
                same64(div(F64, mode, a, b), fa / fb, &format!("{fa:e} / {fb:e}"));
                for &c in F64_EDGES {
                    let fc = f64::from_bits(c);
                    same64(fma(F64, mode, a, b, c), fa.mul_add(fb, fc), &format!("{fa:e}*{fb:e}+{fc:e}"));
                }
            }
        }
    }

    /// In singles, the exact sum and product of doubles tell which of two neighbours a directed rounding takes.
    #[test]
    fn directed_roundings_enclose_the_exact_value() {
        let modes = |round| Mode { round, ..Mode::NEAREST };
        for &a in &f32_inputs() {
            for &b in &f32_inputs() {
                let product = f64::from(f32::from_bits(a)) * f64::from(f32::from_bits(b));
                if !product.is_finite() {
                    continue;
                }
                let (a, b) = (a.into(), b.into());
                let down = f64::from(f32::from_bits(mul(F32, modes(Round::Down), a, b) as u32));
                let up = f64::from(f32::from_bits(mul(F32, modes(Round::Up), a, b) as u32));
                let zero = f64::from(f32::from_bits(mul(F32, modes(Round::Zero), a, b) as u32));
                assert!(down <= product && product <= up, "{product:e} is not in {down:e} … {up:e}");
                assert_eq!(zero, if product < 0.0 { up } else { down });
                let exact = down == product;
                let next = f64::from((down as f32).next_up());
                assert!(
                    if exact { up == down } else { up == next },
                    "{down:e} {up:e} are no neighbours of {product:e}"
                );
            }
        }
    }

    #[test]
    fn halves_agree_with_doubles_that_are_rounded_once() {
        // A sum, product or quotient of two halves rounds the same through a double, which has more than twice the bits.
        let value = |bits| f64::from_bits(F64.pack(F16.unpack(bits), Round::Zero));
        let round = |value: f64| F16.pack(Number::from_f64(value), Round::NearestEven);
        for a in (0..0x10000).step_by(37) {
            for b in (0..0x10000).step_by(1171) {
                let (x, y) = (value(a), value(b));
                assert_eq!(add(F16, Mode::NEAREST, a, b), round(x + y), "{a:#x} + {b:#x}");
                assert_eq!(mul(F16, Mode::NEAREST, a, b), round(x * y), "{a:#x} * {b:#x}");
                assert_eq!(div(F16, Mode::NEAREST, a, b), round(x / y), "{a:#x} / {b:#x}");
            }
            assert_eq!(sqrt(F16, Mode::NEAREST, a), round(value(a).sqrt()), "sqrt {a:#x}");
        }
    }

    #[test]
    fn limits() {
        let one = F32.one();
        let minus_two = f32_bits(-2.0);
        let with = |limit| Mode { limit, ..Mode::NEAREST };
        assert_eq!(add(F32, with(Limit::Saturate), one, one), one);
        assert_eq!(add(F32, with(Limit::Saturate), one, minus_two), 0);
        assert_eq!(add(F32, with(Limit::Saturate), one, 0x7fc0_0000), 0);
        assert_eq!(mul(F32, with(Limit::Saturate), f32_bits(-0.0), one), 0);
        assert_eq!(fma(F16, with(Limit::Relu), 0x3c00, 0xc000, 0), 0);
        assert_eq!(fma(F16, with(Limit::Relu), 0x7e00, 0xc000, 0), 0x7fff);
        assert_eq!(fma(BF16, with(Limit::Relu), 0x3f80, 0x4000, 0), 0x4000);
    }

    #[test]
    fn flushing_happens_on_both_sides() {
        let mode = Mode { flush: true, ..Mode::NEAREST };
        assert_eq!(add(F32, mode, 1, F32.one()), F32.one());
        assert_eq!(add(F32, mode, 0x8000_0001, 0x8000_0001), 0x8000_0000);
        assert_eq!(mul(F32, mode, 0x0080_0000, f32_bits(-0.5)), 0x8000_0000);
        assert_eq!(add(F32, Mode::NEAREST, 0x0080_0000, 0x8000_0001), 0x007f_ffff);
        assert_eq!(add(F32, mode, 0x0080_0001, 0x8080_0000), 0);
    }

    #[test]
    fn smaller_and_larger() {
        let plain = MinMax::default();
        let max = MinMax { max: true, ..plain };
        assert_eq!(min_max(F32, plain, 0, 0x8000_0000), 0x8000_0000);
        assert_eq!(min_max(F32, max, 0x8000_0000, 0), 0);
        assert_eq!(min_max(F32, plain, 0x7fc0_0000, F32.one()), F32.one());
        assert_eq!(min_max(F32, MinMax { nan: true, ..plain }, 0x7fc0_0000, F32.one()), 0x7fff_ffff);
        let xorsign = MinMax { abs: true, xorsign: true, ..max };
        assert_eq!(min_max(F32, xorsign, f32_bits(-3.0), f32_bits(2.0)), f32_bits(-3.0));
        assert_eq!(min_max(F32, xorsign, f32_bits(-3.0), f32_bits(-4.0)), f32_bits(4.0));
        assert_eq!(min_max(F32, max, f32_bits(f32::NEG_INFINITY), f32_bits(f32::MIN)), f32_bits(f32::MIN));
    }
}
