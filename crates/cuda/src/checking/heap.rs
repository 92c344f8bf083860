//! `malloc` and `free` of kernels.

use std::sync::Arc;

use super::{CheckedLaunch, What, get};

/// The memory of the device, under the eyes of the tools.
#[derive(Debug)]
pub(crate) struct CheckedHeap {
    /// The kernel that uses it.
    pub(crate) kernel: Arc<str>,
    /// The launch, if tools have rewritten the kernel.
    pub(crate) launch: Option<Arc<CheckedLaunch>>,
}

impl cpu::Heap for CheckedHeap {
    fn allocate(&self, bytes: u64) -> u64 {
        let Some(checker) = get() else { return 0 };
        let Some(all) = bytes.checked_add(checker.redzone()) else { return 0 };
        let address = checker.device.memory.allocate(all, 16).unwrap_or(0);
        if address != 0 {
            checker.appears(address, bytes, What::Heap(Arc::clone(&self.kernel)));
        }
        address
    }

    fn free(&self, address: u64) {
        let Some(checker) = get() else { return };
        if !checker.is_heap(address) {
            checker.freed_nothing_in_kernel(address, &self.kernel);
        } else if checker.freed_when(address, self.launch.as_ref().map(|launch| launch.now())) {
            checker.device.memory.free(address);
        }
    }
}
