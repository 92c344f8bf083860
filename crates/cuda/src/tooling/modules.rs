//! Modules that tools have rewritten.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use device::Program;
use ptx::ir::Module;
use report::Line;
use rewrite::{KernelVersions, Sites};
use rustc_hash::FxHashMap;
use toolkit::SiteCount;

use super::ToolHost;

/// A module that tools have rewritten.
#[derive(Debug)]
pub(crate) struct InstrumentedModule {
    pub(super) sites: Sites,
    pub(super) kernels: FxHashMap<String, Arc<KernelVersions>>,
    /// How often something happened at each site.
    pub(super) counters: Box<[AtomicU64]>,
    /// What is known of each site where something was found.
    pub(super) reported: Mutex<FxHashMap<u32, Reported>>,
}

/// What was reported of a site.
#[derive(Debug, Default)]
pub(super) struct Reported {
    /// Which variants of records.
    pub(super) variants: Vec<u64>,
    /// The number of the first finding, and how often it was reported.
    pub(super) finding: Option<(usize, u64)>,
}

impl InstrumentedModule {
    /// Whether a kernel is one that the program has: versions of it are nobody's to ask for.
    pub(crate) fn has_kernel(&self, name: &str) -> bool {
        self.kernels.contains_key(name)
    }
}

/// A module that is loaded, as long as it is.
type LoadedModule = (Weak<dyn Program>, Weak<InstrumentedModule>);

/// Modules that are loaded.
#[derive(Debug, Default)]
pub(super) struct LoadedModules {
    list: Mutex<Vec<LoadedModule>>,
}

impl ToolHost {
    /// Rewrites a module for all tools. If that fails, it stays as it is, and its kernels count as unchecked.
    pub(crate) fn rewrite(&self, module: Module) -> (Module, Option<Arc<InstrumentedModule>>) {
        let kept = module.clone();
        match self.rewriter.rewrite(module) {
            Ok(rewritten) => {
                let counters = (0..rewritten.sites.len()).map(|_| AtomicU64::new(0)).collect();
                let instrumented = InstrumentedModule {
                    sites: rewritten.sites,
                    kernels: rewritten.kernels.into_iter().map(|(name, all)| (name, Arc::new(all))).collect(),
                    counters,
                    reported: Mutex::default(),
                };
                (rewritten.module, Some(Arc::new(instrumented)))
            }
            Err(error) => {
                self.services.write(&Line::Unchecked { kernel: String::new(), reason: error.to_string() });
                (kept, None)
            }
        }
    }

    /// A module that was rewritten is loaded.
    pub(crate) fn on_rewritten(&self, program: &Arc<dyn Program>, instrumented: &Arc<InstrumentedModule>) {
        let mut list = self.loaded.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|(program, _)| program.strong_count() > 0);
        list.push((Arc::downgrade(program), Arc::downgrade(instrumented)));
    }

    /// A module that was rewritten goes: tools are told what was counted in it.
    pub(crate) fn on_counts(&self, program: &dyn Program, instrumented: &InstrumentedModule) {
        let InstrumentedModule { sites, counters, .. } = instrumented;
        for instance in self.tools.iter().zip(&self.instances) {
            let (tool, instance) = instance;
            let of_tool = sites.numbered().filter(|(_, site)| site.tool == tool.name());
            let counts: Vec<SiteCount<'_>> = of_tool
                .filter_map(|(id, site)| {
                    // What is told is not told again.
                    let count = counters.get(id.0 as usize)?.swap(0, Ordering::Relaxed);
                    let place = || sites.place_in_function(program.module(), id);
                    (count > 0).then(|| place().map(|place| SiteCount { site, place, count })).flatten()
                })
                .collect();
            if !counts.is_empty() {
                instance.on_counts(&counts);
            }
        }
    }

    /// The process ends: the same for all modules that are still there.
    pub(super) fn count_all(&self) {
        let list = std::mem::take(&mut *self.loaded.list.lock().unwrap_or_else(PoisonError::into_inner));
        for (program, instrumented) in list {
            if let (Some(program), Some(instrumented)) = (program.upgrade(), instrumented.upgrade()) {
                self.on_counts(&*program, &instrumented);
            }
        }
    }
}
