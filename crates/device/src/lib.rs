//! The boundary between those who launch kernels and the devices that run them.
//!
//! A [`Device`] has [`Memory`] and takes modules; a [`Program`] is a module on it; a [`LaunchRequest`] says which of its
//! kernels runs, on which of the blocks of a grid and in which [`Order`], and an [`Observer`] is told what happens
//! meanwhile. The CUDA libraries know devices by these traits alone, so that what is said of a program does not depend on
//! where it runs.
//!
//! ```
//! use device::{Blocks, LaunchRequest, Order};
//!
//! let whole = LaunchRequest { grid: [4, 1, 1], block: [64, 1, 1], ..LaunchRequest::of("saxpy", &[]) };
//! assert_eq!(whole.blocks.count(whole.grid), 4);
//! let half = LaunchRequest { blocks: Blocks::Range(2, 4), order: Order::Ascending, ..whole };
//! assert_eq!(half.blocks.count(half.grid), 2);
//! ```
//!
//! Nothing here runs anything, and nothing here is of one device: what a device is set up with (threads, compilers,
//! caches) is told to the device itself.

#![warn(missing_docs)]

mod fault;
mod initial_value;
mod launch;
mod memory;
mod observer;
mod output;
mod params;
mod program;
pub mod texture;

use std::fmt::Debug;
use std::sync::Arc;

pub use fault::{Fault, FaultKind, LaneNotInMask, Waiter};
pub use initial_value::initial_bytes;
pub use launch::{Blocks, LaunchError, LaunchRequest, Launched, Order};
pub use memory::{Heap, Memory, OutOfMemory, RemoteError, RemoteMemory};
pub use observer::Observer;
pub use output::Output;
pub use params::param_layout;
pub use program::{KernelFacts, LoadError, Program};

/// A device.
pub trait Device: Debug + Send + Sync {
    /// Its global memory.
    fn memory(&self) -> &dyn Memory;

    /// Where the shared memory of blocks is, as generic addresses, and how many bytes these range over, if that is known. Blocks
    /// that run at the same time have theirs at different addresses.
    fn shared_range(&self) -> Option<(u64, u64)> {
        None
    }

    /// How many bytes of shared memory a block may have.
    fn most_shared(&self) -> u64 {
        227 << 10
    }

    /// Loads a module: its variables get memory and their initial values.
    fn load(&self, module: ptx::ir::Module) -> Result<Arc<dyn Program>, LoadError>;

    /// Whether what runs at the same time on it has different numbers in `%smid`: then memory of its own needs no atomic
    /// operations.
    fn has_workers(&self) -> bool {
        true
    }

    /// How many blocks of a launch it runs at the same time by itself, at most, each with another number in `%smid`.
    fn workers(&self) -> u32 {
        1
    }

    /// Waits for the launches of this thread that [run on](LaunchRequest::may_run_on). An error is one of any of them, or of
    /// several.
    fn wait(&self) -> Result<(), LaunchError> {
        Ok(())
    }

    /// Waits for the launches of all threads that run on. Whether they went well is what their own threads ask.
    fn wait_for_all(&self) {}

    /// A handle for a texture or surface; what the device does not have, if it cannot be made.
    ///
    /// # Safety
    /// Until the object is forgotten, each element of its image, at the addresses and distances that its levels say, is in
    /// memory that kernels may read and, through a surface, write; or at addresses at which nothing is mapped, so that an
    /// access ends the launch.
    #[allow(unsafe_code, reason = "images are known by their addresses")]
    unsafe fn create_texture(&self, object: texture::Object) -> Result<u64, String>;

    /// Forgets a texture or surface. False if there is none.
    fn destroy_texture(&self, handle: u64) -> bool;

    /// What kernels printed, unless their launch said where it should go.
    fn output(&self) -> &Output;
}
