//! Launches of kernels, with tools at work.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use device::{Fault, FaultKind, LaunchError, Program};
use report::{Finding, Line, Occurrence, Place, Severity};
use rewrite::context::{COUNTERS, DoubledShared, RECORD_BUFFER, Record, TALLIES, TALLY_ROW, Tallies};
use rewrite::{KernelVersion, LaunchShape, Refusal, SiteId, Sites, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use toolkit::{
    EndedLaunch, Evidence, Failure, HostStack, Kept, LaunchDevice, LaunchView, Moment, SharedWords, Words, tally_rows,
};

use super::before::Before;
use super::instrumented_module::{InstrumentedModule, Reported};
use super::launch_buffers::LaunchBuffer;
use super::shared_words::ToolWords;
use super::{ToolHost, stack};
use crate::error::CudaError;

/// Records of a site that mean more different things are not looked at.
const MOST_VARIANTS: usize = 16;

/// A kernel of a module that tools have rewritten.
#[derive(Debug)]
pub(crate) struct InstrumentedKernel {
    pub(super) name: String,
    program: Arc<dyn Program>,
    pub(super) module: InstrumentedModule,
    /// Where the parameters of the original begin, and how many bytes each has.
    pub(super) params: Vec<(u64, u64)>,
    /// Bytes of shared memory that the original declares.
    pub(super) static_shared: u64,
    /// Where the address of the launch context is among the parameters of what has one, by its symbol.
    contexts: FxHashMap<String, usize>,
    /// Tallies that no launch has, all zero.
    spare_tallies: Mutex<Vec<Box<[AtomicU64]>>>,
    /// Versions that were compiled for blocks of a size: what was asked once is not asked again.
    pub(super) ready: Mutex<FxHashSet<(Vec<usize>, [u32; 3])>>,
    /// What it may write, if that was asked.
    pub(super) writes: std::sync::OnceLock<toolkit::Touched>,
    /// What it may access, if that was asked.
    pub(super) reach: std::sync::OnceLock<toolkit::Reach>,
    /// What is known of its launches before they run, if that was asked.
    proofs: std::sync::OnceLock<Option<toolkit::Proofs>>,
}

impl InstrumentedKernel {
    /// What is needed to launch a kernel.
    ///
    /// Nothing is compiled for it: versions are when they are launched, and most never are.
    pub(super) fn new(
        module: InstrumentedModule,
        program: Arc<dyn Program>,
        name: &str,
        static_shared: u64,
    ) -> Option<Arc<Self>> {
        let (versions, rewritten) = (&module.versions, program.module());
        let params = |symbol: &str| Some(device::param_layout(&rewritten.functions[rewritten.function(symbol)?]));
        let context =
            |symbol: &String, context: Option<usize>| Some((symbol.clone(), params(symbol)?.get(context?)?.0 as usize));
        let of_versions = versions.versions.iter().map(|version| context(&version.symbol, version.context));
        let of_original = context(&versions.original.symbol, versions.original.context);
        let contexts = of_versions.chain([of_original]).flatten().collect();
        let params = params(name)?;
        Some(Arc::new(Self {
            contexts,
            name: name.to_owned(),
            params,
            static_shared,
            program,
            module,
            spare_tallies: Mutex::default(),
            ready: Mutex::default(),
            writes: std::sync::OnceLock::new(),
            reach: std::sync::OnceLock::new(),
            proofs: std::sync::OnceLock::new(),
        }))
    }

    /// Whether some version of it has a context of its launches.
    pub(crate) fn has_context(&self) -> bool {
        !self.contexts.is_empty()
    }

    /// What is known of its launches before they run. A kernel that calls functions of tools is not the program's own.
    pub(super) fn proofs(&self) -> Option<&toolkit::Proofs> {
        let proofs = self.proofs.get_or_init(|| {
            let variable = |name: &str| self.program.variable(name);
            let is_own = self.module.versions.original.context.is_none();
            is_own.then(|| toolkit::Proofs::new(self.program.module(), &self.name, variable)).flatten()
        });
        proofs.as_ref()
    }

    /// Tallies for a launch.
    fn take_tallies(&self) -> Box<[AtomicU64]> {
        let spare = self.spare_tallies.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let words = Tallies::row_bytes(self.module.sites.len()) / 8 * tally_rows() as usize;
        spare.unwrap_or_else(|| (0..words).map(|_| AtomicU64::new(0)).collect())
    }

    /// A launch has ended: what its workers counted is added up.
    fn add_tallies(&self, tallies: Box<[AtomicU64]>) {
        let sites = self.module.sites.len();
        for row in tallies.chunks(Tallies::row_bytes(sites) / 8) {
            let (own, counted) = row.split_at(Tallies::FIRST as usize / 8);
            own.iter().for_each(|word| word.store(0, Ordering::Relaxed));
            for (tally, counter) in counted.iter().zip(self.module.counters.iter()) {
                let count = tally.swap(0, Ordering::Relaxed);
                counter.fetch_add(count, Ordering::Relaxed);
            }
        }
        self.spare_tallies.lock().unwrap_or_else(PoisonError::into_inner).push(tallies);
    }

    /// The module that has the versions of the kernel.
    pub(crate) fn program(&self) -> &Arc<dyn Program> {
        &self.program
    }
}

impl Drop for InstrumentedKernel {
    fn drop(&mut self) {
        if let Some(tool_host) = super::get() {
            tool_host.on_counts(&self.name, &*self.program, &self.module);
        }
    }
}

/// What a run of a kernel is launched as.
#[derive(Debug)]
pub(super) struct Target<'k> {
    /// The version; nothing for the original.
    pub(super) version: Option<&'k KernelVersion>,
    pub(super) symbol: &'k str,
    pub(super) shape: LaunchShape,
    /// What kernels are told if they have twice the shared memory.
    doubled_shared: Option<[(DoubledShared, u64); 2]>,
}

/// Dynamic shared memory begins at a multiple of what its variables ask for, which is so much at most.
const MOST_SHARED_ALIGN: u64 = 1024;
/// What an access may need its address to be a multiple of.
const ACCESS_ALIGN: u64 = 16;

/// A launch that is under way.
#[derive(Debug)]
pub(crate) struct InstrumentedLaunch {
    tool_host: &'static ToolHost,
    kernel: Arc<InstrumentedKernel>,
    /// As the program launched it.
    shape: LaunchShape,
    /// Where the program asked for it.
    stack: HostStack,
    /// The device that it is on.
    device: LaunchDevice,
    buffer: LaunchBuffer<'static>,
    number: u64,
    is_wanted: bool,
    taken: Mutex<Taken>,
    /// What its workers count.
    tallies: Mutex<Option<Box<[AtomicU64]>>>,
    /// The launch reads it.
    _kept: Vec<Kept>,
}

/// What was taken of the records of a launch. It may be asked for twice: the process may end while the launch is under way.
#[derive(Debug, Default)]
struct Taken {
    records: u64,
    /// How many there was no room for.
    lost: u64,
    /// The error that the first of them stands for.
    error: Option<Failure>,
}

/// Gives a version twice the shared memory: as much again, dynamic, after all that it has.
fn double_shared(target: &mut Target<'_>, program: &dyn Program) -> Result<(), Refusal> {
    let declared = program.kernel_facts(target.symbol).map_or(0, |facts| facts.shared);
    let dynamic = u64::from(target.shape.dynamic_shared);
    let all = declared.saturating_add(dynamic);
    let distance = all.saturating_add(MOST_SHARED_ALIGN).next_multiple_of(ACCESS_ALIGN);
    let bytes = dynamic.next_multiple_of(ACCESS_ALIGN) + distance;
    target.shape.dynamic_shared = u32::try_from(bytes).map_err(|_| {
        Refusal::new("warpgrind", "shared-too-large", format!("{all} bytes of shared memory cannot be doubled"))
    })?;
    target.doubled_shared = Some([(DoubledShared::DynamicBytes, dynamic), (DoubledShared::Distance, distance)]);
    Ok(())
}

impl ToolHost {
    /// A launch is asked for: where.
    pub(crate) fn launch_stack(&self) -> HostStack {
        stack::capture(self.settings.callers)
    }

    /// The version of a kernel that a choice of all tools is, and how it has to be launched.
    pub(super) fn target<'k>(
        &self,
        kernel: &'k InstrumentedKernel,
        choice: &[usize],
        shape: &LaunchShape,
    ) -> Result<Target<'k>, Refusal> {
        let versions = &kernel.module.versions;
        if let Some(refusal) = &versions.refusal {
            return Err(refusal.clone());
        }
        let version =
            versions.version(choice).ok_or_else(|| versions.refusal_of(choice).cloned().unwrap_or_else(no_version))?;
        let mut physical = *shape;
        for (tool, &version) in self.rewriter.tools().iter().zip(choice) {
            physical = tool.shape(version, physical)?;
        }
        let mut target =
            Target { version: Some(version), symbol: &version.symbol, shape: physical, doubled_shared: None };
        if self.rewriter.tools().iter().zip(choice).any(|(tool, &version)| tool.doubles_shared(version)) {
            double_shared(&mut target, &**kernel.program())?;
        }
        Ok(target)
    }

    /// The kernel as the program has it.
    pub(super) fn original<'k>(kernel: &'k InstrumentedKernel, shape: &LaunchShape) -> Target<'k> {
        let original = &kernel.module.versions.original;
        Target { version: None, symbol: &original.symbol, shape: *shape, doubled_shared: None }
    }

    /// Counts a launch, and says whether it is to be checked.
    pub(super) fn count(&self, name: &str, is_checked: bool, is_proved: bool) {
        let mut state = self.services.state();
        if is_checked {
            state.coverage.launches += 1;
            state.coverage.proved_launches += u64::from(is_proved);
            if !state.kernels.contains(name) {
                state.kernels.insert(name.to_owned());
                state.coverage.kernels += 1;
            }
        } else {
            state.coverage.unchecked_launches += 1;
            if state.skipped.insert(name.to_owned()) {
                let reason = "the flags of the command leave it, or some of its launches, out".to_owned();
                self.services.write(&Line::Skipped { kernel: name.to_owned(), reason });
            }
        }
        // So that somebody who watches sees how far it is, and a crash loses little.
        let all = state.coverage.launches + state.coverage.unchecked_launches;
        if all.is_power_of_two() || all.is_multiple_of(4096) {
            self.services.write(&Line::Coverage(state.coverage));
        }
    }

    /// Counts a launch that could not be checked.
    pub(super) fn count_unchecked(&self, name: &str, reason: String) {
        let mut state = self.services.state();
        state.coverage.unchecked_launches += 1;
        if state.skipped.insert(name.to_owned()) {
            self.services.write(&Line::Unchecked { kernel: name.to_owned(), reason });
        }
    }

    /// A run begins. Its parameters are completed; nothing if it needs no context.
    pub(super) fn begin(
        &'static self,
        kernel: &Arc<InstrumentedKernel>,
        target: &Target<'_>,
        launch: &LaunchView<'_>,
        is_wanted: bool,
        params: &mut Vec<u8>,
    ) -> Option<Arc<InstrumentedLaunch>> {
        let at = *kernel.contexts.get(target.symbol)?;
        let layout = self.rewriter.layout();
        let words = layout.kernel_words() as usize / 8 + target.version.map_or(0, |version| version.kernel_words);
        let (mut table, mut kept) = (vec![0_u64; words], Vec::new());
        table[COUNTERS as usize / 8] = kernel.module.counters.address();
        let tallies = self.has_tallies().then(|| kernel.take_tallies());
        if let Some(tallies) = &tallies {
            table[TALLIES as usize / 8] = tallies.as_ptr() as u64;
            table[TALLY_ROW as usize / 8] = Tallies::row_bytes(kernel.module.sites.len()) as u64;
        }
        for (word, bytes) in target.doubled_shared.into_iter().flatten() {
            table[word.offset() as usize / 8] = bytes;
        }
        // Functions that are called through pointers have checks in them also where the kernel has none.
        let none = KernelVersion::default();
        let mut tables = Vec::new();
        for (tool, instance) in self.tools.iter().zip(&self.instances) {
            let mut words = Words::new(tool.name(), layout, &mut table, &mut kept, &mut tables);
            instance.words(launch, target.version.unwrap_or(&none), &mut words);
        }
        for (word, values) in tables {
            // Without its table a kernel finds memory in it that is not there, and says so.
            let Ok(words) = ToolWords::of(&self.services.device, &values) else { continue };
            table[word] = words.address();
            kept.push(Arc::new(words));
        }
        let buffer = self.services.launch_buffers.take(&table);
        buffer.set(RECORD_BUFFER, buffer.record_buffer());
        params.resize(params.len().max(at + 8), 0);
        params[at..at + 8].copy_from_slice(&buffer.address().to_le_bytes());
        let launch = Arc::new(InstrumentedLaunch {
            tool_host: self,
            kernel: Arc::clone(kernel),
            shape: launch.shape,
            stack: launch.stack.clone(),
            device: launch.device,
            buffer,
            number: launch.number,
            is_wanted: is_wanted && target.version.is_some(),
            taken: Mutex::default(),
            tallies: Mutex::new(tallies),
            _kept: kept,
        });
        self.active().push(Arc::clone(&launch));
        Some(launch)
    }

    /// Whether a tool counts in tallies.
    fn has_tallies(&self) -> bool {
        self.rewriter.tools().iter().any(|tool| tool.has_tallies())
    }

    /// How many workers may run a launch at most, if that is limited. A tool that runs it in steps may say how many for one.
    pub(super) fn most_workers(
        &self,
        view: &LaunchView<'_>,
        choice: Option<&[usize]>,
        of_planner: Option<(usize, u32)>,
    ) -> Option<u32> {
        let of_tools = self.instances.iter().enumerate().filter_map(|(place, instance)| match of_planner {
            Some((planner, workers)) if planner == place => Some(workers),
            _ => instance.most_workers(view, choice.and_then(|choice| choice.get(place).copied())),
        });
        of_tools.chain(self.has_tallies().then(tally_rows)).min()
    }

    fn active(&self) -> MutexGuard<'_, Vec<Arc<InstrumentedLaunch>>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Touched down what launches have found that are still under way: the process ends.
    pub(super) fn report_active(&self) {
        let active = self.active().clone();
        for launch in active {
            launch.take_records();
            launch.report_again();
        }
    }

    /// A fault with the ids of the program.
    pub(super) fn in_program(&self, target: &Target<'_>, shape: &LaunchShape, error: LaunchError) -> LaunchError {
        let (LaunchError::Fault(fault), Some(version)) = (&error, target.version) else { return error };
        let mut thread = ThreadId { block: fault.block, thread: fault.thread };
        for (tool, &version) in self.rewriter.tools().iter().zip(&version.choice) {
            thread = tool.program_thread(version, shape, thread);
        }
        LaunchError::Fault(Fault { block: thread.block, thread: thread.thread, ..fault.clone() })
    }

    /// A launch ended with a fault of the device, which no tool has kept from happening; or one of some other kernels did.
    pub(super) fn on_fault(
        &self,
        fault: &Fault,
        program: &dyn Program,
        sites: Option<&Sites>,
        launch: &LaunchView<'_>,
        before: &Before<'_>,
    ) {
        // Whichever tool is at work: the command's own is the first.
        let message = format!("the kernel{} was ended: {}", before, fault.kind);
        self.services.write_finding(Finding {
            place: Some(place_of_line(program, sites, fault.line, launch.kernel)),
            // A driver does not say where it was.
            first: (!matches!(fault.kind, FaultKind::Driver { .. })).then_some(Occurrence {
                block: fault.block,
                thread: fault.thread,
                grid_size: launch.shape.grid,
                block_size: launch.shape.block,
                launch: launch.number,
                address: None,
            }),
            stack: before.is_empty().then(|| launch.stack.frames()),
            ..Finding::new(self.first, Finding::DEVICE_FAULT, Severity::Error, message)
        });
    }
}

fn no_version() -> Refusal {
    Refusal::new("warpgrind", "no-version", "a tool asks for a version that it has not made")
}

/// Where an instruction is that the device names by its line. It knows no line of what it runs for itself.
pub(super) fn place_of_line(program: &dyn Program, sites: Option<&Sites>, line: u32, kernel: &str) -> Place {
    let none = Sites::default();
    let place = match line {
        0 => None,
        line => sites.unwrap_or(&none).place_of_line(program.module(), line, kernel),
    };
    place.unwrap_or_else(|| Place::of_kernel(kernel))
}

/// CUDA's number for how a tool ends a launch.
pub(super) fn error_of(failure: Failure) -> CudaError {
    match failure {
        Failure::IllegalAddress => CudaError::ILLEGAL_ADDRESS,
        Failure::MisalignedAddress => CudaError::MISALIGNED_ADDRESS,
        Failure::Uncorrectable => CudaError::ECC_UNCORRECTABLE,
    }
}

impl InstrumentedLaunch {
    /// The launch has ended. Gives what it ends with, if something was found.
    pub(super) fn end(self: Arc<Self>) -> Option<Failure> {
        self.tool_host.active().retain(|other| !Arc::ptr_eq(other, &self));
        if let Some(tallies) = self.tallies.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.kernel.add_tallies(tallies);
        }
        let ended = EndedLaunch {
            number: self.number,
            kernel: &self.kernel.name,
            module: self.kernel.program.module(),
            sites: &self.kernel.module.sites,
        };
        for instance in &self.tool_host.instances {
            instance.on_end(&ended);
        }
        if !self.buffer.has_findings() {
            return None;
        }
        let failure = self.take_records();
        self.report_again();
        failure.filter(|_| self.is_wanted && self.tool_host.settings.stop_on_error)
    }

    /// Whether it has recorded something.
    pub(super) fn has_records(&self) -> bool {
        self.buffer.has_findings()
    }

    /// What time it is in the launch.
    pub(super) fn now(&self) -> Moment {
        Moment { launch: self.number, records: self.buffer.recorded() }
    }

    /// Takes the records that are there and reports them. Gives what the first one stands for.
    fn take_records(&self) -> Option<Failure> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut records, lost) = self.buffer.records(&mut taken.records);
        let lost_before = std::mem::replace(&mut taken.lost, lost);
        if self.is_wanted {
            self.tool_host.services.state().coverage.lost += lost - lost_before;
            // The first is the one of the first block and thread, whoever came first.
            records.sort_unstable_by_key(|&(_, record)| record);
            for (number, record) in &records {
                self.report(record, Moment { launch: self.number, records: *number });
            }
        }
        let failure = records.iter().find_map(|(_, record)| self.instance(record)?.1.failure(record));
        taken.error = taken.error.or(failure);
        taken.error
    }

    /// The tool that a record is of.
    fn instance(&self, record: &Record) -> Option<(SiteId, &'static dyn toolkit::Instance)> {
        let id = SiteId(record.site);
        let tool = self.kernel.module.sites.get(id)?.tool;
        let place = self.tool_host.tools.iter().position(|other| other.name() == tool)?;
        Some((id, &*self.tool_host.instances[place]))
    }

    /// Reports what a record says, if its site was not reported before.
    fn report(&self, record: &Record, when: Moment) {
        let module = &self.kernel.module;
        let mut reported = module.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((id, instance)) = self.instance(record) else { return };
        let variant = instance.variant(record);
        let is_quiet = self.tool_host.services.is_quiet();
        let of_site = if is_quiet { &mut Reported::default() } else { reported.entry(record.site).or_default() };
        if of_site.variants.len() == MOST_VARIANTS || of_site.variants.contains(&variant) {
            return;
        }
        let text = self.kernel.program.module();
        let (Some(site), Some(place)) = (module.sites.get(id), module.sites.place(text, id, &self.kernel.name)) else {
            return;
        };
        let count = module.counters[record.site as usize].load(Ordering::Relaxed);
        let evidence = Evidence {
            site,
            place,
            occurrence: Occurrence {
                block: record.block,
                thread: record.thread,
                grid_size: self.shape.grid,
                block_size: self.shape.block,
                launch: self.number,
                address: Some(record.address),
            },
            count,
            when,
            module: text,
            shape: self.shape,
            launched: self.stack.frames(),
            device: self.device,
            sites: &module.sites,
        };
        of_site.variants.push(variant);
        let Some(finding) = instance.record(record, &evidence) else { return };
        let number = self.tool_host.services.write_finding(finding);
        of_site.finding.get_or_insert((number, count));
    }

    /// Says how often what was reported before has happened since.
    fn report_again(&self) {
        if self.tool_host.services.is_quiet() {
            return;
        }
        let module = &self.kernel.module;
        let mut reported = module.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let known = reported.iter_mut().filter_map(|(site, of_site)| Some((*site, of_site.finding.as_mut()?)));
        for (site, (number, said)) in known {
            let count = module.counters[site as usize].load(Ordering::Relaxed);
            if count > *said {
                self.tool_host.services.write(&Line::Again(*number, count - *said));
                *said = count;
            }
        }
    }
}
