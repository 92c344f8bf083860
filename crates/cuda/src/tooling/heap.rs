//! `malloc` and `free` of kernels.

use std::sync::Arc;

use super::{AllocationKind, InstrumentedLaunch, get};

/// The memory of the device, under the eyes of the tools.
#[derive(Debug)]
pub(crate) struct ToolHeap {
    /// The kernel that uses it.
    pub(crate) kernel: Arc<str>,
    /// The launch, if tools have rewritten the kernel.
    pub(crate) launch: Option<Arc<InstrumentedLaunch>>,
}

impl device::Heap for ToolHeap {
    fn allocate(&self, bytes: u64) -> u64 {
        let Some(tool_host) = get() else { return 0 };
        let Some(all) = bytes.checked_add(tool_host.redzone()) else { return 0 };
        let address = tool_host.device.memory().allocate(all, 16).unwrap_or(0);
        if address != 0 {
            tool_host.on_alloc(address, bytes, AllocationKind::Heap(Arc::clone(&self.kernel)));
        }
        address
    }

    fn free(&self, address: u64) {
        let Some(tool_host) = get() else { return };
        if !tool_host.is_heap(address) {
            tool_host.on_invalid_free_in_kernel(address, &self.kernel);
        } else if tool_host.on_free_at(address, self.launch.as_ref().map(|launch| launch.now())) {
            tool_host.device.memory().free(address);
        }
    }
}
