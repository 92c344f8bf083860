//! Kernels that have no serial order, and kernels that cannot be checked: each with a name.

use ptx::analysis::{Block, Cfg, DominatorTree, Loops};
use ptx::ir::{Function, Operand, Reg};
use ptx::ops::{Effect, Mod, Op};
use ptx::special::Special;
use ptx::synchronisation::Synchronisation;
use ptx::view::{AccessKind, Callee, Order, View};
use rewrite::{KernelView, Refusal};
use rustc_hash::FxHashSet;

use super::TOOL;
use super::kernel_facts::Extent;

fn refusal(code: &'static str, reason: impl Into<String>) -> Refusal {
    Refusal::new(TOOL, code, reason)
}

/// Why a kernel is not run one thread after another, if so: its threads wait for each other, or for the clock.
pub(super) fn of_serial_order(kernel: &KernelView<'_>) -> Option<Refusal> {
    let found = kernel.instructions().find_map(|view| of_waiting(kernel, &view));
    found.or_else(|| kernel.functions().find_map(|(_, function)| of_spinning(kernel, function)))
}

fn of_waiting(kernel: &KernelView<'_>, view: &View<'_>) -> Option<Refusal> {
    let text = view.form.spelling();
    let refuse = |code, what: &str| Some(refusal(code, format!("it has `{text}`: {what}")));
    let Some(effect) = view.effect() else { return refuse("unknown-instruction", "of which nothing is known") };
    if effect == Effect::Tensor || text.starts_with("wgmma") || text.starts_with("tcgen05") {
        return refuse("tensor", "warps work together");
    }
    match view.synchronisation() {
        Some(Synchronisation::Barrier { id: Operand::Int(0), count: None, waits: true, .. }) | None => {}
        Some(Synchronisation::Barrier { .. }) => {
            return refuse("named-barrier", "threads may be on different sides of barriers with a number or a count");
        }
        Some(Synchronisation::Fence { .. } | Synchronisation::ProxyFence) => {
            return refuse("fence", "threads may wait for what others write");
        }
        Some(Synchronisation::Mbarrier) => return refuse("mbarrier", "threads wait for objects in memory"),
        Some(Synchronisation::Cluster { .. }) => return refuse("cluster", "blocks wait for each other"),
        Some(Synchronisation::Tensor) => return refuse("tensor", "warps work together"),
        Some(_) => {}
    }
    for access in view.accesses().into_iter().filter(|access| !Extent::is_private(access)) {
        let is_atomic = access.kind == AccessKind::ReadWrite;
        let is_plain = access.order == Order::Weak || is_atomic && access.order == Order::Relaxed;
        if !is_plain {
            return refuse("strong-access", "threads may wait for what others write");
        }
    }
    if view.specials().any(|special| special.is_volatile() && special != Special::Warpid) {
        return refuse("clock", "what it reads is another in every run");
    }
    match view.callee() {
        Some(Callee::Direct(func)) => {
            let name = kernel.module().text(kernel.module().functions[func].name);
            let is_launch = name.starts_with("cudaLaunchDevice") || name.starts_with("cudaGetParameterBuffer");
            is_launch.then(|| refusal("device-launch", "it launches kernels"))
        }
        _ => None,
    }
}

/// Whether an atomic operation only reads: adding nothing is how threads look at what others have done.
fn is_atomic_read(view: &View<'_>) -> bool {
    let has_no_effect_with_0 = [Mod::Add, Mod::Or, Mod::Xor].into_iter().any(|operation| view.form.has(operation));
    has_no_effect_with_0 && matches!(view.operands().last(), Some(Operand::Int(0) | Operand::Hex(0)))
}

/// Swaps in loops are how threads wait for a lock, and atomic reads how they wait for each other.
fn of_spinning(kernel: &KernelView<'_>, function: &Function) -> Option<Refusal> {
    let module = kernel.module();
    let body = function.body.as_ref()?;
    let waits = |view: &View<'_>| {
        view.effect() == Some(Effect::Atomic)
            && (view.form.has(Mod::Cas) || view.form.has(Mod::Exch) || is_atomic_read(view))
    };
    if !body.iter().filter_map(|id| View::of(&module.forms, body, id)).any(|view| waits(&view)) {
        return None;
    }
    let cfg = Cfg::of(&module.forms, function);
    let loops = Loops::of(cfg.graph(), &DominatorTree::dominators(cfg.graph()));
    let is_in_loop = |block: &Block| {
        loops.innermost(*block).is_some() || loops.irreducible_regions().iter().any(|region| region.contains(block))
    };
    let in_loops = cfg.blocks().filter(is_in_loop);
    let mut views =
        in_loops.flat_map(|block| cfg.statements(block).iter()).filter_map(|&stmt| View::of(&module.forms, body, stmt));
    let view = views.find(|view| waits(view))?;
    let text = view.form.spelling();
    Some(refusal("spin", format!("it has `{text}` in a loop: threads may wait for each other")))
}

/// Why a kernel cannot be checked while it runs in parallel, or not be undone, if so. It has a serial order all the same.
pub(super) fn of_check(kernel: &KernelView<'_>) -> Option<Refusal> {
    if kernel.calls_through_pointers() {
        return Some(refusal("indirect-call", "it calls functions through pointers, whose accesses are not checked"));
    }
    kernel.functions().find_map(|(_, function)| {
        let body = function.body.as_ref()?;
        let views = || body.iter().filter_map(|id| View::of(&kernel.module().forms, body, id));
        let masks = full_masks(views);
        views().find_map(|view| of_access(kernel, &view, &masks))
    })
}

/// The first architecture whose lanes each make progress.
const OLDEST_TARGET: u32 = 70;

/// Why the threads of a kernel cannot keep the serial order by themselves, if so. It has one.
pub(super) fn of_one_by_one(kernel: &KernelView<'_>) -> Option<Refusal> {
    if kernel.calls_through_pointers() {
        return Some(refusal(
            "indirect-call",
            "it calls functions through pointers, in which threads may wait for each other",
        ));
    }
    if kernel.module().architecture_number().is_none_or(|target| target < OLDEST_TARGET) {
        let reason = format!(
            "it is compiled for an architecture before sm_{OLDEST_TARGET}, whose lanes do not wait for each other"
        );
        return Some(refusal("old-target", reason));
    }
    let is_of_unknown_lanes = |view: &View<'_>| {
        view.synchronisation() == Some(Synchronisation::Collective { mask: None }) && !is_matrix(view.form.spelling())
    };
    let view = kernel.instructions().find(is_of_unknown_lanes)?;
    let reason = format!("it has `{}`, which does not say which lanes take part", view.form.spelling());
    Some(refusal("partial-warp", reason))
}

/// The registers of a function that never hold anything but the mask of all lanes.
fn full_masks<'v, V: Iterator<Item = View<'v>>>(views: impl Fn() -> V) -> FxHashSet<Reg> {
    let masks = FxHashSet::default();
    let is_full_move = |view: &View<'_>| view.op() == Some(Op::Mov) && is_full(view.operands()[1], &masks);
    let mut full: FxHashSet<Reg> = views().filter(is_full_move).flat_map(|view| view.writes()).collect();
    if !full.is_empty() {
        views().filter(|view| !is_full_move(view)).for_each(|view| view.for_each_write(|reg| _ = full.remove(&reg)));
    }
    full
}

fn of_access(kernel: &KernelView<'_>, view: &View<'_>, masks: &FxHashSet<Reg>) -> Option<Refusal> {
    let text = view.form.spelling();
    let refuse = |code, what: &str| Some(refusal(code, format!("it has `{text}`, {what}")));
    match view.effect() {
        Some(Effect::SurfaceStore) => return refuse("surface", "and what surfaces hold is not restored"),
        Some(Effect::AsyncCopy) => return refuse("async-copy", "whose accesses come later"),
        _ => {}
    }
    match view.synchronisation() {
        Some(Synchronisation::WarpBarrier { mask } | Synchronisation::Collective { mask: Some(mask) })
            if !is_full(mask, masks) =>
        {
            return refuse("partial-warp", "in which perhaps not all lanes of a warp take part");
        }
        Some(Synchronisation::Collective { mask: None }) if !is_matrix(text) => {
            return refuse("partial-warp", "in which perhaps not all lanes of a warp take part");
        }
        _ => {}
    }
    let is_checked = |access: &ptx::view::MemAccess| Extent::is_private(access) || Extent::of(access).is_some();
    if !view.accesses().iter().all(is_checked) {
        return refuse("matrix-access", "whose bytes are not known for each lane");
    }
    match view.callee() {
        Some(Callee::Direct(func)) => {
            let function = &kernel.module().functions[func];
            match kernel.module().text(function.name) {
                "malloc" | "free" => {
                    Some(refusal("device-heap", "it allocates memory, whose addresses follow the order"))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn is_full(mask: Operand, masks: &FxHashSet<Reg>) -> bool {
    match mask {
        Operand::Reg(reg) => masks.contains(&reg),
        Operand::Int(number) => number as u32 == u32::MAX,
        Operand::Hex(number) => number as u32 == u32::MAX,
        _ => false,
    }
}

/// Matrix instructions are executed by all lanes, without saying so.
fn is_matrix(text: &str) -> bool {
    ["mma.", "wmma.", "ldmatrix", "stmatrix", "movmatrix"].iter().any(|start| text.starts_with(start))
}
