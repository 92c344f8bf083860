//! A cache of lines in sectors: sets of lines, of which the least recently used one is replaced.

use gpu::CacheShape;
use rustc_hash::FxHashMap;

/// Sectors of a line.
pub(super) const SECTORS_OF_LINE: u64 = 4;

/// A cache. Memory has sectors, by their numbers.
#[derive(Debug)]
pub(super) struct Cache {
    shape: CacheShape,
    /// Where a line is, by its number.
    places: FxHashMap<u64, u32>,
    lines: Vec<Line>,
    sets: Vec<Set>,
}

/// A line that is there.
#[derive(Clone, Copy, Debug)]
struct Line {
    number: u64,
    /// Which of its sectors are there, one bit each, and which have been written.
    present: u8,
    dirty: u8,
    /// The line of the set that was used before it, and the one after.
    older: u32,
    newer: u32,
}

/// The lines of a set, from the one that was used last.
#[derive(Clone, Copy, Debug)]
struct Set {
    newest: u32,
    oldest: u32,
    len: u32,
}

/// No line.
const NONE: u32 = u32::MAX;

impl Cache {
    /// An empty one.
    pub(super) fn new(shape: CacheShape) -> Self {
        let empty = Set { newest: NONE, oldest: NONE, len: 0 };
        Self { shape, places: FxHashMap::default(), lines: Vec::new(), sets: vec![empty; shape.sets as usize] }
    }

    /// Reads a sector: whether it is there.
    pub(super) fn read(&mut self, sector: u64) -> bool {
        let Some(place) = self.place(sector) else { return false };
        let is_present = self.lines[place as usize].present & bit(sector) != 0;
        if is_present {
            self.use_line(place);
        }
        is_present
    }

    /// A sector comes into it, or all of its line.
    pub(super) fn fill(&mut self, sector: u64, is_whole_line: bool) {
        let Some(place) = self.place_or_make(sector) else { return };
        self.lines[place as usize].present |= if is_whole_line { 0xf } else { bit(sector) };
    }

    /// Writes a sector: whether it was written before and is still there.
    pub(super) fn write(&mut self, sector: u64) -> bool {
        let Some(place) = self.place_or_make(sector) else { return false };
        let line = &mut self.lines[place as usize];
        let was_dirty = line.dirty & bit(sector) != 0;
        line.present |= bit(sector);
        line.dirty |= bit(sector);
        was_dirty
    }

    /// The line of a sector is not there any more.
    pub(super) fn evict(&mut self, sector: u64) {
        if let Some(place) = self.place(sector) {
            let line = &mut self.lines[place as usize];
            (line.present, line.dirty) = (0, 0);
        }
    }

    fn place(&self, sector: u64) -> Option<u32> {
        self.places.get(&(sector / SECTORS_OF_LINE)).copied()
    }

    /// Where the line of a sector is, which is the one that was used last then. Nothing if there is no room at all.
    fn place_or_make(&mut self, sector: u64) -> Option<u32> {
        if let Some(place) = self.place(sector) {
            self.use_line(place);
            return Some(place);
        }
        let number = sector / SECTORS_OF_LINE;
        let set = self.set_of(number);
        let Set { oldest, len, .. } = self.sets[set];
        let new = Line { number, present: 0, dirty: 0, older: NONE, newer: NONE };
        let place = if len < self.shape.ways {
            self.lines.push(new);
            self.sets[set].len += 1;
            (self.lines.len() - 1) as u32
        } else if oldest == NONE {
            return None;
        } else {
            self.unlink(oldest, set);
            self.places.remove(&self.lines[oldest as usize].number);
            self.lines[oldest as usize] = new;
            oldest
        };
        self.places.insert(number, place);
        self.link(place, set);
        Some(place)
    }

    fn set_of(&self, line: u64) -> usize {
        let line = if self.shape.is_hashed { line ^ line >> 9 ^ line >> 18 ^ line >> 27 } else { line };
        (line % u64::from(self.shape.sets)) as usize
    }

    fn use_line(&mut self, place: u32) {
        let set = self.set_of(self.lines[place as usize].number);
        if self.sets[set].newest != place {
            self.unlink(place, set);
            self.link(place, set);
        }
    }

    fn unlink(&mut self, place: u32, set: usize) {
        let Line { older, newer, .. } = self.lines[place as usize];
        match newer {
            NONE => self.sets[set].newest = older,
            newer => self.lines[newer as usize].older = older,
        }
        match older {
            NONE => self.sets[set].oldest = newer,
            older => self.lines[older as usize].newer = newer,
        }
    }

    fn link(&mut self, place: u32, set: usize) {
        let newest = self.sets[set].newest;
        let line = &mut self.lines[place as usize];
        (line.older, line.newer) = (newest, NONE);
        match newest {
            NONE => self.sets[set].oldest = place,
            newest => self.lines[newest as usize].newer = place,
        }
        self.sets[set].newest = place;
    }
}

fn bit(sector: u64) -> u8 {
    1 << (sector % SECTORS_OF_LINE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads sectors, and fills in what is not there: how many were.
    fn hits(cache: &mut Cache, is_whole_line: bool, sectors: impl IntoIterator<Item = u64>) -> usize {
        let mut read = |sector| {
            let is_hit = cache.read(sector);
            if !is_hit {
                cache.fill(sector, is_whole_line);
            }
            is_hit
        };
        sectors.into_iter().filter(|&sector| read(sector)).count()
    }

    /// 16 KB of Fermi: 32 sets of 4 lines.
    fn fermi() -> Cache {
        Cache::new(CacheShape { sets: 32, ways: 4, is_hashed: false })
    }

    #[test]
    fn streams_hit_where_lines_are_filled() {
        assert_eq!(hits(&mut fermi(), false, 0..4096), 0);
        // Three of the four sectors of a line come with the first.
        assert_eq!(hits(&mut fermi(), true, 0..4096), 3 * 1024);
    }

    #[test]
    fn working_sets_around_the_capacity() {
        let twice = |lines: u64| {
            let mut cache = fermi();
            let pass = || (0..lines).map(|line| line * SECTORS_OF_LINE);
            assert_eq!(hits(&mut cache, true, pass()), 0);
            hits(&mut cache, true, pass())
        };
        assert_eq!(twice(127), 127);
        assert_eq!(twice(128), 128);
        // One more line: the set that it is in has five for four ways, in turn, and all of them miss.
        assert_eq!(twice(129), 128 - 4);
        // Each set has one more than it can hold.
        assert_eq!(twice(160), 0);
    }

    #[test]
    fn lines_of_one_set_conflict() {
        let apart = |lines: u64, distance: u64| {
            let mut cache = fermi();
            let pass = || (0..lines).map(|line| line * distance * SECTORS_OF_LINE);
            hits(&mut cache, true, pass().chain(pass()))
        };
        // 32 lines apart, all are in one set.
        assert_eq!((apart(4, 32), apart(5, 32)), (4, 0));
        // 16 apart, in two; 33 apart, in all.
        assert_eq!((apart(8, 16), apart(10, 16)), (8, 0));
        assert_eq!(apart(128, 33), 128);
    }

    #[test]
    fn hashes_spread_powers_of_two() {
        let mut cache = Cache::new(CacheShape { sets: 512, ways: 16, is_hashed: true });
        let pass = || (0..512).map(|line: u64| line * 512 * SECTORS_OF_LINE);
        assert_eq!(hits(&mut cache, false, pass().chain(pass())), 512);
    }

    #[test]
    fn the_least_recently_used_line_goes() {
        let mut cache = Cache::new(CacheShape { sets: 1, ways: 2, is_hashed: false });
        let line = |number: u64| number * SECTORS_OF_LINE;
        // 0 is used again before 2 comes, so 1 goes.
        assert_eq!(hits(&mut cache, true, [0, 1, 0, 2, 0, 1].map(line)), 2);
    }

    #[test]
    fn sectors_of_a_line_come_one_by_one() {
        let mut cache = Cache::new(CacheShape { sets: 1, ways: 1, is_hashed: false });
        assert_eq!(hits(&mut cache, false, [0, 1, 0, 1, 2]), 2);
        cache.evict(3);
        assert_eq!(hits(&mut cache, false, [0, 1]), 0);
    }

    #[test]
    fn writes_are_merged_while_they_are_there() {
        let mut cache = Cache::new(CacheShape { sets: 1, ways: 1, is_hashed: false });
        assert_eq!([cache.write(0), cache.write(0), cache.write(1)], [false, true, false]);
        assert!(cache.read(0) && !cache.read(2));
        assert!(!cache.write(4), "another line");
        assert!(!cache.write(0), "it has gone");
    }

    #[test]
    fn without_ways_nothing_is_kept() {
        let mut cache = Cache::new(CacheShape { sets: 4, ways: 0, is_hashed: false });
        assert_eq!(hits(&mut cache, true, [0, 0, 0]), 0);
    }
}
