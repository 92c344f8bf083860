//! The memory of the GPU: memory of this process, at the addresses that the driver has reserved.
//!
//! Kernels run beside copies, and what they race for is the program's business.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::sync::{Mutex, PoisonError};

use crate::result;

/// What is mapped, by where it begins: how many bytes, and whether it may be accessed.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    mapped: Mutex<BTreeMap<u64, (u64, bool)>>,
}

impl Memory {
    /// Keeps addresses free.
    pub(crate) fn reserve(&self, address: u64, bytes: u64) -> Result<(), u64> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: only addresses at which there is nothing.
        let at = unsafe { libc::mmap(address as *mut _, bytes as usize, libc::PROT_NONE, flags, -1, 0) };
        if at as u64 == address { Ok(()) } else { Err(result::OUT_OF_MEMORY) }
    }

    /// Puts memory of the driver's process behind addresses.
    pub(crate) fn map(&self, address: u64, bytes: u64, process: u64, descriptor: u64) -> Result<(), u64> {
        let path = format!("/proc/{process}/fd/{descriptor}");
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(|_| result::INVALID_VALUE)?;
        replace(address, bytes, libc::MAP_SHARED, file.as_raw_fd())?;
        self.mapped.lock().unwrap_or_else(PoisonError::into_inner).insert(address, (bytes, false));
        Ok(())
    }

    pub(crate) fn unmap(&self, address: u64, bytes: u64) -> Result<(), u64> {
        let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        // Whole, or not at all.
        if mapped.get(&address).is_none_or(|&(length, _)| length != bytes) {
            return Err(result::INVALID_VALUE);
        }
        mapped.remove(&address);
        replace(address, bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, -1)
    }

    pub(crate) fn allow(&self, address: u64, bytes: u64) -> Result<(), u64> {
        let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((_, is_allowed)) = mapped.get_mut(&address).filter(|(length, _)| *length == bytes) else {
            return Err(result::INVALID_VALUE);
        };
        *is_allowed = true;
        // SAFETY: memory that was mapped here.
        let code = unsafe { libc::mprotect(address as *mut _, bytes as usize, libc::PROT_READ | libc::PROT_WRITE) };
        if code == 0 { Ok(()) } else { Err(result::OUT_OF_MEMORY) }
    }

    /// Whether all of a range is there.
    fn check(&self, address: u64, bytes: u64) -> Result<(), u64> {
        let mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        let end = address.checked_add(bytes).ok_or(result::INVALID_VALUE)?;
        let mut at = address;
        while at < end {
            let (&start, &(length, is_allowed)) = mapped.range(..=at).next_back().ok_or(result::INVALID_VALUE)?;
            if at >= start + length || !is_allowed {
                return Err(result::INVALID_VALUE);
            }
            at = start + length;
        }
        Ok(())
    }

    pub(crate) fn write(&self, address: u64, bytes: &[u8]) -> Result<(), u64> {
        self.check(address, bytes.len() as u64)?;
        // SAFETY: all of the range is there.
        unsafe { std::ptr::copy(bytes.as_ptr(), address as *mut u8, bytes.len()) };
        Ok(())
    }

    pub(crate) fn read(&self, address: u64, count: u64) -> Result<Vec<u8>, u64> {
        self.check(address, count)?;
        let mut bytes = vec![0; count as usize];
        // SAFETY: all of the range is there.
        unsafe { std::ptr::copy(address as *const u8, bytes.as_mut_ptr(), bytes.len()) };
        Ok(bytes)
    }

    pub(crate) fn copy(&self, from: u64, to: u64, count: u64) -> Result<(), u64> {
        let bytes = self.read(from, count)?;
        self.write(to, &bytes)
    }

    pub(crate) fn fill(&self, address: u64, pattern: &[u8], count: u64) -> Result<(), u64> {
        let bytes = count.checked_mul(pattern.len() as u64).ok_or(result::INVALID_VALUE)?;
        self.check(address, bytes)?;
        if !address.is_multiple_of(pattern.len().max(1) as u64) {
            return Err(result::INVALID_VALUE);
        }
        // SAFETY: all of the range is there.
        let all = unsafe { std::slice::from_raw_parts_mut(address as *mut u8, bytes as usize) };
        match pattern {
            [byte] => all.fill(*byte),
            _ => all.chunks_exact_mut(pattern.len().max(1)).for_each(|chunk| chunk.copy_from_slice(pattern)),
        }
        Ok(())
    }
}

fn replace(address: u64, bytes: u64, flags: i32, file: i32) -> Result<(), u64> {
    let flags = flags | libc::MAP_FIXED;
    // SAFETY: addresses that the driver has reserved here.
    let at = unsafe { libc::mmap(address as *mut _, bytes as usize, libc::PROT_NONE, flags, file, 0) };
    if at as u64 == address { Ok(()) } else { Err(result::OUT_OF_MEMORY) }
}
