//! A launch with trials: each begins from the memory that the launch found, and is compared with what a run without a fault
//! leaves. Then the launch takes place as the program asked for it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use report::{Cell, Exit, Row, thread_name};
use rewrite::Refusal;
use toolkit::{
    ChildEnd, ForkStep, Forked, Host, LaunchStep, LaunchView, Outcome as StepOutcome, Plan, RunStep, SharedWords, Step,
    TrialEnd, Tried,
};

use super::TOOL;
use super::arm::{Arm, Arms, MOST_ARMED, MOST_TRACED};
use super::lanes::{FP64, UNITS};
use super::loops;
use super::model::{Model, Operation};
use super::outcome::Outcome;
use super::population::Threads;
use super::prints;
use super::register::register_number;
use super::register_file::Cell as RegisterCell;
use super::shared::{Armed, Campaign, Counted, LaneFault, Shared, Struck, Trial, counted};
use super::version::{PLAIN, PROFILE};

/// A budget of instructions that is no limit: they are counted.
const COUNTED: Option<u64> = Some(u64::MAX);
/// So many instructions more than a thread should execute are no sign of anything.
const SLACK: u64 = 10_000;
/// A GPU has other work, too: a launch that takes no longer is no sign of anything.
const LEAST_LIMIT: Duration = Duration::from_secs(10);
/// What is said if the device has no memory for the tool.
const NO_MEMORY: &str = "there is no memory in which its threads could count";
/// What is said of a fault that cannot strike where it should.
const NOT_FOUND: &str = "the place could not be found again";
/// More threads are not counted.
const MOST_THREADS: u64 = 1 << 26;

/// As many threads as a launch has.
fn threads_of(launch: &LaunchView<'_>) -> u64 {
    product(launch.shape.grid).saturating_mul(product(launch.shape.block))
}

/// As many as it may have if a tool doubles them, and fills the warps of each copy up.
fn most_threads_of(launch: &LaunchView<'_>) -> u64 {
    let block = product(launch.shape.block).saturating_add(32).saturating_mul(2);
    product(launch.shape.grid).saturating_mul(block)
}

fn product(sizes: [u32; 3]) -> u64 {
    sizes.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul)
}

/// A launch in which places are counted.
#[derive(Debug)]
pub(super) struct ProfilePlan {
    host: Arc<dyn Host>,
    shared: Arc<Shared>,
    model: Model,
    kernel: String,
    number: u64,
    threads: u64,
    counts: Option<Arc<dyn SharedWords>>,
    /// Why its places are not counted.
    refusal: Option<Refusal>,
    is_over: bool,
}

impl ProfilePlan {
    pub(super) fn new(host: &Arc<dyn Host>, shared: &Arc<Shared>, model: Model, launch: &LaunchView<'_>) -> Self {
        let (host, shared) = (Arc::clone(host), Arc::clone(shared));
        let threads = if model.needs_protection() { most_threads_of(launch) } else { threads_of(launch) };
        let (kernel, number) = (launch.kernel.to_owned(), launch.number);
        let refusal = refusal(&*host, launch);
        Self { host, shared, model, kernel, number, threads, counts: None, refusal, is_over: false }
    }

    /// Places are not counted, so that no fault strikes the launch, which takes place as the program asked for it.
    fn refuse(&mut self, code: &'static str, reason: &str) -> Step {
        (self.is_over, self.refusal) = (true, Some(Refusal::new(TOOL, code, reason)));
        Step::Launch(as_asked_for())
    }
}

impl Plan for ProfilePlan {
    fn next(&mut self, last: &StepOutcome) -> Step {
        if self.is_over {
            return self.refusal.take().map_or(Step::Done, Step::Refuse);
        }
        match self.counts.take() {
            None if self.threads > MOST_THREADS || self.refusal.is_some() => {
                self.is_over = true;
                Step::Launch(as_asked_for())
            }
            None => {
                match self.shared.count(&*self.host, self.model.stratum(), self.threads) {
                    Ok(counts) => self.counts = Some(counts),
                    Err(_) => return self.refuse("no-memory", NO_MEMORY),
                }
                let is_changed = self.model.needs_protection();
                Step::Launch(LaunchStep { version: PROFILE, is_changed, ..as_asked_for() })
            }
            Some(counts) => {
                self.shared.disarm();
                if let StepOutcome::NotRun(reason) = last {
                    return self.refuse("not-counted", reason);
                }
                let places: u64 = counted(&*counts).map(|counted| u64::from(counted.places)).sum();
                let row = Row::new(TOOL, "launches")
                    .with("launch", Cell::Number(self.number))
                    .with("kernel", Cell::Text(self.kernel.clone()))
                    .with("threads", Cell::Number(self.threads));
                self.host.row(row.with("places", Cell::Count(places)));
                Step::Done
            }
        }
    }

    /// What another tool makes of the kernel may run it several times.
    fn is_undone(&self) -> bool {
        self.model.needs_protection() && self.refusal.is_none()
    }

    fn survives_refusals(&self) -> bool {
        self.counts.is_some()
    }
}

/// Why no fault is tried in a launch, if none is.
fn refusal(host: &dyn Host, launch: &LaunchView<'_>) -> Option<Refusal> {
    let is_refused = is_on_gpu(host) && prints::may_print(launch.module, launch.kernel);
    is_refused.then(|| Refusal::new(TOOL, "prints", "it prints, and what a GPU prints cannot be taken back"))
}

/// Whether kernels can neither be confined nor ended.
fn is_on_gpu(host: &dyn Host) -> bool {
    host.memory().remote().is_some()
}

/// The launch as the program asked for it, with what other tools make of it.
fn as_asked_for() -> LaunchStep {
    LaunchStep {
        version: PLAIN,
        is_changed: true,
        is_trial: false,
        is_confined: false,
        budget: None,
        limit: None,
        flipped: None,
        is_kept: false,
    }
}

/// What is known of the kernel as it is, or of what other tools make of it.
#[derive(Debug)]
struct Profile {
    /// The places of the threads of the device.
    threads: Threads,
    /// The threads of the device that each of them is, in the order of the program's.
    copies: Vec<(u32, u32)>,
    /// How many threads a block of the device has.
    block: u64,
    /// How many instructions a thread may execute.
    budget: u64,
    /// How long a launch may take that cannot be ended otherwise.
    limit: Duration,
}

impl Profile {
    fn new(counts: &dyn SharedWords, tried: &Tried, patience: u64, is_protected: bool) -> Self {
        let all: Vec<Counted> = counted(counts).collect();
        let mut copies = Vec::new();
        if is_protected {
            let busy = all.iter().enumerate().filter(|(_, counted)| counted.places > 0);
            copies.extend(busy.map(|(thread, counted)| (counted.program_thread, thread as u32)));
            copies.sort_unstable();
        }
        let sum: u64 = all.iter().map(|counted| u64::from(counted.instructions)).sum();
        let most = all.iter().map(|counted| u64::from(counted.instructions)).max().unwrap_or(0);
        // What is counted here is not all that the device counts, but nearly.
        let of_thread = (u128::from(tried.instructions) * u128::from(most) / u128::from(sum.max(1))) as u64;
        Self {
            threads: Threads::new(all.iter().map(|counted| counted.places)),
            copies,
            block: all.iter().map(|counted| u64::from(counted.block)).max().unwrap_or(1).max(1),
            budget: of_thread.saturating_mul(patience).saturating_add(SLACK),
            limit: tried.took.saturating_mul(u32::try_from(patience).unwrap_or(u32::MAX)).max(LEAST_LIMIT),
        }
    }
}

/// What is done next, and what its outcome is for.
#[derive(Debug)]
enum Task {
    Do(Step),
    Profile {
        is_protected: bool,
    },
    /// A trial is prepared by a run in which nothing is struck.
    Resolve {
        is_protected: bool,
    },
    Strike {
        is_protected: bool,
    },
    /// The rest of the program, with the fault of the trial, in a process of its own. It goes on with what the trial has left behind,
    /// or else begins with the launch.
    Follow {
        is_after: bool,
    },
    /// The next trial.
    Begin,
    /// The launch itself.
    Last,
}

/// Which run the last step was.
#[derive(Debug)]
enum Doing {
    Nothing,
    Profile { is_protected: bool, counts: Arc<dyn SharedWords> },
    Resolve { is_protected: bool, arms: Arc<Arms> },
    Strike { is_protected: bool, arms: Option<Arc<Arms>> },
    Follow { is_after: bool },
}

/// The trial that is under way.
#[derive(Debug)]
struct Current {
    trial: Trial,
    /// The thread of the program, and the number of its place.
    thread: u64,
    index: u64,
    random: u64,
    /// A number that says which copy of the thread is hit.
    copy: u64,
    /// The site and how often it was passed before, for all lanes of a warp.
    site: Option<(u32, u64)>,
    /// The register with the fault: its number in its function, the function of the version, and the bit.
    register: Option<(ptx::ir::Reg, u32, u32)>,
    /// A thread did not come to the place.
    is_missed: bool,
    lanes: Option<LaneFault>,
    flipped: Option<(u64, u8)>,
    struck: Option<Struck>,
    alone: Option<(Outcome, String)>,
    /// Whether memory is as the program finds it that goes on with the fault.
    is_kept: bool,
}

/// What is told of a trial.
#[derive(Default)]
struct Told {
    trial: u64,
    thread: String,
    file: String,
    line: u32,
    ptx_line: u32,
    instruction: String,
    bit: u32,
    before: String,
    after: String,
    thread_number: u64,
    place: u64,
    outcome: &'static str,
    note: String,
    protected: &'static str,
    protected_note: String,
}

/// A launch with trials.
#[derive(Debug)]
pub(super) struct TrialPlan {
    host: Arc<dyn Host>,
    shared: Arc<Shared>,
    campaign: Campaign,
    kernel: String,
    launch: u64,
    threads: u64,
    most_threads: u64,
    units: Vec<u32>,
    is_on_gpu: bool,
    /// Whether the device was lost with a trial: it does nothing more for this process.
    is_lost: bool,
    /// Whether a thread may execute more instructions than the kernel has: as it is, and as other tools have it.
    has_loops: [bool; 2],
    trials: VecDeque<Trial>,
    tasks: VecDeque<Task>,
    doing: Doing,
    alone: Option<Profile>,
    protected: Option<Profile>,
    current: Option<Current>,
    refusal: Option<Refusal>,
}

impl TrialPlan {
    pub(super) fn new(
        host: &Arc<dyn Host>,
        shared: &Arc<Shared>,
        campaign: Campaign,
        launch: &LaunchView<'_>,
        trials: Vec<Trial>,
        units: Vec<u32>,
    ) -> Self {
        let original = RunStep { version: None, ..RunStep::version(PLAIN) };
        let first = [Step::Checkpoint, Step::Run(original), Step::Reference, Step::Rewind];
        let mut tasks: VecDeque<Task> = first.into_iter().map(Task::Do).collect();
        let is_tried_alone = !campaign.model.needs_protection();
        for (is_protected, is_tried) in [(false, is_tried_alone), (true, campaign.is_protected)] {
            if is_tried {
                tasks.push_back(Task::Profile { is_protected });
                tasks.push_back(Task::Do(Step::Rewind));
            }
        }
        tasks.push_back(Task::Begin);
        // Which version other tools will choose is not known here.
        let has_loops = [
            loops::have_loops(launch.module, [launch.kernel]),
            campaign.is_protected
                && loops::have_loops(launch.module, launch.versions.iter().map(|version| version.symbol.as_str())),
        ];
        let mut plan = Self {
            host: Arc::clone(host),
            shared: Arc::clone(shared),
            campaign,
            kernel: launch.kernel.to_owned(),
            launch: launch.number,
            threads: threads_of(launch),
            most_threads: most_threads_of(launch),
            units,
            is_on_gpu: is_on_gpu(&**host),
            is_lost: false,
            has_loops,
            trials: trials.into(),
            tasks,
            doing: Doing::Nothing,
            alone: None,
            protected: None,
            current: None,
            refusal: None,
        };
        if let Some(refusal) = refusal(&**host, launch) {
            plan.refuse(refusal);
        }
        plan
    }

    /// No trial of the launch counts.
    fn refuse(&mut self, refusal: Refusal) {
        self.tasks = [Task::Do(Step::Rewind), Task::Last].into();
        for trial in std::mem::take(&mut self.trials) {
            self.tell_invalid(&trial, &refusal.reason);
        }
        self.refusal = Some(refusal);
    }

    fn profile(&self, is_protected: bool) -> &Profile {
        let profile = if is_protected { &self.protected } else { &self.alone };
        profile.as_ref().expect("threads are counted before trials")
    }

    /// The last step has ended.
    fn ended(&mut self, outcome: &StepOutcome) {
        let tried = match outcome {
            StepOutcome::Tried(tried) => tried,
            StepOutcome::Forked(forked) => return self.forked(forked),
            _ => return,
        };
        match std::mem::replace(&mut self.doing, Doing::Nothing) {
            Doing::Nothing | Doing::Follow { .. } => {}
            Doing::Profile { is_protected, counts } => self.profiled(is_protected, &*counts, tried),
            Doing::Resolve { is_protected, .. } if tried.is_lost => self.lost_without_fault(is_protected),
            Doing::Resolve { is_protected, arms } => self.resolved(is_protected, &arms),
            Doing::Strike { is_protected, arms } => self.has_struck(is_protected, arms.as_deref(), tried),
        }
        self.shared.disarm();
    }

    fn profiled(&mut self, is_protected: bool, counts: &dyn SharedWords, tried: &Tried) {
        match &tried.end {
            TrialEnd::Done if tried.difference.is_none() && !tried.prints_differ && tried.findings == 0 => {}
            TrialEnd::NotRun(reason) => return self.refuse(Refusal::new(TOOL, "not-tried", reason.clone())),
            _ => {
                let reason = "two runs of it, without faults, did not do the same: it depends on an order, or on memory that \
                              it does not initialise";
                return self.refuse(Refusal::new(TOOL, "not-repeatable", reason));
            }
        }
        let profile = Profile::new(counts, tried, self.campaign.patience, is_protected);
        *(if is_protected { &mut self.protected } else { &mut self.alone }) = Some(profile);
    }

    /// Begins the next trial.
    fn begin(&mut self) {
        let Some(mut trial) = self.trials.pop_front() else {
            self.tasks.push_back(Task::Last);
            return;
        };
        let needs_protection = self.campaign.model.needs_protection();
        let found = self.profile(needs_protection).threads.find(trial.place);
        let Some((thread, index)) = found else {
            self.tell_invalid(&trial, "the launch has fewer places than it had when they were counted");
            self.tasks.push_front(Task::Begin);
            return;
        };
        let (random, copy) = (trial.numbers.next(), trial.numbers.next());
        let model = self.campaign.model;
        let lanes = matches!(model, Model::StuckLane | Model::Permanent).then(|| self.lane_fault(&mut trial));
        let flipped = (model == Model::MemoryCell).then(|| self.memory_cell(&mut trial)).flatten();
        self.current = Some(Current {
            trial,
            thread,
            index,
            random,
            copy,
            site: None,
            register: None,
            is_missed: false,
            lanes,
            flipped,
            struck: None,
            alone: None,
            is_kept: false,
        });
        if !self.campaign.is_alone_known {
            return self.attempt(needs_protection);
        }
        if self.is_resolved_by_run() {
            self.tasks.push_back(Task::Resolve { is_protected: false });
            self.tasks.push_back(Task::Do(Step::Rewind));
        }
        self.attempt_protected();
    }

    /// The runs of the trial in the kernel as other tools have it.
    fn attempt_protected(&mut self) {
        match self.needs_no_arm() || self.target(true).is_some() {
            true => self.attempt(true),
            false => self.finish(Some((Outcome::Invalid, NOT_FOUND.to_owned()))),
        }
    }

    /// Whether no thread is armed for a fault.
    fn needs_no_arm(&self) -> bool {
        matches!(self.campaign.model, Model::MemoryCell | Model::StuckLane | Model::Permanent)
    }

    /// The runs of the trial in the kernel as it is, or as other tools have it.
    fn attempt(&mut self, is_protected: bool) {
        if self.is_resolved_by_run() {
            self.tasks.push_back(Task::Resolve { is_protected });
            self.tasks.push_back(Task::Do(Step::Rewind));
        }
        self.tasks.push_back(Task::Strike { is_protected });
        self.tasks.push_back(Task::Do(Step::Rewind));
    }

    /// Whether a run without a fault says where it strikes.
    fn is_resolved_by_run(&self) -> bool {
        matches!(self.campaign.model, Model::WarpWide | Model::RegisterFile)
    }

    /// A fault of some lanes that stays.
    fn lane_fault(&self, trial: &mut Trial) -> LaneFault {
        let numbers = &mut trial.numbers;
        let unit = self.units.get(numbers.below(self.units.len().max(1) as u64) as usize).copied().unwrap_or(0);
        let bit = 1_u64 << numbers.below(if unit == FP64 { 64 } else { 32 });
        let is_stuck = self.campaign.model == Model::StuckLane;
        // Units of 16 lanes compute a warp in two steps, so a unit that is stuck is in two lanes.
        let bits_of_lane = if is_stuck { 15 } else { 31 };
        let lane = numbers.below(u64::from(bits_of_lane) + 1) as u32;
        let (keeps, toggles) = match (is_stuck, numbers.below(2)) {
            (true, 0) => (!bit, 0),
            (true, _) => (!bit, bit),
            (false, _) => (u64::MAX, bit),
        };
        LaneFault { lane, bits_of_lane, unit, keeps, toggles }
    }

    /// A bit of memory, of all objects on the device.
    fn memory_cell(&self, trial: &mut Trial) -> Option<(u64, u8)> {
        let memory = self.host.memory();
        let mut objects = self.host.objects().all();
        objects.retain(|(start, ..)| memory.contains(*start));
        let total: u64 = objects.iter().map(|(_, bytes, _)| bytes).sum();
        let mut byte = trial.numbers.below(total);
        let bit = 1 << trial.numbers.below(8);
        for (start, bytes, _) in objects {
            if byte < bytes {
                return Some((start + byte, bit));
            }
            byte -= bytes;
        }
        None
    }

    /// The thread of the device that is hit, and the number of its place; nothing if it cannot be told which that is.
    fn target(&self, is_protected: bool) -> Option<(u64, u64)> {
        let current = self.current.as_ref()?;
        if !is_protected || self.campaign.model.needs_protection() {
            return Some((current.thread, current.index));
        }
        let (alone, protected) = (self.profile(false), self.profile(true));
        let program_thread = current.thread as u32;
        let first = protected.copies.partition_point(|(of, _)| *of < program_thread);
        let copies = protected.copies[first..].partition_point(|(of, _)| *of == program_thread);
        let chosen = ((u128::from(current.copy) * copies as u128) >> 64) as usize;
        let thread = u64::from(protected.copies[first..first + copies].get(chosen)?.1);
        // Copies do what the thread does, in the same order; else places cannot be told by their numbers.
        let is_same = protected.threads.of(thread) == alone.threads.of(current.thread);
        is_same.then_some((thread, current.index))
    }

    /// What the threads of the next run are told; nothing if the trial cannot take place.
    fn arms(&self, is_protected: bool, resolves: bool) -> Option<(u64, u64, Arm)> {
        let (thread, index) = self.target(is_protected)?;
        let current = self.current.as_ref()?;
        let model = self.campaign.model;
        let operation = if resolves { Operation::None } else { model.operation() };
        let mut arm = Arm::at(index, model.stratum().bit(), operation as u64, current.random);
        if resolves {
            let wants_trace = model == Model::WarpWide;
            arm.traced = if wants_trace { index + 1 } else { 0 };
            return (arm.traced <= MOST_TRACED).then_some((thread, 1, arm));
        }
        if let Some((reg, func, bit)) = current.register {
            (arm.register, arm.random) = (Some(register_number(func, reg)), bit.into());
        }
        let Some((site, passed)) = current.site else { return Some((thread, 1, arm)) };
        (arm.site, arm.index) = (site.into(), passed);
        let block = self.profile(is_protected).block;
        let (first_of_block, in_block) = (thread / block * block, thread % block);
        let first = in_block / MOST_ARMED as u64 * MOST_ARMED as u64;
        Some((first_of_block + first, (block - first).min(MOST_ARMED as u64), arm))
    }

    /// Begins a run of a trial.
    fn run(&mut self, is_protected: bool, resolves: bool) -> Step {
        let model = self.campaign.model;
        let flipped = self.current.as_ref().and_then(|current| current.flipped);
        let lanes = self.current.as_ref().and_then(|current| current.lanes);
        let mut arms = None;
        if let Some(fault) = lanes {
            self.shared.arm(Armed::Lanes(fault));
        } else if model != Model::MemoryCell
            && let Some((first, count, arm)) = self.arms(is_protected, resolves)
            && let Ok(made) = Arms::new(&*self.host, &arm)
        {
            let made = Arc::new(made);
            self.shared.arm(Armed::Threads { first, count, arms: Arc::clone(&made) });
            arms = Some(made);
        }
        self.doing = match (resolves, &arms) {
            (true, Some(arms)) => Doing::Resolve { is_protected, arms: Arc::clone(arms) },
            _ => Doing::Strike { is_protected, arms },
        };
        let profile = self.profile(is_protected);
        Step::Launch(LaunchStep {
            version: model.version(),
            is_changed: is_protected,
            is_trial: true,
            is_confined: !self.is_on_gpu,
            budget: self.is_budgeted(is_protected).then_some(profile.budget),
            limit: self.is_on_gpu.then_some(profile.limit),
            flipped,
            is_kept: !resolves && self.is_kept(),
        })
    }

    /// Whether the program can go on with what a trial leaves behind, in a copy of the process. Not if other tools have their part in
    /// the launch, or if something else is struck than what the kernel does.
    fn is_kept(&self) -> bool {
        let is_followed = self.campaign.follows.is_some() && !self.shared.state().cannot_fork;
        is_followed && !self.is_on_gpu && !self.campaign.is_protected && self.campaign.model != Model::MemoryCell
    }

    /// Whether a launch is ended if a thread executes more instructions than it should.
    fn is_budgeted(&self, is_protected: bool) -> bool {
        !self.is_on_gpu && self.has_loops[usize::from(is_protected)]
    }

    /// It is known where the fault strikes.
    fn resolved(&mut self, is_protected: bool, arms: &Arms) {
        let struck = self.shared.struck();
        let Some(current) = &mut self.current else { return };
        match self.campaign.model {
            Model::WarpWide => {
                let sites = arms.sites();
                let site = struck.as_ref().map(|struck| struck.site);
                let passed =
                    sites.split_last().map_or(0, |(last, before)| before.iter().filter(|&site| site == last).count());
                current.site = site.map(|site| (site, passed as u64));
            }
            _ => {
                let Some(struck) = struck else {
                    current.is_missed = true;
                    return;
                };
                // In the protected kernel it is the register that it was in the kernel as it is.
                if is_protected {
                    current.register = current.register.map(|(reg, _, bit)| (reg, struck.func, bit));
                    return;
                }
                let Some(file) = &struck.registers else { return };
                let bit = ((u128::from(current.random) * u128::from(file.bits)) >> 64) as u64;
                match file.cell(bit) {
                    RegisterCell::Register(reg, bit) => current.register = Some((reg, struck.func, bit)),
                    RegisterCell::Unused => {
                        current.struck = Some(Struck { bit: 0, before: 0, after: 0, ..struck });
                        current.alone = Some((Outcome::NeverRead, "the place holds nothing".to_owned()));
                        self.tasks = [Task::Do(Step::Rewind)].into();
                        self.finish(None);
                    }
                }
            }
        }
    }

    /// The device was lost in a run in which nothing is struck.
    fn lost_without_fault(&mut self, is_protected: bool) {
        self.is_lost = true;
        let invalid = (Outcome::Invalid, "a run without a fault did not end as it should".to_owned());
        match (is_protected, &mut self.current) {
            (false, Some(current)) => {
                current.alone = Some(invalid);
                self.finish(None);
            }
            _ => self.finish(Some(invalid)),
        }
    }

    /// A run of a trial has ended.
    fn has_struck(&mut self, is_protected: bool, arms: Option<&Arms>, tried: &Tried) {
        let struck = self.shared.struck();
        let fired = arms.map_or(0, Arms::fired);
        let model = self.campaign.model;
        let needs_no_arm = self.needs_no_arm();
        self.is_lost = tried.is_lost;
        // What tools find in a trial nobody is told; in a copy of the process they are counted.
        let is_kept = self.is_kept() && tried.findings == 0;
        let Some(current) = &mut self.current else { return };
        let (mut outcome, mut note) = Outcome::of(tried, needs_no_arm || fired > 0);
        // A register may never be read again.
        let is_resolved = model == Model::RegisterFile && arms.is_some() && !current.is_missed;
        let is_reached = needs_no_arm || fired > 0 || is_resolved;
        // What did not run has a reason of its own.
        if !is_reached && outcome != Outcome::Invalid {
            (outcome, note) = (Outcome::Invalid, NOT_FOUND.to_owned());
        }
        if fired > 1 {
            note = format!("{fired} lanes{}{note}", if note.is_empty() { "" } else { "; " });
        }
        if current.struck.is_none() {
            current.struck = struck;
        }
        current.is_kept = is_kept;
        if model.needs_protection() {
            current.alone = Some((outcome, note));
            return self.finish(None);
        }
        if is_protected {
            return self.finish(Some((outcome, note)));
        }
        current.alone = Some((outcome, note));
        let is_tried_again = match outcome {
            Outcome::Corruption => true,
            Outcome::Invalid => self.campaign.stays,
            _ => self.campaign.stays || self.campaign.always,
        };
        if !self.campaign.is_protected || !is_tried_again || self.is_lost {
            self.finish(None);
        } else {
            self.attempt_protected();
        }
    }

    /// The trial is over: it is told, and the next one begins.
    fn finish(&mut self, protected: Option<(Outcome, String)>) {
        let Some(current) = &self.current else { return };
        let (alone, note) = current.alone.clone().unwrap_or((Outcome::Invalid, String::new()));
        let struck = current.struck.as_ref();
        let place = struck.map(|struck| &struck.place);
        let line = place.and_then(|place| place.lines.first());
        let what = match (current.lanes, current.flipped) {
            (Some(LaneFault { lane, bits_of_lane, unit, keeps, toggles }), _) => {
                let lanes =
                    if bits_of_lane == 31 { format!("lane {lane}") } else { format!("lanes {lane} and {}", lane + 16) };
                let bit = (!keeps | toggles).trailing_zeros();
                let how = match (keeps, toggles) {
                    (u64::MAX, _) => "is inverted",
                    (_, 0) => "is 0",
                    _ => "is 1",
                };
                format!("bit {bit} of {} results {how} in {lanes}", UNITS[unit as usize])
            }
            (None, Some((address, bit))) => format!("bit {} of the byte at {address:#x}", bit.trailing_zeros()),
            (None, None) => place.map(|place| place.instruction.clone()).unwrap_or_default(),
        };
        let hex = |value: Option<u64>| value.map_or(String::new(), |value| format!("{value:#x}"));
        let protected_outcome = protected.as_ref().map(|(outcome, _)| *outcome);
        let (outcome, protected_note) = protected.map_or(("", String::new()), |(outcome, note)| (outcome.name(), note));
        self.tell(Told {
            trial: current.trial.number,
            thread: struck.map_or(String::new(), |struck| thread_name(struck.block, struck.thread)),
            file: line.map_or(String::new(), |line| line.file.clone()),
            line: line.map_or(0, |line| line.line),
            ptx_line: place.map_or(0, |place| place.instruction_line),
            instruction: what,
            bit: struck.map_or(0, |struck| struck.bit),
            before: hex(struck.map(|struck| struck.before)),
            after: hex(struck.map(|struck| struck.after)),
            thread_number: current.thread,
            place: current.index,
            outcome: alone.name(),
            note,
            protected: outcome,
            protected_note,
        });
        let last = protected_outcome.unwrap_or(alone);
        if self.is_lost {
            return self.leave(last);
        }
        if self.campaign.follows.is_some() && last.is_followed() && !self.shared.state().cannot_fork {
            self.follow(protected_outcome.is_some());
        }
        self.tasks.push_back(Task::Begin);
    }

    /// The device was lost with the trial, so it was the last. If the program is to go on, it is told what happened to its launch;
    /// but a kernel that does not end has it wait for ever.
    fn leave(&mut self, last: Outcome) {
        for trial in std::mem::take(&mut self.trials) {
            self.tell_invalid(&trial, "the GPU was lost with a trial before it");
        }
        let is_late = last == Outcome::Hang;
        if self.campaign.stays && !is_late {
            self.tasks = [Task::Do(Step::End)].into();
            return;
        }
        self.tell_end(if is_late { "late" } else { "left" }, 0, 0, [0; 2], "");
        self.tasks = [Task::Do(Step::Exit)].into();
    }

    /// The rest of the program runs with the fault of this trial.
    fn follow(&mut self, is_resolved: bool) {
        if self.current.as_ref().is_some_and(|current| current.is_kept) {
            // Before memory is as it was.
            self.tasks.push_front(Task::Follow { is_after: true });
            return;
        }
        let is_protected = self.campaign.is_protected;
        if is_protected && !is_resolved && self.is_resolved_by_run() {
            self.tasks.push_back(Task::Resolve { is_protected });
            self.tasks.push_back(Task::Do(Step::Rewind));
        }
        self.tasks.push_back(Task::Follow { is_after: false });
    }

    /// The process was forked: this is one of the two.
    fn forked(&mut self, forked: &Forked) {
        let is_after = matches!(std::mem::replace(&mut self.doing, Doing::Nothing), Doing::Follow { is_after: true });
        let (how, number, findings, [stdout, stderr], reason) = match forked {
            Forked::Child => {
                self.shared.state().is_child = true;
                self.campaign.stays = true;
                self.trials.clear();
                self.tasks = [if is_after { Task::Do(Step::End) } else { Task::Last }].into();
                return;
            }
            Forked::Ended(ChildEnd { exit, findings, written }) => {
                let (how, number) = match *exit {
                    None => ("late", 0),
                    Some(Exit::Code(code)) => ("code", code),
                    Some(Exit::Signal(signal)) => ("signal", signal),
                };
                (how, number, *findings, *written, "")
            }
            Forked::Refused(reason) => {
                self.shared.state().cannot_fork = true;
                ("refused", 0, 0, [0; 2], reason.as_str())
            }
        };
        self.tell_end(how, number.unsigned_abs(), findings, [stdout, stderr], reason);
    }

    /// Tells how the program ended with the fault of this trial, or this process.
    fn tell_end(&self, how: &str, number: u32, findings: u64, [stdout, stderr]: [u64; 2], reason: &str) {
        let trial = self.current.as_ref().map_or(0, |current| current.trial.number);
        let row = Row::new(TOOL, "ends")
            .with("trial", Cell::Number(trial))
            .with("how", Cell::Text(how.to_owned()))
            .with("number", Cell::Number(number.into()))
            .with("findings", Cell::Number(findings))
            .with("stdout", Cell::Number(stdout))
            .with("stderr", Cell::Number(stderr))
            .with("reason", Cell::Text(reason.to_owned()));
        self.host.row(row);
    }

    fn tell_invalid(&self, trial: &Trial, reason: &str) {
        let (trial, outcome, note) = (trial.number, Outcome::Invalid.name(), reason.to_owned());
        self.tell(Told { trial, outcome, note, ..Told::default() });
    }

    fn tell(&self, told: Told) {
        let text = |text: &str| Cell::Text(text.to_owned());
        let row = Row::new(TOOL, "trials")
            .with("trial", Cell::Number(told.trial))
            .with("launch", Cell::Number(self.launch))
            .with("kernel", text(&self.kernel))
            .with("thread", Cell::Text(told.thread))
            .with("file", Cell::Text(told.file))
            .with("line", Cell::Number(told.line.into()))
            .with("ptx_line", Cell::Number(told.ptx_line.into()))
            .with("instruction", Cell::Text(told.instruction))
            .with("bit", Cell::Number(told.bit.into()))
            .with("before", Cell::Text(told.before))
            .with("after", Cell::Text(told.after))
            .with("thread_number", Cell::Number(told.thread_number))
            .with("place", Cell::Number(told.place))
            .with("outcome", text(told.outcome))
            .with("note", Cell::Text(told.note));
        self.host
            .row(row.with("protected", text(told.protected)).with("protected_note", Cell::Text(told.protected_note)));
    }

    /// The launch itself. With a fault that stays, the program goes on with what that leaves behind.
    fn last(&mut self) -> Step {
        let step = as_asked_for();
        if !self.campaign.stays || self.refusal.is_some() || self.current.is_none() {
            return Step::Launch(step);
        }
        let is_protected = self.campaign.is_protected;
        let Step::Launch(struck) = self.run(is_protected, false) else { return Step::Launch(step) };
        self.doing = Doing::Nothing;
        Step::Launch(LaunchStep { is_trial: false, is_kept: false, ..struck })
    }
}

impl Plan for TrialPlan {
    fn next(&mut self, last: &StepOutcome) -> Step {
        self.ended(last);
        loop {
            let Some(task) = self.tasks.pop_front() else {
                self.shared.disarm();
                return self.refusal.take().map_or(Step::Done, Step::Refuse);
            };
            return match task {
                Task::Do(step) => step,
                Task::Profile { is_protected } => {
                    let room = if is_protected { self.most_threads } else { self.threads };
                    if room > MOST_THREADS {
                        self.refuse(Refusal::new(TOOL, "too-many-threads", "it has more threads than are counted"));
                        continue;
                    }
                    let Ok(counts) = self.shared.count(&*self.host, self.campaign.model.stratum(), room) else {
                        self.refuse(Refusal::new(TOOL, "no-memory", NO_MEMORY));
                        continue;
                    };
                    self.doing = Doing::Profile { is_protected, counts };
                    Step::Launch(LaunchStep {
                        version: PROFILE,
                        is_changed: is_protected,
                        is_trial: true,
                        is_confined: !self.is_on_gpu,
                        budget: COUNTED.filter(|_| self.is_budgeted(is_protected)),
                        limit: None,
                        flipped: None,
                        is_kept: false,
                    })
                }
                Task::Resolve { is_protected } => self.run(is_protected, true),
                Task::Strike { is_protected } => self.run(is_protected, false),
                Task::Follow { is_after } => {
                    self.doing = Doing::Follow { is_after };
                    let number = self.current.as_ref().map_or(0, |current| current.trial.number);
                    let limit = self.campaign.follows.unwrap_or_default();
                    Step::Fork(ForkStep { name: format!("trial-{number}"), limit })
                }
                Task::Begin => {
                    self.begin();
                    continue;
                }
                Task::Last => self.last(),
            };
        }
    }

    fn is_undone(&self) -> bool {
        self.refusal.is_none()
    }
}

#[cfg(test)]
mod tests;
