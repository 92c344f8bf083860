//! What compiled code and the scheduler know of a warp.

use std::cell::Cell;

/// One per warp (or thread, at width 1) that runs. Compiled code reads the first fields by their offsets; the rest is the
/// scheduler's.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct WarpContext {
    /// The parameters of the kernel.
    pub(crate) params: *const u8,
    /// The shared memory of the block.
    pub(crate) shared: *mut u8,
    /// The local memory of the first lane.
    pub(crate) local: *mut u8,
    /// `%ctaid`
    pub(crate) block: [u32; 3],
    /// `%nctaid`
    pub(crate) grid: [u32; 3],
    /// `%ntid`
    pub(crate) threads: [u32; 3],
    /// The number of the thread in the first lane, within its block.
    pub(crate) first_thread: u32,
    /// The lanes that have a thread.
    pub(crate) lanes: u32,
    /// The lanes of the last warp of the block that have a thread.
    pub(crate) last_lanes: u32,
    /// How many warps of the block a kernel runs after this one (see `warp_loop`).
    pub(crate) left: u32,
    /// How many of each further block it runs after the first.
    pub(crate) left_of_block: u32,
    /// How many blocks it runs after this one.
    pub(crate) blocks_left: u32,
    /// `%dynamic_smem_size`
    pub(crate) dynamic_shared: u32,
    /// `%total_smem_size`
    pub(crate) total_shared: u32,
    /// `%smid`: the worker that runs the block, by its number in the launch.
    pub(crate) worker: u32,
    /// `%nsmid`: how many workers the launch has.
    pub(crate) workers: u32,
    /// `%gridid`
    pub(crate) grid_id: u64,
    /// `%envreg0` and following.
    pub(crate) environment: [u32; 32],
    /// Instructions that the threads of the block executed, from the first thread on, if they are counted.
    pub(crate) counts: *mut u64,
    /// How many each may execute.
    pub(crate) budget: u64,
    /// Where a thread goes on that was a lane of a warp; 0 to start at the beginning.
    pub(crate) resume: u64,
    /// What its registers hold then.
    pub(crate) frame: *const u64,
    /// By which calls a thread that runs on its own came to where it is: each call has a number of its own.
    pub(crate) calls: u64,
    /// Whose turn it is when the warp comes to barrier 0, if the warps of its block take turns (see `barrier_ring`); else null.
    pub(crate) next: *mut WarpContext,
    /// Where it stands while it does not run.
    pub(crate) saved: *mut u8,
    /// Where the warp that runs is written down.
    pub(crate) current: *const Cell<*mut WarpContext>,
    /// The place of the barrier at which it gave its turn away.
    pub(crate) line: u32,
    /// The lanes that came to it.
    pub(crate) arrived: u32,
    /// How far it is with its block, if it is in a ring.
    pub(crate) progress: Progress,
    /// What the warps of its ring share.
    pub(crate) shared_ring: *mut SharedRing,

    /// The number of its fibre.
    pub(crate) fibre: usize,
    /// The place of its block among the resident ones.
    pub(crate) resident: usize,
    /// Whether it is one thread.
    pub(crate) is_thread: bool,
}

/// Runs one warp.
pub(crate) type Entry = unsafe extern "C" fn(*mut WarpContext);

/// Where the context has a field that compiled code reads or writes.
macro_rules! field {
    ($name:ident) => {
        std::mem::offset_of!($crate::abi::context::WarpContext, $name) as u64
    };
}
pub(crate) use field;

/// How far a warp of a ring is with its block.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// It runs, or begins when it has its turn.
    Runs,
    /// It has come to its end, and waits for the others.
    IsOver,
    /// There is no further block: it ends when it has its turn.
    Ends,
}

/// What the warps of a ring share.
#[derive(Debug)]
pub(crate) struct SharedRing {
    /// How many warps there are.
    pub(crate) warps: u32,
    /// How many have come to the end of the block.
    pub(crate) over: u32,
    /// The one that begins.
    pub(crate) first: *mut WarpContext,
}

impl WarpContext {
    /// The warp in its block.
    pub(crate) fn warp(&self) -> usize {
        self.first_thread as usize / 32
    }

    /// The number of the first lane in its warp: 0 unless threads run on their own.
    pub(crate) fn first_lane(&self) -> u32 {
        self.first_thread % 32
    }
}
