//! Gets in front of a CUDA program that was not built for it. `libwarpgrind_start.so` is loaded twice into each process
//! of a run, and has a role in either place:
//!
//! - As an **auditing library** ([`audit`], `LD_AUDIT`, see rtld-audit(7)) it has a namespace of its own. The loader asks
//!   it about each library, and it answers for `libcuda` and `libcudart`, whatever directory they are asked for in, with
//!   `libwarpgrind_cuda.so`. In a program or library that carries the CUDA runtime in itself, it turns the runtime's
//!   functions into jumps to ours ([`redirect`]).
//! - As a **preloaded library** (`LD_PRELOAD`) it shares the namespace of the program. It holds what these jumps lead
//!   to ([`stubs`]), which load `libwarpgrind_cuda.so` when the first of them is taken, so that processes without CUDA
//!   stay small. And it takes care of child processes ([`exec`]).
//!
//! `warpgrind run` sets the environment that makes this happen: `LD_AUDIT`, `LD_PRELOAD`, and `WARPGRIND_SETTINGS`, in
//! which is the path of `libwarpgrind_cuda.so` (crate `settings`). Under `AT_SECURE` the loader takes no notice of the first two, and we do not of the
//! third.
//!
//! What it cannot get in front of: programs of 32 bits, for musl, or without a loader; programs that start others by
//! system calls of their own; and a static runtime without symbols.

#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

pub mod audit;
mod environment;
pub mod exec;
mod identity;
mod memory;
mod message;
pub mod redirect;
mod run;
pub mod stubs;
