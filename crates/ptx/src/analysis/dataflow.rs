//! Facts that travel along control flow, 64 at a time.
//!
//! A fact is a bit: a register is live, a variable was named. It starts at some blocks, travels to their neighbours in
//! one direction, and stops at blocks that kill it. A block is visited again only when facts reach it that were not
//! there before, so 64 facts cost at most 64 visits of each block whatever the graph looks like, and one or two in
//! code that people or compilers write.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::{Block, Graph};
use crate::entity::Map;

/// More bits than this (256 MiB) are not kept, and conservative answers are given instead: a text of a few megabytes
/// can have a hundred thousand blocks and as many registers that are live in all of them. The largest kernels of
/// compilers (5,000 blocks, 30,000 registers, most of them used in one block only) stay below a tenth of it.
pub(super) const MAX_BITS: usize = 1 << 31;

/// Which way facts travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    /// From a block to its successors.
    Forward,
    /// From a block to its predecessors.
    Backward,
}

/// Solver for up to 64 facts at a time on one graph.
pub(super) struct Propagation<'a> {
    graph: &'a Graph,
    direction: Direction,
    /// What holds at the far end of each block: its start if facts travel backward, its end if forward.
    pub(super) facts: Map<Block, u64>,
    /// What does not get through each block.
    pub(super) kills: Map<Block, u64>,
    /// What each block has still to hand on.
    pending: Map<Block, u64>,
    /// Blocks with pending facts, by their place in the order in which facts travel.
    queue: BinaryHeap<Reverse<(u32, Block)>>,
}

impl<'a> Propagation<'a> {
    pub(super) fn new(graph: &'a Graph, direction: Direction) -> Self {
        let zeros = || Map::filled(graph.len(), 0);
        Self { graph, direction, facts: zeros(), kills: zeros(), pending: zeros(), queue: BinaryHeap::new() }
    }

    /// Forgets all facts and kills, for the next 64.
    pub(super) fn reset(&mut self) {
        self.facts.values_mut().for_each(|word| *word = 0);
        self.kills.values_mut().for_each(|word| *word = 0);
    }

    /// Makes facts hold at the far end of a block, whatever it kills.
    pub(super) fn start(&mut self, block: Block, facts: u64) {
        let new = facts & !self.facts[block];
        if new == 0 {
            return;
        }
        self.facts[block] |= new;
        if self.pending[block] == 0 {
            self.queue.push(Reverse((self.rank(block), block)));
        }
        self.pending[block] |= new;
    }

    /// Lets facts travel until nothing changes.
    pub(super) fn run(&mut self) {
        let graph = self.graph;
        while let Some(Reverse((_, block))) = self.queue.pop() {
            let facts = std::mem::take(&mut self.pending[block]);
            let neighbours = match self.direction {
                Direction::Forward => graph.successors(block),
                Direction::Backward => graph.predecessors(block),
            };
            for &next in neighbours {
                self.start(next, facts & !self.kills[next]);
            }
        }
    }

    /// Blocks that facts come from first have low ranks, except along retreating edges.
    fn rank(&self, block: Block) -> u32 {
        match (self.graph.position(block), self.direction) {
            (None, _) => u32::MAX,
            (Some(position), Direction::Forward) => position as u32,
            (Some(position), Direction::Backward) => u32::MAX - 1 - position as u32,
        }
    }
}
