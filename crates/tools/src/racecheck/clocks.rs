//! What is inserted at barriers to which only some warps come: those with a count, and mbarrier objects (`device/clocks.ptx`).

use ptx::ir::{Guard, Operand, Reg};
use ptx::ops::{Effect, Mod, Op};
use ptx::types::Type;
use rewrite::{Access, Cursor};

use super::check::ThreadRecords;

/// A barrier of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Barrier {
    pub(super) id: Operand,
    /// How many threads come to it; nothing for all of the block.
    pub(super) count: Option<Operand>,
    /// Whether they wait; else they only arrive.
    pub(super) waits: bool,
}

/// A thread comes to a barrier of its block.
pub(super) fn barrier(at: &mut Cursor<'_, '_>, guard: Option<Guard>, thread: &ThreadRecords, barrier: &Barrier) {
    let ThreadRecords { mine, first, now, .. } = *thread;
    let Barrier { id, count, waits } = *barrier;
    let [own, block] = [mine, first].map(Operand::from);
    let (count, is_whole) = (count.unwrap_or(Operand::Int(0)), count.is_none());
    let phase = at.reg(Type::B32);
    at.call(guard, "warpgrind_race_arrive", &[phase.into()], &[own, block, id, count]);
    // Each of these comes before the one that was inserted before it.
    if waits && is_whole {
        at.call_after(guard, "warpgrind_race_floor_now", &[now.into()], &[]);
    }
    keep_after(at, guard, thread);
    if waits {
        at.call_after(guard, "warpgrind_race_passed", &[own], &[own, block, id, count, phase.into()]);
    } else {
        at.call_after(guard, "warpgrind_race_arrived", &[own], &[own, block]);
    }
}

/// What an instruction does with an mbarrier object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ObjectStep {
    /// It makes the object, or says that there is none any more.
    Begin,
    /// It arrives, and releases what came before.
    Arrive {
        /// Whether it does so when the asynchronous copies of the thread are done.
        after_copies: bool,
    },
    /// It asks whether a phase has ended, and acquires if so.
    Wait {
        /// The parity of the phase; nothing if it has a state instead.
        parity: Option<Operand>,
        /// Where the answer is.
        has_ended: Reg,
    },
    /// It orders nothing.
    Other,
}

impl ObjectStep {
    /// Nothing if the instruction has to do with no such object.
    pub(super) fn of(at: &mut Cursor<'_, '_>, access: &Access) -> Option<Self> {
        let view = at.editor().view(access.stmt)?;
        let op = view.op()?;
        if view.effect() != Some(Effect::Mbarrier) && op != Op::CpAsyncMbarrierArrive {
            return None;
        }
        let is_relaxed = view.form.has(Mod::Relaxed);
        let operand = |name| view.place_of_operand(name).map(|place| view.operands()[place]);
        Some(match op {
            Op::MbarrierInit | Op::MbarrierInval => Self::Begin,
            Op::MbarrierArrive | Op::MbarrierArriveDrop if !is_relaxed => Self::Arrive { after_copies: false },
            Op::CpAsyncMbarrierArrive => Self::Arrive { after_copies: true },
            Op::MbarrierTestWait | Op::MbarrierTryWait if !is_relaxed => match operand("p") {
                Some(Operand::Reg(has_ended)) => {
                    let parity = view.form.has(Mod::Parity).then(|| operand("b")).flatten();
                    Self::Wait { parity, has_ended }
                }
                _ => Self::Other,
            },
            _ => Self::Other,
        })
    }

    /// Follows the order that it makes, at the address of the object.
    pub(super) fn follow(self, at: &mut Cursor<'_, '_>, thread: &ThreadRecords, address: Reg) {
        let guard = at.guard();
        let [own, block] = [thread.mine, thread.first].map(Operand::from);
        let object = Operand::from(address);
        match self {
            Self::Begin => at.call(guard, "warpgrind_race_object_begins", &[], &[object]),
            Self::Arrive { after_copies } => {
                if after_copies {
                    at.call(guard, "warpgrind_race_wait", &[], &[own, block, Operand::Int(-1)]);
                }
                arrive(at, thread.mine, thread.first, address);
                keep_after(at, guard, thread);
                at.call_after(guard, "warpgrind_race_arrived", &[own], &[own, block]);
            }
            Self::Wait { parity, has_ended } => {
                let passed = at.reg(Type::Pred);
                let phase = at.reg(Type::B32);
                let when = Some(Guard::when(passed));
                keep_after(at, when, thread);
                let arguments = [object, own, block, phase.into()];
                at.call_after(when, "warpgrind_race_object_passed", &[own], &arguments);
                match parity {
                    Some(parity) => _ = at.before().inst_if(guard, "mov.b32", &[phase.into(), parity]),
                    None => {
                        // The one before the present one.
                        let is_odd = at.reg(Type::Pred);
                        at.after().inst_if(when, "selp.b32", &[phase.into(), 0.into(), 1.into(), is_odd.into()]);
                        let asked = [is_odd.into(), Operand::RegAddress(address, 0), Operand::Int(0)];
                        at.after().inst_if(when, PARITY, &asked);
                    }
                }
                // The answer may take the place of the guard.
                if let Some(guard) = guard {
                    let holds = at.reg(Type::Pred);
                    let copy = if guard.negated { "not.pred" } else { "mov.pred" };
                    at.before().inst(copy, &[holds.into(), guard.reg.into()]);
                    at.after().inst("and.pred", &[passed.into(), has_ended.into(), holds.into()]);
                } else {
                    at.after().inst("mov.pred", &[passed.into(), has_ended.into()]);
                }
            }
            Self::Other => {}
        }
    }
}

/// Who has a record is about to arrive at the object at an address: who waits for its present phase will know what that knows.
pub(super) fn arrive(at: &mut Cursor<'_, '_>, own: Reg, first: Reg, address: Reg) {
    let guard = at.guard();
    // A phase of even parity has ended if the present one is odd.
    let (is_odd, parity) = (at.reg(Type::Pred), at.reg(Type::B32));
    let asked = [is_odd.into(), Operand::RegAddress(address, 0), Operand::Int(0)];
    at.before().inst_if(guard, PARITY, &asked);
    at.before().inst_if(guard, "selp.b32", &[parity.into(), 1.into(), 0.into(), is_odd.into()]);
    let arguments = [address.into(), own.into(), first.into(), parity.into()];
    at.call(guard, "warpgrind_race_object_arrive", &[], &arguments);
}

/// A thread has waited for its copies of many bytes that complete on no object.
pub(super) fn waited_for_bulk(at: &mut Cursor<'_, '_>, guard: Option<Guard>, thread: &ThreadRecords, of_sources: bool) {
    let [own, block] = [thread.mine, thread.first].map(Operand::from);
    keep_after(at, guard, thread);
    let arguments = [own, block, Operand::Int(of_sources.into())];
    at.call_after(guard, "warpgrind_race_bulk_wait", &[own], &arguments);
}

/// Asks whether a phase of a parity has ended.
const PARITY: &str = "mbarrier.test_wait.parity.b64";

/// Keeps the record of the thread for functions after the instruction.
fn keep_after(at: &mut Cursor<'_, '_>, guard: Option<Guard>, thread: &ThreadRecords) {
    if thread.is_kept {
        at.call_after(guard, "warpgrind_race_keep", &[], &[thread.mine.into()]);
    }
}
