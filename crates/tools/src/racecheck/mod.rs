//! Finds accesses to memory that race: two threads access the same bytes, one of them writes, and nothing orders them.
//!
//! Memory has a shadow: for each granule, what the last write was, and what the last read (`record.rs`). Every access looks at
//! it before it takes place, and conflicts with what it finds there unless that was ordered: by the end of a launch, by a
//! barrier of the block, by a barrier of the warp, or because both are strong operations of a scope that holds both
//! (`device/`). Which accesses come first does not matter: the first race of a granule is found in any order.
//!
//! A launch that is proved to be free of races before it runs ([`ptx::analysis::footprint`]) runs as the program has it.

mod bulk;
mod check;
mod clocks;
mod compare_and_swap;
mod condition;
mod findings;
mod host;
mod instrument;
mod lanes;
mod parallel;
pub(crate) mod prune;
mod record;
mod strength;
mod transfers;

use std::sync::Arc;

use report::Explanation;
use rewrite::context::Word;
use rewrite::{Access, Call, Cursor, DeviceCode, Instrumentation, KernelView, Refusal, Request, Sync};
use toolkit::{Flag, FlagValue, Host, Instance, Options, Tool};

use lanes::LaneOrder;

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Racecheck;

/// Where the memory of the device begins.
const ARENA: Word = Word("ARENA");
/// How many bytes it has.
const ARENA_BYTES: Word = Word("ARENA_BYTES");
/// The address of a table: where the records of its writes begin for each worker, eight bytes for each granule.
const PLANES: Word = Word("PLANES");
/// How far the records of its reads are from those.
const READS: Word = Word("READS");
/// How many bytes a granule has, as a power of two.
const GRANULE: Word = Word("GRANULE");
/// Where the shared memory of blocks begins.
const WINDOWS: Word = Word("WINDOWS");
/// How many bytes that are, for all blocks.
const WINDOWS_BYTES: Word = Word("WINDOWS_BYTES");
/// Where the records of its writes begin.
const SHARED_PLANE: Word = Word("SHARED_PLANE");
/// How far the records of its reads are from those.
const SHARED_READS: Word = Word("SHARED_READS");
/// On a device whose blocks have the same addresses of shared memory: how many bytes of it have records, for all blocks; else 0.
const COMMON_BYTES: Word = Word("COMMON_BYTES");
/// How many bytes a granule of it has.
const SHARED_GRANULE: Word = Word("SHARED_GRANULE");
/// The first record of the launch.
const LAUNCH: Word = Word("LAUNCH");
/// What is recorded below this is ordered before the launch.
const ORDERED: Word = Word("ORDERED");
/// How far the records of two blocks are apart.
const BLOCK: Word = Word("BLOCK");
/// The bits of a record that tell intervals apart.
const INTERVAL_MASK: Word = Word("INTERVAL_MASK");
/// The bits that tell apart what barriers of a warp divide an interval into; none if the kernel has none.
const WARP_MASK: Word = Word("WARP_MASK");
/// What orders lanes of a warp: one of [`lanes::LaneOrder`].
const LANES_ORDER: Word = Word("LANES_ORDER");
/// The address of the records of launches that are not ordered with this one: pairs of first record and end.
const UNORDERED: Word = Word("UNORDERED");
/// How many there are.
const UNORDERED_COUNT: Word = Word("UNORDERED_COUNT");
/// The address of the tables of order, if the kernel orders accesses through memory; else 0.
const ORDER: Word = Word("ORDER");
/// The address of the table of several warps, if the kernel has barriers to which only some warps come; else 0.
const CLOCKS: Word = Word("CLOCKS");
/// The first warp that stands for copies of many bytes; more than there are if the kernel has none.
const AGENTS: Word = Word("AGENTS");
/// Where conflicts are counted, if several workers run the launch; 0 if they are reported.
const CONFLICTS: Word = Word("CONFLICTS");
/// The address of the count of threads that had more barriers than there are epochs.
const LOST: Word = Word("LOST");

/// The bits of `what` that say how many bytes an access has.
const BYTES: u32 = 0xff;
/// Where in it the kind is.
const ACCESS_KIND: u32 = 8;
/// The value that is written is known.
const HAS_VALUE: u32 = 1 << 11;
/// The access writes.
const WRITES: u32 = 1 << 12;
/// The access reads and writes in one step.
const UPDATES: u32 = 1 << 13;
/// What was recorded is a read.
const OTHER_READS: u32 = 1 << 14;
/// Both write the same value.
const SAME: u32 = 1 << 15;
/// Both are lanes of one instruction.
const TOGETHER: u32 = 1 << 16;
/// Where in `what` is how they conflict: 1, 2 if only a fence is missing, or 3 if an asynchronous copy was not waited for.
const UNFENCED: u32 = 19;
/// The access acquires.
const ACQUIRES: u32 = 1 << 17;
/// The access releases.
const RELEASES: u32 = 1 << 18;

/// A write whose thread has read the same bytes before it, with nothing between that orders: `x += 1`.
const READS_TOO: u32 = 1 << 21;

/// The access is an asynchronous copy.
const COPIES: u32 = 1 << 22;

/// The strong access is still to come: it is followed by what it releases only.
const BEFORE: u32 = 1 << 23;

/// It was followed by what it releases: what it acquires is left.
const AFTER: u32 = 1 << 24;

/// The access is one of a copy of many bytes.
const BULK: u32 = 1 << 26;

/// It is a write to a place that has a mark (`condition.rs`).
const ON_CONDITION: u32 = 1 << 27;

/// The other lane has passed a barrier of some lanes after its access, and this one was none of them.
const LEFT_OUT: u32 = 1 << 25;

/// What the code in `device/` says by name.
const CONSTANTS: &[(&str, u64)] = &[
    ("EPOCH", record::EPOCH as u64),
    ("MANY", record::MANY as u64),
    ("THREAD", record::THREAD as u64),
    ("THREADS", record::THREADS as u64),
    ("THREAD_BITS", (record::THREADS as u64) << record::THREAD),
    ("WARP_EPOCHS", record::WARP_EPOCHS as u64),
    ("ONE_EPOCH", 1 << record::EPOCH),
    ("FENCES", record::FENCES),
    ("NOT_FENCES", !record::FENCES),
    ("WARP", record::THREAD as u64 + 5),
    ("KIND", record::KIND as u64),
    ("KINDS", record::KINDS as u64),
    ("WEAKER_RECORD", record::WEAKER),
    ("COPY_BITS", record::WEAKER | (record::KINDS as u64) << record::KIND),
    ("NOT_COPY", !((1 << (record::EPOCH + record::WARP_EPOCHS)) - (1 << record::EPOCH))),
    ("COPIES", COPIES as u64),
    ("BULK", BULK as u64),
    ("BULK_OBJECTS_CLOCK", 4 * bulk::ON_OBJECT as u64),
    ("BULK_READS_CLOCK", 4 * bulk::READS as u64),
    ("BULK_WRITES_CLOCK", 4 * bulk::WRITES_OF_GROUPS as u64),
    ("NOT_WEAKER", !record::WEAKER),
    ("NOT_THREAD_OR_FENCES", !((record::THREADS as u64) << record::THREAD | record::FENCES)),
    ("SITES", record::SITES as u64),
    ("MANY_LANES", record::MANY_LANES),
    ("MANY_BLOCKS", record::MANY_BLOCKS),
    ("MANY_LANES_RECORD", record::MANY_LANES << record::MANY),
    ("MANY_WARPS_RECORD", record::MANY_WARPS << record::MANY),
    ("MANY_BLOCKS_RECORD", record::MANY_BLOCKS << record::MANY),
    ("VOLATILE", record::VOLATILE as u64),
    ("VOLATILE_RECORD", (record::VOLATILE as u64) << record::KIND),
    ("STRONG_BLOCK", record::STRONG_BLOCK as u64),
    ("STRONG_DEVICE", record::STRONG_DEVICE as u64),
    ("WHO_BITS", 3 << record::MANY | (record::THREADS as u64) << record::THREAD),
    ("WARP_OF_THREAD", 31 << (record::THREAD + record::LANES)),
    ("FENCED", 1 << UNFENCED),
    ("FENCED_READ", 1 << UNFENCED | OTHER_READS as u64),
    ("NOT_LANE", !(31 << record::THREAD)),
    ("BYTES", BYTES as u64),
    ("ACCESS_KIND", ACCESS_KIND as u64),
    ("HAS_VALUE", HAS_VALUE as u64),
    ("OTHER_READS", OTHER_READS as u64),
    ("SAME", SAME as u64),
    ("TOGETHER", TOGETHER as u64),
    ("WRITES", WRITES as u64),
    ("CHANGES", (WRITES | UPDATES) as u64),
    ("UNFENCED", UNFENCED as u64),
    ("NARROW_MARK", (record::STRONG_BLOCK as u64) << 48),
    ("WIDE_MARK", (record::STRONG_DEVICE as u64) << 48),
    ("WARP_MARK", 1 << 48),
    ("ORDER_MANY_RUNS", ORDER_MANY_RUNS),
    ("ACQUIRES", ACQUIRES as u64),
    ("RELEASES", RELEASES as u64),
    ("READS_TOO", READS_TOO as u64),
    ("OF_TWO_VALUES", (HAS_VALUE | OTHER_READS | READS_TOO) as u64),
    ("BEFORE", BEFORE as u64),
    ("AFTER", AFTER as u64),
    ("WRITES_OR_BEFORE", (WRITES | BEFORE) as u64),
    ("ORDER_LOCK", ORDER_LOCK),
    ("INTERVAL", (record::EPOCH + record::WARP_EPOCHS) as u64),
    ("MANY_WARPS", record::MANY_WARPS),
    ("LEFT_OUT", LEFT_OUT as u64),
    ("LANES_UNORDERED", LaneOrder::Unordered as u64),
    ("LANES_HAVE_ROWS", LaneOrder::Rows as u64),
    ("LANE_ROW_BYTES", lanes::ROW),
    ("LANE_ROWS_BYTES", lanes::ROW * 1024),
    ("CLOCK_SLOT_BYTES", CLOCK_SLOT_BYTES),
    ("CLOCK_SLOTS_BYTES", CLOCK_SLOT_BYTES * CLOCK_SLOTS),
    ("CLOCK_SLOTS_WORDS", CLOCK_SLOT_BYTES * CLOCK_SLOTS / 4),
    ("CLOCK_OBJECTS", CLOCK_OBJECTS),
    ("CLOCK_ENTRIES", CLOCK_ENTRIES),
    ("CLOCK_ENTRY_BYTES", CLOCK_ENTRY_BYTES),
    ("ORDER_ADDRESSES", ORDER_ADDRESSES),
    ("ORDER_MOST_ADDRESSES", (1 << ORDER_ADDRESS_BITS) - 1),
    ("ORDER_ADDRESS_SIZE", ORDER_ADDRESS_SIZE as u64),
    ("ORDER_ADDRESS_RUNS", ((1 << ORDER_ADDRESS_SIZE) - LIST_HEADER) / LIST_RUN),
    ("ORDER_BLOCKS", ORDER_BLOCKS),
    ("ORDER_MOST_BLOCKS", (1 << ORDER_BLOCK_BITS) - 1),
    ("ORDER_BLOCK_SIZE", ORDER_BLOCK_SIZE as u64),
    ("ORDER_BLOCK_RUNS", ((1 << ORDER_BLOCK_SIZE) - LIST_HEADER) / LIST_RUN),
];

/// Where in the tables of order their lock is.
const ORDER_LOCK: u64 = 56;
/// Where the lists of addresses begin, after a word that says whether something did not fit, those that count what was not
/// decided, and the lock.
const ORDER_ADDRESSES: u64 = 64;
/// How many addresses have lists, as a power of two.
const ORDER_ADDRESS_BITS: u32 = 16;
/// How many bytes each has, as a power of two.
const ORDER_ADDRESS_SIZE: u32 = 10;
/// Where the lists of blocks begin.
const ORDER_BLOCKS: u64 = ORDER_ADDRESSES + (1 << (ORDER_ADDRESS_BITS + ORDER_ADDRESS_SIZE));
/// How many blocks have lists.
const ORDER_BLOCK_BITS: u32 = 12;
/// How many bytes each has.
const ORDER_BLOCK_SIZE: u32 = 14;
/// After so many runs, what a thread of a block acquires is its warp's.
const ORDER_MANY_RUNS: u64 = 128;
/// How many bytes the tables have.
const ORDER_BYTES: u64 = ORDER_BLOCKS + (1 << (ORDER_BLOCK_BITS + ORDER_BLOCK_SIZE));
/// Bytes of the header of a list, and of each run in it.
const LIST_HEADER: u64 = 32;
const LIST_RUN: u64 = 24;

/// mbarrier objects of a block whose order is followed (`device/clocks.ptx`); of more, too much counts as ordered.
const CLOCK_OBJECTS: u64 = 32;
/// Barriers that have a slot: those with a number, and these.
const CLOCK_SLOTS: u64 = 16 + CLOCK_OBJECTS;
/// A header, and two rows of 32 clocks.
const CLOCK_SLOT_BYTES: u64 = 16 + 2 * 32 * 4;
/// Where in the table of several warps its entries begin, after a word that counts what was not decided.
const CLOCK_ENTRIES: u64 = 64;
/// Two words and 32 clocks.
const CLOCK_ENTRY_BYTES: u64 = 16 + 32 * 4;
/// How many bytes that table has: 64 parts, which blocks share, with an entry for each number of a thread.
const CLOCK_BYTES: u64 = CLOCK_ENTRIES + 64 * 1024 * CLOCK_ENTRY_BYTES;

/// The version in which all accesses are looked at.
const CHECKED: usize = 0;
/// The version without those that cannot race, if objects that are only read are not written by another name (`prune.rs`).
const PRUNED: usize = 1;
/// The version for launches that are proved to be free of races: there is nothing in it.
const PROVED: usize = 2;
/// The versions for devices whose warps run at the same time: in which all accesses are looked at, and without those that cannot race.
const CONCURRENT: usize = 3;
const CONCURRENT_PRUNED: usize = 4;
/// The version for launches that race only on a condition (`condition.rs`): in which only that is looked at.
const CONDITIONAL: usize = 5;

/// Looks at all accesses.
const NO_PRUNE: Flag =
    Flag { name: "no-prune", help: "Check all accesses of all launches, also those that cannot race", value: None };

/// When several workers share a launch.
const SHARE: Flag = Flag {
    name: "share",
    help: "Which launches workers share: auto (of kernels that took long), always (all that can be), never",
    value: Some(FlagValue { name: "WHEN", default: "auto", check: parallel::check_share }),
};

impl Tool for Racecheck {
    fn instrumentation(&self) -> &'static dyn Instrumentation {
        &Racecheck
    }

    fn about(&self) -> &'static str {
        "Runs a CUDA program and finds races in shared and global memory"
    }

    fn flags(&self) -> &'static [Flag] {
        &[Flag::NO_PROVE, NO_PRUNE, SHARE]
    }

    fn explanations(&self) -> &'static [Explanation] {
        findings::EXPLANATIONS
    }

    fn start(&self, options: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        host::RacecheckInstance::start(options, host)
    }
}

impl Instrumentation for Racecheck {
    fn name(&self) -> &'static str {
        "racecheck"
    }

    fn words(&self) -> &'static [Word] {
        &[
            ARENA,
            ARENA_BYTES,
            PLANES,
            READS,
            GRANULE,
            WINDOWS,
            WINDOWS_BYTES,
            SHARED_PLANE,
            SHARED_READS,
            COMMON_BYTES,
            SHARED_GRANULE,
            LAUNCH,
            ORDERED,
            BLOCK,
            INTERVAL_MASK,
            WARP_MASK,
            LANES_ORDER,
            UNORDERED,
            UNORDERED_COUNT,
            ORDER,
            CLOCKS,
            AGENTS,
            CONFLICTS,
            LOST,
            condition::MARKED,
            condition::MARKED_BYTES,
            condition::MARKED_UNIT,
            condition::MARKS,
        ]
    }

    fn device_code(&self) -> Option<DeviceCode> {
        let text = concat!(
            include_str!("device/threads.ptx"),
            include_str!("device/lanes.ptx"),
            include_str!("device/order.ptx"),
            include_str!("device/clocks.ptx"),
            include_str!("device/copies.ptx"),
            include_str!("device/bulk.ptx"),
            include_str!("device/accesses.ptx"),
            include_str!("device/plain.ptx"),
            include_str!("device/concurrent.ptx"),
            include_str!("device/condition.ptx"),
        );
        Some(DeviceCode { text, constants: CONSTANTS })
    }

    fn versions(&self, kernel: &KernelView<'_>) -> Result<Vec<&'static str>, Refusal> {
        let versions = vec!["", "pruned", "proved", "concurrent", "concurrent_pruned", "conditional"];
        instrument::refusal(kernel).map_or(Ok(versions), Err)
    }

    fn is_plain(&self, version: usize) -> bool {
        version == PROVED
    }

    fn entry(&self, at: &mut Cursor<'_, '_>) {
        instrument::entry(at);
    }

    fn access(&self, at: &mut Cursor<'_, '_>, access: &Access) {
        instrument::access(at, access);
    }

    fn sync(&self, at: &mut Cursor<'_, '_>, sync: &Sync) {
        instrument::sync(at, sync);
    }

    fn call(&self, at: &mut Cursor<'_, '_>, call: &Call) {
        instrument::call(at, call);
    }

    fn request(&self, at: &mut Cursor<'_, '_>, request: &Request) {
        instrument::request(at, request);
    }
}
