//! What cannot be protected, and why: each by a name.

use ptx::ir::{DirectiveArg, Operand, Reg};
use ptx::ops::{Effect, Mod, Op};
use ptx::special::Special;
use ptx::synchronisation::Synchronisation;
use ptx::types::{Space, Type, TypeKind};
use ptx::view::{AccessKind, AccessSpace, Callee, Order, View};
use rewrite::{KernelView, LaunchShape, Refusal};
use rustc_hash::FxHashSet;

use super::instrument::is_input;
use super::kept::Kept;
use super::layout::threads;
use super::version::{Layout, Pair, Shared};
use super::{TOOL, shared};

/// Bytes of shared memory that variables of a kernel may have: the assembler says so.
const MOST_STATIC_SHARED: u64 = 48 << 10;
/// The first architecture with accesses that acquire and release.
const OLDEST_TARGET: u32 = 70;
/// Bytes of shared memory that a block may have at most, as on compute capability 9.0.
const MOST_SHARED: u64 = 227 << 10;

fn refusal(code: &'static str, reason: impl Into<String>) -> Refusal {
    Refusal::new(TOOL, code, reason)
}

/// Why threads cannot have twins, in some version, if so.
pub(super) fn of_pair(kernel: &KernelView<'_>, pair: Pair) -> Option<Refusal> {
    if kernel.calls_through_pointers() {
        let reason = "it calls functions through pointers, which are there once for all versions";
        return Some(refusal("indirect-call", reason));
    }
    if pair.has_log()
        && let Some(refusal) = of_log(kernel)
    {
        return Some(refusal);
    }
    let found = kernel.instructions().find_map(|view| of_instruction(kernel, &view, pair));
    found.or_else(|| of_shared_atomics(kernel, pair)).or_else(|| of_sizes(kernel, pair))
}

/// Only kernels have a log, which twins go through in step; and it needs acquiring and releasing accesses.
fn of_log(kernel: &KernelView<'_>) -> Option<Refusal> {
    let module = kernel.module();
    if module.architecture_number().is_none_or(|target| target < OLDEST_TARGET) {
        let reason = format!("it is compiled for an architecture before sm_{OLDEST_TARGET}");
        return Some(refusal("old-target", reason));
    }
    let called = kernel.functions().filter(|(_, function)| !function.is_entry());
    called.into_iter().find_map(|(_, function)| {
        let body = function.body.as_ref()?;
        let view = body.iter().filter_map(|stmt| View::of(&module.forms, body, stmt)).find(is_compared)?;
        let name = module.text(function.name);
        let text = view.form.spelling();
        Some(refusal("function-call", format!("it calls {name}, which has `{text}`: only kernels have a log")))
    })
}

/// Whether twins have something to tell each other of an instruction, as far as it can be seen alone.
fn is_compared(view: &View<'_>) -> bool {
    let is_own = |space: AccessSpace| matches!(space, AccessSpace::State(Space::Local | Space::Param | Space::Const));
    let is_shared = |space: AccessSpace| space == AccessSpace::State(Space::Shared);
    // Loads count, too: the first copy may have to wait for what the second has not stored yet.
    let is_told =
        |kind: AccessKind, space: AccessSpace| !(is_own(space) || is_shared(space) && kind != AccessKind::ReadWrite);
    view.accesses().iter().any(|access| is_told(access.kind, access.space))
        || view.specials().any(is_input)
        || matches!(view.op(), Some(Op::Activemask | Op::Exit))
        || view.effect() == Some(Effect::Call)
        || matches!(view.synchronisation(), Some(Synchronisation::Barrier { .. } | Synchronisation::Fence { .. }))
}

fn of_instruction(kernel: &KernelView<'_>, view: &View<'_>, pair: Pair) -> Option<Refusal> {
    let text = view.form.spelling();
    let Some(effect) = view.effect() else {
        return Some(refusal("unknown-instruction", format!("it has `{text}`, of which nothing is known")));
    };
    if effect == Effect::Tensor || text.starts_with("wgmma") || text.starts_with("tcgen05") {
        return Some(refusal("tensor", format!("it has `{text}`, which works for several warps")));
    }
    let is_common = |space: AccessSpace| !matches!(space, AccessSpace::State(Space::Shared | Space::Local));
    if view.is_collective() && pair.has_log() {
        if view.accesses().iter().any(|access| access.kind != AccessKind::Read && is_common(access.space)) {
            let reason = format!("it has `{text}`, by which a warp stores together");
            return Some(refusal("collective-store", reason));
        }
    } else if view.is_collective() {
        let reason =
            format!("it has `{text}`: sixteen threads and their twins are a warp, which the program would see");
        return Some(refusal("collective", reason));
    }
    if effect == Effect::SurfaceStore {
        return Some(refusal("surface", format!("it has `{text}`, and stores to surfaces are not compared yet")));
    }
    if matches!(view.synchronisation(), Some(Synchronisation::Cluster { .. })) || text.contains("cluster") {
        return Some(refusal("cluster", format!("it has `{text}`, and clusters are not doubled")));
    }
    if let Some(refusal) = view.specials().find_map(|special| of_special(special, pair)) {
        return Some(refusal);
    }
    for access in view.accesses() {
        let is_write = access.kind != AccessKind::Read;
        let is_elsewhere = !matches!(access.space, AccessSpace::State(Space::Shared));
        if is_write && (access.is_async || access.space == AccessSpace::Tensor) {
            let is_common = pair.shared == Shared::Common || is_elsewhere;
            if is_common && effect == Effect::AsyncCopy {
                let reason = format!("it has `{text}`, which stores later than it can be compared");
                return Some(refusal("async-copy", reason));
            }
        }
    }
    if matches!(effect, Effect::Store | Effect::Atomic) && has_parts(view) {
        return Some(refusal("vector-register", format!("it has `{text}` of a vector register")));
    }
    match view.callee() {
        Some(Callee::Direct(func)) => of_call(kernel, func),
        _ => None,
    }
}

/// Functions of the device that are called: what is printed is printed once.
fn of_call(kernel: &KernelView<'_>, func: ptx::ir::FuncId) -> Option<Refusal> {
    let function = &kernel.module().functions[func];
    let name = kernel.module().text(function.name);
    let is_here = kernel.functions().any(|(_, function)| kernel.module().text(function.name) == name);
    match name {
        _ if is_here => None,
        "vprintf" | "__assertfail" => None,
        "malloc" | "free" => Some(refusal("device-heap", format!("it calls {name}, and copies have other addresses"))),
        _ if name.starts_with("cudaLaunchDevice") || name.starts_with("cudaGetParameterBuffer") => {
            Some(refusal("device-launch", "it launches kernels"))
        }
        _ => Some(refusal("unknown-function", format!("it calls `{name}`, of which nothing is known"))),
    }
}

/// Special registers that would show that blocks are doubled.
fn of_special(special: Special, pair: Pair) -> Option<Refusal> {
    use Special::*;
    let name = special.text();
    match special {
        Tid | Ntid | Ctaid | Nctaid => Some(refusal("vector-id", format!("it reads {name} as a vector"))),
        TotalSmemSize | AggrSmemSize => Some(refusal("shared-size", format!("it asks for {name}"))),
        // Blocks that are twins have it each.
        _ if special.reserved_shared_offset().is_some() && pair.layout != Layout::Blocks => {
            Some(refusal("reserved-shared", format!("it reads {name}: the memory there is not doubled")))
        }
        _ if name.contains("cluster") => {
            Some(refusal("cluster", format!("it reads {name}, and clusters are not doubled")))
        }
        _ => None,
    }
}

/// Whether parts of a register are stored, whose bits nobody can name by one instruction.
fn has_parts(view: &View<'_>) -> bool {
    view.operands().iter().any(|operand| match operand {
        Operand::Vector(list) => view.body.operands(*list).iter().any(|part| matches!(part, Operand::Part(..))),
        operand => matches!(operand, Operand::Part(..)),
    })
}

/// In shared memory of two copies, threads come in different orders to atomic operations: these must not tell orders apart.
fn of_shared_atomics(kernel: &KernelView<'_>, pair: Pair) -> Option<Refusal> {
    if pair.shared == Shared::Common {
        return None;
    }
    let has_shared = kernel.functions().any(|(func, _)| shared::is_used(kernel.module(), func));
    if !has_shared {
        return None;
    }
    let mut operations = Vec::new();
    for view in kernel.instructions().filter(|view| view.effect() == Some(Effect::Atomic)) {
        let text = view.form.spelling();
        let Some(access) = view.accesses().first().copied() else { continue };
        match access.space {
            AccessSpace::State(Space::Shared) => {}
            AccessSpace::State(_) => continue,
            _ => {
                let reason = format!("it has `{text}`, which may be in shared memory or not");
                return Some(refusal("generic-atomic", reason));
            }
        }
        let Some(operation) = commutative(&view) else {
            let reason = format!("it has `{text}` in shared memory, whose result depends on who comes first");
            return Some(refusal("shared-atomic", reason));
        };
        operations.push(operation);
    }
    operations.dedup();
    (operations.len() > 1)
        .then(|| refusal("shared-atomic", "it has different atomic operations in shared memory, whose order counts"))
}

/// An atomic operation after which memory is the same in whatever order threads come; nothing for others.
fn commutative(view: &View<'_>) -> Option<Mod> {
    let is_integer = view.form.types().first().is_some_and(|ty| ty.kind() != TypeKind::Float && !is_packed_float(*ty));
    let operations = [Mod::Add, Mod::Min, Mod::Max, Mod::And, Mod::Or, Mod::Xor];
    operations.into_iter().find(|&operation| is_integer && view.form.has(operation))
}

fn is_packed_float(ty: Type) -> bool {
    ty.text().contains('f')
}

/// Sizes that the text gives.
fn of_sizes(kernel: &KernelView<'_>, pair: Pair) -> Option<Refusal> {
    let bytes: u64 = kernel.functions().map(|(func, _)| shared::static_bytes_of(kernel.module(), func)).sum();
    let doubled = if pair.doubles_shared() { 2 * bytes } else { bytes };
    if doubled + 8 > MOST_STATIC_SHARED && bytes > 0 {
        return Some(shared_too_large(doubled));
    }
    let module = kernel.module();
    let exact = kernel.function().directives.iter().find(|directive| module.text(directive.name) == "reqntid")?;
    let mut block = [1; 3];
    for (size, arg) in block.iter_mut().zip(&exact.args) {
        if let DirectiveArg::Int(value) = arg {
            *size = u32::try_from(*value).unwrap_or(u32::MAX);
        }
    }
    pair.shape(LaunchShape { grid: [1; 3], block, dynamic_shared: 0, is_cooperative: false }).err()
}

fn shared_too_large(bytes: u64) -> Refusal {
    refusal("shared-too-large", format!("its blocks would need {bytes} bytes of shared memory"))
}

/// Why a launch in this shape cannot be protected, if so: of a version that has these functions.
pub(super) fn of_launch<'k>(
    pair: Pair,
    shape: LaunchShape,
    functions: impl Iterator<Item = &'k Kept>,
) -> Option<Refusal> {
    let (mut static_shared, mut has_counted_barriers) = (0, false);
    for kept in functions {
        static_shared += kept.static_shared;
        has_counted_barriers |= kept.has_counted_barriers;
    }
    if has_counted_barriers && pair.layout != Layout::Blocks && !threads(shape.block).is_multiple_of(32) {
        let reason = "its barriers count threads of whole warps, and the last warp of its blocks is not whole";
        return Some(refusal("partial-warp", reason));
    }
    let doubled = match pair.shape(shape) {
        Ok(doubled) => doubled,
        Err(refusal) => return Some(refusal),
    };
    let copies = if pair.doubles_shared() { 2 } else { 1 };
    let bytes = copies * static_shared + u64::from(doubled.dynamic_shared) + 8;
    (bytes > MOST_SHARED).then(|| shared_too_large(bytes))
}

/// Why a kernel cannot run twice and be compared, if so: what it leaves behind may differ without a fault.
pub(super) fn of_repetition(kernel: &KernelView<'_>) -> Option<Refusal> {
    let mut operation = None;
    kernel.functions().find_map(|(_, function)| {
        let body = function.body.as_ref()?;
        let views = || body.iter().filter_map(|stmt| View::of(&kernel.module().forms, body, stmt));
        // Compilers also leave atomic operations with a result that nobody reads.
        let read: FxHashSet<Reg> = views().flat_map(|view| view.reads()).collect();
        views().find_map(|view| of_repeated(kernel, &view, &read, &mut operation))
    })
}

/// The same of one instruction, of a function that reads some registers, after some atomic operation.
fn of_repeated(
    kernel: &KernelView<'_>,
    view: &View<'_>,
    read: &FxHashSet<Reg>,
    operation: &mut Option<Mod>,
) -> Option<Refusal> {
    let text = view.form.spelling();
    let Some(effect) = view.effect() else {
        return Some(refusal("unknown-instruction", format!("it has `{text}`, of which nothing is known")));
    };
    if effect == Effect::SurfaceStore {
        return Some(refusal("surface", "it writes to a surface, which cannot be saved and restored"));
    }
    let order = |what: &str| Some(refusal("order-dependent", format!("it has `{text}`: {what}")));
    if effect == Effect::Atomic {
        if view.writes().iter().any(|reg| read.contains(reg)) {
            return order("what it gives depends on who comes first, and may differ in another run");
        }
        let Some(own) = commutative(view) else {
            return order("what it leaves behind depends on who comes first");
        };
        if *operation.get_or_insert(own) != own {
            return order("with other atomic operations, what it leaves behind depends on who comes first");
        }
    }
    let is_elsewhere = |space: AccessSpace| !matches!(space, AccessSpace::State(Space::Shared | Space::Local));
    let is_strong_load = view
        .accesses()
        .iter()
        .any(|access| access.kind == AccessKind::Read && access.order != Order::Weak && is_elsewhere(access.space));
    if is_strong_load && effect == Effect::Load {
        return order("what it reads, other threads may write");
    }
    if view.specials().any(is_input) || view.op() == Some(Op::Activemask) {
        return order("it is another in every run");
    }
    match view.callee() {
        Some(Callee::Direct(func)) => of_call(kernel, func),
        _ => None,
    }
}
