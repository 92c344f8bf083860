//! A launch: a grid of blocks, and what can go wrong with it.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use super::block_queue::BlockQueue;
use super::context::{Progress, WarpContext};
use super::observe::Observer;
use super::worker::{CURRENT, Worker};
use crate::kernel::Kernel;
use crate::memory::SharedWindows;
use crate::tiered_kernel::TieredKernel;

/// A launch while it runs.
#[derive(Debug)]
pub(crate) struct Launch<'l> {
    parts: LaunchParts<'l>,
    started: Instant,
    /// Instructions that all threads executed, if they are counted.
    pub(crate) executed: AtomicU64,
    stopped: AtomicBool,
}

/// What went wrong in a launch, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{kind} (block {block:?}, thread {thread:?}, line {line} of the PTX)")]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// The line of the PTX; 0 if not known.
    pub line: u32,
    /// The block.
    pub block: [u32; 3],
    /// The first thread of the warp, or the thread.
    pub thread: [u32; 3],
}

/// What can go wrong in a launch.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FaultKind {
    /// An access to memory that is not there.
    #[error("illegal address {address:#x}")]
    IllegalAddress {
        /// The address.
        address: u64,
    },
    /// An access to an address that is not a multiple of its size.
    #[error("address {address:#x} is not a multiple of {bytes} bytes")]
    Misaligned {
        /// The address.
        address: u64,
        /// The size of the access.
        bytes: u32,
    },
    /// `trap`
    #[error("trap")]
    Trap,
    /// `assert` failed.
    #[error("assertion failed: {place}: {message}")]
    Assertion {
        /// What does not hold.
        message: String,
        /// File, line and function: `a.cu:7: void f(int)`.
        place: String,
    },
    /// A call of something that is no function.
    #[error("call of an address that is no function")]
    BadCall,
    /// A barrier that does not exist.
    #[error("barrier {id} does not exist")]
    BadBarrier {
        /// Its number.
        id: u32,
    },
    /// Something that PTX leaves undefined, and that cannot be gone on from.
    #[error("{what}")]
    Undefined {
        /// What.
        what: &'static str,
    },
    /// The stack, or the local memory, was not enough.
    #[error("stack overflow")]
    StackOverflow,
    /// All threads that are left wait for each other.
    #[error("deadlock: {} threads or warps wait", waiters.len())]
    Deadlock {
        /// Some of them.
        waiters: Vec<Waiter>,
    },
    /// The threads of a warp executed more instructions than they may.
    #[error("more than {budget} instructions were executed")]
    OverBudget {
        /// How many they may execute.
        budget: u64,
    },
    /// The launch took longer than it may.
    #[error("the launch did not end in time")]
    Timeout {
        /// Who waits at a barrier meanwhile.
        waiters: Vec<Waiter>,
    },
    /// The host has no memory left.
    #[error("out of memory: {message}")]
    OutOfMemory {
        /// What the system says.
        message: String,
    },
    /// Something that the device cannot do.
    #[error("not supported by the CPU device: {what}")]
    Unsupported {
        /// What.
        what: String,
    },
}

/// Somebody who waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiter {
    /// The block.
    pub block: [u32; 3],
    /// The thread, or the first of the warp.
    pub thread: [u32; 3],
    /// The barrier; nothing for lanes of the warp.
    pub barrier: Option<u32>,
    /// The line of the PTX.
    pub line: u32,
}

/// A thread that names lanes of its warp in a collective, and not its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneNotInMask {
    /// The block.
    pub block: [u32; 3],
    /// The thread.
    pub thread: [u32; 3],
    /// The lanes that it names.
    pub mask: u32,
    /// The line of the PTX.
    pub line: u32,
}

impl Fault {
    pub(crate) fn out_of_memory(error: &std::io::Error) -> Self {
        let kind = FaultKind::OutOfMemory { message: error.to_string() };
        Self { kind, line: 0, block: [0; 3], thread: [0; 3] }
    }
}

/// Bytes of the parameters of a kernel, aligned for all types.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct ParamLine([u8; 64]);

impl ParamLine {
    /// Parameters, with zeros after them: compiled code may read as far as the layout of the kernel's rounds up, and a bit
    /// further.
    pub(crate) fn lines(params: &[u8], least: usize) -> Vec<Self> {
        let mut lines = vec![Self([0; 64]); params.len().max(least) / 64 + 2];
        for (line, bytes) in lines.iter_mut().zip(params.chunks(64)) {
            line.0[..bytes.len()].copy_from_slice(bytes);
        }
        lines
    }
}

/// What a launch needs.
#[derive(Debug)]
pub(crate) struct LaunchParts<'l> {
    pub(crate) kernel: &'l Kernel,
    /// Where better code may come from while the launch runs.
    pub(crate) tiered: Option<&'l Arc<TieredKernel>>,
    pub(crate) params: &'l [ParamLine],
    pub(crate) grid: [u32; 3],
    /// Blocks that have not begun.
    pub(crate) queue: &'l BlockQueue,
    /// Whether one call of the kernel runs all blocks that are taken at once.
    pub(crate) loops_over_blocks: bool,
    pub(crate) threads: [u32; 3],
    pub(crate) dynamic_shared: u32,
    pub(crate) shared: &'l SharedWindows,
    /// How many blocks may be resident on each OS thread.
    pub(crate) residency: usize,
    /// What the registers `%envreg` hold.
    pub(crate) environment: [u32; 32],
    pub(crate) random_schedule: bool,
    /// Who is told what happens.
    pub(crate) observer: Option<&'l dyn Observer>,
    pub(crate) deadline: Option<Instant>,
    /// How many instructions the threads of a warp may execute.
    pub(crate) budget: u64,
    pub(crate) output: &'l crate::runtime::host::Output,
    pub(crate) heap: &'l dyn crate::memory::Heap,
    pub(crate) textures: &'l crate::texture::Textures,
}

impl<'l> std::ops::Deref for Launch<'l> {
    type Target = LaunchParts<'l>;

    fn deref(&self) -> &LaunchParts<'l> {
        &self.parts
    }
}

impl<'l> Launch<'l> {
    pub(crate) fn new(parts: LaunchParts<'l>) -> Self {
        let started = Instant::now();
        Self { started, executed: AtomicU64::new(0), stopped: AtomicBool::new(false), parts }
    }

    /// The code for a warp that starts. Better code may have come since the launch began; warps that have begun stay with
    /// theirs.
    pub(crate) fn code(&self) -> &'l Kernel {
        let Some(tiered) = self.tiered else { return self.kernel };
        if let Some(better) = tiered.optimised() {
            // Fibres have the stacks that the launch began with.
            return if better.stack <= self.kernel.stack { better } else { self.kernel };
        }
        if tiered.is_timed() {
            tiered.note(self.started.elapsed());
        }
        self.kernel
    }

    /// Runs blocks on this OS thread, one of those of the launch, until there are none left.
    pub(crate) fn work(&self, number: usize, seed: u64) -> Result<(), Fault> {
        let worker = Worker::new(self, number, seed).map_err(|error| Fault::out_of_memory(&error))?;
        let before = CURRENT.replace((&raw const worker).cast());
        let result = worker.landing.guard(|| match self.deadline {
            Some(deadline) => watched(deadline, || worker.run()),
            None => worker.run(),
        });
        CURRENT.set(before);
        if result.is_err() {
            self.stop();
        }
        result
    }

    /// The next blocks that a worker runs.
    pub(crate) fn take_blocks(&self, worker: usize) -> Option<Range<u64>> {
        if self.is_stopped() { None } else { self.queue.take(worker) }
    }

    /// Whether what is left of the launch should run in other code. Blocks that have begun may wait for others, so this is
    /// only asked when none has.
    pub(crate) fn should_leave_off(&self) -> bool {
        self.kernel.misspeculates()
    }

    pub(crate) fn threads_per_block(&self) -> u32 {
        self.threads.iter().product()
    }

    /// Bytes of shared memory of a block.
    pub(crate) fn total_shared(&self) -> u32 {
        self.kernel.dynamic_shared as u32 + self.dynamic_shared
    }

    /// A block by its number.
    pub(crate) fn block_of(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(u64::from);
        [(index % x) as u32, (index / x % y) as u32, (index / (x * y)) as u32]
    }

    /// The number of a block.
    pub(crate) fn index_of(&self, block: [u32; 3]) -> u64 {
        let ([x, y, z], [width, height, _]) = (block.map(u64::from), self.grid.map(u64::from));
        (z * height + y) * width + x
    }

    /// A thread by its number in the block.
    pub(crate) fn thread_of(&self, index: u32) -> [u32; 3] {
        let [x, y, _] = self.threads;
        [index % x, index / x % y, index / (x * y)]
    }

    /// A context in which only what all warps share is filled in.
    pub(crate) fn new_context(&self) -> WarpContext {
        WarpContext {
            params: self.params.as_ptr().cast(),
            shared: std::ptr::null_mut(),
            local: std::ptr::null_mut(),
            block: [0; 3],
            grid: self.grid,
            threads: self.threads,
            first_thread: 0,
            lanes: 0,
            last_lanes: 0,
            left: 0,
            left_of_block: 0,
            blocks_left: 0,
            dynamic_shared: self.dynamic_shared,
            total_shared: self.total_shared(),
            grid_id: 0,
            environment: self.environment,
            executed: 0,
            budget: self.budget,
            resume: 0,
            frame: std::ptr::null(),
            next: std::ptr::null_mut(),
            saved: std::ptr::null_mut(),
            current: std::ptr::null(),
            line: 0,
            arrived: 0,
            progress: Progress::Runs,
            shared_ring: std::ptr::null_mut(),
            fibre: 0,
            resident: 0,
            is_thread: false,
        }
    }

    /// No block is started any more.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() > deadline)
    }
}

/// Runs something on this thread, and sends it a signal from the deadline on, until it has ended.
fn watched<T>(deadline: Instant, run: impl FnOnce() -> T) -> T {
    // SAFETY: a thread can always ask for itself.
    let thread = unsafe { libc::pthread_self() };
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut wait = deadline.saturating_duration_since(Instant::now());
            while is_done.recv_timeout(wait) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                // SAFETY: the thread is alive: it waits for this one at the end of the scope.
                unsafe { libc::pthread_kill(thread, super::signals::WATCHDOG) };
                wait = std::time::Duration::from_millis(20);
            }
        });
        let result = run();
        drop(done);
        result
    })
}
