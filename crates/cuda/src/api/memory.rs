//! Memory of the device, and memory of the host that the device knows.
//!
//! A device pointer is an address of the process, so whatever the host can reach the device can reach too. What differs
//! is what programs are told: which kind of memory it is, how large it was asked to be, and when it is given back.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::context;
use super::stream::Stream;
use super::work::Work;
use crate::driver;
use crate::error::{CudaError, Result};

/// Memory that a program asked for, or told us of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Allocation {
    pub(crate) address: u64,
    /// As many as the program asked for.
    pub(crate) bytes: u64,
    pub(crate) kind: Kind,
    /// A number that no other allocation has.
    pub(crate) id: u64,
}

/// Kinds of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Of the device.
    Device,
    /// Of both.
    Managed,
    /// Of the host, made by us, with the flags that the program gave.
    Host { flags: u32 },
    /// Of the host, made by the program, with the flags that the program gave.
    Registered { flags: u32 },
}

/// All allocations, by where they start.
static ALLOCATIONS: Mutex<BTreeMap<u64, Allocation>> = Mutex::new(BTreeMap::new());

fn allocations() -> MutexGuard<'static, BTreeMap<u64, Allocation>> {
    ALLOCATIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn record(address: u64, bytes: u64, kind: Kind) {
    static NEXT_ID: AtomicU64 = AtomicU64::new(1);
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    allocations().insert(address, Allocation { address, bytes, kind, id });
}

/// New memory.
pub(crate) fn allocate(bytes: u64, kind: Kind) -> Result<u64> {
    context::require()?;
    let device = &driver::get()?.device;
    let address = device.memory.allocate(bytes, 512).map_err(|_| CudaError::OUT_OF_MEMORY)?;
    record(address, bytes, kind);
    Ok(address)
}

/// New memory for rows, with a distance between them that suits the device.
pub(crate) fn allocate_rows(width: u64, height: u64) -> Result<(u64, u64)> {
    /// What textures ask of rows.
    const ROW: u64 = 512;
    let pitch = width.checked_next_multiple_of(ROW).ok_or(CudaError::OUT_OF_MEMORY)?;
    let bytes = pitch.checked_mul(height).ok_or(CudaError::OUT_OF_MEMORY)?;
    Ok((allocate(bytes, Kind::Device)?, pitch))
}

/// Gives memory of the device back, when all work that may use it has ended.
pub(crate) fn free(address: u64) -> Result<()> {
    let context = context::require()?;
    let found = allocations().get(&address).copied().ok_or(CudaError::INVALID_VALUE)?;
    if !matches!(found.kind, Kind::Device | Kind::Managed) {
        return Err(CudaError::INVALID_VALUE);
    }
    context.synchronize()?;
    super::output::flush();
    free_now(address)
}

/// Gives memory of the host back that we made.
pub(crate) fn free_host(address: u64) -> Result<()> {
    let context = context::require()?;
    let found = allocations().get(&address).copied().ok_or(CudaError::INVALID_VALUE)?;
    if !matches!(found.kind, Kind::Host { .. }) {
        return Err(CudaError::INVALID_VALUE);
    }
    context.synchronize()?;
    free_now(address)
}

/// Gives memory back when the stream has done what it was asked for so far.
pub(crate) fn free_in(stream: &Stream, address: u64) -> Result<()> {
    if !allocations().contains_key(&address) {
        return Err(CudaError::INVALID_VALUE);
    }
    stream.push(Work::Free(address)).map(drop)
}

/// Gives memory back at once.
pub(crate) fn free_now(address: u64) -> Result<()> {
    allocations().remove(&address).ok_or(CudaError::INVALID_VALUE)?;
    if driver::get()?.device.memory.free(address) { Ok(()) } else { Err(CudaError::INVALID_VALUE) }
}

/// Makes memory of the program known.
pub(crate) fn register(address: u64, bytes: u64, flags: u32) -> Result<()> {
    context::require()?;
    let end = address.checked_add(bytes).ok_or(CudaError::INVALID_VALUE)?;
    if address == 0 || bytes == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let overlaps =
        allocations().range(..end).next_back().is_some_and(|(_, other)| other.address + other.bytes > address);
    if overlaps {
        return Err(CudaError::HOST_MEMORY_ALREADY_REGISTERED);
    }
    record(address, bytes, Kind::Registered { flags });
    Ok(())
}

/// Forgets memory of the program.
pub(crate) fn unregister(address: u64) -> Result<()> {
    context::require()?;
    let mut allocations = allocations();
    match allocations.get(&address) {
        Some(Allocation { kind: Kind::Registered { .. }, .. }) => {
            allocations.remove(&address);
            Ok(())
        }
        _ => Err(CudaError::HOST_MEMORY_NOT_REGISTERED),
    }
}

/// The allocation that an address is in.
pub(crate) fn find(address: u64) -> Option<Allocation> {
    let allocations = allocations();
    let (_, found) = allocations.range(..=address).next_back()?;
    // An allocation of nothing is found by its address.
    (address < found.address + found.bytes.max(1)).then_some(*found)
}

/// Whose memory a range of addresses is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    Device,
    /// Of the host, known to the device: copies need not keep what they read.
    PinnedHost,
    Host,
}

/// Whose memory a range is. One that starts in device memory must lie in one allocation.
pub(crate) fn owner(address: u64, bytes: u64) -> Result<Owner> {
    let end = address.checked_add(bytes).ok_or(CudaError::INVALID_VALUE)?;
    let memory = &driver::get()?.device.memory;
    if !memory.contains(address) {
        let is_pinned = find(address).is_some_and(|found| end <= found.address + found.bytes);
        return Ok(if is_pinned { Owner::PinnedHost } else { Owner::Host });
    }
    // Variables of modules are allocations of the device, too, but the program did not ask for them.
    let (start, length, kind) = match find(address) {
        Some(found) => (found.address, found.bytes, found.kind),
        None => memory
            .allocation(address)
            .map(|(start, length)| (start, length, Kind::Device))
            .ok_or(CudaError::INVALID_VALUE)?,
    };
    if end > start + length {
        return Err(CudaError::INVALID_VALUE);
    }
    Ok(if matches!(kind, Kind::Host { .. }) { Owner::PinnedHost } else { Owner::Device })
}

/// Bytes that are free, and all.
pub(crate) fn info() -> Result<(u64, u64)> {
    context::require()?;
    let memory = &driver::get()?.device.memory;
    Ok((memory.free_bytes(), memory.total_bytes()))
}
