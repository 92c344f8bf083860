//! A plain interpreter of PTX modules: one thread at a time, one instruction at a time. It is what other ways of running
//! a kernel are compared with, so it is meant to be right and easy to read, and it shares no code with them.
//!
//! - [`Machine`] holds a module and its memory, and launches kernels.
//! - [`Config`] says who runs when, and when to give up.
//! - [`LaunchError`] says how a launch ended that did not end well: a refusal, a fault, a deadlock.
//! - [`arith`] is the arithmetic, as functions from bits to bits.
//!
//! ```
//! let module = ptx::parse("
//!     .version 8.0
//!     .target sm_80
//!     .address_size 64
//!     .visible .entry increment(.param .u64 data) {
//!         .reg .b32 %r<3>; .reg .b64 %rd<3>;
//!         ld.param.u64 %rd1, [data];
//!         mov.u32 %r1, %tid.x;
//!         mad.wide.u32 %rd2, %r1, 4, %rd1;
//!         ld.global.u32 %r2, [%rd2];
//!         add.u32 %r2, %r2, 1;
//!         st.global.u32 [%rd2], %r2;
//!         ret;
//!     }").module;
//! let mut machine = interp::Machine::new(&module, interp::Config::default()).unwrap();
//! let data = machine.allocate(8, 4);
//! machine.write(data, &[1, 0, 0, 0, 41, 0, 0, 0]).unwrap();
//! let launch = interp::Launch {
//!     kernel: "increment",
//!     grid: [1, 1, 1],
//!     block: [2, 1, 1],
//!     dynamic_shared: 0,
//!     params: &data.to_le_bytes(),
//! };
//! machine.launch(&launch).unwrap();
//! assert_eq!(machine.read(data, 8).unwrap(), [2, 0, 0, 0, 42, 0, 0, 0]);
//! ```
//!
//! # What is left open, and what is chosen here
//! - Threads are independent, as since Volta. A collective with a mask waits until all its members that have not exited
//!   stand at the same instruction (`bar.warp.sync`: at any one with that mask). `activemask`, and votes and shuffles
//!   without `.sync`, concern the lanes that stand at the same instruction after all lanes of the warp have run until
//!   they wait or end; if one of them spins for long, those that are there go on without it.
//! - Payloads of NaNs are not meant to be compared: operations on `.f16`, `.bf16` and `.f32` return the canonical NaN,
//!   those on `.f64` a quiet one; `abs` and `neg` change the sign bit of whatever is there.
//! - With `.ftz` a result is rounded first, and becomes zero if it is then subnormal.
//! - Approximations are rounded from doubles; [`arith::approx::approximation_bound`] says how far others may be off.
//! - Matrix products are added in the order of `k`, see [`arith::matrix`].
//! - Asynchronous copies are complete as soon as they are started.
//! - Registers and local and shared memory are zero in the beginning.
//! - Clocks count the instructions of the grid. There is one multiprocessor, and a cluster is one block.
//!
//! # What it does not do
//! Textures and surfaces, sparse and block-scaled matrices, `wgmma`, `tcgen05`, tensor copies, multicast memory, clusters of more
//! than one block, 32-bit addresses: a kernel that holds such an instruction is refused when it is launched, with the
//! instruction and its line.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod arith;
mod code;
mod decode;
mod exec;
mod fault;
mod launch;
mod machine;
mod memory;
mod random;
mod thread_access;

pub use fault::{Fault, FaultKind, LaunchError, Refusal, Wait};
pub use launch::{Config, Launch, Outcome, Schedule};
pub use machine::Machine;
pub use memory::{AccessError, Window};
pub use thread_access::ThreadAccess;
