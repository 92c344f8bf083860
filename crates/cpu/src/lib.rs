//! The CPU device: runs PTX kernels on the processor.
//!
//! A warp is 32 lanes of vector registers: PTX becomes LLVM code that runs one warp, with values that are the same or
//! regularly spaced in all lanes kept in scalars. Lanes that part at a branch wait in masks. Warps that wait for each
//! other are fibres.

mod abi;
mod background;
mod code_cache;
mod codegen;
mod compiler;
mod emit;
mod identity;
mod jit;
mod kernel;
mod llvm;
mod lower;
mod memory;
mod narrow_float;
mod options;
mod program;
mod runtime;
pub mod texture;
mod tiered_kernel;

pub use code_cache::CodeCache;
pub use codegen::{CompileError, unsupported};
pub use lower::Unsupported;
pub use memory::{Arena, Heap, OutOfMemory};
pub use options::{Options, Processor, Tier, Width};
pub use program::{Device, KernelFacts, LaunchError, LaunchRequest, Launched, LoadError, Mode, Program};
pub use runtime::fault::{Fault, FaultKind, LaneNotInMask, Waiter};
pub use runtime::observe::Observer;
pub use runtime::signals::leave_signals_to_the_program;
