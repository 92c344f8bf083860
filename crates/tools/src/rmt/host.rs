//! The tool in a process: how each launch is protected, and what is told of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ptx::analysis::footprint::Footprint;
use report::{Cell, Finding, Row, demangled};
use rewrite::context::Record;
use rewrite::{KernelVersion, Refusal};
use toolkit::{
    Accessed, AllocationKind, Evidence, Failure, Flag, FlagValue, Host, HostStack, Instance, LaunchView, Objects,
    Options, Outcome, Plan, RunStep, Step, Touched, Words, quarantine,
};

use super::kept::Kept;
use super::layout::{TWINS, shared_distance, threads};
use super::log_memory::{LogMemory, Pool};
use super::recover::{Mismatches, Progress, RecoverPlan};
use super::version::{Exchange, KERNEL, Layout, ORIGINAL, Pair, Shared, Variant, Work};
use super::{
    BLOCK_X, BLOCK_Y, BLOCK_Z, DYNAMIC_SHARED, LOG, LOG_ENTRIES, REGIONS, SHARED_DISTANCE, SLOTS, THREADS, TOOL,
    findings, refusals,
};

const VARIANT: Flag = Flag {
    name: "variant",
    help: "How kernels are protected: auto, kernel, pair (also pair-shared), pair-no-shared, warp-pair, inter",
    value: Some(FlagValue { name: "VARIANT", default: "auto", check: check_variant }),
};

const EXPLAIN: Flag =
    Flag { name: "explain", help: "List how each kernel was protected, and why in that way", value: None };

const ALLOW_UNPROTECTED: Flag = Flag {
    name: "allow-unprotected",
    help: "Warn of kernels that cannot be protected, instead of exit code 87",
    value: None,
};

const RECOVER: Flag = Flag {
    name: "recover",
    help: "Run blocks again whose copies differ, three times at most; not with the variant kernel",
    value: None,
};

const ABLATE: Flag = Flag {
    name: "ablate",
    help: "Leave out work of all variants but kernel, to tell what it costs: nothing, comparison, computation (of the second copy)",
    value: Some(FlagValue { name: "WORK", default: "nothing", check: check_work }),
};

const EXCHANGE: Flag = Flag {
    name: "exchange",
    help: "How twins of the pair variants tell each other what they have: shuffle, slots (in shared memory)",
    value: Some(FlagValue { name: "WAY", default: "shuffle", check: check_exchange }),
};

const PAIR_DISTANCE: Flag = Flag {
    name: "pair-distance",
    help: "How many lanes twins of the pair variants are apart: 16, 1 (neighbours)",
    value: Some(FlagValue { name: "LANES", default: "16", check: check_distance }),
};

pub(super) const FLAGS: &[Flag] = &[VARIANT, EXCHANGE, PAIR_DISTANCE, RECOVER, EXPLAIN, ALLOW_UNPROTECTED, ABLATE];

fn check_work(name: &str) -> Result<(), String> {
    FlagValue::one_of(name, &Work::ALL.map(Work::name))
}

fn check_exchange(name: &str) -> Result<(), String> {
    FlagValue::one_of(name, &Exchange::ALL.map(Exchange::name))
}

fn check_distance(lanes: &str) -> Result<(), String> {
    if ["1", "16"].contains(&lanes) { Ok(()) } else { Err("it is 1 or 16".to_owned()) }
}

fn check_variant(name: &str) -> Result<(), String> {
    if name == "auto" || Variant::named(name).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = Variant::ALL.iter().map(|variant| variant.name()).collect();
    Err(format!("there is no variant `{name}`; it is auto, {} or pair-shared", names.join(", ")))
}

/// The tool in a process.
#[derive(Debug)]
pub(super) struct RmtInstance {
    host: Arc<dyn Host>,
    /// The variants that are tried, in this order.
    variants: Vec<Variant>,
    work: Work,
    exchange: Exchange,
    /// How far twins are apart.
    distance: u32,
    explains: bool,
    allows_unprotected: bool,
    stops_on_error: bool,
    /// Memory for the logs of launches whose blocks are twins.
    logs: Arc<Pool>,
    /// What is known of copies that differed, if launches are to be recovered from that.
    mismatches: Option<Arc<Mismatches>>,
    /// How many launches of a kernel ran in a variant, and why.
    launches: Mutex<BTreeMap<Protection, u64>>,
}

/// How a kernel was protected, in words.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Protection {
    kernel: String,
    variant: &'static str,
    reason: String,
}

/// How a launch is protected.
#[derive(Debug)]
struct Decision {
    variant: Variant,
    version: usize,
    /// What stands against the variants that were tried before.
    refusals: Vec<(Variant, Refusal)>,
}

impl RmtInstance {
    pub(super) fn new(options: &Options, host: &Arc<dyn Host>) -> Self {
        let variants = Variant::named(options.get(&VARIANT)).map_or_else(|| Variant::ALL.to_vec(), |one| vec![one]);
        let is_asked_for = |exchange: &Exchange| exchange.name() == options.get(&EXCHANGE);
        Self {
            host: Arc::clone(host),
            variants,
            work: Work::ALL.into_iter().find(|work| work.name() == options.get(&ABLATE)).unwrap_or(Work::All),
            exchange: Exchange::ALL.into_iter().find(is_asked_for).unwrap_or(Exchange::Shuffle),
            distance: if options.get(&PAIR_DISTANCE) == "1" { 1 } else { TWINS },
            explains: options.has(&EXPLAIN),
            allows_unprotected: options.has(&ALLOW_UNPROTECTED),
            stops_on_error: options.stop_on_error,
            logs: Arc::default(),
            mismatches: options.has(&RECOVER).then(Arc::default),
            launches: Mutex::default(),
        }
    }

    /// How twins tell each other what they have. What is left out, nobody exchanges.
    fn exchange(&self) -> Exchange {
        if self.work == Work::All { self.exchange } else { Exchange::Shuffle }
    }

    /// The version of a variant for launches that read what they write; nothing if no thread has a twin in it.
    fn pair(&self, variant: Variant, block: [u32; 3]) -> Option<Pair> {
        let layout = Layout::of(block, self.distance);
        let (layout, exchange, shared) = match variant {
            Variant::Kernel => return None,
            Variant::Pair => (layout, self.exchange(), Shared::Doubled),
            Variant::PairNoShared => (layout, self.exchange(), Shared::Common),
            Variant::WarpPair => (Layout::Warps, Exchange::Log, Shared::Doubled),
            Variant::Inter => (Layout::Blocks, Exchange::Log, Shared::Doubled),
        };
        Some(Pair { layout, exchange, shared, is_in_place: true, work: self.work })
    }

    /// The first variant that is possible.
    fn decide(&self, launch: &LaunchView<'_>) -> Result<Decision, Refusal> {
        let mut refusals = Vec::new();
        for &variant in &self.variants {
            match self.version(launch, variant) {
                Ok(version) if self.prefers_two_runs(launch, version) => {
                    let reason = "other threads may write what it reads, so that copies could read different values";
                    refusals.push((variant, Refusal::new(TOOL, "may-race", reason)));
                }
                Ok(version) => return Ok(Decision { variant, version, refusals }),
                Err(refusal) => refusals.push((variant, refusal)),
            }
        }
        if let [(_, refusal)] = &refusals[..] {
            return Err(refusal.clone());
        }
        Err(Refusal::new(TOOL, "no-variant", against(&refusals)))
    }

    /// Whether it is better to run a launch twice than to have twins in it, if both are possible: they are compared in the middle
    /// of a race, if there is one, and two runs when all races are over.
    fn prefers_two_runs(&self, launch: &LaunchView<'_>, version: usize) -> bool {
        let may_choose = self.variants.len() > 1 && self.mismatches.is_none();
        let may_race = || {
            let is_proved = |footprint: Arc<Footprint>| footprint.races.is_proved();
            !launch.footprint(&self.host.objects()).is_some_and(is_proved)
        };
        may_choose
            && Pair::numbered(version).is_some_and(|pair| pair.is_in_place && !pair.has_log())
            && self.version(launch, Variant::Kernel).is_ok()
            && may_race()
    }

    /// The version that a launch runs in a variant.
    fn version(&self, launch: &LaunchView<'_>, variant: Variant) -> Result<usize, Refusal> {
        if launch.versions.is_empty() {
            return Err(Refusal::new(TOOL, "not-rewritten", "it could not be rewritten"));
        }
        let refused = |version: usize| {
            let of_version = launch.refused.iter().find(|(choice, _)| choice.first() == Some(&version));
            of_version.map(|(_, refusal)| refusal.clone()).map_or(Ok(version), Err)
        };
        let Some(mut pair) = self.pair(variant, launch.shape.block) else { return refused(KERNEL) };
        refused(pair.number())?;
        let version = launch.versions.iter().find(|one| one.choice.first() == Some(&pair.number()));
        let functions = version.iter().flat_map(|version| version.states::<Kept>(TOOL));
        if let Some(refusal) = refusals::of_launch(pair, launch.shape, functions) {
            return Err(refusal);
        }
        if pair.layout == Layout::Blocks
            && let Some(refusal) = self.logs.refusal(&*self.host, &launch.shape)
        {
            return Err(refusal);
        }
        let kept = version.and_then(|version| version.state::<Kept>(TOOL));
        if let Some([read, written]) = kept.and_then(|kept| kept.touched.as_ref()) {
            pair.is_in_place = !are_disjoint(read, written, launch, &self.host.objects());
        }
        // A copy that only writes a log must not read what the other has not done yet.
        pair.is_in_place |= pair.has_log() && kept.is_some_and(|kept| kept.has_strong_loads);
        refused(pair.number())
    }
}

/// Whether a version of the launched kernel does something that must not be done again.
fn has_side_effects(launch: &LaunchView<'_>, version: usize) -> bool {
    let mut of_version = launch.versions.iter().filter(|one| one.choice.first() == Some(&version));
    let of_functions = |version: &KernelVersion| version.states::<Kept>(TOOL).any(|kept| kept.has_side_effects);
    of_version.any(of_functions) || launch.shape.is_cooperative
}

/// What stands against variants, in words: those that have the same against them together.
fn against(refusals: &[(Variant, Refusal)]) -> String {
    let mut said: Vec<(Vec<&str>, &Refusal)> = Vec::new();
    for (variant, refusal) in refusals {
        match said.iter_mut().find(|(_, other)| *other == refusal) {
            Some((variants, _)) => variants.push(variant.name()),
            None => said.push((vec![variant.name()], refusal)),
        }
    }
    let words = said
        .iter()
        .map(|(variants, Refusal { code, reason, .. })| format!("not {}: {reason} ({code})", variants.join(" or ")));
    words.collect::<Vec<_>>().join("; ")
}

/// Whether a launch reads nothing that it writes, as far as pointers and objects tell.
fn are_disjoint(read: &Touched, written: &Touched, launch: &LaunchView<'_>, objects: &Objects) -> bool {
    let (Touched::Only(read), Touched::Only(written)) = (read, written) else { return false };
    let is_apart = |one: &Accessed, other: &Accessed| match (range(one, launch, objects), range(other, launch, objects))
    {
        (Range::Empty, _) | (_, Range::Empty) => true,
        (Range::Variable(one), Range::Variable(other)) => one != other,
        (Range::Bytes(start, end), Range::Bytes(other_start, other_end)) => end <= other_start || other_end <= start,
        // An address of a variable is another kind of object.
        (Range::Variable(_), Range::Bytes(..)) | (Range::Bytes(..), Range::Variable(_)) => true,
        (Range::Unknown, _) | (_, Range::Unknown) => false,
    };
    written.iter().all(|written| read.iter().all(|read| is_apart(read, written)))
}

/// What a pointer may be moved through.
enum Range {
    Empty,
    Variable(String),
    Bytes(u64, u64),
    Unknown,
}

fn range(accessed: &Accessed, launch: &LaunchView<'_>, objects: &Objects) -> Range {
    let (param, offset) = match accessed {
        Accessed::Variable(name) => return Range::Variable(name.clone()),
        Accessed::Param { param, offset } => (*param, *offset),
    };
    match launch.pointer(param, offset) {
        None => Range::Unknown,
        Some(0) => Range::Empty,
        Some(pointer) => match objects.pointed_to(pointer) {
            Some(object) if matches!(object.kind, AllocationKind::Variable(_)) => Range::Unknown,
            Some(object) => {
                let (start, bytes) = objects.reach(object);
                Range::Bytes(start, start + bytes)
            }
            None => Range::Unknown,
        },
    }
}

impl Instance for RmtInstance {
    /// So that the end of one object, which a pointer into it may be, is not the start of another.
    fn redzone(&self) -> u64 {
        quarantine::REDZONE
    }

    fn wants_stacks(&self) -> bool {
        true
    }

    fn on_launch(&self, launch: &LaunchView<'_>) {
        let (variant, reason) = match self.decide(launch) {
            Ok(decision) => (decision.variant.name(), decision.reason()),
            Err(refusal) => ("none", refusal.reason),
        };
        let protection = Protection { kernel: demangled(launch.kernel), variant, reason };
        let mut launches = self.launches.lock().unwrap_or_else(PoisonError::into_inner);
        let count = launches.entry(protection.clone()).or_default();
        *count += 1;
        let is_new = *count == 1;
        drop(launches);
        if variant == "none" && is_new && self.allows_unprotected {
            self.host.found(findings::unprotected(launch.kernel, &protection.reason, launch.stack));
        }
    }

    fn wants_version(&self, version: usize) -> bool {
        let is_asked_for = |pair: Pair| {
            let is_in_warp = !pair.has_log();
            let is_asked_for = (pair.exchange, pair.layout.distance()) == (self.exchange(), self.distance);
            pair.work == self.work
                && (is_asked_for || !is_in_warp)
                && self.variants.iter().any(|variant| variant.has(pair))
        };
        Pair::numbered(version).is_none_or(is_asked_for)
    }

    fn choose(&self, launch: &LaunchView<'_>) -> Result<usize, Refusal> {
        match self.decide(launch) {
            Ok(decision) => Ok(decision.version),
            Err(_) if self.allows_unprotected => Ok(ORIGINAL),
            Err(refusal) => Err(refusal),
        }
    }

    fn words(&self, launch: &LaunchView<'_>, version: &KernelVersion, words: &mut Words<'_>) {
        let [x, y, z] = launch.shape.block;
        let pair = version.choice.first().and_then(|version| Pair::numbered(*version));
        for (word, value) in [
            (BLOCK_X, x),
            (BLOCK_Y, y),
            (BLOCK_Z, z),
            (THREADS, threads(launch.shape.block)),
            (DYNAMIC_SHARED, launch.shape.dynamic_shared),
            (SHARED_DISTANCE, shared_distance(launch.shape.dynamic_shared)),
            (SLOTS, pair.map_or(0, |pair| pair.slots(launch.shape.dynamic_shared))),
        ] {
            words.set(word, value.into());
        }
        if pair.is_some_and(|pair| pair.layout == Layout::Blocks)
            && let Some(log) = LogMemory::new(&self.logs, &*self.host, &launch.shape)
        {
            words.set(LOG, log.address());
            words.set(LOG_ENTRIES, log.entries());
            words.set(REGIONS, log.regions.into());
            words.keep(log.kept());
        }
    }

    fn plan(&self, launch: &LaunchView<'_>) -> Option<Box<dyn Plan>> {
        let decision = self.decide(launch).ok()?;
        if let (Some(mismatches), Some(pair)) = (&self.mismatches, Pair::numbered(decision.version)) {
            return Some(Box::new(RecoverPlan {
                host: Arc::clone(&self.host),
                mismatches: Arc::clone(mismatches),
                kernel: launch.kernel.to_owned(),
                stack: launch.stack.clone(),
                version: decision.version,
                grid: launch.shape.grid,
                // Blocks that are twins draw their ids, so that none can run again alone.
                needs_snapshot: pair.is_in_place
                    || pair.layout == Layout::Blocks
                    || has_side_effects(launch, decision.version),
                runs_single_blocks: self.host.memory().remote().is_none(),
                stops_on_error: self.stops_on_error,
                progress: Progress::Begins,
                attempts: 0,
                found: Vec::new(),
            }));
        }
        (decision.variant == Variant::Kernel).then(|| {
            let run = || RunStep::version(KERNEL);
            let plan = KernelPlan {
                host: Arc::clone(&self.host),
                kernel: launch.kernel.to_owned(),
                stack: launch.stack.clone(),
                stops_on_error: self.stops_on_error,
                steps: vec![Step::Save, Step::Run(run()), Step::RunFromSaved(run()), Step::Compare].into_iter(),
            };
            Box::new(plan) as Box<dyn Plan>
        })
    }

    /// What differs is told apart.
    fn variant(&self, record: &Record) -> u64 {
        record.what.into()
    }

    fn record(&self, record: &Record, evidence: &Evidence<'_>) -> Option<Finding> {
        if let Some(mismatches) = &self.mismatches {
            mismatches.keep(record, evidence);
            return None;
        }
        Some(findings::of_twins(record, evidence))
    }

    fn failure(&self, record: &Record) -> Option<Failure> {
        if let Some(mismatches) = &self.mismatches {
            mismatches.add(record);
            return None;
        }
        Some(Failure::Uncorrectable)
    }

    fn finish(&self) {
        if !self.explains {
            return;
        }
        let launches = std::mem::take(&mut *self.launches.lock().unwrap_or_else(PoisonError::into_inner));
        for (Protection { kernel, variant, reason }, count) in launches {
            let row = Row::new(TOOL, "variants")
                .with("kernel", Cell::Text(kernel))
                .with("variant", Cell::Text(variant.to_owned()))
                .with("reason", Cell::Text(reason));
            self.host.row(row.with("launches", Cell::Count(count)));
        }
    }
}

impl Decision {
    /// Why a launch is protected in this way.
    fn reason(&self) -> String {
        let version = match Pair::numbered(self.version) {
            Some(Pair { layout: Layout::Warps, .. }) => "twins are in different warps",
            Some(Pair { layout: Layout::Blocks, .. }) => "twins are in different blocks",
            Some(Pair { is_in_place: true, .. }) => "twins meet around stores, because it may read what it writes",
            Some(_) => "it reads nothing that it writes",
            None => "what two runs leave behind is compared",
        };
        match &self.refusals[..] {
            [] => version.to_owned(),
            refusals => format!("{}; {version}", against(refusals)),
        }
    }
}

/// A launch that runs twice: from what was saved, both times.
#[derive(Debug)]
struct KernelPlan {
    host: Arc<dyn Host>,
    kernel: String,
    stack: HostStack,
    stops_on_error: bool,
    steps: std::vec::IntoIter<Step>,
}

impl Plan for KernelPlan {
    fn next(&mut self, last: &Outcome) -> Step {
        if let Outcome::Differs { object, offset, bytes } = last {
            self.host.found(findings::of_runs(&self.kernel, object, *offset, *bytes, &self.stack));
            if self.stops_on_error {
                return Step::Fail(Failure::Uncorrectable);
            }
        }
        self.steps.next().unwrap_or(Step::Done)
    }
}
