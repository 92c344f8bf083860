//! Video instructions: parts of registers with saturation and a second operation.
//!
//! Operands come as integers wide enough that no first operation overflows, so that one comparison with the limits of
//! the result's type is all that saturation takes.

use super::{Emit, Sign};
use crate::llvm::{IntPredicate, Value};

/// The first operation of a video instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum VideoOp {
    Add,
    Sub,
    AbsoluteDifference,
    Min,
    Max,
    /// Rounded away from zero.
    Average,
    /// The amount wraps at 32, or is held there.
    ShiftLeft {
        wraps: bool,
    },
    ShiftRight {
        wraps: bool,
    },
    Set(IntPredicate),
}

impl<'c> Emit<'_, 'c> {
    /// The exact result of the first operation. The operands are sign-extended.
    pub(crate) fn video(&self, op: VideoOp, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        let ty = a.ty();
        let amount = |wraps| {
            if wraps {
                return self.and_constant(b, 31);
            }
            let held = self.int_min(Sign::Signed, b, ty.constant(32));
            self.int_max(Sign::Signed, held, ty.zero())
        };
        match op {
            VideoOp::Add => self.add(a, b),
            VideoOp::Sub => self.sub(a, b),
            VideoOp::AbsoluteDifference => self.int_abs(self.sub(a, b)),
            VideoOp::Min => self.int_min(Sign::Signed, a, b),
            VideoOp::Max => self.int_max(Sign::Signed, a, b),
            VideoOp::Average => {
                // `(sum + 1) >> 1`, and the mirror image of it for what is negative.
                let sum = self.add(a, b);
                let is_negative = self.less(Sign::Signed, sum, ty.zero());
                let rounded = self.add(sum, self.select(is_negative, ty.zero(), ty.constant(1)));
                self.ashr(rounded, ty.constant(1))
            }
            VideoOp::ShiftLeft { wraps } => self.shl(a, amount(wraps)),
            VideoOp::ShiftRight { wraps } => self.ashr(a, amount(wraps)),
            VideoOp::Set(how) => self.zext(self.icmp(how, a, b), ty),
        }
    }

    /// A wide number within the limits of one of fewer bits.
    pub(crate) fn hold_within(&self, value: Value<'c>, sign: Sign, bits: u32) -> Value<'c> {
        let (least, greatest): (i128, i128) = match sign {
            Sign::Unsigned => (0, (1 << bits) - 1),
            Sign::Signed => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        };
        let ty = value.ty();
        let constant = |value: i128| match ty.bits() {
            bits if bits > 64 => ty.wide_constant(value as u128),
            _ => ty.constant(value as u64),
        };
        let held = self.int_min(Sign::Signed, value, constant(greatest));
        self.int_max(Sign::Signed, held, constant(least))
    }

    /// The low bits of a value in place of some bits of another; both have 32 bits.
    pub(crate) fn merge_bits(&self, value: Value<'c>, into: Value<'c>, place: u32, bits: u32) -> Value<'c> {
        let mask = (((1_u64 << bits) - 1) << place) & 0xffff_ffff;
        let moved = self.shl(value, value.ty().constant(place.into()));
        self.or(self.and_constant(moved, mask), self.and_constant(into, !mask & 0xffff_ffff))
    }
}
