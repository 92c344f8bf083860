//! Copies and fills of memory, of the host and of the device: to us it is all the same.
//!
//! Unsafe: the addresses come from the program. Whoever makes a transfer promises that they stay valid until it has run,
//! as CUDA asks of the program.

use toolkit::HostStack;

use crate::device_memory;
use crate::error::Result;

/// One side of a copy, or what is filled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Side {
    /// The first byte.
    pub(crate) address: u64,
    /// Bytes from one row to the next.
    pub(crate) row_pitch: u64,
    /// Bytes from one slice to the next.
    pub(crate) slice_pitch: u64,
}

/// How much is copied or filled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    /// Bytes of a row.
    pub(crate) width: u64,
    /// Rows.
    pub(crate) height: u64,
    /// Slices.
    pub(crate) depth: u64,
}

impl Side {
    /// Memory without gaps.
    pub(crate) fn linear(address: u64) -> Self {
        Self { address, row_pitch: 0, slice_pitch: 0 }
    }

    /// Bytes from the first to the last that belong to it; nothing if there are too many to count.
    pub(crate) fn span(&self, extent: &Extent) -> Option<u64> {
        if extent.is_empty() {
            return Some(0);
        }
        let rows = self.row_pitch.checked_mul(extent.height - 1)?;
        let slices = self.slice_pitch.checked_mul(extent.depth - 1)?;
        rows.checked_add(slices)?.checked_add(extent.width)
    }

    /// Whether a row, or a slice, begins before the one before it has ended.
    pub(crate) fn overlaps_itself(&self, extent: &Extent) -> bool {
        let slice = self.row_pitch.saturating_mul(extent.height - u64::from(extent.height > 0));
        !extent.is_empty()
            && (extent.height > 1 && self.row_pitch < extent.width
                || extent.depth > 1 && self.slice_pitch < slice.saturating_add(extent.width))
    }
}

impl Side {
    /// Where each row begins.
    pub(crate) fn rows(self, extent: Extent) -> impl Iterator<Item = u64> {
        let slices = 0..if extent.is_empty() { 0 } else { extent.depth };
        slices.flat_map(move |slice| {
            (0..extent.height).map(move |row| self.address + slice * self.slice_pitch + row * self.row_pitch)
        })
    }
}

impl Extent {
    /// So many bytes in one row.
    pub(crate) fn bytes(width: u64) -> Self {
        Self { width, height: 1, depth: 1 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }
}

/// A copy from one place to another.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    from: Side,
    /// What was at the source when the copy was asked for, if the program may change it since.
    kept: Option<std::sync::Arc<[u8]>>,
    to: Side,
    extent: Extent,
    /// Where the program asked for it, if tools are to know.
    stack: HostStack,
}

impl Copy {
    /// # Safety
    /// All rows of both sides must be valid until the copy has run, to read and to write.
    pub(crate) unsafe fn new(from: Side, to: Side, extent: Extent) -> Self {
        Self { from, kept: None, to, extent, stack: HostStack::default() }
    }

    pub(crate) fn from(&self) -> Side {
        self.from
    }

    pub(crate) fn to(&self) -> Side {
        self.to
    }

    pub(crate) fn extent(&self) -> &Extent {
        &self.extent
    }

    pub(crate) fn stack(&self) -> &HostStack {
        &self.stack
    }

    /// Keeps where the program asked for it.
    pub(crate) fn set_stack(&mut self, stack: HostStack) {
        self.stack = stack;
    }

    /// Reads the source now, so that the program may change it before the copy runs. Only of a copy of one row.
    pub(crate) fn keep_source(&mut self) {
        assert!(self.extent.height == 1 && self.extent.depth == 1, "only one row is kept");
        let mut kept = vec![0; self.extent.width as usize];
        // SAFETY: the source is valid until the copy has run, and of the host. The vector has as many bytes.
        unsafe { std::ptr::copy_nonoverlapping(self.from.address as *const u8, kept.as_mut_ptr(), kept.len()) };
        self.kept = Some(kept.into());
    }

    pub(crate) fn run(&self) -> Result<()> {
        let from = self.kept.as_ref().map_or(self.from, |kept| Side::linear(kept.as_ptr() as u64));
        for (from, to) in from.rows(self.extent).zip(self.to.rows(self.extent)) {
            // SAFETY: whoever made the copy promised that all rows are valid. They may overlap.
            unsafe { device_memory::copy(from, to, self.extent.width)? };
        }
        Ok(())
    }
}

/// What is written again and again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pattern {
    Byte(u8),
    Half(u16),
    Word(u32),
}

impl Pattern {
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Self::Byte(_) => 1,
            Self::Half(_) => 2,
            Self::Word(_) => 4,
        }
    }
}

/// A fill of memory with a pattern.
#[derive(Clone, Debug)]
pub(crate) struct Fill {
    to: Side,
    extent: Extent,
    pattern: Pattern,
    /// Where the program asked for it, if tools are to know.
    stack: HostStack,
}

impl Fill {
    /// # Safety
    /// All rows must be valid to write until the fill has run.
    pub(crate) unsafe fn new(to: Side, extent: Extent, pattern: Pattern) -> Self {
        Self { to, extent, pattern, stack: HostStack::default() }
    }

    pub(crate) fn stack(&self) -> &HostStack {
        &self.stack
    }

    /// Keeps where the program asked for it.
    pub(crate) fn set_stack(&mut self, stack: HostStack) {
        self.stack = stack;
    }

    pub(crate) fn to(&self) -> Side {
        self.to
    }

    pub(crate) fn extent(&self) -> &Extent {
        &self.extent
    }

    pub(crate) fn pattern(&self) -> Pattern {
        self.pattern
    }

    /// Whether all rows start at multiples of the pattern's size. Others are not filled.
    pub(crate) fn is_aligned(&self) -> bool {
        let size = self.pattern.bytes();
        [self.to.address, self.to.row_pitch, self.to.slice_pitch].iter().all(|start| start.is_multiple_of(size))
    }

    pub(crate) fn run(&self) -> Result<()> {
        if !self.is_aligned() {
            return Ok(());
        }
        for start in self.to.rows(self.extent) {
            let elements = (self.extent.width / self.pattern.bytes()) as usize;
            let is_done = match self.pattern {
                Pattern::Byte(byte) => device_memory::fill_remote(start, &[byte], elements as u64)?,
                Pattern::Half(half) => device_memory::fill_remote(start, &half.to_le_bytes(), elements as u64)?,
                Pattern::Word(word) => device_memory::fill_remote(start, &word.to_le_bytes(), elements as u64)?,
            };
            if is_done {
                continue;
            }
            // SAFETY: whoever made the fill promised that the rows are valid, and they are aligned.
            unsafe {
                match self.pattern {
                    Pattern::Byte(byte) => std::ptr::write_bytes(start as *mut u8, byte, elements),
                    Pattern::Half(half) => {
                        std::slice::from_raw_parts_mut(start as *mut u16, elements).fill(half);
                    }
                    Pattern::Word(word) => {
                        std::slice::from_raw_parts_mut(start as *mut u32, elements).fill(word);
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_picture() {
        let from = [1_u8, 2, 3, 4, 5, 6, 7, 8];
        let mut to = [0_u8; 12];
        let side = |address: u64, row_pitch| Side { address, row_pitch, slice_pitch: 0 };
        let extent = Extent { width: 2, height: 2, depth: 1 };
        // SAFETY: two rows of two bytes are within both arrays.
        let copy = unsafe { Copy::new(side(from.as_ptr() as u64, 4), side(to.as_mut_ptr() as u64, 6), extent) };
        copy.run().unwrap();
        assert_eq!(to, [1, 2, 0, 0, 0, 0, 5, 6, 0, 0, 0, 0]);
        assert_eq!(side(0, 6).span(&extent), Some(8));
        assert!(!side(0, 2).overlaps_itself(&extent));
        assert!(side(0, 1).overlaps_itself(&extent));
        assert!(side(0, 2).overlaps_itself(&Extent { depth: 2, ..extent }), "all slices are at the same place");
        assert!(!side(0, 0).overlaps_itself(&Extent::bytes(9)));
    }

    #[test]
    fn a_source_may_change_once_it_is_kept() {
        let mut from = [1_u8, 2, 3];
        let mut to = [0_u8; 3];
        let (source, target) = (Side::linear(from.as_mut_ptr() as u64), Side::linear(to.as_mut_ptr() as u64));
        // SAFETY: both arrays have three bytes.
        let mut copy = unsafe { Copy::new(source, target, Extent::bytes(3)) };
        copy.keep_source();
        from[1] = 9;
        copy.run().unwrap();
        assert_eq!((from, to), ([1, 9, 3], [1, 2, 3]));
    }
}
