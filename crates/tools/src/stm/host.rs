//! The tool in a process: what became of transactions, kernel by kernel.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use report::{Cell, Row, demangled};
use toolkit::{Host, Instance, SiteCount};

use super::{ATTEMPTS, TOOL};

#[derive(Debug)]
pub(super) struct StmInstance {
    host: Arc<dyn Host>,
    /// Attempts and commits of each kernel.
    kernels: Mutex<BTreeMap<String, (u64, u64)>>,
}

impl StmInstance {
    pub(super) fn new(host: &Arc<dyn Host>) -> Self {
        Self { host: Arc::clone(host), kernels: Mutex::default() }
    }
}

impl Instance for StmInstance {
    fn on_counts(&self, counts: &[SiteCount<'_>]) {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        for SiteCount { site, kernel, count, .. } in counts {
            let (attempts, commits) = kernels.entry(demangled(kernel)).or_default();
            let counted = if site.word == ATTEMPTS { attempts } else { commits };
            *counted = counted.saturating_add(*count);
        }
    }

    fn finish(&self) {
        let kernels = std::mem::take(&mut *self.kernels.lock().unwrap_or_else(PoisonError::into_inner));
        for (kernel, (attempts, commits)) in kernels {
            let row = Row::new(TOOL, "transactions").with("kernel", Cell::Text(kernel));
            // A launch that was ended has attempts that are neither.
            let aborts = attempts.saturating_sub(commits);
            self.host.row(row.with("commits", Cell::Count(commits)).with("aborts", Cell::Count(aborts)));
        }
    }
}
