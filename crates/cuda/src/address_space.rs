//! Addresses without memory, memory without addresses, and how one is put after the other.
//!
//! Unsafe: it changes what the process can access. Only addresses that were reserved here are changed.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};

use descriptor::Kept;

/// Addresses that nothing else uses.
#[derive(Debug)]
pub(crate) struct Range {
    /// All that was reserved, to have an aligned part.
    base: *mut libc::c_void,
    reserved: usize,
    pub(crate) address: u64,
    pub(crate) bytes: u64,
}

// SAFETY: it is only a range of addresses; who accesses what is in it is the business of its users.
unsafe impl Send for Range {}
// SAFETY: it is only a range of addresses; who accesses what is in it is the business of its users.
unsafe impl Sync for Range {}

/// Memory that can be put behind addresses, several times if need be. It is zero at first.
#[derive(Debug)]
pub(crate) struct Memory {
    file: Kept,
    pub(crate) bytes: u64,
}

impl Memory {
    pub(crate) fn new(bytes: u64) -> io::Result<Self> {
        // SAFETY: the name is a string that ends with zero.
        let descriptor = unsafe { libc::memfd_create(c"warpgrind".as_ptr(), libc::MFD_CLOEXEC) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor, which nobody else has.
        let file = unsafe { File::from_raw_fd(descriptor) };
        Self::with_room(file, bytes)
    }

    /// Memory that is full of a byte.
    pub(crate) fn full_of(byte: u8, bytes: u64) -> io::Result<Self> {
        let memory = Self::new(bytes)?;
        let page = vec![byte; 1 << 16];
        let mut left = bytes as usize;
        while left > 0 {
            let part = left.min(page.len());
            memory.file.write_all(&page[..part])?;
            left -= part;
        }
        Ok(memory)
    }

    /// The memory of a file, which others can open too. There is room for all of it: where there is none, an access would
    /// be a signal.
    pub(crate) fn of_file(file: File, bytes: u64) -> io::Result<Self> {
        // SAFETY: the descriptor is open.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes.cast_signed()) } {
            0 => Self::with_room(file, bytes),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }

    fn with_room(file: File, bytes: u64) -> io::Result<Self> {
        file.set_len(bytes)?;
        Ok(Self { file: Kept::new(file)?, bytes })
    }
}

impl Range {
    /// Reserves addresses, the first a multiple of `align`.
    pub(crate) fn reserve(bytes: u64, align: u64) -> io::Result<Self> {
        Self::reserve_from(0, bytes, align)
    }

    /// Reserves addresses from a wanted one on, if nothing is there, and else elsewhere.
    pub(crate) fn reserve_from(wanted: u64, bytes: u64, align: u64) -> io::Result<Self> {
        let too_much = || io::Error::from(io::ErrorKind::OutOfMemory);
        let reserved = bytes.checked_add(align).and_then(|all| usize::try_from(all).ok()).ok_or_else(too_much)?;
        // SAFETY: a new mapping at an address that the system chooses: what it is asked for is a hint.
        let base = unsafe { libc::mmap(wanted as *mut libc::c_void, reserved, libc::PROT_NONE, EMPTY, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { base, reserved, address: (base as u64).next_multiple_of(align), bytes })
    }

    /// Puts memory behind a part of the addresses. It cannot be accessed yet.
    pub(crate) fn map(&self, address: u64, bytes: u64, memory: &Memory, offset: u64) -> io::Result<()> {
        assert!(offset + bytes <= memory.bytes, "only memory that is there is mapped");
        self.replace(address, bytes, libc::MAP_SHARED, memory.file.get()?.as_raw_fd(), offset)
    }

    /// Puts a copy of memory behind a part of the addresses, which costs memory only where it is written.
    pub(crate) fn copy(&self, address: u64, bytes: u64, memory: &Memory) -> io::Result<()> {
        assert!(bytes <= memory.bytes, "only memory that is there is mapped");
        self.replace(address, bytes, libc::MAP_PRIVATE | libc::MAP_NORESERVE, memory.file.get()?.as_raw_fd(), 0)?;
        self.allow(address, bytes, true)
    }

    /// Takes the memory behind a part of the addresses away.
    pub(crate) fn unmap(&self, address: u64, bytes: u64) -> io::Result<()> {
        self.replace(address, bytes, EMPTY, -1, 0)
    }

    /// Puts zeros behind a part of the addresses, which cost memory only where they are written. At no moment is nothing there.
    pub(crate) fn clear(&self, address: u64, bytes: u64) -> io::Result<()> {
        self.replace_with(address, bytes, protection(true), EMPTY, -1, 0)
    }

    fn replace(&self, address: u64, bytes: u64, flags: i32, file: i32, offset: u64) -> io::Result<()> {
        self.replace_with(address, bytes, libc::PROT_NONE, flags, file, offset)
    }

    fn replace_with(
        &self,
        address: u64,
        bytes: u64,
        protection: i32,
        flags: i32,
        file: i32,
        offset: u64,
    ) -> io::Result<()> {
        self.check(address, bytes);
        let offset = offset.cast_signed();
        let flags = flags | libc::MAP_FIXED;
        // SAFETY: a part of our own addresses; whoever gives it promises by the program that nobody uses what was there.
        let result = unsafe { libc::mmap(address as *mut _, bytes as usize, protection, flags, file, offset) };
        if result == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Lets a part of the addresses be accessed, or not.
    pub(crate) fn allow(&self, address: u64, bytes: u64, is_allowed: bool) -> io::Result<()> {
        self.check(address, bytes);
        // SAFETY: a part of our own addresses.
        let result = unsafe { libc::mprotect(address as *mut _, bytes as usize, protection(is_allowed)) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Lets a part of the addresses be accessed by who may use a protection key, or by nobody.
    pub(crate) fn allow_with_key(&self, address: u64, bytes: u64, is_allowed: bool, key: u32) -> io::Result<()> {
        self.check(address, bytes);
        // SAFETY: a part of our own addresses.
        let result = unsafe {
            libc::syscall(libc::SYS_pkey_mprotect, address, bytes, i64::from(protection(is_allowed)), i64::from(key))
        };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    fn check(&self, address: u64, bytes: u64) {
        let is_within = address >= self.address && address + bytes <= self.address + self.bytes;
        assert!(is_within, "only what is reserved is changed");
    }
}

/// Whether there is something at all of a range of addresses, whoever has put it there.
pub(crate) fn is_mapped(address: u64, bytes: u64) -> bool {
    const PAGE: u64 = 4096;
    /// Pages that are asked for at a time.
    const PAGES: usize = 1 << 16;
    let Some(end) = address.checked_add(bytes).and_then(|end| end.checked_next_multiple_of(PAGE)) else { return false };
    let mut at = address / PAGE * PAGE;
    let mut states = vec![0_u8; ((end - at) / PAGE).min(PAGES as u64) as usize];
    while at < end {
        let part = (end - at).min(PAGES as u64 * PAGE);
        // SAFETY: it only asks; there is room for the state of each page of the part.
        if unsafe { libc::mincore(at as *mut _, part as usize, states.as_mut_ptr()) } != 0 {
            return false;
        }
        at += part;
    }
    true
}

fn protection(is_allowed: bool) -> i32 {
    if is_allowed { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_NONE }
}

/// Addresses without memory.
const EMPTY: i32 = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

impl Drop for Range {
    fn drop(&mut self) {
        // SAFETY: the addresses are ours.
        unsafe { libc::munmap(self.base, self.reserved) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mapped_is_told_from_what_is_not() {
        let range = Range::reserve(8192, 4096).unwrap();
        assert!(is_mapped(range.address + 1, 8191));
        assert!(!is_mapped(range.address, 1 << 40));
        assert!(!is_mapped(0x1000, 1) && !is_mapped(u64::MAX, 2));
    }

    #[test]
    fn memory_has_two_addresses() {
        let memory = Memory::new(8192).unwrap();
        let range = Range::reserve(3 * 8192, 1 << 20).unwrap();
        assert_eq!(range.address % (1 << 20), 0);
        let (one, two) = (range.address, range.address + 8192);
        range.map(one, 8192, &memory, 0).unwrap();
        range.map(two, 4096, &memory, 4096).unwrap();
        range.allow(one, 8192 + 4096, true).unwrap();
        // SAFETY: both addresses are mapped and allowed.
        let seen = unsafe {
            ((one + 4100) as *mut u32).write_volatile(7);
            ((two + 4) as *const u32).read_volatile()
        };
        assert_eq!(seen, 7);
        range.unmap(one, 8192).unwrap();
    }
}
