//! The CPU device: runs PTX kernels on the processor.
//!
//! A warp is 32 lanes of vector registers: PTX becomes LLVM code that runs one warp, with values that are the same or
//! regularly spaced in all lanes kept in scalars. Lanes that part at a branch wait in masks. Warps that wait for each
//! other are fibres.
//!
//! A [`Device`] has memory and what all launches share, a [`Program`] is a module on it, a `LaunchRequest` says which of
//! its kernels runs, and a [`Mode`] how. [`CpuDevice`] is the same behind the traits that all devices have.
//!
//! ```
//! use cpu::{Device, Mode, Program};
//! use device::LaunchRequest;
//!
//! let text = ".version 8.0 .target sm_80 .address_size 64
//!     .visible .entry store(.param .u64 out) {
//!         .reg .b64 %d<2>; .reg .b32 %r<2>;
//!         ld.param.u64 %d1, [out]; mov.u32 %r1, 7; st.global.u32 [%d1], %r1; ret;
//!     }";
//! let device = Device::new(64 << 20)?;
//! let program = Program::load(&device, ptx::parse(text).module)?;
//! let out = device.memory.allocate(4, 4)?;
//! let params = out.to_le_bytes();
//! let request = LaunchRequest { block: [32, 1, 1], ..LaunchRequest::of("store", &params) };
//! // SAFETY: the kernel writes nothing but the four bytes that its parameter points to.
//! unsafe { program.launch(&request, &Mode::default())? };
//! let mut bytes = [0; 4];
//! assert!(device.memory.read(out, &mut bytes) && bytes == [7, 0, 0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! From the bottom to the top: `abi` is what compiled code and the runtime agree on; `runtime` runs launches of compiled
//! code; `lower` makes LLVM code of PTX with `emit` and `llvm`; `codegen` makes object files of it, `code_cache` keeps them,
//! `jit` links them; `kernel` and `tiered_kernel` bring that together, and `program` is what other crates see.
//!
//! It does not check anything: tools instrument kernels before they come here. What they can rely on beyond PTX:
//!
//! - A launch can run a part of its grid, and ask for an order (`LaunchRequest`; `runtime::block_queue`, [`Schedule`]).
//! - A guarded call of a function with the pragma `side` stays in vector code, also in region loops; that of a function with
//!   the pragma `cold` deoptimizes the warp, and does not count as a misspeculation if the function has the pragma `intended`.
//!   A `cold` function may wait for other threads and leaves warps whole, a `side` function must be `nosync`,
//!   or say for whom it waits (`lower::pragma`).
//! - Loads of the program move past stores of instructions that were inserted with the role `shadow`, which access memory of
//!   their tool only (`ptx::ir::SHADOW_ROLE`).
//! - `%smid` is the worker that runs the block, and `%nsmid` how many there are: memory for each worker needs no atomics.
//! - `nanosleep` lets other warps, other threads of the block and other lanes of the warp run at once.
//! - Instructions of the program are counted for each thread, and a budget is looked at where loops go back ([`Mode::budget`],
//!   `Observer::executed`); region loops stay.
//! - A confined kernel reaches nothing of the process but memory of the device ([`Mode::confine`]).
//! - Accesses of instructions that a tool inserted are not preempted ([`Mode::preempt`]), and nobody runs between what a tool
//!   inserted before an access of the program and the access.
//!
//! Atomic operations at the scope of a block are those of the whole device. Without a lock they would lose updates where
//! blocks use them on one word: a race in PTX, but one that GPUs are kind to.

mod abi;
mod background;
mod boundary;
mod code_cache;
mod codegen;
mod compiler;
mod emit;
mod identity;
mod jit;
mod kernel;
mod linked_module;
mod llvm;
mod lower;
mod memory;
mod mode;
mod narrow_float;
mod options;
mod program;
mod runtime;
mod schedule;
mod texture;
mod tiered_kernel;

pub use boundary::CpuDevice;
pub use code_cache::CodeCache;
pub use codegen::unsupported;
pub use compiler::{begin_to_end, ends_soon, stop_compiling};
pub use lower::Unsupported;
pub use memory::Arena;
pub use mode::{Mode, WarmUp};
pub use options::{Options, Processor, Tier, Width};
pub use program::{Device, Program};
pub use runtime::signals::{ProgramFault, leave_signals_to_the_program, on_program_fault};
pub use schedule::Schedule;
