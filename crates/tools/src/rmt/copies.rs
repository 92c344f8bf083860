//! Which copy of a thread of the program a thread is.

use ptx::ir::Reg;
use ptx::special::Special;
use ptx::types::Type;
use rewrite::Cursor;

use super::values::{compute, depth, physical, ticket};
use super::version::{Layout, Pair};

/// Whether the thread is the first of its pair.
pub(super) fn is_first(at: &mut Cursor<'_, '_>, pair: Pair) -> Reg {
    let bit = copy_bit(at, pair);
    at.at_entry("setp.eq.u32", Type::Pred, &[bit.into(), 0.into()])
}

/// Whether it is the second.
pub(super) fn is_second(at: &mut Cursor<'_, '_>, pair: Pair) -> Reg {
    let bit = copy_bit(at, pair);
    at.at_entry("setp.ne.u32", Type::Pred, &[bit.into(), 0.into()])
}

/// Whether the thread does what is done once: the first of its pair, or the one that reads the log.
pub(super) fn is_doer(at: &mut Cursor<'_, '_>, pair: Pair) -> Reg {
    if pair.has_log() { is_second(at, pair) } else { is_first(at, pair) }
}

/// The number of the copy, as a number: 0 or 1.
pub(super) fn copy(at: &mut Cursor<'_, '_>, pair: Pair) -> Reg {
    let bit = copy_bit(at, pair);
    match pair.layout.distance() {
        0 | 1 => bit,
        distance => compute(at, "shr.u32", &[bit.into(), i64::from(distance.trailing_zeros()).into()]),
    }
}

/// A number that is not zero in second copies: a bit of the lane's number if twins are in one warp.
fn copy_bit(at: &mut Cursor<'_, '_>, pair: Pair) -> Reg {
    match pair.layout {
        Layout::Warps => {
            let [z, depth] = [physical(at, Special::TidZ), depth(at)];
            let is_second = at.at_entry("setp.ge.u32", Type::Pred, &[z.into(), depth.into()]);
            compute(at, "selp.b32", &[1.into(), 0.into(), is_second.into()])
        }
        Layout::Blocks => {
            let ticket = ticket(at);
            compute(at, "and.b32", &[ticket.into(), 1.into()])
        }
        layout => {
            let lane = physical(at, Special::Laneid);
            compute(at, "and.b32", &[lane.into(), i64::from(layout.distance()).into()])
        }
    }
}
