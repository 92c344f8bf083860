//! What the warps of some blocks did, one request after the other, as `device.ptx` writes it.
//!
//! Each warp has a row: how many bytes its records take, and these. A record is the number of its site and one more, the lanes, the
//! address of the first of them, and how far each is from the one before it; or, where that differs, how far each is from the first.
//! What does not fit any more is left out, so the row says more bytes than it has.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of the row of a warp at most.
pub(in super::super) const MOST_ROW: u64 = 128 << 10;
/// Bytes of a record, and of one that has a distance for each lane.
pub(in super::super) const AFFINE_RECORD: u64 = 24;
pub(in super::super) const SCATTERED_RECORD: u64 = AFFINE_RECORD + 32 * 4;
/// The site of barriers.
pub(in super::super) const BARRIER: u32 = u32::MAX - 1;

/// Words before the records.
const HEAD: usize = 1;

/// Bytes of a row for so many records, or for any number of them.
pub(super) fn row_bytes(records: Option<u64>) -> u64 {
    let bytes = |records: u64| records.saturating_mul(SCATTERED_RECORD).saturating_add(8).min(MOST_ROW);
    records.map_or(MOST_ROW, bytes).next_multiple_of(64)
}

/// A record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Request<'t> {
    /// The number of the site.
    pub(super) site: u32,
    /// One bit for each lane that takes part.
    pub(super) lanes: u32,
    /// The address of the first of them.
    first: u64,
    step: i32,
    /// Distances from the first lane, two in each word.
    distances: Option<&'t [u64]>,
}

/// Where a warp is in its row.
#[derive(Clone, Debug)]
pub(super) struct WarpTrace<'t> {
    row: &'t [u64],
    at: usize,
}

/// Takes the records of a row out of the memory that kernels write, up to the end of what was written.
pub(super) fn taken(row: &[AtomicU64]) -> Row {
    let used = row.first().map_or(0, |used| used.load(Ordering::Relaxed));
    let words = (used / 8).min(row.len() as u64 - HEAD as u64) as usize;
    let words = row[HEAD..HEAD + words].iter().map(|word| word.load(Ordering::Relaxed)).collect();
    Row { words, is_cut: used > 8 * (row.len() - HEAD) as u64 }
}

/// The records of a warp.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Row {
    words: Box<[u64]>,
    /// Whether there was no room for some.
    pub(super) is_cut: bool,
}

impl Row {
    /// From the first on.
    pub(super) fn trace(&self) -> WarpTrace<'_> {
        WarpTrace { row: &self.words, at: 0 }
    }
}

/// Makes the records of a warp.
#[derive(Default, Debug)]
pub(super) struct RowWriter {
    words: Vec<u64>,
}

impl RowWriter {
    /// Adds a record as it is.
    pub(super) fn copy(&mut self, request: &Request<'_>) {
        let kind = u64::from(request.distances.is_some()) << 32;
        self.head(request.site, request.lanes, request.first, u64::from(request.step.cast_unsigned()) | kind);
        self.words.extend(request.distances.unwrap_or_default());
    }

    /// Adds a record of lanes with addresses, in rising order; nothing if there are none.
    pub(super) fn scattered(&mut self, site: u32, addresses: &[(u32, u64)]) {
        let Some(&(_, first)) = addresses.first() else { return };
        let lanes = addresses.iter().fold(0, |lanes, (lane, _)| lanes | 1 << lane);
        self.head(site, lanes, first, 1 << 32);
        let mut distances = [0; 16];
        for &(lane, address) in addresses {
            let distance = address.wrapping_sub(first) as u32;
            distances[lane as usize / 2] |= u64::from(distance) << (lane % 2 * 32);
        }
        self.words.extend(distances);
    }

    fn head(&mut self, site: u32, lanes: u32, first: u64, step: u64) {
        self.words.extend([u64::from(site + 1) | u64::from(lanes) << 32, first, step]);
    }

    /// The row.
    pub(super) fn finish(self, is_cut: bool) -> Row {
        Row { words: self.words.into(), is_cut }
    }
}

impl<'t> Iterator for WarpTrace<'t> {
    type Item = Request<'t>;

    fn next(&mut self) -> Option<Request<'t>> {
        let &[sited, first, stepped] = self.row.get(self.at..self.at + 3)? else { return None };
        // A launch that was ended may have left a record half written.
        let site = (sited as u32).checked_sub(1)?;
        self.at += 3;
        let is_scattered = stepped >> 32 != 0;
        let distances = match is_scattered {
            true => Some(self.row.get(self.at..self.at + 16)?),
            false => None,
        };
        self.at += if is_scattered { 16 } else { 0 };
        Some(Request { site, lanes: (sited >> 32) as u32, first, step: stepped as i32, distances })
    }
}

impl Request<'_> {
    /// The lanes that take part, each with its address.
    pub(super) fn addresses(&self) -> impl Iterator<Item = (u32, u64)> {
        let first = self.lanes.trailing_zeros();
        (0..32).filter(|lane| self.lanes >> lane & 1 != 0).map(move |lane| {
            let distance = match self.distances {
                Some(distances) => (distances[lane as usize / 2] >> (lane % 2 * 32)) as i32,
                None => self.step.wrapping_mul((lane - first) as i32),
            };
            (lane, self.first.wrapping_add_signed(distance.into()))
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A row with records of lanes that are a step apart.
    pub(in super::super) fn row(records: &[(u32, u32, u64, i32)]) -> Row {
        let words = records.iter().flat_map(|&(site, lanes, first, step)| {
            [u64::from(site + 1) | u64::from(lanes) << 32, first, u64::from(step.cast_unsigned())]
        });
        Row { words: words.collect(), is_cut: false }
    }

    #[test]
    fn records_are_read_as_they_are_written() {
        let mut words = row(&[(7, 0b1010, 1000, -4)]).words.to_vec();
        words.extend([9 | 0b11 << 32, 5000, 1 << 32]);
        words.extend([u64::from((-8_i32).cast_unsigned()) << 32]);
        words.extend([0; 15]);
        let row = Row { words: words.into(), is_cut: false };
        let all: Vec<_> = row.trace().map(|request| (request.site, request.addresses().collect::<Vec<_>>())).collect();
        assert_eq!(all, [(7, vec![(1, 1000), (3, 992)]), (8, vec![(0, 5000), (1, 4992)])]);
    }

    #[test]
    fn rows_are_as_large_as_they_may_need_to_be() {
        assert_eq!((row_bytes(None), row_bytes(Some(1)), row_bytes(Some(10))), (MOST_ROW, 192, 1536));
        assert_eq!(row_bytes(Some(u64::MAX)), MOST_ROW);
    }

    #[test]
    fn records_can_be_written_anew() {
        let old = row(&[(7, 0b1010, 1000, -4), (8, 0b11, 64, 4)]);
        let mut writer = RowWriter::default();
        old.trace().for_each(|request| writer.copy(&request));
        assert_eq!(writer.finish(false), old);
        let mut writer = RowWriter::default();
        writer.scattered(3, &[(1, 1000), (4, 900)]);
        writer.scattered(3, &[]);
        let new = writer.finish(true);
        let all: Vec<Vec<_>> = new.trace().map(|request| request.addresses().collect()).collect();
        assert_eq!(all, [vec![(1, 1000), (4, 900)]]);
    }

    #[test]
    fn rows_that_were_full_end_early() {
        let of = |used: u64, words: usize| {
            let row: Vec<AtomicU64> = [used, 3, 64, 4].into_iter().map(AtomicU64::new).collect();
            let row = taken(&row[..words]);
            (row.trace().count(), row.is_cut)
        };
        assert_eq!(of(24, 4), (1, false));
        assert_eq!(of(0, 4), (0, false));
        assert_eq!(of(48, 4), (1, true));
        assert_eq!(of(16, 4), (0, false), "half a record is none");
    }
}
