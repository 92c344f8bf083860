//! Dominance frontiers: where what a block dominates meets what it does not.

use super::dominators::DominatorTree;
use super::graph::{Block, Graph};
use super::lists::Lists;
use crate::entity::Map;

/// The dominance frontier of each block: the blocks that it does not strictly dominate, but of which it dominates a
/// predecessor. Values that are written in the block have to be merged there.
#[derive(Clone, Debug)]
pub struct Frontiers {
    of: Lists<Block, Block>,
}

impl Frontiers {
    /// The frontiers hold about as many entries as there are blocks in all but contrived graphs, where they can have
    /// the square of it. Nothing is returned if it would be more than `limit`.
    pub fn of(graph: &Graph, dominators: &DominatorTree, limit: usize) -> Option<Self> {
        let mut pairs = Vec::new();
        // The join that was last entered in the frontier of each block: above such a block the same work was done.
        let mut entered = Map::<Block, _>::filled(graph.len(), None);
        for &join in graph.reverse_post_order() {
            let end = dominators.immediate(join);
            for &before in graph.predecessors(join) {
                let mut runner = Some(before).filter(|&before| graph.is_reachable(before));
                while let Some(block) = runner.filter(|_| runner != end) {
                    if entered[block].replace(join) == Some(join) {
                        break;
                    }
                    pairs.push((block, join));
                    runner = dominators.immediate(block);
                }
                if pairs.len() > limit {
                    return None;
                }
            }
        }
        Some(Self { of: Lists::from_pairs(graph.len(), &pairs) })
    }

    /// The frontier of a block.
    pub fn of_block(&self, block: Block) -> &[Block] {
        &self.of[block]
    }
}
