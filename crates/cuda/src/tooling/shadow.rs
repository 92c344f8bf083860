//! The shadow of device memory: one byte for four, two bits for each of these, 3 if it can be accessed and 0 if not.
//!
//! Unsafe: it writes memory by its address. All of it is its own.
#![allow(unsafe_code, reason = "it writes memory by its address")]

use std::io;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::address_space::{Memory, Range};

/// The shadow of a range of memory.
#[derive(Debug)]
pub(super) struct Shadow {
    memory: Range,
    /// Where the memory begins that it is the shadow of.
    base: u64,
    bytes: u64,
    /// The shadow of memory that can be accessed. Large allocations share it.
    accessible: Memory,
}

/// The shadow of large allocations is changed in pieces of this size.
const PIECE: u64 = 1 << 20;

impl Shadow {
    pub(super) fn new(base: u64, bytes: u64) -> io::Result<Self> {
        // The shadow of the last access may be loaded in one buffer, which ends after it.
        let memory = Range::reserve((bytes / 4 + 64).next_multiple_of(4096), 4096)?;
        memory.allow(memory.address, memory.bytes, true)?;
        Ok(Self { memory, base, bytes, accessible: Memory::full_of(0xff, PIECE)? })
    }

    /// Where it begins.
    pub(super) fn address(&self) -> u64 {
        self.memory.address
    }

    /// Says of a range whether it can be accessed, byte by byte.
    pub(super) fn set(&self, address: u64, bytes: u64, can_access: bool) {
        let Some(offset) = address.checked_sub(self.base).filter(|offset| offset.saturating_add(bytes) <= self.bytes)
        else {
            // Memory without a shadow.
            return;
        };
        let (first_byte, end_byte) = (offset, offset + bytes);
        if first_byte / 4 == end_byte / 4 {
            return self.set_within(first_byte / 4, first_byte % 4..end_byte % 4, can_access);
        }
        if !first_byte.is_multiple_of(4) {
            self.set_within(first_byte / 4, first_byte % 4..4, can_access);
        }
        let start = self.memory.address + first_byte.div_ceil(4);
        let end = self.memory.address + end_byte / 4;
        let (first, last) = (start.next_multiple_of(PIECE), end / PIECE * PIECE);
        if first < last && self.set_pieces(first, last, can_access).is_ok() {
            self.fill(start, first - start, can_access);
            self.fill(last, end - last, can_access);
        } else {
            self.fill(start, end - start, can_access);
        }
        self.set_within(end_byte / 4, 0..end_byte % 4, can_access);
    }

    /// Says it of bytes of one word, whose other bytes stay as they are: what the program allocates from a heap of its own
    /// may begin and end anywhere.
    fn set_within(&self, word: u64, bytes: std::ops::Range<u64>, can_access: bool) {
        if bytes.is_empty() {
            return;
        }
        let mask = ((1_u32 << (2 * bytes.end)) - (1 << (2 * bytes.start))) as u8;
        // SAFETY: the word is one of the memory that this is the shadow of, so the cell is within ours, and it is only
        // written as this type here; kernels read it.
        let cell = unsafe { AtomicU8::from_ptr((self.memory.address + word) as *mut u8) };
        if can_access {
            cell.fetch_or(mask, Ordering::Relaxed);
        } else {
            cell.fetch_and(!mask, Ordering::Relaxed);
        }
    }

    /// Exchanges whole pieces.
    fn set_pieces(&self, first: u64, last: u64, can_access: bool) -> io::Result<()> {
        if !can_access {
            self.memory.unmap(first, last - first)?;
            return self.memory.allow(first, last - first, true);
        }
        (first..last).step_by(PIECE as usize).try_for_each(|at| self.memory.copy(at, PIECE, &self.accessible))
    }

    /// Writes a part of the shadow.
    fn fill(&self, start: u64, bytes: u64, can_access: bool) {
        let full = if can_access { 0xff } else { 0 };
        // SAFETY: the range is within the memory that this is the shadow of, so its shadow is within ours. Kernels that run
        // meanwhile see one or the other.
        unsafe { (start as *mut u8).write_bytes(full, bytes as usize) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_there_in_part() {
        let shadow = Shadow::new(0x10000, 0x10000).unwrap();
        let cell = |index: u64| {
            // SAFETY: within the shadow.
            unsafe { ((shadow.address() + index) as *const u8).read() }
        };
        shadow.set(0x10100, 9, true);
        assert_eq!([cell(0x3f), cell(0x40), cell(0x41), cell(0x42), cell(0x43)], [0, 0xff, 0xff, 0b11, 0]);
        shadow.set(0x10100, 9, false);
        assert_eq!(cell(0x42), 0);
        shadow.set(0x20000, 8, true);
    }

    #[test]
    fn neighbours_in_a_word_keep_what_they_have() {
        let shadow = Shadow::new(0x10000, 0x10000).unwrap();
        let cells = || {
            // SAFETY: within the shadow.
            unsafe { (shadow.address() as *const [u8; 3]).read() }
        };
        shadow.set(0x10001, 4, true);
        assert_eq!(cells(), [0b1111_1100, 0b11, 0]);
        shadow.set(0x10005, 2, true);
        assert_eq!(cells(), [0b1111_1100, 0b11_1111, 0]);
        shadow.set(0x10007, 5, true);
        assert_eq!(cells(), [0b1111_1100, 0xff, 0xff]);
        shadow.set(0x10005, 2, false);
        assert_eq!(cells(), [0b1111_1100, 0b1100_0011, 0xff]);
        shadow.set(0x10002, 1, false);
        assert_eq!(cells(), [0b1100_1100, 0b1100_0011, 0xff]);
    }

    #[test]
    fn large_allocations() {
        let shadow = Shadow::new(0, 64 << 20).unwrap();
        let cell = |address: u64| {
            // SAFETY: within the shadow.
            unsafe { ((shadow.address() + address / 4) as *const u8).read() }
        };
        for _ in 0..2 {
            shadow.set(4096, (30 << 20) + 1, true);
            let (last, next) = (4096 + (30 << 20), 4096 + (30 << 20) + 4);
            assert_eq!([4092, 4096, 15 << 20, last - 4, last, next].map(cell), [0, 0xff, 0xff, 0xff, 3, 0]);
            shadow.set(4096, (30 << 20) + 1, false);
            assert_eq!([4092, 4096, 15 << 20, last - 4, last, next].map(cell), [0; 6]);
        }
    }
}
