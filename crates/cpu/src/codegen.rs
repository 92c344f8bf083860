//! From PTX to machine code that is not linked yet.

use std::sync::Arc;
use std::time::Instant;

use ptx::analysis::CallGraph;
use ptx::ir::{FuncId, Module};

use crate::linked_module::LinkedModule;
use crate::llvm::machine::{Emitted, GATHERS, HostMachines};
use crate::llvm::{self, CodeLevel, Context, Machine};
use crate::lower::{self, KernelSummary, Unsupported, refusal};
use crate::options::{Options, Tier, Width};

/// All that decides what machine code comes out.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) module: Arc<LinkedModule>,
    pub(crate) kernel: FuncId,
    pub(crate) options: Options,
}

/// Why a kernel cannot be launched.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CompileError {
    /// It holds something that the device does not have.
    #[error("{}", refusal(.reasons, *.architecture))]
    Unsupported {
        /// What it holds.
        reasons: Vec<Unsupported>,
        /// What its module is built for: 90 for `sm_90`.
        architecture: Option<u32>,
    },
    /// Our bug, or LLVM's.
    #[error("{0}")]
    Internal(String),
}

impl From<CompileError> for device::LaunchError {
    fn from(error: CompileError) -> Self {
        let text = error.to_string();
        match error {
            CompileError::Unsupported { .. } => Self::Unsupported(text),
            CompileError::Internal(_) => Self::Internal(text),
        }
    }
}

/// What functions of the runtime, and signal handlers, may need of a stack.
const RUNTIME_STACK: u64 = 128 << 10;
/// The stack of a kernel that calls itself.
const RECURSIVE_STACK: u64 = 4 << 20;

/// LLVM's text for a kernel, before or after its passes.
pub(crate) fn llvm_text(
    module: &LinkedModule,
    kernel: FuncId,
    options: &Options,
    optimised: bool,
) -> Result<String, CompileError> {
    let context = Context::new();
    let llvm = llvm::Module::new(&context, "kernel", options.processor);
    lower::lower(module, module.calls(), kernel, options, &llvm).map_err(|reasons| refused(module, reasons))?;
    if optimised {
        with_machine(options, |machine| {
            machine.prepare(&llvm);
            machine.run_passes(&llvm, passes(options)).map_err(internal)
        })?;
        llvm.thaw_loads();
    }
    Ok(llvm.text())
}

/// What of a kernel the device cannot run; nothing if it can run all of it. The call graph is that of the module.
pub fn unsupported(module: &Module, calls: &CallGraph, kernel: FuncId, options: &Options) -> Vec<Unsupported> {
    let context = Context::new();
    let llvm = llvm::Module::new(&context, "kernel", options.processor);
    let mut options = options.clone();
    if lower::needs_threads(module, calls, kernel, false) {
        options.width = Width::Thread;
    }
    lower::lower(module, calls, kernel, &options, &llvm).err().unwrap_or_default()
}

fn refused(module: &Module, reasons: Vec<Unsupported>) -> CompileError {
    CompileError::Unsupported { reasons, architecture: module.architecture_number() }
}

fn internal(error: impl std::fmt::Display) -> CompileError {
    CompileError::Internal(error.to_string())
}

/// Does something with a machine for the processor that is asked for.
fn with_machine<T>(
    options: &Options,
    body: impl FnOnce(&Machine) -> Result<T, CompileError>,
) -> Result<T, CompileError> {
    static HOST: HostMachines = HostMachines::new();
    let level = match options.tier {
        Tier::Baseline => CodeLevel::Quick,
        Tier::Optimised => CodeLevel::Optimised,
    };
    if let Some(processor) = options.processor {
        return body(&Machine::new(processor.name(), GATHERS, level).map_err(internal)?);
    }
    // If LLVM gives up in between, the machine is lost with the thread.
    let machine = HOST.take(level).map_err(internal)?;
    let result = body(&machine);
    HOST.give_back(level, machine);
    result
}

/// The passes of LLVM, in the notation of `opt -passes`.
///
/// The baseline tier only does what makes the code smaller for which instructions have to be selected, which costs most of
/// the time for vectors. The optimised tier leaves out of `default<O2>` what finds nothing to do, because compilers did
/// it before PTX was written: measured, the code is as small and as fast, and made with half of the passes' time.
fn passes(options: &Options) -> &'static str {
    match (options.tier, options.width) {
        (Tier::Baseline, Width::Thread) => "function(mem2reg,simplifycfg)",
        (Tier::Baseline, Width::Warp) => "function(mem2reg,early-cse,simplifycfg,adce)",
        (Tier::Optimised, _) => {
            "function(sroa,early-cse<memssa>,simplifycfg),\
             cgscc(inline),\
             function(instcombine<no-verify-fixpoint>,simplifycfg,reassociate,loop-mssa(loop-rotate,licm),\
             gvn,dse,instcombine<no-verify-fixpoint>,adce,simplifycfg)"
        }
    }
}

/// Machine code of a kernel that is not linked yet, and what it needs to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Compiled {
    /// An object file.
    pub(crate) object: Vec<u8>,
    /// Bytes of stack that a fibre needs.
    pub(crate) stack: u64,
    pub(crate) summary: KernelSummary,
    /// How long it took to compile.
    pub(crate) microseconds: u64,
}

impl Compiled {
    /// Compiles, on the thread that calls.
    pub(crate) fn of(source: &Source) -> Result<Self, CompileError> {
        let Source { module, kernel, options } = source;
        let kernel = *kernel;
        let started = Instant::now();
        let context = Context::new();
        let llvm = llvm::Module::new(&context, "kernel", options.processor);
        let summary =
            lower::lower(module, module.calls(), kernel, options, &llvm).map_err(|reasons| refused(module, reasons))?;
        let Emitted { object, frames } = with_machine(options, |machine| {
            machine.prepare(&llvm);
            llvm.verify().map_err(internal)?;
            machine.run_passes(&llvm, passes(options)).map_err(internal)?;
            llvm.thaw_loads();
            machine.emit(&llvm).map_err(internal)
        })?;
        // Each function at most once on the stack, unless it calls itself.
        let frames: u64 = frames.iter().map(|(_, bytes)| bytes + 64).sum();
        let calls = module.calls();
        let is_recursive = calls.reachable_from(kernel).iter().any(|func| calls.is_recursive(func));
        let stack = frames + RUNTIME_STACK + if is_recursive { RECURSIVE_STACK } else { 0 };
        let microseconds = started.elapsed().as_micros() as u64;
        Ok(Self { object, stack, summary, microseconds })
    }
}
