//! How launches are compiled and run.

use std::sync::Arc;
use std::time::Duration;

use crate::codegen::CompileError;
use crate::kernel::Kernel;
use crate::options::{Processor, Tier, Width};
use crate::tiered_kernel::TieredKernel;

/// How a launch is compiled and run.
#[derive(Clone, Debug)]
pub struct Mode {
    /// How many lanes run at once.
    pub width: Width,
    /// How much time is spent on compiling.
    pub tier: Tier,
    /// Whether a kernel starts in the baseline tier, whatever `tier` says, and goes on in the optimised one when it has run
    /// for some time. Then kernels with races need not do the same each time.
    pub warm_up: bool,
    /// Seeds the schedule; a random one if it is asked for.
    pub seed: u64,
    /// Whether the order of warps is random.
    pub random_schedule: bool,
    /// Whether another warp may run before each access to memory, if the order is random.
    pub preempt: bool,
    /// How many instructions the threads of a warp may execute together.
    pub budget: Option<u64>,
    /// Whether instructions are counted.
    pub count: bool,
    /// How many OS threads run blocks. With one, a launch repeats exactly.
    pub threads: usize,
    /// After which time a launch that spins is ended.
    pub timeout: Option<Duration>,
    /// Whether copies of `cp.async` are done as late as PTX allows instead of at once.
    pub late_copies: bool,
    /// What code is for; nothing for the processor that we run on.
    pub processor: Option<Processor>,
}

impl Mode {
    /// The code of a kernel that a launch starts with.
    pub(crate) fn code(&self, tiered: &TieredKernel) -> Result<Arc<Kernel>, CompileError> {
        if self.warm_up { tiered.best() } else { tiered.get(self.tier) }
    }
}

impl Default for Mode {
    fn default() -> Self {
        Self {
            width: Width::Warp,
            tier: Tier::Optimised,
            warm_up: false,
            seed: 0,
            random_schedule: false,
            preempt: false,
            budget: None,
            count: false,
            threads: 1,
            timeout: None,
            late_copies: false,
            processor: None,
        }
    }
}
