//! Blocks that are being run.

use std::sync::atomic::Ordering;

use crate::abi::collective::Collective;
use crate::abi::context::SharedRing;
use crate::options::Width;
use crate::runtime::barrier::{Barrier, CLUSTER};
use crate::runtime::collective::Arrivals;
use crate::runtime::copies::Copies;
use crate::runtime::launch::Launch;

/// A block that is being run.
///
/// Blocks are small and many: one that is over leaves its memory to the next.
#[derive(Debug)]
pub(super) struct Resident {
    pub(super) block: [u32; 3],
    /// How many blocks its first warp goes on with when it is over.
    pub(super) blocks_behind: u32,
    /// Its window of shared memory.
    pub(super) slot: usize,
    /// The next warp, or thread at width 1, to be started.
    pub(super) next_unit: u32,
    pub(super) units: u32,
    pub(super) running: u32,
    /// The lanes of each warp that have not ended.
    pub(super) alive: Vec<u32>,
    pub(super) barriers: Vec<Barrier>,
    /// The barriers at which somebody has arrived, one bit for each; others may be among them.
    pub(super) busy: u32,
    /// Threads that wait in collectives, at width 1.
    pub(super) rendezvous: Vec<Rendezvous>,
    local: Vec<u64>,
    /// How many instructions each thread has executed, if they are counted; for all lanes of all warps.
    counts: Vec<u64>,
    /// Copies that are done late.
    pub(super) copies: Copies,
    /// Warps that were deoptimized, and how many of them have been.
    pub(super) deoptimized: Vec<DeoptimizedWarp>,
    pub(super) deoptimized_before: usize,
    /// The warps that take turns at barrier 0, if they do.
    pub(super) ring: Vec<usize>,
    pub(super) shared_ring: Box<SharedRing>,
}

/// A warp that is deoptimized.
#[derive(Debug)]
pub(super) struct DeoptimizedWarp {
    pub(super) first_thread: u32,
    /// Where its lanes are, and their registers.
    pub(super) frame: Vec<u64>,
}

/// Threads of a warp that come together.
#[derive(Debug)]
pub(super) struct Rendezvous {
    pub(super) warp: usize,
    pub(super) what: Collective,
    pub(super) line: u32,
    /// The calls by which those came to it that wait for whoever is there: others are elsewhere. 0 for named members.
    pub(super) calls: u64,
    /// Whether it is for whoever is there, not for named members.
    pub(super) is_loose: bool,
    pub(super) arrivals: Box<Arrivals>,
    pub(super) fibres: [usize; 32],
}

impl Resident {
    /// Room for a block of a launch.
    pub(super) fn new(launch: &Launch<'_>) -> Self {
        let threads = launch.threads_per_block();
        let warps = threads.div_ceil(32);
        let units = match launch.kernel.width {
            Width::Thread => threads,
            Width::Warp if launch.kernel.has_region_loops => 1,
            Width::Warp => warps,
        };
        Self {
            block: [0; 3],
            blocks_behind: 0,
            slot: launch.shared.take(launch.total_shared() as usize),
            next_unit: 0,
            units,
            running: 0,
            alive: Vec::new(),
            barriers: vec![Barrier::default(); CLUSTER + 1],
            busy: 0,
            rendezvous: Vec::new(),
            local: vec![0; (launch.kernel.local * u64::from(warps) * 32 / 8) as usize],
            counts: vec![0; if launch.counts { warps as usize * 32 } else { 0 }],
            copies: Copies::default(),
            deoptimized: Vec::new(),
            deoptimized_before: 0,
            ring: Vec::new(),
            shared_ring: Box::new(SharedRing { warps: 0, over: 0, first: std::ptr::null_mut() }),
        }
    }

    /// Starts with a block, after which its first warp goes on with so many.
    pub(super) fn start(&mut self, launch: &Launch<'_>, block: [u32; 3], blocks_behind: u32) {
        self.blocks_behind = blocks_behind;
        self.next_unit = 0;
        self.running = 0;
        self.go_on(launch, block);
        self.ring.clear();
    }

    /// Goes on with a block, in the warps of the one before.
    pub(super) fn go_on(&mut self, launch: &Launch<'_>, block: [u32; 3]) {
        let threads = launch.threads_per_block();
        launch.shared.clear(self.slot, launch.total_shared() as usize);
        self.block = block;
        self.alive.clear();
        self.alive.extend((0..threads.div_ceil(32)).map(|warp| lanes_of(threads, warp)));
        if self.busy != 0 {
            self.barriers.iter_mut().for_each(Barrier::restart);
            self.busy = 0;
        }
        self.rendezvous.clear();
        if !self.local.is_empty() {
            self.local.fill(0);
        }
        if !self.copies.is_empty() {
            self.copies = Copies::default();
        }
        self.deoptimized.clear();
        self.deoptimized_before = 0;
    }

    /// Where the instructions of the first thread are counted. Those of the others follow.
    pub(super) fn counts(&mut self) -> *mut u64 {
        self.counts.as_mut_ptr()
    }

    /// All threads have ended: adds what they executed to what the launch did.
    pub(super) fn add_counts(&mut self, launch: &Launch<'_>) {
        if self.counts.is_empty() {
            return;
        }
        let threads = launch.threads_per_block() as usize;
        launch.executed.fetch_add(self.counts.iter().sum(), Ordering::Relaxed);
        if let Some(observer) = launch.observer {
            observer.executed(self.block, &self.counts[..threads]);
        }
        self.counts.fill(0);
    }

    /// The local memory of a thread, which has so many bytes of it.
    pub(super) fn local(&mut self, thread: u32, bytes: u64) -> *mut u8 {
        let first = self.local.as_mut_ptr().cast::<u8>();
        // SAFETY: each thread of the block has so much of it.
        unsafe { first.add(thread as usize * bytes as usize) }
    }
}

/// The lanes of a warp that have a thread.
pub(super) fn lanes_of(threads: u32, warp: u32) -> u32 {
    let left = threads - warp * 32;
    if left >= 32 { u32::MAX } else { (1 << left) - 1 }
}
