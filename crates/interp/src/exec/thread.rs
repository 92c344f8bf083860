//! A thread: its registers, frames and local memory.

use crate::decode::Program;
use crate::launch::Config;

/// What all threads of a launch share and nobody changes.
#[derive(Debug)]
pub(crate) struct Grid<'a> {
    pub program: &'a Program,
    pub kernel: &'a str,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    pub params: &'a [u8],
    pub config: &'a Config,
}

impl Grid<'_> {
    pub(crate) fn threads_per_block(&self) -> u32 {
        self.block.iter().product()
    }

    pub(crate) fn blocks(&self) -> u64 {
        self.grid.iter().map(|&count| u64::from(count)).product()
    }

    pub(crate) fn shared_bytes(&self) -> u32 {
        self.program.dynamic_shared.max(self.program.static_shared) + self.dynamic_shared
    }
}

/// Indices from a linear one, x first.
pub(crate) fn unflatten(index: u64, extent: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = extent.map(u64::from);
    [(index % x) as u32, (index / x % y) as u32, (index / (x * y)) as u32]
}

#[derive(Debug)]
pub(crate) struct Thread {
    /// Linear index in the block.
    pub index: u32,
    pub tid: [u32; 3],
    /// The block.
    pub block: [u32; 3],
    pub registers: Vec<u128>,
    pub frames: Vec<Frame>,
    pub local: Vec<u8>,
    pub carry: bool,
    pub state: State,
    /// How many barriers of the block it has waited at.
    pub interval: u32,
    /// The generation of the cluster's barrier at which the thread arrived.
    pub cluster_generation: Option<u32>,
}

/// A function that is being executed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub function: u32,
    pub pc: u32,
    /// First register.
    pub registers: u32,
    /// Offset of its variables in local memory.
    pub local: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Ready,
    /// At a barrier of the block.
    AtBarrier,
    /// At the barrier of the cluster.
    AtCluster,
    /// At a collective for these lanes.
    AtCollective {
        mask: u32,
    },
    /// At a collective for whoever is there.
    AtHere,
    Exited,
}

impl Thread {
    pub(crate) fn new(grid: &Grid<'_>, block: [u32; 3], index: u32) -> Self {
        let kernel = &grid.program.functions[0];
        Self {
            index,
            tid: unflatten(index.into(), grid.block),
            block,
            registers: vec![0; kernel.slots as usize],
            frames: vec![Frame { function: 0, pc: 0, registers: 0, local: 0 }],
            local: vec![0; kernel.frame_bytes as usize],
            carry: false,
            state: State::Ready,
            interval: 0,
            cluster_generation: None,
        }
    }

    pub(crate) fn lane(&self) -> u32 {
        self.index % 32
    }

    pub(crate) fn warp(&self) -> usize {
        self.index as usize / 32
    }

    pub(crate) fn frame(&self) -> &Frame {
        self.frames.last().expect("a thread that runs has a frame")
    }

    pub(crate) fn frame_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a thread that runs has a frame")
    }

    /// Where the thread stands: function and position.
    /// Where it is, and by which calls it came there.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (u32, u32)> {
        self.frames.iter().map(|frame| (frame.function, frame.pc))
    }

    pub(crate) fn place(&self) -> (u32, u32) {
        self.frames.last().map_or((0, 0), |frame| (frame.function, frame.pc))
    }
}
