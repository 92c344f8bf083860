//! What compiled code knows of the warp that it runs.

/// One per warp (or thread, at width 1). Compiled code reads the first fields by their offsets; the rest is the
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
    /// From the local memory of one lane to that of the next.
    pub(crate) local_stride: u64,
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
    /// `%dynamic_smem_size`
    pub(crate) dynamic_shared: u32,
    /// `%total_smem_size`
    pub(crate) total_shared: u32,
    /// `%gridid`
    pub(crate) grid_id: u64,
    /// `%envreg0` and following.
    pub(crate) environment: [u32; 32],
}
