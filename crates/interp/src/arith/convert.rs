//! `cvt`: between integers and floating-point formats.

use super::float::{Limit, Mode, round_to_integer};
use super::format::{F64, Format, Number, Round, TF32, round_shift};
use super::int::{Int, mask};

/// One side of a conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An integer.
    Int(Int),
    /// A floating-point number.
    Float(Format),
    /// A `.tf32`: the upper bits of a single.
    Tf32,
}

/// A conversion of one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conversion {
    /// To what.
    pub to: Kind,
    /// From what.
    pub from: Kind,
    /// Rounding to an integer (`.rni` and the like), if asked for.
    pub integral: Option<Round>,
    /// Rounding to the target, flushing and saturation.
    pub mode: Mode,
    /// `.ftz` concerns singles only: flushing of the source.
    pub flush_source: bool,
    /// Flushing of the target.
    pub flush_target: bool,
}

impl Conversion {
    /// Converts. The result has the width of the target; sign extension is the caller's business.
    pub fn apply(self, bits: u128) -> u128 {
        match (self.from, self.to) {
            (Kind::Int(from), Kind::Int(to)) => {
                let value = from.value(bits);
                let value = if self.mode.limit == Limit::Saturate { to.clamp(value) } else { value };
                value as u128 & mask(to.bits)
            }
            (Kind::Int(from), to) => self.float(to, Number::from_int(from.value(bits))),
            (from, Kind::Int(to)) => {
                let number = self.number(from, bits);
                // Zero, says the manual, or the top bit where either side has 64 bits.
                if number == Number::Nan && (from == Kind::Float(F64) || to.bits == 64) {
                    return 1 << (to.bits - 1);
                }
                to_int(number, to, self.integral.unwrap_or(Round::Zero))
            }
            (from, to) => {
                let mut number = self.number(from, bits);
                if let Some(round) = self.integral {
                    number = round_to_integer(number, round);
                }
                self.float(to, number)
            }
        }
    }

    fn number(self, from: Kind, bits: u128) -> Number {
        match from {
            Kind::Float(format) => Mode { flush: self.flush_source, ..self.mode }.input(format, bits as u64),
            Kind::Tf32 => TF32.unpack((bits >> 13) as u64),
            Kind::Int(ty) => Number::from_int(ty.value(bits)),
        }
    }

    fn float(self, to: Kind, number: Number) -> u128 {
        let mode = Mode { flush: self.flush_target, ..self.mode };
        match to {
            Kind::Float(format) => mode.output(format, number).into(),
            Kind::Tf32 => u128::from(mode.output(TF32, number)) << 13 | if number == Number::Nan { 0x1fff } else { 0 },
            Kind::Int(_) => panic!("integers are made by `to_int`"),
        }
    }
}

/// Rounds to an integer and clamps to the type; NaN becomes zero.
pub fn to_int(number: Number, to: Int, round: Round) -> u128 {
    let value = match number {
        Number::Nan | Number::Zero(_) => 0,
        Number::Infinite(true) => to.min(),
        Number::Infinite(false) => to.max(),
        Number::Finite { negative, exponent, significand } => {
            let magnitude = if exponent > 80 || exponent > 0 && significand >> (120 - exponent) != 0 {
                i128::MAX
            } else {
                round_shift(negative, significand, -exponent, round) as i128
            };
            to.clamp(if negative { -magnitude } else { magnitude })
        }
    };
    value as u128 & mask(to.bits)
}

#[cfg(test)]
mod tests {
    use super::super::format::F32;
    use super::*;

    const S32: Int = Int { bits: 32, signed: true };
    const U64: Int = Int { bits: 64, signed: false };

    fn integer(from: f64, to: Int, round: Round) -> u128 {
        to_int(Number::from_f64(from), to, round)
    }

    #[test]
    fn conversions_to_integers_saturate_as_those_of_rust() {
        let values =
            [0.0, -0.0, 0.5, 1.5, -1.5, 2.5, 1e9, -3e9, 3e9, 1e30, -1e30, 1e300, f64::NAN, f64::INFINITY, 5e-324];
        for value in values {
            assert_eq!(integer(value, S32, Round::Zero) as i32, value as i32, "{value}");
            assert_eq!(integer(value, U64, Round::Zero) as u64, value as u64, "{value}");
            assert_eq!(integer(value, S32, Round::Down) as i32, value.floor() as i32, "{value}");
            assert_eq!(integer(value, S32, Round::Up) as i32, value.ceil() as i32, "{value}");
            assert_eq!(integer(value, S32, Round::NearestEven) as i32, value.round_ties_even() as i32, "{value}");
        }
    }

    #[test]
    fn integers_round_to_singles_as_in_rust() {
        let plain = Conversion {
            to: Kind::Float(F32),
            from: Kind::Int(U64),
            integral: None,
            mode: Mode::NEAREST,
            flush_source: false,
            flush_target: false,
        };
        for value in [0, 1, 0x100_0001, 0x100_0003, u64::MAX, 1 << 63, (1 << 63) + (1 << 39), 0xffff_ff7f_ffff_ffff] {
            assert_eq!(plain.apply(value.into()), u128::from((value as f32).to_bits()), "{value}");
            let double = Conversion { to: Kind::Float(F64), ..plain };
            assert_eq!(double.apply(value.into()), u128::from((value as f64).to_bits()), "{value}");
        }
    }

    #[test]
    fn tf32_rounds_ties_away() {
        let conversion = Conversion {
            to: Kind::Tf32,
            from: Kind::Float(F32),
            integral: None,
            mode: Mode { round: Round::NearestAway, ..Mode::NEAREST },
            flush_source: false,
            flush_target: false,
        };
        assert_eq!(conversion.apply(0x3f80_1000), 0x3f80_2000);
        assert_eq!(conversion.apply(0x3f80_0fff), 0x3f80_0000);
        assert_eq!(conversion.apply(0x7f7f_f000), 0x7f80_0000);
        assert_eq!(conversion.apply(0x7f80_0001), 0x7fff_ffff);
    }
}
