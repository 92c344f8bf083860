//! The memory in which pairs of blocks have their logs.
//!
//! A launch has it for itself, and gives it back when it has ended. Before the next launch, its counters are zero again.

use std::any::Any;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use toolkit::{Host, SharedWords};

use super::layout::threads;
use super::slots::{GLOBAL_COUNTERS, GLOBAL_ENTRIES, SLOT, TICKET};
use rewrite::LaunchShape;

/// More pairs of blocks do not have a log at a time: others wait for their turn.
const MOST_REGIONS: u64 = 64;
/// How many unused memories are kept.
const MOST_KEPT: usize = 4;

/// Memories that no launch has.
#[derive(Debug, Default)]
pub(super) struct Pool {
    unused: Mutex<Vec<Arc<dyn SharedWords>>>,
}

/// The log of a launch.
#[derive(Debug)]
pub(super) struct LogMemory {
    pool: Arc<Pool>,
    words: Arc<dyn SharedWords>,
    /// How many pairs of blocks have a log at a time: 2 to the power of this.
    pub(super) regions: u32,
    /// Bytes before the entries.
    counters: u64,
}

impl LogMemory {
    /// For a launch; nothing if there is no memory for it.
    pub(super) fn new(pool: &Arc<Pool>, host: &dyn Host, shape: &LaunchShape) -> Option<Self> {
        let threads = u64::from(threads(shape.block));
        let blocks = shape.grid.iter().map(|&size| u64::from(size)).product::<u64>();
        let shift = blocks.clamp(1, MOST_REGIONS).ilog2();
        let regions = 1 << shift;
        let counters = (u64::from(TICKET) + regions * threads * u64::from(GLOBAL_COUNTERS)).next_multiple_of(64);
        let bytes = counters + regions * threads * u64::from(GLOBAL_ENTRIES * SLOT);
        let count = usize::try_from(bytes / 8).ok()?;
        let mut unused = pool.unused.lock().unwrap_or_else(PoisonError::into_inner);
        let found = unused.iter().position(|words| words.words().len() >= count).map(|index| unused.swap_remove(index));
        drop(unused);
        let words = match found {
            Some(words) => words,
            None => host.words(count).ok()?,
        };
        for word in &words.words()[..usize::try_from(counters / 8).ok()?] {
            word.store(0, Ordering::Relaxed);
        }
        Some(Self { pool: Arc::clone(pool), words, regions: shift, counters })
    }

    pub(super) fn address(&self) -> u64 {
        self.words.address()
    }

    pub(super) fn entries(&self) -> u64 {
        self.address() + self.counters
    }

    /// To be kept until the launch has ended.
    pub(super) fn kept(self) -> Arc<dyn Any + Send + Sync> {
        Arc::new(self)
    }
}

impl Drop for LogMemory {
    fn drop(&mut self) {
        let mut unused = self.pool.unused.lock().unwrap_or_else(PoisonError::into_inner);
        if unused.len() < MOST_KEPT {
            unused.push(Arc::clone(&self.words));
        }
    }
}
