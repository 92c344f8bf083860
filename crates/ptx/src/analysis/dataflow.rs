//! Facts that travel along control flow, 64 at a time.
//!
//! A fact is a bit: a register is live, a variable was named. It starts at some blocks, travels to their neighbours in
//! one direction, and stops at blocks that kill it. A block is visited again only when facts reach it that were not
//! there before, so 64 facts cost at most 64 visits of each block whatever the graph looks like, and one or two in
//! code that people or compilers write.

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
    /// Blocks in the order in which facts travel, except along retreating edges, and the place of each.
    order: Vec<Block>,
    rank: Map<Block, u32>,
    /// The ranks of blocks with pending facts.
    queue: Queue,
}

impl<'a> Propagation<'a> {
    pub(super) fn new(graph: &'a Graph, direction: Direction) -> Self {
        let zeros = || Map::filled(graph.len(), 0);
        let mut order = graph.reverse_post_order().to_vec();
        if direction == Direction::Backward {
            order.reverse();
        }
        order.extend(graph.blocks().filter(|&block| !graph.is_reachable(block)));
        let mut rank = Map::filled(graph.len(), 0);
        for (index, &block) in order.iter().enumerate() {
            rank[block] = index as u32;
        }
        let queue = Queue::new(graph.len());
        Self { graph, direction, facts: zeros(), kills: zeros(), pending: zeros(), order, rank, queue }
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
        self.pending[block] |= new;
        self.queue.insert(self.rank[block] as usize);
    }

    /// Lets facts travel until nothing changes.
    pub(super) fn run(&mut self) {
        let graph = self.graph;
        while let Some(rank) = self.queue.pop_least() {
            let block = self.order[rank];
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
}

/// A set of numbers below a bound, of which the least is found in a few steps. A heap does the same in five times the
/// time, because it moves its elements about.
struct Queue {
    /// A bit for each number, then a bit for each word before that is not zero, and so on up to a single word.
    levels: Vec<Vec<u64>>,
}

impl Queue {
    fn new(len: usize) -> Self {
        let mut levels = vec![vec![0; len.div_ceil(64).max(1)]];
        while let Some(below) = levels.last().filter(|below| below.len() > 1) {
            levels.push(vec![0; below.len().div_ceil(64)]);
        }
        Self { levels }
    }

    fn insert(&mut self, number: usize) {
        let mut index = number;
        for level in &mut self.levels {
            let word = &mut level[index / 64];
            let was_empty = *word == 0;
            *word |= 1 << (index % 64);
            if !was_empty {
                return;
            }
            index /= 64;
        }
    }

    fn pop_least(&mut self) -> Option<usize> {
        let mut least = 0;
        for level in self.levels.iter().rev() {
            let word = level[least];
            if word == 0 {
                return None;
            }
            least = least * 64 + word.trailing_zeros() as usize;
        }
        let mut index = least;
        for level in &mut self.levels {
            let word = &mut level[index / 64];
            *word &= !(1 << (index % 64));
            if *word != 0 {
                break;
            }
            index /= 64;
        }
        Some(least)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Fails if a number is lost, comes twice, or does not come in order; the bound is beyond two levels.
        #[test]
        fn a_queue_gives_the_least_number(steps in prop::collection::vec(prop::option::of(0_usize..10_000), 0..200)) {
            let mut queue = Queue::new(10_000);
            let mut model = BTreeSet::new();
            for step in steps {
                match step {
                    Some(number) => {
                        queue.insert(number);
                        model.insert(number);
                    }
                    None => prop_assert_eq!(queue.pop_least(), model.pop_first()),
                }
            }
            while let Some(number) = model.pop_first() {
                prop_assert_eq!(queue.pop_least(), Some(number));
            }
            prop_assert_eq!(queue.pop_least(), None);
        }
    }
}
