//! Memory in large pages of the system, where it has such.
//!
//! A fork copies an entry of the page table for each page, the end of the child takes them back, and the first write to each page
//! after that is a fault of the parent. Of 8 MB these are 2048 entries and faults, or four.

use std::fs;
use std::ops::Range;

use super::mappings::Mapping;

/// What a large page has on this processor.
const LARGE: u64 = 2 << 20;

/// Has memory of the process moved into large pages: mappings that are in memory nearly as a whole, so that they do not need much
/// more of it then. What is in them stays.
pub(crate) fn gather() {
    let mappings = fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    for Range { start, end } in worthwhile(&mappings) {
        collapse(start, end);
    }
}

/// The mappings in `smaps` that are private, of no file, and have enough memory that is in small pages.
fn worthwhile(smaps: &str) -> Vec<Range<u64>> {
    let (mut found, mut mapping) = (Vec::new(), None);
    let mut in_memory = 0;
    for line in smaps.lines() {
        if let Some(next) = Mapping::of(line) {
            let is_data = next.is_readable() && next.is_writable() && !next.is_executable();
            mapping = (is_data && !next.is_shared() && !next.is_of_file()).then_some(next.addresses);
            continue;
        }
        let mut words = line.split_ascii_whitespace();
        let kilobytes = |word: Option<&str>| word.and_then(|word| word.parse::<u64>().ok()).unwrap_or(0) << 10;
        match words.next() {
            Some("Rss:") => in_memory = kilobytes(words.next()),
            Some("AnonHugePages:") => {
                let small = in_memory.saturating_sub(kilobytes(words.next()));
                let is_worthwhile =
                    |found: &Range<u64>| small >= LARGE && in_memory >= (found.end - found.start) / 4 * 3;
                found.extend(mapping.take().filter(is_worthwhile));
            }
            _ => {}
        }
    }
    found
}

/// Has the large pages collected that lie in a range as a whole.
fn collapse(start: u64, end: u64) {
    let (Some(first), end) = (start.checked_next_multiple_of(LARGE), end / LARGE * LARGE) else { return };
    if first < end {
        // SAFETY: it changes which physical pages are behind addresses, and neither what is read there nor who may access it. It
        // fails where nothing is mapped. A system that cannot do it, or has no such pages left, leaves all as it is.
        unsafe { libc::madvise(first as *mut libc::c_void, (end - first) as usize, libc::MADV_COLLAPSE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_memory_stays() {
        let mut memory: Vec<u8> = (0..9 << 20).map(|index: u32| (index / 5) as u8).collect();
        let before = memory.clone();
        gather();
        assert!(memory == before);
        memory[5 << 20] ^= 1;
        assert!(memory[..5 << 20] == before[..5 << 20] && memory[5 << 20] != before[5 << 20]);
    }

    #[test]
    fn large_mappings_that_are_in_memory_are_worthwhile() {
        let mapping = |head: &str, in_memory: u32, large: u32| {
            format!("{head}\nSize: 1 kB\nRss: {in_memory} kB\nPss: 1 kB\nAnonHugePages: {large} kB\nVmFlags: rd wr\n")
        };
        let smaps = [
            mapping("200000200000-200001400000 rw-p 00000000 00:00 0", 16388, 0),
            mapping("300000000000-300001000000 rw-p 00000000 00:00 0 [anon: hers]", 16384, 4096),
            // Of a file, shared, and only to be read.
            mapping("400000000000-400001000000 rw-p 00000000 08:01 17 /lib/a b.so", 16384, 0),
            mapping("400001000000-400002000000 rw-s 00000000 00:00 0", 16384, 0),
            mapping("400002000000-400003000000 r--p 00000000 00:00 0", 16384, 0),
            // It is in memory in part, is in large pages, or is small.
            mapping("500000000000-500001000000 rw-p 00000000 00:00 0", 8192, 0),
            mapping("500001000000-500002000000 rw-p 00000000 00:00 0", 16384, 16384),
            mapping("500002000000-500002010000 rw-p 00000000 00:00 0 [stack]", 64, 0),
        ];
        let expected = vec![0x2000_0020_0000..0x2000_0140_0000, 0x3000_0000_0000..0x3000_0100_0000];
        assert_eq!(worthwhile(&smaps.concat()), expected);
    }

    #[test]
    fn what_is_not_mapped_is_left_alone() {
        collapse(LARGE, 5 * LARGE);
        collapse(u64::MAX - 10, u64::MAX);
        collapse(5, 4);
    }
}
