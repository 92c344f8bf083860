//! The shadow of device memory: one byte for four, two bits for each of these, 3 if it can be accessed and 0 if not.

use std::ops::Range;

use toolkit::{Host, Plane, PlaneLayout, PlaneOf};

/// The shadow of the memory of the device.
#[derive(Debug)]
pub(super) struct Shadow {
    plane: Box<dyn Plane>,
    /// Where the memory begins that it is the shadow of.
    pub(super) base: u64,
    pub(super) bytes: u64,
}

/// A cell of memory that can be accessed.
const FULL: u8 = 0xff;

impl Shadow {
    pub(super) fn new(host: &dyn Host) -> std::io::Result<Self> {
        let (base, bytes) = host.memory().range();
        Ok(Self {
            plane: host.plane(PlaneLayout { of: PlaneOf::Global, cell: 1, granule: 4, common: FULL })?,
            base,
            bytes,
        })
    }

    /// Where it begins.
    pub(super) fn address(&self) -> u64 {
        self.plane.address()
    }

    /// Says of a range whether it can be accessed, byte by byte.
    pub(super) fn set(&self, address: u64, bytes: u64, can_access: bool) {
        let Some(first) = address.checked_sub(self.base).filter(|offset| offset.saturating_add(bytes) <= self.bytes)
        else {
            // Memory without a shadow.
            return;
        };
        let end = first + bytes;
        if first / 4 == end / 4 {
            return self.set_within(first / 4, first % 4..end % 4, can_access);
        }
        if !first.is_multiple_of(4) {
            self.set_within(first / 4, first % 4..4, can_access);
        }
        self.plane.fill(first.div_ceil(4), end / 4 - first.div_ceil(4), if can_access { FULL } else { 0 });
        self.set_within(end / 4, 0..end % 4, can_access);
    }

    /// Says it of bytes of one word, whose other bytes stay as they are: what the program allocates from a heap of its own
    /// may begin and end anywhere.
    fn set_within(&self, word: u64, bytes: Range<u64>, can_access: bool) {
        if bytes.is_empty() {
            return;
        }
        let mask = ((1_u32 << (2 * bytes.end)) - (1 << (2 * bytes.start))) as u8;
        let (clear, set) = if can_access { (0, mask) } else { (mask, 0) };
        self.plane.change(word, clear, set);
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::sync::Mutex;

    use super::*;

    /// Cells in a list.
    #[derive(Debug)]
    struct Cells(Mutex<Vec<u8>>);

    impl Plane for Cells {
        fn address(&self) -> u64 {
            0
        }

        fn fill(&self, first: u64, count: u64, value: u8) {
            self.0.lock().unwrap()[first as usize..(first + count) as usize].fill(value);
        }

        fn first_set(&self, first: u64, count: u64) -> Option<u64> {
            let cells = self.0.lock().unwrap();
            (first..first + count).find(|cell| cells[*cell as usize] != 0)
        }

        fn find_word(&self, first: u64, count: u64, holds: &dyn Fn(u64) -> bool) -> Option<(u64, u64)> {
            let cells = self.0.lock().unwrap();
            let words = cells.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
            let mut some = words.zip(0..).skip(first as usize).take(count as usize);
            some.find(|&(word, _)| holds(word)).map(|(word, number)| (number, word))
        }

        fn raise_words(&self, first: u64, count: u64, least: u64) {
            let mut cells = self.0.lock().unwrap();
            for bytes in cells.as_chunks_mut().0.iter_mut().skip(first as usize).take(count as usize) {
                *bytes = u64::from_le_bytes(*bytes).max(least).to_le_bytes();
            }
        }

        fn touched_words(&self, _: u64, _: u64) -> Vec<Range<u64>> {
            Vec::new()
        }

        fn forget_words(&self, _: &Range<u64>) {}

        fn copy(&self, from: u64, to: u64, count: u64) {
            self.0.lock().unwrap().copy_within(from as usize..(from + count) as usize, to as usize);
        }

        fn read(&self, first: u64, bytes: &mut [u8]) {
            bytes.copy_from_slice(&self.0.lock().unwrap()[first as usize..][..bytes.len()]);
        }

        fn write(&self, first: u64, bytes: &[u8]) {
            self.0.lock().unwrap()[first as usize..][..bytes.len()].copy_from_slice(bytes);
        }

        fn change(&self, cell: u64, clear: u8, set: u8) {
            let cell = &mut self.0.lock().unwrap()[cell as usize];
            *cell = *cell & !clear | set;
        }
    }

    /// The shadow of some bytes from an address on, and what is in the cells after some changes.
    fn after(changes: &[(u64, u64, bool)]) -> Vec<u8> {
        let cells: &'static Cells = Box::leak(Box::new(Cells(Mutex::new(vec![0; 32]))));
        #[derive(Debug)]
        struct Borrowed(&'static Cells);
        impl Plane for Borrowed {
            fn address(&self) -> u64 {
                0
            }
            fn fill(&self, first: u64, count: u64, value: u8) {
                self.0.fill(first, count, value);
            }
            fn first_set(&self, first: u64, count: u64) -> Option<u64> {
                self.0.first_set(first, count)
            }
            fn find_word(&self, first: u64, count: u64, holds: &dyn Fn(u64) -> bool) -> Option<(u64, u64)> {
                self.0.find_word(first, count, holds)
            }
            fn raise_words(&self, first: u64, count: u64, least: u64) {
                self.0.raise_words(first, count, least);
            }
            fn touched_words(&self, first: u64, count: u64) -> Vec<Range<u64>> {
                self.0.touched_words(first, count)
            }
            fn forget_words(&self, words: &Range<u64>) {
                self.0.forget_words(words);
            }
            fn copy(&self, from: u64, to: u64, count: u64) {
                self.0.copy(from, to, count);
            }
            fn read(&self, first: u64, bytes: &mut [u8]) {
                self.0.read(first, bytes);
            }
            fn write(&self, first: u64, bytes: &[u8]) {
                self.0.write(first, bytes);
            }
            fn change(&self, cell: u64, clear: u8, set: u8) {
                self.0.change(cell, clear, set);
            }
        }
        let shadow = Shadow { plane: Box::new(Borrowed(cells)), base: 0x10000, bytes: 128 };
        for &(address, bytes, can_access) in changes {
            shadow.set(address, bytes, can_access);
        }
        cells.0.lock().unwrap().clone()
    }

    #[test]
    fn the_last_word_is_there_in_part() {
        let cells = after(&[(0x10010, 9, true)]);
        assert_eq!(cells[3..8], [0, 0xff, 0xff, 0b11, 0]);
        assert_eq!(after(&[(0x10010, 9, true), (0x10010, 9, false)]), [0; 32]);
        assert_eq!(after(&[(0x10080, 8, true), (0xfff8, 8, true)]), [0; 32], "memory without a shadow");
    }

    #[test]
    fn neighbours_in_a_word_keep_what_they_have() {
        let mut changes = vec![(0x10001, 4, true)];
        let mut expect = |change: Option<(u64, u64, bool)>, cells: [u8; 3]| {
            changes.extend(change);
            assert_eq!(after(&changes)[..3], cells);
        };
        expect(None, [0b1111_1100, 0b11, 0]);
        expect(Some((0x10005, 2, true)), [0b1111_1100, 0b11_1111, 0]);
        expect(Some((0x10007, 5, true)), [0b1111_1100, 0xff, 0xff]);
        expect(Some((0x10005, 2, false)), [0b1111_1100, 0b1100_0011, 0xff]);
        expect(Some((0x10002, 1, false)), [0b1100_1100, 0b1100_0011, 0xff]);
    }
}
