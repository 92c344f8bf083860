//! Tools at work: what they need of the program's memory and launches, and what they find.
//!
//! The library rewrites modules when they are loaded ([`ToolHost::rewrite`]), keeps the shadow of memory and a list of all
//! objects in it ([`objects`]), hands every launch its context ([`launches`]), and writes what was found into the journal
//! of the process, which `warpgrind memcheck` reads.

mod heap;
mod host_errors;
mod launch_buffers;
pub(crate) mod launches;
mod objects;
mod plan;
mod shadow;
mod stack;
mod suballocation;
mod tool_settings;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use report::{Coverage, Finding, Journal, Line, Process};
use rewrite::context::SITES_VARIABLE;
use rewrite::{KernelPlan, Rewriter, Sites, Tool};
use rustc_hash::FxHashMap;

pub(crate) use heap::ToolHeap;
pub(crate) use launches::InstrumentedLaunch;
pub(crate) use objects::AllocationKind;
pub(crate) use stack::HostStack;
pub(crate) use suballocation::Usage;

use launch_buffers::LaunchBuffers;
use objects::{Moment, Object, Objects};
use shadow::Shadow;
use tool_settings::ToolSettings;

/// The tools of a process, and what they know.
#[derive(Debug)]
pub(crate) struct ToolHost {
    tools: Vec<&'static dyn Tool>,
    settings: ToolSettings,
    device: Arc<dyn device::Device>,
    /// Only memcheck needs it.
    shadow: Option<Shadow>,
    objects: Mutex<Objects>,
    /// Memory in which launches find their contexts.
    launch_buffers: LaunchBuffers,
    journal: Option<Journal>,
    state: Mutex<State>,
    launches: AtomicU64,
    /// Launches that are under way.
    active: Mutex<Vec<Arc<InstrumentedLaunch>>>,
}

#[derive(Debug, Default)]
struct State {
    /// How many findings were written.
    findings: usize,
    coverage: Coverage,
    /// Kernels that were launched.
    kernels: BTreeSet<String>,
    /// Kernels of which launches were not checked.
    skipped: BTreeSet<String>,
    is_ended: bool,
}

/// A module that tools have rewritten.
#[derive(Debug)]
pub(crate) struct InstrumentedModule {
    pub(crate) sites: Sites,
    pub(crate) kernels: FxHashMap<String, KernelPlan>,
    /// What kernels were like before.
    pub(crate) facts: FxHashMap<String, device::KernelFacts>,
    /// How often something was found at each site.
    counters: Box<[AtomicU64]>,
    /// What is known of each site where something was found: the number of the finding, and how often it was reported.
    reported: Mutex<FxHashMap<u32, (usize, u64)>>,
}

/// Redzones after allocations. Those in front of them are after the ones before.
const REDZONE: u64 = 256;

static TOOL_HOST: OnceLock<Option<ToolHost>> = OnceLock::new();

/// The tools, if there are any.
pub(crate) fn get() -> Option<&'static ToolHost> {
    TOOL_HOST.get()?.as_ref()
}

/// Starts the tools that the command asks for.
pub(crate) fn start(device: &Arc<dyn device::Device>, asked: &settings::Tools, seed: Option<u64>) {
    let mut is_new = false;
    let tool_host = TOOL_HOST.get_or_init(|| {
        is_new = true;
        ToolHost::new(device, asked, seed)
    });
    if is_new && tool_host.is_some() {
        crate::process::dying::watch(|signal| {
            if let Some(tool_host) = get() {
                tool_host.write(&Line::Signal(signal));
                tool_host.report_active();
                tool_host.write_coverage();
            }
        });
    }
}

/// Writes the last lines, when the process ends.
pub(crate) fn finish() {
    if let Some(tool_host) = get() {
        tool_host.end();
    }
}

impl ToolHost {
    fn new(device: &Arc<dyn device::Device>, asked: &settings::Tools, seed: Option<u64>) -> Option<Self> {
        let mut tools = Vec::new();
        for name in &asked.names {
            match tools::tool(name) {
                Some(tool) => tools.push(tool),
                None => crate::log::say(&format!("there is no tool `{name}`; it is left out")),
            }
        }
        if tools.is_empty() {
            return None;
        }
        let (base, bytes) = device.memory().range();
        let has_memcheck = tools.iter().any(|tool| tool.name() == "memcheck");
        let shadow = has_memcheck.then(|| Shadow::new(base, bytes)).transpose();
        let session = asked.session.as_deref();
        let launch_buffers = LaunchBuffers::new(session);
        let (shadow, launch_buffers) = match (shadow, launch_buffers) {
            (Ok(shadow), Ok(launch_buffers)) => (shadow, launch_buffers),
            (Err(error), _) | (_, Err(error)) => {
                crate::log::say(&format!("no memory can be had for the tools ({error}), so nothing is checked"));
                return None;
            }
        };
        let journal = session.and_then(create_journal);
        let tool_host = Self {
            settings: ToolSettings::new(asked),
            device: Arc::clone(device),
            shadow,
            objects: Mutex::default(),
            launch_buffers,
            journal,
            state: Mutex::default(),
            launches: AtomicU64::new(0),
            active: Mutex::default(),
            tools,
        };
        tool_host.write(&Line::Process(Process {
            id: std::process::id(),
            program: std::env::current_exe().map_or_else(|_| String::new(), |path| path.display().to_string()),
            tools: tool_host.tools.iter().map(|tool| tool.name().to_owned()).collect(),
            seed,
        }));
        Some(tool_host)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn objects(&self) -> MutexGuard<'_, Objects> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, line: &Line) {
        let result = self.journal.as_ref().map_or(Ok(()), |journal| journal.write(line));
        if let Err(error) = result {
            crate::log::say(&format!("what was found cannot be written down: {error}"));
        }
    }

    /// Writes a finding; gives its number.
    fn found(&self, finding: Finding) -> usize {
        let mut state = self.state();
        let number = state.findings;
        state.findings += 1;
        self.write(&Line::Finding(Box::new(finding)));
        number
    }

    /// What allocations are made larger by.
    pub(crate) fn redzone(&self) -> u64 {
        if self.shadow.is_some() { REDZONE } else { 0 }
    }

    /// Bytes of the device that the program does not know to be in use.
    pub(crate) fn hidden_bytes(&self) -> u64 {
        self.objects().hidden_bytes(self.redzone())
    }

    /// Rewrites a module for all tools. If that fails, it stays as it is, and its kernels count as unchecked.
    pub(crate) fn rewrite(&self, module: ptx::ir::Module) -> (ptx::ir::Module, Option<InstrumentedModule>) {
        let facts = module
            .functions
            .iter()
            .filter(|(_, function)| function.is_entry() && function.body.is_some())
            .filter_map(|(func, function)| {
                Some((module.text(function.name).to_owned(), self.device.kernel_facts(&module, func)?))
            })
            .collect();
        let kept = module.clone();
        match Rewriter::new(&self.tools).rewrite(module) {
            Ok(rewritten) => {
                let counters = (0..rewritten.sites.len()).map(|_| AtomicU64::new(0)).collect();
                let instrumented = InstrumentedModule {
                    sites: rewritten.sites,
                    kernels: rewritten.kernels,
                    facts,
                    counters,
                    reported: Mutex::default(),
                };
                (rewritten.module, Some(instrumented))
            }
            Err(error) => {
                self.write(&Line::Unchecked { kernel: String::new(), reason: error.to_string() });
                (kept, None)
            }
        }
    }

    /// The variables of a module are there.
    pub(crate) fn on_load(&self, program: &dyn device::Program) {
        for (name, address, bytes) in variables_of_program(program) {
            self.on_alloc(address, bytes, AllocationKind::Variable(name.into()));
        }
    }

    /// The variables of a module are gone.
    pub(crate) fn on_unload(&self, program: &dyn device::Program) {
        for (_, address, _) in variables_of_program(program) {
            self.on_unmap(address);
        }
    }

    /// Memory is there that the program may access.
    pub(crate) fn on_alloc(&self, address: u64, bytes: u64, kind: AllocationKind) {
        let stack = match &self.shadow {
            Some(shadow) => {
                shadow.set(address, bytes, true);
                HostStack::capture(self.settings.callers)
            }
            None => HostStack::default(),
        };
        self.objects().add(address, bytes, kind, stack);
    }

    /// Memory is gone, for good.
    pub(crate) fn on_unmap(&self, address: u64) {
        if let (Some(object), Some(shadow)) = (self.objects().remove(address), &self.shadow) {
            shadow.set(object.start, object.bytes, false);
        }
    }

    /// Memory was given back by the program. Whether the device may have it now: else it is kept for a while, so that late
    /// accesses are found.
    pub(crate) fn on_free(&self, address: u64) -> bool {
        self.on_free_at(address, None)
    }

    /// The same, with the time at which a kernel did it.
    fn on_free_at(&self, address: u64, when: Option<Moment>) -> bool {
        let Some(shadow) = &self.shadow else {
            self.objects().remove(address);
            return true;
        };
        let stack = HostStack::capture(self.settings.callers);
        let mut objects = self.objects();
        let Some(object) = objects.remove(address) else { return true };
        shadow.set(object.start, object.bytes, false);
        self.quarantine(&mut objects, object, stack, when);
        false
    }

    /// Keeps an object that was freed, and gives memory back that was kept long enough.
    fn quarantine(&self, objects: &mut Objects, object: Object, stack: HostStack, when: Option<Moment>) {
        for old in objects.quarantine(object, stack, when, self.device.memory().total_bytes() / 8) {
            self.device.memory().free(old);
        }
    }

    /// Whether kernels have allocated what begins at an address. Without a tool that keeps objects, nobody knows better.
    fn is_heap(&self, address: u64) -> bool {
        self.shadow.is_none() || self.objects().is_heap(address)
    }

    /// Gives memory back that was kept, because there is no other; whether there was any.
    pub(crate) fn make_room(&self) -> bool {
        let old = self.objects().empty_quarantine();
        for &address in &old {
            self.device.memory().free(address);
        }
        !old.is_empty()
    }

    /// The last lines.
    fn end(&self) {
        let mut state = self.state();
        if std::mem::replace(&mut state.is_ended, true) {
            return;
        }
        drop(state);
        self.report_active();
        self.report_leaks_of_process();
        self.write_coverage();
        self.write(&Line::End);
    }

    fn write_coverage(&self) {
        let coverage = self.state().coverage;
        self.write(&Line::Coverage(coverage));
    }

    fn next_launch(&self) -> u64 {
        self.launches.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// A journal of this process. There may be older ones: a process can become another program.
fn create_journal(session: &Path) -> Option<Journal> {
    let id = std::process::id();
    for number in 0..10_000 {
        match Journal::create(&session.join(format!("{id}-{number}.journal"))) {
            Ok(journal) => return Some(journal),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                crate::log::say(&format!("what is found cannot be written down: {error}"));
                return None;
            }
        }
    }
    None
}

/// The variables of a module that the program has: name, address and size. Those of tools are nobody's to access.
fn variables_of_program(program: &dyn device::Program) -> impl Iterator<Item = (&str, u64, u64)> {
    program.variables().into_iter().filter(|(name, ..)| *name != SITES_VARIABLE)
}
