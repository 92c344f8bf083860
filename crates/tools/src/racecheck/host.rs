//! racecheck in the process of the program: it keeps the shadow and counts epochs, and makes findings of records.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use ptx::analysis::footprint::{Footprint, Reader};
use report::{Cell, Finding, Place, Row};
use rewrite::context::{RECORDS_PER_SITE, Record};
use rewrite::{KernelVersion, LaunchShape, Refusal, Site, SiteId};
use rustc_hash::{FxHashMap, FxHashSet};
use toolkit::objects::AtAddress;
use toolkit::{
    EndedLaunch, Evidence, Flag, Host, HostEvent, HostStack, Instance, LaunchView, Options, Plan, Plane, PlaneLayout,
    PlaneOf, SharedWords, Words, WorkId, WorkOrder, quarantine,
};

use super::bulk::FIRST_AGENT;
use super::condition::{Conditional, Conditions};
use super::findings::{Race, Racer, place_in};
use super::instrument::{KernelFacts, Looked};
use super::lanes::LaneOrder;
use super::parallel::{Parallel, ParallelPlan, Progress, Workers};
use super::record::{CELL, EPOCH, RECORD, Recorded, SITES, THREAD, WARP_EPOCHS, Who};
use super::transfers::{Met, Records, Transfer, is_unordered};
use super::{
    AGENTS, ARENA, ARENA_BYTES, BLOCK, CHECKED, CLOCK_BYTES, CLOCKS, COMMON_BYTES, CONCURRENT, CONCURRENT_PRUNED,
    CONDITIONAL, CONFLICTS, GRANULE, INTERVAL_MASK, LANES_ORDER, LAUNCH, LOST, NO_PRUNE, ON_CONDITION, ORDER,
    ORDER_BYTES, ORDERED, OTHER_READS, PLANES, PROVED, PRUNED, READS, SHARE, SHARED_GRANULE, SHARED_PLANE,
    SHARED_READS, UNORDERED, UNORDERED_COUNT, WARP_MASK, WINDOWS, WINDOWS_BYTES,
};

/// racecheck in a process.
#[derive(Debug)]
pub(super) struct RacecheckInstance {
    host: Arc<dyn Host>,
    options: Options,
    launches: Mutex<Launches>,
    /// Threads that had more barriers than there are epochs, in its only word.
    lost: Arc<dyn SharedWords>,
    /// Whether kernels run on a GPU.
    is_on_gpu: bool,
    order: Tables,
    clocks: Tables,
    parallel: Arc<Parallel>,
    /// Where the program says that races are meant: first address and end.
    benign: Mutex<Vec<[u64; 2]>>,
}

/// What kernels know of order through memory (`device/order.ptx`), or of several warps (`device/clocks.ptx`); made when one first needs it.
#[derive(Debug)]
struct Tables {
    bytes: u64,
    /// Where the counts of conflicts begin that were not decided, and why they were not.
    undecided: (usize, &'static [&'static str]),
    words: OnceLock<Option<Arc<dyn SharedWords>>>,
}

impl Tables {
    fn of_order() -> Self {
        const REASONS: &[&str] = &[
            "too many blocks or addresses order each other through memory",
            "several blocks accessed the place before, and which ones is not recorded",
        ];
        Self { bytes: ORDER_BYTES, undecided: (1, REASONS), words: OnceLock::new() }
    }

    fn of_clocks() -> Self {
        const REASONS: &[&str] = &["several warps accessed the place before, and which ones is not recorded any more"];
        Self { bytes: CLOCK_BYTES, undecided: (0, REASONS), words: OnceLock::new() }
    }

    /// Most of it is never touched, and takes no memory.
    fn address(&self, host: &dyn Host) -> u64 {
        let words = self.words.get_or_init(|| {
            let words = host.words(self.bytes as usize / 8);
            if let Err(error) = &words {
                host.not_checked(&format!(
                    "there is no memory to follow what orders threads, so findings may be wrong: {error}"
                ));
            }
            words.ok()
        });
        words.as_ref().map_or(0, |words| words.address())
    }

    /// How many conflicts were not decided, and why.
    fn undecided(&self) -> impl Iterator<Item = (u64, &'static str)> {
        let (first, reasons) = self.undecided;
        let words = self.words.get().and_then(Option::as_ref).map(|words| &words.words()[first..]).unwrap_or_default();
        let counts = words.iter().map(|count| count.load(Ordering::Relaxed));
        counts.zip(reasons.iter().copied()).filter(|&(count, _)| count > 0)
    }
}

/// Launches and what their records mean.
#[derive(Debug, Default)]
struct Launches {
    /// The next epoch that nobody has.
    next: u64,
    /// The last ones, from the oldest on.
    last: VecDeque<Begun>,
    /// What was found, and at which lines.
    seen: FxHashSet<String>,
    /// The records of memory, by the size of granules; and of shared memory.
    planes: [[Option<Box<dyn Plane>>; 2]; GRANULES],
    /// Where the records of memory are for each worker, by the size of granules; for kernels.
    tables: [Option<Arc<dyn SharedWords>>; GRANULES],
    /// Records of memory for all workers but the first, while they share launches.
    of_workers: [Vec<Box<dyn Plane>>; GRANULES],
    /// How many bytes of shared memory have memory for their records, on a device where kernels cannot ask for it.
    backed: [u64; GRANULES],
    /// What the last launch was that workers shared: the size of its granules, and its first record.
    shared: Option<(u32, u64)>,
    /// When the last launch began on one worker.
    began: Option<Instant>,
    /// Kernels whose last launch on one worker took long.
    slow: FxHashSet<String>,
    /// Kernels whose threads conflicted on several workers, which run on one from then on.
    conflicting: FxHashSet<String>,
    /// Where the sites of kernels are, by their module and name.
    places: FxHashMap<(usize, String), Places>,
    conditions: Conditions,
    /// Those of the last launches, by their numbers: some run several times.
    conditional: BTreeMap<u64, Arc<Conditional>>,
    /// Kernels that have written what others may read: their later launches are followed in full, to find what else races. And
    /// of many writes that meet nobody only some are recorded, so that one that does might not be.
    unconditional: FxHashSet<String>,
    /// Writes of which it was not found out whether somebody else is the reader.
    unsettled: u64,
}

/// Where sites are.
type Places = Arc<FxHashMap<u32, Place>>;

/// A launch that has begun, or is about to; or copies and fills that a stream did as one piece of work.
#[derive(Clone, Debug)]
struct Begun {
    number: u64,
    id: Option<WorkId>,
    kernel: String,
    shape: LaunchShape,
    epochs: Epochs,
    stack: HostStack,
    /// Where its sites are, if it may race with other work.
    places: Option<Places>,
    /// The rows of copies and fills; none of a launch.
    transfers: Vec<Transfer>,
    /// If it races only on a condition: that.
    conditional: Option<Arc<Conditional>>,
}

/// The epochs of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Epochs {
    first: u64,
    end: u64,
    /// Of each block.
    block: u64,
    /// Of each interval between barriers.
    interval: u64,
    /// Whether intervals are counted by each thread for itself (`device/clocks.ptx`).
    are_clocks: bool,
}

/// The name by which what was kept of a kernel is found.
const TOOL: &str = "racecheck";
/// Granules have 1, 2, 4 or 8 bytes.
const GRANULES: usize = 4;
/// Epochs that there are. Records do not have the highest bit, which numbers have that are larger than all of them (`check.rs`).
const EPOCHS: u64 = 1 << (63 - EPOCH);
/// Epochs that a launch has about, if its kernel has barriers in loops.
const EPOCHS_OF_LAUNCH: u64 = 1 << 24;
/// So many launches are remembered, and compared with those that follow.
const MOST_LAUNCHES: usize = 4096;
/// So many ranges in which races are meant are remembered.
const MOST_BENIGN: usize = 4096;
/// So many rows of copies and fills are remembered for one piece of work.
const MOST_ROWS: usize = 4096;
/// Bytes of shared memory that have records on a GPU, for all blocks: no GPU has more in all its multiprocessors.
const COMMON: u64 = 64 << 20;
/// Shared memory that a block may have besides that of the program, at most: that of tools.
const OWN_SHARED: u64 = 48 << 10;
/// So many workers share a launch.
const MOST_WORKERS: u32 = 64;
/// Launches are shared of kernels that took so long on one worker.
const LEAST_TIME: Duration = Duration::from_millis(50);
/// But not those of programs with more memory than this, of which a launch may have to be copied.
const MOST_SAVED: u64 = 1 << 30;
/// With so many launches one can be unordered.
const MOST_UNORDERED: usize = 64;
/// Of so many launches the condition on which they race is kept.
const MOST_CONDITIONAL: usize = 64;

impl RacecheckInstance {
    pub(super) fn start(options: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        let lost = host.words(1).map_err(|error| format!("there is no memory for its counters: {error}"))?;
        let launches = Mutex::new(Launches { next: 1, ..Launches::default() });
        Ok(Box::new(Self {
            host: Arc::clone(host),
            options: options.clone(),
            launches,
            lost,
            is_on_gpu: host.memory().remote().is_some(),
            order: Tables::of_order(),
            clocks: Tables::of_clocks(),
            parallel: Arc::default(),
            benign: Mutex::default(),
        }))
    }

    fn benign(&self) -> MutexGuard<'_, Vec<[u64; 2]>> {
        self.benign.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a race at an address is meant.
    fn is_benign(&self, address: u64) -> bool {
        self.benign().iter().any(|&[start, end]| (start..end).contains(&address))
    }

    /// A stream has copied or filled memory.
    fn on_transfer(&self, transfer: Transfer, order: Option<&WorkOrder>) {
        let Some(order) = order.filter(|order| order.has_unordered_streams) else { return };
        let arena = self.host.memory().range();
        let mut launches = self.launches();
        let unordered = launches.unordered_with(order);
        let is_of_unordered = |record: u64| unordered.iter().any(|&[first, end]| (first..end).contains(&record));
        let mut met = launches.records(arena).find_map(|records| records.meet(&transfer, &is_of_unordered));
        let epoch = launches.begin_transfer(transfer.clone(), order);
        for records in launches.records(arena) {
            records.leave(&transfer, epoch);
        }
        // Copies of which there are no records, because no kernel has any.
        let others = launches.last.iter().filter(|begun| begun.id.is_some_and(|id| is_unordered(order, id)));
        met = met.or_else(|| {
            others.flat_map(|begun| begun.transfers.iter().map(move |other| (begun, other))).find_map(
                |(begun, other)| {
                    let address = transfer.meets(other)?;
                    Some(Met { address, record: begun.epochs.first << EPOCH, is_read: other.writes.is_none() })
                },
            )
        });
        let Some(met) = met.filter(|met| !self.is_benign(met.address)) else { return };
        let recorded = Recorded::of(met.record);
        let Some(begun) = launches.of_epoch(recorded.epoch) else { return };
        let (access, note) = begun.racer(&recorded, None, false).as_access(met.is_read, &begun.stack);
        let object = match self.host.objects().at(met.address, None, || false) {
            AtAddress::Live(object) => Some((place_in(&object, met.address), object.accessed(met.address, 1))),
            _ => None,
        };
        let finding = transfer.finding(access, note, object);
        let key = format!("{} {:?}", lines_of(&finding), finding.stack);
        let is_new = launches.seen.insert(key);
        drop(launches);
        if is_new {
            self.host.found(finding);
        }
    }

    /// A range of memory of the device; nothing if it is elsewhere.
    fn range(&self, start: u64, bytes: u64) -> Option<[u64; 2]> {
        let (arena, arena_bytes) = self.host.memory().range();
        let is_inside = bytes > 0 && start >= arena && bytes <= arena_bytes && start - arena <= arena_bytes - bytes;
        is_inside.then(|| [start, start + bytes])
    }

    /// Which of two versions checks a launch: that for one worker, or that for a GPU, which cannot follow everything.
    fn checked(&self, launch: &LaunchView<'_>, [alone, concurrent]: [usize; 2]) -> Result<usize, Refusal> {
        let facts = kernel_facts(launch).unwrap_or_default();
        let refuse = |code, reason: &str| Err(Refusal::new(TOOL, code, reason));
        if !self.launches().has_records(&*self.host, &facts, self.shared_plane()) {
            return refuse("no-memory", "there is no memory for records of its accesses");
        }
        if !self.is_on_gpu {
            let threads: u64 = launch.shape.block.iter().map(|&size| u64::from(size)).product();
            if facts.has_bulk && threads > u64::from(FIRST_AGENT) * 32 {
                return refuse(
                    "bulk-copy",
                    "it has asynchronous copies of many bytes, and more than 928 threads in a block",
                );
            }
            return Ok(alone);
        }
        match facts {
            KernelFacts { has_bulk: true, .. } | KernelFacts { has_bulk_stores: true, .. } => {
                refuse("bulk-copy", "it copies or stores many bytes at once, which is not followed on a GPU")
            }
            KernelFacts { is_clocked: true, .. } => refuse(
                "counted-barrier",
                "it has barriers to which only some warps come, which are not followed on a GPU",
            ),
            KernelFacts { has_copies: true, .. } => {
                refuse("asynchronous-copy", "it has asynchronous copies, which are not followed on a GPU")
            }
            _ => Ok(concurrent),
        }
    }

    /// What has the records of shared memory.
    fn shared_plane(&self) -> PlaneOf {
        if self.is_on_gpu { PlaneOf::Bytes(COMMON) } else { PlaneOf::Shared }
    }

    /// Whether several workers may run a launch: nothing orders its blocks, and it is worth a copy of what it writes.
    fn can_be_shared(&self, launch: &LaunchView<'_>) -> bool {
        let is_ordered = |facts: KernelFacts| facts.has_fences || facts.has_copies || facts.is_clocked;
        let share = self.options.get(&SHARE);
        if share == "never"
            || launch.shape.grid == [1; 3]
            || launch.shape.is_cooperative
            || launch.order.is_some_and(|order| order.has_unordered_streams)
            || kernel_facts(launch).is_none_or(is_ordered)
        {
            return false;
        }
        let launches = self.launches();
        let is_worth_it = share == "always" || launches.slow.contains(launch.kernel);
        if launches.conflicting.contains(launch.kernel) || !is_worth_it {
            return false;
        }
        drop(launches);
        let bytes: u64 = self.host.objects().all().iter().map(|(_, bytes, _)| bytes).sum();
        bytes <= MOST_SAVED
    }

    /// Numbers that kernels read.
    fn table(&self, numbers: &[u64]) -> Option<Arc<dyn SharedWords>> {
        match self.host.words(numbers.len()) {
            Ok(table) => {
                table.words().iter().zip(numbers).for_each(|(word, number)| word.store(*number, Ordering::Relaxed));
                Some(table)
            }
            Err(error) => {
                self.host.not_checked(&format!("there is no memory to compare a launch with other streams: {error}"));
                None
            }
        }
    }

    /// How many workers may share a launch.
    fn workers(&self) -> u32 {
        self.host.workers().min(MOST_WORKERS)
    }

    fn launches(&self) -> MutexGuard<'_, Launches> {
        self.launches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes records zeros of some bytes of memory, of which there are so many. On a GPU, there is memory for them from then on.
fn forget(plane: &dyn Plane, granule: u32, offset: u64, bytes: u64, all: u64) {
    // Two records are as large as a cell of the plane, and reads have their half of it.
    let [first, count, half] = [offset, bytes, all].map(|bytes| (bytes >> granule) / 2);
    plane.fill(first, count + 1, 0);
    plane.fill(half + first, count + 1, 0);
}

/// The plane of records for granules of a size.
fn layout(of: PlaneOf, granule: u32) -> PlaneLayout {
    PlaneLayout { of, granule: 1 << granule, cell: CELL, common: 0 }
}

impl Launches {
    /// Gives a launch its epochs.
    fn begin(&mut self, launch: &LaunchView<'_>, facts: &KernelFacts) -> Begun {
        let blocks = launch.shape.grid.iter().map(|&size| u64::from(size)).product::<u64>();
        let is_divided = facts.has_warp_barriers || facts.has_fences || facts.has_copies || facts.is_clocked;
        let interval = if is_divided { 1 << WARP_EPOCHS } else { 1 };
        // A power of two, so that nobody divides to find the block of an epoch.
        let intervals =
            if facts.has_barriers { 1 << (EPOCHS_OF_LAUNCH / blocks).clamp(256, 1 << 16).ilog2() } else { 1 };
        let block = intervals * interval;
        let needed = (blocks + 1).saturating_mul(block);
        if needed > EPOCHS - self.next.next_multiple_of(interval).min(EPOCHS) {
            self.forget();
        }
        let first = self.next.next_multiple_of(interval);
        self.next = (first + needed).min(EPOCHS);
        let begun = Begun {
            number: launch.number,
            id: launch.order.map(|order| order.id),
            kernel: launch.kernel.to_owned(),
            shape: launch.shape,
            epochs: Epochs { first, end: first + needed, block, interval, are_clocks: facts.is_clocked },
            stack: launch.stack.clone(),
            places: self.places(launch),
            transfers: Vec::new(),
            conditional: self.conditional.get(&launch.number).cloned(),
        };
        self.remember(begun.clone());
        begun
    }

    /// Whether a launch that is about to begin races only on a condition that can be looked at: that is kept until then.
    fn begin_conditional(
        &mut self,
        launch: &LaunchView<'_>,
        footprint: &Arc<Footprint>,
        objects: &[[u64; 2]],
        host: &dyn Host,
    ) -> bool {
        if self.unconditional.contains(launch.kernel) {
            return false;
        }
        let conditional = self.conditions.of(launch, footprint, objects, host);
        let is_conditional = conditional.is_some();
        self.conditional.extend(conditional.map(|conditional| (launch.number, conditional)));
        if self.conditional.len() > MOST_CONDITIONAL {
            self.conditional.pop_first();
        }
        is_conditional
    }

    fn remember(&mut self, begun: Begun) {
        if self.last.len() == MOST_LAUNCHES {
            self.last.pop_front();
        }
        self.last.push_back(begun);
    }

    /// Gives a row of a copy or fill its epoch: that of the other rows.
    fn begin_transfer(&mut self, transfer: Transfer, order: &WorkOrder) -> u64 {
        if let Some(begun) = self.last.iter_mut().rev().find(|begun| begun.id == Some(order.id)) {
            if begun.transfers.len() < MOST_ROWS {
                begun.transfers.push(transfer);
            }
            return begun.epochs.first;
        }
        if self.next >= EPOCHS {
            self.forget();
        }
        let first = self.next;
        self.next += 1;
        self.remember(Begun {
            number: 0,
            id: Some(order.id),
            kernel: String::new(),
            shape: LaunchShape { grid: [1; 3], block: [1; 3], dynamic_shared: 0, is_cooperative: false },
            epochs: Epochs { first, end: self.next, block: 1, interval: 1, are_clocks: false },
            stack: transfer.stack.clone(),
            places: None,
            transfers: vec![transfer],
            conditional: None,
        });
        first
    }

    /// Where the sites of a kernel are, if other work may be unordered with it.
    fn places(&mut self, launch: &LaunchView<'_>) -> Option<Places> {
        let sites = launch.sites.filter(|_| launch.order.is_some_and(|order| order.has_unordered_streams))?;
        let key = (&raw const *sites as usize, launch.kernel.to_owned());
        if self.places.len() >= MOST_LAUNCHES {
            self.places.clear();
        }
        let places = self.places.entry(key).or_insert_with(|| {
            let own = sites.numbered().filter(|(_, site)| site.tool == TOOL);
            let place = |id: SiteId| Some((id.0, sites.place(launch.module, id, launch.kernel)?));
            Arc::new(own.filter_map(|(id, _)| place(id)).collect())
        });
        Some(Arc::clone(places))
    }

    /// The records of memory, by the size of granules.
    fn records(&self, arena: (u64, u64)) -> impl Iterator<Item = Records<'_>> {
        self.planes.iter().zip(0..).filter_map(move |([plane, _], granule)| {
            plane.as_ref().map(|plane| Records { plane: &**plane, granule, arena })
        })
    }

    /// The first and last records of work that is not ordered with some other work.
    fn unordered_with(&self, order: &WorkOrder) -> Vec<[u64; 2]> {
        let others = self.last.iter().rev().filter(|other| other.id.is_some_and(|id| is_unordered(order, id)));
        let records = others.map(|other| [other.epochs.first << EPOCH, other.epochs.end << EPOCH]);
        records.take(MOST_UNORDERED).collect()
    }

    /// All epochs are used up: what was recorded is forgotten, and they begin anew.
    fn forget(&mut self) {
        for plane in self.planes.iter().flatten().flatten().chain(self.of_workers.iter().flatten()) {
            plane.fill(0, u64::MAX, 0);
        }
        self.last.clear();
        self.next = 1;
    }

    /// Memory is handed out: what was recorded of it concerns what was there before.
    fn forget_memory(&self, offset: u64, bytes: u64, arena_bytes: u64) {
        for (granule, [plane, _]) in self.planes.iter().enumerate() {
            if let Some(plane) = plane {
                forget(&**plane, granule as u32, offset, bytes, arena_bytes);
            }
        }
    }

    /// A launch may write the records of its blocks in shared memory: there is memory for these.
    fn back_shared(&mut self, granule: u32, launch: &LaunchView<'_>) {
        let [_, Some(plane)] = &self.planes[granule as usize] else { return };
        let blocks: u64 = launch.shape.grid.iter().map(|&count| u64::from(count)).product();
        let block = launch.static_shared + u64::from(launch.shape.dynamic_shared) + OWN_SHARED;
        let needed = block.next_power_of_two().saturating_mul(blocks).min(COMMON);
        let backed = &mut self.backed[granule as usize];
        if *backed < needed {
            forget(&**plane, granule, *backed, needed - *backed, COMMON);
            *backed = needed;
        }
    }

    /// Makes the records of granules of a size for each of several workers; for fewer if there is no memory. Gives for how many.
    fn make_planes(&mut self, host: &dyn Host, granule: u32, workers: u32) -> u32 {
        let first = self.plane(host, granule, PlaneOf::Global);
        let others = &mut self.of_workers[granule as usize];
        while others.len() + 1 < workers as usize {
            let Ok(plane) = host.plane(layout(PlaneOf::Global, granule)) else { break };
            others.push(plane);
        }
        let table = &mut self.tables[granule as usize];
        if table.is_none() {
            *table = host.words(MOST_WORKERS as usize).ok();
        }
        let addresses = std::iter::once(first).chain(others.iter().map(|plane| plane.address()));
        for (word, address) in table.iter().flat_map(|table| table.words()).zip(addresses) {
            word.store(address, Ordering::Relaxed);
        }
        workers.min(others.len() as u32 + 1)
    }

    /// A launch that workers shared has ended: whether what two of them recorded conflicts, in some objects.
    fn have_conflicts(&mut self, objects: &[(u64, u64, String)], (arena, arena_bytes): (u64, u64)) -> bool {
        let Some((granule, launch)) = self.shared.take() else { return false };
        let [Some(first), _] = &self.planes[granule as usize] else { return false };
        let others = &self.of_workers[granule as usize];
        let workers = Workers { first: &**first, others, reads: arena_bytes >> granule, launch };
        let mut conflicts = false;
        for &(start, bytes, _) in objects {
            let Some(offset) = start.checked_sub(arena).filter(|offset| *offset < arena_bytes) else { continue };
            let end = offset.saturating_add(bytes).min(arena_bytes);
            // Also what came after a conflict is forgotten.
            conflicts |= workers.conflict(offset >> granule..end.div_ceil(1 << granule));
        }
        conflicts
    }

    /// Whether there are records for what a kernel accesses, on one worker. Makes them if there are none.
    fn has_records(&mut self, host: &dyn Host, facts: &KernelFacts, of_shared: PlaneOf) -> bool {
        let [global, shared] = facts.granules();
        self.make_planes(host, global, 1);
        let [of_global, of_shared] =
            [(global, PlaneOf::Global), (shared, of_shared)].map(|(granule, of)| self.plane(host, granule, of) != 0);
        of_global && of_shared && self.tables[global as usize].is_some()
    }

    /// Where the records of granules of a size are.
    fn plane(&mut self, host: &dyn Host, granule: u32, of: PlaneOf) -> u64 {
        let plane = &mut self.planes[granule as usize][usize::from(of != PlaneOf::Global)];
        if plane.is_none() {
            *plane = host.plane(layout(of, granule)).ok();
            if let (Some(plane), PlaneOf::Global, Some(_)) = (&plane, of, host.memory().remote()) {
                let (arena, arena_bytes) = host.memory().range();
                let objects = host.objects().all();
                for (start, bytes, _) in objects {
                    if let Some(offset) = start.checked_sub(arena).filter(|offset| *offset < arena_bytes) {
                        forget(&**plane, granule, offset, bytes, arena_bytes);
                    }
                }
            }
        }
        plane.as_ref().map_or(0, |plane| plane.address())
    }

    /// Who reads what a thread wrote, in a launch that races on a condition; nothing if the launch is not known any more. Later
    /// launches of its kernel are followed in full.
    fn reader(&mut self, record: &Record) -> Option<Reader> {
        let begun = self.of_epoch(record.other >> EPOCH)?;
        let reader = begun.conditional.as_ref()?.reader(record);
        let kernel = begun.kernel.clone();
        self.unconditional.insert(kernel);
        Some(reader)
    }

    /// What a record of such a launch means: a write that meets what the reader recorded, as it would have been without the
    /// condition.
    fn met(&mut self, record: &Record, evidence: &Evidence<'_>) -> Option<Record> {
        let (block, thread, read) = match self.reader(record)? {
            Reader::Thread { block, thread, read } => (block, thread, read),
            Reader::NotSettled => {
                self.unsettled += evidence.count;
                return None;
            }
            Reader::Nobody => {
                // Of more than are recorded, nobody knows.
                self.unsettled += evidence.count.saturating_sub(RECORDS_PER_SITE);
                return None;
            }
        };
        let begun = self.of_epoch(record.other >> EPOCH)?;
        let statement = begun.conditional.as_ref()?.statement(read);
        let is_it = |site: &Site| site.tool == TOOL && Some(site.stmt) == statement && site.func == evidence.site.func;
        let site = evidence.sites.numbered().find(|(_, site)| is_it(site)).map_or(SITES, |(id, _)| id.0.min(SITES));
        let other = begun.record_of(block, thread) | u64::from(site);
        Some(Record { other, what: record.what | OTHER_READS, ..*record })
    }

    /// The launch that an epoch is of.
    fn of_epoch(&self, epoch: u64) -> Option<&Begun> {
        self.last.iter().rev().find(|begun| (begun.epochs.first..begun.epochs.end).contains(&epoch))
    }
}

impl Begun {
    /// The block that an epoch is of; nothing for that of several.
    fn block(&self, epoch: u64) -> Option<[u32; 3]> {
        let Epochs { first, block, interval, .. } = self.epochs;
        let number = epoch.checked_sub(first + interval)? / block;
        let [x, y, z] = self.shape.grid.map(u64::from);
        let place = [number % x, number / x % y, number / (x * y)];
        (place[2] < z).then(|| place.map(|place| place as u32))
    }

    /// The record of a thread before its first barrier, without site and kind.
    fn record_of(&self, block: [u32; 3], thread: [u32; 3]) -> u64 {
        let number = |ids: [u32; 3], [x, y, _]: [u32; 3]| {
            let [column, row, plane] = ids.map(u64::from);
            (plane * u64::from(y) + row) * u64::from(x) + column
        };
        let (block, thread) = (number(block, self.shape.grid), number(thread, self.shape.block));
        (self.epochs.first + self.epochs.interval + block * self.epochs.block) << EPOCH | thread << THREAD
    }

    /// Who made an access, which is at a place if that is known.
    fn racer(&self, recorded: &Recorded, place: Option<Place>, is_of_same_block: bool) -> Racer {
        let known = || self.places.as_ref()?.get(&recorded.site?).cloned();
        let who = match recorded.who {
            // No thread of the block: a warp that stands for copies.
            Who::Thread(thread) if thread >= self.shape.block.iter().product() => Who::BulkCopy,
            who => who,
        };
        Racer {
            place: place.or_else(known),
            kernel: self.kernel.clone(),
            launch: self.number,
            block: self.block(recorded.epoch),
            thread: match who {
                Who::Thread(thread) => Some(self.thread(thread)),
                _ => None,
            },
            who,
            barriers: self.barriers(recorded.epoch),
            kind: if recorded.has_weaker && !is_of_same_block { 0 } else { recorded.kind },
            transfer: self.transfers.first().cloned(),
        }
    }

    /// How many barriers of a block came before an epoch; nothing for that of several blocks, or if threads come to different
    /// barriers.
    fn barriers(&self, epoch: u64) -> Option<u64> {
        let Epochs { first, block, interval, are_clocks, .. } = self.epochs;
        if are_clocks {
            return None;
        }
        Some(epoch.checked_sub(first + interval)? % block / interval)
    }

    /// A thread of a block by its number.
    fn thread(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.shape.block;
        [number % x, number / x % y, number / (x * y)]
    }
}

/// What is known of the kernel of a launch.
fn kernel_facts(launch: &LaunchView<'_>) -> Option<KernelFacts> {
    launch.versions.iter().find_map(|version| version.state::<Looked>(TOOL)?.kernel)
}

/// Whether a version of a kernel records accesses.
fn has_records(version: usize) -> bool {
    ![PROVED, CONDITIONAL].contains(&version)
}

/// A finding, and the lines of its two accesses.
fn lines_of(finding: &Finding) -> String {
    let mut text = format!("{:?} {} {}", finding.severity, finding.code, finding.message);
    for place in finding.accesses.iter().map(|access| access.place.as_ref()) {
        let Some(place) = place else {
            text += " -";
            continue;
        };
        if place.lines.is_empty() {
            let _ = write!(text, " {} {}", place.kernel, place.instruction_line);
        }
        // Also those that it was inlined into: functions of libraries are called from many lines.
        for line in &place.lines {
            let _ = write!(text, " {}:{}", line.file, line.line);
        }
    }
    text
}

impl Instance for RacecheckInstance {
    fn redzone(&self) -> u64 {
        quarantine::REDZONE
    }

    fn wants_stacks(&self) -> bool {
        true
    }

    fn wants_order(&self) -> bool {
        true
    }

    fn on_event(&self, event: &HostEvent<'_>) {
        if let HostEvent::BenignRace { start, bytes } = *event {
            let mut benign = self.benign();
            let range = [start, start.saturating_add(bytes)];
            if benign.len() < MOST_BENIGN && !benign.contains(&range) {
                benign.push(range);
            }
        }
        match *event {
            HostEvent::Copied { from, to, bytes, stack, order } => {
                let (reads, writes) = (self.range(from, bytes), self.range(to, bytes));
                self.on_transfer(Transfer { what: "copy", reads, writes, stack: stack.clone() }, order);
            }
            HostEvent::Filled { address, bytes, stack, order } => {
                let writes = self.range(address, bytes);
                self.on_transfer(Transfer { what: "fill", reads: None, writes, stack: stack.clone() }, order);
            }
            _ => {}
        }
        if let HostEvent::Allocated(object) = event {
            // What was said of memory that was there before is not said of this.
            let end = object.start.saturating_add(object.bytes);
            self.benign().retain(|&[start, benign_end]| benign_end <= object.start || end <= start);
            let (arena, arena_bytes) = self.host.memory().range();
            if let Some(offset) = object.start.checked_sub(arena).filter(|&offset| offset < arena_bytes) {
                self.launches().forget_memory(offset, object.bytes, arena_bytes);
            }
        }
    }

    fn choose(&self, launch: &LaunchView<'_>) -> Result<usize, Refusal> {
        // What one launch does is known, and not what it does at the same time as another one.
        if self.options.has(&NO_PRUNE) || launch.order.is_some_and(|order| order.has_unordered_streams) {
            return self.checked(launch, [CHECKED, CONCURRENT]);
        }
        let objects = self.host.objects();
        let looked = || launch.versions.iter().filter_map(|version| version.state::<Looked>(TOOL));
        let pruned = looked().find_map(|looked| looked.pruned.as_ref());
        let is_pruned = || pruned.is_some_and(|pruned| pruned.holds(launch, &objects));
        if let Some(proofs) = launch.proofs.filter(|_| !self.options.has(&Flag::NO_PROVE)) {
            let (footprint, known) = proofs.footprint(&launch.shape, launch.params, launch.device, &objects);
            if footprint.bounds.is_proved() {
                if footprint.races.is_proved() {
                    return Ok(PROVED);
                }
                let can_be = looked().any(|looked| looked.can_be_conditional) && is_pruned();
                if can_be && self.launches().begin_conditional(launch, &footprint, &known, &*self.host) {
                    return Ok(CONDITIONAL);
                }
            }
        }
        let is_pruned = is_pruned();
        // Records of all objects may be made.
        drop(objects);
        self.checked(launch, if is_pruned { [PRUNED, CONCURRENT_PRUNED] } else { [CHECKED, CONCURRENT] })
    }

    fn wants_version(&self, version: usize) -> bool {
        match version {
            PROVED | CONDITIONAL => true,
            CONCURRENT | CONCURRENT_PRUNED => self.is_on_gpu,
            _ => !self.is_on_gpu,
        }
    }

    /// Unless nothing is recorded, or it is shared by a plan.
    fn most_workers(&self, _: &LaunchView<'_>, version: Option<usize>) -> Option<u32> {
        version.is_some_and(has_records).then_some(1)
    }

    fn plan(&self, launch: &LaunchView<'_>) -> Option<Box<dyn Plan>> {
        let most = self.workers();
        if most < 2 || !self.can_be_shared(launch) {
            return None;
        }
        let version = self.choose(launch).ok().filter(|&version| has_records(version))?;
        let [granule, _] = kernel_facts(launch)?.granules();
        let workers = self.launches().make_planes(&*self.host, granule, most);
        let parallel = Arc::clone(&self.parallel);
        Some(Box::new(ParallelPlan { parallel, version, workers, progress: Progress::Begins }))
    }

    fn on_end(&self, launch: &EndedLaunch<'_>) {
        if !self.parallel.is_running() {
            let mut launches = self.launches();
            if let Some(began) = launches.began.take() {
                if began.elapsed() >= LEAST_TIME {
                    launches.slow.insert(launch.kernel.to_owned());
                } else {
                    launches.slow.remove(launch.kernel);
                }
            }
            return;
        }
        let objects = self.host.objects().all();
        let mut launches = self.launches();
        let mut conflicts = self.parallel.conflicts().load(Ordering::Relaxed);
        conflicts += u64::from(launches.have_conflicts(&objects, self.host.memory().range()));
        self.parallel.conflicts().store(conflicts, Ordering::Relaxed);
        if conflicts > 0 {
            launches.conflicting.insert(launch.kernel.to_owned());
        }
    }

    fn words(&self, launch: &LaunchView<'_>, version: &KernelVersion, words: &mut Words<'_>) {
        let looked = version.state::<Looked>(TOOL);
        let facts = looked.and_then(|looked| looked.kernel).unwrap_or_default();
        let (arena, arena_bytes) = self.host.memory().range();
        let (windows, windows_bytes) = self.host.shared_range().unwrap_or_default();
        let mut launches = self.launches();
        let begun = launches.begin(launch, &facts);
        if looked.is_some_and(|looked| looked.is_conditional) {
            drop(launches);
            words.set(LAUNCH, begun.epochs.first << EPOCH);
            match &begun.conditional {
                Some(conditional) => conditional.set(words),
                None => self.host.not_checked("too many launches ran at once to know on which condition each races"),
            }
            return;
        }
        let Epochs { first, block, interval, .. } = begun.epochs;
        let [global, shared] = facts.granules();
        words.set(ARENA, arena);
        words.set(ARENA_BYTES, arena_bytes);
        let is_shared = self.parallel.is_running();
        let workers = if is_shared { self.workers() } else { 1 };
        launches.make_planes(&*self.host, global, workers);
        launches.shared = is_shared.then_some((global, first << EPOCH));
        launches.began = (!is_shared).then(Instant::now);
        words.set(PLANES, launches.tables[global as usize].as_ref().map_or(0, |table| table.address()));
        words.set(CONFLICTS, if is_shared { self.parallel.conflicts().as_ptr() as u64 } else { 0 });
        words.set(READS, (arena_bytes >> global) * RECORD);
        words.set(GRANULE, global.into());
        words.set(WINDOWS, windows);
        words.set(WINDOWS_BYTES, windows_bytes);
        words.set(SHARED_PLANE, launches.plane(&*self.host, shared, self.shared_plane()));
        words.set(COMMON_BYTES, if self.is_on_gpu { COMMON } else { 0 });
        let shared_bytes = if self.is_on_gpu { COMMON } else { windows_bytes };
        words.set(SHARED_READS, (shared_bytes >> shared) * RECORD);
        if self.is_on_gpu {
            launches.back_shared(shared, launch);
        }
        words.set(SHARED_GRANULE, shared.into());
        words.set(LAUNCH, first << EPOCH);
        words.set(BLOCK, block << EPOCH);
        words.set(INTERVAL_MASK, (interval << EPOCH).wrapping_neg());
        words.set(WARP_MASK, (interval - 1) << EPOCH);
        // A block of a GPU has little shared memory: no rows there.
        let lanes = if self.is_on_gpu && facts.lanes == LaneOrder::Rows { LaneOrder::Whole } else { facts.lanes };
        words.set(LANES_ORDER, lanes as u64);
        words.set(ORDER, if facts.has_fences { self.order.address(&*self.host) } else { 0 });
        words.set(AGENTS, if facts.has_bulk { FIRST_AGENT.into() } else { 32 });
        words.set(CLOCKS, if facts.is_clocked { self.clocks.address(&*self.host) } else { 0 });
        words.set(LOST, self.lost.address());
        let unordered = launch.order.map(|order| launches.unordered_with(order)).unwrap_or_default();
        // Copies are recorded only where kernels had records when they were made.
        if let Some(records) = launches.records((arena, arena_bytes)).find(|records| records.granule == global) {
            let is_listed = |begun: &&Begun| unordered.iter().any(|&[first, _]| first == begun.epochs.first << EPOCH);
            for begun in launches.last.iter().filter(is_listed) {
                begun.transfers.iter().for_each(|transfer| records.leave(transfer, begun.epochs.first));
            }
        }
        let ordered = unordered.iter().map(|&[start, _]| start).min();
        words.set(ORDERED, ordered.unwrap_or(first << EPOCH).min(first << EPOCH));
        drop(launches);
        let table = (!unordered.is_empty()).then(|| self.table(unordered.as_flattened())).flatten();
        words.set(UNORDERED, table.as_ref().map_or(0, |table| table.address()));
        words.set(UNORDERED_COUNT, table.as_ref().map_or(0, |table| table.words().len() as u64 / 2));
        words.keep(Arc::new(table));
    }

    fn record(&self, record: &Record, evidence: &Evidence<'_>) -> Option<Finding> {
        if self.is_benign(record.address) {
            return None;
        }
        let mut launches = self.launches();
        let met = match record.what & ON_CONDITION {
            0 => None,
            _ => Some(launches.met(record, evidence)?),
        };
        let record = met.as_ref().unwrap_or(record);
        let recorded = Recorded::of(record.other);
        let begun = launches.of_epoch(recorded.epoch)?;
        // Sites are counted in their module.
        let place = recorded.site.filter(|_| begun.kernel == evidence.place.kernel);
        let place = place.and_then(|site| evidence.place_of(SiteId(site)));
        let here = &evidence.occurrence;
        let is_of_same_block = begun.number == here.launch && begun.block(recorded.epoch) == Some(here.block);
        let is_shared = !self.host.memory().contains(record.address);
        // What is weaker came before a barrier of the block, and in shared memory before one of the warp.
        let other = begun.racer(&recorded, place, is_of_same_block && !is_shared);
        let object = self.host.objects().at(record.address, Some(evidence.when), || false);
        let race = Race { record, evidence, other, object: (!is_shared).then_some(object), is_shared };
        let finding = race.finding();
        // The compiler may have made several instructions of a line.
        launches.seen.insert(lines_of(&finding)).then_some(finding)
    }

    fn variant(&self, record: &Record) -> u64 {
        if record.what & ON_CONDITION != 0 {
            let read = match self.launches().reader(record) {
                Some(Reader::Thread { read, .. }) => read as u64 + 1,
                _ => 0,
            };
            return read << 1 | u64::from(self.is_benign(record.address));
        }
        let other = Recorded::of(record.other);
        let is_benign = self.is_benign(record.address);
        let (site, reads) = (other.site.unwrap_or(u32::MAX), record.what & super::OTHER_READS != 0);
        // What was accessed otherwise may be worse.
        let kind = other.kind << 1 | u32::from(other.has_weaker);
        u64::from(site) << 5 | u64::from(kind) << 2 | u64::from(is_benign) << 1 | u64::from(reads)
    }

    fn finish(&self) {
        let lost = self.lost.words()[0].load(Ordering::Relaxed);
        if lost > 0 {
            self.host.not_checked(&format!(
                "{lost} threads waited at more barriers than are counted; what they did after that was not checked"
            ));
        }
        let unsettled = (self.launches().unsettled, "who else reads what a thread wrote was not found out");
        let unsettled = Some(unsettled).filter(|(count, _)| *count > 0);
        for (count, reason) in self.order.undecided().chain(self.clocks.undecided()).chain(unsettled) {
            let row = Row::new("racecheck", "not decided").with("conflicts", Cell::Count(count));
            self.host.row(row.with("reason", Cell::Text(reason.to_owned())));
        }
    }
}
