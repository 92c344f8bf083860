//! The test harness of Warpgrind: finds text files, runs what their headers ask for, compares with what they expect,
//! and rewrites the expectation under `BLESS=1`.
//!
//! - [`testfile::TestFile`] is such a file, and [`commands`] has what headers can ask for;
//! - [`engine::Engine`] is a way of running kernels: all must leave the same behind, and [`differential`] compares them;
//! - [`random_kernel`] makes kernels for them; [`cubin`] compares programs through NVIDIA's assembler.
//!
//! ```
//! use filetest::{differential, engine};
//!
//! let text = "
//! .version 8.0
//! .target sm_80
//! .address_size 64
//! .visible .entry k(.param .u64 p) {
//!     .reg .b32 %r; .reg .b64 %a;
//!     ld.param.u64 %a, [p];
//!     mov.u32 %r, %ntid.x;
//!     st.global.u32 [%a], %r;
//!     ret;
//! }
//! //@ run k: grid=1 block=32 args=p:b32[1]
//! ";
//! assert_eq!(differential::judge(text, &engine::engines()[..2]), differential::Comparison::Agree);
//! ```
//!
//! It is a dependency of tests only, and knows no CUDA programs: these are run by the tests of the command.

#![deny(unsafe_code)]

pub mod commands;
pub mod cubin;
pub mod differential;
pub mod engine;
pub mod files;
pub mod footprint;
pub mod generate;
pub mod nop_edits;
pub mod oracle;
pub mod programs;
pub mod random_kernel;
pub mod scenario;
pub mod testfile;
pub mod value;
