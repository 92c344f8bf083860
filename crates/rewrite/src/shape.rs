//! The shape of a launch.

/// How a kernel is launched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LaunchShape {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of shared memory besides what the kernel declares.
    pub dynamic_shared: u32,
    /// Whether blocks may wait for each other.
    pub is_cooperative: bool,
}

/// A thread of a launch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadId {
    /// Its block.
    pub block: [u32; 3],
    /// Its place in the block.
    pub thread: [u32; 3],
}
