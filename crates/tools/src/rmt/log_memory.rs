//! The memory in which pairs of blocks have their logs.
//!
//! A launch has it for itself, and gives it back when it has ended. Before the next launch, its counters are zero again.

use std::any::Any;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use rewrite::{LaunchShape, Refusal};
use toolkit::{Host, SharedWords};

use super::TOOL;
use super::layout::threads;
use super::slots::{GLOBAL_COUNTERS, GLOBAL_ENTRIES, SLOT, TICKET};

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

/// How much memory the log of a launch has.
#[derive(Clone, Copy, Debug)]
struct Room {
    /// How many pairs of blocks have a log at a time: 2 to the power of this.
    regions: u32,
    /// Bytes before the entries.
    counters: u64,
    /// Words in all.
    words: usize,
}

impl Room {
    /// For a launch; nothing if no memory can be that large.
    fn of(shape: &LaunchShape) -> Option<Self> {
        let threads = u64::from(threads(shape.block));
        let blocks = shape.grid.iter().map(|&size| u64::from(size)).product::<u64>();
        let shift = blocks.clamp(1, MOST_REGIONS).ilog2();
        let regions = 1 << shift;
        let counters = (u64::from(TICKET) + regions * threads * u64::from(GLOBAL_COUNTERS)).next_multiple_of(64);
        let bytes = counters + regions * threads * u64::from(GLOBAL_ENTRIES * SLOT);
        Some(Self { regions: shift, counters, words: usize::try_from(bytes / 8).ok()? })
    }
}

impl Pool {
    /// Why a launch cannot have a log, if so.
    pub(super) fn refusal(&self, host: &dyn Host, shape: &LaunchShape) -> Option<Refusal> {
        let Some(words) = Room::of(shape).and_then(|room| self.take(host, room)) else {
            return Some(Refusal::new(TOOL, "no-memory", "there is no memory for the log of its blocks"));
        };
        self.give_back(words);
        None
    }

    fn take(&self, host: &dyn Host, room: Room) -> Option<Arc<dyn SharedWords>> {
        let mut unused = self.unused.lock().unwrap_or_else(PoisonError::into_inner);
        let found = unused.iter().position(|words| words.words().len() >= room.words);
        match found.map(|index| unused.swap_remove(index)) {
            Some(words) => Some(words),
            None => {
                drop(unused);
                host.words(room.words).ok()
            }
        }
    }

    fn give_back(&self, words: Arc<dyn SharedWords>) {
        let mut unused = self.unused.lock().unwrap_or_else(PoisonError::into_inner);
        if unused.len() < MOST_KEPT {
            unused.push(words);
        }
    }
}

impl LogMemory {
    /// For a launch; nothing if there is no memory for it.
    pub(super) fn new(pool: &Arc<Pool>, host: &dyn Host, shape: &LaunchShape) -> Option<Self> {
        let room = Room::of(shape)?;
        let words = pool.take(host, room)?;
        for word in &words.words()[..usize::try_from(room.counters / 8).ok()?] {
            word.store(0, Ordering::Relaxed);
        }
        Some(Self { pool: Arc::clone(pool), words, regions: room.regions, counters: room.counters })
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
        self.pool.give_back(Arc::clone(&self.words));
    }
}

#[cfg(test)]
mod tests {
    use super::super::listener::Listener;
    use super::*;

    #[test]
    fn a_launch_without_memory_for_its_log_is_refused() {
        let shape = LaunchShape { grid: [8, 1, 1], block: [64, 1, 1], dynamic_shared: 0, is_cooperative: false };
        let refusal = Pool::default().refusal(&Listener::default(), &shape).expect("it has no memory");
        assert_eq!(refusal.code, "no-memory");
    }
}
