//! `malloc` and `free` of kernels.

use super::{What, get};

/// The memory of the device, under the eyes of the tools.
#[derive(Debug)]
pub(crate) struct CheckedHeap;

impl cpu::Heap for CheckedHeap {
    fn allocate(&self, bytes: u64) -> u64 {
        let Some(checker) = get() else { return 0 };
        let Some(all) = bytes.checked_add(checker.redzone()) else { return 0 };
        let address = checker.device.memory.allocate(all, 16).unwrap_or(0);
        if address != 0 {
            checker.appears(address, bytes, What::Heap);
        }
        address
    }

    fn free(&self, address: u64) {
        let Some(checker) = get() else { return };
        if checker.freed(address) {
            checker.device.memory.free(address);
        }
    }
}
