//! A kernel, compiled for some options.

use std::sync::{Arc, OnceLock};

use crate::code_cache::CodeCache;
use crate::codegen::{self, CompileError, Compiled};
use crate::compiler;
use crate::jit::Code;
use crate::lower::{self, ENTRY, KernelSummary};
use crate::options::{Options, Width};
use crate::runtime::code::{KernelCode, Misspeculations, ThreadCode};
use crate::runtime::entry;
use device::FaultKind;

/// A kernel that can be launched.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) code: KernelCode,
    /// Whether it has loops in which a thread may wait for memory.
    pub(crate) spins: bool,
    /// Whether it goes on with the next block, too, if the launch adds no shared memory.
    pub(crate) loops_over_blocks: bool,
    /// Bytes of parameters.
    pub(crate) params: u64,
    /// How long it took to compile.
    pub(crate) microseconds: u64,
    source: Source,
    /// The same kernel for single threads, for warps that are deoptimized.
    thread_kernel: OnceLock<Result<Box<Kernel>, CompileError>>,
    /// What `code` is in.
    _linked: Code,
}

/// What a kernel is made from.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) code: codegen::Source,
    /// The addresses of the module's variables.
    pub(crate) symbols: Arc<[(String, usize)]>,
    /// Where code is kept on disk, if it is.
    pub(crate) cache: Option<Arc<CodeCache>>,
}

impl Source {
    /// The same, with other options.
    pub(crate) fn with_options(&self, change: impl FnOnce(&mut Options)) -> Self {
        let mut source = self.clone();
        change(&mut source.code.options);
        source
    }
}

impl Kernel {
    /// Compiles a kernel, on a thread of its own, or takes it from where it was kept.
    pub(crate) fn compile(source: Source) -> Result<Self, CompileError> {
        compiler::run(move || Self::compile_here(source)).unwrap_or_else(|error| Err(CompileError::Internal(error)))
    }

    /// A kernel that was compiled before and kept.
    pub(crate) fn kept(source: Source) -> Option<Self> {
        let cache = Arc::clone(source.cache.as_ref()?);
        let id = cache.id(&source.code)?;
        if !cache.has(&id) {
            return None;
        }
        compiler::run(move || Self::kept_at(&cache, &id, &source)).ok()?
    }

    fn compile_here(source: Source) -> Result<Self, CompileError> {
        let id = source.cache.as_ref().and_then(|cache| cache.id(&source.code));
        let place = source.cache.clone().zip(id);
        if let Some((cache, id)) = &place
            && let Some(kernel) = Self::kept_at(cache, id, &source)
        {
            return Ok(kernel);
        }
        let compiled = Compiled::of(&source.code)?;
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
        let linked =
            Code::link(&compiled.object, &symbols, ENTRY).map_err(|error| CompileError::Internal(error.to_string()))?;
        let KernelSummary { sizes, traits } = compiled.summary;
        let codegen::Source { module, kernel, options } = &source.code;
        let loops_over_warps = lower::loops_over_warps(module, *kernel, options);
        let code = KernelCode {
            entry: linked.entry(),
            width: options.width,
            has_barriers: lower::has_barriers(module, *kernel, options),
            has_region_loops: traits.has_region_loops,
            loops_over_warps,
            stack: compiled.stack as usize,
            dynamic_shared: sizes.dynamic_shared,
            local: sizes.local,
            misspeculations: Misspeculations::default(),
        };
        Ok(Self {
            code,
            spins: traits.spins,
            loops_over_blocks: loops_over_warps && lower::loops_over_blocks(&sizes),
            params: sizes.params,
            microseconds: compiled.microseconds,
            source,
            thread_kernel: OnceLock::new(),
            _linked: linked,
        })
    }
}

impl ThreadCode for Kernel {
    fn thread_code(&self) -> Result<&KernelCode, FaultKind> {
        // Compiled when it is first asked for.
        let compiled = self.thread_kernel.get_or_init(|| {
            let source = self.source.with_options(|options| (options.width, options.resumable) = (Width::Thread, true));
            Self::compile(source).map(Box::new)
        });
        match compiled {
            Ok(kernel) => Ok(&kernel.code),
            Err(error) => Err(FaultKind::Unsupported { what: error.to_string() }),
        }
    }
}
