//! Rows of matrices.
//!
//! The lanes of a warp load and store a matrix together (`wmma.load`, `wmma.store`), and all have the address of its first
//! row. So that each row is looked at once, a lane looks at the row that has its number. `ldmatrix` and `stmatrix` have the
//! address of a row from each lane, of which some may not count.

use ptx::ir::{Guard, Operand, Reg};
use ptx::special::Special;
use ptx::types::Type;
use ptx::view::Rows;
use rewrite::{Access, Cursor};

use super::{ARENA, ARENA_BYTES, SHADOW};

fn lane(at: &mut Cursor<'_, '_>) -> Reg {
    at.at_entry("mov.u32", Type::B32, &[Operand::Special(Special::Laneid)])
}

/// The access as if only the first lanes made it.
pub(super) fn of_first_lanes(at: &mut Cursor<'_, '_>, access: &Access, lanes: u32) -> Access {
    if lanes >= 32 {
        return *access;
    }
    let (lane, is_one) = (lane(at), at.reg(Type::Pred));
    let lanes = Operand::Int(lanes.into());
    at.before().setp(is_one.into(), "lt", "u32", [lane.into(), lanes], access.guard);
    Access { guard: Some(Guard::when(is_one)), ..*access }
}

/// The address of the row that a lane looks at.
pub(super) fn address(at: &mut Cursor<'_, '_>, access: &Access, rows: Rows) -> Reg {
    let first = at.address(access);
    let is_long = at.editor().function().reg_type(first).bits() == 64;
    let stride = stride(at, access, rows);
    let (ty, spelling) = if is_long { (Type::B64, "mad.wide.u32") } else { (Type::B32, "mad.lo.u32") };
    let (lane, row) = (lane(at), at.reg(ty));
    at.before().inst(spelling, &[row.into(), lane.into(), stride, first.into()]);
    row
}

/// The address of a row, given a generic one of the first: that with the number of the lane, or another if there are fewer.
pub(super) fn of_lane(at: &mut Cursor<'_, '_>, access: &Access, first: Reg, rows: Rows) -> Reg {
    let stride = stride(at, access, rows);
    let (lane, number, row) = (lane(at), at.reg(Type::B32), at.reg(Type::B64));
    let last = i64::from(rows.count.next_power_of_two()) - 1;
    at.before().inst("and.b32", &[number.into(), lane.into(), last.into()]);
    at.before().inst("mad.wide.u32", &[row.into(), number.into(), stride, first.into()]);
    row
}

/// How far it is from one row to the next, in bytes.
fn stride(at: &mut Cursor<'_, '_>, access: &Access, rows: Rows) -> Operand {
    let Some(position) = rows.stride else { return i64::from(rows.bytes).into() };
    let view = at.editor().view(access.stmt).expect("accesses are made by instructions");
    let elements = view.operands()[position];
    if let Some(elements) = elements.as_int() {
        return (elements * i64::from(rows.element_bits) / 8).into();
    }
    let (spelling, by) = match rows.element_bits {
        8 => return elements,
        bits @ 0..8 => ("shr.u32", (8 / bits).ilog2()),
        bits => ("shl.b32", (bits / 8).ilog2()),
    };
    let bytes = at.reg(Type::B32);
    at.before().inst(spelling, &[bytes.into(), elements, i64::from(by).into()]);
    bytes.into()
}

/// The shadow of a row: a register that has all bits of its pieces if all bytes can be accessed, and how many these are.
///
/// It is loaded in pieces, which can be done where the row is aligned to them; else none of it is said to be accessible.
pub(super) fn shadow(at: &mut Cursor<'_, '_>, access: &Access, row: Reg, bytes: u32) -> (Reg, u32) {
    let [arena, size, shadow] = [at.word(ARENA), at.word(ARENA_BYTES), at.word(SHADOW)];
    let piece = bytes.min(16);
    let (offset, low) = (at.reg(Type::B64), at.reg(Type::B64));
    let (is_aligned, within) = (at.reg(Type::Pred), at.reg(Type::Pred));
    let mut builder = at.before();
    builder.inst("and.b64", &[low.into(), row.into(), i64::from(piece - 1).into()]);
    builder.inst("setp.eq.b64", &[is_aligned.into(), low.into(), 0.into()]);
    builder.inst("sub.u64", &[offset.into(), row.into(), arena.into()]);
    builder.inst("setp.lt.and.u64", &[within.into(), offset.into(), size.into(), is_aligned.into()]);
    if access.guard.is_some() {
        at.and_guard(within, within, access.guard);
    }
    let (all, cell) = (at.reg(Type::B32), at.reg(Type::B32));
    let bits = piece * 2;
    let mut builder = at.before();
    builder.inst("shr.u64", &[offset.into(), offset.into(), 2.into()]);
    builder.inst("add.u64", &[offset.into(), offset.into(), shadow.into()]);
    builder.inst("mov.b32", &[all.into(), 0.into()]);
    for first in (0..bytes).step_by(piece as usize) {
        let to = if first == 0 { all } else { cell };
        let from = Operand::RegAddress(offset, (first / 4) as i32);
        builder.guarded(Guard::when(within), &format!("ld.global.u{bits}"), &[to.into(), from]);
        if first > 0 {
            builder.guarded(Guard::when(within), "and.b32", &[all.into(), all.into(), cell.into()]);
        }
    }
    (all, bits)
}
