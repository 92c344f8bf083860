//! What is known of a kernel before its launches: which memory it accesses, and whether all that it does there is followed.

use ptx::analysis::CallGraph;
use ptx::ir::{FuncId, Module};
use ptx::ops::{Effect, Mod, Op};
use ptx::special::Special;
use ptx::types::Space;
use ptx::view::{AccessBytes, AccessKind, AccessSpace, View};
use rewrite::KernelView;
use toolkit::Touched;

use super::local_variables;

/// What a kernel, and all functions that it calls, do with memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct KernelFacts {
    /// Whether it writes memory of the device in a way that is not followed. What it may write then counts as defined.
    pub(super) is_opaque: bool,
    /// Whether its blocks have shared memory.
    pub(super) uses_shared: bool,
    /// Whether the shared memory of its blocks begins as undefined, and is followed.
    pub(super) follows_shared: bool,
    /// Whether local memory of a function begins as undefined, and is followed.
    pub(super) follows_local: bool,
    /// Whether it allocates memory, which is undefined.
    pub(super) allocates: bool,
    /// What it reads.
    pub(super) read: Touched,
    /// What it writes.
    pub(super) written: Touched,
}

impl KernelFacts {
    /// Of a kernel.
    pub(super) fn of(module: &Module, kernel: FuncId) -> Self {
        let calls = CallGraph::of(module);
        let (mut is_opaque, mut uses_shared, mut is_shared_opaque) = (calls.may_call_unknown(kernel), false, false);
        let (mut follows_local, mut allocates) = (false, false);
        let (mut names_others, mut copies_to_cluster) = (false, false);
        for func in calls.reachable_from(kernel).iter() {
            allocates |= module.text(module.functions[func].name) == "malloc";
            follows_local |= !local_variables::variables(module, &module.functions[func]).is_empty();
            let Some(body) = &module.functions[func].body else { continue };
            for view in body.iter().filter_map(|id| View::of(&module.forms, body, id)) {
                uses_shared |= names_shared(&view);
                names_others |= view.op() == Some(Op::Mapa);
                let is_in_cluster = view.form.has(Mod::SharedCluster);
                copies_to_cluster |= is_in_cluster;
                // Copies name the shared memory of the block itself like that, too.
                is_shared_opaque |= is_in_cluster && !is_bulk(&view);
                let Some(effect) = view.effect() else {
                    is_opaque = true;
                    continue;
                };
                let is_matrix = matches!(view.op(), Some(Op::WmmaStoreD | Op::Stmatrix))
                    && view
                        .accesses()
                        .iter()
                        .all(|access| matches!(access.bytes, AccessBytes::Fixed(_) | AccessBytes::Rows(_)));
                let is_followed = is_matrix
                    || is_bulk(&view)
                    || matches!(view.op(), Some(Op::St | Op::Atom | Op::Red | Op::CpAsync))
                    || effect == Effect::Mbarrier;
                for access in view.accesses().iter().filter(|access| access.kind != AccessKind::Read && !is_followed) {
                    match access.space {
                        AccessSpace::State(Space::Shared) => is_shared_opaque = true,
                        AccessSpace::State(Space::Local | Space::Param) | AccessSpace::TensorMemory => {}
                        AccessSpace::Texture => {}
                        AccessSpace::Generic => (is_opaque, is_shared_opaque) = (true, true),
                        _ => is_opaque = true,
                    }
                }
            }
        }
        is_shared_opaque |= names_others && copies_to_cluster;
        Self {
            is_opaque,
            uses_shared,
            follows_shared: uses_shared && !is_shared_opaque && !is_opaque,
            follows_local: follows_local && !is_opaque,
            allocates,
            read: Touched::read(module, kernel),
            written: Touched::written(module, kernel),
        }
    }

    /// Whether a kernel, or a function that it calls, asks how much shared memory there is.
    pub(super) fn asks_for_shared_bytes(kernel: &KernelView<'_>) -> bool {
        let is_size =
            |special| matches!(special, Special::TotalSmemSize | Special::AggrSmemSize | Special::DynamicSmemSize);
        kernel.instructions().any(|view| view.specials().any(is_size))
    }

    /// Whether a kernel, or a function that it calls, names shared or local memory.
    pub(super) fn uses_own_memory(kernel: &KernelView<'_>) -> bool {
        kernel.instructions().any(|view| view.form.spaces().any(|space| matches!(space, Space::Shared | Space::Local)))
    }
}

/// Whether an instruction writes as many bytes as an operand says, all of them.
fn is_bulk(view: &View<'_>) -> bool {
    let some = [Mod::CpMask, Mod::IgnoreOob, Mod::MulticastCluster, Mod::MulticastCluster16b, Mod::MulticastCluster32b];
    matches!(view.op(), Some(Op::CpAsyncBulk | Op::StBulk)) && !some.into_iter().any(|word| view.form.has(word))
}

fn names_shared(view: &View<'_>) -> bool {
    view.form.spaces().any(|space| space == Space::Shared)
}
