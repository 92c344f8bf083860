//! Address space: reserved as a whole, made accessible piece by piece.

use std::arch::asm;
use std::io;

/// A range of reserved addresses.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: *mut u8,
    bytes: usize,
}

// SAFETY: a mapping is only a range of addresses; who accesses what is in it is the business of its users.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Reserves addresses without memory behind them: from a wanted one on, if nothing is there. So kernels mostly find the same
    /// addresses in each run, and what a wrong one leads to is the same, too.
    pub(crate) fn reserve(bytes: usize, wanted: usize) -> io::Result<Self> {
        // SAFETY: a new mapping at an address that the system chooses: what it is asked for is a hint.
        let base = unsafe {
            libc::mmap(
                wanted as *mut libc::c_void,
                bytes,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { base: base.cast(), bytes })
    }

    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    /// How many addresses.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    pub(crate) fn address(&self) -> u64 {
        self.base as u64
    }

    /// Makes a part accessible; it reads as zero at first.
    pub(crate) fn open(&self, offset: usize, bytes: usize) -> io::Result<()> {
        self.protect(offset, bytes, libc::PROT_READ | libc::PROT_WRITE)
    }

    /// Takes the memory behind a part away.
    pub(crate) fn close(&self, offset: usize, bytes: usize) -> io::Result<()> {
        assert!(offset + bytes <= self.bytes, "only what is reserved is closed");
        // SAFETY: a part of our own mapping; nobody may access what is closed.
        let result = unsafe { libc::madvise(self.base.add(offset).cast(), bytes, libc::MADV_DONTNEED) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        self.protect(offset, bytes, libc::PROT_NONE)
    }

    /// The part keeps its protection key.
    fn protect(&self, offset: usize, bytes: usize, protection: i32) -> io::Result<()> {
        assert!(offset + bytes <= self.bytes, "only what is reserved is opened");
        // SAFETY: a part of our own mapping.
        let result = unsafe { libc::mprotect(self.base.add(offset).cast(), bytes, protection) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Gives all of it a protection key of the processor, before a part is opened.
    pub(crate) fn set_key(&self, key: u32) -> io::Result<()> {
        self.protect_with_key(0, self.bytes, libc::PROT_NONE, key)
    }

    /// Gives a part that is open another protection key; all threads may use the key 0.
    pub(crate) fn set_key_of_open(&self, offset: usize, bytes: usize, key: u32) -> io::Result<()> {
        self.protect_with_key(offset, bytes, libc::PROT_READ | libc::PROT_WRITE, key)
    }

    fn protect_with_key(&self, offset: usize, bytes: usize, protection: i32, key: u32) -> io::Result<()> {
        assert!(offset + bytes <= self.bytes, "only what is reserved gets a key");
        // SAFETY: a part of our own mapping. Who may not use the key may not access it.
        let result = unsafe {
            libc::syscall(libc::SYS_pkey_mprotect, self.base.add(offset), bytes, i64::from(protection), i64::from(key))
        };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours.
        unsafe { libc::munmap(self.base.cast(), self.bytes) };
    }
}

/// Copies memory that kernels may access meanwhile: byte by byte, as relaxed atomic accesses would. What a kernel writes at
/// the same time is copied or not, each byte for itself.
///
/// # Safety
/// All bytes can be read from one range, and written to the other. Nobody but kernels accesses them meanwhile.
pub(super) unsafe fn copy_shared(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise; the direction flag is clear at the start of assembly. The instruction does nothing but
    // accesses of bytes, each of which is atomic on this processor, so that it races with no access of compiled code.
    unsafe {
        asm!(
            "rep movsb",
            inout("rcx") bytes => _,
            inout("rsi") from => _,
            inout("rdi") to => _,
            options(nostack, preserves_flags),
        );
    }
}
