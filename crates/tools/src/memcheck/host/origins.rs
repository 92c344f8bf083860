//! What brought undefined values into memory of the device: stores of kernels, and copies (`--track-origins yes`).
//!
//! A kernel that stores something undefined notes where it stores, what its thread loaded last that is undefined, and by which
//! instruction of which launch, in a table of a fixed size: the last store to each eight bytes. So what a report says is a
//! chain of stores and loads, back to memory that nobody has written.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use report::{Note, demangled};
use rewrite::SiteId;
use rustc_hash::FxHashMap;
use toolkit::objects::Described;
use toolkit::{Host, HostStack, LaunchView, SharedWords};

use super::super::defined::origin;
use super::super::findings::described;

/// The table, and what is known of those who wrote to it.
#[derive(Debug)]
pub(in super::super) struct Origins {
    table: Arc<dyn SharedWords>,
    /// The launch that began last.
    newest: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The last launches.
    launches: BTreeMap<u64, Launched>,
    /// Lines of the sites of modules, by the kernel and how many sites its module had.
    lines: FxHashMap<(String, usize), Arc<Lines>>,
    /// The last copies on the device.
    copies: VecDeque<Copied>,
    /// The launch before which memory was allocated, by its start: its size, and the launch.
    allocated: BTreeMap<u64, (u64, u64)>,
}

/// Lines as people are told of them, by the numbers of sites.
type Lines = Vec<Option<String>>;

#[derive(Clone, Debug)]
struct Launched {
    kernel: String,
    stack: HostStack,
    lines: Arc<Lines>,
}

#[derive(Clone, Debug)]
struct Copied {
    from: u64,
    to: u64,
    bytes: u64,
    /// The launch that had begun last.
    after: u64,
    stack: HostStack,
}

/// Something undefined that came to be where it is.
enum Step {
    Stored { origin: u64, site: Option<SiteId>, launch: u64 },
    Copied(Copied),
}

/// So many steps of a chain are told, and so many launches, copies and modules remembered.
const MOST_STEPS: usize = 8;
const MOST_LAUNCHES: usize = 4096;
const MOST_COPIES: usize = 1024;
const MOST_MODULES: usize = 256;

/// The largest access, in bytes.
const MOST_BYTES: u64 = 16;

impl Origins {
    /// How many places in memory are remembered: a power of two.
    pub(in super::super) const SLOTS: usize = 1 << 16;
    /// Words of each: the place, the origin of the thread that stored, and its launch and site.
    pub(in super::super) const WORDS: usize = 4;
    /// A place has so many bytes.
    pub(in super::super) const GRANULE: u64 = 8;
    /// So many slots are tried for a place.
    pub(in super::super) const PROBES: usize = 16;
    /// Which word counts the stores for which there was none.
    pub(in super::super) const OVERFLOW: usize = Self::SLOTS * Self::WORDS;
    /// What spreads places over slots (Knuth's, for 64 bits).
    pub(in super::super) const HASH: u64 = 0x9e37_79b9_7f4a_7c15;

    pub(super) fn new(host: &dyn Host) -> io::Result<Self> {
        Ok(Self { table: host.words(Self::OVERFLOW + 1)?, newest: AtomicU64::new(0), state: Mutex::default() })
    }

    pub(super) fn address(&self) -> u64 {
        self.table.address()
    }

    /// How the table names a launch.
    pub(super) fn launch(launch: &LaunchView<'_>) -> u64 {
        launch.number << origin::SITE_BITS
    }

    /// How many stores were not noted.
    pub(super) fn missing(&self) -> u64 {
        self.table.words()[Self::OVERFLOW].load(Ordering::Relaxed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A launch begins.
    pub(super) fn on_launch(&self, launch: &LaunchView<'_>) {
        self.newest.fetch_max(launch.number, Ordering::Relaxed);
        let Some(sites) = launch.sites else { return };
        let mut state = self.state();
        let key = (launch.kernel.to_owned(), sites.len());
        let lines = state.lines.get(&key).cloned().unwrap_or_else(|| {
            let line = |(id, _)| {
                let place = sites.place(launch.module, id, launch.kernel)?;
                let line = place.lines.first()?;
                Some(format!("line {} of {}", line.line, line.file.rsplit('/').next().unwrap_or_default()))
            };
            Arc::new(sites.numbered().map(line).collect())
        });
        if state.lines.len() >= MOST_MODULES {
            state.lines.clear();
        }
        state.lines.insert(key, Arc::clone(&lines));
        if state.launches.len() >= MOST_LAUNCHES {
            state.launches.pop_first();
        }
        let launched = Launched { kernel: demangled(launch.kernel), stack: launch.stack.clone(), lines };
        state.launches.insert(launch.number, launched);
    }

    /// Memory was allocated: what was noted of its addresses is of others.
    pub(super) fn on_allocated(&self, start: u64, bytes: u64) {
        let newest = self.newest.load(Ordering::Relaxed);
        let mut state = self.state();
        let end = start.saturating_add(bytes);
        let before = state.allocated.range(..end).rev().take_while(|(at, (bytes, _))| *at + bytes > start);
        let before: Vec<u64> = before.map(|(at, _)| *at).collect();
        for at in before {
            state.allocated.remove(&at);
        }
        state.allocated.insert(start, (bytes, newest));
        state.copies.retain(|copy| copy.to >= end || copy.to + copy.bytes <= start);
    }

    /// Memory was copied.
    pub(super) fn on_copied(&self, from: u64, to: u64, bytes: u64, stack: &HostStack) {
        let after = self.newest.load(Ordering::Relaxed);
        let mut state = self.state();
        // One that was written over.
        state.copies.retain(|copy| copy.to < to || copy.to + copy.bytes > to + bytes);
        if state.copies.len() >= MOST_COPIES {
            state.copies.pop_front();
        }
        state.copies.push_back(Copied { from, to, bytes, after, stack: stack.clone() });
    }

    /// What was stored at a place.
    fn stored(&self, shadow: u64) -> Option<(u64, u64)> {
        let key = shadow / Self::GRANULE;
        let first = key.wrapping_mul(Self::HASH) >> (64 - Self::SLOTS.trailing_zeros());
        let words = self.table.words();
        let slots = (0..Self::PROBES).map(|probe| ((first as usize + probe) & (Self::SLOTS - 1)) * Self::WORDS);
        let slot = slots.into_iter().find(|&slot| words[slot].load(Ordering::Relaxed) == key)?;
        Some((words[slot + 1].load(Ordering::Relaxed), words[slot + 2].load(Ordering::Relaxed)))
    }

    /// What brought something undefined to an address, or to one of the bytes after it that an access may have.
    fn step(&self, state: &State, address: u64, shadow: u64) -> Option<Step> {
        let allocated =
            state.allocated.range(..=address).next_back().filter(|(at, (bytes, _))| address - **at < *bytes);
        let allocated = allocated.map_or(0, |(_, (_, launch))| *launch);
        let mut stores = (0..MOST_BYTES / Self::GRANULE).filter_map(|nth| self.stored(shadow + nth * Self::GRANULE));
        let stored = stores.find(|(_, by)| by >> origin::SITE_BITS > allocated);
        let copied = state.copies.iter().rev().find(|copy| address.wrapping_sub(copy.to) < copy.bytes);
        match (stored, copied) {
            (Some((_, by)), Some(copy)) if copy.after >= by >> origin::SITE_BITS => Some(Step::Copied(copy.clone())),
            (Some((origin, by)), _) => {
                let site = (by & ((1 << origin::SITE_BITS) - 1)).checked_sub(1).map(|site| SiteId(site as u32));
                Some(Step::Stored { origin, site, launch: by >> origin::SITE_BITS })
            }
            (None, Some(copy)) => Some(Step::Copied(copy.clone())),
            (None, None) => None,
        }
    }

    /// How what is at an address came to be undefined, from the last step to the first.
    pub(super) fn notes(
        &self,
        mut address: u64,
        shadow_of: impl Fn(u64) -> Option<u64>,
        describe: impl Fn(u64) -> Option<Described>,
    ) -> Vec<Note> {
        let mut notes = Vec::new();
        let state = self.state();
        while notes.len() < MOST_STEPS {
            let Some(shadow) = shadow_of(address) else { break };
            let before = address;
            match self.step(&state, address, shadow) {
                Some(Step::Stored { origin, site, launch }) => {
                    let launched = state.launches.get(&launch);
                    let line = |site: Option<SiteId>| Some(launched?.lines.get(site?.0 as usize)?.as_ref()?.clone());
                    let at = |site| line(site).map_or_else(String::new, |line| format!(" in {line}"));
                    let kernel =
                        launched.map_or_else(|| "a kernel".to_owned(), |launched| format!("`{}`", launched.kernel));
                    let (from, loaded) = origin::parts(origin);
                    let source = match (from, describe(from)) {
                        (0, _) => String::new(),
                        (origin::LOCAL, _) => {
                            format!(", after it loaded something undefined{} from local memory", at(loaded))
                        }
                        (_, Some(object)) => format!(
                            ", after it loaded something undefined{} from offset {} in {}",
                            at(loaded),
                            from - object.start,
                            described(&object)
                        ),
                        (_, None) => format!(", after it loaded something undefined{}", at(loaded)),
                    };
                    notes.push(Note {
                        message: format!("a thread of {kernel} stored it there{}{source}; launched here", at(site)),
                        stack: launched.map(|launched| launched.stack.frames()),
                    });
                    address = from;
                }
                Some(Step::Copied(copy)) => {
                    let in_object = |address: u64| {
                        let object = describe(address)?;
                        Some(format!("offset {} in {}", address - object.start, described(&object)))
                    };
                    let target = in_object(address).unwrap_or_else(|| "memory".to_owned());
                    address = copy.from + (address - copy.to);
                    let source = in_object(address).map_or_else(String::new, |source| format!(" from {source}"));
                    // Where copies on the device are asked for is not always known.
                    let stack = Some(copy.stack.frames()).filter(|stack| !stack.frames.is_empty());
                    notes.push(Note { message: format!("it was copied to {target}{source}"), stack });
                }
                None => {
                    // The end of a chain: who allocated it is told, unless the finding itself does.
                    if let (false, Some(object)) = (notes.is_empty(), describe(address)) {
                        let message = format!("nobody has written {} there, allocated here", described(&object));
                        notes.push(Note { message, stack: object.stack });
                    }
                    break;
                }
            }
            if address == before || address == 0 {
                break;
            }
        }
        notes
    }
}
