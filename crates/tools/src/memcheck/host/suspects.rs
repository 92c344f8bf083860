//! Objects that may have something undefined in them. All others are known to be defined, and nobody looks at their cells.

use std::collections::BTreeMap;
use std::ops::Range;

/// The objects, by where they begin. Heaps of the program's own are suspected beside the allocation around them.
#[derive(Debug, Default)]
pub(super) struct Suspects {
    by_start: BTreeMap<u64, Suspect>,
    /// No suspect has more bytes: those that begin farther away do not reach an address.
    largest: u64,
}

/// An object that may have something undefined in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspect {
    pub(super) bytes: u64,
    /// Where something undefined was last.
    pub(super) seen: u64,
}

impl Suspects {
    pub(super) fn insert(&mut self, start: u64, suspect: Suspect) {
        self.largest = self.largest.max(suspect.bytes);
        self.by_start.insert(start, suspect);
    }

    /// Suspects an object, if it is not suspected already.
    pub(super) fn add(&mut self, start: u64, bytes: u64) {
        if !self.by_start.contains_key(&start) {
            self.insert(start, Suspect { bytes, seen: 0 });
        }
    }

    pub(super) fn get_mut(&mut self, start: u64) -> Option<&mut Suspect> {
        self.by_start.get_mut(&start)
    }

    pub(super) fn remove(&mut self, start: u64) -> Option<Suspect> {
        self.by_start.remove(&start)
    }

    /// Removes those that begin in a range.
    pub(super) fn remove_all(&mut self, range: Range<u64>) {
        let starts: Vec<u64> = self.by_start.range(range).map(|(start, _)| *start).collect();
        for start in starts {
            self.by_start.remove(&start);
        }
    }

    /// Removes one, if nothing of it is outside of a range.
    pub(super) fn remove_within(&mut self, start: u64, bytes: u64) {
        if self.by_start.get(&start).is_some_and(|suspect| suspect.bytes <= bytes) {
            self.by_start.remove(&start);
        }
    }

    /// Removes all of them.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (u64, Suspect)> + use<> {
        self.largest = 0;
        std::mem::take(&mut self.by_start).into_iter()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_start.is_empty()
    }

    pub(super) fn starts(&self) -> impl Iterator<Item = u64> {
        self.by_start.keys().copied()
    }

    /// Where those begin that have bytes of a range.
    pub(super) fn overlapping(&self, address: u64, bytes: u64) -> impl Iterator<Item = u64> {
        let near = address.saturating_sub(self.largest)..address.saturating_add(bytes.max(1));
        let reaches = move |&(start, suspect): &(&u64, &Suspect)| address < start.saturating_add(suspect.bytes);
        self.by_start.range(near).filter(reaches).map(|(start, _)| *start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_a_range_is_found_also_around_others() {
        let mut suspects = Suspects::default();
        // An allocation with a heap in it, and two neighbours.
        for (start, bytes) in [(0x1000, 0x100), (0x2000, 0x1000), (0x2100, 0x80), (0x4000, 0x10)] {
            suspects.add(start, bytes);
        }
        let overlapping = |address, bytes| suspects.overlapping(address, bytes).collect::<Vec<_>>();
        assert_eq!(overlapping(0x2110, 4), [0x2000, 0x2100]);
        assert_eq!(overlapping(0x2200, 4), [0x2000]);
        assert_eq!(overlapping(0x3000, 4), [0_u64; 0]);
        assert_eq!(overlapping(0x10ff, 0x1000), [0x1000, 0x2000]);
        assert_eq!(overlapping(0x3fff, 1), [0_u64; 0]);
        assert_eq!(overlapping(0x3fff, 2), [0x4000]);
    }

    #[test]
    fn only_what_is_defined_as_a_whole_is_removed() {
        let mut suspects = Suspects::default();
        suspects.add(0x1000, 0x100);
        suspects.remove_within(0x1000, 0xff);
        suspects.remove_within(0x1001, 0x100);
        assert_eq!(suspects.starts().collect::<Vec<_>>(), [0x1000]);
        suspects.remove_within(0x1000, 0x100);
        assert_eq!(suspects.starts().next(), None);
    }
}
