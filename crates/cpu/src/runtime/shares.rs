//! The blocks of a launch that have not begun: a share for each OS thread, from which others help themselves when theirs
//! is empty.
//!
//! Programs often launch kernels one after another over the same memory. Where a thread has the same share in each of
//! them, what it works on is in its core's cache; with one queue for all, every launch would draw it from another core's.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

/// Blocks that have not begun.
#[derive(Debug)]
pub(crate) struct Shares {
    shares: SmallVec<[Share; 4]>,
    /// Of how many shares threads begin with one of their own.
    owned: usize,
}

/// Blocks from the next one to an end, in lines of the cache that no other share is in.
#[derive(Debug)]
#[repr(align(128))]
struct Share {
    next: AtomicU64,
    end: u64,
}

impl Shares {
    /// Shares of the blocks that are left, for so many threads. With one, all threads take blocks in the order of their
    /// numbers.
    pub(crate) fn new(left: &[Range<u64>], threads: u64) -> Self {
        let shares = match left {
            [all] => {
                let bound =
                    |index: u64| all.start + ((all.end - all.start) as u128 * index as u128 / threads as u128) as u64;
                (0..threads).map(|index| Share::new(bound(index)..bound(index + 1))).collect()
            }
            _ => left.iter().cloned().map(Share::new).collect::<SmallVec<_>>(),
        };
        Self { owned: shares.len().min(threads as usize), shares }
    }

    /// Takes up to so many blocks, of a worker's own share if there are any.
    pub(crate) fn take(&self, worker: usize, at_a_time: u64) -> Option<Range<u64>> {
        let own = worker % self.owned.max(1);
        let (before, from) = self.shares.split_at(own);
        from.iter().chain(before).find_map(|share| share.take(at_a_time))
    }

    /// What nobody took.
    pub(crate) fn left(&self) -> Vec<Range<u64>> {
        let left = self.shares.iter().map(|share| share.next.load(Ordering::Relaxed)..share.end);
        left.filter(|blocks| !blocks.is_empty()).collect()
    }
}

impl Share {
    fn new(blocks: Range<u64>) -> Self {
        Self { next: AtomicU64::new(blocks.start), end: blocks.end }
    }

    fn take(&self, at_a_time: u64) -> Option<Range<u64>> {
        // Looked at first, so that a share that is empty stays where all can read it.
        if self.next.load(Ordering::Relaxed) >= self.end {
            return None;
        }
        let first = self.next.fetch_add(at_a_time, Ordering::Relaxed);
        (first < self.end).then(|| first..self.end.min(first + at_a_time))
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "one range of blocks is meant")]
mod tests {
    use super::Shares;

    #[test]
    fn workers_begin_with_their_own_and_go_on_with_others() {
        let shares = Shares::new(&[0..10], 3);
        assert_eq!(shares.take(1, 2), Some(3..5));
        assert_eq!(shares.take(4, 2), Some(5..6), "the fifth worker has the share of the second");
        assert_eq!(shares.take(1, 2), Some(6..8), "those behind one's own are next");
        assert_eq!(shares.left(), [0..3, 8..10]);
        assert_eq!(shares.take(1, 2), Some(8..10));
        assert_eq!(shares.take(1, 2), Some(0..2));
        assert_eq!(shares.take(2, 2), Some(2..3));
        assert_eq!(shares.take(2, 2), None);
        assert!(shares.left().is_empty());
    }

    #[test]
    fn what_was_left_is_shared_again() {
        let shares = Shares::new(&[0..3, 8..10], 2);
        assert_eq!(shares.take(1, 32), Some(8..10));
        assert_eq!(shares.take(0, 32), Some(0..3));
        assert_eq!(shares.take(0, 32), None);
        assert_eq!(Shares::new(&[], 2).take(1, 1), None);
    }

    #[test]
    fn one_share_is_in_order() {
        let shares = Shares::new(&[4..8, 10..12], 1);
        let order: Vec<_> = [3, 0, 1].iter().filter_map(|&worker| shares.take(worker, 2)).collect();
        assert_eq!(order, [4..6, 6..8, 10..12]);
    }

    #[test]
    fn shares_of_the_largest_grid_have_all_blocks() {
        let blocks = (1 << 31) * (1 << 16) * (1 << 16);
        let shares = Shares::new(&[0..blocks], 3);
        assert_eq!(shares.left().iter().map(|share| share.end - share.start).sum::<u64>(), blocks);
    }
}
