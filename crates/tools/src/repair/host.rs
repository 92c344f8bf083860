//! The tool in a process: how each launch gets the result of the serial order, and what is told of it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ptx::analysis::footprint::Footprint;
use report::{Cell, Finding, Row, demangled};
use rewrite::context::Record;
use rewrite::{KernelVersion, LaunchShape, Refusal};
use toolkit::{
    Accessed, AllocationKind, Evidence, Flag, FlagValue, Host, Instance, LaunchView, Object, Objects, Options, Plan,
    Plane, PlaneLayout, PlaneOf, SharedWords, Touched, Words, quarantine,
};

use super::findings::{self, Conflict};
use super::instrument::Kept;
use super::kernel_facts::KernelFacts;
use super::ledger::{Entry, Launches, Ledger, SERIAL};
use super::memory::LaunchMemory;
use super::plan::{CheckedPlan, Progress, SerialPlan};
use super::turn::Turns;
use super::unit::Unit;
use super::{
    ARENA, ARENA_BYTES, BLOCK, BLOCKS, CHECKED, COUNTS, DISTANCE, GRANULE, INTERVAL, LANE, LAUNCH, LIMIT, MEETING,
    MEETINGS, MOST_CONFLICTS, ONE_BY_ONE, ORIGINAL, PLANE, PROVED, PRUNED, SERIAL as SERIAL_ORDER, SHARED_DISTANCE,
    SHARED_GRANULE, SHARED_PLANE, TOOL, WARP, WINDOWS, WINDOWS_BYTES,
};

const HOW: Flag = Flag {
    name: "how",
    help: "auto: in parallel, and again one thread after another where threads conflict; serial: one thread after another",
    value: Some(FlagValue { name: "HOW", default: "auto", check: check_how }),
};

const UNIT: Flag = Flag {
    name: "unit",
    help: "What runs one after another: thread, warp; auto is thread, and leaves kernels that rely on the lockstep of a warp",
    value: Some(FlagValue { name: "UNIT", default: "auto", check: check_unit }),
};

const DETECT: Flag =
    Flag { name: "detect", help: "Find launches that are not as in the serial order, and repair nothing", value: None };

const EXPLAIN: Flag =
    Flag { name: "explain", help: "List how the launches of each kernel were run, and why in that way", value: None };

const ALLOW_UNREPAIRED: Flag = Flag {
    name: "allow-unrepaired",
    help: "Warn of kernels that cannot be repaired, instead of exit code 87",
    value: None,
};

const NO_PRUNE: Flag =
    Flag { name: "no-prune", help: "Check all accesses, also those whose order does not matter", value: None };

const ABLATE: Flag = Flag {
    name: "ablate",
    help: "Leave out work, to tell what it costs: nothing, snapshot, checks; nothing is repaired then",
    value: Some(FlagValue { name: "WORK", default: "nothing", check: check_work }),
};

pub(super) const FLAGS: &[Flag] = &[HOW, UNIT, DETECT, EXPLAIN, ALLOW_UNREPAIRED, Flag::NO_PROVE, NO_PRUNE, ABLATE];

/// What is asked for that a GPU cannot do: there, threads keep the serial order by themselves, and nothing is checked.
pub(super) fn needs_cpu(options: &Options) -> Option<&'static str> {
    if options.has(&DETECT) {
        Some("threads whose accesses are compared while they run beside each other (--detect)")
    } else if options.get(&UNIT) == Unit::Warp.name() {
        Some("lanes that run in lockstep (--unit warp)")
    } else if options.get(&ABLATE) != Work::All.name() {
        Some("checks that can be left out (--ablate)")
    } else {
        None
    }
}

fn check_how(name: &str) -> Result<(), String> {
    FlagValue::one_of(name, &["auto", "serial"])
}

fn check_unit(name: &str) -> Result<(), String> {
    FlagValue::one_of(name, &Unit::ALL.map(Unit::name))
}

fn check_work(name: &str) -> Result<(), String> {
    FlagValue::one_of(name, &Work::ALL.map(Work::name))
}

/// How much of the work is done, to tell what costs how much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Work {
    /// All of it.
    All,
    /// Launches are checked, and nothing is saved.
    NotSaved,
    /// What launches may write is saved, and they are not checked.
    NotChecked,
}

impl Work {
    const ALL: [Self; 3] = [Self::All, Self::NotSaved, Self::NotChecked];

    /// What is left out, as users name it.
    fn name(self) -> &'static str {
        match self {
            Self::All => "nothing",
            Self::NotSaved => "snapshot",
            Self::NotChecked => "checks",
        }
    }
}

/// The tool in a process.
#[derive(Debug)]
pub(super) struct RepairInstance {
    host: Arc<dyn Host>,
    /// Whether the device cannot be asked for an order.
    is_on_gpu: bool,
    options: Options,
    detects: bool,
    work: Work,
    unit: Unit,
    allows_unrepaired: bool,
    ledger: Arc<Ledger>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Turns below this were given out.
    given_out: u64,
    /// Those of the launch that is checked now.
    turns: Option<(Turns, LaunchShape)>,
    /// The records of memory, by the size of granules; and of shared memory.
    planes: [[Option<Box<dyn Plane>>; 2]; GRANULES],
    /// Where the blocks of a launch draw tickets, and count how many have ended, if they do.
    blocks: Option<Arc<dyn SharedWords>>,
    /// How the launch with a number runs.
    decided: Option<(u64, Result<Decision, Refusal>)>,
}

/// How a launch runs.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Decision {
    /// As the program has it, because all orders give the same.
    Proved,
    /// In parallel, and checked, in a version.
    Checked(usize),
    /// One thread after another, at once: why.
    Serial(String),
}

/// Bytes of shared memory that the turns of a block have at most, with what all tools need (`device.ptx`).
const TURNS_BYTES: u64 = 8 * 1024 + 64;
/// Bytes of shared memory that a block may have at most, as on compute capability 9.0.
const MOST_SHARED: u64 = 227 << 10;
/// Granules have 1, 2, 4 or 8 bytes.
const GRANULES: usize = 4;
/// Bytes of a record.
const RECORD: u64 = 8;
/// Bytes of the records of a granule: of its latest write, and in other thirds of the plane of its latest read and reduction.
const CELL: u64 = 3 * RECORD;

impl RepairInstance {
    pub(super) fn start(options: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        let is_on_gpu = host.memory().remote().is_some();
        if !is_on_gpu && host.shared_range().is_none() {
            return Err("the device does not say where shared memory is".to_owned());
        }
        Ok(Box::new(Self {
            host: Arc::clone(host),
            is_on_gpu,
            detects: options.has(&DETECT),
            work: Work::ALL.into_iter().find(|work| work.name() == options.get(&ABLATE)).unwrap_or(Work::All),
            unit: Unit::ALL.into_iter().find(|unit| unit.name() == options.get(&UNIT)).unwrap_or(Unit::Auto),
            allows_unrepaired: options.has(&ALLOW_UNREPAIRED),
            options: options.clone(),
            ledger: Arc::default(),
            state: Mutex::default(),
        }))
    }

    /// Whether launches run again in which threads conflict.
    fn repairs(&self) -> bool {
        !self.detects && self.work != Work::NotSaved
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How a launch runs. It is asked several times, and has one answer.
    fn decide(&self, launch: &LaunchView<'_>) -> Result<Decision, Refusal> {
        if let Some((number, decision)) = &self.state().decided
            && *number == launch.number
            && launch.number != 0
        {
            return decision.clone();
        }
        let decision = self.decide_now(launch);
        self.state().decided = Some((launch.number, decision.clone()));
        decision
    }

    /// What the check of a launch takes of memory.
    fn memory_of(&self, launch: &LaunchView<'_>, version: usize) -> LaunchMemory {
        let kept = kept(launch, version);
        kept.and_then(|kept| Some(LaunchMemory::of(launch, &self.host.objects(), kept, kept.kernel.as_ref()?)))
            .unwrap_or_default()
    }

    /// The version that keeps the serial order.
    fn serial_version(&self) -> usize {
        if self.is_on_gpu { ONE_BY_ONE } else { SERIAL_ORDER }
    }

    /// One thread after another, at once.
    fn serial(&self, why: &str) -> Result<Decision, Refusal> {
        if self.is_on_gpu && self.state().blocks(&*self.host).is_none() {
            return Err(Refusal::new(TOOL, "no-memory", "there is no memory in which its blocks could draw tickets"));
        }
        Ok(Decision::Serial(why.to_owned()))
    }

    fn decide_now(&self, launch: &LaunchView<'_>) -> Result<Decision, Refusal> {
        let refuse = |code, reason: &str| Err(Refusal::new(TOOL, code, reason));
        if launch.shape.is_cooperative {
            return refuse("cooperative", "its blocks wait for each other: it is a cooperative launch");
        }
        let refused = |version: usize| launch.refused.iter().find(|(choice, _)| choice.first() == Some(&version));
        if let Some((_, refusal)) = refused(self.serial_version()) {
            return Err(refusal.clone());
        }
        if self.options.get(&HOW) == "serial" {
            return self.serial("--how serial");
        }
        let facts = kept(launch, if self.is_on_gpu { ONE_BY_ONE } else { CHECKED });
        let facts = facts.and_then(|kept| kept.kernel.as_ref());
        let objects = self.host.objects();
        let is_proved = |footprint: &Footprint| footprint.races.is_proved() && footprint.bounds.is_proved();
        if !self.options.has(&Flag::NO_PROVE)
            && facts.is_some_and(|facts| !facts.has_ordered_atomics)
            && launch.footprint(&objects).is_some_and(|footprint| is_proved(&footprint))
        {
            return Ok(Decision::Proved);
        }
        if self.is_on_gpu {
            return self.serial("it is not proved that all orders give the same");
        }
        let serial = |reason: String| match self.detects {
            true => {
                Err(Refusal::new(TOOL, "not-detected", format!("{reason}, so it can only be run, and not checked")))
            }
            false => Ok(Decision::Serial(reason)),
        };
        if let Some((_, refusal)) = refused(CHECKED) {
            return serial(refusal.reason.clone());
        }
        let Some(facts) = facts else { return refuse("not-rewritten", "it could not be rewritten") };
        if launch.static_shared + u64::from(launch.shape.dynamic_shared) + TURNS_BYTES > MOST_SHARED {
            return serial("its shared memory leaves no room for the turns of threads".to_owned());
        }
        if turns_after(0, launch, facts, self.unit).is_none() {
            return serial("its grid has more blocks than there are turns".to_owned());
        }
        if !self.detects {
            if launch.order.is_some_and(|order| order.has_unordered_streams) {
                return serial("other streams may change what it would be restored to".to_owned());
            }
            if let Some(reason) = beyond_reach(launch, &objects) {
                return serial(reason);
            }
            if self.work == Work::All && self.ledger.will_conflict(&demangled(launch.kernel)) {
                return serial("its last launches had conflicts".to_owned());
            }
        }
        let pruned = kept(launch, PRUNED).and_then(|kept| kept.pruned.as_ref());
        let is_pruned = !self.options.has(&NO_PRUNE) && pruned.is_some_and(|pruned| pruned.holds(launch, &objects));
        Ok(Decision::Checked(if is_pruned { PRUNED } else { CHECKED }))
    }
}

/// What is known of a kernel, in one of its versions.
fn kept<'a>(launch: &LaunchView<'a>, version: usize) -> Option<&'a Kept> {
    launch.versions.iter().find(|found| found.choice.first() == Some(&version))?.state::<Kept>(TOOL)
}

/// The turns of a launch, after those that were given out.
fn turns_after(given_out: u64, launch: &LaunchView<'_>, facts: &KernelFacts, unit: Unit) -> Option<Turns> {
    Turns::after(given_out, &launch.shape, facts.has_barriers, facts.has_meetings, unit.is_by_lane())
}

/// Why what a launch may write cannot be checked or restored, if so.
fn beyond_reach(launch: &LaunchView<'_>, objects: &Objects) -> Option<String> {
    let why = |object: &Object| {
        let name = object.described().name;
        match object.kind {
            AllocationKind::Managed | AllocationKind::Pinned | AllocationKind::Registered => {
                Some(format!("it may write {name}, which the host sees"))
            }
            _ if object.kind.is_outside() => Some(format!("it may write {name}, which has no records")),
            _ => None,
        }
    };
    match kept(launch, CHECKED)?.written.as_ref()? {
        Touched::Anything => objects.find(|object| why(object).is_some()).and_then(why),
        Touched::Only(written) => written.iter().find_map(|accessed| match accessed {
            Accessed::Variable(_) => None,
            Accessed::Param { param, offset } => why(objects.pointed_to(launch.pointer(*param, *offset)?)?),
        }),
    }
}

impl State {
    /// Gives a launch its turns.
    fn begin(&mut self, launch: &LaunchView<'_>, facts: &KernelFacts, unit: Unit) -> Turns {
        let turns = turns_after(self.given_out, launch, facts, unit).unwrap_or_else(|| {
            // They are used up: what was recorded is forgotten, and they begin anew.
            self.planes.iter().flatten().flatten().for_each(|plane| plane.fill(0, u64::MAX, 0));
            turns_after(0, launch, facts, unit).expect("a launch that is checked has turns")
        });
        self.given_out = turns.end(&launch.shape);
        self.turns = Some((turns, launch.shape));
        turns
    }

    /// Where blocks draw tickets; nothing if there is no memory for it.
    fn blocks(&mut self, host: &dyn Host) -> Option<Arc<dyn SharedWords>> {
        if self.blocks.is_none() {
            self.blocks = host.words(1).ok();
        }
        self.blocks.clone()
    }

    /// Where the records of granules of a size are.
    fn plane(&mut self, host: &dyn Host, granule: u32, of: PlaneOf) -> u64 {
        let plane = &mut self.planes[granule as usize][usize::from(of == PlaneOf::Shared)];
        if plane.is_none() {
            *plane = host.plane(PlaneLayout { of, granule: 1 << granule, cell: CELL, common: 0 }).ok();
        }
        plane.as_ref().map_or(0, |plane| plane.address())
    }
}

impl Decision {
    /// In a word, and why.
    fn words(&self) -> (&'static str, String) {
        match self {
            Self::Proved => ("proved", "all orders give the same".to_owned()),
            Self::Checked(_) => ("checked", "it is not proved that all orders give the same".to_owned()),
            Self::Serial(reason) => (SERIAL, reason.clone()),
        }
    }
}

impl Instance for RepairInstance {
    /// So that the end of one object, which a pointer into it may be, is not the start of another.
    fn redzone(&self) -> u64 {
        quarantine::REDZONE
    }

    fn wants_stacks(&self) -> bool {
        true
    }

    fn wants_order(&self) -> bool {
        true
    }

    fn wants_version(&self, version: usize) -> bool {
        match version {
            ORIGINAL | PROVED => true,
            ONE_BY_ONE => self.is_on_gpu,
            _ => !self.is_on_gpu,
        }
    }

    fn choose(&self, launch: &LaunchView<'_>) -> Result<usize, Refusal> {
        match self.decide(launch) {
            Ok(Decision::Checked(_)) if self.work == Work::NotChecked => Ok(ORIGINAL),
            Ok(Decision::Checked(version)) => Ok(version),
            Ok(Decision::Proved) => Ok(PROVED),
            Ok(Decision::Serial(_)) => Ok(self.serial_version()),
            Err(_) if self.allows_unrepaired => Ok(ORIGINAL),
            Err(refusal) => Err(refusal),
        }
    }

    fn on_launch(&self, launch: &LaunchView<'_>) {
        let Err(refusal) = self.decide(launch) else { return };
        let entry = Entry { kernel: demangled(launch.kernel), how: "unrepaired", why: refusal.reason.clone() };
        if self.ledger.add(&entry, false, 0, LaunchMemory::default()) == 1 && self.allows_unrepaired {
            self.host.found(findings::unrepaired(launch.kernel, &refusal.reason, launch.stack));
        }
    }

    fn most_workers(&self, launch: &LaunchView<'_>, _: Option<usize>) -> Option<u32> {
        (self.decide(launch).ok()? != Decision::Proved).then_some(1)
    }

    fn words(&self, launch: &LaunchView<'_>, version: &KernelVersion, words: &mut Words<'_>) {
        if self.is_on_gpu {
            // No other launch runs meanwhile.
            if let Some(blocks) = self.state().blocks(&*self.host) {
                blocks.words().iter().for_each(|word| word.store(0, Ordering::Relaxed));
                words.set(BLOCKS, blocks.address());
            }
            return;
        }
        let Some(facts) = version.state::<Kept>(TOOL).and_then(|kept| kept.kernel.as_ref()) else { return };
        let (arena, arena_bytes) = self.host.memory().range();
        let (windows, windows_bytes) = self.host.shared_range().unwrap_or_default();
        let mut state = self.state();
        let turns = state.begin(launch, facts, self.unit);
        let [global, shared] = facts.granules();
        for (word, value) in [
            (ARENA, arena),
            (ARENA_BYTES, arena_bytes),
            (PLANE, state.plane(&*self.host, global, PlaneOf::Global)),
            (DISTANCE, (arena_bytes >> global) * RECORD),
            (GRANULE, global.into()),
            (WINDOWS, windows),
            (WINDOWS_BYTES, windows_bytes),
            (SHARED_PLANE, state.plane(&*self.host, shared, PlaneOf::Shared)),
            (SHARED_DISTANCE, (windows_bytes >> shared) * RECORD),
            (SHARED_GRANULE, shared.into()),
            (LAUNCH, turns.first),
            (BLOCK, turns.block),
            (INTERVAL, turns.interval()),
            (WARP, turns.warp()),
            (LANE, turns.lane()),
            (MEETING, turns.meeting()),
            (MEETINGS, turns.meetings()),
            (COUNTS, self.ledger.counts.address()),
            (LIMIT, if self.repairs() { MOST_CONFLICTS } else { u64::MAX }),
        ] {
            words.set(word, value);
        }
    }

    fn plan(&self, launch: &LaunchView<'_>) -> Option<Box<dyn Plan>> {
        let decision = self.decide(launch).ok()?;
        let (how, why) = decision.words();
        let entry = Entry { kernel: demangled(launch.kernel), how, why };
        let Decision::Checked(version) = decision else {
            self.ledger.add(&entry, false, 0, LaunchMemory::default());
            let is_planned = decision != Decision::Proved && !self.is_on_gpu;
            return is_planned.then(|| Box::new(SerialPlan::new(self.unit)) as Box<dyn Plan>);
        };
        Some(Box::new(CheckedPlan {
            ledger: Arc::clone(&self.ledger),
            entry,
            version: if self.work == Work::NotChecked { ORIGINAL } else { version },
            repairs: self.repairs(),
            unit: self.unit,
            allows_unrepaired: self.allows_unrepaired,
            progress: Progress::Begins,
            memory: self.memory_of(launch, version),
        }))
    }

    /// What conflicted is told apart by both places.
    fn variant(&self, record: &Record) -> u64 {
        let flags = super::OTHER_READS | super::TOGETHER;
        record.other & u64::from(super::turn::SITES) | u64::from(record.what & flags) << 16
    }

    fn record(&self, record: &Record, evidence: &Evidence<'_>) -> Option<Finding> {
        let (turns, shape) = self.state().turns?;
        let other = turns.recorded(record.other, &shape)?;
        let is_shared = !self.host.memory().contains(record.address);
        let object = self.host.objects().at(record.address, Some(evidence.when), || false);
        let conflict = Conflict {
            record,
            evidence,
            other,
            object: (!is_shared).then_some(object),
            is_shared,
            is_detected_only: self.detects,
            relies_on_lockstep: self.ledger.counts.tell_of_lockstep() && self.unit == Unit::Auto,
        };
        conflict.finding()
    }

    fn finish(&self) {
        if !self.options.has(&EXPLAIN) {
            return;
        }
        for (Entry { kernel, how, why }, Launches { count, again, conflicts, memory }) in self.ledger.take() {
            let row = Row::new(TOOL, "kernels")
                .with("kernel", Cell::Text(kernel))
                .with("how", Cell::Text(how.to_owned()))
                .with("why", Cell::Text(why))
                .with("launches", Cell::Count(count))
                .with("again", Cell::Count(again));
            let row = row.with("conflicts", Cell::Count(conflicts));
            self.host.row(row.with("memory", Cell::Most(memory.ours)).with("arcav", Cell::Most(memory.arcav)));
        }
    }
}
