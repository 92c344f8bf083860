//! What orders lanes of a warp within an interval of their block (`device/lanes.ptx`).

use ptx::ir::Operand;
use rewrite::{Cursor, Sync};

use super::check::ThreadRecords;

/// Bytes of the row of a thread: the first record of its interval, the epochs that it knows of the 32 lanes of its warp, and its
/// last barrier.
pub(super) const ROW: u64 = 8 + 32 + 8;

/// What orders lanes of a warp in a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(u64)]
pub(super) enum LaneOrder {
    /// Every barrier of the warp: all lanes come to it.
    #[default]
    Whole,
    /// A barrier orders those that come to it.
    Rows,
    /// Nothing: it has none.
    Unordered,
}

/// Whether a mask has all lanes.
pub(super) fn is_whole(mask: &Operand) -> bool {
    match mask {
        Operand::Int(mask) => *mask as u32 == u32::MAX,
        Operand::Hex(mask) => *mask as u32 == u32::MAX,
        _ => false,
    }
}

/// A thread synchronises with lanes of its warp.
pub(super) fn barrier(at: &mut Cursor<'_, '_>, sync: &Sync, mask: Operand, records: &ThreadRecords, order: LaneOrder) {
    let ThreadRecords { mine, is_kept, .. } = *records;
    if order == LaneOrder::Rows {
        at.call(sync.guard, "warpgrind_race_at_barrier_of_lanes", &[], &[mine.into()]);
        let helper = if is_kept { "warpgrind_race_barrier_of_lanes_kept" } else { "warpgrind_race_barrier_of_lanes" };
        at.call_after(sync.guard, helper, &[mine.into()], &[mine.into(), mask]);
        return;
    }
    at.call(sync.guard, "warpgrind_race_at_warp_barrier", &[], &[mine.into()]);
    let helper = if is_kept { "warpgrind_race_warp_barrier_kept" } else { "warpgrind_race_warp_barrier" };
    at.call_after(sync.guard, helper, &[mine.into()], &[mine.into()]);
}

/// The same with all lanes, where nothing else divides intervals: then all lanes are in the same epoch, and each can count for
/// itself. One that has gone on and come to the next barrier, before another one goes on, tells that one nothing.
pub(super) fn whole_barrier(at: &mut Cursor<'_, '_>, sync: &Sync, records: &ThreadRecords) {
    let ThreadRecords { mine, is_kept, .. } = *records;
    let helper = if is_kept { "warpgrind_race_whole_barrier_kept" } else { "warpgrind_race_whole_barrier" };
    at.call_after(sync.guard, helper, &[mine.into()], &[mine.into()]);
}
