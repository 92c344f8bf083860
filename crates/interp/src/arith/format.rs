//! Floating-point formats: taking bits apart into an exact number, and rounding an exact number to bits.
//!
//! Every operation of [`float`](super::float) computes an exact [`Number`] (or one with a sticky bit far below the last
//! bit that matters) and rounds once, so that each rounding mode of each format comes from the same few lines.

/// How a format spells what is not a finite number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Specials {
    /// Infinities and NaNs as in IEEE 754.
    Ieee,
    /// No infinities; all ones is NaN (`e4m3`).
    NanOnly,
    /// Neither (`e2m3`, `e3m2`, `e2m1`).
    None,
}

/// A binary floating-point format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Bits of the exponent.
    pub exponent_bits: u32,
    /// Bits after the binary point.
    pub fraction_bits: u32,
    /// Infinities and NaNs.
    pub specials: Specials,
    /// The NaN that arithmetic returns.
    pub canonical_nan: u64,
}

/// `.f16`
pub const F16: Format = ieee(5, 10, 0x7fff);
/// `.bf16`
pub const BF16: Format = ieee(8, 7, 0x7fff);
/// `.f32`
pub const F32: Format = ieee(8, 23, 0x7fff_ffff);
/// `.f64`: the payload of a NaN is nobody's business, see the documentation of the crate.
pub const F64: Format = ieee(11, 52, 0x7ff8_0000_0000_0000);
/// `.tf32` without the thirteen bits that fill its register up: see [`super::convert`].
pub const TF32: Format = ieee(8, 10, 0x3ffff);
/// `.e5m2`
pub const E5M2: Format = ieee(5, 2, 0x7f);
/// `.e4m3`
pub const E4M3: Format =
    Format { exponent_bits: 4, fraction_bits: 3, specials: Specials::NanOnly, canonical_nan: 0x7f };
/// `.e3m2`
pub const E3M2: Format = finite(3, 2);
/// `.e2m3`
pub const E2M3: Format = finite(2, 3);
/// `.e2m1`
pub const E2M1: Format = finite(2, 1);

const fn ieee(exponent_bits: u32, fraction_bits: u32, canonical_nan: u64) -> Format {
    Format { exponent_bits, fraction_bits, specials: Specials::Ieee, canonical_nan }
}

/// Formats without NaN turn it into their largest number.
const fn finite(exponent_bits: u32, fraction_bits: u32) -> Format {
    let canonical_nan = (1 << (exponent_bits + fraction_bits)) - 1;
    Format { exponent_bits, fraction_bits, specials: Specials::None, canonical_nan }
}

/// How a number between two neighbours is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Round {
    /// To the nearer one, ties to the even one (`.rn`).
    NearestEven,
    /// To the nearer one, ties away from zero (`.rna`).
    NearestAway,
    /// Towards zero (`.rz`).
    Zero,
    /// Towards minus infinity (`.rm`).
    Down,
    /// Towards plus infinity (`.rp`).
    Up,
}

/// What the bits of a format stand for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// Not a number.
    Nan,
    /// An infinity, and whether it is negative.
    Infinite(bool),
    /// A zero, and whether it is negative.
    Zero(bool),
    /// `significand * 2^exponent`, with a significand that is not zero.
    Finite {
        /// Whether it is negative.
        negative: bool,
        /// The power of two.
        exponent: i32,
        /// The integer factor.
        significand: u128,
    },
}

impl Number {
    /// Whether the sign bit is set; no for NaN.
    pub fn is_negative(self) -> bool {
        match self {
            Self::Nan => false,
            Self::Infinite(negative) | Self::Zero(negative) | Self::Finite { negative, .. } => negative,
        }
    }

    /// The number with the other sign.
    pub fn negate(self) -> Self {
        match self {
            Self::Nan => Self::Nan,
            Self::Infinite(negative) => Self::Infinite(!negative),
            Self::Zero(negative) => Self::Zero(!negative),
            Self::Finite { negative, exponent, significand } => {
                Self::Finite { negative: !negative, exponent, significand }
            }
        }
    }

    /// An integer.
    pub fn from_int(value: i128) -> Self {
        match value {
            0 => Self::Zero(false),
            _ => Self::Finite { negative: value < 0, exponent: 0, significand: value.unsigned_abs() },
        }
    }

    /// A native double, exactly.
    pub fn from_f64(value: f64) -> Self {
        F64.unpack(value.to_bits())
    }
}

impl Format {
    /// Width in bits.
    pub const fn bits(self) -> u32 {
        1 + self.exponent_bits + self.fraction_bits
    }

    /// The sign bit.
    pub const fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// The exponent of the last bit of subnormal numbers.
    const fn least_exponent(self) -> i32 {
        1 - self.bias() - self.fraction_bits as i32
    }

    const fn fraction_mask(self) -> u64 {
        (1 << self.fraction_bits) - 1
    }

    /// The bits of positive infinity; meaningless for formats without.
    pub const fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits
    }

    /// The bits of the largest finite number.
    pub const fn largest(self) -> u64 {
        match self.specials {
            Specials::Ieee => self.infinity() - 1,
            Specials::NanOnly => self.sign() - 2,
            Specials::None => self.sign() - 1,
        }
    }

    /// The bits of one.
    pub const fn one(self) -> u64 {
        (self.bias() as u64) << self.fraction_bits
    }

    /// Whether the bits are a NaN.
    pub const fn is_nan(self, bits: u64) -> bool {
        let magnitude = bits & (self.sign() - 1);
        match self.specials {
            Specials::Ieee => magnitude > self.infinity(),
            Specials::NanOnly => magnitude == self.sign() - 1,
            Specials::None => false,
        }
    }

    /// Whether the bits are a subnormal number; zero is none.
    pub const fn is_subnormal(self, bits: u64) -> bool {
        let magnitude = bits & (self.sign() - 1);
        magnitude != 0 && magnitude <= self.fraction_mask()
    }

    /// The bits, with a zero of the same sign for a subnormal number.
    pub const fn flush(self, bits: u64) -> u64 {
        if self.is_subnormal(bits) { bits & self.sign() } else { bits }
    }

    /// What the bits stand for.
    pub fn unpack(self, bits: u64) -> Number {
        let negative = bits & self.sign() != 0;
        let magnitude = bits & (self.sign() - 1);
        if self.is_nan(bits) {
            return Number::Nan;
        }
        if self.specials == Specials::Ieee && magnitude == self.infinity() {
            return Number::Infinite(negative);
        }
        if magnitude == 0 {
            return Number::Zero(negative);
        }
        let field = (magnitude >> self.fraction_bits) as i32;
        let fraction = magnitude & self.fraction_mask();
        let (exponent, significand) = match field {
            0 => (self.least_exponent(), fraction),
            _ => (self.least_exponent() + field - 1, fraction | 1 << self.fraction_bits),
        };
        Number::Finite { negative, exponent, significand: significand.into() }
    }

    /// The bits nearest to a number in the sense of the rounding mode.
    pub fn pack(self, number: Number, round: Round) -> u64 {
        match number {
            Number::Nan => self.canonical_nan,
            Number::Infinite(negative) => self.signed(negative, self.overflow(negative, None)),
            Number::Zero(negative) => self.signed(negative, 0),
            Number::Finite { negative, exponent, significand } => {
                self.signed(negative, self.pack_magnitude(negative, exponent, significand, round))
            }
        }
    }

    fn signed(self, negative: bool, magnitude: u64) -> u64 {
        // The NaN of a format without infinities has no sign.
        if magnitude == self.canonical_nan && self.specials == Specials::NanOnly {
            return magnitude;
        }
        if negative { magnitude | self.sign() } else { magnitude }
    }

    fn pack_magnitude(self, negative: bool, exponent: i32, significand: u128, round: Round) -> u64 {
        let width = 128 - significand.leading_zeros() as i32;
        // The exponent of the last bit kept: that of the format's precision, or of its subnormals.
        let last = (exponent + width - 1 - self.fraction_bits as i32).max(self.least_exponent());
        let rounded = round_shift(negative, significand, last - exponent, round);
        if rounded == 0 {
            return 0;
        }
        // A carry into the next power of two is right by itself: the fraction is zero and the exponent grows by one.
        let field = (last - self.least_exponent()) as u64;
        let magnitude = if rounded >> self.fraction_bits == 0 {
            rounded as u64
        } else {
            (field << self.fraction_bits) + rounded as u64
        };
        if field >= 1 << self.exponent_bits || magnitude > self.largest() {
            return self.overflow(negative, Some(round));
        }
        magnitude
    }

    /// What a number too large becomes; without a rounding mode, what an infinity becomes.
    fn overflow(self, negative: bool, round: Option<Round>) -> u64 {
        let to_largest = match round {
            None | Some(Round::NearestEven | Round::NearestAway) => false,
            Some(Round::Zero) => true,
            Some(Round::Down) => !negative,
            Some(Round::Up) => negative,
        };
        match self.specials {
            _ if to_largest => self.largest(),
            Specials::Ieee => self.infinity(),
            Specials::NanOnly => self.canonical_nan,
            Specials::None => self.largest(),
        }
    }
}

/// `significand / 2^shift`, rounded to an integer; a negative shift is exact.
pub fn round_shift(negative: bool, significand: u128, shift: i32, round: Round) -> u128 {
    if shift <= 0 {
        return significand << -shift;
    }
    let (kept, rest, half) = match shift {
        1..=127 => {
            let kept = significand >> shift;
            (kept, significand - (kept << shift), 1_u128 << (shift - 1))
        }
        // Less than a half of the last place, whatever it is.
        _ => (0, 1.min(significand), 2),
    };
    let up = match round {
        Round::NearestEven => rest > half || rest == half && kept & 1 == 1,
        Round::NearestAway => rest >= half,
        Round::Zero => false,
        Round::Down => negative && rest != 0,
        Round::Up => !negative && rest != 0,
    };
    kept + u128::from(up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_small_formats_packs_to_itself() {
        for format in [F16, BF16, TF32, E5M2, E4M3, E3M2, E2M3, E2M1] {
            for bits in 0..1_u64 << format.bits() {
                let number = format.unpack(bits);
                for round in [Round::NearestEven, Round::NearestAway, Round::Zero, Round::Down, Round::Up] {
                    let expected = if number == Number::Nan { format.canonical_nan } else { bits };
                    assert_eq!(format.pack(number, round), expected, "{format:?} {bits:#x} {round:?}");
                }
            }
        }
    }

    /// The value of an f16 by its definition, in doubles, where it is exact.
    fn half_value(bits: u64) -> f64 {
        let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
        let (exponent, fraction) = ((bits >> 10 & 31) as i32, (bits & 1023) as f64);
        match exponent {
            0 => sign * fraction * 2_f64.powi(-24),
            31 if fraction == 0.0 => sign * f64::INFINITY,
            31 => f64::NAN,
            _ => sign * (1.0 + fraction / 1024.0) * 2_f64.powi(exponent - 15),
        }
    }

    #[test]
    fn halves_have_the_value_of_their_definition() {
        for bits in 0..0x10000 {
            let value = half_value(bits);
            let packed = f64::from_bits(F64.pack(F16.unpack(bits), Round::Zero));
            assert!(value == packed || value.is_nan() && packed.is_nan(), "{bits:#x}");
        }
    }

    #[test]
    fn a_double_rounds_to_the_half_that_a_search_finds() {
        let finite: Vec<u64> = (0..0x7c00).collect();
        for step in 0..40_000 {
            let value = f64::from_bits(0x3e50_0000_0000_0000 + step * 0x0000_07a3_4f21_9c35);
            let above = finite.partition_point(|&bits| half_value(bits) < value) as u64;
            let exact = half_value(above) == value;
            let below = if exact { above } else { above - 1 };
            let largest = 0x7bff;
            let (below, above) = (below.min(largest), above);
            assert_eq!(F16.pack(Number::from_f64(value), Round::Zero), below, "{value}");
            assert_eq!(F16.pack(Number::from_f64(value), Round::Down), below, "{value}");
            assert_eq!(F16.pack(Number::from_f64(value), Round::Up), above, "{value}");
            assert_eq!(F16.pack(Number::from_f64(-value), Round::Down), above | 0x8000, "{value}");
            let step_above = if above > largest { 65536.0 } else { half_value(above) };
            let nearest = match (value - half_value(below)).total_cmp(&(step_above - value)) {
                _ if exact => below,
                std::cmp::Ordering::Less => below,
                std::cmp::Ordering::Greater => above,
                std::cmp::Ordering::Equal => {
                    if below & 1 == 0 {
                        below
                    } else {
                        above
                    }
                }
            };
            assert_eq!(F16.pack(Number::from_f64(value), Round::NearestEven), nearest, "{value}");
        }
    }

    #[test]
    fn doubles_round_to_singles_as_the_processor_does() {
        let mut state = 1_u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = f64::from_bits((state & !(0x7ff << 52)) | (870 + state % 310) << 52);
            let expected = (value as f32).to_bits();
            assert_eq!(F32.pack(Number::from_f64(value), Round::NearestEven), expected.into(), "{value}");
        }
    }

    #[test]
    fn narrow_formats_saturate_as_the_manual_says() {
        assert_eq!(E4M3.largest(), 0x7e); // 448
        assert_eq!(F64.pack(E4M3.unpack(0x7e), Round::Zero), 448_f64.to_bits());
        assert_eq!(F64.pack(E5M2.unpack(0x7b), Round::Zero), 57344_f64.to_bits());
        assert_eq!(F64.pack(E3M2.unpack(0x1f), Round::Zero), 28_f64.to_bits());
        assert_eq!(F64.pack(E2M3.unpack(0x1f), Round::Zero), 7.5_f64.to_bits());
        assert_eq!(F64.pack(E2M1.unpack(7), Round::Zero), 6_f64.to_bits());
        assert_eq!(E4M3.pack(Number::Infinite(true), Round::NearestEven), 0x7f);
        assert_eq!(E5M2.pack(Number::Infinite(true), Round::NearestEven), 0xfc);
    }
}
