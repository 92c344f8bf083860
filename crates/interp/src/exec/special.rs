//! Special registers.

use ptx::special::Special;

use super::thread::{Grid, Thread};

/// The value of a special register. A clock counts the instructions of the whole grid; there is one multiprocessor, and
/// every cluster is one block.
pub(crate) fn value(grid: &Grid<'_>, thread: &Thread, clock: u64, special: Special) -> u128 {
    use Special::*;
    let lane = thread.lane();
    let bit = 1_u64 << lane;
    let value: u64 = match special {
        TidX | Tid => thread.tid[0].into(),
        TidY => thread.tid[1].into(),
        TidZ => thread.tid[2].into(),
        NtidX | Ntid => grid.block[0].into(),
        NtidY => grid.block[1].into(),
        NtidZ => grid.block[2].into(),
        CtaidX | Ctaid | ClusteridX => thread.block[0].into(),
        CtaidY | ClusteridY => thread.block[1].into(),
        CtaidZ | ClusteridZ => thread.block[2].into(),
        NctaidX | Nctaid | NclusteridX => grid.grid[0].into(),
        NctaidY | NclusteridY => grid.grid[1].into(),
        NctaidZ | NclusteridZ => grid.grid[2].into(),
        ClusterNctaidX | ClusterNctaidY | ClusterNctaidZ | ClusterNctarank | Nsmid => 1,
        Laneid => lane.into(),
        Warpid => thread.warp() as u64,
        Nwarpid => grid.threads_per_block().div_ceil(32).into(),
        Gridid => 1,
        LanemaskEq => bit,
        LanemaskLt => bit - 1,
        LanemaskLe => bit | (bit - 1),
        LanemaskGt => 0xffff_ffff & !(bit | (bit - 1)),
        LanemaskGe => 0xffff_ffff & !(bit - 1),
        Clock | GlobaltimerLo => clock & 0xffff_ffff,
        ClockHi | GlobaltimerHi => clock >> 32,
        Clock64 | Globaltimer => clock,
        TotalSmemSize | AggrSmemSize => grid.shared_bytes().into(),
        DynamicSmemSize => grid.dynamic_shared.into(),
        _ => special.reserved_shared_offset().map_or(0, |offset| u64::from(grid.program.reserved_shared) + offset),
    };
    value.into()
}
