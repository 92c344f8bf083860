//! The serial order on devices that cannot be asked for one: threads hand on a turn.
//!
//! A thread runs while it has the turn. Where it comes to a barrier or a collective, and when it ends, it hands the turn to the
//! first thread of its block that can run; after the barrier or the collective it waits until it has the turn again. Blocks are
//! numbered by tickets, and one begins when the one before has ended (`one_by_one.ptx`).
//!
//! The turn is handed on before the instruction, so all who take part come to it, and those for whom it has ended wait for
//! their turn after it. Lanes of a warp wait for each other in loops, which needs lanes that each make progress: GPUs have
//! these from sm_70 on.

use ptx::ir::{Guard, Operand, Reg};
use ptx::ops::Effect;
use ptx::special::Special;
use ptx::synchronisation::Synchronisation;
use ptx::types::Type;
use rewrite::{Access, Cursor, Exit, Sync};

use super::BLOCKS;
use super::instrument::Kept;
use super::kernel_facts::KernelFacts;
use crate::ticket;

/// All lanes of a warp.
const ALL_LANES: Operand = Operand::Hex(0xffff_ffff);

/// The number of the block in the serial order.
fn block(at: &mut Cursor<'_, '_>) -> Reg {
    let is_drawn = std::mem::replace(&mut at.state::<Kept>().has_ticket, true);
    ticket::ticket(at, BLOCKS, is_drawn)
}

/// A function begins.
pub(super) fn entry(at: &mut Cursor<'_, '_>) {
    let is_kernel = at.is_kernel();
    let editor = at.editor();
    let (module, func) = (editor.module(), editor.func());
    // Who calls a function is not known in it.
    let facts = is_kernel.then(|| KernelFacts::of(module, func));
    at.state::<Kept>().kernel = facts;
    let block = block(at);
    if is_kernel {
        at.call(None, "warpgrind_repair_enter", &[], &[block.into()]);
    }
}

/// The ids of a block are those of its place in the serial order.
pub(super) fn special(at: &mut Cursor<'_, '_>, special: Special) -> Option<Reg> {
    let of = |at: &mut Cursor<'_, '_>, divided: Reg, spelling, size| {
        let size = at.at_entry("mov.u32", Type::B32, &[Operand::Special(size)]);
        at.at_entry(spelling, Type::B32, &[divided.into(), size.into()])
    };
    if !matches!(special, Special::Ctaid | Special::CtaidX | Special::CtaidY | Special::CtaidZ) {
        return None;
    }
    let number = block(at);
    if special == Special::CtaidX {
        return Some(of(at, number, "rem.u32", Special::NctaidX));
    }
    let row = of(at, number, "div.u32", Special::NctaidX);
    Some(of(at, row, if special == Special::CtaidY { "rem.u32" } else { "div.u32" }, Special::NctaidY))
}

/// A thread synchronises.
pub(super) fn sync(at: &mut Cursor<'_, '_>, sync: &Sync) {
    // Not the barrier after which a block knows its ticket.
    if at.editor().body().origin(sync.stmt).tag.is_some() {
        return;
    }
    let mask = match sync.kind {
        Synchronisation::Barrier { .. } => None,
        Synchronisation::WarpBarrier { mask } => Some(mask),
        Synchronisation::Collective { mask } => Some(mask.unwrap_or(ALL_LANES)),
        _ => return,
    };
    let block = block(at);
    // The instruction may overwrite its guard.
    let guard = sync.guard.map(|guard| {
        let copy = at.reg(Type::Pred);
        at.before().inst("mov.pred", &[copy.into(), guard.reg.into()]);
        Guard { reg: copy, ..guard }
    });
    match mask {
        None => at.call(guard, "warpgrind_repair_stop", &[], &[block.into()]),
        Some(mask) => at.call(guard, "warpgrind_repair_meet", &[], &[block.into(), mask]),
    }
    if sync.kind == (Synchronisation::Collective { mask: None }) {
        // It takes lanes that come to it together.
        at.before().inst_if(guard, "bar.warp.sync", &[ALL_LANES]);
    }
    at.call_after(guard, "warpgrind_repair_await", &[], &[]);
}

/// An asynchronous copy is made at once.
pub(super) fn access(at: &mut Cursor<'_, '_>, access: &Access) {
    let is_copy = at.editor().view(access.stmt).is_some_and(|view| view.effect() == Some(Effect::AsyncCopy));
    if is_copy && access.index == 0 {
        at.after().inst("cp.async.wait_all", &[]);
    }
}

/// The thread is about to leave a function.
pub(super) fn exit(at: &mut Cursor<'_, '_>, exit: &Exit) {
    if !exit.ends_thread {
        return;
    }
    let block = block(at);
    // Of functions it is not known whether their kernels have collectives.
    let has_meetings = at.state::<Kept>().kernel.as_ref().is_none_or(|facts| facts.has_meetings);
    let helper = if has_meetings { "warpgrind_repair_end_for_all" } else { "warpgrind_repair_end" };
    let guard = at.guard();
    at.call(guard, helper, &[], &[block.into()]);
}
