//! What tools have made of a kernel, and what was reported of it.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use rewrite::{KernelVersions, Sites};
use rustc_hash::FxHashMap;

use super::shared_words::ToolWords;

/// The module of a kernel that tools have rewritten.
#[derive(Debug)]
pub(crate) struct InstrumentedModule {
    pub(super) sites: Sites,
    pub(super) versions: KernelVersions,
    /// How often something happened at each site.
    pub(super) counters: ToolWords,
    /// What is known of each site where something was found.
    pub(super) reported: Mutex<FxHashMap<u32, Reported>>,
}

impl InstrumentedModule {
    /// What was counted until now: then nothing is.
    pub(super) fn take_counters(&self) -> Vec<u64> {
        self.counters.iter().map(|counter| counter.swap(0, Ordering::Relaxed)).collect()
    }

    /// Sets what was counted.
    pub(super) fn set_counters(&self, counts: &[u64]) {
        for (counter, &count) in self.counters.iter().zip(counts) {
            counter.store(count, Ordering::Relaxed);
        }
    }
}

/// What was reported of a site.
#[derive(Debug, Default)]
pub(super) struct Reported {
    /// Which variants of records.
    pub(super) variants: Vec<u64>,
    /// The number of the first finding, and how often it was reported.
    pub(super) finding: Option<(usize, u64)>,
}
