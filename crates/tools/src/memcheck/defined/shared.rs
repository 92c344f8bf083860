//! Where the shadow of shared memory is, and what is there when a block begins.
//!
//! Where the blocks that run at the same time have their shared memory at different addresses, its shadow is in a plane, at one
//! distance for all of them. Where they have it at the same ones, as on a GPU, it is in the block itself, which then has
//! [twice the shared memory](rewrite::Instrumentation::doubles_shared).

use ptx::ir::{Guard, Operand, Reg};
use ptx::special::Special;
use ptx::types::Type;
use rewrite::Cursor;
use rewrite::context::DoubledShared;

use crate::memcheck::shadows::Compute;
use crate::memcheck::version::ShadowPlace;
use crate::memcheck::{SHARED_DISTANCE, WINDOWS, WINDOWS_BYTES};

impl Compute<'_, '_, '_> {
    /// How far the shadow of shared memory is from it, as generic addresses.
    pub(super) fn shared_distance(&mut self) -> Reg {
        match self.shadows.shared_place {
            ShadowPlace::Plane => self.at.word(SHARED_DISTANCE),
            ShadowPlace::Block => self.at.doubled_shared(DoubledShared::Distance),
        }
    }

    /// Whether a generic address is one of shared memory that has a shadow.
    pub(super) fn is_in_shared(&mut self, address: Reg) -> Reg {
        match self.shadows.shared_place {
            ShadowPlace::Plane => {
                let [start, bytes] = [self.at.word(WINDOWS), self.at.word(WINDOWS_BYTES)];
                self.is_within(address, start, bytes)
            }
            ShadowPlace::Block => {
                let is_shared = self.at.reg(Type::Pred);
                self.at.before().inst("isspacep.shared", &[is_shared.into(), address.into()]);
                is_shared
            }
        }
    }

    /// How the shadow of what may be shared memory is accessed.
    pub(super) fn space_of_shadow(&self) -> &'static str {
        match self.shadows.shared_place {
            ShadowPlace::Plane => ".global",
            ShadowPlace::Block => "",
        }
    }
}

/// The shadow of the shared memory of a block is in the block itself: all of it is undefined, or counts as defined.
pub(super) fn fill_in_block(at: &mut Cursor<'_, '_>, is_undefined: bool) {
    let value = Operand::Int(if is_undefined { -1 } else { 0 });
    at.call(None, "warpgrind_fill_shared_shadow", &[], &[value]);
    at.before().inst("bar.sync", &[Operand::Int(0)]);
}

/// The shared memory of the block is undefined: the threads say so together, each of every so many words, before one of them
/// goes on. All come the same way, and no function is called, so that vector code stays whole.
pub(super) fn undefine(at: &mut Cursor<'_, '_>) {
    let [x, y, z] = [Special::TidX, Special::TidY, Special::TidZ].map(|id| at.special(id));
    let [width, height, depth] = [Special::NtidX, Special::NtidY, Special::NtidZ].map(|size| at.special(size));
    let distance = at.word(SHARED_DISTANCE);
    let [thread, step, bytes, first, own] = [(); 5].map(|()| at.reg(Type::B32));
    let [start, shadow] = [(); 2].map(|()| at.reg(Type::B64));
    let [is_over, is_within] = [(); 2].map(|()| at.reg(Type::Pred));
    let mut builder = at.before();
    builder.inst("mad.lo.u32", &[thread.into(), z.into(), height.into(), y.into()]);
    builder.inst("mad.lo.u32", &[thread.into(), thread.into(), width.into(), x.into()]);
    builder.inst("shl.b32", &[thread.into(), thread.into(), 3.into()]);
    builder.inst("mul.lo.u32", &[step.into(), width.into(), height.into()]);
    builder.inst("mul.lo.u32", &[step.into(), step.into(), depth.into()]);
    builder.inst("shl.b32", &[step.into(), step.into(), 3.into()]);
    builder.inst("mov.u32", &[bytes.into(), Operand::Special(Special::TotalSmemSize)]);
    builder.inst("mov.u64", &[start.into(), 0.into()]);
    builder.inst("cvta.shared.u64", &[start.into(), start.into()]);
    builder.inst("add.u64", &[start.into(), start.into(), distance.into()]);
    builder.inst("mov.b32", &[first.into(), 0.into()]);
    let [next, over] = ["next", "over"].map(|purpose| builder.label(purpose));
    builder.place(next);
    builder.inst("setp.ge.u32", &[is_over.into(), first.into(), bytes.into()]);
    builder.branch(Some(Guard::when(is_over)), over);
    builder.inst("add.u32", &[own.into(), first.into(), thread.into()]);
    builder.inst("setp.lt.u32", &[is_within.into(), own.into(), bytes.into()]);
    builder.inst("cvt.u64.u32", &[shadow.into(), own.into()]);
    builder.inst("add.u64", &[shadow.into(), shadow.into(), start.into()]);
    let all = [Operand::RegAddress(shadow, 0), Operand::Int(-1)];
    builder.guarded(Guard::when(is_within), "st.global.u64", &all);
    builder.inst("add.u32", &[first.into(), first.into(), step.into()]);
    builder.branch(None, next);
    builder.place(over);
    builder.inst("bar.sync", &[Operand::Int(0)]);
}
