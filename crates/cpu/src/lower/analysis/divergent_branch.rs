//! Branches at which lanes go different ways.

use ptx::analysis::{BitSet, Block, BranchUniformity, EdgeKind};
use ptx::ops::Op;

use super::Analyses;
use crate::options::Width;

/// A branch at which lanes go different ways.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DivergentBranch {
    /// The target that runs first.
    pub(crate) first: Block,
    pub(crate) second: Block,
    pub(crate) is_taken_first: bool,
    /// Whether nothing runs before the first.
    pub(crate) is_next: bool,
}

impl Analyses<'_> {
    /// Where control goes from a block by an edge of some kind.
    pub(crate) fn target(&self, block: Block, kind: EdgeKind) -> Option<Block> {
        self.cfg.edges(block).iter().find(|edge| edge.kind == kind).map(|edge| edge.target)
    }

    /// How lanes diverge at the end of a block; nothing if they all go the same way, or by a table.
    pub(crate) fn divergent_branch(&self, block: Block) -> Option<DivergentBranch> {
        let (taken, fall) = (self.target(block, EdgeKind::Taken)?, self.target(block, EdgeKind::FallThrough)?);
        if taken == fall || self.lanes_agree(block) {
            return None;
        }
        let here = self.layout.position(block);
        let (taken_at, fall_at) = (self.layout.position(taken), self.layout.position(fall));
        let is_taken_first = match (taken_at > here, fall_at > here) {
            (true, true) => taken_at <= fall_at,
            (is_forward, _) => !is_forward,
        };
        let (first, second) = if is_taken_first { (taken, fall) } else { (fall, taken) };
        let is_next = !self.comes_before(here, second, first) && self.layout.is_next(block, first);
        Some(DivergentBranch { first, second, is_taken_first, is_next })
    }

    /// The blocks for which lanes wait in memory. All others are entered straight from where their lanes come from.
    pub(crate) fn waited_for(&self) -> BitSet<Block> {
        let mut found = BitSet::new(self.cfg.len());
        if self.options.width == Width::Thread {
            return found;
        }
        for &block in &self.layout.order {
            for other in self.layout.pending_while(block) {
                found.insert(other);
            }
            let terminator = self.cfg.terminator(block).and_then(|statement| self.view(statement));
            let is_table = terminator.is_some_and(|view| view.op() == Some(Op::BrxIdx));
            let branch = self.divergent_branch(block);
            for &target in self.cfg.successors(block) {
                let is_direct = match &branch {
                    Some(branch) => branch.is_next && target == branch.first,
                    None => !is_table && self.layout.is_next(block, target),
                };
                if !is_direct {
                    found.insert(target);
                }
            }
        }
        found
    }

    /// Whether all lanes that run a block take the same way at its end.
    fn lanes_agree(&self, block: Block) -> bool {
        match &self.uniformity {
            None => true,
            Some(uniformity) => {
                uniformity.branch(block).is_none_or(|branch| branch.uniformity == BranchUniformity::Uniform)
            }
        }
    }

    /// Whether lanes that wait at `other` run before those that wait at `first`, although `first` was to be next.
    fn comes_before(&self, here: usize, other: Block, first: Block) -> bool {
        let (other, first_at) = (self.layout.position(other), self.layout.position(first));
        if first_at > here {
            return other > here && other < first_at;
        }
        // `first` is behind, at the start of a cycle: all that is in the cycle runs before.
        other <= here || self.layout.cycle_end(first).is_some_and(|end| other <= end)
    }
}
