//! Counts how many blocks store to global memory: the others have no output that somebody could compare.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ptx::ir::{Guard, Operand};
use ptx::special::Special;
use ptx::types::{Space, Type};
use ptx::view::{AccessKind, AccessSpace};
use report::{Cell, Row, demangled};
use rewrite::context::Word;
use rewrite::{Access, Cursor, Instrumentation, KernelVersion, Refusal};
use toolkit::{EndedLaunch, Host, Instance, LaunchView, Options, SharedWords, Tool, Words};

/// Where a launch has a byte for each block.
const BLOCKS: Word = Word("BLOCKS");
/// Launches of more blocks are not counted.
const MOST_BLOCKS: u64 = 1 << 26;

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Stores;

impl Instrumentation for Stores {
    fn name(&self) -> &'static str {
        "stores"
    }

    fn words(&self) -> &'static [Word] {
        &[BLOCKS]
    }

    fn access(&self, at: &mut Cursor<'_, '_>, access: &Access) {
        if access.access.kind == AccessKind::Read {
            return;
        }
        match access.access.space {
            AccessSpace::State(Space::Global) => mark_block(at, at.guard()),
            AccessSpace::Generic => {
                // Only where the address is one of global memory.
                let address = at.address(access);
                let in_global = at.in_space("isspacep.global", address, at.guard());
                mark_block(at, Some(in_global));
            }
            _ => {}
        }
    }
}

/// Sets the byte of the block, which all of its threads set to the same.
fn mark_block(at: &mut Cursor<'_, '_>, guard: Option<Guard>) {
    let [x, y, z, width, height] =
        [Special::CtaidX, Special::CtaidY, Special::CtaidZ, Special::NctaidX, Special::NctaidY]
            .map(|special| at.at_entry("mov.u32", Type::B32, &[Operand::Special(special)]));
    let row = at.at_entry("mad.lo.u32", Type::B32, &[z.into(), height.into(), y.into()]);
    let block = at.at_entry("mad.lo.u32", Type::B32, &[row.into(), width.into(), x.into()]);
    let blocks = at.word(BLOCKS);
    let block = at.at_entry("cvt.u64.u32", Type::B64, &[block.into()]);
    let byte = at.at_entry("add.u64", Type::B64, &[block.into(), blocks.into()]);
    at.before().inst_if(guard, "st.global.u8", &[Operand::RegAddress(byte, 0), Operand::Int(1)]);
}

impl Tool for Stores {
    fn instrumentation(&self) -> &'static dyn Instrumentation {
        &Stores
    }

    fn about(&self) -> &'static str {
        "Runs a CUDA program and counts the blocks that store to global memory, kernel by kernel"
    }

    fn is_hidden(&self) -> bool {
        true
    }

    fn start(&self, _: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        Ok(Box::new(StoresInstance { host: Arc::clone(host), state: Mutex::default() }))
    }
}

/// The tool in a process.
#[derive(Debug)]
struct StoresInstance {
    host: Arc<dyn Host>,
    state: Mutex<State>,
}

#[derive(Default, Debug)]
struct State {
    /// The launches that are under way, by their numbers.
    running: HashMap<u64, Running>,
    /// By kernel.
    counts: BTreeMap<String, Counts>,
}

#[derive(Debug)]
struct Running {
    blocks: u64,
    bytes: Arc<dyn SharedWords>,
}

#[derive(Default, Debug)]
struct Counts {
    launches: u64,
    blocks: u64,
    /// Of the largest launch.
    most_blocks: u64,
    storing: u64,
}

impl StoresInstance {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Instance for StoresInstance {
    fn choose(&self, launch: &LaunchView<'_>) -> Result<usize, Refusal> {
        let blocks = launch.shape.grid.iter().map(|&blocks| u64::from(blocks)).product::<u64>();
        let refusal = |code, reason| Err(Refusal::new("stores", code, reason));
        if blocks > MOST_BLOCKS {
            return refusal("grid-too-large", format!("it has {blocks} blocks, and {MOST_BLOCKS} at most are counted"));
        }
        // A launch is asked about more than once.
        if let Entry::Vacant(entry) = self.state().running.entry(launch.number) {
            match self.host.words(blocks.div_ceil(8) as usize) {
                Ok(bytes) => _ = entry.insert(Running { blocks, bytes }),
                Err(error) => return refusal("no-memory", format!("a byte for each of {blocks} blocks: {error}")),
            }
        }
        Ok(0)
    }

    fn words(&self, launch: &LaunchView<'_>, _: &KernelVersion, words: &mut Words<'_>) {
        if let Some(running) = self.state().running.get(&launch.number) {
            words.set(BLOCKS, running.bytes.address());
        }
    }

    fn on_end(&self, launch: &EndedLaunch<'_>) {
        let mut state = self.state();
        let Some(Running { blocks, bytes }) = state.running.remove(&launch.number) else { return };
        // Each byte is 0 or 1.
        let ones = |word: &AtomicU64| u64::from(word.load(Ordering::Relaxed).count_ones());
        let counts = state.counts.entry(launch.kernel.to_owned()).or_default();
        counts.launches += 1;
        counts.blocks += blocks;
        counts.most_blocks = counts.most_blocks.max(blocks);
        counts.storing += bytes.words().iter().map(ones).sum::<u64>();
    }

    fn finish(&self) {
        for (kernel, counts) in std::mem::take(&mut self.state().counts) {
            let row = Row::new("stores", "blocks")
                .with("kernel", Cell::Text(demangled(&kernel)))
                .with("launches", Cell::Count(counts.launches))
                .with("blocks", Cell::Count(counts.blocks))
                .with("blocks_max", Cell::Most(counts.most_blocks))
                .with("storing", Cell::Count(counts.storing));
            self.host.row(row);
        }
    }
}
