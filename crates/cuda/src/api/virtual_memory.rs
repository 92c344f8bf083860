//! Addresses that programs reserve, and memory that they put after them.
//!
//! It is apart from other device memory, because memory may have several addresses here. It counts as memory of the device
//! all the same.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::allocation::{self, Home};
use super::{context, in_use};
use crate::address_space::{Memory, Range};
use crate::device_memory;
use crate::driver;
use crate::error::{CudaError, Result};
use crate::handle::{Handle, Handles};
use crate::process::device_access;

/// Memory that a program made.
#[derive(Debug)]
pub(crate) struct Physical {
    pub(crate) handle: Handle<Physical>,
    /// The number of the device whose memory it is.
    pub(crate) device: usize,
    memory: Memory,
    /// Whether the program wanted it compressed in the caches of a GPU, which changes nothing here.
    pub(crate) is_compressible: bool,
    /// How often the program has its handle.
    references: AtomicU64,
}

/// Addresses that a program reserved, by where they start.
static RANGES: Mutex<BTreeMap<u64, Reserved>> = Mutex::new(BTreeMap::new());

#[derive(Debug)]
struct Reserved {
    range: Range,
    /// What is mapped, by where it starts.
    mapped: BTreeMap<u64, Mapped>,
}

#[derive(Debug)]
struct Mapped {
    bytes: u64,
    physical: Arc<Physical>,
    /// Devices that may access it, a bit for each.
    devices: u64,
}

/// Memory that programs have handles of.
pub(crate) static PHYSICAL: Handles<Physical> = Handles::new("physical memory");

/// Addresses that programs gave back.
static FREED: Mutex<Freed> = Mutex::new(Freed { ranges: VecDeque::new(), bytes: 0 });

/// Addresses that were given back, the oldest first. For a while nothing else gets them: a program that uses one after that
/// is told so, as it is with other memory, and does not meet memory of the host there.
#[derive(Debug)]
struct Freed {
    ranges: VecDeque<Range>,
    bytes: u64,
}

impl Freed {
    /// A small part of the addresses that a process has.
    const MOST: u64 = 1 << 40;

    fn push(&mut self, range: Range) {
        self.bytes += range.bytes;
        self.ranges.push_back(range);
        while self.bytes > Self::MOST
            && let Some(oldest) = self.ranges.pop_front()
        {
            self.bytes -= oldest.bytes;
            allocation::forget_reserved(oldest.address);
        }
    }
}

/// Sizes and addresses are multiples of this.
pub(crate) const GRANULE: u64 = 2 << 20;

fn ranges() -> MutexGuard<'static, BTreeMap<u64, Reserved>> {
    RANGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of a device that neither an allocation nor memory made here has.
pub(crate) fn free_bytes(device: usize) -> Result<u64> {
    let made = driver::logical(device)?.physical.load(Ordering::Relaxed);
    Ok(allocation::free_bytes(device)?.saturating_sub(made))
}

fn check_size(bytes: u64) -> Result<()> {
    if bytes != 0 && bytes.is_multiple_of(GRANULE) { Ok(()) } else { Err(CudaError::INVALID_VALUE) }
}

/// Reserves addresses.
pub(crate) fn reserve(bytes: u64, align: u64) -> Result<u64> {
    check_size(bytes)?;
    if device_memory::remote().is_some() {
        crate::refusal::refuse("addresses that programs reserve themselves are not supported by the GPU device");
        return Err(CudaError::NOT_SUPPORTED);
    }
    if align != 0 && !align.is_power_of_two() {
        return Err(CudaError::INVALID_VALUE);
    }
    let range = Range::reserve(bytes, align.max(GRANULE)).map_err(|_| CudaError::OUT_OF_MEMORY)?;
    let address = range.address;
    allocation::add_reserved(address, bytes);
    ranges().insert(address, Reserved { range, mapped: BTreeMap::new() });
    Ok(address)
}

/// Gives addresses back, after which there is no memory.
pub(crate) fn unreserve(address: u64, bytes: u64) -> Result<()> {
    let mut ranges = ranges();
    let found = ranges.get(&address).ok_or(CudaError::INVALID_VALUE)?;
    if found.range.bytes != bytes || !found.mapped.is_empty() {
        return Err(CudaError::INVALID_VALUE);
    }
    let reserved = ranges.remove(&address).ok_or(CudaError::INVALID_VALUE)?;
    FREED.lock().unwrap_or_else(PoisonError::into_inner).push(reserved.range);
    Ok(())
}

/// Makes memory of a device.
pub(crate) fn create(device: usize, bytes: u64, is_compressible: bool) -> Result<Arc<Physical>> {
    check_size(bytes)?;
    context::require()?;
    if free_bytes(device)? < bytes {
        return Err(CudaError::OUT_OF_MEMORY);
    }
    let memory = Memory::new(bytes).map_err(|_| CudaError::OUT_OF_MEMORY)?;
    driver::logical(device)?.physical.fetch_add(bytes, Ordering::Relaxed);
    let physical =
        Arc::new(Physical { handle: Handle::new(), device, memory, is_compressible, references: AtomicU64::new(1) });
    PHYSICAL.insert(&physical.handle, Arc::clone(&physical));
    Ok(physical)
}

impl Drop for Physical {
    fn drop(&mut self) {
        if let Ok(device) = driver::logical(self.device) {
            device.physical.fetch_sub(self.memory.bytes, Ordering::Relaxed);
        }
    }
}

/// Gives a handle of memory back; the memory is there until it is after no address any more.
pub(crate) fn release(number: usize) -> Result<()> {
    let physical = PHYSICAL.get(number)?;
    if physical.references.fetch_sub(1, Ordering::Relaxed) == 1 {
        PHYSICAL.remove(number)?;
    }
    Ok(())
}

/// The memory behind an address, of which the program gets the handle once more.
pub(crate) fn retain(address: u64) -> Result<Arc<Physical>> {
    let physical = with_mapped(address, |mapped| Arc::clone(&mapped.physical))?;
    physical.references.fetch_add(1, Ordering::Relaxed);
    PHYSICAL.insert(&physical.handle, Arc::clone(&physical));
    Ok(physical)
}

/// Which devices may access the memory behind an address, a bit for each.
pub(crate) fn access(address: u64) -> Result<u64> {
    with_mapped(address, |mapped| mapped.devices)
}

fn with_mapped<T>(address: u64, use_mapped: impl FnOnce(&Mapped) -> T) -> Result<T> {
    let mut ranges = ranges();
    let reserved = range_of(&mut ranges, address, 0)?;
    let (start, mapped) = reserved.mapped.range(..=address).next_back().ok_or(CudaError::INVALID_VALUE)?;
    if address < start + mapped.bytes { Ok(use_mapped(mapped)) } else { Err(CudaError::INVALID_VALUE) }
}

/// The reserved addresses that others are part of.
fn range_of(ranges: &mut BTreeMap<u64, Reserved>, address: u64, bytes: u64) -> Result<&mut Reserved> {
    let end = address.checked_add(bytes).ok_or(CudaError::INVALID_VALUE)?;
    let (start, reserved) = ranges.range_mut(..=address).next_back().ok_or(CudaError::INVALID_VALUE)?;
    if end <= start + reserved.range.bytes { Ok(reserved) } else { Err(CudaError::INVALID_VALUE) }
}

/// Puts memory behind addresses that have none.
pub(crate) fn map(address: u64, bytes: u64, physical: Arc<Physical>, offset: u64) -> Result<()> {
    check_size(bytes)?;
    let is_there = offset.checked_add(bytes).is_some_and(|end| end <= physical.memory.bytes);
    if !is_there || !address.is_multiple_of(GRANULE) || !offset.is_multiple_of(GRANULE) {
        return Err(CudaError::INVALID_VALUE);
    }
    let mut ranges = ranges();
    let reserved = range_of(&mut ranges, address, bytes)?;
    let before = reserved.mapped.range(..address + bytes).next_back();
    if before.is_some_and(|(start, other)| start + other.bytes > address) {
        return Err(CudaError::INVALID_VALUE);
    }
    reserved.range.map(address, bytes, &physical.memory, offset).map_err(|_| CudaError::OUT_OF_MEMORY)?;
    reserved.mapped.insert(address, Mapped { bytes, physical, devices: 0 });
    Ok(())
}

/// All that is mapped in a part of the addresses, which must be all of that part, from and to the ends of what was mapped.
fn parts(reserved: &Reserved, address: u64, bytes: u64) -> Result<Vec<u64>> {
    let mut at = address;
    let mut parts = Vec::new();
    while at < address + bytes {
        let mapped = reserved.mapped.get(&at).ok_or(CudaError::INVALID_VALUE)?;
        parts.push(at);
        at += mapped.bytes;
    }
    if at == address + bytes { Ok(parts) } else { Err(CudaError::INVALID_VALUE) }
}

/// Takes the memory behind addresses away, when all work that may use it has ended.
pub(crate) fn unmap(address: u64, bytes: u64) -> Result<()> {
    let context = context::require()?;
    context.synchronize()?;
    let mut ranges = ranges();
    let reserved = range_of(&mut ranges, address, bytes)?;
    let parts = parts(reserved, address, bytes)?;
    for start in &parts {
        allocation::forget(*start);
    }
    // What other threads asked for meanwhile was still right then.
    context.synchronize()?;
    let _stopped = in_use::stop_copies();
    reserved.range.unmap(address, bytes).map_err(|_| CudaError::UNKNOWN)?;
    for start in parts {
        reserved.mapped.remove(&start);
    }
    Ok(())
}

/// Lets memory be accessed by a device through addresses, or not.
pub(crate) fn allow(address: u64, bytes: u64, device: usize, is_allowed: bool) -> Result<()> {
    let mut ranges = ranges();
    let reserved = range_of(&mut ranges, address, bytes)?;
    let parts = parts(reserved, address, bytes)?;
    let _stopped = in_use::stop_copies();
    for start in parts {
        let mapped = reserved.mapped.get_mut(&start).expect("it was found above");
        let devices = if is_allowed { mapped.devices | 1 << device } else { mapped.devices & !(1 << device) };
        let result = match device_access::key() {
            Some(key) => reserved.range.allow_with_key(start, mapped.bytes, devices != 0, key),
            None => reserved.range.allow(start, mapped.bytes, devices != 0),
        };
        result.map_err(|_| CudaError::UNKNOWN)?;
        mapped.devices = devices;
        allocation::forget(start);
        if devices != 0 {
            let home = Home { device: mapped.physical.device, ..context::current_home() };
            allocation::add_mapping(start, mapped.bytes, home, devices);
        }
    }
    Ok(())
}
