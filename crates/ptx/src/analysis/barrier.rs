//! Barriers: which instructions and functions wait for the threads of the block.

use super::bitset::BitSet;
use super::callgraph::CallGraph;
use crate::ir::{FuncId, Module};
use crate::ops::{Effect, Op};
use crate::view::View;

/// What a barrier instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BarrierKind {
    /// Waits for the threads of the block.
    Wait,
    /// Arrives at a barrier of the block, and does not wait.
    Arrive,
    /// Arrives, or waits, at the barrier of the cluster.
    Cluster,
}

impl BarrierKind {
    /// The kind of barrier that an instruction is, if it is one. Barriers of a warp and barrier objects are none.
    pub fn of(view: &View<'_>) -> Option<Self> {
        if view.effect() != Some(Effect::Barrier) {
            return None;
        }
        Some(match view.op()? {
            Op::BarArrive | Op::BarrierArrive => Self::Arrive,
            Op::BarrierClusterArrive | Op::BarrierClusterWait => Self::Cluster,
            _ => Self::Wait,
        })
    }
}

/// The functions that may wait at a barrier of the block, themselves or in a function that they call. Functions that
/// the module does not define may, except those of the CUDA runtime that every module may call.
pub fn functions_with_barriers(module: &Module, calls: &CallGraph) -> BitSet<FuncId> {
    const WITHOUT_BARRIER: &[&str] = &["vprintf", "malloc", "free", "__assertfail"];
    calls.callers_of(|id| {
        let Some(function) = id.map(|id| &module.functions[id]) else { return true };
        let Some(body) = &function.body else { return !WITHOUT_BARRIER.contains(&module.text(function.name)) };
        let views = body.iter().filter_map(|id| View::of(&module.forms, body, id));
        views.into_iter().any(|view| BarrierKind::of(&view) == Some(BarrierKind::Wait))
    })
}
