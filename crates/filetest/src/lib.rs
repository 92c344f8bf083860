//! The test harness of Warpgrind: finds text files, runs what their headers ask for, compares with what they expect,
//! and rewrites the expectation under `BLESS=1`.
//!
//! It is a dependency of tests only. [`cubin`] compares programs through NVIDIA's assembler.

#![forbid(unsafe_code)]

pub mod commands;
pub mod cubin;
pub mod files;
pub mod generate;
pub mod nop_edits;
pub mod oracle;
pub mod testfile;
