//! Control flow as a bare graph: what the graph algorithms need to know of a function, and no more.

use super::bitset::BitSet;
use super::lists::Lists;
use crate::entity::{Map, define_id};

define_id! {
    /// A basic block of a function.
    Block "block"
}

/// Blocks and edges between them. There is at most one edge from one block to another.
#[derive(Clone, Debug)]
pub struct Graph {
    entry: Block,
    successors: Lists<Block, Block>,
    predecessors: Lists<Block, Block>,
    exits: BitSet<Block>,
    reverse_post_order: Vec<Block>,
    position: Map<Block, u32>,
}

/// The position of a block that cannot be reached.
const UNREACHABLE: u32 = u32::MAX;

impl Graph {
    /// A graph of `blocks` blocks. Edges that come twice count once. `exits` are the blocks from which control may
    /// leave the function; they may have successors too.
    pub fn new(blocks: usize, entry: Block, edges: &[(Block, Block)], exits: impl IntoIterator<Item = Block>) -> Self {
        let edges = without_repetitions(&Lists::from_pairs(blocks, edges));
        let successors = Lists::from_pairs(blocks, &edges);
        let reversed: Vec<_> = edges.iter().map(|&(from, to)| (to, from)).collect();
        let predecessors = Lists::from_pairs(blocks, &reversed);
        let mut leaving = BitSet::new(blocks);
        leaving.extend(exits);

        let mut reverse_post_order = post_order(&successors, entry);
        reverse_post_order.reverse();
        let mut position = Map::filled(blocks, UNREACHABLE);
        for (index, &block) in reverse_post_order.iter().enumerate() {
            position[block] = index as u32;
        }
        Self { entry, successors, predecessors, exits: leaving, reverse_post_order, position }
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.successors.len()
    }

    /// Whether there is no block. No function is so.
    pub fn is_empty(&self) -> bool {
        self.successors.is_empty()
    }

    /// All blocks, in the order of the text.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = Block> + ExactSizeIterator + use<> {
        self.successors.ids()
    }

    /// Where control enters.
    pub fn entry(&self) -> Block {
        self.entry
    }

    /// Where control may go from a block, without repetitions; the block that follows in the text comes first.
    pub fn successors(&self, block: Block) -> &[Block] {
        &self.successors[block]
    }

    /// From where control may come, unreachable blocks included.
    pub fn predecessors(&self, block: Block) -> &[Block] {
        &self.predecessors[block]
    }

    /// Whether control may leave the function from the block.
    pub fn is_exit(&self, block: Block) -> bool {
        self.exits.contains(block)
    }

    /// The blocks from which control may leave the function.
    pub fn exits(&self) -> impl Iterator<Item = Block> {
        self.exits.iter()
    }

    /// The reachable blocks, each before its successors except along retreating edges. The body of a loop comes before
    /// what follows the loop, as far as the text has it so.
    pub fn reverse_post_order(&self) -> &[Block] {
        &self.reverse_post_order
    }

    /// The reachable blocks, each after its successors except along retreating edges.
    pub fn post_order(&self) -> impl ExactSizeIterator<Item = Block> + DoubleEndedIterator {
        self.reverse_post_order.iter().rev().copied()
    }

    /// The place of a block in [`Graph::reverse_post_order`]; nothing if it is unreachable.
    pub fn position(&self, block: Block) -> Option<usize> {
        let position = self.position[block];
        (position != UNREACHABLE).then_some(position as usize)
    }

    /// Whether control can come to the block.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.position[block] != UNREACHABLE
    }

    /// Whether the edge goes back, or to its own source, in the order of [`Graph::reverse_post_order`]. Every cycle has
    /// such an edge.
    pub fn is_retreating(&self, from: Block, to: Block) -> bool {
        self.is_reachable(from) && self.position[to] <= self.position[from]
    }

    pub(super) fn successor_lists(&self) -> &Lists<Block, Block> {
        &self.successors
    }

    pub(super) fn predecessor_lists(&self) -> &Lists<Block, Block> {
        &self.predecessors
    }
}

fn without_repetitions(edges: &Lists<Block, Block>) -> Vec<(Block, Block)> {
    let mut unique = Vec::with_capacity(edges.items().len());
    // The last block with an edge to each block: the edges of one block come together.
    let mut seen_from = Map::<Block, _>::filled(edges.len(), None);
    for from in edges.ids() {
        for &to in &edges[from] {
            if seen_from[to].replace(from) != Some(from) {
                unique.push((from, to));
            }
        }
    }
    unique
}

/// The last successor is visited first, so that in reverse the block that follows in the text comes first.
fn post_order(successors: &Lists<Block, Block>, entry: Block) -> Vec<Block> {
    let mut order = Vec::new();
    let mut seen = BitSet::new(successors.len());
    seen.insert(entry);
    let mut stack = vec![(entry, successors[entry].len())];
    while let Some((block, unvisited)) = stack.last_mut() {
        if *unvisited == 0 {
            order.push(*block);
            stack.pop();
        } else {
            *unvisited -= 1;
            let next = successors[*block][*unvisited];
            if seen.insert(next) {
                stack.push((next, successors[next].len()));
            }
        }
    }
    order
}
