//! Dominance frontiers: where what a block dominates ends.

use super::dominators::DominatorTree;
use super::graph::{Block, Graph};
use super::lists::Lists;
use crate::entity::Map;

/// The dominance frontier of each block, or the post-dominance frontier.
#[derive(Clone, Debug)]
pub struct Frontiers {
    of: Lists<Block, Block>,
}

impl Frontiers {
    /// The dominance frontiers: of a block, the blocks that it does not strictly dominate, but of which it dominates a
    /// predecessor. Values that are written in the block meet others there.
    ///
    /// Frontiers have about as many entries as there are blocks in all but contrived graphs, where it can be the square
    /// of it. Nothing is returned if it would be more than `limit`.
    pub fn dominance(graph: &Graph, dominators: &DominatorTree, limit: usize) -> Option<Self> {
        Self::of(graph, dominators, limit, |block| graph.predecessors(block))
    }

    /// The post-dominance frontiers: of a block, the blocks that it does not strictly post-dominate, but of which it
    /// post-dominates a successor. That are the branches that decide whether control comes to the block, on which it is
    /// *control dependent* (J. Ferrante et al., The program dependence graph and its use in optimization, 1987).
    /// `limit` is as in [`Frontiers::dominance`].
    pub fn post_dominance(graph: &Graph, post_dominators: &DominatorTree, limit: usize) -> Option<Self> {
        Self::of(graph, post_dominators, limit, |block| graph.successors(block))
    }

    fn of<'a>(
        graph: &'a Graph,
        tree: &DominatorTree,
        limit: usize,
        neighbours: impl Fn(Block) -> &'a [Block],
    ) -> Option<Self> {
        let mut pairs = Vec::new();
        // The block that was last entered in the frontier of each block: above such a block the same work was done.
        let mut entered = Map::<Block, _>::filled(graph.len(), None);
        for &join in graph.reverse_post_order() {
            let end = tree.immediate(join);
            for &neighbour in neighbours(join) {
                let mut runner = Some(neighbour).filter(|&neighbour| graph.is_reachable(neighbour));
                while let Some(block) = runner.filter(|_| runner != end) {
                    if entered[block].replace(join) == Some(join) {
                        break;
                    }
                    pairs.push((block, join));
                    runner = tree.immediate(block);
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
