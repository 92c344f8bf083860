//! What is asked of a device when a kernel is launched.

use std::sync::Arc;
use std::time::Duration;

use crate::fault::Fault;
use crate::memory::Heap;
use crate::observer::Observer;
use crate::output::Output;

/// How a kernel is launched.
#[derive(Clone, Debug)]
pub struct LaunchRequest<'a> {
    /// The name of the kernel.
    pub kernel: &'a str,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of shared memory besides what the kernel declares.
    pub dynamic_shared: u32,
    /// The parameters, laid out as the kernel declares them.
    pub params: &'a [u8],
    /// Whether all blocks are there at once, so that they can wait for each other (a cooperative launch).
    pub is_cooperative: bool,
    /// Which blocks of the grid run.
    pub blocks: Blocks<'a>,
    /// In which order they do.
    pub order: Order,
    /// How many workers run blocks at the same time, at most; as many as the device likes if nothing is said.
    pub workers: Option<u32>,
    /// How many instructions of the program a thread may execute, and whether they are counted; if nothing is said, as the device was set up.
    pub budget: Option<u64>,
    /// How long it may take, if that is limited. A GPU cannot end a kernel: one that takes longer is not waited for any more, and
    /// whatever the device is asked for after that fails.
    pub limit: Option<Duration>,
    /// Whether the call may return while the launch still runs: [`Launched`] says so then, and
    /// [`Device::wait`](crate::Device::wait) waits for it. What is launched next by the same thread begins after it.
    pub may_run_on: bool,
    /// Whether accesses of the program that leave the memory of the device end the launch: it cannot harm the process then,
    /// whatever addresses it computes. What tools inserted may access what is theirs.
    pub is_confined: bool,
    /// Who is told what happens in the launch.
    pub observer: Option<Arc<dyn Observer>>,
    /// Where what kernels print goes; to the device's own if nothing is said.
    pub output: Option<Arc<Output>>,
    /// Who answers `malloc` and `free` of kernels; the memory of the device itself if nobody is named.
    pub heap: Option<Arc<dyn Heap>>,
}

impl<'a> LaunchRequest<'a> {
    /// A launch of one thread, in a grid of one block.
    pub fn of(kernel: &'a str, params: &'a [u8]) -> Self {
        Self {
            kernel,
            grid: [1; 3],
            block: [1; 3],
            dynamic_shared: 0,
            params,
            is_cooperative: false,
            blocks: Blocks::All,
            order: Order::Free,
            workers: None,
            budget: None,
            limit: None,
            may_run_on: false,
            is_confined: false,
            observer: None,
            output: None,
            heap: None,
        }
    }
}

/// Which blocks of a grid run. A block has the number x + y · width + z · width · height. All of them see the whole grid in
/// `%nctaid` and their own place in `%ctaid`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocks<'a> {
    /// All.
    All,
    /// From the first number to before the second.
    Range(u64, u64),
    /// Those with these numbers, in this order unless the launch asks for another.
    List(&'a [u64]),
}

impl Blocks<'_> {
    /// How many they are in a grid. Those that the grid does not have do not run.
    pub fn count(&self, grid: [u32; 3]) -> u64 {
        let all = grid.iter().map(|&size| u64::from(size)).product::<u64>();
        match *self {
            Self::All => all,
            Self::Range(first, end) => end.min(all).saturating_sub(first),
            Self::List(list) => list.iter().filter(|&&block| block < all).count() as u64,
        }
    }
}

/// In which order the blocks and threads of a launch run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// As the device likes best, or as it was told when it was set up.
    Free,
    /// One block after the other, by their numbers.
    Ascending,
    /// One block after the other, by their numbers; and in each, between two barriers, one thread after the other by theirs.
    /// Lanes of a warp meet at collectives: then one warp after the other, and between two collectives one lane after the other.
    Serial,
    /// One block after the other, by their numbers; and in each, between two barriers, one warp after the other by theirs, whose
    /// lanes run as the device likes best.
    Warps,
    /// At random: warps take turns where they wait and, if they are preempted, before accesses to memory.
    Random {
        /// What the order is made from. The same seed gives the same order.
        seed: u64,
        /// Whether they are preempted.
        preempt: bool,
    },
}

/// What is known of a launch that ended, or runs on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Launched {
    /// Instructions that its threads executed, if they were counted.
    pub instructions: u64,
    /// How long they ran.
    pub took: Duration,
    /// Whether it still runs.
    pub runs_on: bool,
}

impl Launched {
    /// One that runs on: nothing else is known of it.
    pub const RUNS_ON: Self = Self { instructions: 0, took: Duration::ZERO, runs_on: true };
}

/// Why a launch did not take place, or did not end well.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LaunchError {
    /// There is no such kernel.
    #[error("the module has no kernel `{0}`")]
    NoKernel(String),
    /// The grid, the block, or the parameters are not possible.
    #[error("{0}")]
    Invalid(String),
    /// It holds something that the device does not have: what, in a line each.
    #[error("{0}")]
    Unsupported(String),
    /// It could not be compiled, and that is our bug.
    #[error("{0}")]
    Internal(String),
    /// It went wrong while it ran.
    #[error(transparent)]
    Fault(#[from] Fault),
}
