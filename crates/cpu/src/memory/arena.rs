//! Allocations of device memory.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use device::{Heap, Memory, OutOfMemory};

use super::mapping::{Mapping, copy_shared};

/// Device memory, in one range of addresses.
#[derive(Debug)]
pub struct Arena {
    mapping: Mapping,
    /// The protection key of what the host does not share.
    key: OnceLock<u32>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Free ranges: offset and length. Neighbours are joined.
    free: BTreeMap<u64, u64>,
    /// Allocations by their offset.
    live: BTreeMap<u64, Live>,
    /// How many allocations touch each granule.
    used: Vec<u32>,
    free_bytes: u64,
}

/// An allocation.
#[derive(Clone, Copy, Debug)]
struct Live {
    length: u64,
    /// It has another protection key than the rest.
    is_open_to_host: bool,
}

/// Memory is opened and closed in pieces of this size, like the pages of a device.
const GRANULE: u64 = 2 << 20;
/// Where it begins, if nothing else is there: far from what the system maps.
const WANTED: usize = 0x2000_0000_0000;
/// Allocations start at multiples of this.
const ALIGNMENT: u64 = 256;
/// Pages of the host, which have one protection key each.
const PAGE: u64 = 4096;

impl Arena {
    /// Reserves addresses for so much memory; none of it is used yet.
    pub fn new(bytes: u64) -> io::Result<Self> {
        let bytes = bytes.next_multiple_of(GRANULE);
        // Accesses a little outside find nothing.
        let mapping = Mapping::reserve((bytes + 2 * GRANULE) as usize, WANTED)?;
        let state = State {
            free: BTreeMap::from([(GRANULE, bytes)]),
            live: BTreeMap::new(),
            used: vec![0; (bytes / GRANULE) as usize + 2],
            free_bytes: bytes,
        };
        Ok(Self { mapping, key: OnceLock::new(), state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address of new memory. An allocation of nothing has an address too.
    pub fn allocate(&self, bytes: u64, align: u64) -> Result<u64, OutOfMemory> {
        self.allocate_in_units(bytes, align, ALIGNMENT, false)
    }

    /// The same for memory that the host accesses, too. If there is a protection key, it has pages of its own.
    pub fn allocate_shared(&self, bytes: u64, align: u64) -> Result<u64, OutOfMemory> {
        let has_key = self.key.get().is_some();
        self.allocate_in_units(bytes, align, if has_key { PAGE } else { ALIGNMENT }, has_key)
    }

    /// Gives all memory that the host does not share a protection key, before anything is allocated.
    pub fn set_protection_key(&self, key: u32) -> io::Result<()> {
        let state = self.state();
        if !state.live.is_empty() {
            return Err(io::Error::other("there are allocations"));
        }
        self.mapping.set_key(key)?;
        self.key.set(key).map_err(|_| io::Error::other("there is a protection key"))
    }

    /// Addresses and lengths are multiples of the unit.
    fn allocate_in_units(&self, bytes: u64, align: u64, unit: u64, is_open_to_host: bool) -> Result<u64, OutOfMemory> {
        let mut state = self.state();
        let error = OutOfMemory { wanted: bytes, free: state.free_bytes, refusal: None };
        let align = align.max(unit);
        let length = bytes.max(1).checked_next_multiple_of(unit).ok_or_else(|| error.clone())?;
        let base = self.mapping.address();
        let fits = |(&start, &free): (&u64, &u64)| {
            let at = (base + start).checked_next_multiple_of(align)? - base;
            let end = at.checked_add(length)?;
            (end <= start + free).then_some((start, free, at))
        };
        let (start, free, at) = state.free.iter().find_map(fits).ok_or_else(|| error.clone())?;
        // Open what is not open yet, before anything is recorded.
        for granule in at / GRANULE..(at + length).div_ceil(GRANULE) {
            if state.used[granule as usize] == 0
                && self.mapping.open((granule * GRANULE) as usize, GRANULE as usize).is_err()
            {
                return Err(error);
            }
        }
        if is_open_to_host && self.mapping.set_key_of_open(at as usize, length as usize, 0).is_err() {
            return Err(error);
        }
        for granule in at / GRANULE..(at + length).div_ceil(GRANULE) {
            state.used[granule as usize] += 1;
        }
        state.free.remove(&start);
        if at > start {
            state.free.insert(start, at - start);
        }
        if at + length < start + free {
            state.free.insert(at + length, start + free - at - length);
        }
        state.live.insert(at, Live { length, is_open_to_host });
        state.free_bytes -= length;
        Ok(base + at)
    }

    /// Gives an allocation back. False if there is none at the address.
    pub fn free(&self, address: u64) -> bool {
        let mut state = self.state();
        let Some(Live { length, is_open_to_host }) =
            address.checked_sub(self.mapping.address()).and_then(|offset| state.live.remove(&offset))
        else {
            return false;
        };
        let mut start = address - self.mapping.address();
        if let Some(&key) = self.key.get().filter(|_| is_open_to_host) {
            // If it cannot be changed, it only stays open to the host.
            let _ = self.mapping.set_key_of_open(start as usize, length as usize, key);
        }
        for granule in start / GRANULE..(start + length).div_ceil(GRANULE) {
            state.used[granule as usize] -= 1;
            if state.used[granule as usize] == 0 {
                // If it cannot be closed, it only stays readable.
                let _ = self.mapping.close((granule * GRANULE) as usize, GRANULE as usize);
            }
        }
        state.free_bytes += length;
        let mut length = length;
        if let Some((&before, &bytes)) = state.free.range(..start).next_back()
            && before + bytes == start
        {
            state.free.remove(&before);
            start = before;
            length += bytes;
        }
        if let Some(bytes) = state.free.remove(&(start + length)) {
            length += bytes;
        }
        state.free.insert(start, length);
        true
    }

    /// The allocation that an address is in: its start and length.
    pub fn allocation(&self, address: u64) -> Option<(u64, u64)> {
        let offset = address.checked_sub(self.mapping.address())?;
        let (start, length) = self.state().allocation(offset)?;
        Some((self.mapping.address() + start, length))
    }

    /// What is open and not allocated: where each range begins, and its bytes.
    pub fn unallocated(&self) -> Vec<(u64, u64)> {
        let state = self.state();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (&start, &length) in &state.free {
            let end = start + length;
            let mut granules = start / GRANULE..end.div_ceil(GRANULE);
            while let Some(first) = granules.find(|&granule| state.used[granule as usize] > 0) {
                let closed = granules.find(|&granule| state.used[granule as usize] == 0);
                let (from, to) = (start.max(first * GRANULE), closed.map_or(end, |closed| end.min(closed * GRANULE)));
                ranges.push((self.mapping.address() + from, to - from));
            }
        }
        ranges
    }

    /// Where all of it begins, and how many bytes it has, with what is never allocated at its ends.
    pub fn range(&self) -> (u64, u64) {
        (self.mapping.address(), self.mapping.bytes())
    }

    /// Bytes in all.
    pub fn total_bytes(&self) -> u64 {
        self.mapping.bytes() - 2 * GRANULE
    }

    /// Bytes that are not allocated.
    pub fn free_bytes(&self) -> u64 {
        self.state().free_bytes
    }

    /// Copies to an allocation. False if it does not fit in one.
    pub fn write(&self, address: u64, bytes: &[u8]) -> bool {
        self.with_range(address, bytes.len(), |memory| {
            // SAFETY: the range is in a live allocation, which is accessible, and stays so meanwhile.
            unsafe { copy_shared(bytes.as_ptr(), memory, bytes.len()) }
        })
    }

    /// Copies from an allocation. False if it does not fit in one.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        self.with_range(address, bytes.len(), |memory| {
            // SAFETY: as for `write`; `bytes` are ours.
            unsafe { copy_shared(memory, bytes.as_mut_ptr(), bytes.len()) }
        })
    }

    /// Does something with a range that lies in one allocation, and keeps that from being given back meanwhile. False if
    /// there is no such allocation; a range of no bytes needs none.
    fn with_range(&self, address: u64, bytes: usize, access: impl FnOnce(*mut u8)) -> bool {
        let state = self.state();
        let Some(offset) = address.checked_sub(self.mapping.address()) else { return bytes == 0 };
        let is_inside = state
            .allocation(offset)
            .is_some_and(|(start, length)| offset.checked_add(bytes as u64).is_some_and(|end| end <= start + length));
        if is_inside {
            // SAFETY: allocations lie in the mapping.
            access(unsafe { self.mapping.base().add(offset as usize) });
        }
        is_inside || bytes == 0
    }
}

impl State {
    /// The allocation that an offset is in: where it starts, and its length.
    fn allocation(&self, offset: u64) -> Option<(u64, u64)> {
        let (&start, &Live { length, .. }) = self.live.range(..=offset).next_back()?;
        (offset < start + length).then_some((start, length))
    }
}

impl Memory for Arena {
    fn allocate(&self, bytes: u64, align: u64) -> Result<u64, OutOfMemory> {
        self.allocate(bytes, align)
    }

    fn allocate_shared(&self, bytes: u64, align: u64) -> Result<u64, OutOfMemory> {
        self.allocate_shared(bytes, align)
    }

    fn set_protection_key(&self, key: u32) -> io::Result<()> {
        self.set_protection_key(key)
    }

    fn free(&self, address: u64) -> bool {
        self.free(address)
    }

    fn allocation(&self, address: u64) -> Option<(u64, u64)> {
        self.allocation(address)
    }

    fn unallocated(&self) -> Vec<(u64, u64)> {
        self.unallocated()
    }

    fn range(&self) -> (u64, u64) {
        self.range()
    }

    fn total_bytes(&self) -> u64 {
        self.total_bytes()
    }

    fn free_bytes(&self) -> u64 {
        self.free_bytes()
    }

    fn write(&self, address: u64, bytes: &[u8]) -> bool {
        self.write(address, bytes)
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        self.read(address, bytes)
    }
}

impl Heap for Arena {
    fn allocate(&self, bytes: u64, _line: u32) -> u64 {
        self.allocate(bytes, 16).unwrap_or(0)
    }

    fn free(&self, address: u64, _line: u32) {
        self.free(address);
    }
}

#[cfg(test)]
mod tests {
    use super::Arena;

    #[test]
    fn what_is_freed_is_used_again() {
        let arena = Arena::new(8 << 20).unwrap();
        let all = arena.free_bytes();
        let one = arena.allocate(1000, 1).unwrap();
        let two = arena.allocate(3 << 20, 4096).unwrap();
        assert_eq!(two % 4096, 0);
        assert!(arena.allocate(8 << 20, 1).is_err());
        assert!(arena.write(one, &[7; 1000]));
        assert!(!arena.write(one, &[7; 1025]));
        let mut back = [0; 10];
        assert!(arena.read(one + 990, &mut back));
        assert_eq!(back, [7; 10]);
        assert!(arena.free(one) && !arena.free(one) && arena.free(two));
        assert_eq!(arena.free_bytes(), all);
        assert!(arena.allocate(8 << 20, 1).is_ok());
    }

    #[test]
    fn memory_between_allocations_is_open() {
        let arena = Arena::new(16 << 20).unwrap();
        assert_eq!(arena.unallocated(), []);
        let allocations = [1000, 5 << 20, 1000].map(|bytes| arena.allocate(bytes, 1).unwrap());
        let [one, two, three] = allocations;
        // The last granule has the end of the second and the third.
        assert_eq!(arena.unallocated(), [(three + 1024, (2 << 20) - ((2048 + (5 << 20)) % (2 << 20)))]);
        // Of the second, only what shares granules with the others stays open.
        assert!(arena.free(two));
        let left = arena.unallocated();
        assert_eq!(left[0], (one + 1024, (2 << 20) - 1024));
        assert_eq!((left[1].0 + left[1].1, left.len()), (three, 3));
        assert!(left.iter().all(|&(start, bytes)| bytes < 2 << 20 && arena.allocation(start).is_none()));
    }

    #[test]
    fn new_memory_is_zero() {
        let arena = Arena::new(8 << 20).unwrap();
        let one = arena.allocate(4 << 20, 1).unwrap();
        assert!(arena.write(one, &[1; 4096]));
        assert!(arena.free(one));
        let two = arena.allocate(4 << 20, 1).unwrap();
        let mut back = [9; 4096];
        assert!(arena.read(two, &mut back));
        assert_eq!(back, [0; 4096]);
    }

    #[test]
    fn what_the_host_shares_has_pages_of_its_own() {
        // SAFETY: it makes a key, or does not.
        let key = unsafe { libc::syscall(libc::SYS_pkey_alloc, 0, 0) };
        let Ok(key) = u32::try_from(key) else { return };
        let arena = Arena::new(8 << 20).unwrap();
        arena.set_protection_key(key).unwrap();
        let one = arena.allocate(1000, 1).unwrap();
        let two = arena.allocate_shared(1000, 1).unwrap();
        let three = arena.allocate(1000, 1).unwrap();
        assert!(two.is_multiple_of(4096) && one / 4096 != two / 4096 && two / 4096 != three / 4096);
        assert_eq!([one, two, three].map(key_at), [key, 0, key]);
        assert!(arena.free(two));
        assert_eq!(key_at(two), key);
        assert!(arena.set_protection_key(key).is_err(), "there are allocations");
    }

    /// The protection key of the memory at an address.
    fn key_at(address: u64) -> u32 {
        let text = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut is_here = false;
        for line in text.lines() {
            let parse = |text: &str| u64::from_str_radix(text, 16).ok();
            let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
            if let Some((Some(start), Some(end))) = range.map(|(start, end)| (parse(start), parse(end))) {
                is_here = (start..end).contains(&address);
            }
            if let Some(key) = line.strip_prefix("ProtectionKey:").filter(|_| is_here) {
                return key.trim().parse().unwrap();
            }
        }
        panic!("nothing is at {address:#x}");
    }
}
