//! A launch: a grid of blocks.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use super::block_queue::BlockQueue;
use super::code::{BetterCode, KernelCode, ThreadCode};
use crate::abi::context::{Progress, WarpContext};
use crate::memory::SharedWindows;
use crate::schedule::Schedule;
use crate::texture::Textures;
use device::Observer;
use device::{Heap, Output};

/// A launch while it runs.
#[derive(Debug)]
pub(crate) struct Launch<'l> {
    parts: LaunchParts<'l>,
    started: Instant,
    /// Instructions that all threads executed, if they are counted.
    pub(crate) executed: AtomicU64,
    /// How many workers have begun.
    begun: AtomicU32,
    stopped: AtomicBool,
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
    /// The code that it begins with.
    pub(crate) kernel: &'l KernelCode,
    pub(crate) thread_code: &'l dyn ThreadCode,
    pub(crate) better_code: Option<&'l dyn BetterCode>,
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
    pub(crate) schedule: Schedule,
    /// Who is told what happens.
    pub(crate) observer: Option<&'l dyn Observer>,
    pub(crate) deadline: Option<Instant>,
    /// How many instructions a thread may execute.
    pub(crate) budget: u64,
    /// Whether instructions are counted.
    pub(crate) counts: bool,
    /// How many workers there are, at most.
    pub(crate) workers: u32,
    pub(crate) output: &'l Output,
    pub(crate) heap: &'l dyn Heap,
    pub(crate) textures: &'l Textures,
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
        Self { started, executed: AtomicU64::new(0), begun: AtomicU32::new(0), stopped: AtomicBool::new(false), parts }
    }

    /// The code for a warp that starts. Better code may have come since the launch began; warps that have begun stay with
    /// theirs.
    pub(crate) fn code(&self) -> &'l KernelCode {
        let better = self.better_code.and_then(|source| source.better_code(self.started));
        // Fibres have the stacks that the launch began with.
        better.filter(|better| better.stack <= self.kernel.stack).unwrap_or(self.kernel)
    }

    /// A number for a worker that begins, below that of all. Helpers of the pool have numbers of their own, which may be
    /// larger.
    pub(crate) fn begin_worker(&self) -> u32 {
        self.begun.fetch_add(1, Ordering::Relaxed)
    }

    /// The next blocks that a worker runs.
    pub(crate) fn take_blocks(&self, worker: usize) -> Option<Range<u64>> {
        if self.is_stopped() { None } else { self.queue.take(worker) }
    }

    /// Whether what is left of the launch should run in other code. Blocks that have begun may wait for others, so this is
    /// only asked when none has.
    pub(crate) fn should_leave_off(&self) -> bool {
        self.kernel.misspeculations.are_many()
    }

    pub(crate) fn threads_per_block(&self) -> u32 {
        self.threads.iter().product()
    }

    /// How many warps there are in all blocks that run, or threads at width 1.
    pub(crate) fn units(&self) -> u64 {
        self.queue.len() * u64::from(self.threads_per_block().div_ceil(self.kernel.width.lanes()))
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
            worker: 0,
            workers: self.workers,
            grid_id: 0,
            environment: self.environment,
            counts: std::ptr::null_mut(),
            budget: self.budget,
            resume: 0,
            frame: std::ptr::null(),
            calls: 0,
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
