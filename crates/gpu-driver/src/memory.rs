//! The memory of a GPU: one range of addresses, behind which memory is mapped as it is needed.
//!
//! The first part of the range is for memory of the device, the second for memory of the host that both share. Memory is mapped
//! in chunks, and a chunk is there as long as an allocation is in it.
//!
//! Shadow planes are ranges of their own. One chunk of zeros is mapped all over such a range, so that kernels can read the
//! shadow of any address; what is written gets memory before.
//!
//! Unsafe: it calls the driver, with addresses that were reserved here.
#![allow(unsafe_code, reason = "it calls C")]

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use device::{Memory, OutOfMemory, RemoteError, RemoteMemory};

use crate::abi::{self, Access, AllocationProperties, Location};
use crate::driver::{Context, DriverError, own_error};
use crate::regions::Regions;

/// The memory of a GPU.
#[derive(Debug)]
pub(crate) struct GpuMemory {
    context: Arc<Context>,
    /// Sizes of what is mapped are multiples of this.
    granule: u64,
    start: u64,
    bytes: u64,
    device: Mutex<Part>,
    shared: Mutex<Part>,
    planes: Mutex<BTreeMap<u64, Zeros>>,
}

/// A part of the range.
#[derive(Debug)]
struct Part {
    regions: Regions,
    chunks: BTreeMap<u64, Chunk>,
    location: Location,
}

/// Memory that is mapped.
#[derive(Debug)]
struct Chunk {
    bytes: u64,
    handle: u64,
    /// How many allocations are in it.
    users: usize,
}

/// A range in which kernels read zeros where nothing was written.
#[derive(Debug)]
struct Zeros {
    bytes: u64,
    /// The piece of zeros.
    zeros: u64,
    /// Which of its pieces have memory of their own.
    own: Vec<bool>,
}

/// Pieces of a range of zeros: few calls of the driver for a large range, and little memory for a small write.
const PIECE: u64 = 8 << 20;
/// Where the range begins, if nothing else is there: numbers in kernels are the same in each run, and so is what the driver
/// keeps of them.
const WANTED: u64 = 0x2000_0000_0000;

fn properties(location: Location) -> AllocationProperties {
    let (windows, flags) = (std::ptr::null_mut(), [0; 8]);
    AllocationProperties { kind: abi::PINNED, handle_types: 0, location, windows, flags }
}

impl GpuMemory {
    /// Reserves the range: for so much memory of the device, and as much shared with the host.
    pub(crate) fn new(context: &Arc<Context>, bytes: u64) -> Result<Self, DriverError> {
        let refuses = |call| move |error| DriverError::Refuses { call, error };
        let locations = [Location { kind: abi::DEVICE, id: context.device }, Location { kind: abi::HOST_NUMA, id: 0 }];
        let mut granule = 4096;
        for location in locations {
            let mut answer = 0;
            // SAFETY: there is room for the answer, and the properties are whole.
            let ask =
                context.call(|f| unsafe { (f.cuMemGetAllocationGranularity)(&mut answer, &properties(location), 0) });
            ask.map_err(refuses("cuMemGetAllocationGranularity"))?;
            granule = granule.max(answer as u64);
        }
        let bytes = bytes.next_multiple_of(granule);
        let mut start = 0;
        // SAFETY: there is room for the answer.
        let reserve = context
            .call(|f| unsafe { (f.cuMemAddressReserve)(&mut start, 2 * bytes as usize, granule as usize, WANTED, 0) });
        reserve.map_err(refuses("cuMemAddressReserve"))?;
        let part = |start, location| {
            Mutex::new(Part { regions: Regions::new(start, bytes), chunks: BTreeMap::new(), location })
        };
        Ok(Self {
            context: Arc::clone(context),
            granule,
            start,
            bytes,
            device: part(start, locations[0]),
            shared: part(start + bytes, locations[1]),
            planes: Mutex::default(),
        })
    }

    fn part_of(&self, address: u64) -> MutexGuard<'_, Part> {
        let part = if address < self.start + self.bytes { &self.device } else { &self.shared };
        part.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn allocate_in(&self, part: &Mutex<Part>, bytes: u64, align: u64) -> Result<u64, OutOfMemory> {
        let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
        let error = OutOfMemory { wanted: bytes, free: part.regions.free_bytes(), refusal: None };
        let Some(address) = part.regions.take(bytes, align) else { return Err(error) };
        let (_, length) = part.regions.find(address).expect("it was just taken");
        if let Err(refusal) = self.map_missing(&mut part, address, length) {
            part.regions.give_back(address);
            return Err(OutOfMemory { refusal: Some(refusal), ..error });
        }
        for (_, chunk) in part.chunks_in(address, length) {
            chunk.users += 1;
        }
        Ok(address)
    }

    /// Maps memory behind addresses that have none. What is mapped when the driver refuses more is given back.
    fn map_missing(&self, part: &mut Part, address: u64, length: u64) -> Result<(), RemoteError> {
        let end = (address + length).next_multiple_of(self.granule);
        let mut at = address / self.granule * self.granule;
        let mut mapped = Vec::new();
        while at < end {
            if let Some((&start, chunk)) = part.chunks.range(..=at).next_back()
                && at < start + chunk.bytes
            {
                at = start + chunk.bytes;
                continue;
            }
            let next = part.chunks.range(at..end).next().map_or(end, |(&start, _)| start);
            match self.map(at, next - at, part.location) {
                Ok(handle) => part.chunks.insert(at, Chunk { bytes: next - at, handle, users: 0 }),
                Err(error) => {
                    mapped.into_iter().for_each(|start| self.unmap(part, start));
                    return Err(error);
                }
            };
            mapped.push(at);
            at = next;
        }
        Ok(())
    }

    /// Maps new memory.
    fn map(&self, address: u64, bytes: u64, location: Location) -> Result<u64, RemoteError> {
        let handle = self.create(bytes, location)?;
        let result = self.map_handle(address, bytes, handle, location.kind == abi::HOST_NUMA);
        if result.is_err() {
            self.release(handle);
        }
        result.map(|()| handle)
    }

    fn create(&self, bytes: u64, location: Location) -> Result<u64, RemoteError> {
        let mut handle = 0;
        let properties = properties(location);
        // SAFETY: there is room for the answer, and the properties are whole.
        self.context.call(|f| unsafe { (f.cuMemCreate)(&mut handle, bytes as usize, &properties, 0) })?;
        Ok(handle)
    }

    /// Maps memory that is there.
    fn map_handle(&self, address: u64, bytes: u64, handle: u64, is_of_host: bool) -> Result<(), RemoteError> {
        // SAFETY: addresses of our own, behind which there is nothing.
        self.context.call(|f| unsafe { (f.cuMemMap)(address, bytes as usize, 0, handle, 0) })?;
        let access = |kind, id| Access { location: Location { kind, id }, flags: abi::READ_WRITE };
        let all = [access(abi::DEVICE, self.context.device), access(abi::HOST_NUMA, 0)];
        let count = if is_of_host { 2 } else { 1 };
        // SAFETY: the addresses were just mapped, and the list is as long as it says.
        let allowed =
            self.context.call(|f| unsafe { (f.cuMemSetAccess)(address, bytes as usize, all.as_ptr(), count) });
        if allowed.is_err() {
            // SAFETY: nobody knows of the addresses yet.
            let _ = self.context.call(|f| unsafe { (f.cuMemUnmap)(address, bytes as usize) });
        }
        allowed
    }

    fn release(&self, handle: u64) {
        // SAFETY: memory that was made here.
        let _ = self.context.call(|f| unsafe { (f.cuMemRelease)(handle) });
    }

    fn unmap(&self, part: &mut Part, start: u64) {
        let Some(chunk) = part.chunks.remove(&start) else { return };
        // SAFETY: a whole chunk, in which no allocation is left.
        let _ = self.context.call(|f| unsafe { (f.cuMemUnmap)(start, chunk.bytes as usize) });
        self.release(chunk.handle);
    }

    fn is_inside(&self, address: u64, bytes: u64) -> bool {
        let found = self.allocation(address);
        found.is_some_and(|(start, length)| address.checked_add(bytes).is_some_and(|end| end <= start + length))
    }

    /// Gives memory to what is about to be written of a range of zeros.
    fn own(&self, address: u64, bytes: u64) -> Result<(), RemoteError> {
        let mut planes = self.planes.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((&start, zeros)) = planes.range_mut(..=address).next_back() else { return Ok(()) };
        if bytes == 0 || address - start >= zeros.bytes {
            return Ok(());
        }
        let end = address.saturating_add(bytes).min(start + zeros.bytes);
        let pieces = (address - start) / PIECE..(end - start).div_ceil(PIECE);
        if pieces.clone().all(|piece| zeros.own[piece as usize]) {
            return Ok(());
        }
        // A kernel may read what is not mapped for a moment.
        let _quiet = self.context.quiet();
        for piece in pieces {
            if !zeros.own[piece as usize] {
                self.own_piece(start + piece * PIECE, zeros.zeros)?;
                zeros.own[piece as usize] = true;
            }
        }
        Ok(())
    }

    /// Puts memory in the place of zeros. If there is none, the zeros stay.
    fn own_piece(&self, at: u64, zeros: u64) -> Result<(), RemoteError> {
        let handle = self.create(PIECE, Location { kind: abi::DEVICE, id: self.context.device })?;
        // SAFETY: a whole piece of our own, while no kernel runs.
        let unmap = || self.context.call(|f| unsafe { (f.cuMemUnmap)(at, PIECE as usize) });
        let owned = unmap().and_then(|()| {
            let owned = self.map_handle(at, PIECE, handle, false);
            let owned = owned.and_then(|()| self.zero(at, PIECE).inspect_err(|_| drop(unmap())));
            owned.inspect_err(|_| drop(self.map_handle(at, PIECE, zeros, false)))
        });
        owned.inspect_err(|_| self.release(handle))
    }

    fn zero(&self, address: u64, bytes: u64) -> Result<(), RemoteError> {
        // SAFETY: addresses behind which there is memory of ours.
        self.context.finish(|f, stream| unsafe { (f.cuMemsetD8Async)(address, 0, bytes as usize, stream) })
    }
}

impl Part {
    /// The chunks that a range is in.
    fn chunks_in(&mut self, address: u64, length: u64) -> impl Iterator<Item = (&u64, &mut Chunk)> {
        let first = self.chunks.range(..=address).next_back().map_or(address, |(&start, _)| start);
        self.chunks.range_mut(first..address + length)
    }
}

impl Memory for GpuMemory {
    fn allocate(&self, bytes: u64, align: u64) -> Result<u64, OutOfMemory> {
        self.allocate_in(&self.device, bytes, align)
    }

    fn allocate_shared(&self, bytes: u64, align: u64) -> Result<u64, OutOfMemory> {
        self.allocate_in(&self.shared, bytes, align)
    }

    fn set_protection_key(&self, _key: u32) -> io::Result<()> {
        Err(io::Error::other("the host cannot access the memory of a GPU"))
    }

    fn free(&self, address: u64) -> bool {
        let mut part = self.part_of(address);
        let Some(length) = part.regions.give_back(address) else { return false };
        let mut unused = Vec::new();
        for (&start, chunk) in part.chunks_in(address, length) {
            chunk.users -= 1;
            if chunk.users == 0 {
                unused.push(start);
            }
        }
        unused.into_iter().for_each(|start| self.unmap(&mut part, start));
        true
    }

    fn allocation(&self, address: u64) -> Option<(u64, u64)> {
        self.part_of(address).regions.find(address)
    }

    fn range(&self) -> (u64, u64) {
        (self.start, 2 * self.bytes)
    }

    fn total_bytes(&self) -> u64 {
        self.bytes
    }

    fn free_bytes(&self) -> u64 {
        self.part_of(self.start).regions.free_bytes()
    }

    fn write(&self, address: u64, bytes: &[u8]) -> bool {
        let length = bytes.len() as u64;
        // SAFETY: from a slice to an allocation that is large enough.
        self.is_inside(address, length) && unsafe { self.copy(bytes.as_ptr() as u64, address, length) }.is_ok()
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        let length = bytes.len() as u64;
        // SAFETY: from an allocation that is large enough to a slice.
        self.is_inside(address, length) && unsafe { self.copy(address, bytes.as_mut_ptr() as u64, length) }.is_ok()
    }

    fn remote(&self) -> Option<&dyn RemoteMemory> {
        Some(self)
    }

    unsafe fn share_host(&self, address: u64, bytes: u64) -> Result<(), RemoteError> {
        // SAFETY: the caller promises that the memory is there.
        self.context.call(|f| unsafe { (f.cuMemHostRegister)(address as *mut _, bytes as usize, abi::REGISTER) })
    }

    fn forget_host(&self, address: u64) {
        // SAFETY: an address that was registered, or the driver says that it was not.
        let _ = self.context.call(|f| unsafe { (f.cuMemHostUnregister)(address as *mut _) });
    }
}

impl RemoteMemory for GpuMemory {
    unsafe fn copy(&self, from: u64, to: u64, bytes: u64) -> Result<(), RemoteError> {
        if bytes == 0 {
            return Ok(());
        }
        self.own(to, bytes)?;
        // SAFETY: the caller promises that addresses of the host are good; the driver looks after its own.
        self.context.finish(|f, stream| unsafe { (f.cuMemcpyAsync)(to, from, bytes as usize, stream) })
    }

    fn fill(&self, address: u64, pattern: &[u8], count: u64) -> Result<(), RemoteError> {
        if count == 0 {
            return Ok(());
        }
        self.own(address, pattern.len() as u64 * count)?;
        let count = count as usize;
        // SAFETY: the driver looks after its own addresses.
        self.context.finish(|f, stream| unsafe {
            match *pattern {
                [byte] => (f.cuMemsetD8Async)(address, byte, count, stream),
                [a, b] => (f.cuMemsetD16Async)(address, u16::from_le_bytes([a, b]), count, stream),
                [a, b, c, d] => (f.cuMemsetD32Async)(address, u32::from_le_bytes([a, b, c, d]), count, stream),
                _ => abi::result::INVALID_VALUE,
            }
        })
    }

    fn reserve_zeros(&self, bytes: u64) -> Result<u64, RemoteError> {
        let bytes =
            bytes.max(1).checked_next_multiple_of(PIECE).ok_or_else(|| own_error("too many bytes".to_owned()))?;
        let mut start = 0;
        // SAFETY: there is room for the answer.
        self.context.call(|f| unsafe { (f.cuMemAddressReserve)(&mut start, bytes as usize, PIECE as usize, 0, 0) })?;
        let location = Location { kind: abi::DEVICE, id: self.context.device };
        // It stays until the process ends, as the range does.
        let zeros = self.map(start, PIECE, location)?;
        self.zero(start, PIECE)?;
        for at in (start + PIECE..start + bytes).step_by(PIECE as usize) {
            self.map_handle(at, PIECE, zeros, false)?;
        }
        let own = vec![false; (bytes / PIECE) as usize];
        self.planes.lock().unwrap_or_else(PoisonError::into_inner).insert(start, Zeros { bytes, zeros, own });
        Ok(start)
    }
}
