//! Runs on where threads violate each other's atomicity: every launch leaves behind what threads that run one after another do.
//!
//! The serial order is that of blocks in ascending number, and in a block, between two barriers, of threads in ascending number.
//! A launch that no order can change, because it is proved so, runs as the program has it. Others run in parallel, in place, and
//! are checked: every access compares its place in the serial order with that of the conflicting accesses before it (`turn.rs`,
//! `check.rs`). If none comes too late, the run is equivalent to the serial one. If one does, memory is restored, and the launch
//! runs again, one thread after another (`plan.rs`). So a launch runs twice at most.
//!
//! The README beside this file says why that is right, and what is not promised.

mod check;
mod findings;
mod host;
mod instrument;
mod kernel_facts;
mod ledger;
mod memory;
mod one_by_one;
mod plan;
mod refusals;
mod test_and_set;
mod turn;
mod unit;

use std::sync::Arc;

use ptx::ir::Reg;
use ptx::special::Special;
use report::Explanation;
use rewrite::context::Word;
use rewrite::{Access, Call, Class, Cursor, DeviceCode, Exit, Instrumentation, KernelView, Refusal, Sync};
use toolkit::{Flag, Host, Instance, Options, Tool};

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Repair;

/// Its name.
const TOOL: &str = "repair";

/// Where the memory of the device begins.
const ARENA: Word = Word("ARENA");
/// How many bytes it has.
const ARENA_BYTES: Word = Word("ARENA_BYTES");
/// Where the records of its writes begin: eight bytes for each granule.
const PLANE: Word = Word("PLANE");
/// How far the records of its reads are from those, and the records of its reductions from the records of its reads.
const DISTANCE: Word = Word("DISTANCE");
/// How many bytes a granule has, as a power of two.
const GRANULE: Word = Word("GRANULE");
/// Where the shared memory of blocks begins.
const WINDOWS: Word = Word("WINDOWS");
/// How many bytes that are, for all blocks.
const WINDOWS_BYTES: Word = Word("WINDOWS_BYTES");
/// The same of its records.
const SHARED_PLANE: Word = Word("SHARED_PLANE");
const SHARED_DISTANCE: Word = Word("SHARED_DISTANCE");
const SHARED_GRANULE: Word = Word("SHARED_GRANULE");
/// The first turn of the launch.
const LAUNCH: Word = Word("LAUNCH");
/// How far the turns of two blocks are apart.
const BLOCK: Word = Word("BLOCK");
/// How far those of two intervals between barriers are apart.
const INTERVAL: Word = Word("INTERVAL");
/// How far those of two warps are apart.
const WARP: Word = Word("WARP");
/// How far those of two lanes are apart: nothing if a warp has one turn.
const LANE: Word = Word("LANE");
/// How far those before and after a collective are apart: nothing if a warp has one turn.
const MEETING: Word = Word("MEETING");
/// The bits of a turn that tell apart what collectives divide an interval into.
const MEETINGS: Word = Word("MEETINGS");
/// Where is counted what was found.
const COUNTS: Word = Word("COUNTS");

/// Where the blocks of a launch draw tickets, and count how many of them have ended ([`ENDED_BLOCKS`]).
const BLOCKS: Word = Word("BLOCKS");
const ENDED_BLOCKS: u64 = 4;

/// After how many accesses that come too late a run ends: what it leaves behind is not needed.
const LIMIT: Word = Word("LIMIT");

/// Of the counts: accesses that came too late.
const CONFLICTS: u64 = 0;
/// Threads that had more turns than there are.
const LOST: u64 = 8;
/// Accesses among those that came too late, of lanes of one warp: how many, and after the counts, for the first
/// [`MOST_CONFLICTS`], the address above [`NOTED_ADDRESS`] bits that have how many bytes it accesses, and [`CHANGED`] if it writes.
const TOGETHER_COUNT: u64 = 16;
const NOTES: u64 = 24;
const NOTED_ADDRESS: u64 = 9;
const CHANGED: u64 = 1 << 8;

/// So many late accesses of a launch are looked at: enough to tell of most lines.
const MOST_CONFLICTS: u64 = 4096;

/// The bits of `what` that say how many bytes an access has.
const BYTES: u32 = 0xff;
/// The access writes.
const WRITES: u32 = 1 << 8;
/// The access reads.
const READS: u32 = 1 << 9;
/// It changes memory in a way whose order among others of its kind does not matter.
const REDUCES: u32 = 1 << 10;
/// The value that is written is known.
const HAS_VALUE: u32 = 1 << 11;
/// What came before, and should not have, is a read.
const OTHER_READS: u32 = 1 << 12;
/// Both are lanes of a warp, between the same collectives.
const TOGETHER: u32 = 1 << 13;

/// What `device.ptx` says by name.
const CONSTANTS: &[(&str, u64)] = &[
    ("CONFLICTS", CONFLICTS),
    ("LOST", LOST),
    ("TOGETHER_COUNT", TOGETHER_COUNT),
    ("NOTES", NOTES),
    ("MOST_NOTES", MOST_CONFLICTS),
    ("NOTED_ADDRESS", NOTED_ADDRESS),
    ("CHANGED", CHANGED),
    ("BYTES", BYTES as u64),
    ("WRITES", WRITES as u64),
    ("READS", READS as u64),
    ("CHANGES", (WRITES | REDUCES) as u64),
    ("REDUCES", REDUCES as u64),
    ("HAS_VALUE", HAS_VALUE as u64),
    ("OTHER_READS", OTHER_READS as u64),
    ("TOGETHER", TOGETHER as u64),
    ("SITES", turn::SITES as u64),
    ("NOT_LANE", !(turn::LANES << turn::LANE | turn::SITES as u64)),
    ("ENDED_BLOCKS", ENDED_BLOCKS),
];

/// The kernel as the program has it, for launches that are not repaired.
const ORIGINAL: usize = 0;
/// The version in which all accesses are checked.
const CHECKED: usize = 1;
/// The version without those whose order does not matter (`racecheck::prune`).
const PRUNED: usize = 2;
/// The original, for launches that leave the same behind in all orders.
const PROVED: usize = 3;
/// The original, for launches in the serial order.
const SERIAL: usize = 4;
/// The version whose threads keep the serial order by themselves, for devices that cannot be asked for it.
const ONE_BY_ONE: usize = 5;

impl Tool for Repair {
    fn instrumentation(&self) -> &'static dyn Instrumentation {
        &Repair
    }

    fn needs_cpu(&self, options: &Options) -> Option<&'static str> {
        host::needs_cpu(options)
    }

    fn about(&self) -> &'static str {
        "Runs a CUDA program whose threads may conflict, with the result of threads that run one after another"
    }

    fn flags(&self) -> &'static [Flag] {
        host::FLAGS
    }

    fn explanations(&self) -> &'static [Explanation] {
        findings::EXPLANATIONS
    }

    fn start(&self, options: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        host::RepairInstance::start(options, host)
    }
}

impl Instrumentation for Repair {
    fn name(&self) -> &'static str {
        TOOL
    }

    fn class(&self) -> Class {
        Class::Change
    }

    fn words(&self) -> &'static [Word] {
        &[
            ARENA,
            ARENA_BYTES,
            PLANE,
            DISTANCE,
            GRANULE,
            WINDOWS,
            WINDOWS_BYTES,
            SHARED_PLANE,
            SHARED_DISTANCE,
            SHARED_GRANULE,
            LAUNCH,
            BLOCK,
            INTERVAL,
            WARP,
            LANE,
            MEETING,
            MEETINGS,
            COUNTS,
            LIMIT,
            BLOCKS,
        ]
    }

    fn device_code(&self) -> Option<DeviceCode> {
        let text = concat!(include_str!("device.ptx"), include_str!("one_by_one.ptx"));
        Some(DeviceCode { text, constants: CONSTANTS })
    }

    fn versions(&self, _kernel: &KernelView<'_>) -> Result<Vec<&'static str>, Refusal> {
        Ok(vec!["", "checked", "pruned", "proved", "serial", "one-by-one"])
    }

    fn refuses(&self, version: usize, kernel: &KernelView<'_>) -> Option<Refusal> {
        let of_order = || refusals::of_serial_order(kernel);
        match version {
            CHECKED | PRUNED => of_order().or_else(|| refusals::of_check(kernel)),
            SERIAL => of_order(),
            ONE_BY_ONE => of_order().or_else(|| refusals::of_one_by_one(kernel)),
            _ => None,
        }
    }

    fn is_plain(&self, version: usize) -> bool {
        !matches!(version, CHECKED | PRUNED | ONE_BY_ONE)
    }

    fn special(&self, at: &mut Cursor<'_, '_>, special: Special) -> Option<Reg> {
        if at.version() == ONE_BY_ONE { one_by_one::special(at, special) } else { None }
    }

    fn entry(&self, at: &mut Cursor<'_, '_>) {
        match at.version() {
            ONE_BY_ONE => one_by_one::entry(at),
            version if !self.is_plain(version) => instrument::entry(at),
            _ => {}
        }
    }

    fn exit(&self, at: &mut Cursor<'_, '_>, exit: &Exit) {
        if at.version() == ONE_BY_ONE {
            one_by_one::exit(at, exit);
        }
    }

    fn access(&self, at: &mut Cursor<'_, '_>, access: &Access) {
        match at.version() {
            ONE_BY_ONE => one_by_one::access(at, access),
            _ => instrument::access(at, access),
        }
    }

    fn sync(&self, at: &mut Cursor<'_, '_>, sync: &Sync) {
        match at.version() {
            ONE_BY_ONE => one_by_one::sync(at, sync),
            _ => instrument::sync(at, sync),
        }
    }

    fn call(&self, at: &mut Cursor<'_, '_>, call: &Call) {
        instrument::call(at, call);
    }
}
