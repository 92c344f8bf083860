//! How launches are compiled and run.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use device::{LaunchRequest, Order};

use crate::codegen::CompileError;
use crate::kernel::Kernel;
use crate::options::{Processor, Tier, Width};
use crate::schedule::Schedule;
use crate::tiered_kernel::TieredKernel;

/// How a launch is compiled and run.
#[derive(Clone, Debug)]
pub struct Mode {
    /// How many lanes run at once.
    pub width: Width,
    /// How much time is spent on compiling.
    pub tier: Tier,
    /// Whether a kernel starts in the baseline tier, whatever `tier` says, and goes on in the optimised one.
    pub warm_up: WarmUp,
    /// Who runs next where several can.
    pub schedule: Schedule,
    /// What schedules are made from that are not in order.
    pub seed: u64,
    /// Whether another warp may run before each access to memory that the program makes, if the schedule is not in order. What
    /// a tool inserted is not preempted: so a schedule does not depend on the tools that look on.
    pub preempt: bool,
    /// How many instructions of the program a thread may execute. It is looked at where a loop goes back and where a function is called, so a
    /// thread may execute some more.
    pub budget: Option<u64>,
    /// Whether instructions are counted.
    pub count: bool,
    /// How many OS threads run blocks. With one, a launch repeats exactly.
    pub threads: usize,
    /// After which time a launch that spins is ended.
    pub timeout: Option<Duration>,
    /// Whether copies of `cp.async` are done as late as PTX allows instead of at once.
    pub late_copies: bool,
    /// Whether each access outside of the device's memory, and of the shared and local memory and parameters of its thread, ends
    /// the launch: then a kernel cannot touch anything else of the process, whatever addresses it computes.
    pub confine: bool,
    /// What code is for; nothing for the processor that we run on.
    pub processor: Option<Processor>,
}

/// When a kernel goes on in the optimised tier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WarmUp {
    /// All of it is compiled in the tier that the mode says.
    Never,
    /// When it has run for some time. Then kernels with races need not do the same each time.
    ByTime,
    /// With the launch that brings it to some number of threads: that repeats exactly.
    ByThreads,
}

impl Mode {
    /// The mode of a launch, which may ask for an order and for limits of its own.
    pub(crate) fn of(&self, request: &LaunchRequest<'_>) -> Cow<'_, Self> {
        let mut mode = self.in_order(request.order);
        if request.budget.is_some() || request.limit.is_some() || request.is_confined {
            let mode = mode.to_mut();
            mode.budget = request.budget.or(mode.budget);
            mode.timeout = request.limit.or(mode.timeout);
            mode.confine |= request.is_confined;
        }
        mode
    }

    /// The mode of a launch that asks for an order. What a device is told to do in general does not count then.
    fn in_order(&self, order: Order) -> Cow<'_, Self> {
        let one_worker = |schedule| Self { schedule, threads: 1, preempt: false, ..self.clone() };
        Cow::Owned(match order {
            Order::Free => return Cow::Borrowed(self),
            Order::Ascending => one_worker(Schedule::InOrder),
            Order::Serial => Self { width: Width::Thread, ..one_worker(Schedule::ByThread) },
            Order::Warps => Self { width: Width::Warp, ..one_worker(Schedule::ByThread) },
            Order::Random { seed, preempt } => Self { seed, preempt, ..one_worker(Schedule::Random) },
        })
    }

    /// Whether instructions are counted, for whatever reason.
    pub(crate) fn counts(&self) -> bool {
        self.count || self.budget.is_some()
    }

    /// The code of a kernel that a launch of so many threads starts with.
    pub(crate) fn code(&self, tiered: &TieredKernel, threads: u64) -> Result<Arc<Kernel>, CompileError> {
        match self.warm_up {
            WarmUp::Never => tiered.get(self.tier),
            WarmUp::ByTime => tiered.best(),
            WarmUp::ByThreads => tiered.of_threads(threads),
        }
    }
}

impl Default for Mode {
    fn default() -> Self {
        Self {
            width: Width::Warp,
            tier: Tier::Optimised,
            warm_up: WarmUp::Never,
            schedule: Schedule::InOrder,
            seed: 0,
            preempt: false,
            budget: None,
            count: false,
            threads: 1,
            timeout: None,
            late_copies: false,
            confine: false,
            processor: None,
        }
    }
}
