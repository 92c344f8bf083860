//! What is inserted into kernels.

use ptx::analysis::CallGraph;
use ptx::ir::{FuncId, Function, Guard, Module, Operand, Reg, StmtId};
use ptx::ops::Effect;
use ptx::special::Special;
use ptx::synchronisation::Synchronisation;
use ptx::types::{Space, Type};
use ptx::view::{AccessBytes, AccessKind, AccessSpace, Callee, MemAccess, Order, View};
use rewrite::{Access, Call, Cursor, KernelView, Refusal, Request, RequestKind, Sync};
use rustc_hash::FxHashMap;

use super::bulk::Bulk;
use super::check::{Checked, MOST_GRANULES, THREAD_BITS, ThreadRecords};
use super::clocks::{self, ObjectStep};
use super::compare_and_swap::expected_by_swaps;
use super::condition;
use super::lanes::{self, LaneOrder};
use super::prune::{Pruned, Rule};
use super::record::{STRONG_BLOCK, STRONG_DEVICE, THREAD};
use super::strength::{kind, strong};
use super::{
    ACCESS_KIND, ACQUIRES, AFTER, BEFORE, BLOCK, BYTES, CONCURRENT, CONCURRENT_PRUNED, CONDITIONAL, COPIES, HAS_VALUE,
    INTERVAL_MASK, LAUNCH, ORDER, PRUNED, READS_TOO, RELEASES, UPDATES, WRITES,
};

/// What is kept of a function while it is rewritten, and of a kernel for its launches.
#[derive(Debug, Default)]
pub(super) struct Looked {
    thread: Option<ThreadRecords>,
    /// Whether it calls functions.
    has_calls: bool,
    /// Whether intervals are counted by each thread for itself.
    is_clocked: bool,
    /// Whether there are copies of many bytes in it, or in what may call it.
    has_bulk: bool,
    /// What orders lanes of a warp in it.
    lanes: LaneOrder,
    /// What is left out of it; nothing if all accesses are looked at.
    pub(super) pruned: Option<Pruned>,
    /// Whether it has so many accesses that the code that checks them would take minutes to compile.
    is_large: bool,
    /// Reads that are looked at as if they were atomic, with their kinds.
    expected_by_swaps: FxHashMap<StmtId, u32>,
    /// What is known of a kernel; nothing of functions.
    pub(super) kernel: Option<KernelFacts>,
    /// Whether only a condition for races is looked at (`condition.rs`).
    pub(super) is_conditional: bool,
    /// Whether that says all of the kernel.
    pub(super) can_be_conditional: bool,
}

/// What a kernel and all functions that it calls do.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct KernelFacts {
    pub(super) has_barriers: bool,
    pub(super) has_warp_barriers: bool,
    /// Whether it orders accesses through memory: by fences, acquires and releases.
    pub(super) has_fences: bool,
    /// Whether it has asynchronous copies (`device/copies.ptx`).
    pub(super) has_copies: bool,
    /// Whether it has copies of many bytes (`device/bulk.ptx`).
    pub(super) has_bulk: bool,
    /// Whether it stores as many bytes as an operand says (`st.bulk`).
    pub(super) has_bulk_stores: bool,
    /// Whether it has barriers to which only some warps come (`device/clocks.ptx`), or copies of many bytes.
    pub(super) is_clocked: bool,
    /// What orders lanes of a warp.
    pub(super) lanes: LaneOrder,
    /// The smallest accesses, in bytes: to global or generic memory, and to shared or generic memory.
    smallest: [Option<u32>; 2],
}

impl KernelFacts {
    /// Of a kernel.
    fn of(module: &Module, kernel: FuncId, has_calls: bool, orders: Orders) -> Self {
        let (is_clocked, has_bulk) = (orders.some_warps, orders.bulk);
        let lanes = orders.of_lanes();
        let mut facts = Self { has_bulk, is_clocked, has_barriers: is_clocked, lanes, ..Self::default() };
        if !has_calls {
            facts.add(module, kernel);
            return facts;
        }
        CallGraph::of(module).reachable_from(kernel).iter().for_each(|func| facts.add(module, func));
        facts
    }

    /// Adds what a function does.
    fn add(&mut self, module: &Module, func: FuncId) {
        let Some(body) = &module.functions[func].body else { return };
        self.has_fences |= RequestKind::is_asked_in(module, func, RequestKind::is_order);
        for view in body.iter().filter_map(|id| View::of(&module.forms, body, id)) {
            if view.callee().is_some_and(|callee| !matches!(callee, Callee::Direct(_))) {
                // What that function does is not known.
                self.has_barriers = true;
                self.has_warp_barriers = true;
                self.has_fences = true;
                self.has_copies |= module.functions.values().any(|function| has_copies(module, function));
                self.smallest = [Some(1); 2];
            }
            match view.synchronisation() {
                Some(Synchronisation::Barrier { .. }) => self.has_barriers = true,
                Some(Synchronisation::WarpBarrier { .. }) => self.has_warp_barriers = true,
                Some(Synchronisation::Fence { .. }) => self.has_fences = true,
                _ => {}
            }
            if let Some(bulk) = Bulk::of(&view) {
                // In pieces that are larger than all granules.
                self.has_bulk_stores |= bulk == Bulk::Store;
                continue;
            }
            for access in view.accesses() {
                let Some(Extent { places, bytes }) = Extent::of(&access) else { continue };
                self.has_copies |= is_copy(&access);
                let element = bytes / access.vector.max(1);
                for (smallest, _) in self.smallest.iter_mut().zip(places).filter(|(_, is_there)| *is_there) {
                    *smallest = Some(smallest.map_or(element, |smallest| smallest.min(element)));
                }
                self.has_fences |= is_ordering(&access) && view.effect() != Some(Effect::Mbarrier);
            }
        }
    }

    /// The sizes of granules of global and shared memory, as powers of two.
    pub(super) fn granules(&self) -> [u32; 2] {
        self.smallest.map(|smallest| smallest.map_or(2, |bytes| bytes.min(8).trailing_zeros()))
    }
}

/// Whether an access is the write of an asynchronous copy.
fn is_copy(access: &MemAccess) -> bool {
    access.is_async && access.kind == AccessKind::Write && access.space == AccessSpace::State(Space::Shared)
}

fn has_copies(module: &Module, function: &Function) -> bool {
    let views = function.body.iter().flat_map(|body| body.iter().filter_map(|id| View::of(&module.forms, body, id)));
    views.into_iter().any(|view| view.accesses().iter().any(is_copy))
}

/// Where an access is looked at, and how many bytes it has.
struct Extent {
    /// Whether it may be in global memory, and in shared memory.
    places: [bool; 2],
    bytes: u32,
}

impl Extent {
    /// Nothing for accesses that are not looked at.
    fn of(access: &MemAccess) -> Option<Self> {
        let places = match access.space {
            AccessSpace::State(Space::Global) => [true, false],
            AccessSpace::State(Space::Shared) => [false, true],
            AccessSpace::Generic => [true, true],
            _ => return None,
        };
        let bytes = match access.bytes {
            AccessBytes::Fixed(bytes) => bytes,
            AccessBytes::Rows(rows) if access.lanes >= 32 => rows.bytes,
            _ => return None,
        };
        (bytes > 0 && bytes <= BYTES && bytes.is_power_of_two()).then_some(Self { places, bytes })
    }
}

/// Why a kernel cannot be looked at, if it cannot.
pub(super) fn refusal(kernel: &KernelView<'_>) -> Option<Refusal> {
    let refuse = |code, reason: &str| Some(Refusal::new("racecheck", code, reason));
    kernel.instructions().find_map(|view| match view.synchronisation() {
        Some(Synchronisation::Cluster { .. }) => {
            refuse("cluster", "it has barriers of clusters, which are not followed yet")
        }
        Some(Synchronisation::Tensor) => {
            refuse("tensor", "it has asynchronous work of tensor cores, which is not followed yet")
        }
        _ => refuse("bulk-copy", Bulk::refusal(&view)?),
    })
}

/// What orders threads of a block, in functions that may call each other.
#[derive(Clone, Copy, Default, Debug)]
struct Orders {
    /// Barriers to which only some warps come: each thread counts intervals for itself.
    some_warps: bool,
    /// Barriers of a warp.
    warp: bool,
    /// And those to which only some of its lanes may come.
    some_lanes: bool,
    /// Order through memory, which divides intervals like barriers of a warp.
    memory: bool,
    /// Copies of many bytes, of which some threads know that they are done.
    bulk: bool,
}

impl Orders {
    /// Of all functions that a function may call, or that may call it.
    fn of(module: &Module, func: FuncId, has_calls: bool) -> Self {
        let mut orders = Self::default();
        let function = &module.functions[func];
        if function.is_entry() && !has_calls {
            orders.add(module, function);
        } else {
            module.functions.values().for_each(|function| orders.add(module, function));
        }
        orders
    }

    fn add(&mut self, module: &Module, function: &Function) {
        let Some(body) = &function.body else { return };
        for view in body.iter().filter_map(|id| View::of(&module.forms, body, id)) {
            match view.synchronisation() {
                Some(Synchronisation::Barrier { count: Some(_), .. } | Synchronisation::Mbarrier) => {
                    self.some_warps = true;
                }
                Some(Synchronisation::WarpBarrier { mask }) => {
                    self.warp = true;
                    self.some_lanes |= !lanes::is_whole(&mask);
                }
                Some(Synchronisation::Fence { .. }) => self.memory = true,
                _ if matches!(Bulk::of(&view), Some(Bulk::Copy { .. })) => (self.some_warps, self.bulk) = (true, true),
                _ => self.memory |= view.accesses().iter().any(is_ordering),
            }
        }
    }

    /// What orders lanes of a warp.
    fn of_lanes(self) -> LaneOrder {
        match self {
            Self { some_warps: true, .. } => LaneOrder::Whole,
            Self { warp: false, .. } => LaneOrder::Unordered,
            Self { some_lanes, memory, .. } if some_lanes || memory => LaneOrder::Rows,
            _ => LaneOrder::Whole,
        }
    }
}

/// Whether an access orders others.
fn is_ordering(access: &MemAccess) -> bool {
    matches!(access.order, Order::Acquire | Order::Release | Order::AcquireRelease)
}

/// Accesses of a function that are checked in its own code, at most: that of each takes LLVM about a tenth of a second. In a function
/// with more, all of them are left to the helper.
const MOST_INLINE: usize = 256;

/// How many accesses of a function are looked at.
fn checked_accesses(module: &Module, function: &Function, pruned: Option<&Pruned>) -> usize {
    let Some(body) = &function.body else { return 0 };
    let views = body.iter().filter_map(|id| Some((id, View::of(&module.forms, body, id)?)));
    let accesses = views.flat_map(|(id, view)| view.accesses().into_iter().enumerate().map(move |access| (id, access)));
    let is_looked_at = |&(id, (index, ref access)): &(StmtId, (usize, MemAccess))| {
        Extent::of(access).is_some() && !pruned.is_some_and(|pruned| pruned.contains(id, index))
    };
    accesses.filter(is_looked_at).count()
}

/// A function begins: each thread has its record.
pub(super) fn entry(at: &mut Cursor<'_, '_>) {
    let (is_kernel, is_pruned) = (at.is_kernel(), [PRUNED, CONCURRENT_PRUNED].contains(&at.version()));
    let (is_concurrent, is_conditional) = (is_concurrent(at), at.version() == CONDITIONAL);
    let looked = {
        let editor = at.editor();
        let (module, func) = (editor.module(), editor.func());
        let ids = editor.body().ids();
        let has_calls = ids.into_iter().any(|id| editor.view(id).is_some_and(|view| view.callee().is_some()));
        let orders = Orders::of(module, func, has_calls);
        let pruned = (is_pruned || is_conditional).then(|| Pruned::of(module, func, Rule::Races));
        Looked {
            thread: None,
            is_large: checked_accesses(module, editor.function(), pruned.as_ref()) > MOST_INLINE,
            has_calls,
            is_clocked: orders.some_warps,
            has_bulk: orders.bulk,
            lanes: if is_concurrent { LaneOrder::Whole } else { orders.of_lanes() },
            expected_by_swaps: expected_by_swaps(module, editor.function()),
            pruned,
            kernel: is_kernel.then(|| KernelFacts::of(module, func, has_calls, orders)),
            is_conditional,
            can_be_conditional: is_conditional && is_kernel && condition::is_possible(module, func),
        }
    };
    if is_conditional {
        *at.state::<Looked>() = looked;
        return;
    }
    let [mine, first, now] = [(); 3].map(|()| at.reg(Type::B64));
    if is_kernel {
        begin(at, mine, first);
        if looked.has_calls {
            at.call(None, "warpgrind_race_keep", &[], &[mine.into()]);
        }
        if looked.is_clocked {
            at.call(None, "warpgrind_race_clocks_begin", &[], &[first.into()]);
        }
        if looked.lanes == LaneOrder::Rows {
            at.call(None, "warpgrind_race_lanes_begin", &[], &[mine.into()]);
        }
        if looked.kernel.is_some_and(|facts| facts.has_copies) {
            at.call(None, "warpgrind_race_copies_begin", &[], &[mine.into()]);
        }
        at.before().inst("mov.b64", &[now.into(), first.into()]);
    } else {
        at.call(None, "warpgrind_race_first", &[first.into()], &[]);
        at.call(None, "warpgrind_race_resume", &[mine.into()], &[]);
        if looked.is_clocked {
            at.call(None, "warpgrind_race_floor_now", &[now.into()], &[]);
        } else {
            let mask = at.word(INTERVAL_MASK);
            at.before().inst("and.b64", &[now.into(), mine.into(), mask.into()]);
        }
    }
    // A function may be called from any kernel.
    let any = KernelFacts { has_barriers: true, has_fences: true, has_copies: true, ..KernelFacts::default() };
    let KernelFacts { has_barriers, has_fences, has_copies, .. } = looked.kernel.unwrap_or(any);
    let (is_clocked, has_bulk, is_kept) = (looked.is_clocked, looked.has_bulk, !is_kernel || looked.has_calls);
    let is_plain = is_kernel
        && looked.lanes == LaneOrder::Unordered
        && !(has_fences || has_copies || has_bulk || is_clocked || is_kept);
    let thread = ThreadRecords {
        mine,
        first,
        now,
        has_fences,
        has_barriers,
        has_copies,
        has_bulk,
        is_clocked,
        is_kept,
        is_plain,
    };
    *at.state::<Looked>() = Looked { thread: Some(thread), ..looked };
}

/// Computes the record of the thread, and the first one of its block.
fn begin(at: &mut Cursor<'_, '_>, mine: Reg, first: Reg) {
    let number = |at: &mut Cursor<'_, '_>, ids: [Special; 3], sizes: [Special; 2]| {
        let [x, y, z] = ids.map(|id| at.special(id));
        let [width, height] = sizes.map(|size| at.special(size));
        let (row, number) = (at.reg(Type::B32), at.reg(Type::B64));
        at.before().inst("mad.lo.u32", &[row.into(), z.into(), height.into(), y.into()]);
        let wide = at.reg(Type::B64);
        at.before().inst("cvt.u64.u32", &[wide.into(), x.into()]);
        at.before().inst("mad.wide.u32", &[number.into(), row.into(), width.into(), wide.into()]);
        number
    };
    let block = number(at, [Special::CtaidX, Special::CtaidY, Special::CtaidZ], [Special::NctaidX, Special::NctaidY]);
    let [launch, step, mask] = [LAUNCH, BLOCK, INTERVAL_MASK].map(|word| at.word(word));
    at.before().inst("mad.lo.u64", &[first.into(), block.into(), step.into(), launch.into()]);
    // The first epoch of a launch is nobody's.
    at.before().inst("sub.u64", &[first.into(), first.into(), mask.into()]);
    let thread = number(at, [Special::TidX, Special::TidY, Special::TidZ], [Special::NtidX, Special::NtidY]);
    at.before().inst("shl.b64", &[thread.into(), thread.into(), Operand::Int(THREAD.into())]);
    at.before().inst("add.u64", &[mine.into(), first.into(), thread.into()]);
}

fn thread(at: &mut Cursor<'_, '_>) -> Option<ThreadRecords> {
    at.state::<Looked>().thread
}

/// Whether warps may run at the same time (`device/concurrent.ptx`).
fn is_concurrent(at: &Cursor<'_, '_>) -> bool {
    [CONCURRENT, CONCURRENT_PRUNED].contains(&at.version())
}

/// A function that was called may have passed barriers.
pub(super) fn call(at: &mut Cursor<'_, '_>, call: &Call) {
    let Some(ThreadRecords { mine, now, is_clocked, .. }) = thread(at) else { return };
    // The call comes before what was inserted before it.
    if is_clocked {
        at.call_after(call.guard, "warpgrind_race_floor_now", &[now.into()], &[]);
    } else {
        let mask = at.word(INTERVAL_MASK);
        at.after().inst_if(call.guard, "and.b64", &[now.into(), mine.into(), mask.into()]);
    }
    at.call_after(call.guard, "warpgrind_race_resume", &[mine.into()], &[]);
}

/// A thread synchronises.
pub(super) fn sync(at: &mut Cursor<'_, '_>, sync: &Sync) {
    let Some(records) = thread(at) else { return };
    let ThreadRecords { mine, first, now, has_fences, is_kept, .. } = records;
    match sync.kind {
        Synchronisation::Barrier { id, count, waits, .. } if records.is_clocked => {
            clocks::barrier(at, sync.guard, &records, &clocks::Barrier { id, count, waits });
        }
        Synchronisation::Barrier { .. } if sync.guard.is_none() && !has_fences && !is_kept => barrier(at, &records),
        Synchronisation::Barrier { .. } => {
            let helper = if is_kept { "warpgrind_race_barrier_kept" } else { "warpgrind_race_barrier" };
            at.call_after(sync.guard, helper, &[mine.into()], &[mine.into(), first.into()]);
            // The same for all threads of the block, which the record is not.
            let mask = at.word(INTERVAL_MASK);
            at.after().inst_if(sync.guard, "sub.u64", &[now.into(), now.into(), mask.into()]);
        }
        Synchronisation::WarpBarrier { mask } => {
            let order = at.state::<Looked>().lanes;
            if order == LaneOrder::Whole && !has_fences && !records.is_clocked && !is_concurrent(at) {
                lanes::whole_barrier(at, sync, &records);
            } else {
                lanes::barrier(at, sync, mask, &records, order);
            }
        }
        Synchronisation::Fence { scope, .. } => fence(at, sync.guard, strong(scope)),
        Synchronisation::CommitCopies => at.call(sync.guard, "warpgrind_race_commit", &[], &[mine.into()]),
        Synchronisation::WaitForCopies { pending } => {
            let pending = pending.unwrap_or(Operand::Int(-1));
            at.call_after(sync.guard, "warpgrind_race_wait", &[], &[mine.into(), first.into(), pending]);
        }
        Synchronisation::WaitForBulkCopies { of_sources, .. } if records.has_bulk => {
            clocks::waited_for_bulk(at, sync.guard, &records, of_sources);
        }
        _ => {}
    }
}

/// A thread has passed a fence of a scope.
fn fence(at: &mut Cursor<'_, '_>, guard: Option<Guard>, scope: u32) {
    if let Some((helper, mine, arguments)) = fence_call(at, scope) {
        at.call_after(guard, helper, &[mine.into()], &arguments);
    }
}

/// The call that follows a fence, and the record that it changes.
fn fence_call(at: &mut Cursor<'_, '_>, scope: u32) -> Option<(&'static str, Reg, [Operand; 3])> {
    let ThreadRecords { mine, first, is_kept, .. } = thread(at)?;
    let helper = match (is_concurrent(at), is_kept) {
        (false, false) => "warpgrind_race_fence",
        (false, true) => "warpgrind_race_fence_kept",
        (true, false) => "warpgrind_race_fence_alone",
        (true, true) => "warpgrind_race_fence_alone_kept",
    };
    Some((helper, mine, [mine.into(), first.into(), Operand::Int(scope.into())]))
}

/// A thread has passed a barrier of its block: the next interval begins.
fn barrier(at: &mut Cursor<'_, '_>, thread: &ThreadRecords) {
    let ThreadRecords { mine, first, now, .. } = *thread;
    let [mask, block] = [INTERVAL_MASK, BLOCK].map(|word| at.word(word));
    let kept = at.at_entry("or.b64", Type::B64, &[mask.into(), Operand::Hex(THREAD_BITS)]);
    let step = at.at_entry("neg.s64", Type::B64, &[mask.into()]);
    let (distance, is_over, is_lost) = (at.reg(Type::B64), at.reg(Type::Pred), at.reg(Type::Pred));
    // Each of these comes before the one that was inserted before it.
    at.after().guarded(Guard::when(is_over), "mov.b64", &[mine.into(), 0.into()]);
    at.call_after(Some(Guard::when(is_lost)), "warpgrind_race_lost", &[], &[]);
    let mut builder = at.after();
    builder.inst("and.b64", &[mine.into(), mine.into(), kept.into()]);
    builder.inst("add.u64", &[mine.into(), mine.into(), step.into()]);
    builder.inst("add.u64", &[now.into(), now.into(), step.into()]);
    builder.inst("sub.u64", &[distance.into(), mine.into(), first.into()]);
    builder.inst("setp.ge.u64", &[is_over.into(), distance.into(), block.into()]);
    // It was lost before if it had no record.
    builder.inst("setp.ne.and.b64", &[is_lost.into(), mine.into(), step.into(), is_over.into()]);
}

/// An access is about to take place.
pub(super) fn access(at: &mut Cursor<'_, '_>, access: &Access) {
    if at.state::<Looked>().is_conditional {
        at.state::<Looked>().can_be_conditional &= !access.is_unchecked;
        let is_unread = |pruned: &Pruned| pruned.is_unread(access.stmt, access.index);
        let is_unread = at.state::<Looked>().pruned.as_ref().is_some_and(is_unread);
        condition::access(at, access, is_unread);
    }
    let Some(thread) = thread(at) else { return };
    if let Some(bulk) = at.editor().view(access.stmt).and_then(|view| Bulk::of(&view)) {
        bulk.access(at, access, &thread);
        return;
    }
    let Some(Extent { places: [_, is_shared], bytes }) = Extent::of(&access.access) else { return };
    let expected = at.state::<Looked>().expected_by_swaps.get(&access.stmt).copied();
    let object = ObjectStep::of(at, access);
    let kind = expected.unwrap_or_else(|| kind(&access.access));
    let is_left_out = |pruned: &Pruned| pruned.contains(access.stmt, access.index);
    let is_pruned = at.state::<Looked>().pruned.as_ref().is_some_and(is_left_out);
    // What orders others is followed all the same.
    let is_pruned = is_pruned || access.is_unchecked;
    if is_pruned && kind == 0 && object.is_none() {
        return;
    }
    // One for errors, and the next for warnings.
    let (guard, site) = (at.guard(), at.site(access));
    at.site(access);
    let mut address = at.generic_address(access);
    if kind != 0 || object.is_some() {
        // What the instruction loads may take the place of its address.
        let copy = at.reg(Type::B64);
        at.before().inst("mov.b64", &[copy.into(), address.into()]);
        address = copy;
    }
    let mut what = bytes | kind << ACCESS_KIND;
    what |= match access.access.kind {
        AccessKind::Read => 0,
        AccessKind::ReadWrite => UPDATES,
        AccessKind::Write => WRITES,
    };
    let value =
        if kind < STRONG_BLOCK && what & WRITES != 0 && object.is_none() { at.stored_value(access) } else { None };
    if value.is_some() {
        what |= HAS_VALUE;
    }
    if at.state::<Looked>().pruned.as_ref().is_some_and(|pruned| pruned.is_update(access.stmt)) {
        what |= READS_TOO;
    }
    if is_copy(&access.access) {
        what |= COPIES;
    }
    if !is_pruned {
        let is_known = access.access.space != AccessSpace::Generic && !access.is_collective && what & COPIES == 0;
        let is_known = is_known && !is_concurrent(at) && !at.state::<Looked>().is_large;
        let facts = at.state::<Looked>().kernel.filter(|_| is_known && kind == 0);
        let granule = facts.map(|facts| facts.granules()[usize::from(is_shared)]);
        let granules = granule.map(|granule| bytes >> granule).filter(|count| (1..=MOST_GRANULES).contains(count));
        let is_unread = |pruned: &Pruned| pruned.is_unread(access.stmt, access.index);
        let is_unread = at.state::<Looked>().pruned.as_ref().is_some_and(is_unread);
        let place = Checked { address, is_shared, guard, site, kind, is_unread, granule: 0, granules: 0, thread };
        let inline = granule.zip(granules).map(|(granule, granules)| Checked { granule, granules, ..place });
        check(at, access, &place, inline, what, value.unwrap_or(Operand::Int(0)));
    }
    if let Some(object) = object {
        object.follow(at, &thread, address);
    } else if kind != 0 && expected.is_none() {
        order(at, access, address, what);
    }
}

/// Checks an access: in straight-line code if that is possible, or else by the helper alone.
fn check(
    at: &mut Cursor<'_, '_>,
    access: &Access,
    place: &Checked,
    inline: Option<Checked>,
    what: u32,
    value: Operand,
) {
    let Checked { address, guard, site, kind, thread: ThreadRecords { mine, first, .. }, .. } = *place;
    let word = |number: u32| Operand::Int(number.into());
    let mut arguments = vec![address.into(), mine.into(), first.into(), word(site.0), word(what)];
    let after = [address.into(), mine.into(), word(site.0), word(what), value];
    let is_written_together = kind < STRONG_BLOCK && !access.is_collective;
    if is_concurrent(at) {
        let reads = access.access.kind == AccessKind::Read;
        arguments.extend([value, word(reads.into())]);
        at.call(guard, "warpgrind_race_access", &[], &arguments);
        if !reads && is_written_together {
            at.call_after(guard, "warpgrind_race_written", &[], &after);
        }
        return;
    }
    if access.access.kind == AccessKind::Read {
        let seen = inline.map(|inline| inline.read(at));
        let guard = seen.map(|seen| Guard::when(seen.unsettled)).or(guard);
        let plain = seen.and_then(|seen| seen.plain);
        let helper = if plain.is_some() { "warpgrind_race_read_plain" } else { "warpgrind_race_read" };
        arguments.extend(plain.into_iter().flatten());
        at.call(guard, helper, &[], &arguments);
        return;
    }
    let kept = arguments.clone();
    arguments.push(value);
    if let Some(inline) = inline {
        let (cells, seen) = inline.write(at);
        let helper = if seen.plain.is_some() { "warpgrind_race_write_plain" } else { "warpgrind_race_write" };
        arguments.extend(seen.plain.into_iter().flat_map(|[_, written, read]| [written, read]));
        at.call(Some(Guard::when(seen.unsettled)), helper, &[], &arguments);
        let collided = inline.record_write(at, &cells);
        at.call_after(Some(Guard::when(collided)), "warpgrind_race_written", &[], &after);
        return;
    }
    at.call(guard, "warpgrind_race_write", &[], &arguments);
    at.call(guard, "warpgrind_race_keep_write", &[], &kept);
    if is_written_together {
        at.call_after(guard, "warpgrind_race_written", &[], &after);
    }
}

/// The program says what orders its threads: as if it wrote a word at the address after a fence, or acquired by it.
pub(super) fn request(at: &mut Cursor<'_, '_>, request: &Request) {
    let what = 4 | STRONG_DEVICE << ACCESS_KIND;
    match request.kind {
        RequestKind::HappensBefore(address) => {
            let fence = fence_call(at, STRONG_DEVICE);
            if let Some((helper, mine, arguments)) = fence {
                at.call(request.guard, helper, &[mine.into()], &arguments);
            }
            order_by(at, address, what | WRITES);
        }
        RequestKind::HappensAfter(address) => order_by(at, address, what | ACQUIRES),
        RequestKind::Checks(_) | RequestKind::TransactionBegin(_) | RequestKind::TransactionEnd => {}
    }
}

/// After a strong access: it may acquire or release, if the kernel has fences.
fn order(at: &mut Cursor<'_, '_>, access: &Access, address: Reg, mut what: u32) {
    if matches!(access.access.order, Order::Acquire | Order::AcquireRelease) {
        what |= ACQUIRES;
    }
    if matches!(access.access.order, Order::Release | Order::AcquireRelease) {
        what |= RELEASES;
    }
    order_by(at, address, what);
}

/// After an instruction that may acquire or release at an address, if the kernel has fences. Where other warps run at the same
/// time, what it releases is known before it, so that whoever sees what it writes finds that.
fn order_by(at: &mut Cursor<'_, '_>, address: Reg, what: u32) {
    let Some(ThreadRecords { mine, first, .. }) = thread(at) else { return };
    let tables = at.word(ORDER);
    let is_ordered = at.at_entry("setp.ne.b64", Type::Pred, &[tables.into(), Operand::Int(0)]);
    let holds = at.reg(Type::Pred);
    at.and_guard(holds, is_ordered, at.guard());
    let arguments = |what: u32| [address.into(), mine.into(), first.into(), Operand::Int(what.into())];
    let guard = Some(Guard::when(holds));
    if !is_concurrent(at) {
        at.call_after(guard, "warpgrind_race_order", &[], &arguments(what));
        return;
    }
    if what & (WRITES | UPDATES) != 0 {
        at.call(guard, "warpgrind_race_order_alone", &[], &arguments(what | BEFORE));
    }
    if what & WRITES == 0 {
        at.call_after(guard, "warpgrind_race_order_alone", &[], &arguments(what | AFTER));
    }
}
