//! What runs one after another.

use toolkit::{RunStep, Step};

/// What runs one after another between two barriers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    /// Threads; but kernels that rely on the lockstep of a warp are left as they are.
    Auto,
    /// Threads.
    Thread,
    /// Warps, whose lanes run in lockstep.
    Warp,
}

impl Unit {
    pub(super) const ALL: [Self; 3] = [Self::Auto, Self::Thread, Self::Warp];

    /// As users name it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Thread => "thread",
            Self::Warp => "warp",
        }
    }

    /// Whether lanes of a warp have turns of their own.
    pub(super) fn is_by_lane(self) -> bool {
        self != Self::Warp
    }

    /// The kernel, one unit after another.
    pub(super) fn serial_run(self) -> Step {
        Step::Run(if self.is_by_lane() { RunStep::serial() } else { RunStep::by_warps() })
    }
}
