//! Counts what the accesses of kernels cost a GPU: sectors and lines of global memory, conflicts of banks in shared memory,
//! and branches at which lanes of a warp part, by source line.
//!
//! A request is one execution of an instruction by a warp. What a request comes to is computed where it is made, from the
//! addresses of the lanes that make it (`device.ptx`), and added to counters of its site (`counters.rs`); when the process ends,
//! these become rows of tables (`host.rs`), and
//! advice where it is certain (`advice.rs`).

mod advice;
mod caches;
mod counters;
mod host;
mod inline;
mod instrument;
mod lanes;
mod line;
mod occupancy;
mod registers;

use std::sync::Arc;

use gpu::Architecture;
use report::Explanation;
use rewrite::context::{Tallies, Word};
use rewrite::{Access, Branch, Cursor, DeviceCode, Instrumentation, KernelView, Refusal, Sync};
use toolkit::{Flag, FlagValue, Host, Instance, Options, Tool};

use caches::Carveout;
use line::{Line, line_of, variable_name};
use registers::Registers;

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Traffic;

/// Which GPUs the tables are for.
const ARCH: Flag = Flag {
    name: "arch",
    help: "The architectures that the tables are for, such as sm_80,sm_90",
    value: Some(FlagValue { name: "SM", default: "sm_80", check: check_architectures }),
};

fn check_architectures(list: &str) -> Result<(), String> {
    Architecture::list(list).map(drop)
}

/// Where the patterns of sites begin that workers remember.
const PATTERNS: Word = Word("PATTERNS");
/// How many bytes those of a worker have.
const PATTERN_ROW: Word = Word("PATTERN_ROW");
/// Sites with larger numbers have none.
const PATTERN_SITES: Word = Word("PATTERN_SITES");
/// Bytes from the pattern of a site to that of the next. An access has a site for each of its counters, and needs one pattern: 32
/// distances, 32 tags, and which lanes there were.
const PATTERN_OF_SITE: u64 = 64;
const _: () = assert!(PATTERN_OF_SITE * counters::COUNTERS_OF_ACCESS >= 32 * 8 + 4);

/// Whether caches are modelled.
const CACHES: Flag = Flag {
    name: "caches",
    help: "Model what L1 and L2 save, from traces of some blocks of the first launch of each kernel",
    value: None,
};

/// How L1 and shared memory divide what they have.
const CARVEOUT: Flag = Flag {
    name: "carveout",
    help: "Shared memory of a multiprocessor, in kilobytes (64) or in percent of the largest (50%); else what the program asks for",
    value: Some(FlagValue { name: "KB|%", default: "", check: check_carveout }),
};

/// Who says how many registers kernels have.
const PTXAS: Flag = Flag {
    name: "ptxas",
    help: "NVIDIA's assembler, which says how many registers kernels have: its path, auto for the one on the PATH, or none",
    value: Some(FlagValue { name: "FILE", default: "auto", check: |_| Ok(()) }),
};

fn check_carveout(text: &str) -> Result<(), String> {
    Carveout::parse(text).map(drop)
}

/// Where the table of the blocks is that are traced: for each the trace of its first warp, or 0.
const TRACE_BLOCKS: Word = Word("TRACE_BLOCKS");
/// The first of them.
const TRACE_FIRST: Word = Word("TRACE_FIRST");
/// How many there are.
const TRACE_WINDOW: Word = Word("TRACE_WINDOW");
/// Bytes of the trace of a warp.
const TRACE_ROW: Word = Word("TRACE_ROW");

/// The version for blocks of any shape.
const ANY_SHAPE: usize = 0;
/// The version for blocks whose rows are a whole number of warps: it knows strides that depend on that.
const WHOLE_ROWS: usize = 1;
/// The version that writes traces of some blocks.
const TRACED: usize = 2;
/// The versions for blocks whose rows are 16 and 8 threads, in one plane: these know how far lanes are from each other.
const ROWS_OF_16: usize = 3;
const ROWS_OF_8: usize = 4;
/// The version for devices without workers: it counts by atomic operations.
const CONCURRENT: usize = 5;

/// Bytes of a sector, and of a line of a cache, as powers of two.
const SECTOR_BITS: u32 = 5;
const LINE_BITS: u32 = 7;

/// Where the tally of a counter is, from that of the first of a site in a row without what comes before tallies.
const fn tally(counter: u64) -> u64 {
    Tallies::FIRST as u64 + 8 * counter
}

/// What `device.ptx` says by name.
const CONSTANTS: &[(&str, u64)] = &[
    ("SECTOR_BITS", SECTOR_BITS as u64),
    ("SECTORS_OF_LINE", 1 << (LINE_BITS - SECTOR_BITS)),
    ("SECTORS_OF_LINE_BITS", (LINE_BITS - SECTOR_BITS) as u64),
    ("MORE_SECTORS", tally(counters::MORE_SECTORS)),
    ("MORE_LINES", tally(counters::MORE_LINES)),
    ("MISSING_LANES", tally(counters::MISSING_LANES)),
    ("MORE_PASSES", tally(counters::MORE_PASSES)),
    ("MORE_WAYS", 8 * counters::MORE_WAYS),
    ("LARGEST_STEP", 8 * counters::LARGEST_STEP),
    ("SMALLEST_STEP", 8 * counters::SMALLEST_STEP),
    ("IRREGULAR", 8 * counters::IRREGULAR),
    ("STEP_ZERO", counters::STEP_ZERO),
    ("BYTES", counters::BYTES as u64),
    ("LAST_OF_SECTOR", (1 << SECTOR_BITS) - 1),
    ("PATTERN", PATTERN_OF_SITE),
    ("TAGS", 32 * 4),
    ("MASK", 32 * 8),
    ("LAST_OF_LINE", (1 << LINE_BITS) - 1),
    ("DIVERGENT", tally(counters::DIVERGENT)),
    ("IDLE_LANES", tally(counters::IDLE_LANES)),
    ("AFFINE_RECORD", caches::AFFINE_RECORD),
    ("SCATTERED_RECORD", caches::SCATTERED_RECORD),
];

impl Tool for Traffic {
    fn instrumentation(&self) -> &'static dyn Instrumentation {
        &Traffic
    }

    fn about(&self) -> &'static str {
        "Runs a CUDA program and counts its traffic with memory, conflicts of banks and divergent branches, line by line"
    }

    fn flags(&self) -> &'static [Flag] {
        &[ARCH, CACHES, CARVEOUT, PTXAS]
    }

    fn explanations(&self) -> &'static [Explanation] {
        advice::EXPLANATIONS
    }

    fn start(&self, options: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        let architectures = Architecture::list(options.get(&ARCH))?;
        let carveout = Carveout::parse(options.get(&CARVEOUT))?;
        let registers = Registers::new(options.get(&PTXAS), host);
        let instance = host::TrafficInstance::new(architectures, carveout, options.has(&CACHES), registers, host);
        Ok(Box::new(instance))
    }
}

impl Instrumentation for Traffic {
    fn name(&self) -> &'static str {
        "traffic"
    }

    fn versions(&self, _: &KernelView<'_>) -> Result<Vec<&'static str>, Refusal> {
        Ok(vec!["", "rows", "traced", "rows16", "rows8", "concurrent"])
    }

    fn words(&self) -> &'static [Word] {
        &[PATTERNS, PATTERN_ROW, PATTERN_SITES, TRACE_BLOCKS, TRACE_FIRST, TRACE_WINDOW, TRACE_ROW]
    }

    fn has_tallies(&self) -> bool {
        true
    }

    fn device_code(&self) -> Option<DeviceCode> {
        Some(DeviceCode { text: lanes::DEVICE_CODE.as_str(), constants: CONSTANTS })
    }

    fn entry(&self, at: &mut Cursor<'_, '_>) {
        instrument::entry(at);
    }

    fn access(&self, at: &mut Cursor<'_, '_>, access: &Access) {
        instrument::access(at, access);
    }

    fn branch(&self, at: &mut Cursor<'_, '_>, branch: &Branch) {
        instrument::branch(at, branch);
    }

    fn sync(&self, at: &mut Cursor<'_, '_>, sync: &Sync) {
        instrument::sync(at, sync);
    }
}
