//! Cyclomatic complexity: how many independent paths lead through a function.

use super::cfg::Cfg;
use crate::form::Forms;
use crate::ir::{Body, Function};
use crate::ops::Op;
use crate::view::View;

/// How many decisions a function takes, by branching and otherwise.
///
/// Compilers turn small branches into selections and guarded instructions, so that two versions of one program are only
/// comparable if those are known too.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Complexity {
    /// Ways that control can go on from the reachable blocks, leaving the function included, minus one for each block.
    /// A branch whose outcomes lead to the same block is no decision.
    pub decisions: usize,
    /// The reachable blocks, and one more that stands for having left.
    pub nodes: usize,
    /// The ways between them.
    pub edges: usize,
    /// Selections between two values by `selp` and `slct`.
    pub selects: usize,
    /// Guarded instructions other than branches, `ret`, `exit` and `trap`, which are decisions.
    pub predicated: usize,
}

impl Complexity {
    /// Counts the reachable part of a function.
    pub fn of(forms: &Forms, function: &Function, cfg: &Cfg) -> Self {
        let mut complexity = Self::default();
        let empty = Body::new();
        let body = function.body.as_ref().unwrap_or(&empty);
        for &block in cfg.graph().reverse_post_order() {
            let ways = cfg.successors(block).len() + usize::from(cfg.is_exit(block));
            complexity.decisions += ways.saturating_sub(1);
            complexity.edges += ways;
            complexity.nodes += 1;
            for (id, inst) in cfg.insts(body, block) {
                let view = View::of(forms, body, id).expect("the statement is an instruction");
                complexity.selects += usize::from(matches!(view.op(), Some(Op::Selp | Op::Slct)));
                let is_predicated = inst.guard.is_some() && cfg.terminator(block) != Some(id);
                complexity.predicated += usize::from(is_predicated);
            }
        }
        complexity.nodes += 1;
        complexity
    }

    /// McCabe's number: edges minus nodes plus two, where leaving the function is an edge to one more node
    /// (T. J. McCabe, A complexity measure, 1976).
    pub fn cyclomatic(&self) -> usize {
        self.decisions + 1
    }
}
