//! Dot products of matrix instructions.
//!
//! PTX leaves the order and the precision of the sums open. Here, as the simplest thing that another device can do
//! the same way: the accumulator is a single (or a double, or an integer), products are added in the order of `k` with
//! one fused multiply-add each, rounding to the nearest, and a half as result is rounded once at the end.

use super::float::{self, Mode};
use super::format::{BF16, E4M3, E5M2, F16, F32, F64, Format, Round};
use super::int::Int;

/// What the elements of a matrix are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    /// `.f16`
    F16,
    /// `.bf16`
    Bf16,
    /// `.tf32`: the upper 19 bits of a single; the others are ignored.
    Tf32,
    /// `.f32`
    F32,
    /// `.f64`
    F64,
    /// `.e4m3`
    E4m3,
    /// `.e5m2`
    E5m2,
    /// An integer of 4, 8 or 32 bits.
    Int(Int),
    /// A single bit.
    B1,
}

impl Element {
    /// Width in a register or in memory.
    pub fn bits(self) -> u32 {
        match self {
            Self::B1 => 1,
            Self::Int(ty) => ty.bits,
            Self::E4m3 | Self::E5m2 => 8,
            Self::F16 | Self::Bf16 => 16,
            Self::Tf32 | Self::F32 => 32,
            Self::F64 => 64,
        }
    }

    fn to_single(self, bits: u64) -> u64 {
        let format = match self {
            Self::F16 => F16,
            Self::Bf16 => BF16,
            Self::E4m3 => E4M3,
            Self::E5m2 => E5M2,
            Self::Tf32 => return bits & !0x1fff,
            _ => return bits,
        };
        widen(format, bits)
    }
}

fn widen(format: Format, bits: u64) -> u64 {
    F32.pack(format.unpack(bits), Round::NearestEven)
}

/// How the products of a matrix instruction are made and summed up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dot {
    /// In singles; the first two are the types of the factors, then that of the addend and that of the result.
    Single(Element, Element, Element, Element),
    /// In doubles.
    Double(Round),
    /// In integers, with `.satfinite` or wrapping.
    Int(Int, Int, bool),
    /// The number of ones in `a ^ b`, or in `a & b`.
    Bits {
        /// `.xor` instead of `.and`.
        xor: bool,
    },
}

impl Dot {
    /// `c + Σ a·b`
    pub fn apply(self, factors: impl Iterator<Item = (u64, u64)>, c: u64) -> u64 {
        match self {
            Self::Single(a_type, b_type, c_type, d_type) => {
                let sum = factors.fold(c_type.to_single(c), |sum, (a, b)| {
                    float::fma(F32, Mode::NEAREST, a_type.to_single(a), b_type.to_single(b), sum)
                });
                if d_type == Element::F16 { F16.pack(F32.unpack(sum), Round::NearestEven) } else { sum }
            }
            Self::Double(round) => {
                let mode = Mode { round, ..Mode::NEAREST };
                factors.fold(c, |sum, (a, b)| float::fma(F64, mode, a, b, sum))
            }
            Self::Int(a_type, b_type, saturate) => {
                let ty = Int { bits: 32, signed: true };
                let sum = factors
                    .fold(ty.value(c.into()), |sum, (a, b)| sum + a_type.value(a.into()) * b_type.value(b.into()));
                let sum = if saturate { ty.clamp(sum) } else { sum };
                u64::from(sum as u32)
            }
            Self::Bits { xor } => {
                let ones = factors.filter(|(a, b)| (if xor { a ^ b } else { a & b }) & 1 == 1).count();
                u64::from((c as u32).wrapping_add(ones as u32))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_dot_products() {
        let half = Dot::Single(Element::F16, Element::F16, Element::F32, Element::F32);
        assert_eq!(half.apply([(0x3c00, 0x4000), (0x4000, 0x4000)].into_iter(), F32.one()), 7_f32.to_bits().into());
        let s8 = Int { bits: 8, signed: true };
        let u8 = Int { bits: 8, signed: false };
        assert_eq!(Dot::Int(s8, u8, false).apply([(0xff, 0xff), (2, 3)].into_iter(), 1) as i32, -255 + 6 + 1);
        let largest = i32::MAX as u64;
        assert_eq!(Dot::Int(u8, u8, true).apply([(1, 1)].into_iter(), largest), largest);
        assert_eq!(Dot::Bits { xor: true }.apply([(1, 0), (1, 1), (0, 1)].into_iter(), 5), 7);
    }
}
