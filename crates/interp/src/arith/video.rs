//! Video instructions: bytes, halfwords and words with saturation, merging and a second operation.

use super::int::{Int, mask};

/// The first operation of a scalar or SIMD video instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VideoOp {
    /// `vadd`
    Add,
    /// `vsub`
    Sub,
    /// `vabsdiff`
    AbsDiff,
    /// `vmin`
    Min,
    /// `vmax`
    Max,
    /// `vavrg2`, `vavrg4`
    Average,
    /// `vshl`, and whether the amount is taken modulo 32 instead of clamped.
    Shl(bool),
    /// `vshr`
    Shr(bool),
    /// `vset` with its comparison.
    Set(Order),
}

/// A comparison of integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// `.eq`
    Eq,
    /// `.ne`
    Ne,
    /// `.lt`, `.lo`
    Lt,
    /// `.le`, `.ls`
    Le,
    /// `.gt`, `.hi`
    Gt,
    /// `.ge`, `.hs`
    Ge,
}

impl Order {
    /// Whether it holds.
    pub fn holds<T: Ord>(self, a: T, b: T) -> bool {
        match self {
            Self::Eq => a == b,
            Self::Ne => a != b,
            Self::Lt => a < b,
            Self::Le => a <= b,
            Self::Gt => a > b,
            Self::Ge => a >= b,
        }
    }
}

/// What is done with the result of the first operation and the third operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Second {
    /// Nothing.
    None,
    /// `.add`
    Add,
    /// `.min`
    Min,
    /// `.max`
    Max,
}

impl VideoOp {
    /// The exact result for one pair of values.
    pub fn apply(self, a: i128, b: i128) -> i128 {
        // An amount clamps to 32 or wraps at it.
        let amount = |wrap: bool| if wrap { b & 31 } else { b.clamp(0, 32) };
        match self {
            Self::Add => a + b,
            Self::Sub => a - b,
            Self::AbsDiff => (a - b).abs(),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            // Rounded away from zero, as a sum plus one for what is not negative.
            Self::Average => {
                let sum = a + b;
                if sum >= 0 { (sum + 1) >> 1 } else { -((1 - sum) >> 1) }
            }
            Self::Shl(wrap) => a << amount(wrap),
            Self::Shr(wrap) => a >> amount(wrap),
            Self::Set(order) => i128::from(order.holds(a, b)),
        }
    }
}

/// The second operation of a scalar instruction, in the type of the result.
pub fn second(op: Second, ty: Int, value: i128, c: u128) -> i128 {
    let c = ty.value(c);
    let value = ty.value(value as u128);
    match op {
        Second::None => value,
        Second::Add => value + c,
        Second::Min => value.min(c),
        Second::Max => value.max(c),
    }
}

/// Puts the low bits of a value into a part of `c`.
pub fn merge(value: u128, c: u128, shift: u32, bits: u32) -> u128 {
    c & !(mask(bits) << shift) | (value & mask(bits)) << shift
}

/// A SIMD operation on two halfwords or four bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Simd {
    /// The operation.
    pub op: VideoOp,
    /// 2 or 4.
    pub lanes: u32,
    /// Type of the result's lanes.
    pub result: bool,
    /// Whether the first operand is signed.
    pub a_signed: bool,
    /// Whether the second operand is signed.
    pub b_signed: bool,
    /// `.sat`
    pub saturate: bool,
    /// `.add`: the lanes are added to the third operand.
    pub accumulate: bool,
}

impl Simd {
    /// Computes the lanes that `written` names, taking the others from `c`. Selectors of `a` and `b` choose, for each
    /// lane, one of the lanes of `b:a`; without them lane `n` is lane `n` of each.
    pub fn apply(self, a: u128, b: u128, c: u128, selectors: Selectors) -> u128 {
        let bits = 32 / self.lanes;
        let lane = |signed, choice: u8| {
            let both = a & mask(32) | (b & mask(32)) << 32;
            Int { bits, signed }.value(both >> (u32::from(choice) * bits))
        };
        let ty = Int { bits, signed: self.result };
        let mut sum = Int { bits: 32, signed: self.result }.value(c);
        let mut merged = c & mask(32);
        for index in 0..self.lanes {
            if selectors.written >> index & 1 == 0 {
                continue;
            }
            let left = lane(self.a_signed, selectors.a[index as usize]);
            let right = lane(self.b_signed, selectors.b[index as usize]);
            let mut value = self.op.apply(left, right);
            if self.saturate {
                value = ty.clamp(value);
            }
            // An accumulated lane counts in full; a stored one is cut to its width.
            sum += value;
            merged = merge(value as u128, merged, index * bits, bits);
        }
        if self.accumulate { sum as u128 & mask(32) } else { merged }
    }
}

/// Which lanes a SIMD instruction reads and writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Selectors {
    /// For each lane, the lane of `b:a` that is the first operand.
    pub a: [u8; 4],
    /// For each lane, the lane of `b:a` that is the second operand.
    pub b: [u8; 4],
    /// The lanes that are computed, lowest bit first.
    pub written: u8,
}

impl Selectors {
    /// Lane `n` of each operand, and all lanes.
    pub const fn straight(lanes: u8) -> Self {
        Self { a: [0, 1, 2, 3], b: [lanes, lanes + 1, lanes + 2, lanes + 3], written: (1 << lanes) - 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_absolute_differences() {
        let simd = Simd {
            op: VideoOp::AbsDiff,
            lanes: 4,
            result: false,
            a_signed: false,
            b_signed: false,
            saturate: false,
            accumulate: true,
        };
        assert_eq!(simd.apply(0x01ff_0380, 0x0200_0580, 10, Selectors::straight(4)), 10 + 1 + 255 + 2);
        let separate = Simd { accumulate: false, ..simd };
        assert_eq!(separate.apply(0x01ff_0380, 0x0200_0580, 10, Selectors::straight(4)), 0x01ff_0200);
    }

    #[test]
    fn averages_round_away_from_zero() {
        assert_eq!(VideoOp::Average.apply(1, 2), 2);
        assert_eq!(VideoOp::Average.apply(-1, -2), -2);
        assert_eq!(VideoOp::Average.apply(-1, 0), -1);
    }
}
