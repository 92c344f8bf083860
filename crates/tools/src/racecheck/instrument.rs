//! What is inserted into kernels.

use ptx::ir::{Guard, Operand, Reg};
use ptx::synchronisation::Synchronisation;
use ptx::types::{Space, Type, TypeKind};
use ptx::view::{AccessBytes, AccessKind, AccessSpace, Callee, Order, Scope};
use rewrite::{Access, Call, Cursor, KernelVersion, KernelView, Refusal, Sync};

use super::record::{STRONG_BLOCK, STRONG_DEVICE, VOLATILE};
use super::{ACCESS_KIND, ACQUIRES, BYTES, HAS_VALUE, ORDER, RELEASES, UPDATES, WRITES};

/// What is kept of a function while it is rewritten, and of a kernel for its launches.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// The registers with the record of the thread, and with the first one of its block.
    records: Option<[Reg; 2]>,
    /// Whether it calls functions.
    has_calls: bool,
    calls_through_pointers: bool,
    pub(super) has_barriers: bool,
    pub(super) has_warp_barriers: bool,
    /// The smallest accesses, in bytes: to global or generic memory, and to shared or generic memory.
    pub(super) smallest: [Option<u32>; 2],
    /// Whether it orders accesses through memory: by fences, acquires and releases.
    pub(super) has_fences: bool,
}

impl Looked {
    /// Of a kernel, and all functions that it calls.
    pub(super) fn of(version: &KernelVersion) -> Self {
        let mut all = Self::default();
        for one in version.states::<Self>("racecheck") {
            all.calls_through_pointers |= one.calls_through_pointers;
            all.has_barriers |= one.has_barriers;
            all.has_warp_barriers |= one.has_warp_barriers;
            all.has_fences |= one.has_fences;
            for (all, one) in all.smallest.iter_mut().zip(one.smallest) {
                *all = (*all).into_iter().chain(one).min();
            }
        }
        if all.calls_through_pointers {
            // What those functions do is not known.
            all = Self { has_barriers: true, has_warp_barriers: true, has_fences: true, smallest: [Some(1); 2], ..all };
        }
        all
    }
}

/// Why a kernel cannot be looked at, if it cannot.
pub(super) fn refusal(kernel: &KernelView<'_>) -> Option<Refusal> {
    let refuse = |code, reason: &str| Some(Refusal::new("racecheck", code, reason));
    kernel.instructions().find_map(|view| match view.synchronisation()? {
        Synchronisation::Barrier { id: Operand::Int(0), count: None, waits: true, .. } => None,
        Synchronisation::Barrier { .. } => {
            refuse("named-barrier", "it has barriers with a number or a count, whose order is not followed yet")
        }
        Synchronisation::Mbarrier => refuse("mbarrier", "it has mbarrier objects, whose order is not followed yet"),
        Synchronisation::Cluster { .. } => refuse("cluster", "it has barriers of clusters, which are not followed yet"),
        Synchronisation::Tensor => {
            refuse("tensor", "it has asynchronous work of tensor cores, which is not followed yet")
        }
        _ => None,
    })
}

/// A function begins: each thread has its record.
pub(super) fn entry(at: &mut Cursor<'_, '_>) {
    let has_calls = {
        let editor = at.editor();
        let ids = editor.body().ids();
        ids.into_iter().any(|id| editor.view(id).is_some_and(|view| view.callee().is_some()))
    };
    let records = [at.reg(Type::B64), at.reg(Type::B64)];
    let begin = match (at.is_kernel(), has_calls) {
        (true, false) => "warpgrind_race_begin",
        (true, true) => "warpgrind_race_begin_kept",
        (false, _) => "warpgrind_race_resume",
    };
    let [mine, first] = records.map(Operand::from);
    at.call(None, "warpgrind_race_first", &[first], &[]);
    at.call(None, begin, &[mine], &[first]);
    let looked = at.state::<Looked>();
    looked.records = Some(records);
    looked.has_calls |= has_calls;
}

fn records(at: &mut Cursor<'_, '_>) -> Option<[Reg; 2]> {
    at.state::<Looked>().records
}

/// Whether others may need the record of the thread.
fn is_kept(at: &mut Cursor<'_, '_>) -> bool {
    !at.is_kernel() || at.state::<Looked>().has_calls
}

/// A function that was called may have passed barriers.
pub(super) fn call(at: &mut Cursor<'_, '_>, call: &Call) {
    at.state::<Looked>().calls_through_pointers |= !matches!(call.callee, Callee::Direct(_));
    if let Some([mine, first]) = records(at) {
        at.call_after(call.guard, "warpgrind_race_resume", &[mine.into()], &[first.into()]);
    }
}

/// A thread synchronises.
pub(super) fn sync(at: &mut Cursor<'_, '_>, sync: &Sync) {
    let Some([mine, first]) = records(at) else { return };
    match sync.kind {
        Synchronisation::Barrier { .. } => {
            at.state::<Looked>().has_barriers = true;
            let helper = if is_kept(at) { "warpgrind_race_barrier_kept" } else { "warpgrind_race_barrier" };
            at.call_after(sync.guard, helper, &[mine.into()], &[mine.into(), first.into()]);
        }
        Synchronisation::WarpBarrier { .. } => {
            at.state::<Looked>().has_warp_barriers = true;
            at.call(sync.guard, "warpgrind_race_at_warp_barrier", &[], &[mine.into()]);
            let helper = if is_kept(at) { "warpgrind_race_warp_barrier_kept" } else { "warpgrind_race_warp_barrier" };
            at.call_after(sync.guard, helper, &[mine.into()], &[mine.into()]);
        }
        Synchronisation::Fence { scope, .. } => {
            at.state::<Looked>().has_fences = true;
            let helper = if is_kept(at) { "warpgrind_race_fence_kept" } else { "warpgrind_race_fence" };
            let arguments = [mine.into(), first.into(), Operand::Int(strong(scope).into())];
            at.call_after(sync.guard, helper, &[mine.into()], &arguments);
        }
        _ => {}
    }
}

/// An access is about to take place.
pub(super) fn access(at: &mut Cursor<'_, '_>, access: &Access) {
    let Some([mine, first]) = records(at) else { return };
    let places = match access.access.space {
        AccessSpace::State(Space::Global) => [true, false],
        AccessSpace::State(Space::Shared) => [false, true],
        AccessSpace::Generic => [true, true],
        _ => return,
    };
    let bytes = match access.access.bytes {
        AccessBytes::Fixed(bytes) => bytes,
        AccessBytes::Rows(rows) if access.access.lanes >= 32 => rows.bytes,
        _ => return,
    };
    if bytes == 0 || bytes > BYTES || !bytes.is_power_of_two() {
        return;
    }
    let kind = kind(access);
    let element = bytes / access.access.vector.max(1);
    let looked = at.state::<Looked>();
    for (smallest, is_there) in looked.smallest.iter_mut().zip(places) {
        if is_there {
            *smallest = Some(smallest.map_or(element, |smallest| smallest.min(element)));
        }
    }
    looked.has_fences |= matches!(access.access.order, Order::Acquire | Order::Release | Order::AcquireRelease);
    // One for errors, and the next for warnings.
    let (guard, site) = (at.guard(), at.site(access));
    at.site(access);
    let mut address = generic_address(at, access);
    if kind != 0 {
        // What the instruction loads may take the place of its address.
        let copy = at.reg(Type::B64);
        at.before().inst("mov.b64", &[copy.into(), address.into()]);
        address = copy;
    }
    let mut what = bytes | kind << ACCESS_KIND;
    let word = |number: u32| Operand::Int(number.into());
    if access.access.kind == AccessKind::Read {
        let arguments = [address.into(), mine.into(), first.into(), word(site.0), word(what)];
        at.call(guard, "warpgrind_race_read", &[], &arguments);
        if kind != 0 {
            order(at, access, address, what);
        }
        return;
    }
    what |= if access.access.kind == AccessKind::ReadWrite { UPDATES } else { WRITES };
    let value = if kind < STRONG_BLOCK { value(at, access) } else { None };
    if value.is_some() {
        what |= HAS_VALUE;
    }
    let value = value.unwrap_or(Operand::Int(0));
    let arguments = [address.into(), mine.into(), first.into(), word(site.0), word(what), value];
    at.call(guard, "warpgrind_race_write", &[], &arguments);
    if kind != 0 {
        order(at, access, address, what);
    }
    if kind < STRONG_BLOCK && !access.is_collective {
        let arguments = [address.into(), mine.into(), word(site.0), word(what), value];
        at.call_after(guard, "warpgrind_race_written", &[], &arguments);
    }
}

/// After a strong access: it may acquire or release, if the kernel has fences.
fn order(at: &mut Cursor<'_, '_>, access: &Access, address: Reg, mut what: u32) {
    let Some([mine, first]) = records(at) else { return };
    if matches!(access.access.order, Order::Acquire | Order::AcquireRelease) {
        what |= ACQUIRES;
    }
    if matches!(access.access.order, Order::Release | Order::AcquireRelease) {
        what |= RELEASES;
    }
    let tables = at.word(ORDER);
    let is_ordered = at.at_entry("setp.ne.b64", Type::Pred, &[tables.into(), Operand::Int(0)]);
    let holds = at.reg(Type::Pred);
    at.and_guard(holds, is_ordered, at.guard());
    let arguments = [address.into(), mine.into(), first.into(), Operand::Int(what.into())];
    at.call_after(Some(Guard::when(holds)), "warpgrind_race_order", &[], &arguments);
}

/// How strong an operation of a scope is.
fn strong(scope: Scope) -> u32 {
    if matches!(scope, Scope::Block | Scope::Cluster) { STRONG_BLOCK } else { STRONG_DEVICE }
}

/// Among whom an access is ordered with others: 0 for a weak one.
fn kind(access: &Access) -> u32 {
    let is_atomic = access.access.kind == AccessKind::ReadWrite;
    match (access.access.order, access.access.scope) {
        (Order::Weak, _) if !is_atomic => 0,
        (Order::Volatile, _) => VOLATILE,
        (_, scope) => strong(scope.unwrap_or(Scope::Device)),
    }
}

/// The address of an access, as one of generic memory.
fn generic_address(at: &mut Cursor<'_, '_>, access: &Access) -> Reg {
    let mut address = at.address(access);
    if at.editor().function().reg_type(address).bits() == 32 {
        let long = at.reg(Type::B64);
        at.before().inst("cvt.u64.u32", &[long.into(), address.into()]);
        address = long;
    }
    if access.access.space == AccessSpace::State(Space::Shared) {
        let generic = at.reg(Type::B64);
        at.before().inst("cvta.shared.u64", &[generic.into(), address.into()]);
        address = generic;
    }
    address
}

/// What a store writes, in 64 bits; nothing for vectors.
fn value(at: &mut Cursor<'_, '_>, access: &Access) -> Option<Operand> {
    let view = at.editor().view(access.stmt)?;
    if access.access.vector > 1 {
        return None;
    }
    let [_, stored] = view.operands() else { return None };
    let reg = match *stored {
        Operand::Int(number) => return Some(Operand::Int(number)),
        Operand::Reg(reg) => reg,
        _ => return None,
    };
    let ty = at.editor().function().reg_type(reg);
    let mut from = reg;
    if ty.kind() == TypeKind::Float {
        let (plain, spelling) = match ty.bits() {
            32 => (Type::B32, "mov.b32"),
            64 => (Type::B64, "mov.b64"),
            _ => return None,
        };
        from = at.reg(plain);
        at.before().inst(spelling, &[from.into(), reg.into()]);
    }
    let spelling = match ty.bits() {
        64 => return Some(from.into()),
        32 => "cvt.u64.u32",
        16 => "cvt.u64.u16",
        8 => "cvt.u64.u8",
        _ => return None,
    };
    let long = at.reg(Type::B64);
    at.before().inst(spelling, &[long.into(), from.into()]);
    Some(long.into())
}
