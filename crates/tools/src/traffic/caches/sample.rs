//! Which blocks of a launch are traced.
//!
//! Blocks are taken to go to multiprocessors in turn, so one has every n-th block. Traced are those that some of the multiprocessors
//! have at once, and as many that come after them, from the middle of the grid, where borders are far. Of how many multiprocessors
//! depends on how much memory there is for traces.

use std::collections::BTreeMap;
use std::ops::Range;

use gpu::Caches;

/// Bytes that the trace of a launch has at most.
const MOST_BYTES: u64 = 64 << 20;
/// How often the blocks of a multiprocessor are others.
const WAVES: u64 = 2;

/// The blocks of a launch that are traced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Sample {
    /// All that are traced are in here.
    pub(super) window: Range<u64>,
    /// Each with its place in the trace.
    pub(super) places: BTreeMap<u64, usize>,
    /// Of each architecture, the blocks of each multiprocessor.
    pub(super) multiprocessors: Vec<Vec<Vec<u64>>>,
}

impl Sample {
    /// Of so many blocks, each of which has so many warps with rows of so many bytes, for architectures of which each multiprocessor
    /// has so many at once.
    pub(super) fn of(blocks: u64, warps: u64, row: u64, architectures: &[(&Caches, u32)]) -> Self {
        let rows = MOST_BYTES / row / (architectures.len() as u64).max(1);
        let mut window = blocks / 2..blocks / 2;
        let mut multiprocessors = Vec::new();
        for (caches, resident) in architectures {
            let all = u64::from(caches.multiprocessors);
            let of_one = (u64::from(*resident).max(1) * WAVES).min(blocks.div_ceil(all)).max(1);
            let some = (rows / (of_one * warps.max(1))).clamp(1, all);
            let len = (all * of_one).min(blocks);
            let first = (blocks - len) / 2;
            window = window.start.min(first)..window.end.max(first + len);
            let of = |number: u64| (first..first + len).skip(number as usize).step_by(all as usize).collect();
            multiprocessors.push((0..some.min(len)).map(of).collect::<Vec<Vec<u64>>>());
        }
        let traced = multiprocessors.iter().flatten().flatten().copied();
        let traced: std::collections::BTreeSet<u64> = traced.collect();
        let places = traced.into_iter().enumerate().map(|(place, block)| (block, place)).collect();
        Self { window, places, multiprocessors }
    }
}

#[cfg(test)]
mod tests {
    use gpu::Architecture;

    use super::super::trace::MOST_ROW;
    use super::*;

    fn caches(name: &str) -> &'static Caches {
        Architecture::named(name).unwrap().caches()
    }

    #[test]
    fn small_grids_are_traced_whole() {
        let sample = Sample::of(10, 8, MOST_ROW, &[(caches("sm_21"), 6)]);
        assert_eq!((sample.window, sample.places.len()), (0..10, 10));
        assert_eq!(sample.multiprocessors[0], [vec![0, 4, 8], vec![1, 5, 9], vec![2, 6], vec![3, 7]]);
    }

    #[test]
    fn of_large_grids_the_middle_is_traced() {
        // 108 multiprocessors have 8 blocks at once, twice; there is room for four of them.
        let sample = Sample::of(1_000_000, 8, MOST_ROW, &[(caches("sm_80"), 8)]);
        assert_eq!(sample.window, 499_136..500_864);
        assert_eq!((sample.multiprocessors[0].len(), sample.places.len()), (4, 64));
        assert_eq!(sample.multiprocessors[0][1][..3], [499_137, 499_245, 499_353]);
        assert_eq!(sample.places.get(&499_137), Some(&1));
        // Small rows are enough for all of them.
        let sample = Sample::of(1_000_000, 8, 4096, &[(caches("sm_80"), 8)]);
        assert_eq!((sample.multiprocessors[0].len(), sample.places.len()), (108, 1728));
    }

    #[test]
    fn memory_is_bounded() {
        let all: Vec<(&Caches, u32)> = gpu::CACHES.iter().map(|caches| (caches, 2)).collect();
        for warps in [1, 32] {
            let sample = Sample::of(u64::from(u32::MAX), warps, MOST_ROW, &all);
            assert!(sample.places.len() as u64 * warps * MOST_ROW <= MOST_BYTES + 10 * 4 * 32 * MOST_ROW);
        }
    }
}
