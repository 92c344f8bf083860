//! traffic in the process of the program: it makes rows of tables of what kernels counted.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use report::{Cell, Row, demangled};
use rewrite::KernelVersion;
use toolkit::{Host, Instance, LaunchView, SiteCount, Words};

use super::architecture::Architecture;
use super::counters::{AccessType, BranchCounts, GlobalCounts, Kind, SharedCounts};
use super::instrument::Function;
use super::occupancy::{BlockNeeds, Occupancy};

/// traffic in a process.
#[derive(Debug)]
pub(super) struct TrafficInstance {
    host: Arc<dyn Host>,
    architectures: Vec<Architecture>,
    counted: Mutex<Counted>,
}

/// What was counted, by source line, and how kernels were launched.
#[derive(Debug, Default)]
struct Counted {
    lines: BTreeMap<(Line, Space, AccessType), LineCounts>,
    branches: BTreeMap<Line, BranchCounts>,
    /// How often kernels were launched with such blocks.
    launches: BTreeMap<(String, BlockNeeds), u64>,
    /// Instructions of kernels that are not counted.
    not_counted: BTreeMap<String, u64>,
}

/// A line of a kernel; line 0 of no file for code without line information.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Line {
    kernel: String,
    file: String,
    line: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Space {
    Global,
    Shared,
}

/// What was counted of the accesses of a line to a space.
#[derive(Clone, Copy, Default, Debug)]
struct LineCounts {
    global: GlobalCounts,
    shared: SharedCounts,
}

impl TrafficInstance {
    pub(super) fn new(architectures: Vec<Architecture>, host: &Arc<dyn Host>) -> Self {
        Self { host: Arc::clone(host), architectures, counted: Mutex::default() }
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A row of a table for an architecture.
    fn row(&self, table: &str, architecture: &Architecture, kernel: &str) -> Row {
        let row = Row::new("traffic", table).with("arch", Cell::Text(architecture.name.to_owned()));
        row.with("kernel", Cell::Text(demangled(kernel)))
    }

    fn row_of_line(&self, table: &str, architecture: &Architecture, line: &Line) -> Row {
        let row = self.row(table, architecture, &line.kernel);
        row.with("file", Cell::Text(line.file.clone())).with("line", Cell::Number(line.line.into()))
    }
}

impl Counted {
    fn add(&mut self, counted: &SiteCount<'_>) {
        let Some((kind, counter)) = Kind::of_word(counted.site.word) else { return };
        let (file, number) =
            counted.place.lines.first().map_or_else(Default::default, |line| (line.file.clone(), line.line));
        let line = Line { kernel: counted.kernel.to_owned(), file, line: number };
        match kind {
            Kind::Global { access, bytes } => {
                let counts = self.lines.entry((line, Space::Global, access)).or_default();
                counts.global.add(counter, counted.count, bytes);
            }
            Kind::Shared { access, .. } => {
                let counts = self.lines.entry((line, Space::Shared, access)).or_default();
                counts.shared.add(counter, counted.count);
            }
            Kind::Branch => self.branches.entry(line).or_default().add(counter, counted.count),
        }
    }
}

impl Instance for TrafficInstance {
    fn on_launch(&self, launch: &LaunchView<'_>) {
        let needs = BlockNeeds {
            threads: launch.shape.block.iter().product(),
            shared: launch.static_shared + u64::from(launch.shape.dynamic_shared),
            registers: None,
        };
        *self.counted().launches.entry((launch.kernel.to_owned(), needs)).or_default() += 1;
    }

    fn words(&self, launch: &LaunchView<'_>, version: &KernelVersion, _: &mut Words<'_>) {
        let not_counted = Function::not_counted(version);
        if not_counted > 0 {
            self.counted().not_counted.insert(launch.kernel.to_owned(), not_counted);
        }
    }

    fn on_counts(&self, counts: &[SiteCount<'_>]) {
        let mut counted = self.counted();
        for count in counts {
            counted.add(count);
        }
    }

    fn finish(&self) {
        let counted = std::mem::take(&mut *self.counted());
        for ((line, space, access), LineCounts { global, shared }) in &counted.lines {
            let space = if *space == Space::Global { "global" } else { "shared" };
            for architecture in &self.architectures {
                let row = self
                    .row_of_line("lines", architecture, line)
                    .with("space", Cell::Text(space.to_owned()))
                    .with("access", Cell::Text(access.name().to_owned()))
                    .with("requests", Cell::Count(global.requests + shared.requests))
                    .with("sectors", Cell::Count(global.sectors))
                    .with("cache_lines", Cell::Count(global.lines))
                    .with("bytes", Cell::Count(global.bytes))
                    .with("bank_ways_max", Cell::Most(shared.most_ways))
                    .with("bank_passes", Cell::Count(shared.passes));
                self.host.row(row);
            }
        }
        for (line, counts) in &counted.branches {
            for architecture in &self.architectures {
                let row = self
                    .row_of_line("branches", architecture, line)
                    .with("executed", Cell::Count(counts.executed))
                    .with("divergent", Cell::Count(counts.divergent))
                    .with("idle_lanes", Cell::Count(counts.idle_lanes));
                self.host.row(row);
            }
        }
        for ((kernel, needs), launches) in &counted.launches {
            for architecture in &self.architectures {
                let occupancy = Occupancy::of(architecture, needs);
                let row = self
                    .row("occupancy", architecture, kernel)
                    .with("threads", Cell::Number(needs.threads.into()))
                    .with("shared_bytes", Cell::Number(needs.shared))
                    .with("blocks", Cell::Number(occupancy.blocks.into()))
                    .with("warps", Cell::Number(occupancy.warps.into()))
                    .with("warps_max", Cell::Number(occupancy.most_warps.into()))
                    .with("limit", Cell::Text(occupancy.limit.name().to_owned()))
                    .with("launches", Cell::Count(*launches));
                self.host.row(row);
            }
        }
        for (kernel, count) in &counted.not_counted {
            self.host.say(&format!(
                "{count} instructions of `{}` access memory in blocks or matrices, and are not counted",
                demangled(kernel)
            ));
        }
    }
}
