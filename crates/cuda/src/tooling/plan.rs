//! How launches take place: at once, or in the steps of a tool's plan.

use std::sync::{Arc, PoisonError, RwLockWriteGuard};
use std::time::Duration;

use device::{Blocks, Fault, FaultKind, Heap, LaunchError, LaunchRequest, Launched, Order, Output, Program};
use rewrite::{Class, KernelVersion, KernelVersions, LaunchShape, Refusal};
use toolkit::{
    CarveoutRequest, ChildEnd, Failure, ForkStep, Forked, HostStack, LaunchDevice, LaunchStep, LaunchView, Outcome,
    Plan, Reach, RunStep, Step, Touched, TrialEnd, Tried, WorkOrder,
};

use super::ToolHost;
use super::before::Before;
use super::checkpoint::Checkpoint;
use super::heap::ToolHeap;
use super::launches::{InstrumentedKernel, Target, error_of};
use super::snapshot::{Snapshot, written_objects};
use crate::devices::cpu_device;
use crate::error::CudaError;
use crate::process::fork::{self, Fork};
use crate::queue;

/// A launch that the program asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchJob<'a> {
    /// The kernel, as the compiler names it.
    pub(crate) name: &'a str,
    pub(crate) program: &'a Arc<dyn Program>,
    /// What tools have made of it; nothing if its module could not be rewritten.
    pub(crate) kernel: Option<&'a Arc<InstrumentedKernel>>,
    pub(crate) shape: LaunchShape,
    pub(crate) params: &'a [u8],
    /// The device that it is on.
    pub(crate) device: LaunchDevice,
    /// How it wants L1 and shared memory divided.
    pub(crate) carveout: CarveoutRequest,
    /// Where the program asked for it.
    pub(crate) stack: &'a HostStack,
    /// Whether it may [run on](LaunchRequest::may_run_on), if it is of one step and nothing is done when it has ended.
    pub(crate) may_run_on: bool,
}

/// The code of what was not compiled because the process ends.
const ENDS: &str = "process-ends";

/// Why a launch did not end well.
#[derive(Clone, Debug)]
pub(crate) enum LaunchEnd {
    /// The device says so.
    Device(LaunchError),
    /// A tool has ended it.
    Tool(CudaError),
}

/// Launches something on the device: what a request promises is its caller's business.
pub(crate) type Launcher<'a> = dyn Fn(&LaunchRequest<'_>) -> Result<Launched, LaunchError> + 'a;

/// The runs of one launch.
struct Runs<'a> {
    tool_host: &'static ToolHost,
    job: &'a LaunchJob<'a>,
    kernel: &'a Arc<InstrumentedKernel>,
    view: LaunchView<'a>,
    /// Which of its versions each tool has chosen.
    choice: Vec<usize>,
    is_wanted: bool,
    heap: Arc<ToolHeap>,
    /// Where what is printed goes until the launch is over.
    output: Option<Arc<Output>>,
    /// Whether a run may [run on](LaunchRequest::may_run_on).
    may_run_on: bool,
    /// The limits of the launch that is under way: whether it is confined, how many instructions a thread may execute, and how long
    /// a run may take.
    is_confined: bool,
    budget: Option<u64>,
    limit: Option<Duration>,
    /// How many instructions were executed, where they are counted, and how long that took.
    instructions: u64,
    took: Duration,
    /// How the run ended after which a GPU does nothing more for the process.
    lost: Option<LaunchEnd>,
    /// How the last trial ended, if it was to be kept.
    kept: Option<KeptTrial>,
    launcher: &'a Launcher<'a>,
}

/// A trial that the launch may end with.
struct KeptTrial {
    end: Result<(), LaunchEnd>,
    printed: Vec<u8>,
}

/// What came of a run that ended.
struct Ran {
    /// How a tool ends the launch because of it.
    failure: Option<Failure>,
    /// Whether kernels recorded something.
    has_records: bool,
}

impl Ran {
    fn outcome(&self) -> Outcome {
        if self.has_records { Outcome::Recorded } else { Outcome::Done }
    }
}

impl ToolHost {
    /// Compiles what a launch will most likely run: what tools would choose if it began now, or else the original.
    pub(crate) fn compile(&self, job: &LaunchJob<'_>) -> Result<(), LaunchError> {
        if let Some(kernel) = job.kernel {
            // Launches of one shape mostly run the same version, and one that does not compiles its own when it begins.
            let is_ready = |(_, block): &(Vec<usize>, [u32; 3])| *block == job.shape.block;
            if kernel.ready.lock().unwrap_or_else(PoisonError::into_inner).iter().any(is_ready) {
                return Ok(());
            }
            match self.choose(kernel, &job.view(0, None)) {
                Ok(_) => return Ok(()),
                Err(refusal) if refusal.code == ENDS => return Err(LaunchError::Internal(refusal.reason)),
                Err(_) => {}
            }
            // What the device cannot do, it says of the kernel as the program has it.
            return job.program.compile(&job.request(Self::original(kernel, &job.shape).symbol, &job.shape));
        }
        job.program.compile(&job.request(job.name, &job.shape))
    }

    /// Runs a launch to its end.
    pub(crate) fn launch(
        &'static self,
        job: &LaunchJob<'_>,
        order: Option<&WorkOrder>,
        launcher: &Launcher<'_>,
    ) -> Result<(), LaunchEnd> {
        let number = self.next_launch();
        let counted = self.services.begin_launch();
        let view = job.view(number, order);
        for instance in &self.instances {
            instance.on_launch(&view);
        }
        let result = match job.kernel {
            Some(kernel) => self.launch_kernel(job, kernel, view, launcher),
            None => {
                self.count_unchecked(job.name, "its module could not be rewritten".to_owned());
                let heap = ToolHeap::new(job.name, job.program, job.kernel, false);
                let request = LaunchRequest { heap: Some(heap as Arc<dyn Heap>), ..job.request(job.name, &job.shape) };
                let _turn = self.turns.read().unwrap_or_else(PoisonError::into_inner);
                launcher(&request).map(drop).map_err(LaunchEnd::Device)
            }
        };
        if let (Err(LaunchEnd::Tool(CudaError::DEINITIALIZED)), Some(counted)) = (&result, counted) {
            counted.forget();
        }
        if let Err(LaunchEnd::Device(LaunchError::Fault(fault))) = &result {
            let sites = job.kernel.map(|kernel| &kernel.module.sites);
            self.on_fault(fault, &**job.program, sites, &view, &Before::default());
        }
        result
    }

    /// A launch that ran on ended with a fault, or one of those before it.
    pub(crate) fn on_fault_of_one(&self, fault: &Fault, job: &LaunchJob<'_>, before: &Before<'_>) {
        let sites = job.kernel.map(|kernel| &kernel.module.sites);
        self.on_fault(fault, &**job.program, sites, &job.view(0, None), before);
    }

    fn launch_kernel(
        &'static self,
        job: &LaunchJob<'_>,
        kernel: &Arc<InstrumentedKernel>,
        view: LaunchView<'_>,
        launcher: &Launcher<'_>,
    ) -> Result<(), LaunchEnd> {
        let is_wanted = self.settings.wants(job.name, view.number);
        let choice = self.choose(kernel, &view);
        let plan = match &choice {
            // Who sees what the others inserted comes first.
            Ok(_) => self.plan(&view, self.instances.len()),
            Err(refusal) if refusal.code == ENDS => return Err(LaunchEnd::Tool(CudaError::DEINITIALIZED)),
            Err(refusal) => {
                self.count_unchecked(job.name, refusal.to_string());
                None
            }
        };
        let is_refused = choice.is_err();
        let mut runs = Runs {
            tool_host: self,
            job,
            kernel,
            view,
            choice: choice.unwrap_or_default(),
            is_wanted,
            heap: ToolHeap::new(job.name, job.program, job.kernel, plan.is_some()),
            output: None,
            is_confined: false,
            may_run_on: job.may_run_on && plan.is_none(),
            budget: None,
            limit: None,
            instructions: 0,
            took: Duration::ZERO,
            lost: None,
            kept: None,
            launcher,
        };
        if is_refused {
            let _turn = self.turns.read().unwrap_or_else(PoisonError::into_inner);
            return runs.run_once(&Self::original(kernel, &job.shape));
        }
        match plan {
            Some((planner, plan)) => {
                let _turn = self.alone();
                runs.output = plan.is_undone().then(Arc::default);
                let (result, refusal) = runs.run_plan(plan, planner);
                match refusal {
                    Some(refusal) => self.count_unchecked(job.name, refusal.to_string()),
                    None => self.count(job.name, is_wanted, false),
                }
                result
            }
            None => {
                // What one worker runs is the only launch at that time.
                let is_alone = self.most_workers(&view, Some(&runs.choice), None) == Some(1);
                runs.may_run_on &= !is_alone;
                let _alone = is_alone.then(|| self.alone());
                let _turn = (!is_alone).then(|| self.turns.read().unwrap_or_else(PoisonError::into_inner));
                let target = self.target(kernel, &runs.choice, &job.shape).expect("it was asked for before");
                self.count(job.name, is_wanted, target.version.is_some_and(KernelVersion::is_chosen_plain));
                runs.run_once(&target)
            }
        }
    }

    /// Until this is dropped, no other launch runs.
    fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        let turn = self.turns.write().unwrap_or_else(PoisonError::into_inner);
        self.services.device.wait_for_all();
        turn
    }

    /// The plan of the last tool before some place that has one, and the place of the tool.
    fn plan(&self, view: &LaunchView<'_>, before: usize) -> Option<(usize, Box<dyn Plan>)> {
        let mut instances = self.instances[..before].iter().enumerate().rev();
        instances.find_map(|(place, instance)| Some((place, instance.plan(view)?)))
    }

    /// Which of its versions each tool wants; refused also if such a version cannot be launched.
    fn choose(&self, kernel: &InstrumentedKernel, view: &LaunchView<'_>) -> Result<Vec<usize>, Refusal> {
        if let KernelVersions { refusal: Some(refusal), .. } = &kernel.module.versions {
            return Err(refusal.clone());
        }
        let choice = self.instances.iter().map(|instance| instance.choose(view)).collect::<Result<Vec<_>, _>>()?;
        let target = self.target(kernel, &choice, &view.shape)?;
        // A version may need what the kernel itself does not.
        let key = (choice, target.shape.block);
        let mut ready = kernel.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if !ready.contains(&key) {
            let request = LaunchRequest { block: target.shape.block, ..LaunchRequest::of(target.symbol, view.params) };
            if let Err(error) = kernel.program().compile(&request) {
                let ends = matches!(error, LaunchError::Internal(_)) && cpu_device::ends_soon();
                return Err(Refusal::new("warpgrind", if ends { ENDS } else { "not-compiled" }, error.to_string()));
            }
            ready.insert(key.clone());
        }
        Ok(key.0)
    }
}

impl<'a> LaunchJob<'a> {
    /// As tools see it.
    fn view(&self, number: u64, order: Option<&'a WorkOrder>) -> LaunchView<'a> {
        LaunchView {
            kernel: self.name,
            module: self.program.module(),
            shape: self.shape,
            params: self.params,
            layout: self.kernel.map_or(&[], |kernel| &kernel.params),
            static_shared: self.kernel.map_or(0, |kernel| kernel.static_shared),
            carveout: self.carveout,
            number,
            device: self.device,
            stack: self.stack,
            order,
            versions: self.kernel.map_or(&[], |kernel| &kernel.module.versions.versions),
            refused: self.kernel.map_or(&[], |kernel| &kernel.module.versions.refused),
            sites: self.kernel.map(|kernel| &kernel.module.sites),
            proofs: self.kernel.and_then(|kernel| kernel.proofs()),
        }
    }

    /// A launch under some name, in some shape, with the parameters of the program.
    pub(crate) fn request(&self, symbol: &'a str, shape: &LaunchShape) -> LaunchRequest<'a> {
        LaunchRequest {
            grid: shape.grid,
            block: shape.block,
            dynamic_shared: shape.dynamic_shared,
            is_cooperative: shape.is_cooperative,
            may_run_on: self.may_run_on,
            ..LaunchRequest::of(symbol, self.params)
        }
    }
}

/// Whether a driver says with this number that a kernel went wrong.
fn is_of_kernel(code: u32) -> bool {
    let all = [
        CudaError::ILLEGAL_ADDRESS,
        CudaError::ASSERT,
        CudaError::HARDWARE_STACK_ERROR,
        CudaError::ILLEGAL_INSTRUCTION,
        CudaError::MISALIGNED_ADDRESS,
        CudaError::INVALID_ADDRESS_SPACE,
        CudaError::INVALID_PC,
        CudaError::LAUNCH_FAILED,
    ];
    all.iter().any(|error| error.code() == code)
}

/// How a launch ends that a tool may have ended.
fn ended_by(failure: Option<Failure>) -> Result<(), LaunchEnd> {
    failure.map_or(Ok(()), |failure| Err(LaunchEnd::Tool(error_of(failure))))
}

impl Runs<'_> {
    /// A launch of one step.
    fn run_once(&mut self, target: &Target<'_>) -> Result<(), LaunchEnd> {
        ended_by(self.run(target, None, Order::Free, None, &[])?.failure)
    }

    /// Runs something, with some of its parameters replaced.
    fn run(
        &mut self,
        target: &Target<'_>,
        blocks: Option<&[u64]>,
        order: Order,
        workers: Option<(usize, u32)>,
        replaced: &[(usize, u64)],
    ) -> Result<Ran, LaunchEnd> {
        let mut params = self.job.params.to_vec();
        for &(at, value) in replaced {
            params[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        let run = self.tool_host.begin(self.kernel, target, &self.view, self.is_wanted, &mut params);
        self.heap.begin(run.as_ref());
        let request = LaunchRequest {
            params: &params,
            blocks: blocks.map_or(Blocks::All, Blocks::List),
            order,
            workers: self.tool_host.most_workers(
                &self.view,
                target.version.map(|version| &version.choice[..]),
                workers,
            ),
            output: self.output.clone(),
            budget: self.budget,
            limit: self.limit,
            is_confined: self.is_confined,
            may_run_on: self.may_run_on && run.is_none(),
            heap: Some(Arc::clone(&self.heap) as Arc<dyn Heap>),
            ..self.job.request(target.symbol, &target.shape)
        };
        let result = (self.launcher)(&request);
        let has_records = run.as_ref().is_some_and(|run| run.has_records());
        let failure = run.and_then(|run| run.end());
        match result {
            Ok(launched) => {
                self.instructions += launched.instructions;
                self.took += launched.took;
                Ok(Ran { failure, has_records })
            }
            Err(LaunchError::Fault(Fault { kind: FaultKind::Trap | FaultKind::Driver { .. }, .. }))
                if self.is_stopped_by_tool() =>
            {
                let failure = failure.unwrap_or(Failure::IllegalAddress);
                self.lost = self.is_on_gpu().then_some(LaunchEnd::Tool(error_of(failure)));
                Ok(Ran { failure: Some(failure), has_records })
            }
            Err(error) => {
                let error = self.tool_host.in_program(target, &self.job.shape, error);
                if self.is_on_gpu() && matches!(error, LaunchError::Fault(_)) {
                    self.lost = Some(LaunchEnd::Device(error.clone()));
                }
                Err(LaunchEnd::Device(error))
            }
        }
    }

    /// Whether an error of a launch stays.
    fn is_on_gpu(&self) -> bool {
        self.tool_host.services.device.memory().remote().is_some()
    }

    fn is_stopped_by_tool(&self) -> bool {
        self.tool_host.instances.iter().any(|instance| instance.has_stopped(&self.view))
    }

    /// Runs a launch in the steps of a plan of one of the tools.
    fn run_plan(&mut self, plan: Box<dyn Plan>, planner: usize) -> (Result<(), LaunchEnd>, Option<Refusal>) {
        let ended = self.run_steps(plan, planner);
        self.heap.settle(self.tool_host);
        if let Some(output) = &self.output {
            self.tool_host.services.device.output().append(&output.take());
        }
        ended
    }

    fn run_steps(&mut self, mut plan: Box<dyn Plan>, planner: usize) -> (Result<(), LaunchEnd>, Option<Refusal>) {
        let mut snapshot: Option<Snapshot> = None;
        let mut checkpoint: Option<Checkpoint> = None;
        let (mut outcome, mut failure, mut refused) = (Outcome::Begins, None, None);
        let result = loop {
            let step = plan.next(&outcome);
            outcome = Outcome::Done;
            match step {
                Step::Run(step) => {
                    checkpoint.iter_mut().for_each(Checkpoint::forget_comparison);
                    match self.run_step(planner, &step, &[]) {
                        Ok(ran) => (outcome, failure) = (ran.outcome(), failure.or(ran.failure)),
                        Err(LaunchEnd::Device(LaunchError::Fault(_))) if plan.survives_faults() => {
                            outcome = Outcome::Faulted;
                        }
                        Err(end) => break Err(end),
                    }
                }
                Step::Save => {
                    if let Some(old) = snapshot.replace(self.save()) {
                        self.tool_host.snapshots.give_back(old);
                    }
                }
                Step::Restore => {
                    if let Some(snapshot) = &snapshot {
                        snapshot.restore();
                    }
                    self.undo();
                }
                Step::RunFromSaved(step) => {
                    self.undo();
                    let redirected = snapshot.as_mut().and_then(|snapshot| self.redirected(snapshot));
                    if let (Some(snapshot), None) = (&mut snapshot, &redirected) {
                        snapshot.exchange();
                    }
                    match self.run_step(planner, &step, redirected.as_deref().unwrap_or_default()) {
                        Ok(ran) => (outcome, failure) = (ran.outcome(), failure.or(ran.failure)),
                        Err(end) => break Err(end),
                    }
                }
                Step::Compare => {
                    if let Some(difference) = snapshot.as_ref().and_then(Snapshot::difference) {
                        let (object, offset, bytes) = difference;
                        outcome = Outcome::Differs { object, offset, bytes };
                    }
                }
                Step::Checkpoint => {
                    let services = &self.tool_host.services;
                    let objects = services.lock_objects().all();
                    checkpoint = Some(Checkpoint::new(objects, services.device.memory()));
                }
                Step::Reference => {
                    let printed = self.output.as_ref().map(|output| output.take()).unwrap_or_default();
                    if let Some(checkpoint) = &mut checkpoint {
                        checkpoint.set_reference(printed);
                    }
                }
                Step::Rewind => {
                    if let Some(checkpoint) = &mut checkpoint {
                        checkpoint.rewind();
                    }
                    self.undo();
                }
                Step::Launch(step) if step.is_trial => {
                    outcome = Outcome::Tried(self.try_launch(planner, &step, checkpoint.as_mut()));
                }
                Step::Launch(step) => {
                    checkpoint.iter_mut().for_each(Checkpoint::forget_comparison);
                    if let Some((address, bits)) = step.flipped {
                        self.flip(address, bits, None);
                    }
                    match self.run_launch(planner, &step) {
                        Ok(ran) => (outcome, failure) = (ran.outcome(), failure.or(ran.failure)),
                        Err(LaunchEnd::Device(LaunchError::Unsupported(reason))) if plan.survives_refusals() => {
                            outcome = Outcome::NotRun(reason);
                        }
                        Err(end) => break Err(end),
                    }
                }
                Step::Fork(step) => {
                    checkpoint.iter_mut().for_each(Checkpoint::before_fork);
                    outcome = Outcome::Forked(self.fork(&step).unwrap_or_else(Forked::Refused));
                }
                Step::Done => break ended_by(failure),
                Step::Fail(failure) => break ended_by(Some(failure)),
                Step::Refuse(refusal) => {
                    refused = Some(refusal);
                    break ended_by(failure);
                }
                Step::End => break self.end_as_tried().unwrap_or_else(|| ended_by(failure)),
                Step::Exit => self.tool_host.leave_process(),
            }
        };
        if let Some(snapshot) = snapshot {
            self.tool_host.snapshots.give_back(snapshot);
        }
        (result, refused)
    }

    /// Forks the process, which waits for the child.
    fn fork(&self, step: &ForkStep) -> Result<Forked, String> {
        let services = &self.tool_host.services;
        if !queue::is_caller() {
            return Err("the launch does not run on the thread that asks for it".to_owned());
        }
        let session = services.session().ok_or("the output of the program is not kept")?;
        let ended = match fork::fork(session, &step.name, step.limit)? {
            Fork::Child(parent) => {
                if let Err(error) = services.leave_to(parent) {
                    crate::log::say(&format!("a process that was forked cannot go on: {error}"));
                    // Not `exit`, which belongs to the program.
                    std::process::abort();
                }
                return Ok(Forked::Child);
            }
            Fork::Parent(ended) => ended,
        };
        if !ended.has_begun {
            return Err("the process that was forked could not go on".to_owned());
        }
        fork::keep_files(session, &step.name)
            .map_err(|error| format!("a file that it wrote cannot be kept ({error})"))?;
        Ok(Forked::Ended(ChildEnd { exit: ended.exit, findings: ended.findings, written: ended.written }))
    }

    /// The launch ends as the last trial did, if that is possible.
    fn end_as_tried(&mut self) -> Option<Result<(), LaunchEnd>> {
        if let Some(lost) = self.lost.take() {
            return Some(Err(lost));
        }
        let KeptTrial { end, printed } = self.kept.take()?;
        if let Some(output) = &self.output {
            output.append(&printed);
        }
        Some(end)
    }

    /// A launch that may go wrong, of which only the plan is told.
    fn try_launch(&mut self, planner: usize, step: &LaunchStep, checkpoint: Option<&mut Checkpoint>) -> Tried {
        let quiet = self.tool_host.services.quiet();
        let counters = self.kernel.module.take_counters();
        (self.instructions, self.took, self.lost, self.kept) = (0, Duration::ZERO, None, None);
        let flipped = step.flipped.and_then(|(address, bits)| self.flip(address, bits, None));
        let result = self.run_launch(planner, step);
        let is_lost = self.lost.is_some();
        if let (Some((address, bits)), false) = (step.flipped, is_lost) {
            self.flip(address, bits, flipped);
        }
        self.kernel.module.set_counters(&counters);
        let printed = self.output.as_ref().map(|output| output.take()).unwrap_or_default();
        let compared = match checkpoint.filter(|_| !is_lost) {
            Some(checkpoint) => checkpoint.compare(&printed, step.is_kept),
            None => Ok((None, false)),
        };
        let (difference, prints_differ) = compared.as_ref().ok().cloned().unwrap_or_default();
        self.kept = step.is_kept.then(|| {
            let end = match &result {
                Ok(Ran { failure, .. }) => ended_by(*failure),
                Err(end) => Err(end.clone()),
            };
            KeptTrial { end, printed }
        });
        let end = match result {
            Ok(Ran { failure: None, .. }) => {
                let not_compared =
                    |error: CudaError| format!("memory cannot be compared: error {} of the driver", error.code());
                compared.err().map_or(TrialEnd::Done, |error| TrialEnd::NotRun(not_compared(error)))
            }
            Ok(_) | Err(LaunchEnd::Tool(_)) => TrialEnd::Stopped,
            Err(LaunchEnd::Device(LaunchError::Fault(fault))) => match &fault.kind {
                FaultKind::OverBudget { budget } => {
                    TrialEnd::Hung(format!("a thread executed more than {budget} instructions"))
                }
                FaultKind::Deadlock { .. } | FaultKind::Timeout { .. } => TrialEnd::Hung(fault.kind.to_string()),
                FaultKind::Driver { code, message } if *code == CudaError::LAUNCH_TIMEOUT.code() => {
                    TrialEnd::Hung(message.clone())
                }
                // The driver could not launch it, or has failed itself.
                FaultKind::Driver { code, message } if !is_of_kernel(*code) => TrialEnd::NotRun(message.clone()),
                _ => TrialEnd::Faulted(fault.kind.to_string()),
            },
            Err(LaunchEnd::Device(error)) => TrialEnd::NotRun(error.to_string()),
        };
        let (findings, instructions, took) = (quiet.findings(), self.instructions, self.took);
        Tried { end, findings, difference, prints_differ, instructions, took, is_lost }
    }

    /// Inverts bits of memory, if the byte is what it is expected to be. Gives the byte that it becomes.
    fn flip(&self, address: u64, bits: u8, expected: Option<u8>) -> Option<u8> {
        let (memory, mut byte) = (self.tool_host.services.device.memory(), [0]);
        if !memory.read(address, &mut byte) || expected.is_some_and(|expected| expected != byte[0]) {
            return None;
        }
        byte[0] ^= bits;
        memory.write(address, &byte).then_some(byte[0])
    }

    /// A launch as the other tools would have it, in a version of one of them.
    fn run_launch(&mut self, planner: usize, step: &LaunchStep) -> Result<Ran, LaunchEnd> {
        let mut choice = self.choice.clone();
        choice[planner] = step.version;
        let others = if step.is_changed { self.tool_host.plan(&self.view, planner) } else { None };
        if !step.is_changed {
            let tools = self.tool_host.rewriter.tools();
            let is_same =
                |(place, (tool, version)): (usize, (&&dyn rewrite::Instrumentation, &usize))| match tool.class() {
                    Class::Change => tool.is_plain(*version),
                    _ => *version == choice[place],
                };
            let versions = self.kernel.module.versions.versions.iter();
            let mut unchanged = versions.filter(|version| tools.iter().zip(&version.choice).enumerate().all(is_same));
            if let Some(version) = unchanged.next() {
                choice.clone_from(&version.choice);
            }
        }
        let before = std::mem::replace(&mut self.choice, choice);
        (self.is_confined, self.budget, self.limit) = (step.is_confined, step.budget, step.limit);
        let result = match others {
            Some((other, plan)) => {
                let (ended, _) = self.run_steps(plan, other);
                ended.map(|()| Ran { failure: None, has_records: false })
            }
            None => self.run_step(planner, &RunStep::version(step.version), &[]),
        };
        self.choice = before;
        (self.is_confined, self.budget, self.limit) = (false, None, None);
        result
    }

    fn run_step(&mut self, planner: usize, step: &RunStep, replaced: &[(usize, u64)]) -> Result<Ran, LaunchEnd> {
        let choice = |version: usize| {
            let mut choice = self.choice.clone();
            choice[planner] = version;
            choice
        };
        let target = match step.version {
            None => Ok(ToolHost::original(self.kernel, &self.job.shape)),
            Some(version) => self.tool_host.target(self.kernel, &choice(version), &self.job.shape),
        };
        let invalid = |refusal: Refusal| LaunchEnd::Device(LaunchError::Invalid(refusal.to_string()));
        let mut target = target.map_err(invalid)?;
        if let Some(shape) = step.shape {
            target.shape = shape;
        }
        let workers = step.workers.map(|workers| (planner, workers));
        self.run(&target, step.blocks.as_deref(), step.order, workers, replaced)
    }

    /// The last run is undone: what it printed, and what it did with the heap.
    fn undo(&self) {
        if let Some(output) = &self.output {
            output.take();
        }
        self.heap.undo(self.tool_host);
    }

    /// What the kernel gets instead of pointers to work in what was saved, if it can.
    fn redirected(&self, snapshot: &mut Snapshot) -> Option<Vec<(usize, u64)>> {
        // Others hold what is accessed against the objects of the program.
        if self.tool_host.tools.len() > 1 {
            return None;
        }
        let reach = self.kernel.reach.get_or_init(|| {
            let module = self.job.program.module();
            module.function(self.job.name).map_or(Reach::Anything, |kernel| Reach::of(module, kernel))
        });
        snapshot.redirected(reach, &self.view, &**self.job.program)
    }

    /// Saves what the kernel may write.
    fn save(&self) -> Snapshot {
        let writes = self.kernel.writes.get_or_init(|| {
            let module = self.job.program.module();
            module.function(self.job.name).map_or(Touched::Anything, |kernel| Touched::written(module, kernel))
        });
        let objects = written_objects(&self.tool_host.services.lock_objects(), writes, &self.view, &**self.job.program);
        Snapshot::save(objects, &self.tool_host.snapshots)
    }
}
