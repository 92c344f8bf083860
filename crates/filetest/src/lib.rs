//! The test harness of Warpgrind: finds text files, runs what their headers ask for, compares with what they expect,
//! and rewrites the expectation under `BLESS=1`.
//!
//! It is a dependency of tests only. [`cubin`] compares programs through NVIDIA's assembler; [`engine`] has the ways of
//! running kernels, which must agree.

#![forbid(unsafe_code)]

pub mod commands;
pub mod cubin;
pub mod differential;
pub mod engine;
pub mod files;
pub mod generate;
pub mod nop_edits;
pub mod oracle;
pub mod programs;
pub mod random_kernel;
pub mod scenario;
pub mod testfile;
pub mod value;
