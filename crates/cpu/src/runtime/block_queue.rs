//! Which blocks of a launch begin next, and on which OS thread.
//!
//! Blocks begin in the order of their numbers, as on GPUs: there are programs that count on it, although nobody promised it
//! to them. And a thread gets the same blocks in each launch if it can: programs often launch kernels one after another
//! over the same memory, and what a thread works on is then in the cache of its core.
//!
//! So blocks are dealt in rounds, with a chunk of neighbouring blocks for each thread. A thread takes its own chunk of the
//! round, another one's if its own is gone, and begins the next round when all chunks of this one are gone.
//!
//! With one long share of the launch for each thread, a program of the wild that depends on blocks before its own gave
//! wrong results. Where blocks do wait for each other, chunks have one block.
//!
//! A launch may run a part of its grid: what is dealt are places among the blocks that run, and `take` gives the numbers
//! that blocks have in the grid.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use device::Blocks;

/// The blocks of a launch, while they are dealt.
#[derive(Debug)]
pub(crate) struct BlockQueue {
    /// The number of the round, above a bit for each of its chunks that is gone.
    state: AtomicU64,
    /// How many blocks run.
    blocks: u64,
    numbers: Numbers,
    /// How many blocks there are in a chunk.
    chunk: u64,
    /// How many chunks there are in a round.
    chunks: u32,
}

/// The numbers of the blocks that run, by their places.
#[derive(Debug)]
enum Numbers {
    /// One after the other from this one on.
    From(u64),
    /// These.
    Listed(Vec<u64>),
}

/// Bits for the chunks of a round. So many threads have a chunk of their own; it leaves more rounds than a launch can live to
/// see.
const MOST_HANDS: u32 = 16;

impl BlockQueue {
    /// Blocks of a grid for so many threads, with so many in a chunk.
    pub(crate) fn new(blocks: Blocks<'_>, grid: [u32; 3], threads: u64, chunk: u64) -> Self {
        let all = Blocks::All.count(grid);
        let (numbers, chunk) = match blocks {
            Blocks::All => (Numbers::From(0), chunk.max(1)),
            Blocks::Range(first, _) => (Numbers::From(first), chunk.max(1)),
            // Those of a chunk have neighbouring numbers.
            Blocks::List(list) => (Numbers::Listed(list.iter().copied().filter(|&block| block < all).collect()), 1),
        };
        let chunks = threads.clamp(1, MOST_HANDS.into()) as u32;
        Self { state: AtomicU64::new(0), blocks: blocks.count(grid), numbers, chunk, chunks }
    }

    /// The same, in the order of the numbers.
    pub(crate) fn ascending(mut self) -> Self {
        if let Numbers::Listed(list) = &mut self.numbers {
            list.sort_unstable();
        }
        self
    }

    /// The numbers of the next blocks of a thread, which are neighbours; nothing if all are gone.
    pub(crate) fn take(&self, thread: usize) -> Option<Range<u64>> {
        let own = thread as u32 % self.chunks;
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let (round, gone) = self.round(state);
            let is_there = gone >> own & 1 == 0 && self.first_block(round, own) < self.blocks;
            let place = if is_there { own } else { gone.trailing_ones() };
            let first = self.first_block(round, place);
            if first >= self.blocks {
                return None;
            }
            let taken = round << MOST_HANDS | gone | 1 << place;
            match self.state.compare_exchange_weak(state, taken, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(self.numbers_of(first..self.blocks.min(first + self.chunk))),
                Err(now) => state = now,
            }
        }
    }

    fn numbers_of(&self, places: Range<u64>) -> Range<u64> {
        match &self.numbers {
            Numbers::From(first) => first + places.start..first + places.end,
            // There is one in a chunk.
            Numbers::Listed(list) => list[places.start as usize]..list[places.start as usize] + 1,
        }
    }

    /// How many blocks there are, gone or not.
    pub(crate) fn len(&self) -> u64 {
        self.blocks
    }

    /// Whether all blocks are gone.
    pub(crate) fn is_over(&self) -> bool {
        let (round, gone) = self.round(self.state.load(Ordering::Relaxed));
        self.first_block(round, gone.trailing_ones()) >= self.blocks
    }

    /// The round that chunks are taken of, and those of it that are gone.
    fn round(&self, state: u64) -> (u64, u64) {
        let (round, gone) = (state >> MOST_HANDS, state & ((1 << MOST_HANDS) - 1));
        if gone.trailing_ones() == self.chunks { (round + 1, 0) } else { (round, gone) }
    }

    fn first_block(&self, round: u64, place: u32) -> u64 {
        (round * u64::from(self.chunks) + u64::from(place)) * self.chunk
    }
}

#[cfg(test)]
mod tests {
    use device::Blocks;

    use super::BlockQueue;

    fn row(blocks: u32, threads: u64, chunk: u64) -> BlockQueue {
        BlockQueue::new(Blocks::All, [blocks, 1, 1], threads, chunk)
    }

    #[test]
    fn threads_have_a_hand_of_each_round() {
        let queue = row(13, 2, 2);
        assert_eq!(queue.take(1), Some(2..4));
        assert_eq!(queue.take(0), Some(0..2));
        assert_eq!(queue.take(1), Some(6..8));
        assert_eq!(queue.take(1), Some(4..6), "the other one is late");
        assert_eq!(queue.take(0), Some(8..10));
        assert_eq!(queue.take(3), Some(10..12), "the fourth thread has the chunks of the second");
        assert!(!queue.is_over());
        assert_eq!(queue.take(1), Some(12..13), "there is no chunk of its own in the last round");
        assert!(queue.is_over());
        assert_eq!((queue.take(0), queue.take(1)), (None, None));
    }

    #[test]
    fn for_one_thread_blocks_come_in_order() {
        let queue = row(3, 1, 1);
        let order: Vec<_> = [5, 0, 2].iter().filter_map(|&thread| queue.take(thread)).collect();
        assert_eq!(order, [0..1, 1..2, 2..3]);
        assert!(queue.is_over());
    }

    #[test]
    fn all_blocks_are_dealt_once_and_none_early() {
        for (blocks, threads, chunk) in [(1, 1, 1), (7, 3, 2), (1000, 16, 3), (1000, 40, 32), (4096, 5, 1)] {
            let queue = row(blocks, threads, chunk);
            let mut is_dealt = vec![false; blocks as usize];
            let mut state = 1_u64;
            while !queue.is_over() {
                // Threads come in any order.
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let taken = queue.take((state >> 40) as usize % threads as usize).expect("there are blocks left");
                for block in taken {
                    assert!(!std::mem::replace(&mut is_dealt[block as usize], true), "{block} was dealt twice");
                    // All chunks of the rounds before are gone.
                    let round = block / (16.min(threads) * chunk) * 16.min(threads) * chunk;
                    assert!(is_dealt[..round as usize].iter().all(|&is_dealt| is_dealt), "{block} came early");
                }
            }
            assert!(is_dealt.iter().all(|&is_dealt| is_dealt));
        }
    }

    #[test]
    fn a_part_of_a_grid_is_dealt_by_the_numbers_of_its_blocks() {
        let all = |queue: BlockQueue| std::iter::from_fn(move || queue.take(0)).flatten().collect::<Vec<_>>();
        let grid = [4, 3, 1];
        assert_eq!(all(BlockQueue::new(Blocks::Range(3, 8), grid, 1, 2)), [3, 4, 5, 6, 7]);
        assert_eq!(all(BlockQueue::new(Blocks::Range(10, 99), grid, 2, 1)), [10, 11], "the grid ends there");
        assert_eq!(all(BlockQueue::new(Blocks::Range(8, 3), grid, 1, 1)), [0; 0]);
        let list = [7, 2, 12, 11];
        assert_eq!(all(BlockQueue::new(Blocks::List(&list), grid, 1, 4)), [7, 2, 11]);
        assert_eq!(all(BlockQueue::new(Blocks::List(&list), grid, 1, 4).ascending()), [2, 7, 11]);
    }

    #[test]
    fn the_largest_grid_has_an_end() {
        let queue = BlockQueue::new(Blocks::All, [1 << 31, 1 << 16, 1 << 16], 3, 32);
        assert_eq!(queue.take(0), Some(0..32));
        assert!(!queue.is_over());
    }
}
