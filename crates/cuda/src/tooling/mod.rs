//! Tools at work: what they need of the program's memory and launches, and what they find.
//!
//! A thin host for the instances of tools: it rewrites kernels when they are first launched (`modules`), tells tools what the
//! program does with memory (`events`) and keeps a list of all objects in it, hands every launch its context (`launches`),
//! runs it in the steps of a plan if a tool has one (`plan`), and writes what was found into the journal of the process,
//! which the command reads (`services`). It knows no tool by name.

mod api_errors;
mod before;
mod checkpoint;
mod device_plane;
mod events;
mod heap;
mod instrumented_module;
mod launch_buffers;
mod launches;
mod modules;
mod not_run;
mod plan;
mod ptxas;
mod services;
mod shadow_plane;
mod shared_words;
mod snapshot;
mod stack;
mod tool_settings;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use device::Device;
use report::{Line, Process};
use rewrite::{Instrumentation, Rewriter};
use toolkit::{Host, HostStack, Instance, Tool};

pub(crate) use before::Before;
pub(crate) use launches::InstrumentedKernel;
pub(crate) use modules::KernelSource;
pub(crate) use not_run::did_not_start;
pub(crate) use plan::{LaunchEnd, LaunchJob};

use launches::InstrumentedLaunch;
use modules::RewrittenKernels;
use services::Services;
use snapshot::SnapshotBuffers;
use tool_settings::ToolSettings;

use crate::error::{CudaError, Result};
use crate::process::{device_access, host_access, life};

/// The tools of a process, and what they know.
#[derive(Debug)]
pub(crate) struct ToolHost {
    /// In the order in which they are called.
    tools: Vec<&'static dyn Tool>,
    /// Each at work, in the same order.
    instances: Vec<Box<dyn Instance>>,
    wants_stacks: bool,
    wants_calls: bool,
    runs_on_caller: bool,
    /// Whether tools want to know what comes before what, once there is memory of streams.
    wants_order_of_stream_memory: bool,
    /// The command's own.
    first: &'static str,
    rewriter: Rewriter<'static>,
    settings: ToolSettings,
    services: Arc<Services>,
    /// The process that it was started in.
    process: u32,
    rewritten: RewrittenKernels,
    launches: AtomicU64,
    /// Launches that are under way.
    active: Mutex<Vec<Arc<InstrumentedLaunch>>>,
    /// A plan of several steps has the device to itself.
    turns: RwLock<()>,
    snapshots: SnapshotBuffers,
}

static TOOL_HOST: OnceLock<Result<Option<ToolHost>>> = OnceLock::new();

/// The tools, if there are any.
pub(crate) fn get() -> Option<&'static ToolHost> {
    TOOL_HOST.get()?.as_ref().ok()?.as_ref()
}

/// Whether launches run on the thread that asks for them, because a tool wants it.
pub(crate) fn runs_on_caller() -> bool {
    get().is_some_and(|tool_host| tool_host.runs_on_caller)
}

/// Where the program is, if tools want to know.
pub(crate) fn stack_here() -> HostStack {
    get().map_or_else(HostStack::default, ToolHost::stack)
}

/// Starts the tools that the command asks for. If they cannot start, nothing may run that they would have to check.
pub(crate) fn start(
    device: &Arc<dyn Device>,
    asked: &settings::Tools,
    seed: Option<u64>,
    repeat: Option<String>,
) -> Result<()> {
    let mut is_new = false;
    let tool_host = TOOL_HOST.get_or_init(|| {
        is_new = true;
        ToolHost::new(device, asked, seed, repeat)
    });
    let has_tools = tool_host.as_ref().map_err(|&error| error)?.is_some();
    if is_new && has_tools {
        // Before threads of ours start, which then may access device memory.
        let keeps_out = get()
            .is_some_and(|tool_host| tool_host.instances.iter().any(|instance| instance.keeps_host_out()))
            && device_access::keep_program_out(device.memory());
        crate::process::dying::watch(|signal| {
            if let Some(tool_host) = get() {
                tool_host.services.write(&Line::Signal(signal));
                tool_host.report_active();
                tool_host.report_failed_calls();
                tool_host.services.write_coverage();
                tool_host.services.leave();
            }
        });
        if keeps_out {
            // After the handler for the end of the process, which is called next.
            host_access::watch(device.memory().range(), |access| {
                if let Some(tool_host) = get() {
                    tool_host.on_host_access(access);
                }
            });
        }
    }
    Ok(())
}

/// Writes the last lines, when the process ends. A child after `fork` has nothing to say of its own.
pub(crate) fn finish() {
    if let Some(tool_host) = get()
        && tool_host.process == std::process::id()
    {
        tool_host.end();
    }
}

impl ToolHost {
    fn new(
        device: &Arc<dyn Device>,
        asked: &settings::Tools,
        seed: Option<u64>,
        repeat: Option<String>,
    ) -> Result<Option<Self>> {
        let mut tools = Vec::new();
        for name in &asked.names {
            match tools::tool(name) {
                Some(tool) => tools.push(tool),
                None => crate::log::say(&format!("there is no tool `{name}`; it is left out")),
            }
        }
        let Some(first) = tools.first().map(|tool| tool.name()) else { return Ok(None) };
        let settings = ToolSettings::new(asked);
        let needs_cpu = |tool: &&'static dyn Tool| tool.needs_cpu(&settings.options(asked, tool.name()));
        if device.memory().remote().is_some()
            && let Some((tool, what)) = tools.iter().find_map(|tool| Some((tool.name(), needs_cpu(tool)?)))
        {
            crate::log::say(&format!(
                "{tool} needs {what}, which a GPU does not have, so CUDA does not start: run it with `--device cpu`"
            ));
            return Err(CudaError::NOT_SUPPORTED);
        }
        let instrumentation: Vec<&'static dyn Instrumentation> =
            tools.iter().map(|tool| tool.instrumentation()).collect();
        let rewriter = Rewriter::new(&instrumentation).map_err(|error| {
            crate::log::say(&format!("{error}, so CUDA does not start"));
            CudaError::NOT_SUPPORTED
        })?;
        // In the order in which kernels are rewritten.
        let tools: Vec<_> = rewriter.tools().iter().filter_map(|tool| tools::tool(tool.name())).collect();
        let session = asked.session.as_deref();
        let services = Services::new(device, session, settings.callers).map_err(|error| {
            let directory = session.and_then(Path::parent).unwrap_or(Path::new(".")).display();
            crate::log::say(&format!(
                "what the tools find cannot be written down ({error}), so CUDA does not start: make room in \
                 {directory}, or set TMPDIR to another directory; and look at `ulimit -n`"
            ));
            CudaError::OPERATING_SYSTEM
        })?;
        let services = Arc::new(services);
        let host: Arc<dyn Host> = services.clone();
        let start = |tool: &&'static dyn Tool| tool.start(&settings.options(asked, tool.name()), &host);
        let instances: Result<Vec<_>, String> = tools.iter().map(start).collect();
        let instances = instances.map_err(|error| {
            crate::log::say(&format!(
                "{error}, so CUDA does not start: raise `ulimit -v`, or try a smaller --device-memory"
            ));
            CudaError::OUT_OF_MEMORY
        })?;
        if instances.iter().any(|instance| instance.wants_order()) {
            crate::order::track();
        }
        let tool_host = Self {
            wants_stacks: instances.iter().any(|instance| instance.wants_stacks()),
            wants_calls: instances.iter().any(|instance| instance.wants_calls()),
            runs_on_caller: instances.iter().any(|instance| instance.runs_on_caller()),
            wants_order_of_stream_memory: instances.iter().any(|instance| instance.wants_order_of_stream_memory()),
            first,
            tools,
            instances,
            rewriter,
            settings,
            services,
            process: std::process::id(),
            rewritten: RewrittenKernels::default(),
            launches: AtomicU64::new(0),
            active: Mutex::default(),
            turns: RwLock::default(),
            snapshots: SnapshotBuffers::default(),
        };
        tool_host.services.write(&Line::Process(Process {
            id: std::process::id(),
            program: std::env::current_exe().map_or_else(|_| String::new(), |path| path.display().to_string()),
            tools: asked.names.iter().filter(|name| tools::tool(name).is_some()).cloned().collect(),
            seed,
            repeat,
        }));
        Ok(Some(tool_host))
    }

    /// The last lines.
    fn end(&self) {
        let mut state = self.services.state();
        if std::mem::replace(&mut state.is_ended, true) {
            return;
        }
        drop(state);
        self.report_active();
        self.count_all();
        self.report_failed_calls();
        for instance in &self.instances {
            instance.finish();
        }
        self.services.close();
        self.services.leave();
    }

    /// The process ends at once: its device does nothing more for it.
    fn leave_process(&self) -> ! {
        self.end();
        life::leave()
    }

    fn next_launch(&self) -> u64 {
        self.launches.fetch_add(1, Ordering::Relaxed) + 1
    }
}
