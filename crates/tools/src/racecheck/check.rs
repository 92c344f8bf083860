//! The check of an access, in straight-line code: what most accesses find is decided here, and the rest by a helper.
//!
//! An access is ordered with what was recorded if that is of an earlier launch, of an earlier interval of its block, or its own.
//! Then it is recorded, without a call. So vector code checks all lanes together.

use ptx::ir::{Guard, Operand, Reg};
use ptx::special::Special;
use ptx::types::Type;
use rewrite::{Cursor, SiteId};

use crate::records::{Planes, Records};

use super::record::{KIND, LANES, MANY, MANY_BLOCKS, MANY_LANES, MANY_WARPS, THREAD, THREADS, WEAKER};
use super::{
    ARENA, ARENA_BYTES, INTERVAL_MASK, LAUNCH, ORDERED, PLANES, READS, SHARED_PLANE, SHARED_READS, WINDOWS,
    WINDOWS_BYTES,
};

/// What the check of an access needs to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checked {
    /// The address, as one of generic memory.
    pub(super) address: Reg,
    pub(super) is_shared: bool,
    pub(super) guard: Option<Guard>,
    pub(super) site: SiteId,
    pub(super) kind: u32,
    /// Whether it writes what nobody reads (`prune.rs`).
    pub(super) is_unread: bool,
    /// How large granules are, as a power of two, and how many are accessed.
    pub(super) granule: u32,
    pub(super) granules: u32,
    pub(super) thread: ThreadRecords,
}

/// What a thread knows of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ThreadRecords {
    /// Its record, without site and kind.
    pub(super) mine: Reg,
    /// The first record of its block.
    pub(super) first: Reg,
    /// The first record of the present interval: of the one that all threads of the block have reached.
    pub(super) now: Reg,
    /// Whether its record says when its fences were.
    pub(super) has_fences: bool,
    /// Whether its block has barriers.
    pub(super) has_barriers: bool,
    /// Whether there are asynchronous copies (`device/copies.ptx`).
    pub(super) has_copies: bool,
    /// Whether there are copies of many bytes (`device/bulk.ptx`).
    pub(super) has_bulk: bool,
    /// Whether only some warps come to some of them, so that intervals are counted by each thread (`device/clocks.ptx`).
    pub(super) is_clocked: bool,
    /// Whether functions may need its record.
    pub(super) is_kept: bool,
    /// Whether only barriers of the block order threads (`device/plain.ptx`).
    pub(super) is_plain: bool,
}

/// What a check has found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Where the helper has to look at the access.
    pub(super) unsettled: Reg,
    /// If a helper with fewer questions can do it: where the last read is recorded, and what the records of the last write and
    /// the last read are.
    pub(super) plain: Option<[Operand; 3]>,
}

/// More granules than this are left to the helper.
pub(super) const MOST_GRANULES: u32 = 4;

/// The bits of a record that say whom it stands for.
const MANY_BITS: u64 = 3 << MANY;
const KIND_BITS: u64 = 3 << KIND;
pub(super) const THREAD_BITS: u64 = (THREADS as u64) << THREAD;
/// The bits of the lane.
const LANE_BITS: u64 = ((1 << LANES) - 1) << THREAD;
/// The bits of the warp, and of the epoch above it.
const WARP_BITS: u64 = !0 << (THREAD + LANES);

impl Checked {
    /// Whether the helper for a plain access can decide.
    fn is_plain(&self) -> bool {
        self.thread.is_plain && !self.is_shared && self.granules == 1
    }

    /// Checks a read, and records it where the helper need not look at it.
    pub(super) fn read(&self, at: &mut Cursor<'_, '_>) -> Seen {
        let cells = self.cells(at);
        let own = self.own(at);
        let (mut unsettled, mut plain) = (None, None);
        for part in 0..self.granules {
            let [written, read] = [cells.written, cells.read].map(|cell| cells.load(at, cell, part));
            let recorded = self.of_this_thread_too(at, read);
            let after_write = self.order_of_write(at, written);
            let after_read = self.order_of_read(at, read, Some(recorded));
            let settled = self.settled(at, &cells, after_write, Some(after_read));
            // A record that stands for this thread, too, stays.
            let stored = at.reg(Type::Pred);
            let operands = [stored.into(), recorded.into(), 0.into(), settled.into()];
            at.before().inst("setp.ne.and.b64", &operands);
            let cell = Operand::RegAddress(cells.read, part as i32 * 8);
            let others = self.record(at, cell, own, stored);
            // Other lanes read the same: one record for all of them.
            let lanes = at.reg(Type::B64);
            at.before().inst("and.b64", &[lanes.into(), own.into(), Operand::Hex(!LANE_BITS)]);
            at.before().inst("or.b64", &[lanes.into(), lanes.into(), Operand::Hex(MANY_LANES << MANY)]);
            at.before().guarded(Guard::when(others), "st.global.b64", &[cell, lanes.into()]);
            unsettled = Some(self.unsettled(at, unsettled, &cells, settled));
            plain = self.is_plain().then(|| [cells.read.into(), written.into(), read.into()]);
        }
        Seen { unsettled: unsettled.expect("an access has bytes"), plain }
    }

    /// Checks a write, before it is recorded.
    pub(super) fn write(&self, at: &mut Cursor<'_, '_>) -> (Cells, Seen) {
        let cells = self.cells(at);
        let (mut unsettled, mut plain) = (None, None);
        for part in 0..self.granules {
            let written = cells.load(at, cells.written, part);
            let read = (!self.is_unread).then(|| cells.load(at, cells.read, part));
            let after_write = self.order_of_write(at, written);
            let after_read = read.map(|read| self.order_of_read(at, read, None));
            let settled = self.settled(at, &cells, after_write, after_read);
            unsettled = Some(self.unsettled(at, unsettled, &cells, settled));
            let read = read.map_or(Operand::Int(0), Operand::from);
            plain = self.is_plain().then(|| [cells.read.into(), written.into(), read]);
        }
        (cells, Seen { unsettled: unsettled.expect("an access has bytes"), plain })
    }

    /// Records a write that was checked. Gives where another lane of the instruction has written the same place.
    pub(super) fn record_write(&self, at: &mut Cursor<'_, '_>, cells: &Cells) -> Reg {
        let own = self.own(at);
        let mut collided = None;
        for part in 0..self.granules {
            let others = self.record(at, Operand::RegAddress(cells.written, part as i32 * 8), own, cells.within);
            if let Some(before) = collided {
                at.before().inst("or.pred", &[others.into(), others.into(), Operand::from(before)]);
            }
            collided = Some(others);
        }
        collided.expect("an access has bytes")
    }

    /// Records the access where a predicate holds. Gives where another lane of the instruction has taken its place.
    fn record(&self, at: &mut Cursor<'_, '_>, cell: Operand, own: Reg, stored: Reg) -> Reg {
        let (again, others) = (at.reg(Type::B64), at.reg(Type::Pred));
        at.before().inst("mov.b64", &[again.into(), own.into()]);
        // These two stay beside each other, so that the device sees that it is the same.
        at.before().guarded(Guard::when(stored), "st.global.b64", &[cell, own.into()]);
        at.before().guarded(Guard::when(stored), "ld.global.b64", &[again.into(), cell]);
        at.before().inst("setp.ne.b64", &[others.into(), again.into(), own.into()]);
        others
    }

    /// Where the access takes place and is not settled.
    fn unsettled(&self, at: &mut Cursor<'_, '_>, before: Option<Reg>, cells: &Cells, settled: Reg) -> Reg {
        let unsettled = at.reg(Type::Pred);
        at.before().inst("not.pred", &[unsettled.into(), settled.into()]);
        at.before().inst("and.pred", &[unsettled.into(), unsettled.into(), cells.within.into()]);
        if let Some(before) = before {
            at.before().inst("or.pred", &[unsettled.into(), unsettled.into(), before.into()]);
        }
        unsettled
    }

    /// The record of the access.
    fn own(&self, at: &mut Cursor<'_, '_>) -> Reg {
        let own = at.reg(Type::B64);
        let mut mine = self.thread.mine;
        if self.thread.has_fences {
            at.before().inst("and.b64", &[own.into(), mine.into(), Operand::Hex(!super::record::FENCES)]);
            mine = own;
        }
        let place = u64::from(self.site.0.min(super::record::SITES) | self.kind << KIND);
        at.before().inst("or.b64", &[own.into(), mine.into(), Operand::Hex(place)]);
        own
    }

    /// Where the records are.
    fn cells(&self, at: &mut Cursor<'_, '_>) -> Cells {
        let planes = match self.is_shared {
            false => Planes { start: ARENA, bytes: ARENA_BYTES, first: plane_of_worker(at), distance: READS },
            true => {
                let first = at.word(SHARED_PLANE);
                Planes { start: WINDOWS, bytes: WINDOWS_BYTES, first, distance: SHARED_READS }
            }
        };
        let Records { within, first, second, .. } = planes.records(at, self.address, self.granule, self.guard);
        Cells { within, written: first, read: second }
    }

    /// A number that is below all records of the launch if what was recorded is ordered before the access, or its own: the
    /// record itself, or 0. Numbers are cheaper than predicates: vectors of 64 bits have no short way to combine those.
    fn order(&self, at: &mut Cursor<'_, '_>, record: Reg, or_zero: Option<Reg>) -> Reg {
        let ThreadRecords { mine, has_barriers, .. } = self.thread;
        let mask = at.word(INTERVAL_MASK);
        let same = at.at_entry("or.b64", Type::B64, &[mask.into(), Operand::Hex(MANY_BITS | THREAD_BITS)]);
        let order = self.zero_if_equal(at, record, mine, same, record);
        if let Some(or_zero) = or_zero {
            at.before().inst("min.u64", &[order.into(), order.into(), or_zero.into()]);
        }
        if has_barriers && !self.is_shared {
            let earlier = self.zero_if_earlier(at, record);
            at.before().inst("min.u64", &[order.into(), order.into(), earlier.into()]);
        }
        order
    }

    /// The same for the last write, which may be an asynchronous copy: whether that is done, the helper knows.
    fn order_of_write(&self, at: &mut Cursor<'_, '_>, written: Reg) -> Reg {
        let order = self.order(at, written, None);
        if self.thread.has_copies && self.is_shared || self.thread.has_bulk {
            large_if_flagged(at, order, written);
        }
        order
    }

    /// The same for the last read, which may be that of a copy of many bytes.
    fn order_of_read(&self, at: &mut Cursor<'_, '_>, read: Reg, or_zero: Option<Reg>) -> Reg {
        let order = self.order(at, read, or_zero);
        if self.thread.has_bulk {
            large_if_flagged(at, order, read);
        }
        order
    }

    /// 0 if a record is of an earlier interval of the block; else a large number.
    fn zero_if_earlier(&self, at: &mut Cursor<'_, '_>, record: Reg) -> Reg {
        let ThreadRecords { first, now, .. } = self.thread;
        // How far the record is from the one before the first of the block, and what of that is beyond the present interval.
        // Nobody has that record.
        let [span, before, distance, beyond, large] = [(); 5].map(|()| at.reg(Type::B64));
        at.before().inst("sub.u64", &[span.into(), now.into(), first.into()]);
        at.before().inst("sub.u64", &[before.into(), first.into(), 1.into()]);
        at.before().inst("sub.u64", &[distance.into(), record.into(), before.into()]);
        at.before().inst("max.u64", &[beyond.into(), distance.into(), span.into()]);
        at.before().inst("sub.u64", &[beyond.into(), beyond.into(), span.into()]);
        // A number or its negative has the highest bit, unless it is 0.
        at.before().inst("neg.s64", &[large.into(), beyond.into()]);
        at.before().inst("or.b64", &[large.into(), large.into(), beyond.into()]);
        large
    }

    /// Whether the numbers of [`Self::order`] are below all records of the launch, or of the interval in shared memory.
    fn settled(&self, at: &mut Cursor<'_, '_>, cells: &Cells, one: Reg, other: Option<Reg>) -> Reg {
        let (mut larger, settled) = (one, at.reg(Type::Pred));
        if let Some(other) = other {
            larger = at.reg(Type::B64);
            at.before().inst("max.u64", &[larger.into(), one.into(), other.into()]);
        }
        // Whatever other blocks have done with shared memory came before.
        let limit = if self.is_shared { self.thread.now } else { at.word(ORDERED) };
        let operands = [settled.into(), larger.into(), limit.into(), cells.within.into()];
        at.before().inst("setp.lt.and.u64", &operands);
        settled
    }

    /// 0 if a record of reads stands for this thread, too; else a large number.
    fn of_this_thread_too(&self, at: &mut Cursor<'_, '_>, record: Reg) -> Reg {
        let ThreadRecords { mine, now, is_clocked, .. } = self.thread;
        let interval = at.word(INTERVAL_MASK);
        let mask = at.at_entry("or.b64", Type::B64, &[interval.into(), Operand::Hex(MANY_BITS | KIND_BITS)]);
        let mut number = at.at_entry("mov.b64", Type::B64, &[Operand::Hex(u64::MAX)]);
        // With clocks, a record of several warps says which ones.
        if !is_clocked {
            let warps = at.reg(Type::B64);
            at.before().inst("or.b64", &[warps.into(), now.into(), Operand::Hex(MANY_WARPS << MANY)]);
            number = self.zero_if_equal(at, record, warps, mask, number);
        }
        if !self.is_shared {
            let launch = at.word(LAUNCH);
            let blocks = at.at_entry("or.b64", Type::B64, &[launch.into(), Operand::Hex(MANY_BLOCKS << MANY)]);
            number = self.zero_if_equal(at, record, blocks, mask, number);
        }
        let lanes = at.reg(Type::B64);
        at.before().inst("or.b64", &[lanes.into(), mine.into(), Operand::Hex(MANY_LANES << MANY)]);
        let mask = at.at_entry("mov.b64", Type::B64, &[Operand::Hex(WARP_BITS | KIND_BITS)]);
        self.zero_if_equal(at, record, lanes, mask, number)
    }

    /// 0 if a record has the same bits as another under a mask; else the smaller of a number and a large one.
    fn zero_if_equal(&self, at: &mut Cursor<'_, '_>, record: Reg, other: Reg, mask: Reg, number: Reg) -> Reg {
        let (bits, result) = (at.reg(Type::B64), at.reg(Type::B64));
        at.before().inst("xor.b64", &[bits.into(), record.into(), other.into()]);
        at.before().inst("and.b64", &[bits.into(), bits.into(), mask.into()]);
        at.before().inst("neg.s64", &[bits.into(), bits.into()]);
        at.before().inst("min.u64", &[result.into(), bits.into(), number.into()]);
        result
    }
}

/// Makes a number a large one if a record has the flag of a weaker access.
fn large_if_flagged(at: &mut Cursor<'_, '_>, number: Reg, record: Reg) {
    let flag = at.reg(Type::B64);
    at.before().inst("and.b64", &[flag.into(), record.into(), Operand::Hex(WEAKER)]);
    at.before().inst("shl.b64", &[flag.into(), flag.into(), Operand::Int(WEAKER.leading_zeros().into())]);
    at.before().inst("or.b64", &[number.into(), number.into(), flag.into()]);
}

/// Where the records of the worker begin that runs the block (`parallel.rs`).
fn plane_of_worker(at: &mut Cursor<'_, '_>) -> Reg {
    let planes = at.word(PLANES);
    let worker = at.at_entry("mov.u32", Type::B32, &[Operand::Special(Special::Smid)]);
    let entry = at.at_entry("mad.wide.u32", Type::B64, &[worker.into(), 8.into(), planes.into()]);
    at.at_entry("ld.global.b64", Type::B64, &[Operand::RegAddress(entry, 0)])
}

/// Where the records of an access are.
pub(super) struct Cells {
    /// Whether there are any, and the access takes place.
    within: Reg,
    written: Reg,
    read: Reg,
}

impl Cells {
    /// The record of a granule in one of the planes; what is recorded of none elsewhere.
    fn load(&self, at: &mut Cursor<'_, '_>, records: Reg, part: u32) -> Reg {
        let record = at.reg(Type::B64);
        let cell = Operand::RegAddress(records, part as i32 * 8);
        at.before().guarded(Guard::when(self.within), "ld.global.b64", &[record.into(), cell]);
        record
    }
}
