//! Redundant multithreading: kernels compute everything twice, and compare what leaves a thread before it does.
//!
//! In the `pair` variants a block has twice as many threads: sixteen lanes of a warp are threads of the program, the others
//! their twins (`layout.rs`). Twins exchange what they are about to store (`exchange.rs`), and one of them stores it where both agree
//! (`instrument.rs`). The `kernel` variant runs the whole launch twice from the same memory (`host.rs`).
//! In `warp-pair` whole warps are twins, and in `inter` blocks: they compare by a log (`log.rs`).
//! The README beside this file says what is inside the sphere of replication and what is not.

mod channel;
mod copies;
mod exchange;
mod findings;
mod host;
mod instrument;
mod kept;
mod layout;
#[cfg(test)]
mod listener;
mod log;
mod log_memory;
mod pace;
mod recover;
mod refusals;
mod shared;
mod slots;
mod values;
mod version;

use std::sync::Arc;

use ptx::ir::{Reg, StmtId};
use ptx::special::Special;
use report::Explanation;
use rewrite::context::Word;
use rewrite::{
    Access, Call, Class, Cursor, Definition, DeviceCode, Exit, Instrumentation, KernelView, LaunchShape, Refusal, Sync,
    ThreadId,
};
use toolkit::{Flag, Host, Instance, Options, Tool};
use version::{KERNEL, Layout, NAMES, Pair, Work};

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Rmt;

/// Its name.
const TOOL: &str = "rmt";

/// The block of the program.
const BLOCK_X: Word = Word("BLOCK_X");
const BLOCK_Y: Word = Word("BLOCK_Y");
const BLOCK_Z: Word = Word("BLOCK_Z");
/// How many threads that are.
const THREADS: Word = Word("THREADS");
/// How many bytes of dynamic shared memory the program asks for.
const DYNAMIC_SHARED: Word = Word("DYNAMIC_SHARED");
/// How far the copies of it are apart.
const SHARED_DISTANCE: Word = Word("SHARED_DISTANCE");

/// Where in dynamic shared memory the slots of threads begin.
const SLOTS: Word = Word("SLOTS");

/// The address of the log in global memory.
const LOG: Word = Word("LOG");
/// The address of its entries.
const LOG_ENTRIES: Word = Word("LOG_ENTRIES");
/// How many pairs of blocks can have a log at a time: 2 to the power of this.
const REGIONS: Word = Word("REGIONS");

/// What `device.ptx` says by name.
const CONSTANTS: &[(&str, u64)] = &[
    ("DISTANCE", exchange::DISTANCE as u64),
    ("GUARD", findings::GUARD as u64),
    ("PLACE", findings::PLACE as u64),
    ("ADDRESS", findings::ADDRESS as u64),
    ("VALUE", findings::VALUE as u64),
    ("ROUNDS", log::ROUNDS),
];

impl Tool for Rmt {
    fn instrumentation(&self) -> &'static dyn Instrumentation {
        &Rmt
    }

    fn about(&self) -> &'static str {
        "Runs a CUDA program with every kernel computed twice, and finds results that differ"
    }

    fn flags(&self) -> &'static [Flag] {
        host::FLAGS
    }

    fn explanations(&self) -> &'static [Explanation] {
        findings::EXPLANATIONS
    }

    fn start(&self, options: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        Ok(Box::new(host::RmtInstance::new(options, host)))
    }
}

impl Instrumentation for Rmt {
    fn name(&self) -> &'static str {
        TOOL
    }

    fn class(&self) -> Class {
        Class::Change
    }

    fn words(&self) -> &'static [Word] {
        &[BLOCK_X, BLOCK_Y, BLOCK_Z, THREADS, DYNAMIC_SHARED, SHARED_DISTANCE, SLOTS, LOG, LOG_ENTRIES, REGIONS]
    }

    fn device_code(&self) -> Option<DeviceCode> {
        Some(DeviceCode { text: include_str!("device.ptx"), constants: CONSTANTS })
    }

    fn versions(&self, _kernel: &KernelView<'_>) -> Result<Vec<&'static str>, Refusal> {
        Ok(NAMES.clone())
    }

    fn refuses(&self, version: usize, kernel: &KernelView<'_>) -> Option<Refusal> {
        match Pair::numbered(version) {
            Some(pair) => refusals::of_pair(kernel, pair),
            None if version == KERNEL => refusals::of_repetition(kernel),
            None => None,
        }
    }

    fn is_plain(&self, version: usize) -> bool {
        Pair::numbered(version).is_none()
    }

    fn shape(&self, version: usize, shape: LaunchShape) -> Result<LaunchShape, Refusal> {
        Pair::numbered(version).map_or(Ok(shape), |pair| pair.shape(shape))
    }

    fn program_thread(&self, version: usize, shape: &LaunchShape, thread: ThreadId) -> ThreadId {
        Pair::numbered(version).map_or(thread, |pair| pair.program_thread(shape, thread))
    }

    fn special(&self, at: &mut Cursor<'_, '_>, special: Special) -> Option<Reg> {
        Pair::numbered(at.version())?.special(at, special)
    }

    fn copies(&self, version: usize) -> u32 {
        // Blocks that are twins have barriers of their own.
        Pair::numbered(version).map_or(1, |pair| if pair.layout == Layout::Blocks { 1 } else { 2 })
    }

    fn entry(&self, at: &mut Cursor<'_, '_>) {
        if let Some(pair) = Pair::numbered(at.version()) {
            instrument::entry(at, pair);
        }
    }

    fn exit(&self, at: &mut Cursor<'_, '_>, exit: &Exit) {
        if let Some(pair) = computed(at) {
            instrument::exit(at, exit, pair);
        }
    }

    fn call(&self, at: &mut Cursor<'_, '_>, call: &Call) {
        if let Some(pair) = computed(at) {
            instrument::call(at, call, pair);
        }
    }

    fn access(&self, at: &mut Cursor<'_, '_>, access: &Access) {
        if let Some(pair) = computed(at).filter(|_| is_of_program(at, access.stmt)) {
            instrument::access(at, access, pair);
        }
    }

    fn sync(&self, at: &mut Cursor<'_, '_>, sync: &Sync) {
        if let Some(pair) = computed(at).filter(|_| is_of_program(at, sync.stmt)) {
            instrument::sync(at, sync, pair);
        }
    }

    fn definition(&self, at: &mut Cursor<'_, '_>, definition: &Definition) {
        if let Some(pair) = computed(at).filter(|_| is_of_program(at, definition.stmt)) {
            instrument::definition(at, definition, pair);
        }
    }
}

/// Whether the program has an instruction, and not what stands for its ids: blocks draw tickets for these.
fn is_of_program(at: &mut Cursor<'_, '_>, stmt: StmtId) -> bool {
    at.editor().body().origin(stmt).tag.is_none()
}

/// The version that is made, if both twins compute in it. Only kernels have a log: functions in which something would have to be
/// compared are refused.
fn computed(at: &Cursor<'_, '_>) -> Option<Pair> {
    Pair::numbered(at.version()).filter(|pair| pair.work != Work::Doubled && (at.is_kernel() || !pair.has_log()))
}
