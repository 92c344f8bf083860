//! Compiled code of a kernel, as far as a launch has to know it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use crate::abi::context::Entry;
use crate::options::Width;
use device::FaultKind;

/// Compiled code of a kernel.
#[derive(Debug)]
pub(crate) struct KernelCode {
    /// Runs one warp, or one thread. It is there as long as this is.
    pub(crate) entry: Entry,
    pub(crate) width: Width,
    /// Whether it is for warps that may meet at barriers.
    pub(crate) has_barriers: bool,
    /// Whether one call runs all warps of a block from barrier to barrier.
    pub(crate) has_region_loops: bool,
    /// Whether it goes on with the next warp of a block by itself.
    pub(crate) loops_over_warps: bool,
    /// Bytes of stack that a fibre needs.
    pub(crate) stack: usize,
    /// Where shared memory starts that the launch adds.
    pub(crate) dynamic_shared: u64,
    /// Bytes of local memory of a thread.
    pub(crate) local: u64,
    pub(crate) misspeculations: Misspeculations,
}

/// How many warps were deoptimized because something was not as the code speculates.
#[derive(Debug, Default)]
pub(crate) struct Misspeculations(AtomicU32);

/// When so many warps of a kernel were deoptimized by misspeculation, its next launch does not speculate.
const MOST_MISSPECULATIONS: u32 = 4;

impl Misspeculations {
    /// A warp is deoptimized by misspeculation.
    pub(crate) fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether it is better not to speculate.
    pub(crate) fn are_many(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= MOST_MISSPECULATIONS
    }
}

/// Where code comes from for threads of warps that are deoptimized.
pub(crate) trait ThreadCode: Sync + std::fmt::Debug {
    /// The same kernel for single threads that go on in its middle. If there can be none, what the launch fails with.
    fn thread_code(&self) -> Result<&KernelCode, FaultKind>;
}

/// Where better code may come from while a launch runs.
pub(crate) trait BetterCode: Sync + std::fmt::Debug {
    /// Better code for a launch that started at some moment, if it is there.
    fn better_code(&self, started: Instant) -> Option<&KernelCode>;
}
