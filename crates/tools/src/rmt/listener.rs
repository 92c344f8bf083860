//! A process for tests.

use std::sync::{Arc, Mutex, MutexGuard};

use report::{Finding, Row};
use toolkit::{Host, HostStack, Objects, Plane, PlaneLayout};

/// A process that only listens, and has no memory for tools.
#[derive(Debug, Default)]
pub(super) struct Listener {
    pub(super) found: Mutex<Vec<Finding>>,
}

impl Host for Listener {
    fn memory(&self) -> &dyn device::Memory {
        unreachable!("plans do not ask for it")
    }

    fn shared_range(&self) -> Option<(u64, u64)> {
        None
    }

    fn most_shared(&self) -> u64 {
        0
    }

    fn objects(&self) -> MutexGuard<'_, Objects> {
        unreachable!("plans do not ask for them")
    }

    fn plane(&self, _: PlaneLayout) -> std::io::Result<Box<dyn Plane>> {
        unreachable!("plans do not ask for one")
    }

    fn words(&self, _: usize) -> std::io::Result<Arc<dyn toolkit::SharedWords>> {
        Err(std::io::ErrorKind::OutOfMemory.into())
    }

    fn has_memory_at(&self, _: u64) -> bool {
        false
    }

    fn stack(&self) -> HostStack {
        HostStack::default()
    }

    fn found(&self, finding: Finding) {
        self.found.lock().unwrap().push(finding);
    }

    fn row(&self, _: Row) {}

    fn not_checked(&self, _: &str) {}

    fn say(&self, _: &str) {}

    fn is_in_stream(&self) -> bool {
        false
    }
}
