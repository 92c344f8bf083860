//! Copies of as many bytes as a register says: `cp.async.bulk`, `cp.reduce.async.bulk`, `st.bulk`, and `cp.async` with the
//! size of its source.
//!
//! One thread issues such a copy for many others, so a call for each is cheap enough: `warpgrind_memcheck_range` looks at
//! the ends where the object is known, at all of the shadow where not, and reports the first piece that is bad.

use ptx::ir::{Guard, Operand};
use ptx::ops::{Mod, Op};
use ptx::types::Type;
use ptx::view::AccessBytes;
use rewrite::{Access, Cursor};

use super::against::Against;
use super::allowed::AllowedLanes;
use super::check::{Bounds, Together, site_of_piece};

/// The bytes that an access is to, of which the address is the first.
pub(super) struct Range {
    /// How many, of 64 bits.
    bytes: Operand,
    /// How many at the start are not touched, of 64 bits; they count among the bytes.
    skipped: Option<Operand>,
    /// Bytes of a piece, which is what the address and the size are multiples of.
    piece: u32,
    /// The barrier object that counts the bytes that come, and how many it waits for.
    completion: Option<(Operand, Operand)>,
}

impl Range {
    /// The range of an access, if the access has one.
    pub(super) fn of(at: &mut Cursor<'_, '_>, access: &Access) -> Option<Self> {
        let view = at.editor().view(access.stmt)?;
        let matched = view.matched_operands()?;
        let named = |name: &str| matched.iter().find(|(_, spec)| spec.name == name).map(|(operand, _)| **operand);
        let of_access = matched.get(access.access.address)?.1.name;
        let form = view.form;
        let (size, piece) = match view.op()? {
            Op::CpAsyncBulk | Op::CpReduceAsyncBulk if of_access != "mbar" => (named("size")?, 16),
            Op::StBulk => (named("size")?, 8),
            Op::CpAsync if of_access == "a" && matches!(access.access.bytes, AccessBytes::Operand(_)) => {
                (named("src_size")?, 1)
            }
            _ => return None,
        };
        let whole = named("size")?;
        let (left, right, mask) = (named("b"), named("c"), named("bytes"));
        let completion = named("mbar").map(|barrier| (barrier, size));
        let is_in_part = match of_access {
            "a" => form.has(Mod::IgnoreOob),
            _ => form.has(Mod::CpMask),
        };
        drop(matched);
        let is_predicate = match size {
            Operand::Not(_) => true,
            Operand::Reg(reg) => at.editor().function().reg_type(reg) == Type::Pred,
            _ => false,
        };
        let bytes = if is_predicate {
            // Where it holds, nothing is read.
            let bytes = at.reg(Type::B64);
            at.before().inst("selp.b64", &[bytes.into(), 0.into(), whole, size]);
            bytes.into()
        } else {
            at.widened_operand(size)
        };
        let mut range = Self { bytes, skipped: None, piece, completion };
        match (is_in_part, left, right, mask) {
            (true, Some(left), Some(right), _) => {
                let [left, right] = [left, right].map(|operand| at.widened_operand(operand));
                range.leave_out(at, left, right);
            }
            (true, _, _, Some(mask)) => {
                // From the first byte that the mask has a bit for to the last.
                let (bits, low, high) = (at.reg(Type::B32), at.reg(Type::B32), at.reg(Type::B32));
                let [left, right] = [at.reg(Type::B64), at.reg(Type::B64)];
                let mut builder = at.before();
                builder.inst("cvt.u32.u16", &[bits.into(), mask]);
                builder.inst("brev.b32", &[low.into(), bits.into()]);
                builder.inst("clz.b32", &[low.into(), low.into()]);
                builder.inst("clz.b32", &[high.into(), bits.into()]);
                builder.inst("sub.u32", &[high.into(), high.into(), 16.into()]);
                builder.inst("cvt.u64.u32", &[left.into(), low.into()]);
                builder.inst("cvt.u64.u32", &[right.into(), high.into()]);
                range.leave_out(at, left.into(), right.into());
            }
            _ => {}
        }
        Some(range)
    }

    /// Leaves bytes at the start and at the end out.
    fn leave_out(&mut self, at: &mut Cursor<'_, '_>, left: Operand, right: Operand) {
        let (fewer, both) = (at.reg(Type::B64), at.reg(Type::B64));
        let mut builder = at.before();
        builder.inst("add.u64", &[both.into(), left, right]);
        builder.inst("min.u64", &[both.into(), both.into(), self.bytes]);
        builder.inst("sub.u64", &[fewer.into(), self.bytes, both.into()]);
        (self.bytes, self.skipped, self.piece) = (fewer.into(), Some(left), 1);
    }

    /// Inserts the check of the access. Where a copy does not take place, the barrier object is told that it did: others
    /// wait for it.
    pub(super) fn check(self, at: &mut Cursor<'_, '_>, access: &Access) {
        let against = Against::of(at, access, self.piece);
        if against == Against::Nothing {
            return;
        }
        let mut piece = Together::alone(at, access, self.piece);
        if let Some(skipped) = self.skipped {
            piece.base = at.widened(piece.base);
            let base = at.reg(Type::B64);
            at.before().inst("add.u64", &[base.into(), piece.base.into(), skipped]);
            piece.base = base;
        }
        let bounds = Bounds::of_piece(at, access, &piece, against);
        let site = site_of_piece(at, access, &piece, &bounds);
        let (answer, base) = (at.reg(Type::B32), at.widened(piece.base));
        at.before().inst("mov.b32", &[answer.into(), 0.into()]);
        at.call(
            access.guard,
            "warpgrind_memcheck_range",
            &[answer.into()],
            &[base.into(), self.bytes, bounds.low, bounds.limit, i64::from(site.0).into()],
        );
        if let Some((barrier, size)) = self.completion {
            let refused = at.reg(Type::Pred);
            at.before().setp(refused.into(), "eq", "b32", [answer.into(), 0.into()], access.guard);
            let complete = "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64";
            at.before().guarded(Guard::when(refused), complete, &[barrier, size]);
        }
        AllowedLanes::Where { answers: answer, mask: u32::MAX }.apply(at);
    }
}
