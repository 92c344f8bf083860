//! What L1 and L2 save: some blocks of a launch are traced, and the traces replayed through models of the caches.
//!
//! `sample.rs` says which blocks, `trace.rs` what is written of them, `carveout.rs` how large L1 is, `cache.rs` what a cache is, and
//! `replay.rs` in which orders the traces go through it. `arrays.rs` says what shared arrays are for, from the same traces and from
//! what `copies.rs` finds in the text; `dependences.rs` says how much of the text is there for them alone.
//!
//! The first launch of a kernel with blocks of a shape is traced, and no other.

mod arrays;
mod cache;
mod carveout;
mod copies;
mod dependences;
mod replay;
mod sample;
mod trace;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gpu::Architecture;
use ptx::ir::Symbol;
use report::{Cell, Finding, Place, Row as TableRow, demangled};
use rewrite::{Site, SiteId};
use rustc_hash::{FxHashMap, FxHashSet};
use toolkit::{AllocationKind, EndedLaunch, Host, LaunchView, SharedWords, Words};

pub(super) use arrays::Serves;
pub(super) use carveout::{Carveout, Division};
pub(super) use copies::Copies;
pub(super) use dependences::Dependences;
pub(super) use trace::{AFFINE_RECORD, BARRIER, SCATTERED_RECORD};

use super::advice::{self, ReadOnce};
use super::counters::{AccessOfSite, AccessType, Kind, REQUESTS};
use super::occupancy::{BlockNeeds, Occupancy};
use super::{Line, TRACE_BLOCKS, TRACE_FIRST, TRACE_ROW, TRACE_WINDOW, line_of, variable_name};
use arrays::{ArraySites, ArrayUse};
use dependences::TextSize;
use replay::{Hits, Machine, TracedBlock, TracedSite, replayed};
use sample::Sample;

/// The model of caches in a process.
#[derive(Debug)]
pub(super) struct CacheModel {
    architectures: Vec<Architecture>,
    carveout: Option<Carveout>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Kernels that were traced with blocks of a shape.
    traced: BTreeSet<(String, [u32; 3], u32)>,
    /// Traces of launches that have not ended, by the numbers of these.
    pending: BTreeMap<u64, PendingTrace>,
    lines: BTreeMap<(usize, Line, AccessType, String), Hits>,
    launches: BTreeMap<(usize, String, u32, Placement), LaunchHits>,
    arrays: BTreeMap<(usize, String, String, Serves), ArrayHits>,
    findings: Vec<Finding>,
}

/// What came of a shared array of a kernel.
#[derive(Clone, Copy, Default, Debug)]
struct ArrayHits {
    used: ArrayUse,
    /// Of the loads that would take its place, if it is a cache.
    without: Hits,
    /// The text of the kernel, and what it would be without all arrays that are caches, if it is one.
    text: TextSize,
    text_without: TextSize,
}

/// What is known of a kernel that writes traces.
#[derive(Clone, Default, Debug)]
pub(super) struct TracedKernel {
    /// About how many records a warp writes at most, if that is known.
    pub(super) records: Option<u64>,
    /// Which stores copy global memory, in each of its functions.
    pub(super) copies: Vec<Copies>,
    /// Which instructions need which, in each of them, if that is known.
    pub(super) dependences: Option<Vec<Dependences>>,
}

/// The trace of a launch that has not ended.
#[derive(Debug)]
struct PendingTrace {
    sample: Sample,
    words: Arc<dyn SharedWords>,
    warps: usize,
    /// Bytes of a row.
    row: u64,
    /// Where the memory of the device begins.
    origin: u64,
    copies: Vec<Copies>,
    dependences: Option<Vec<Dependences>>,
    threads: u32,
    placements: Vec<Placement>,
    objects: ObjectNames,
}

/// How blocks of a launch are placed on an architecture.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Placement {
    shared: u32,
    by: &'static str,
    resident: u32,
}

/// What came of the traced launches of a kernel.
#[derive(Clone, Copy, Default, Debug)]
struct LaunchHits {
    hits: Hits,
    multiprocessors: u64,
    blocks: u64,
    /// Warps that did more than there was room for.
    cut_warps: u64,
}

/// What objects are called.
#[derive(Debug, Default)]
struct ObjectNames {
    /// Where each begins and ends, in rising order.
    ranges: Vec<(u64, u64)>,
    names: Vec<String>,
}

impl ObjectNames {
    /// Those that are there when a kernel is launched. What a parameter points into is called after it.
    fn of(launch: &LaunchView<'_>, host: &dyn Host) -> Self {
        let objects = host.objects();
        let mut all: Vec<(u64, u64, String)> = objects.all();
        all.sort_unstable();
        for (start, bytes, name) in &mut all {
            let object = objects.find(|object| object.start == *start);
            let variable = object.and_then(|object| match &object.kind {
                AllocationKind::Variable(name) => Some(demangled(name)),
                _ => object.label.as_ref().map(ToString::to_string),
            });
            let is_in = |address: u64| address.wrapping_sub(*start) < *bytes;
            let parameter = (0..launch.layout.len())
                .find(|&param| launch.layout[param].1 == 8 && launch.pointer(param, 0).is_some_and(is_in));
            *name = match (variable, parameter) {
                (Some(name), _) => name,
                (None, Some(parameter)) => format!("parameter {}", parameter + 1),
                (None, None) => format!("{name} of {bytes} bytes"),
            };
        }
        let ranges = all.iter().map(|(start, bytes, _)| (*start, start.saturating_add(*bytes))).collect();
        Self { ranges, names: all.into_iter().map(|(_, _, name)| name).collect() }
    }

    /// The number of the object at an address, from 1 on.
    fn at(&self, address: u64) -> u32 {
        let after = self.ranges.partition_point(|&(start, _)| start <= address);
        // A sector may begin before its object.
        let is_there = |&&number: &&usize| {
            let Some(&(start, end)) = number.checked_sub(1).and_then(|index| self.ranges.get(index)) else {
                return false;
            };
            address < end && address + 31 >= start
        };
        [after, after + 1].iter().find(is_there).map_or(0, |&number| number as u32)
    }

    fn name(&self, number: u32) -> &str {
        let name = number.checked_sub(1).and_then(|index| self.names.get(index as usize));
        name.map_or("other memory", String::as_str)
    }
}

impl CacheModel {
    pub(super) fn new(architectures: Vec<Architecture>, carveout: Option<Carveout>) -> Self {
        Self { architectures, carveout, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a launch is to be traced.
    pub(super) fn wants(&self, launch: &LaunchView<'_>) -> bool {
        !self.state().traced.contains(&key(launch))
    }

    /// A launch begins of the version that can be traced; it is if it is the first.
    pub(super) fn begin(
        &self,
        launch: &LaunchView<'_>,
        needs: &[BlockNeeds],
        kernel: TracedKernel,
        host: &dyn Host,
        words: &mut Words<'_>,
    ) {
        let is_first = self.state().traced.insert(key(launch));
        let traced = is_first.then(|| self.pending(launch, needs, kernel, host)).flatten();
        let (window, mut blocks) = match &traced {
            None => (0..0, Vec::new()),
            Some(PendingTrace { sample, words, warps, row: bytes, .. }) => {
                let row = |block: u64| {
                    let place = sample.places.get(&block)?;
                    Some(words.address() + (place * warps) as u64 * bytes)
                };
                (sample.window.clone(), sample.window.clone().map(|block| row(block).unwrap_or(0)).collect())
            }
        };
        // Blocks after the window have the last one.
        blocks.push(0);
        words.set(TRACE_FIRST, window.start);
        words.set(TRACE_WINDOW, window.end - window.start);
        words.set(TRACE_ROW, traced.as_ref().map_or(0, |traced| traced.row));
        words.set_table(TRACE_BLOCKS, blocks.into());
        if let Some(traced) = traced {
            self.state().pending.insert(launch.number, traced);
        }
    }

    fn pending(
        &self,
        launch: &LaunchView<'_>,
        needs: &[BlockNeeds],
        kernel: TracedKernel,
        host: &dyn Host,
    ) -> Option<PendingTrace> {
        let placements: Vec<Placement> = self
            .architectures
            .iter()
            .zip(needs)
            .map(|(architecture, needs)| {
                let Division { shared, by } = Division::of(architecture, needs, self.carveout, launch.carveout);
                let resident = Occupancy::of(architecture, needs, shared).blocks;
                Placement { shared, by, resident }
            })
            .collect();
        let blocks = launch.shape.grid.iter().map(|&size| u64::from(size)).product();
        let threads = launch.shape.block.iter().product::<u32>();
        let warps = threads.div_ceil(32) as usize;
        let of_architectures: Vec<_> = self
            .architectures
            .iter()
            .zip(&placements)
            .map(|(architecture, placement)| (architecture.caches(), placement.resident))
            .collect();
        let row = trace::row_bytes(kernel.records);
        let sample = Sample::of(blocks, warps as u64, row, &of_architectures);
        let words = match host.words(sample.places.len() * warps * (row as usize / 8)) {
            Ok(words) => words,
            Err(error) => {
                host.say(&format!("`{}` is not traced for caches: {error}", demangled(launch.kernel)));
                return None;
            }
        };
        let objects = ObjectNames::of(launch, host);
        let TracedKernel { copies, dependences, .. } = kernel;
        let origin = host.memory().range().0 / u64::from(gpu::LINE) * u64::from(gpu::LINE);
        Some(PendingTrace { sample, words, warps, row, origin, copies, dependences, threads, placements, objects })
    }

    /// A launch has ended: if it was traced, its trace is replayed.
    pub(super) fn end(&self, launch: &EndedLaunch<'_>) {
        let Some(pending) = self.state().pending.remove(&launch.number) else { return };
        let sites = LaunchSites::of(launch, &pending.copies);
        let row_words = pending.row as usize / 8;
        let blocks: Vec<TracedBlock> = pending
            .words
            .words()
            .chunks(row_words * pending.warps)
            .map(|block| TracedBlock { warps: block.chunks(row_words).map(trace::taken).collect() })
            .collect();
        let traced = Traced { launch, pending: &pending, sites: &sites, blocks: &blocks };
        for (index, placement) in pending.placements.iter().enumerate() {
            // A launch that cannot be on such a GPU is not replayed.
            if placement.resident > 0 {
                self.replay(&traced, index, placement);
                self.look_at_arrays(&traced, index, placement);
            }
        }
    }

    /// Replays a trace for an architecture.
    fn replay(&self, traced: &Traced<'_>, index: usize, placement: &Placement) {
        let Traced { launch, pending, sites, .. } = *traced;
        let machine = self.machine(index, placement, pending.origin);
        let multiprocessors = traced.multiprocessors(index);
        let object_at = |address: u64| pending.objects.at(address);
        let (by_group, total) = replayed(&machine, &multiprocessors, &sites.global, &object_at);
        let of_blocks = || multiprocessors.iter().flatten();
        let mut state = self.state();
        for ((group, object), hits) in by_group {
            let (line, access) = sites.groups[group as usize].clone();
            let object = pending.objects.name(object).to_owned();
            state.lines.entry((index, line, access, object)).or_default().add(&hits);
        }
        let key = (index, launch.kernel.to_owned(), pending.threads, placement.clone());
        let of_kernel = state.launches.entry(key).or_default();
        of_kernel.hits.add(&total);
        of_kernel.multiprocessors += multiprocessors.len() as u64;
        of_kernel.blocks += of_blocks().count() as u64;
        of_kernel.cut_warps += of_blocks().flat_map(|block| &block.warps).filter(|row| row.is_cut).count() as u64;
    }

    /// Says what shared arrays are for, from the blocks that one multiprocessor has at once.
    fn look_at_arrays(&self, traced: &Traced<'_>, index: usize, placement: &Placement) {
        let Traced { launch, sites, .. } = *traced;
        if sites.arrays.shared.is_empty() {
            return;
        }
        let mut blocks = traced.multiprocessors(index).into_iter().next().unwrap_or_default();
        blocks.truncate(placement.resident as usize);
        let mut used = BTreeMap::<u32, ArrayUse>::new();
        for block in &blocks {
            for (array, of_block) in arrays::used(block, &sites.arrays) {
                used.entry(array).or_default().add(&of_block);
            }
        }
        let is_cache = |(_, used): &(&u32, &ArrayUse)| used.serves() == Serves::Cache;
        let caches: FxHashSet<u32> = used.iter().filter(is_cache).map(|(&array, _)| array).collect();
        let without = self.hits_without(traced, index, placement, &blocks, &caches);
        let (text, text_without) = traced.texts(&caches);
        let is_whole = blocks.iter().flat_map(|block| &block.warps).all(|row| !row.is_cut);
        let mut state = self.state();
        for (array, used) in used {
            let of_array = &sites.of_arrays[array as usize];
            let without = without.get(&array).copied().unwrap_or_default();
            if used.serves() == Serves::Cache && is_whole {
                let read_once = ReadOnce {
                    blocks: blocks.len() as u64,
                    stored: used.stored,
                    read: used.read,
                    most_reads: used.most_reads,
                    sectors_to_fill: used.sectors_to_fill,
                    sectors_without: used.sectors_without,
                };
                let advice = advice::read_once(of_array.place.as_ref(), &of_array.name, &read_once);
                state.findings.extend(advice);
            }
            let key = (index, launch.kernel.to_owned(), of_array.name.clone(), used.serves());
            let of_kernel = state.arrays.entry(key).or_default();
            of_kernel.used.add(&used);
            of_kernel.without.add(&without);
            of_kernel.text = text;
            of_kernel.text_without = if used.serves() == Serves::Cache { text_without } else { text };
        }
    }

    /// What comes of loads that take the place of some arrays, for each of these.
    fn hits_without(
        &self,
        traced: &Traced<'_>,
        index: usize,
        placement: &Placement,
        blocks: &[&TracedBlock],
        caches: &FxHashSet<u32>,
    ) -> BTreeMap<u32, Hits> {
        if caches.is_empty() {
            return BTreeMap::new();
        }
        let sites = traced.sites;
        let without: Vec<TracedBlock> =
            blocks.iter().map(|block| arrays::without(block, &sites.arrays, caches)).collect();
        let first = sites.groups.len() as u32;
        let mut global = sites.global.clone();
        for (&id, (site, array)) in &sites.arrays.shared {
            if caches.contains(array) {
                global.insert(id, TracedSite { group: first + array, ..*site });
            }
        }
        let (by_group, _) = replayed(
            &self.machine(index, placement, traced.pending.origin),
            &[without.iter().collect()],
            &global,
            &|_| 0,
        );
        let of_arrays = by_group.into_iter().filter_map(|((group, _), hits)| Some((group.checked_sub(first)?, hits)));
        of_arrays.collect()
    }

    fn machine(&self, index: usize, placement: &Placement, origin: u64) -> Machine {
        let caches = self.architectures[index].caches();
        Machine { caches, l1: caches.l1(placement.shared), resident: placement.resident as usize, origin }
    }

    /// What is to be said at the end.
    pub(super) fn findings(&self) -> Vec<Finding> {
        std::mem::take(&mut self.state().findings)
    }

    /// The rows of the tables.
    pub(super) fn rows(&self) -> Vec<TableRow> {
        let state = self.state();
        let mut rows = Vec::new();
        let begin = |table: &str, index: usize, kernel: &str| {
            let arch = self.architectures[index].name.to_owned();
            let row = TableRow::new("traffic", table).with("arch", Cell::Text(arch));
            row.with("kernel", Cell::Text(demangled(kernel)))
        };
        for ((index, line, access, object), hits) in &state.lines {
            let row = begin("caches", *index, &line.kernel)
                .with("file", Cell::Text(line.file.clone()))
                .with("line", Cell::Number(line.line.into()))
                .with("access", Cell::Text(access.name().to_owned()))
                .with("object", Cell::Text(object.clone()));
            rows.push(with_hits(row, hits));
        }
        for ((index, kernel, array, serves), ArrayHits { used, without, text, text_without }) in &state.arrays {
            let row = begin("arrays", *index, kernel)
                .with("array", Cell::Text(array.clone()))
                .with("serves", Cell::Text(serves.name().to_owned()))
                .with("words_stored", Cell::Count(used.stored))
                .with("words_copied", Cell::Count(used.copied))
                .with("words_read", Cell::Count(used.read))
                .with("read_of_others", Cell::Count(used.read_of_others))
                .with("reads_max", Cell::Most(used.most_reads))
                .with("sectors_to_fill", Cell::Count(used.sectors_to_fill))
                .with("sectors_without", Cell::Count(without.sectors))
                .with("l1_hits_without_low", Cell::Count(without.l1.low))
                .with("l1_hits_without_high", Cell::Count(without.l1.high))
                .with("complexity", Cell::Most(text.complexity))
                .with("complexity_without", Cell::Most(text_without.complexity))
                .with("instructions", Cell::Most(text.instructions))
                .with("instructions_without", Cell::Most(text_without.instructions));
            rows.push(row);
        }
        for ((index, kernel, threads, placement), of_kernel) in &state.launches {
            let l1 = self.architectures[*index].caches().l1(placement.shared).bytes();
            let row = begin("carveouts", *index, kernel)
                .with("threads", Cell::Number((*threads).into()))
                .with("l1_bytes", Cell::Number(l1))
                .with("carveout_bytes", Cell::Number(placement.shared.into()))
                .with("asked_by", Cell::Text(placement.by.to_owned()))
                .with("blocks", Cell::Number(placement.resident.into()))
                .with("multiprocessors", Cell::Count(of_kernel.multiprocessors))
                .with("traced_blocks", Cell::Count(of_kernel.blocks))
                .with("cut_warps", Cell::Count(of_kernel.cut_warps));
            rows.push(with_hits(row, &of_kernel.hits));
        }
        rows
    }
}

fn with_hits(row: TableRow, hits: &Hits) -> TableRow {
    row.with("requests", Cell::Count(hits.requests))
        .with("sectors", Cell::Count(hits.sectors))
        .with("l1_hits_low", Cell::Count(hits.l1.low))
        .with("l1_hits_high", Cell::Count(hits.l1.high))
        .with("l2_hits_low", Cell::Count(hits.l2.low))
        .with("l2_hits_high", Cell::Count(hits.l2.high))
        .with("memory_sectors_low", Cell::Count(hits.memory.low))
        .with("memory_sectors_high", Cell::Count(hits.memory.high))
}

fn key(launch: &LaunchView<'_>) -> (String, [u32; 3], u32) {
    (launch.kernel.to_owned(), launch.shape.block, launch.shape.dynamic_shared)
}

/// A trace, and what is needed to understand it.
#[derive(Clone, Copy)]
struct Traced<'t> {
    launch: &'t EndedLaunch<'t>,
    pending: &'t PendingTrace,
    sites: &'t LaunchSites,
    blocks: &'t [TracedBlock],
}

impl<'t> Traced<'t> {
    /// The blocks of each multiprocessor of an architecture.
    fn multiprocessors(&self, index: usize) -> Vec<Vec<&'t TracedBlock>> {
        let Sample { multiprocessors, places, .. } = &self.pending.sample;
        let of_one = |numbers: &Vec<u64>| numbers.iter().map(|number| &self.blocks[places[number]]).collect();
        multiprocessors[index].iter().map(of_one).collect()
    }
}

impl Traced<'_> {
    /// The text of the kernel, and what it would be without some arrays. Nothing is in them if that is not known.
    fn texts(&self, arrays: &FxHashSet<u32>) -> (TextSize, TextSize) {
        let Some(functions) = &self.pending.dependences else { return Default::default() };
        let (mut all, mut fills) = (FxHashSet::default(), FxHashSet::default());
        for (&id, (site, array)) in &self.sites.arrays.shared {
            let Some(place) = self.launch.sites.get(SiteId(id)).filter(|_| arrays.contains(array)) else { continue };
            all.insert((place.func, place.stmt));
            if site.access == AccessType::Store {
                fills.insert((place.func, place.stmt));
            }
        }
        dependences::sizes(functions, &all, &fills)
    }
}

/// The sites of a launch.
#[derive(Debug, Default)]
struct LaunchSites {
    /// Accesses to global memory.
    global: FxHashMap<u32, TracedSite>,
    /// What these are counted as, by the numbers of groups.
    groups: Vec<(Line, AccessType)>,
    arrays: ArraySites,
    of_arrays: Vec<SharedArray>,
}

/// A shared array.
#[derive(Clone, PartialEq, Eq, Debug)]
struct SharedArray {
    variable: Option<Symbol>,
    name: String,
    /// Where it is stored to first, in the text.
    place: Option<Place>,
}

impl LaunchSites {
    fn of(launch: &EndedLaunch<'_>, copies: &[Copies]) -> Self {
        let EndedLaunch { sites, module, kernel, .. } = *launch;
        let mut all = Self::default();
        let mut numbers = FxHashMap::default();
        for (id, site) in sites.numbered().filter(|(_, site)| site.tool == "traffic") {
            let (is_shared, AccessOfSite { access, bytes, l1, .. }) = match Kind::of_word(site.word) {
                Some((Kind::Global(access), REQUESTS)) => (false, access),
                Some((Kind::Shared(access), REQUESTS)) => (true, access),
                _ => continue,
            };
            let place = sites.place_in_function(module, id);
            let place = place.map(|place| Place { kernel: kernel.to_owned(), ..place });
            let mut traced = TracedSite { access, bytes, l1, group: 0 };
            numbers.insert((site.func, site.stmt, is_shared), id.0);
            if is_shared {
                let array = all.array(launch, site, place.filter(|_| access == AccessType::Store));
                all.arrays.shared.insert(id.0, (traced, array));
            } else if let Some(place) = place {
                let group = (line_of(&place), access);
                let known = all.groups.iter().position(|other| *other == group);
                traced.group = known.unwrap_or(all.groups.len()) as u32;
                if known.is_none() {
                    all.groups.push(group);
                }
                all.global.insert(id.0, traced);
                if access == AccessType::Load {
                    all.arrays.loads.insert(id.0, traced);
                }
            }
        }
        for Copies { func, loads, used_otherwise } in copies {
            let Some(func) = *func else { continue };
            for (&store, loads) in loads {
                let Some(&store) = numbers.get(&(func, store, true)) else { continue };
                let of_loads = loads.iter().filter_map(|&load| numbers.get(&(func, load, false)).copied());
                let only_copied = loads.iter().filter(|load| !used_otherwise.contains(load));
                let only_copied = only_copied.filter_map(|&load| numbers.get(&(func, load, false)));
                all.arrays.only_copied.extend(only_copied);
                all.arrays.copies.insert(store, of_loads.collect());
            }
        }
        all
    }

    /// The number of the array that a site accesses.
    fn array(&mut self, launch: &EndedLaunch<'_>, site: &Site, stored_at: Option<Place>) -> u32 {
        let known = self.of_arrays.iter().position(|array| array.variable == site.variable);
        let number = known.unwrap_or(self.of_arrays.len());
        if known.is_none() {
            let module = launch.module;
            let name = match site.variable {
                Some(Symbol::Global(global)) => Some(module.globals[global].name),
                Some(Symbol::Var(var)) => Some(module.functions[site.func].vars[var].name),
                _ => None,
            };
            let name = name.map_or_else(|| "other shared memory".to_owned(), |name| variable_name(module.text(name)));
            self.of_arrays.push(SharedArray { variable: site.variable, name, place: None });
        }
        let place = &mut self.of_arrays[number].place;
        *place = place.take().or(stored_at);
        number as u32
    }
}
