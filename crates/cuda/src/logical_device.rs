//! The devices that a program sees.
//!
//! One device runs all kernels and has all memory, in one range of addresses: tools have one shadow of it, and a pointer means
//! the same everywhere, as with CUDA's unified addresses. A program that is to see several GPUs sees as many logical devices.
//! They differ in what they say of themselves, in how much memory they have, and in what belongs to them by its number:
//! contexts with their streams, modules with their variables, pools, allocations. So the memory of one is kept from kernels
//! of another by tools only, which know whose it is.

use std::sync::atomic::{AtomicU64, Ordering};

use gpu::Model;

use crate::error::{CudaError, Result};

/// A device that the program sees.
#[derive(Debug)]
pub(crate) struct LogicalDevice {
    /// The GPU that it describes itself as, if any.
    pub(crate) model: Option<&'static Model>,
    /// Bytes of memory.
    pub(crate) memory: u64,
    /// Which of those it is that the command names: `CUDA_VISIBLE_DEVICES` may give it another number.
    place: u8,
    /// Bytes of its memory that allocations have. Counted only if there are several devices: one has what the arena has.
    allocated: AtomicU64,
    /// Bytes of its memory that have no addresses, or several.
    pub(crate) physical: AtomicU64,
}

impl LogicalDevice {
    pub(crate) fn new(model: Option<&'static Model>, memory: u64, place: u8) -> Self {
        Self { model, memory, place, allocated: AtomicU64::new(0), physical: AtomicU64::new(0) }
    }

    /// It is the same device in every process.
    pub(crate) fn uuid(&self) -> [u8; 16] {
        uuid(self.place)
    }

    /// How PCI would call it.
    pub(crate) fn pci_name(&self) -> String {
        format!("0000:{:02x}:00.0", self.pci_bus())
    }

    pub(crate) fn pci_bus(&self) -> u8 {
        self.place + 1
    }

    /// Counts bytes that are allocated, if there are so many.
    fn take(&self, bytes: u64) -> Result<()> {
        let bytes = rounded(bytes);
        let most = self.memory.saturating_sub(self.physical.load(Ordering::Relaxed));
        let take = |used: u64| used.checked_add(bytes).filter(|&used| used <= most);
        let taken = self.allocated.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.map(drop).map_err(|_| CudaError::OUT_OF_MEMORY)
    }

    /// Counts bytes for what is allocated, unless that fails.
    pub(crate) fn take_for<T>(&self, bytes: u64, allocate: impl FnOnce() -> Result<T>) -> Result<T> {
        self.take(bytes)?;
        allocate().inspect_err(|_| self.give_back(bytes))
    }

    /// Counts bytes that are given back.
    pub(crate) fn give_back(&self, bytes: u64) {
        let give_back = |used: u64| Some(used.saturating_sub(rounded(bytes)));
        let _ = self.allocated.fetch_update(Ordering::Relaxed, Ordering::Relaxed, give_back);
    }

    /// Bytes that no allocation has.
    pub(crate) fn unallocated(&self) -> u64 {
        self.memory.saturating_sub(self.allocated.load(Ordering::Relaxed))
    }
}

/// What an allocation takes of the device.
fn rounded(bytes: u64) -> u64 {
    bytes.max(1).checked_next_multiple_of(512).unwrap_or(u64::MAX)
}

/// The letters of the first device's name, with its number.
fn uuid(place: u8) -> [u8; 16] {
    let mut uuid = *b"warpgrind-cpu-00";
    uuid[14..].copy_from_slice(format!("{:02}", place % 100).as_bytes());
    uuid
}

/// Which of some devices `CUDA_VISIBLE_DEVICES` leaves the program, in which order.
///
/// As the manual has it: numbers, or beginnings of `GPU-UUID` that fit one device. What is none ends the list, so that an
/// empty one, or `-1`, leaves nothing; a device that is there twice makes the whole list wrong.
pub(crate) fn visible(list: &str, count: usize) -> Vec<usize> {
    let mut visible = Vec::new();
    for entry in list.split(',').map(str::trim) {
        let Some(device) = named(entry, count) else { break };
        if visible.contains(&device) {
            return Vec::new();
        }
        visible.push(device);
    }
    visible
}

fn named(entry: &str, count: usize) -> Option<usize> {
    if let Some(start) = entry.strip_prefix("GPU-") {
        let mut fitting = (0..count).filter(|&device| !start.is_empty() && uuid_text(device as u8).starts_with(start));
        return fitting.next().filter(|_| fitting.next().is_none());
    }
    entry.parse().ok().filter(|&device| device < count)
}

/// As `nvidia-smi -L` prints it.
fn uuid_text(place: u8) -> String {
    let mut text = String::new();
    for (index, byte) in uuid(place).iter().enumerate() {
        text += if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" };
        text += &format!("{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_list_leaves_visible() {
        assert_eq!(visible("0,1", 2), [0, 1]);
        assert_eq!(visible("1, 0", 2), [1, 0]);
        assert_eq!(visible("1", 2), [1]);
        for none in ["", "-1", "none", "2", "0,0", "+", "GPU-", "GPU-00", "1000000000000000000000"] {
            assert_eq!(visible(none, 2), [] as [usize; 0], "{none}");
        }
        // What is wrong ends the list.
        assert_eq!(visible("1,-1,0", 2), [1]);
        assert_eq!(visible("1,2,0", 2), [1]);
        // Of both the beginning fits.
        assert_eq!(visible("GPU-77617270", 2), [] as [usize; 0]);
        assert_eq!(visible(&format!("GPU-{},0", uuid_text(1)), 2), [1, 0]);
        assert_eq!(uuid_text(1), "77617270-6772-696e-642d-6370752d3031");
    }

    #[test]
    fn memory_that_is_taken_is_not_there() {
        let device = LogicalDevice::new(None, 4096, 0);
        assert_eq!(device.take(4000), Ok(()));
        assert_eq!(device.take(1), Err(CudaError::OUT_OF_MEMORY));
        device.give_back(4000);
        device.physical.store(2048, Ordering::Relaxed);
        assert_eq!(device.take(4096), Err(CudaError::OUT_OF_MEMORY));
        assert_eq!((device.take(2048), device.unallocated()), (Ok(()), 2048));
        assert_eq!(device.take(u64::MAX), Err(CudaError::OUT_OF_MEMORY));
    }

    #[test]
    fn what_was_not_allocated_is_not_taken() {
        let device = LogicalDevice::new(None, 4096, 0);
        assert_eq!(device.take_for(4096, || Err::<(), _>(CudaError::INVALID_VALUE)), Err(CudaError::INVALID_VALUE));
        assert_eq!((device.take_for(4096, || Ok(7)), device.unallocated()), (Ok(7), 0));
        assert_eq!(device.take_for(1, || Ok(7)), Err(CudaError::OUT_OF_MEMORY));
    }
}
