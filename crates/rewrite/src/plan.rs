//! How a launch takes place.

/// What tools may change of a launch. What the program asks of its kernels is answered as if they had not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchPlan {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of shared memory besides what the kernel declares.
    pub dynamic_shared: u32,
    /// How often it runs. Each run starts with the memory that the first one found, and must leave the same behind.
    pub runs: u32,
}
