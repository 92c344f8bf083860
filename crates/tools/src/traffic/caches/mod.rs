//! What L1 and L2 save: some blocks of a launch are traced, and the traces replayed through models of the caches.
//!
//! `sample.rs` says which blocks, `trace.rs` what is written of them, `carveout.rs` how large L1 is, `cache.rs` what a cache is, and
//! `replay.rs` in which orders the traces go through it.
//!
//! The first launch of a kernel with blocks of a shape is traced, and no other.

mod cache;
mod carveout;
mod replay;
mod sample;
mod trace;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gpu::Architecture;
use report::{Cell, Row as TableRow, demangled};
use rewrite::SiteId;
use rustc_hash::FxHashMap;
use toolkit::{AllocationKind, EndedLaunch, Host, LaunchView, SharedWords, Words};

pub(super) use carveout::{Carveout, Division};
pub(super) use trace::{AFFINE_RECORD, BARRIER, ROW, SCATTERED_RECORD};

use super::counters::{AccessOfSite, AccessType, Kind, REQUESTS};
use super::occupancy::{BlockNeeds, Occupancy};
use super::{Line, TRACE_BLOCKS, TRACE_FIRST, TRACE_WINDOW, line_of};
use replay::{Hits, Machine, TracedBlock, TracedSite, replayed};
use sample::Sample;

/// Bytes that records of a row have.
pub(super) const ROW_RECORDS: u64 = ROW - 8;

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
}

/// The trace of a launch that has not ended.
#[derive(Debug)]
struct PendingTrace {
    sample: Sample,
    words: Arc<dyn SharedWords>,
    warps: usize,
    needs: BlockNeeds,
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
    pub(super) fn begin(&self, launch: &LaunchView<'_>, needs: &BlockNeeds, host: &dyn Host, words: &mut Words<'_>) {
        let traced = self.state().traced.insert(key(launch)).then(|| self.pending(launch, needs, host)).flatten();
        let (window, mut blocks) = match &traced {
            None => (0..0, Vec::new()),
            Some(PendingTrace { sample, words, warps, .. }) => {
                let row = |block: u64| {
                    let place = sample.places.get(&block)?;
                    Some(words.address() + (place * warps) as u64 * ROW)
                };
                (sample.window.clone(), sample.window.clone().map(|block| row(block).unwrap_or(0)).collect())
            }
        };
        // Blocks after the window have the last one.
        blocks.push(0);
        words.set(TRACE_FIRST, window.start);
        words.set(TRACE_WINDOW, window.end - window.start);
        words.set_table(TRACE_BLOCKS, blocks.into());
        if let Some(traced) = traced {
            self.state().pending.insert(launch.number, traced);
        }
    }

    fn pending(&self, launch: &LaunchView<'_>, needs: &BlockNeeds, host: &dyn Host) -> Option<PendingTrace> {
        let placements: Vec<Placement> = self
            .architectures
            .iter()
            .map(|architecture| {
                let Division { shared, by } = Division::of(architecture, needs, self.carveout, launch.carveout);
                let resident = Occupancy::of(architecture, needs, shared).blocks;
                Placement { shared, by, resident }
            })
            .collect();
        let blocks = launch.shape.grid.iter().map(|&size| u64::from(size)).product();
        let warps = needs.threads.div_ceil(32) as usize;
        let of_architectures: Vec<_> = self
            .architectures
            .iter()
            .zip(&placements)
            .map(|(architecture, placement)| (architecture.caches(), placement.resident))
            .collect();
        let sample = Sample::of(blocks, warps as u64, &of_architectures);
        let words = match host.words(sample.places.len() * warps * (ROW as usize / 8)) {
            Ok(words) => words,
            Err(error) => {
                host.say(&format!("`{}` is not traced for caches: {error}", demangled(launch.kernel)));
                return None;
            }
        };
        let objects = ObjectNames::of(launch, host);
        Some(PendingTrace { sample, words, warps, needs: *needs, placements, objects })
    }

    /// A launch has ended: if it was traced, its trace is replayed.
    pub(super) fn end(&self, launch: &EndedLaunch<'_>) {
        let Some(pending) = self.state().pending.remove(&launch.number) else { return };
        let sites = traced_sites(launch);
        let row_words = ROW as usize / 8;
        let all = pending.words.words();
        let blocks: Vec<TracedBlock> = all
            .chunks(row_words * pending.warps)
            .map(|block| TracedBlock { warps: block.chunks(row_words).map(trace::taken).collect() })
            .collect();
        let of_sites: FxHashMap<u32, TracedSite> =
            sites.iter().filter(|(_, (is_shared, _))| !is_shared).map(|(&id, (_, site))| (id, *site)).collect();
        for (index, (architecture, placement)) in self.architectures.iter().zip(&pending.placements).enumerate() {
            // A launch that cannot be on such a GPU is not replayed.
            if placement.resident == 0 {
                continue;
            }
            let caches = architecture.caches();
            let resident = placement.resident as usize;
            let machine = Machine { caches, l1: caches.l1(placement.shared), resident };
            let numbers = &pending.sample.multiprocessors[index];
            let multiprocessors: Vec<Vec<&TracedBlock>> = numbers
                .iter()
                .map(|numbers| numbers.iter().map(|number| &blocks[pending.sample.places[number]]).collect())
                .collect();
            let object_at = |address: u64| pending.objects.at(address);
            let (by_site, total) = replayed(&machine, &multiprocessors, &of_sites, &object_at);
            let of_blocks = || multiprocessors.iter().flatten();
            let launch_hits = LaunchHits {
                hits: total,
                multiprocessors: multiprocessors.len() as u64,
                blocks: of_blocks().count() as u64,
                cut_warps: of_blocks().flat_map(|block| &block.warps).filter(|row| row.is_cut).count() as u64,
            };
            let mut state = self.state();
            for ((site, object), hits) in by_site {
                let Some(place) = launch.sites.place_in_function(launch.module, SiteId(site)) else { continue };
                let place = report::Place { kernel: launch.kernel.to_owned(), ..place };
                let access = of_sites[&site].access;
                let object = pending.objects.name(object).to_owned();
                state.lines.entry((index, line_of(&place), access, object)).or_default().add(&hits);
            }
            let key = (index, launch.kernel.to_owned(), pending.needs.threads, placement.clone());
            let of_kernel = state.launches.entry(key).or_default();
            of_kernel.hits.add(&launch_hits.hits);
            of_kernel.multiprocessors += launch_hits.multiprocessors;
            of_kernel.blocks += launch_hits.blocks;
            of_kernel.cut_warps += launch_hits.cut_warps;
        }
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

/// The sites of accesses of the tool, each with whether it is one of shared memory.
fn traced_sites(launch: &EndedLaunch<'_>) -> FxHashMap<u32, (bool, TracedSite)> {
    let of_tool = launch.sites.numbered().filter(|(_, site)| site.tool == "traffic");
    let traced = of_tool.filter_map(|(id, site)| {
        let (is_shared, AccessOfSite { access, bytes, l1, .. }) = match Kind::of_word(site.word)? {
            (Kind::Global(access), REQUESTS) => (false, access),
            (Kind::Shared(access), REQUESTS) => (true, access),
            _ => return None,
        };
        Some((id.0, (is_shared, TracedSite { access, bytes, l1 })))
    });
    traced.collect()
}
