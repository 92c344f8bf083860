//! How launches ran, and what kernels count of the one that is checked.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::memory::LaunchMemory;
use super::{BYTES, CHANGED, MOST_CONFLICTS, NOTED_ADDRESS, NOTES, TOGETHER_COUNT};

/// What kernels count of the launch that is checked. There is one at a time: its plan has the device to itself.
#[derive(Debug)]
pub(super) struct Counts {
    /// At the places that `device.ptx` knows.
    words: Box<[AtomicU64]>,
}

impl Default for Counts {
    fn default() -> Self {
        Self { words: (0..NOTES / 8 + MOST_CONFLICTS).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Counts {
    /// Where kernels find them.
    pub(super) fn address(&self) -> u64 {
        self.words.as_ptr() as u64
    }

    pub(super) fn reset(&self) {
        self.words[..NOTES as usize / 8].iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// Whether lanes of a warp rely on lockstep: one has read a place that a later one had written, and which none wrote after a
    /// later one accessed it. Where lanes disturb each other, as in `a[i]++`, they do both.
    pub(super) fn tell_of_lockstep(&self) -> bool {
        let count = self.get(TOGETHER_COUNT).min(MOST_CONFLICTS) as usize;
        let notes = self.words[NOTES as usize / 8..][..count].iter().map(|word| word.load(Ordering::Relaxed));
        let (changed, read): (Vec<u64>, Vec<u64>) = notes.partition(|note| note & CHANGED != 0);
        let bytes = |note: u64| {
            let start = note >> NOTED_ADDRESS;
            start..start + (note & u64::from(BYTES))
        };
        let changed: FxHashSet<u64> = changed.into_iter().flat_map(bytes).collect();
        read.into_iter().any(|note| bytes(note).all(|byte| !changed.contains(&byte)))
    }

    #[cfg(test)]
    pub(super) fn set(&self, place: u64, count: u64) {
        self.words[place as usize / 8].store(count, Ordering::Relaxed);
    }

    /// Four bytes that a lane reads, or writes, too late.
    #[cfg(test)]
    pub(super) fn note(&self, address: u64, is_write: bool) {
        let count = self.words[TOGETHER_COUNT as usize / 8].fetch_add(1, Ordering::Relaxed);
        self.set(NOTES + 8 * count, address << NOTED_ADDRESS | 4 | if is_write { CHANGED } else { 0 });
    }

    /// The count at a place.
    pub(super) fn get(&self, place: u64) -> u64 {
        self.words[place as usize / 8].load(Ordering::Relaxed)
    }
}

/// How launches of a kernel ran: the kernel, how, and why in that way.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Entry {
    pub(super) kernel: String,
    pub(super) how: &'static str,
    pub(super) why: String,
}

/// What became of launches that ran in one way.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Launches {
    pub(super) count: u64,
    /// How many of them ran again.
    pub(super) again: u64,
    pub(super) conflicts: u64,
    /// What the largest took of memory.
    pub(super) memory: LaunchMemory,
}

/// How launches ran.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) counts: Counts,
    launches: Mutex<BTreeMap<Entry, Launches>>,
    /// How many launches of a kernel in a row ran again, or serially at once.
    in_a_row: Mutex<FxHashMap<String, u32>>,
}

/// How launches run that run one thread after another, at once.
pub(super) const SERIAL: &str = "serial";
/// A kernel is checked seldom if so many launches in a row ran again.
const MOST_IN_A_ROW: u32 = 3;
/// That seldom.
const CHECKED_EVERY: u32 = 16;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ledger {
    /// A launch has run; whether it did so twice, how many accesses came too late, and what it took of memory. Gives how many did
    /// so in the same way.
    pub(super) fn add(&self, entry: &Entry, again: bool, conflicts: u64, memory: LaunchMemory) -> u64 {
        let mut launches = lock(&self.launches);
        let launches = launches.entry(entry.clone()).or_default();
        launches.count += 1;
        launches.again += u64::from(again);
        launches.conflicts += conflicts;
        launches.memory = launches.memory.max(memory);
        let count = launches.count;
        let mut in_a_row = lock(&self.in_a_row);
        let in_a_row = in_a_row.entry(entry.kernel.clone()).or_default();
        *in_a_row = if again || entry.how == SERIAL { *in_a_row + 1 } else { 0 };
        count
    }

    /// Whether a kernel will most likely conflict, so that a check of its next launch is in vain. Now and then one is checked
    /// all the same.
    pub(super) fn will_conflict(&self, kernel: &str) -> bool {
        let in_a_row = lock(&self.in_a_row).get(kernel).copied().unwrap_or_default();
        in_a_row >= MOST_IN_A_ROW && !in_a_row.is_multiple_of(CHECKED_EVERY)
    }

    /// All of it, when the process ends.
    pub(super) fn take(&self) -> BTreeMap<Entry, Launches> {
        std::mem::take(&mut lock(&self.launches))
    }
}
