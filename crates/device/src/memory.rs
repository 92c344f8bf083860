//! The memory of a device.

use std::fmt::Debug;
use std::io;

/// There is not so much memory left.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{wanted} bytes of device memory were asked for, {free} are free{}", refused(.refusal))]
pub struct OutOfMemory {
    /// How much was asked for.
    pub wanted: u64,
    /// How much is free, perhaps in several pieces.
    pub free: u64,
    /// What a driver says that did not give it, although it should be there.
    pub refusal: Option<RemoteError>,
}

fn refused(refusal: &Option<RemoteError>) -> String {
    refusal.as_ref().map_or_else(String::new, |error| format!(", and the driver refuses them: {error}"))
}

/// The global memory of a device: one range of addresses, in which allocations are made.
pub trait Memory: Debug + Send + Sync {
    /// The address of new memory, a multiple of `align`.
    fn allocate(&self, bytes: u64, align: u64) -> Result<u64, OutOfMemory>;

    /// The same for memory that the host accesses, too.
    fn allocate_shared(&self, bytes: u64, align: u64) -> Result<u64, OutOfMemory>;

    /// Gives all memory that the host does not share a protection key of the processor: threads that may not use the key
    /// cannot access it. Fails if something was allocated before.
    fn set_protection_key(&self, key: u32) -> io::Result<()>;

    /// Gives memory back. False if no allocation begins there.
    fn free(&self, address: u64) -> bool;

    /// The allocation that an address is in: its start and length.
    fn allocation(&self, address: u64) -> Option<(u64, u64)>;

    /// Whether an address is one of this memory, allocated or not.
    fn contains(&self, address: u64) -> bool {
        let (start, bytes) = self.range();
        address.checked_sub(start).is_some_and(|offset| offset < bytes)
    }

    /// What is not allocated, and kernels can access all the same: where each range begins, and its bytes. Nothing if that cannot be
    /// told.
    fn unallocated(&self) -> Vec<(u64, u64)> {
        Vec::new()
    }

    /// Where all of it begins, and how many bytes it has, with what is never allocated at its ends.
    fn range(&self) -> (u64, u64);

    /// Bytes in all.
    fn total_bytes(&self) -> u64;

    /// Bytes that are not allocated.
    fn free_bytes(&self) -> u64;

    /// Copies to an allocation. False if it does not fit in one.
    fn write(&self, address: u64, bytes: &[u8]) -> bool;

    /// Copies from an allocation. False if it does not fit in one.
    fn read(&self, address: u64, bytes: &mut [u8]) -> bool;

    /// The way to it if the process cannot access it by its addresses; nothing if it can.
    fn remote(&self) -> Option<&dyn RemoteMemory> {
        None
    }

    /// Lets kernels access memory of the host, at the addresses that it has there.
    ///
    /// # Safety
    /// The memory is there until it is forgotten.
    #[allow(unsafe_code, reason = "memory is known by its addresses")]
    unsafe fn share_host(&self, _address: u64, _bytes: u64) -> Result<(), RemoteError> {
        Ok(())
    }

    /// Takes memory of the host from kernels.
    fn forget_host(&self, _address: u64) {}
}

/// What a device says that could not do something with its memory.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct RemoteError {
    /// CUDA's number for it.
    pub code: u32,
    /// In words.
    pub message: String,
}

/// Memory of a device that the process cannot access by its addresses, but for what was allocated to be shared.
pub trait RemoteMemory: Debug + Send + Sync {
    /// Copies from anywhere to anywhere, memory of the host included.
    ///
    /// # Safety
    /// Addresses that are not of this memory are of memory of the host, which is there, to read or to write.
    #[allow(unsafe_code, reason = "memory is known by its addresses")]
    unsafe fn copy(&self, from: u64, to: u64, bytes: u64) -> Result<(), RemoteError>;

    /// Writes a pattern of 1, 2 or 4 bytes so many times, from an address of this memory on.
    fn fill(&self, address: u64, pattern: &[u8], count: u64) -> Result<(), RemoteError>;

    /// Addresses apart from all allocations at which kernels read zeros. What is written there with [`Self::fill`] and
    /// [`Self::copy`] takes memory.
    fn reserve_zeros(&self, bytes: u64) -> Result<u64, RemoteError>;
}

/// Who answers `malloc` and `free` of kernels.
pub trait Heap: Debug + Send + Sync {
    /// The address of new memory; 0 if there is none. `line` is that of the call in the PTX, 0 if the device itself calls.
    fn allocate(&self, bytes: u64, line: u32) -> u64;

    /// Gives memory back. What is not there cannot be given back, and nothing happens.
    fn free(&self, address: u64, line: u32);
}
