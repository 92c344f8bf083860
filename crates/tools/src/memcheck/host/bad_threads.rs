//! How many bad accesses threads have, on the device: one that has too many is stopped.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use toolkit::{Host, LaunchView, SharedWords};

/// The table that `device.ptx` counts in: in each slot the number of a thread, and of its bad accesses. Threads that run at one
/// time have numbers that follow one another, so they rarely share a slot. After the slots, the launch that was stopped last.
#[derive(Debug)]
pub(in super::super) struct BadThreads {
    table: Arc<dyn SharedWords>,
}

impl BadThreads {
    /// How many slots there are: a power of two.
    pub(in super::super) const SLOTS: usize = 1 << 14;
    /// A thread with so many bad accesses is stopped.
    pub(in super::super) const MOST_ACCESSES: u64 = 100_000;
    /// Which word of the table has the launch that was stopped.
    pub(in super::super) const STOPPED: usize = 2 * Self::SLOTS;

    pub(super) fn new(host: &dyn Host) -> io::Result<Self> {
        Ok(Self { table: host.words(Self::STOPPED + 1)? })
    }

    pub(super) fn address(&self) -> u64 {
        self.table.address()
    }

    /// What a launch adds to the numbers of its threads, so that they are not those of another.
    pub(super) fn key(launch: &LaunchView<'_>) -> u64 {
        launch.number << 44
    }

    /// Whether a thread of the launch was stopped.
    pub(super) fn have_stopped(&self, launch: &LaunchView<'_>) -> bool {
        self.table.words()[Self::STOPPED].load(Ordering::Relaxed) == Self::key(launch)
    }
}
