//! What tools may want to know of a launch while it runs.

use crate::fault::{Fault, LaneNotInMask, Waiter};

/// Is told of events in a launch, on the thread on which they happen, between two steps of its warps. What it does takes
/// the time of the launch.
pub trait Observer: Send + Sync + std::fmt::Debug {
    /// A warp, or a thread that runs on its own, has to wait for others of its block.
    fn waits(&self, _waiter: &Waiter) {}

    /// A thread calls lanes of its warp together and is not among them. PTX leaves open what comes of it; here, it goes
    /// on with what those have that are there, as on processors.
    fn lane_not_in_mask(&self, _lane: &LaneNotInMask) {}

    /// All that are left wait for each other: the launch is about to end.
    fn deadlock(&self, _waiters: &[Waiter]) {}

    /// Something went wrong: the launch is about to end.
    fn fault(&self, _fault: &Fault) {}

    /// All threads of a block have ended, and executed so many instructions each, in the order of their numbers. Only said if
    /// instructions are counted.
    fn executed(&self, _block: [u32; 3], _instructions: &[u64]) {}

    /// All threads of a block have ended.
    fn ends(&self, _block: [u32; 3]) {}
}
