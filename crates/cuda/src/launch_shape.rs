//! The shape of a launch.

use rewrite::LaunchPlan;

/// How a kernel is launched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LaunchShape {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// Bytes of shared memory besides what the kernel declares.
    pub(crate) shared: u32,
    /// Whether blocks may wait for each other.
    pub(crate) is_cooperative: bool,
}

impl LaunchShape {
    /// The launch as the program wants it.
    pub(crate) fn plan(&self) -> LaunchPlan {
        LaunchPlan { grid: self.grid, block: self.block, dynamic_shared: self.shared, runs: 1 }
    }
}
