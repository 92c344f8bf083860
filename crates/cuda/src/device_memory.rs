//! Memory by its address, wherever it is: of the host, or of a device that the process reaches through its driver alone.
//!
//! Unsafe: the addresses come from the program. Whoever calls promises that they are good.
#![allow(unsafe_code, reason = "it copies memory by its address")]

use std::sync::{Arc, OnceLock};

use device::{Device, OutOfMemory, RemoteMemory};

use crate::error::{CudaError, Result};

/// The device, if its memory is not the process's.
static REMOTE: OnceLock<Arc<dyn Device>> = OnceLock::new();

/// The device is open.
pub(crate) fn set(device: &Arc<dyn Device>) {
    if device.memory().remote().is_some() {
        // There is one in a process.
        let _ = REMOTE.set(Arc::clone(device));
    }
}

/// The way to the memory of the device, if the process cannot access it by its addresses.
pub(crate) fn remote() -> Option<&'static dyn RemoteMemory> {
    REMOTE.get()?.memory().remote()
}

/// CUDA's number for memory that there is not. If a driver says why, the user is told.
pub(crate) fn out_of_memory(error: OutOfMemory) -> CudaError {
    let Some(refusal) = error.refusal else { return CudaError::OUT_OF_MEMORY };
    crate::log::say(&format!("an allocation was refused: {refusal}"));
    CudaError::from_code(refusal.code).unwrap_or(CudaError::OUT_OF_MEMORY)
}

/// Copies. Ranges may overlap.
///
/// # Safety
/// The first is good to read, the second to write: for the process, or for the device if they are the device's.
pub(crate) unsafe fn copy(from: u64, to: u64, bytes: u64) -> Result<()> {
    match remote() {
        None => {
            // SAFETY: the caller promises it.
            unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes as usize) };
            Ok(())
        }
        // SAFETY: the caller promises it.
        Some(remote) => unsafe { remote.copy(from, to, bytes) }.map_err(|error| {
            crate::log::say(&format!("a copy of {bytes} bytes was refused: {error}"));
            CudaError::from_code(error.code).unwrap_or(CudaError::UNKNOWN)
        }),
    }
}

/// Reads memory.
///
/// # Safety
/// It is good to read.
pub(crate) unsafe fn read(from: u64, to: &mut [u8]) -> Result<()> {
    // SAFETY: the caller promises it of the source, and the target is a slice.
    unsafe { copy(from, to.as_mut_ptr() as u64, to.len() as u64) }
}

/// Writes memory.
///
/// # Safety
/// It is good to write.
pub(crate) unsafe fn write(from: &[u8], to: u64) -> Result<()> {
    // SAFETY: the caller promises it of the target, and the source is a slice.
    unsafe { copy(from.as_ptr() as u64, to, from.len() as u64) }
}

/// Writes a pattern of 1, 2 or 4 bytes to memory of the device that is not the process's; false if it is the process's.
pub(crate) fn fill_remote(address: u64, pattern: &[u8], count: u64) -> Result<bool> {
    let Some(device) = REMOTE.get() else { return Ok(false) };
    let (Some(remote), true) = (device.memory().remote(), device.memory().contains(address)) else { return Ok(false) };
    remote.fill(address, pattern, count).map(|()| true).map_err(|error| {
        crate::log::say(&format!("a fill of {count} elements was refused: {error}"));
        CudaError::from_code(error.code).unwrap_or(CudaError::UNKNOWN)
    })
}
