//! traffic in the process of the program: it makes rows of tables of what kernels counted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gpu::Architecture;
use ptx::ir::Symbol;
use report::{Cell, Finding, Place, Row, demangled};
use rewrite::{KernelVersion, Refusal, Site};
use toolkit::{CarveoutRequest, EndedLaunch, Host, Instance, LaunchView, SiteCount, Words, tally_rows};

use super::caches::{CacheModel, Carveout, Division};
use super::counters::{AccessOfSite, AccessType, BranchCounts, GlobalCounts, Kind, REQUESTS, SharedCounts, Steps};
use super::instrument::{self, Function};
use super::occupancy::{BlockNeeds, Occupancy};
use super::registers::Registers;
use super::{
    ANY_SHAPE, CONCURRENT, Line, PATTERN_OF_SITE, PATTERN_ROW, PATTERN_SITES, PATTERNS, ROWS_OF_8, ROWS_OF_16, TRACED,
    WHOLE_ROWS, advice, line_of, variable_name,
};

/// traffic in a process.
#[derive(Debug)]
pub(super) struct TrafficInstance {
    host: Arc<dyn Host>,
    architectures: Vec<Architecture>,
    carveout: Option<Carveout>,
    registers: Registers,
    /// Whether kernels run on a GPU.
    is_on_gpu: bool,
    /// If caches are modelled.
    caches: Option<CacheModel>,
    counted: Mutex<Counted>,
}

/// What was counted, by source line, and how kernels were launched.
#[derive(Debug, Default)]
struct Counted {
    lines: BTreeMap<(Line, Space, AccessType), LineCounts>,
    branches: BTreeMap<Line, BranchCounts>,
    /// How often kernels were launched with such blocks, as they are on each architecture.
    launches: BTreeMap<(String, Vec<BlockNeeds>, CarveoutRequest), u64>,
    findings: Vec<Finding>,
    /// Instructions of kernels that are not counted.
    not_counted: BTreeMap<String, u64>,
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
    pub(super) fn new(
        architectures: Vec<Architecture>,
        carveout: Option<Carveout>,
        has_caches: bool,
        registers: Registers,
        host: &Arc<dyn Host>,
    ) -> Self {
        let is_on_gpu = host.memory().remote().is_some();
        if is_on_gpu && has_caches {
            host.say("traffic does not model caches on a GPU: run it with `--device cpu`");
        }
        let caches = (has_caches && !is_on_gpu).then(|| CacheModel::new(architectures.clone(), carveout));
        Self {
            host: Arc::clone(host),
            architectures,
            carveout,
            registers,
            is_on_gpu,
            caches,
            counted: Mutex::default(),
        }
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a block of a launch needs on each architecture.
    fn needs(&self, launch: &LaunchView<'_>) -> Vec<BlockNeeds> {
        let of = |architecture: &Architecture| BlockNeeds {
            threads: launch.shape.block.iter().product(),
            shared: launch.static_shared + u64::from(launch.shape.dynamic_shared),
            registers: self.registers.of(launch, architecture),
        };
        self.architectures.iter().map(of).collect()
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
    fn add(&mut self, site: &SiteCounts) {
        let SiteCounts { kind, place, .. } = site;
        let line = line_of(place);
        match *kind {
            Kind::Global(AccessOfSite { access, .. }) => {
                self.lines.entry((line, Space::Global, access)).or_default().global.add(&site.global);
            }
            Kind::Shared(AccessOfSite { access, .. }) => {
                self.lines.entry((line, Space::Shared, access)).or_default().shared.add(&site.shared);
            }
            Kind::Branch { .. } => self.branches.entry(line).or_default().add(&site.branch),
            Kind::Group => {}
        }
        self.findings.extend(site.advice());
    }
}

/// What was counted at a site.
#[derive(Debug)]
struct SiteCounts {
    kind: Kind,
    /// With the kernel that was launched.
    place: Place,
    /// The variable that is accessed, if that is known.
    variable: Option<String>,
    global: GlobalCounts,
    shared: SharedCounts,
    branch: BranchCounts,
    steps: Steps,
}

impl SiteCounts {
    /// The counts of all sites of a kernel: the counters of a site follow each other, and sites follow their group.
    fn all(counts: &[SiteCount<'_>]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let mut last = None;
        let mut of_group = 0;
        for counted in counts {
            let Some((kind, counter)) = Kind::of_word(counted.site.word) else { continue };
            if kind == Kind::Group {
                of_group = counted.count;
                continue;
            }
            let key = (counted.site.func, counted.site.stmt, counted.site.index, kind);
            if last.replace(key) != Some(key) {
                all.push(Self::new(kind, counted));
                if let (Some(site), Some(counter), true) = (all.last_mut(), kind.counter_of_group(), of_group > 0) {
                    site.count(counter, of_group);
                }
            }
            if let Some(site) = all.last_mut() {
                site.count(counter, counted.count);
            }
        }
        all
    }

    fn new(kind: Kind, counted: &SiteCount<'_>) -> Self {
        let SiteCount { site, module, .. } = counted;
        let name = match site.variable {
            Some(Symbol::Global(global)) => Some(module.globals[global].name),
            Some(Symbol::Var(var)) => Some(module.functions[site.func].vars[var].name),
            _ => None,
        };
        Self {
            kind,
            place: Place { kernel: counted.kernel.to_owned(), ..counted.place.clone() },
            variable: name.map(|name| variable_name(module.text(name))),
            global: GlobalCounts::default(),
            shared: SharedCounts::default(),
            branch: BranchCounts::default(),
            steps: Steps::default(),
        }
    }

    fn count(&mut self, counter: u64, count: u64) {
        match self.kind {
            Kind::Global(access) => self.global.count(counter, count, access.bytes),
            Kind::Shared(access) => self.shared.count(counter, count, &access),
            Kind::Branch { .. } => return self.branch.count(counter, count),
            Kind::Group => return,
        }
        self.steps.count(counter, count);
    }

    /// Groups have sites that nobody came to.
    fn is_executed(&self) -> bool {
        self.global.requests + self.shared.requests + self.branch.executed > 0
    }

    fn advice(&self) -> Option<Finding> {
        // What is known from the text holds for all requests.
        match self.kind {
            Kind::Global(access) => {
                let stride = access.stride.map(i64::from).or_else(|| self.steps.only())?;
                advice::uncoalesced(&self.place, &self.global, stride)
            }
            Kind::Shared(access) => {
                let step = access.step().or_else(|| self.steps.only())?;
                advice::bank_conflict(&self.place, &self.shared, &access, step, self.variable.as_deref())
            }
            Kind::Branch { .. } | Kind::Group => None,
        }
    }
}

impl Instance for TrafficInstance {
    fn on_launch(&self, launch: &LaunchView<'_>) {
        let key = (launch.kernel.to_owned(), self.needs(launch), launch.carveout);
        *self.counted().launches.entry(key).or_default() += 1;
    }

    fn wants_version(&self, version: usize) -> bool {
        match version {
            CONCURRENT => self.is_on_gpu,
            TRACED => self.caches.is_some(),
            _ => !self.is_on_gpu,
        }
    }

    fn choose(&self, launch: &LaunchView<'_>) -> Result<usize, Refusal> {
        if self.is_on_gpu {
            return Ok(CONCURRENT);
        }
        if self.caches.as_ref().is_some_and(|caches| caches.wants(launch)) {
            return Ok(TRACED);
        }
        Ok(match launch.shape.block[0] {
            row if row.is_multiple_of(32) => WHOLE_ROWS,
            // Rows of other planes could follow those of a warp.
            16 if launch.shape.block[2] == 1 => ROWS_OF_16,
            8 if launch.shape.block[2] == 1 => ROWS_OF_8,
            _ => ANY_SHAPE,
        })
    }

    fn words(&self, launch: &LaunchView<'_>, version: &KernelVersion, words: &mut Words<'_>) {
        // Without workers nothing is remembered.
        let sites = if self.is_on_gpu { 0 } else { instrument::sites(version) };
        let row = sites * PATTERN_OF_SITE;
        let patterns = Arc::new((0..row / 8 * u64::from(tally_rows())).map(|_| AtomicU64::new(0)).collect::<Box<_>>());
        words.set(PATTERNS, patterns.as_ptr() as u64);
        words.set(PATTERN_ROW, row);
        words.set(PATTERN_SITES, sites);
        words.keep(patterns);
        if let (Some(caches), Some(traced)) = (&self.caches, instrument::traced(version)) {
            caches.begin(launch, &self.needs(launch), traced, &*self.host, words);
        }
        let not_counted = Function::not_counted(version);
        if not_counted > 0 {
            self.counted().not_counted.insert(launch.kernel.to_owned(), not_counted);
        }
    }

    fn on_end(&self, launch: &EndedLaunch<'_>) {
        if let Some(caches) = &self.caches {
            caches.end(launch);
        }
    }

    fn wants_zero(&self, site: &Site) -> bool {
        matches!(Kind::of_word(site.word), Some((kind, REQUESTS)) if kind == Kind::Group || kind.counter_of_group().is_some())
    }

    fn on_counts(&self, counts: &[SiteCount<'_>]) {
        let mut counted = self.counted();
        for site in SiteCounts::all(counts).iter().filter(|site| site.is_executed()) {
            counted.add(site);
        }
    }

    fn finish(&self) {
        let counted = std::mem::take(&mut *self.counted());
        // The compiler may have made several instructions of a line.
        let mut said = BTreeSet::new();
        let of_caches = self.caches.iter().flat_map(CacheModel::findings);
        for finding in counted.findings.into_iter().chain(of_caches) {
            let line = finding.place.as_ref().map(|place| (place.kernel.clone(), place.lines.first().cloned()));
            let line = line.map(|(kernel, line)| (kernel, line.map(|line| (line.file, line.line))));
            if said.insert((finding.message.clone(), line)) {
                self.host.found(finding);
            }
        }
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
        for ((kernel, needs, request), launches) in &counted.launches {
            for (architecture, needs) in self.architectures.iter().zip(needs) {
                let Division { shared, .. } = Division::of(architecture, needs, self.carveout, *request);
                let occupancy = Occupancy::of(architecture, needs, shared);
                let row = self
                    .row("occupancy", architecture, kernel)
                    .with("threads", Cell::Number(needs.threads.into()))
                    .with("shared_bytes", Cell::Number(needs.shared))
                    .with("registers", Cell::Number(needs.registers.unwrap_or(0).into()))
                    .with("blocks", Cell::Number(occupancy.blocks.into()))
                    .with("warps", Cell::Number(occupancy.warps.into()))
                    .with("warps_max", Cell::Number(occupancy.most_warps.into()))
                    .with("limit", Cell::Text(occupancy.limit.name().to_owned()))
                    .with("launches", Cell::Count(*launches));
                self.host.row(row);
            }
        }
        for row in self.caches.iter().flat_map(CacheModel::rows) {
            self.host.row(row);
        }
        for (kernel, count) in &counted.not_counted {
            self.host.say(&format!(
                "{count} instructions of `{}` access memory in blocks or matrices, and are not counted",
                demangled(kernel)
            ));
        }
    }
}
