//! Numbers of a thread that are computed where a function begins.

use ptx::ir::{Operand, Reg};
use ptx::special::Special;
use ptx::types::Type;
use rewrite::Cursor;

use super::LOG;
use super::kept::Kept;
use crate::ticket;

/// What the device says.
pub(super) fn physical(at: &mut Cursor<'_, '_>, special: Special) -> Reg {
    at.at_entry("mov.u32", Type::B32, &[special.into()])
}

/// A number of 32 bits that is computed where the function begins.
pub(super) fn compute(at: &mut Cursor<'_, '_>, spelling: &str, operands: &[Operand]) -> Reg {
    at.at_entry(spelling, Type::B32, operands)
}

/// A size that the launch tells.
pub(super) fn size(at: &mut Cursor<'_, '_>, word: rewrite::context::Word) -> Reg {
    let word = at.word(word);
    at.at_entry("cvt.u32.u64", Type::B32, &[word.into()])
}

/// The number of the thread in the block of the device: its threads in the order of x, y and z.
pub(super) fn number(at: &mut Cursor<'_, '_>) -> Reg {
    let [x, y, z] = [Special::TidX, Special::TidY, Special::TidZ].map(|special| physical(at, special));
    let [width, height] = [Special::NtidX, Special::NtidY].map(|special| physical(at, special));
    let row = compute(at, "mad.lo.u32", &[z.into(), height.into(), y.into()]);
    compute(at, "mad.lo.u32", &[row.into(), width.into(), x.into()])
}

/// The ticket of the block: it says which copy the block is, and of which block of the program.
pub(super) fn ticket(at: &mut Cursor<'_, '_>) -> Reg {
    let is_drawn = std::mem::replace(&mut at.state::<Kept>().has_ticket, true);
    ticket::ticket(at, LOG, is_drawn)
}

/// The number of a pair of blocks, which is that of the program's block.
pub(super) fn pair_of_blocks(at: &mut Cursor<'_, '_>) -> Reg {
    let ticket = ticket(at);
    compute(at, "shr.u32", &[ticket.into(), 1.into()])
}

/// How deep the block of the program is, where warps are twins.
pub(super) fn depth(at: &mut Cursor<'_, '_>) -> Reg {
    let doubled = physical(at, Special::NtidZ);
    compute(at, "shr.u32", &[doubled.into(), 1.into()])
}
