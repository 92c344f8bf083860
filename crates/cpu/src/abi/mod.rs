//! What compiled code and the runtime agree on.
//!
//! `lower` emits it, `runtime` answers it, and neither knows the other: the context of a warp and where its fields are,
//! the functions of the runtime and their names, the numbers that stand for what they are asked for, and limits.

pub(crate) mod calls;
pub(crate) mod collective;
pub(crate) mod context;
pub(crate) mod matrix;
pub(crate) mod mbarrier;
pub(crate) mod texture;

/// The most shared memory that a block can have: 227 KiB, as on the largest GPUs, and what tools add to that.
pub(crate) const MAX_SHARED: u64 = 228 << 10;
