//! A kernel in the tiers in which it was compiled.
//!
//! Where it is left to us, a kernel starts in baseline code. What it runs in baseline code is added up; when that is as much as
//! better code is likely to take to compile, the kernel is compiled in the optimised tier, on a thread of its own, and
//! warps that start after that run optimised code. So a kernel that runs once is not waited for, and one that runs long is
//! behind where it could be by a small factor only.
//!
//! Both tiers compute the same, but a kernel whose threads race may see different sides of its races. Who wants a run to
//! repeat exactly therefore says in which tier, or that threads are counted instead of time.
//!
//! LLVM cannot be interrupted, and must not be at work when the process takes it down: the end of the process waits for
//! it, which is never longer than the process has run. The library is never unloaded.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::background;
use crate::codegen::CompileError;
use crate::kernel::{Kernel, Source};
use crate::options::Tier;
use crate::runtime::code::{BetterCode, KernelCode};

/// Optimised code takes about so many times as long to compile as baseline code.
const TIMES_AS_LONG: u64 = 3;

/// So many threads are worth optimised code, where time must not count: an estimate. The kernels of most tests stay below it, those
/// of benchmarks do not.
const MANY_THREADS: u64 = 1 << 14;

/// A kernel in the tiers in which it was compiled.
#[derive(Debug)]
pub(crate) struct TieredKernel {
    /// For the optimised tier.
    source: Source,
    baseline: OnceLock<Arc<Kernel>>,
    optimised: OnceLock<Arc<Kernel>>,
    /// Held by who compiles while somebody waits for it.
    compiling: Mutex<Looked>,
    /// Microseconds that baseline code ran.
    spent: AtomicU64,
    /// Threads of launches that have ended.
    threads: AtomicU64,
    /// Whether it was asked for optimised code.
    is_hot: AtomicBool,
}

/// Where was looked for optimised code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Looked {
    Nowhere,
    OnDisk,
}

impl TieredKernel {
    pub(crate) fn new(source: &Source) -> Self {
        Self {
            source: source.with_options(|options| options.tier = Tier::Optimised),
            baseline: OnceLock::new(),
            optimised: OnceLock::new(),
            compiling: Mutex::new(Looked::Nowhere),
            spent: AtomicU64::new(0),
            threads: AtomicU64::new(0),
            is_hot: AtomicBool::new(false),
        }
    }

    fn of_tier(&self, tier: Tier) -> &OnceLock<Arc<Kernel>> {
        match tier {
            Tier::Baseline => &self.baseline,
            Tier::Optimised => &self.optimised,
        }
    }

    fn source(&self, tier: Tier) -> Source {
        self.source.with_options(|options| options.tier = tier)
    }

    /// The kernel in a tier, compiled if it is not there yet.
    pub(crate) fn get(&self, tier: Tier) -> Result<Arc<Kernel>, CompileError> {
        let version = self.of_tier(tier);
        if let Some(kernel) = version.get() {
            return Ok(Arc::clone(kernel));
        }
        let _one_at_a_time = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = version.get() {
            return Ok(Arc::clone(kernel));
        }
        let kernel = Kernel::compile(self.source(tier))?;
        Ok(Arc::clone(version.get_or_init(|| Arc::new(kernel))))
    }

    /// The code for a launch of so many threads, which depends on the launches before it alone.
    pub(crate) fn of_threads(&self, threads: u64) -> Result<Arc<Kernel>, CompileError> {
        let is_hot = self.threads.load(Ordering::Relaxed).saturating_add(threads) >= MANY_THREADS;
        self.get(if is_hot { Tier::Optimised } else { Tier::Baseline })
    }

    /// The best code that can be had soon.
    pub(crate) fn best(&self) -> Result<Arc<Kernel>, CompileError> {
        if let Some(kernel) = self.optimised() {
            return Ok(Arc::clone(kernel));
        }
        if let Some(kernel) = self.baseline.get() {
            return Ok(Arc::clone(kernel));
        }
        {
            let mut looked = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
            if *looked == Looked::Nowhere {
                *looked = Looked::OnDisk;
                if let Some(kernel) = Kernel::kept(self.source(Tier::Optimised)) {
                    let _ = self.optimised.set(Arc::new(kernel));
                }
            }
        }
        self.optimised().map_or_else(|| self.get(Tier::Baseline), |kernel| Ok(Arc::clone(kernel)))
    }

    /// Optimised code, if it is there.
    fn optimised(&self) -> Option<&Arc<Kernel>> {
        self.optimised.get()
    }

    /// The best tier that is there.
    pub(crate) fn best_tier(&self) -> Option<Tier> {
        [Tier::Optimised, Tier::Baseline].into_iter().find(|&tier| self.of_tier(tier).get().is_some())
    }

    /// Whether it misspeculates often.
    pub(crate) fn misspeculates(&self) -> bool {
        [&self.baseline, &self.optimised]
            .into_iter()
            .filter_map(OnceLock::get)
            .any(|kernel| kernel.code.misspeculations.are_many())
    }

    /// Whether it is worth knowing how long baseline code runs.
    fn is_timed(&self) -> bool {
        !self.is_hot.load(Ordering::Relaxed)
    }

    /// Quick code has run, or runs, for so long in a launch that is not yet counted. If that makes the kernel hot, it is
    /// compiled in the background.
    fn note(self: &Arc<Self>, running: Duration) {
        let Some(baseline) = self.baseline.get() else { return };
        let spent = self.spent.load(Ordering::Relaxed) + running.as_micros() as u64;
        if spent >= TIMES_AS_LONG * baseline.microseconds
            && self.optimised().is_none()
            && !self.is_hot.swap(true, Ordering::Relaxed)
        {
            let this = Arc::clone(self);
            background::start(move || {
                // Quick code does where there is no other.
                if let Ok(kernel) = Kernel::compile(this.source(Tier::Optimised)) {
                    let _ = this.optimised.set(Arc::new(kernel));
                }
            });
        }
    }

    /// A launch of so many threads has ended.
    pub(crate) fn ran(&self, threads: u64) {
        self.threads.fetch_add(threads, Ordering::Relaxed);
    }

    /// A launch of baseline code took so long.
    pub(crate) fn ran_for(self: &Arc<Self>, time: Duration) {
        self.note(time);
        self.spent.fetch_add(time.as_micros() as u64, Ordering::Relaxed);
    }
}

impl BetterCode for Arc<TieredKernel> {
    fn better_code(&self, started: Instant) -> Option<&KernelCode> {
        let optimised = self.optimised();
        if optimised.is_none() && self.is_timed() {
            self.note(started.elapsed());
        }
        optimised.map(|kernel| &kernel.code)
    }
}
