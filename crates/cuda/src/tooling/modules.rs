//! Kernels that tools rewrite.
//!
//! A kernel is rewritten when it is first launched, into a module that shares the variables of the program's own: libraries
//! have hundreds of kernels, and programs launch few of them. What was rewritten is not kept on disk: to rewrite a kernel
//! takes some milliseconds (`docs/memcheck-measurements.md`), and what takes long, its machine code, is kept.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use device::Program;
use ptx::analysis::CallGraph;
use report::Line;
use toolkit::SiteCount;

use super::ToolHost;
use super::instrumented_module::InstrumentedModule;
use super::launches::InstrumentedKernel;
use super::shared_words::ToolWords;

/// A module as the program loaded it, of which kernels are rewritten.
#[derive(Debug)]
pub(crate) struct KernelSource {
    program: Arc<dyn Program>,
    /// Which function may call which.
    calls: OnceLock<CallGraph>,
}

impl KernelSource {
    pub(crate) fn new(program: &Arc<dyn Program>) -> Self {
        Self { program: Arc::clone(program), calls: OnceLock::new() }
    }
}

/// Kernels that were rewritten, as long as they are there.
#[derive(Debug, Default)]
pub(super) struct RewrittenKernels {
    list: Mutex<Vec<Weak<InstrumentedKernel>>>,
}

impl ToolHost {
    /// Rewrites a kernel for all tools. If that fails, it stays as it is, and counts as unchecked.
    pub(crate) fn rewrite(&self, source: &KernelSource, name: &str) -> Option<Arc<InstrumentedKernel>> {
        let module = source.program.module();
        let calls = source.calls.get_or_init(|| CallGraph::of(module));
        let unchecked = |reason: String| self.services.write(&Line::Unchecked { kernel: name.to_owned(), reason });
        let is_wanted = |choice: &[usize]| {
            self.instances.iter().zip(choice).all(|(instance, version)| instance.wants_version(*version))
        };
        let rewritten = self.rewriter.rewrite_kernel(module, calls, module.function(name)?, is_wanted);
        let mut rewritten = rewritten.inspect_err(|error| unchecked(error.to_string())).ok()?;
        let versions = rewritten.kernels.remove(name)?;
        let program = source.program.load_part(rewritten.module);
        let program = program.inspect_err(|error| unchecked(error.to_string())).ok()?;
        let counters = ToolWords::new(&self.services.device, rewritten.sites.len());
        let counters = counters.inspect_err(|error| unchecked(error.to_string())).ok()?;
        let instrumented =
            InstrumentedModule { sites: rewritten.sites, versions, counters, reported: Mutex::default() };
        let static_shared = source.program.kernel_facts(name)?.shared;
        let kernel = InstrumentedKernel::new(instrumented, program, name, static_shared)?;
        let mut list = self.rewritten.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|kernel| kernel.strong_count() > 0);
        list.push(Arc::downgrade(&kernel));
        Some(kernel)
    }

    /// A kernel that was rewritten goes: tools are told what was counted in it.
    pub(crate) fn on_counts(&self, kernel: &str, program: &dyn Program, instrumented: &InstrumentedModule) {
        let InstrumentedModule { sites, counters, .. } = instrumented;
        let module = program.module();
        for instance in self.tools.iter().zip(&self.instances) {
            let (tool, instance) = instance;
            let of_tool = sites.numbered().filter(|(_, site)| site.tool == tool.name());
            let counts: Vec<SiteCount<'_>> = of_tool
                .filter_map(|(id, site)| {
                    // What is told is not told again.
                    let count = counters.get(id.0 as usize)?.swap(0, Ordering::Relaxed);
                    let place = || sites.place_in_function(module, id);
                    (count > 0 || instance.wants_zero(site))
                        .then(|| place().map(|place| SiteCount { site, place, kernel, module, count }))
                        .flatten()
                })
                .collect();
            if !counts.is_empty() {
                instance.on_counts(&counts);
            }
        }
    }

    /// The process ends: the same for all kernels that are still there.
    pub(super) fn count_all(&self) {
        let list = std::mem::take(&mut *self.rewritten.list.lock().unwrap_or_else(PoisonError::into_inner));
        for kernel in list.iter().filter_map(Weak::upgrade) {
            self.on_counts(&kernel.name, &**kernel.program(), &kernel.module);
        }
    }
}
