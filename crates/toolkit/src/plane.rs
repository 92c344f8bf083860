//! Shadow planes: memory beside that of the device.

use std::fmt::Debug;
use std::ops::Range;

/// How a plane lies beside the memory of the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlaneLayout {
    /// Which memory.
    pub of: PlaneOf,
    /// How many bytes of memory a cell is for.
    pub granule: u64,
    /// How many bytes a cell has.
    pub cell: u64,
    /// A value other than zero that large ranges have, so that they can share memory.
    pub common: u8,
}

/// Memory that a plane lies beside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlaneOf {
    /// That of the device.
    Global,
    /// The shared memory of blocks, at its generic addresses.
    Shared,
    /// None: so many bytes of which only the tool knows what they are.
    Bytes(u64),
}

/// A plane: a cell for each granule of memory. It begins as zeros, and takes memory of the host only where it is written.
pub trait Plane: Debug + Send + Sync {
    /// Where the first cell is, for kernels.
    fn address(&self) -> u64;

    /// Sets all bytes of cells, by their numbers, to a value. Those beyond the end are left out.
    fn fill(&self, first: u64, count: u64, value: u8);

    /// Gives back the memory of cells that are all zeros, and stay so, where there is a lot of it. Nobody writes them meanwhile.
    fn give_back(&self, _first: u64, _count: u64) {}

    /// The first cell among some that is not all zeros. Those beyond the end are left out.
    fn first_set(&self, first: u64, count: u64) -> Option<u64>;

    /// Copies cells, also where both ranges have some in common. Nothing if some are beyond the end.
    fn copy(&self, from: u64, to: u64, count: u64);

    /// The first word of eight bytes among some, by their numbers in the plane, for which something holds: its number and the word.
    /// Those beyond the end are left out.
    fn find_word(&self, first: u64, count: u64, holds: &dyn Fn(u64) -> bool) -> Option<(u64, u64)>;

    /// Makes words of eight bytes, by their numbers in the plane, at least as large as a number. Those beyond the end are left out.
    /// What kernels write there meanwhile may be lost.
    fn raise_words(&self, first: u64, count: u64, least: u64);

    /// Where among some words, by their numbers in the plane, any may be other than 0.
    fn touched_words(&self, first: u64, count: u64) -> Vec<Range<u64>>;

    /// Makes words 0 that were [touched](Self::touched_words). They are not touched any more.
    fn forget_words(&self, words: &Range<u64>);

    /// The bytes of cells, from a cell on; zeros for those beyond the end.
    fn read(&self, first: u64, bytes: &mut [u8]);

    /// Sets the bytes of cells, from a cell on. Nothing if some are beyond the end.
    fn write(&self, first: u64, bytes: &[u8]);

    /// Clears some bits of the first byte of a cell and sets others, in one step.
    fn change(&self, cell: u64, clear: u8, set: u8);
}
