//! Shadow planes: memory of the host beside that of the device.
//!
//! Unsafe: it writes memory by its address. All of it is its own.
#![allow(unsafe_code, reason = "it writes memory by its address")]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use toolkit::{Plane, PlaneLayout};

use crate::address_space::{self, Memory};

/// A plane.
#[derive(Debug)]
pub(super) struct ShadowPlane {
    memory: address_space::Range,
    /// How many cells there are.
    cells: u64,
    /// How many bytes each has.
    cell: u64,
    /// Memory that is full of the value that large ranges have. They share it.
    common: (u8, Memory),
}

/// How many bytes are looked at together.
const SEARCHED: u64 = 4096;
/// Words of a page, which the system gives memory to at once.
const PAGE_WORDS: u64 = 4096 / 8;
/// Pages that are asked about at once.
const PAGES: u64 = 1 << 16;
/// In `/proc/self/pagemap`: a page is in memory, or was written to disk.
const IS_THERE: u64 = 3 << 62;
/// Large ranges are changed in pieces of this size.
const PIECE: u64 = 1 << 20;

impl ShadowPlane {
    /// For so many bytes of memory.
    pub(super) fn new(bytes: u64, layout: PlaneLayout) -> io::Result<Self> {
        let cells = bytes.div_ceil(layout.granule.max(1));
        // The cells of the last access may be loaded in one piece, which ends after them.
        let memory = address_space::Range::reserve((cells * layout.cell + 64).next_multiple_of(4096), 4096)?;
        memory.allow(memory.address, memory.bytes, true)?;
        Ok(Self { memory, cells, cell: layout.cell, common: (layout.common, Memory::full_of(layout.common, PIECE)?) })
    }

    /// Exchanges whole pieces.
    fn set_pieces(&self, first: u64, last: u64, value: u8) -> io::Result<()> {
        if value == 0 {
            return self.memory.clear(first, last - first);
        }
        (first..last).step_by(PIECE as usize).try_for_each(|at| self.memory.copy(at, PIECE, &self.common.1))
    }

    /// Words of eight bytes, by their numbers.
    fn words(&self, first: u64, count: u64) -> &[AtomicU64] {
        let all = self.cells * self.cell / 8;
        let end = first.saturating_add(count).min(all);
        let first = first.min(end);
        let start = (self.memory.address + first * 8) as *const AtomicU64;
        // SAFETY: these are words of our cells, which are there as long as the plane, and aligned to pages. Kernels that run
        // meanwhile change them as words, too.
        unsafe { std::slice::from_raw_parts(start, (end - first) as usize) }
    }

    /// Pages of words that the system has given memory to, as words.
    fn pages(&self, first: u64, end: u64) -> io::Result<Vec<Range<u64>>> {
        let pagemap = File::open("/proc/self/pagemap")?;
        let (first, end) = (first / PAGE_WORDS, end.div_ceil(PAGE_WORDS));
        let (mut found, mut entries): (Vec<Range<u64>>, Vec<u8>) = (Vec::new(), Vec::new());
        for piece in (first..end).step_by(PAGES as usize) {
            entries.resize(8 * PAGES.min(end - piece) as usize, 0);
            pagemap.read_exact_at(&mut entries, (self.memory.address / 4096 + piece) * 8)?;
            for (entry, page) in entries.as_chunks().0.iter().zip(piece..) {
                if u64::from_le_bytes(*entry) & IS_THERE == 0 {
                    continue;
                }
                let words = page * PAGE_WORDS..(page + 1) * PAGE_WORDS;
                match found.last_mut().filter(|last| last.end == words.start) {
                    Some(last) => last.end = words.end,
                    None => found.push(words),
                }
            }
        }
        Ok(found)
    }

    /// Writes cells, from an address to before another.
    fn write_all(&self, start: u64, end: u64, value: u8) {
        // SAFETY: `fill` only asks for addresses of its cells. Kernels that run meanwhile see one or the other.
        unsafe { (start as *mut u8).write_bytes(value, (end - start) as usize) };
    }
}

/// The addresses of the pieces that lie between two addresses as a whole, if there are any.
fn whole_pieces(start: u64, end: u64) -> Option<Range<u64>> {
    let pieces = start.next_multiple_of(PIECE)..end / PIECE * PIECE;
    (!pieces.is_empty()).then_some(pieces)
}

impl Plane for ShadowPlane {
    fn address(&self) -> u64 {
        self.memory.address
    }

    fn fill(&self, first: u64, count: u64, value: u8) {
        let end = first.saturating_add(count).min(self.cells);
        if first >= end {
            return;
        }
        let (start, end) = (self.memory.address + first * self.cell, self.memory.address + end * self.cell);
        let shared = whole_pieces(start, end).filter(|_| value == 0 || value == self.common.0);
        match shared.filter(|pieces| self.set_pieces(pieces.start, pieces.end, value).is_ok()) {
            Some(pieces) => {
                self.write_all(start, pieces.start, value);
                self.write_all(pieces.end, end, value);
            }
            None => self.write_all(start, end, value),
        }
    }

    fn give_back(&self, first: u64, count: u64) {
        let end = first.saturating_add(count).min(self.cells);
        let [start, end] = [first, end].map(|cell| self.memory.address + cell * self.cell);
        if let Some(pieces) = whole_pieces(start, end) {
            // What cannot be given back stays as it is: zeros.
            let _ = self.set_pieces(pieces.start, pieces.end, 0);
        }
    }

    fn first_set(&self, first: u64, count: u64) -> Option<u64> {
        let end = first.saturating_add(count).min(self.cells);
        let (mut at, end) = (first * self.cell, end * self.cell);
        while at < end {
            let bytes = (end - at).min(SEARCHED);
            // SAFETY: these are bytes of our cells. Kernels that run meanwhile may change them, which the program has not
            // ordered with who asks: they are not kept, and any answer is right.
            let cells = unsafe { std::slice::from_raw_parts((self.memory.address + at) as *const u8, bytes as usize) };
            if cells.iter().fold(0, |any, byte| any | byte) != 0 {
                let within = cells.iter().position(|byte| *byte != 0).unwrap_or_default();
                return Some((at + within as u64) / self.cell);
            }
            at += bytes;
        }
        None
    }

    fn find_word(&self, first: u64, count: u64, holds: &dyn Fn(u64) -> bool) -> Option<(u64, u64)> {
        let words = self.words(first, count).iter().map(|word| word.load(Ordering::Relaxed));
        words.zip(first..).find(|&(word, _)| holds(word)).map(|(word, number)| (number, word))
    }

    fn raise_words(&self, first: u64, count: u64, least: u64) {
        // Not in one step, which would be ten times slower: a kernel that runs meanwhile may be first or last anyway.
        for word in self.words(first, count) {
            if word.load(Ordering::Relaxed) < least {
                word.store(least, Ordering::Relaxed);
            }
        }
    }

    fn touched_words(&self, first: u64, count: u64) -> Vec<Range<u64>> {
        let end = first.saturating_add(count).min(self.cells * self.cell / 8);
        if first >= end {
            return Vec::new();
        }
        self.pages(first, end).unwrap_or_else(|_| std::iter::once(first..end).collect())
    }

    fn forget_words(&self, words: &Range<u64>) {
        let [start, end] = [words.start, words.end].map(|word| self.memory.address + word * 8);
        let (first, last) = (start.next_multiple_of(4096), end / 4096 * 4096);
        if first < last && self.set_pieces(first, last, 0).is_ok() {
            self.write_all(start, first, 0);
            self.write_all(last, end, 0);
        } else {
            self.write_all(start, end, 0);
        }
    }

    fn copy(&self, from: u64, to: u64, count: u64) {
        let is_inside = |first: u64| first.checked_add(count).is_some_and(|end| end <= self.cells);
        if is_inside(from) && is_inside(to) {
            let [from, to] = [from, to].map(|cell| self.memory.address + cell * self.cell);
            // SAFETY: both are ranges of our cells.
            unsafe { std::ptr::copy(from as *const u8, to as *mut u8, (count * self.cell) as usize) };
        }
    }

    fn read(&self, first: u64, bytes: &mut [u8]) {
        let all = self.cells * self.cell;
        let start = (first * self.cell).min(all);
        let count = (bytes.len() as u64).min(all - start) as usize;
        let (inside, beyond) = bytes.split_at_mut(count);
        // SAFETY: these are bytes of our cells. What kernels write meanwhile is there or not.
        unsafe { std::ptr::copy((self.memory.address + start) as *const u8, inside.as_mut_ptr(), count) };
        beyond.fill(0);
    }

    fn write(&self, first: u64, bytes: &[u8]) {
        let start = first * self.cell;
        if start.checked_add(bytes.len() as u64).is_some_and(|end| end <= self.cells * self.cell) {
            // SAFETY: these are bytes of our cells.
            unsafe { std::ptr::copy(bytes.as_ptr(), (self.memory.address + start) as *mut u8, bytes.len()) };
        }
    }

    fn change(&self, cell: u64, clear: u8, set: u8) {
        if cell >= self.cells {
            return;
        }
        // SAFETY: it is one of our cells, and only written as this type here; kernels read it.
        let cell = unsafe { AtomicU8::from_ptr((self.memory.address + cell * self.cell) as *mut u8) };
        let _ = cell.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |old| Some(old & !clear | set));
    }
}

#[cfg(test)]
mod tests {
    use toolkit::PlaneOf;

    use super::*;

    const LAYOUT: PlaneLayout = PlaneLayout { of: PlaneOf::Global, granule: 4, cell: 1, common: 0xff };

    #[test]
    fn large_ranges_share_memory_and_small_ones_do_not() {
        let plane = ShadowPlane::new(64 << 20, LAYOUT).unwrap();
        let cell = |index: u64| {
            // SAFETY: one of the cells.
            unsafe { ((plane.address() + index) as *const u8).read() }
        };
        let (first, count) = (1024, (30 << 20) / 4 + 1);
        let near = [first - 1, first, 5 << 20, first + count - 1, first + count];
        for _ in 0..2 {
            plane.fill(first, count, 0xff);
            assert_eq!(near.map(cell), [0, 0xff, 0xff, 0xff, 0]);
            plane.fill(first, count, 7);
            assert_eq!(near.map(cell), [0, 7, 7, 7, 0]);
            plane.fill(first, count, 0);
            assert_eq!(near.map(cell), [0; 5]);
        }
    }

    #[test]
    fn zeros_that_are_given_back_take_no_memory() {
        let plane = ShadowPlane::new(64 << 20, PlaneLayout { granule: 1, ..LAYOUT }).unwrap();
        let pages =
            || plane.touched_words(0, u64::MAX).iter().map(|words| words.end - words.start).sum::<u64>() / PAGE_WORDS;
        let (first, count) = (100, 10 << 20);
        plane.fill(first, count, 7);
        plane.write_all(plane.address() + first, plane.address() + first + count, 0);
        plane.write(5 << 20, &[0]);
        plane.write(20 << 20, &[9]);
        assert!(pages() > (10 << 20) / 4096, "{}", pages());
        plane.give_back(first, count);
        // What is beside whole pieces stays.
        assert!(pages() < 2 * PIECE / 4096 + 8, "{}", pages());
        assert_eq!(plane.first_set(0, u64::MAX), Some(20 << 20));
        plane.write(6 << 20, &[3]);
        assert_eq!(plane.first_set(0, u64::MAX), Some(6 << 20));
    }

    #[test]
    fn cells_are_found_and_copied() {
        let plane = ShadowPlane::new(64 << 20, LAYOUT).unwrap();
        assert_eq!(plane.first_set(0, u64::MAX), None);
        plane.fill(5_000_000, 3, 7);
        assert_eq!(plane.first_set(0, u64::MAX), Some(5_000_000));
        assert_eq!(plane.first_set(5_000_002, 9), Some(5_000_002));
        assert_eq!(plane.first_set(5_000_003, u64::MAX), None);
        plane.copy(5_000_000, 5_000_002, 4);
        assert_eq!(plane.first_set(5_000_003, 9), Some(5_000_003));
        assert_eq!(plane.first_set(5_000_005, u64::MAX), None);
        plane.copy(u64::MAX - 1, 0, 4);
        assert_eq!(plane.first_set(0, 4), None);
        let last = (64 << 20) / 4 - 2;
        plane.write(last, &[1, 2]);
        plane.write(last + 1, &[3, 4]);
        let mut cells = [9; 4];
        plane.read(last, &mut cells);
        assert_eq!(cells, [1, 2, 0, 0]);
    }

    #[test]
    fn words_are_known_where_they_were_written() {
        let plane = ShadowPlane::new(64 << 20, PlaneLayout { cell: 16, ..LAYOUT }).unwrap();
        let all = plane.cells * 2;
        assert_eq!(plane.touched_words(0, all), []);
        plane.raise_words(5000, 1, 7);
        plane.raise_words(5200, 1, 8);
        let touched = plane.touched_words(0, all);
        assert!(touched.iter().any(|words| words.contains(&5000)), "{touched:?}");
        assert!(touched.iter().map(|words| words.end - words.start).sum::<u64>() < all / 2, "{touched:?}");
        let words = |first: u64| {
            let mut bytes = [[1; 8]; 4];
            plane.read(first / 2, bytes.as_flattened_mut());
            bytes.map(u64::from_le_bytes)
        };
        assert_eq!(words(4998), [0, 0, 7, 0]);
        assert_eq!(words(all - 2), [0; 4]);
        touched.iter().for_each(|words| plane.forget_words(words));
        assert_eq!(words(4998), [0; 4]);
        assert_eq!(plane.touched_words(all, 9), []);
    }

    #[test]
    fn cells_beyond_the_end_are_left_out() {
        let plane = ShadowPlane::new(4096, LAYOUT).unwrap();
        plane.fill(1000, u64::MAX, 1);
        plane.change(5000, 0, 1);
        plane.change(3, 0, 6);
        plane.change(3, 4, 1);
        // SAFETY: cells of the plane.
        let cells = unsafe { [3, 999, 1000, 1023].map(|at| ((plane.address() + at) as *const u8).read()) };
        assert_eq!(cells, [3, 0, 1, 1]);
    }
}
