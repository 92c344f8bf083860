//! What is kept of an access: one word for the last write of a granule of memory, and one for the last read.
//!
//! From the highest bit: the epoch; whether it stands for one thread or for several; the thread in its block; the kind; the
//! site. So words of earlier launches, blocks and intervals are smaller, and most questions are one comparison.
//!
//! An epoch is a part of a launch: an interval between barriers of a block, divided by the barriers of its warps. Launches
//! count on, blocks have a range each. The first epoch of a launch is nobody's: it stands for several blocks.

/// Bytes of a record.
pub(super) const RECORD: u64 = 8;
/// Bytes of the records of a granule: of the last write, and in the other half of the plane of the last read.
pub(super) const CELL: u64 = 2 * RECORD;

/// Where in a record the epoch begins.
pub(super) const EPOCH: u32 = 30;
/// Whom a record stands for: a thread, or several.
pub(super) const MANY: u32 = 28;
/// Where the number of the thread begins.
pub(super) const THREAD: u32 = 18;
/// The bits of the lane in it.
pub(super) const LANES: u32 = 5;
/// Where the kind begins.
pub(super) const KIND: u32 = 15;
/// The bits of a kind.
pub(super) const KINDS: u32 = 3;
/// A weaker access of the block came before a barrier: no other block's is ordered with it. In shared memory, one of the warp
/// came before a barrier of the warp: no other warp's is ordered with it. With a weak access, it is an asynchronous copy
/// (`device/copies.ptx`).
pub(super) const WEAKER: u64 = 1 << (KIND + 2);
/// The bits of the number of a thread.
pub(super) const THREADS: u32 = 1023;
/// The bits of the site; all of them for sites with larger numbers.
pub(super) const SITES: u32 = (1 << KIND) - 1;

/// In the record of a thread, which has no site: when its last fences were (`device/order.ptx`).
pub(super) const FENCES: u64 = 0x3fff;
/// What barriers of a warp and fences of a thread divide an interval into, as a power of two.
pub(super) const WARP_EPOCHS: u32 = 6;

/// Several lanes of a warp.
pub(super) const MANY_LANES: u64 = 1;
/// Several warps of a block.
pub(super) const MANY_WARPS: u64 = 2;
/// Several blocks, or a launch that is not ordered.
pub(super) const MANY_BLOCKS: u64 = 3;

/// A volatile access. For PTX it is a strong operation, and no race with others of its kind; for CUDA C++ it is an access like
/// any other. So it is ordered like a weak one, but what it races with decides how bad that is.
pub(super) const VOLATILE: u32 = 1;
/// A strong operation of the scope of its block.
pub(super) const STRONG_BLOCK: u32 = 2;
/// A strong operation of the scope of the device or more.
pub(super) const STRONG_DEVICE: u32 = 3;

/// A record, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Recorded {
    pub(super) epoch: u64,
    pub(super) who: Who,
    pub(super) kind: u32,
    /// Whether a weaker access of its block came before a barrier: who is in another block is not ordered with that.
    pub(super) has_weaker: bool,
    /// Nothing if its number is too large.
    pub(super) site: Option<u32>,
}

/// Whom a record stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Who {
    /// A thread of its block.
    Thread(u32),
    /// Several lanes of a warp of its block.
    Lanes { warp: u32 },
    /// Several warps of its block.
    Warps,
    /// Several blocks.
    Blocks,
    /// An asynchronous copy of many bytes (`device/bulk.ptx`).
    BulkCopy,
}

impl Recorded {
    pub(super) fn of(record: u64) -> Self {
        let thread = (record >> THREAD) as u32 & THREADS;
        let site = record as u32 & SITES;
        Self {
            epoch: record >> EPOCH,
            who: match record >> MANY & 3 {
                0 => Who::Thread(thread),
                MANY_LANES => Who::Lanes { warp: thread / 32 },
                MANY_WARPS => Who::Warps,
                _ => Who::Blocks,
            },
            kind: record as u32 >> KIND & KINDS,
            has_weaker: record & WEAKER != 0,
            site: (site != SITES).then_some(site),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_their_parts() {
        let record = 77 << EPOCH | MANY_LANES << MANY | 64 << THREAD | 2 << KIND | 9;
        let recorded = Recorded::of(record);
        assert_eq!((recorded.epoch, recorded.who), (77, Who::Lanes { warp: 2 }));
        assert_eq!((recorded.kind, recorded.site), (STRONG_BLOCK, Some(9)));
        assert_eq!(Recorded::of(SITES.into()).site, None);
        assert_eq!(Recorded::of(MANY_BLOCKS << MANY).who, Who::Blocks);
    }
}
