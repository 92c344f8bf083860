//! A kernel, compiled for some options.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use ptx::ir::{FuncId, Module};

use crate::code_cache::CodeCache;
use crate::jit::{Code, LinkError};
use crate::llvm::machine::{Emitted, GATHERS, HostMachines};
use crate::llvm::{self, CodeLevel, Context, Machine};
use crate::lower::{self, ENTRY, KernelSummary, Traits, Unsupported};
use crate::options::{Options, Tier, Width};
use crate::runtime::entry;

/// A kernel that can be launched.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) code: Code,
    pub(crate) width: Width,
    /// Whether it is for warps that may meet at barriers.
    pub(crate) has_barriers: bool,
    pub(crate) traits: Traits,
    /// Whether it goes on with the next warp of a block by itself.
    pub(crate) loops_over_warps: bool,
    /// Whether it goes on with the next block, too, if the launch adds no shared memory.
    pub(crate) loops_over_blocks: bool,
    /// Bytes of stack that a fibre needs.
    pub(crate) stack: usize,
    /// Where shared memory starts that the launch adds.
    pub(crate) dynamic_shared: u64,
    /// Bytes of local memory of a thread.
    pub(crate) local: u64,
    /// Bytes of parameters.
    pub(crate) params: u64,
    /// How many warps were deoptimized because indices wrapped.
    misspeculations: AtomicU32,
    /// How long it took to compile.
    pub(crate) microseconds: u64,
    source: Source,
    /// The same kernel for single threads, for warps that are deoptimized.
    thread_kernel: OnceLock<Result<Box<Kernel>, CompileError>>,
}

/// What a kernel is compiled from.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) module: Arc<Module>,
    pub(crate) kernel: FuncId,
    pub(crate) options: Options,
    /// The addresses of the module's variables.
    pub(crate) symbols: Arc<[(String, usize)]>,
    /// Where code is kept on disk, if it is.
    pub(crate) cache: Option<Arc<CodeCache>>,
}

/// Why a kernel cannot be launched.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CompileError {
    /// It holds something that the device does not have.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Unsupported(Vec<Unsupported>),
    /// Our bug, or LLVM's.
    #[error("{0}")]
    Internal(String),
}

impl From<LinkError> for CompileError {
    fn from(error: LinkError) -> Self {
        Self::Internal(error.to_string())
    }
}

/// What functions of the runtime, and signal handlers, may need of a stack.
const RUNTIME_STACK: u64 = 128 << 10;
/// When so many warps of a kernel were deoptimized by misspeculation, its next launch does not speculate.
const MOST_MISSPECULATIONS: u32 = 4;
/// The stack of a kernel that calls itself.
const RECURSIVE_STACK: u64 = 4 << 20;

/// LLVM's text for a kernel, before or after its passes.
pub(crate) fn llvm_text(
    module: &Module,
    kernel: FuncId,
    options: &Options,
    optimised: bool,
) -> Result<String, CompileError> {
    let context = Context::new();
    let llvm = llvm::Module::new(&context, "kernel", options.processor);
    lower::lower(module, kernel, options, &llvm).map_err(CompileError::Unsupported)?;
    if optimised {
        with_machine(options, |machine| {
            machine.prepare(&llvm);
            machine.run_passes(&llvm, passes(options)).map_err(internal)
        })?;
        llvm.thaw_loads();
    }
    Ok(llvm.text())
}

/// What of a kernel the device cannot run; nothing if it can run all of it.
pub fn unsupported(module: &Module, kernel: FuncId, options: &Options) -> Vec<Unsupported> {
    let context = Context::new();
    let llvm = llvm::Module::new(&context, "kernel", options.processor);
    let mut options = options.clone();
    if lower::needs_threads(module, kernel) {
        options.width = Width::Thread;
    }
    lower::lower(module, kernel, &options, &llvm).err().unwrap_or_default()
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
    fn of(source: &Source) -> Result<Self, CompileError> {
        let Source { module, kernel, options, .. } = source;
        let kernel = *kernel;
        let started = Instant::now();
        let context = Context::new();
        let llvm = llvm::Module::new(&context, "kernel", options.processor);
        let summary = lower::lower(module, kernel, options, &llvm).map_err(CompileError::Unsupported)?;
        let Emitted { object, frames } = with_machine(options, |machine| {
            machine.prepare(&llvm);
            llvm.verify().map_err(internal)?;
            machine.run_passes(&llvm, passes(options)).map_err(internal)?;
            llvm.thaw_loads();
            machine.emit(&llvm).map_err(internal)
        })?;
        // Each function at most once on the stack, unless it calls itself.
        let frames: u64 = frames.iter().map(|(_, bytes)| bytes + 64).sum();
        let is_recursive = ptx::analysis::CallGraph::of(module).reachable_from(kernel).iter().count() > 1
            && summary.sizes.local >= 64 << 10;
        let stack = frames + RUNTIME_STACK + if is_recursive { RECURSIVE_STACK } else { 0 };
        let microseconds = started.elapsed().as_micros() as u64;
        Ok(Self { object, stack, summary, microseconds })
    }
}

impl Kernel {
    /// Compiles a kernel, on a thread of its own, or takes it from where it was kept.
    pub(crate) fn compile(source: Source) -> Result<Self, CompileError> {
        crate::compiler::run(move || Self::compile_here(source)).unwrap_or_else(|error| Err(internal(error)))
    }

    /// A kernel that was compiled before and kept.
    pub(crate) fn kept(source: Source) -> Option<Self> {
        let cache = Arc::clone(source.cache.as_ref()?);
        let id = cache.id(&source)?;
        if !cache.has(&id) {
            return None;
        }
        crate::compiler::run(move || Self::kept_at(&cache, &id, &source)).ok()?
    }

    fn compile_here(source: Source) -> Result<Self, CompileError> {
        let id = source.cache.as_ref().and_then(|cache| cache.id(&source));
        let place = source.cache.clone().zip(id);
        if let Some((cache, id)) = &place
            && let Some(kernel) = Self::kept_at(cache, id, &source)
        {
            return Ok(kernel);
        }
        let compiled = Compiled::of(&source)?;
        if let Some((cache, id)) = &place {
            cache.put(id, &compiled);
        }
        Self::link(source, &compiled)
    }

    fn kept_at(cache: &CodeCache, id: &cache::Id, source: &Source) -> Option<Self> {
        let kernel = Self::link(source.clone(), &cache.get(id)?);
        if kernel.is_err() {
            cache.remove(id);
        }
        kernel.ok()
    }

    fn link(source: Source, compiled: &Compiled) -> Result<Self, CompileError> {
        let mut symbols = entry::symbols();
        symbols.extend_from_slice(&source.symbols);
        let code = Code::link(&compiled.object, &symbols, ENTRY)?;
        let KernelSummary { sizes, traits } = compiled.summary;
        let loops_over_warps = lower::loops_over_warps(&source.module, source.kernel, &source.options);
        Ok(Self {
            code,
            width: source.options.width,
            has_barriers: lower::has_barriers(&source.module, source.kernel, &source.options),
            traits,
            loops_over_warps,
            loops_over_blocks: loops_over_warps && lower::loops_over_blocks(&sizes),
            stack: compiled.stack as usize,
            dynamic_shared: sizes.dynamic_shared,
            local: sizes.local,
            params: sizes.params,
            misspeculations: AtomicU32::new(0),
            microseconds: compiled.microseconds,
            source,
            thread_kernel: OnceLock::new(),
        })
    }

    /// A warp is deoptimized by misspeculation.
    pub(crate) fn count_misspeculation(&self) {
        self.misspeculations.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether it is better not to speculate.
    pub(crate) fn misspeculates(&self) -> bool {
        self.misspeculations.load(Ordering::Relaxed) >= MOST_MISSPECULATIONS
    }

    /// The same kernel for single threads that go on in its middle, compiled when it is first asked for.
    pub(crate) fn thread_kernel(&self) -> Result<&Self, CompileError> {
        let compiled = self.thread_kernel.get_or_init(|| {
            let options = Options { width: Width::Thread, resumable: true, ..self.source.options.clone() };
            Self::compile(Source { options, ..self.source.clone() }).map(Box::new)
        });
        compiled.as_deref().map_err(Clone::clone)
    }
}
