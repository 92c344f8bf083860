//! What is inserted into kernels: each thread knows its turn, and every access that another thread could see is checked.

use ptx::ir::{Guard, Operand, Reg, StmtId};
use ptx::special::Special;
use ptx::synchronisation::Synchronisation;
use ptx::types::Type;
use ptx::view::{AccessKind, AccessSpace};
use rewrite::{Access, Call, Cursor, Sync};
use rustc_hash::FxHashSet;
use toolkit::Touched;

use super::check::{Checked, Late, MOST_GRANULES};
use super::kernel_facts::{Extent, KernelFacts};
use super::test_and_set::{Part, TestAndSet};
use super::{BLOCK, HAS_VALUE, INTERVAL, LANE, LAUNCH, MEETING, MEETINGS, PRUNED, READS, REDUCES, WARP, WRITES};
use crate::racecheck::prune::{Pruned, Rule};

/// What is kept of a function while it is rewritten, and of a kernel for its launches.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The turn of the thread.
    turn: Option<Reg>,
    /// Whether it calls functions.
    has_calls: bool,
    /// What is left out of it; nothing if all accesses are checked.
    pub(super) pruned: Option<Pruned>,
    /// Instructions whose order among each other does not matter.
    reductions: FxHashSet<StmtId>,
    /// Accesses that test and set places, if those whose order does not matter are left out.
    sets: Option<TestAndSet>,
    /// What is known of a kernel; nothing of functions.
    pub(super) kernel: Option<KernelFacts>,
    /// What a kernel may write.
    pub(super) written: Option<Touched>,
    /// Whether the block has drawn its ticket.
    pub(super) has_ticket: bool,
}

impl Kept {
    /// How many records a granule has: of its writes, of its reads, and of its reductions if there are any.
    pub(super) fn planes(&self) -> u64 {
        let has_reductions = self.sets.is_some() || self.kernel.as_ref().is_some_and(KernelFacts::has_reductions);
        2 + u64::from(has_reductions)
    }
}

/// A function begins: each thread has its turn.
pub(super) fn entry(at: &mut Cursor<'_, '_>) {
    let (is_kernel, is_pruned) = (at.is_kernel(), at.version() == PRUNED);
    let kept = {
        let editor = at.editor();
        let (module, func) = (editor.module(), editor.func());
        let has_calls =
            editor.body().ids().into_iter().any(|id| editor.view(id).is_some_and(|view| view.callee().is_some()));
        let facts = is_kernel.then(|| KernelFacts::of(module, func));
        // What a function reduces is an access like any other: which operation its kernel has is not known in it.
        let reductions = facts.as_ref().map(|facts| facts.reductions(module, func)).unwrap_or_default();
        let pruned = (is_kernel && is_pruned).then(|| Pruned::of(module, func, Rule::Order(&reductions)));
        // Both have their records where those of reductions are.
        let has_reductions = facts.as_ref().is_some_and(KernelFacts::has_reductions);
        let sets = pruned.as_ref().filter(|_| !has_reductions).and_then(|pruned| TestAndSet::of(module, func, pruned));
        let written = is_kernel.then(|| Touched::written(module, func));
        Kept { has_calls, pruned, reductions, sets, kernel: facts, written, ..Kept::default() }
    };
    let turn = at.reg(Type::B64);
    if is_kernel {
        begin(at, turn);
        if kept.has_calls {
            at.call(None, "warpgrind_repair_keep", &[], &[turn.into()]);
        }
    } else {
        at.call(None, "warpgrind_repair_resume", &[turn.into()], &[]);
    }
    *at.state::<Kept>() = Kept { turn: Some(turn), ..kept };
}

/// Computes the first turn of a thread.
fn begin(at: &mut Cursor<'_, '_>, turn: Reg) {
    let number = |at: &mut Cursor<'_, '_>, ids: [Special; 3], sizes: [Special; 2]| {
        let [x, y, z] = ids.map(|id| at.special(id));
        let [width, height] = sizes.map(|size| at.special(size));
        let (row, wide, number) = (at.reg(Type::B32), at.reg(Type::B64), at.reg(Type::B64));
        at.before().inst("mad.lo.u32", &[row.into(), z.into(), height.into(), y.into()]);
        at.before().inst("cvt.u64.u32", &[wide.into(), x.into()]);
        at.before().inst("mad.wide.u32", &[number.into(), row.into(), width.into(), wide.into()]);
        number
    };
    let block = number(at, [Special::CtaidX, Special::CtaidY, Special::CtaidZ], [Special::NctaidX, Special::NctaidY]);
    let thread = number(at, [Special::TidX, Special::TidY, Special::TidZ], [Special::NtidX, Special::NtidY]);
    let (warp, lane) = (at.reg(Type::B64), at.reg(Type::B64));
    at.before().inst("shr.u64", &[warp.into(), thread.into(), Operand::Int(5)]);
    at.before().inst("and.b64", &[lane.into(), thread.into(), Operand::Int(31)]);
    let [launch, of_block, of_warp, of_lane] = [LAUNCH, BLOCK, WARP, LANE].map(|word| at.word(word));
    for (sum, number, step) in [(launch, block, of_block), (turn, warp, of_warp), (turn, lane, of_lane)] {
        at.before().inst("mad.lo.u64", &[turn.into(), number.into(), step.into(), sum.into()]);
    }
}

fn turn(at: &mut Cursor<'_, '_>) -> Option<Reg> {
    at.state::<Kept>().turn
}

/// Whether others may need the turn of the thread.
fn is_kept(at: &mut Cursor<'_, '_>) -> bool {
    !at.is_kernel() || at.state::<Kept>().has_calls
}

/// A function that was called may have passed barriers.
pub(super) fn call(at: &mut Cursor<'_, '_>, call: &Call) {
    let Some(turn) = turn(at) else { return };
    at.call_after(call.guard, "warpgrind_repair_resume", &[turn.into()], &[]);
}

/// A thread synchronises: its next turn begins.
pub(super) fn sync(at: &mut Cursor<'_, '_>, sync: &Sync) {
    let Some(turn) = turn(at) else { return };
    let is_barrier = match sync.kind {
        Synchronisation::Barrier { .. } => true,
        Synchronisation::WarpBarrier { .. } | Synchronisation::Collective { .. } => false,
        _ => return,
    };
    let (is_lost, number) = (at.reg(Type::Pred), at.reg(Type::B64));
    // The instruction may overwrite its guard.
    let guard = sync.guard.map(|guard| {
        let copy = at.reg(Type::Pred);
        at.before().inst("mov.pred", &[copy.into(), guard.reg.into()]);
        Guard { reg: copy, ..guard }
    });
    // What is inserted first comes last.
    if is_kept(at) {
        at.call_after(guard, "warpgrind_repair_keep", &[], &[turn.into()]);
    }
    at.call_after(Some(Guard::when(is_lost)), "warpgrind_repair_lost", &[], &[]);
    let meetings = at.word(MEETINGS);
    if is_barrier {
        // All collectives of the next interval are to come. A block whose intervals are used up gets to the turns of the next.
        let kept = at.at_entry("not.b64", Type::B64, &[meetings.into()]);
        let [interval, block] = [INTERVAL, BLOCK].map(|word| at.word(word));
        let mask = at.at_entry("sub.u64", Type::B64, &[block.into(), 1.into()]);
        let mut builder = at.after();
        builder.inst("setp.ne.b64", &[is_lost.into(), interval.into(), interval.into()]);
        builder.inst_if(guard, "and.b64", &[turn.into(), turn.into(), kept.into()]);
        builder.inst_if(guard, "add.u64", &[turn.into(), turn.into(), interval.into()]);
        builder.inst("and.b64", &[number.into(), turn.into(), mask.into()]);
        builder.inst_if(guard, "setp.lt.u64", &[is_lost.into(), number.into(), interval.into()]);
    } else {
        let step = at.word(MEETING);
        let mut builder = at.after();
        builder.inst("setp.ne.b64", &[is_lost.into(), step.into(), step.into()]);
        builder.inst("and.b64", &[number.into(), turn.into(), meetings.into()]);
        builder.inst_if(guard, "setp.eq.b64", &[is_lost.into(), number.into(), meetings.into()]);
        builder.inst_if(guard, "add.u64", &[turn.into(), turn.into(), step.into()]);
    }
}

/// An access is about to take place.
pub(super) fn access(at: &mut Cursor<'_, '_>, access: &Access) {
    let Some(turn) = turn(at) else { return };
    let Some(Extent { places: [_, is_shared], bytes }) = Extent::of(&access.access) else { return };
    let Kept { pruned, reductions, kernel, sets, .. } = at.state::<Kept>();
    if pruned.as_ref().is_some_and(|pruned| pruned.contains(access.stmt, access.index)) {
        return;
    }
    let is_unread = pruned.as_ref().is_some_and(|pruned| pruned.is_unread(access.stmt, access.index));
    let is_reduction = reductions.contains(&access.stmt);
    let facts = kernel.as_ref().map(|facts| (facts.granules(), facts.has_reductions() || sets.is_some()));
    let part = sets.as_ref().and_then(|sets| sets.part(access.stmt));
    let comparisons = sets.as_ref().map(|sets| sets.comparisons.clone()).filter(|_| part == Some(Part::Set));
    let (guard, site) = (at.guard(), at.site(access));
    let address = at.generic_address(access);
    let mut what = bytes;
    what |= match access.access.kind {
        AccessKind::Read => READS,
        AccessKind::Write => WRITES,
        AccessKind::ReadWrite if is_reduction => REDUCES,
        AccessKind::ReadWrite => READS | WRITES,
    };
    let value = if access.access.kind == AccessKind::Write { at.stored_value(access) } else { None };
    if value.is_some() {
        what |= HAS_VALUE;
    }
    let value = value.unwrap_or(Operand::Int(0));
    let word = |number: u32| Operand::Int(number.into());
    let is_plain = access.access.space != AccessSpace::Generic && access.access.kind != AccessKind::ReadWrite;
    let inline = facts.filter(|_| is_plain && !access.is_collective).and_then(|(granules, has_reductions)| {
        let granule = granules[usize::from(is_shared)];
        let count = bytes >> granule;
        let place =
            Checked { address, is_shared, guard, site, is_unread, granule, granules: count, turn, has_reductions };
        (1..=MOST_GRANULES).contains(&count).then_some(place)
    });
    let Some(inline) = inline else {
        let arguments = [address.into(), turn.into(), word(site.0), word(what), value];
        at.call(guard, "warpgrind_repair_access", &[], &arguments);
        return;
    };
    // What may set a place comes too late after reads, too.
    let is_late_after_reads = what & WRITES != 0 || part == Some(Part::Read);
    let helper = if is_late_after_reads { "warpgrind_repair_late_write" } else { "warpgrind_repair_late_read" };
    let late = |at: &mut Cursor<'_, '_>, Late { is_late, written, read }: Late| {
        let mut arguments = vec![address.into(), turn.into(), written.into()];
        if is_late_after_reads {
            arguments.push(read.into());
        }
        arguments.extend([word(site.0), word(what)]);
        if is_late_after_reads {
            arguments.push(value);
        }
        at.call(Some(Guard::when(is_late)), helper, &[], &arguments);
    };
    match (part, access.access.kind) {
        (Some(Part::Set), _) => inline.set(at, access, &comparisons.unwrap_or_default(), late),
        (Some(part), _) => inline.test(at, part == Part::Read, late),
        (None, AccessKind::Read) => inline.read(at, late),
        (None, _) => inline.write(at, late),
    }
}
