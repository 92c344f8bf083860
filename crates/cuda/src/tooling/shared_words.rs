//! Words that kernels and the process access: of the process, or of the memory that it shares with the device.
//!
//! Unsafe: it makes slices of memory by its address.
#![allow(unsafe_code, reason = "it makes slices of memory by its address")]

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use device::Device;
use toolkit::SharedWords;

/// Words that kernels and the process access.
#[derive(Debug)]
pub(super) enum ToolWords {
    /// The device accesses memory of the process.
    Own(Box<[AtomicU64]>),
    /// Memory that was allocated to be shared.
    Shared { device: Arc<dyn Device>, address: u64, count: usize },
}

impl ToolWords {
    /// So many zeros.
    pub(super) fn new(device: &Arc<dyn Device>, count: usize) -> io::Result<Self> {
        if device.memory().remote().is_none() {
            // SAFETY: zeros are a value of atomic words. Pages that are never touched take no memory in this way.
            return Ok(Self::Own(unsafe { Box::new_zeroed_slice(count).assume_init() }));
        }
        let bytes = count.checked_mul(8).ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let address = device.memory().allocate_shared(bytes as u64, 64).map_err(io::Error::other)?;
        // SAFETY: new memory that the process accesses too, of so many bytes.
        unsafe { (address as *mut u8).write_bytes(0, bytes) };
        Ok(Self::Shared { device: Arc::clone(device), address, count })
    }

    /// With these values.
    pub(super) fn of(device: &Arc<dyn Device>, values: &[u64]) -> io::Result<Self> {
        let words = Self::new(device, values.len())?;
        for (word, &value) in words.words().iter().zip(values) {
            word.store(value, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(words)
    }
}

impl SharedWords for ToolWords {
    fn words(&self) -> &[AtomicU64] {
        match self {
            Self::Own(words) => words,
            // SAFETY: so many words are there until this is dropped, aligned, and only accessed as this type.
            Self::Shared { address, count, .. } => unsafe {
                std::slice::from_raw_parts(*address as *const AtomicU64, *count)
            },
        }
    }
}

impl std::ops::Deref for ToolWords {
    type Target = [AtomicU64];

    fn deref(&self) -> &[AtomicU64] {
        self.words()
    }
}

impl Drop for ToolWords {
    fn drop(&mut self) {
        if let Self::Shared { device, address, .. } = self {
            device.memory().free(*address);
        }
    }
}
