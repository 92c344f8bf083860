//! What cannot be in a transaction, and why: each by a name.

use ::rewrite::{KernelView, Refusal, RequestKind};
use ptx::ir::{Module, Operand};
use ptx::ops::{Effect, Op};
use ptx::types::Space;
use ptx::view::{AccessBytes, AccessKind, AccessSpace, Callee, MemAccess, Order, View};

use super::TOOL;
use super::runtime::Runtime;

pub(super) fn refusal(code: &'static str, reason: impl Into<String>) -> Refusal {
    Refusal::new(TOOL, code, reason)
}

/// Why no transaction of a kernel can be made, if so.
pub(super) fn of_kernel(kernel: &KernelView<'_>) -> Option<Refusal> {
    let module = kernel.module();
    let is_marked = |func| RequestKind::is_asked_in(module, func, RequestKind::is_mark);
    if kernel.calls_through_pointers() && module.functions.ids().any(is_marked) {
        let reason = "it calls functions through pointers, which are there once for all versions";
        return Some(refusal("indirect-call", reason));
    }
    let is_marked = kernel.functions().any(|(func, _)| is_marked(func));
    (is_marked && Runtime::of(module).is_none()).then(|| {
        refusal(
            "no-header",
            "its module has not the functions of warpgrind/transactional.cuh, or others of these names",
        )
    })
}

/// How an instruction inside of a transaction accesses memory.
pub(super) enum Accesses {
    /// Not at all, or only what is the thread's own or constant.
    Own,
    /// Memory that others may write, so it goes through the transaction.
    Shared { access: MemAccess, bytes: u32 },
}

/// What an instruction inside of a transaction accesses, or why it cannot be there. Calls are the business of others.
pub(super) fn of_instruction(view: &View<'_>) -> Result<Accesses, Refusal> {
    let text = view.form.spelling();
    let refused = |code, why: &str| Err(refusal(code, format!("it has `{text}` in a transaction, {why}")));
    let Some(effect) = view.effect() else { return refused("unknown-instruction", "of which nothing is known") };
    if view.is_collective() {
        return refused("collective", "which lanes of a warp execute together");
    }
    match effect {
        Effect::Pure | Effect::Branch | Effect::Trap | Effect::Call | Effect::Return | Effect::Exit => {
            Ok(Accesses::Own)
        }
        Effect::Load | Effect::Store => of_access(view),
        Effect::Hint if text.starts_with("prefetch") => Ok(Accesses::Own),
        Effect::Atomic => refused("atomic", "and others see it at once"),
        Effect::Barrier => refused("barrier", "where others are waited for"),
        Effect::Collective => refused("collective", "which lanes of a warp execute together"),
        Effect::Fence => refused("fence", "which orders nothing there"),
        Effect::AsyncCopy | Effect::AsyncGroup | Effect::Mbarrier => {
            refused("async-copy", "which copies later than the transaction may end")
        }
        Effect::TextureLoad | Effect::SurfaceStore | Effect::TextureQuery => {
            refused("texture", "and textures and surfaces have no transactions")
        }
        Effect::Tensor => refused("tensor", "which several warps execute"),
        Effect::Hint | Effect::Stack | Effect::Control => refused("control", "which cannot be undone"),
    }
}

fn of_access(view: &View<'_>) -> Result<Accesses, Refusal> {
    let text = view.form.spelling();
    let refused = |code, why: &str| Err(refusal(code, format!("it has `{text}` in a transaction, {why}")));
    let accesses = view.accesses();
    let (&[access], Some(Op::Ld | Op::Ldu | Op::St)) = (&accesses[..], view.op()) else {
        return refused("unknown-access", "which is more than a load or a store");
    };
    match access.space {
        AccessSpace::State(Space::Param | Space::Const) => return Ok(Accesses::Own),
        AccessSpace::State(Space::Local) if access.kind == AccessKind::Read => return Ok(Accesses::Own),
        AccessSpace::State(Space::Local) => {
            return refused("local-memory", "and local memory is not as it was when it begins again");
        }
        AccessSpace::State(Space::Shared) => return refused("shared-memory", "and there are none in shared memory"),
        AccessSpace::State(Space::Global) | AccessSpace::Generic => {}
        _ => return refused("unknown-access", "whose memory is not known"),
    }
    match access.order {
        Order::Weak => {}
        Order::Volatile => return refused("volatile", "and what is volatile is not kept back"),
        _ => return refused("ordered-access", "which others see at once"),
    }
    let address = view.operands()[access.address];
    let is_known = match address {
        Operand::RegAddress(..) | Operand::IntAddress(_) => true,
        Operand::SymbolAddress(..) => access.space != AccessSpace::Generic,
        _ => false,
    };
    match access.bytes {
        AccessBytes::Fixed(bytes @ (1 | 2 | 4 | 8 | 16)) if is_known => Ok(Accesses::Shared { access, bytes }),
        AccessBytes::Fixed(bytes) if is_known => {
            refused("wide-access", &format!("of {bytes} bytes, and a transaction accesses 16 at most"))
        }
        _ => refused("unknown-access", "whose address is not in a register"),
    }
}

/// Why a call cannot be in a transaction; nothing if the function can take its place.
pub(super) fn of_call(module: &Module, callee: Option<Callee>) -> Option<Refusal> {
    let Some(Callee::Direct(func)) = callee else {
        return Some(refusal("indirect-call", "it calls a function through a pointer in a transaction"));
    };
    let func = module.definition_of(func).unwrap_or(func);
    if module.functions[func].body.is_some() {
        return None;
    }
    let name = module.text(module.functions[func].name);
    let (code, why) = match name {
        "vprintf" => ("printf", "and what is printed cannot be taken back"),
        "malloc" | "free" => ("device-heap", "and the heap of the device has no transactions"),
        _ => ("unknown-function", "of which nothing is known"),
    };
    Some(refusal(code, format!("it calls `{name}` in a transaction, {why}")))
}
