//! `warpgrind health`: kernels whose results are known, and how those who run fleets are told what came of them.
//!
//! - [`kernels`]: the bundled kernels, and [`kernels::run`], which launches them again and again through the driver;
//! - [`Golden`]: the hashes that results must have;
//! - [`Outcome`]: what came of a check: its exit code in two styles, its line, its metrics and its records.
//!
//! The command runs the kernels in a process of its own, under `rmt`; this crate does not know how. On the CPU device, they test
//! the processor and its memory, and nothing of a GPU.

#![warn(missing_docs)]

mod driver;
mod golden;
pub mod kernels;
mod metrics;
mod ocp;
mod outcome;

pub use golden::{Golden, GoldenError};
pub use metrics::metrics;
pub use ocp::records;
pub use outcome::{ExitStyle, Kernel, Outcome, Status};
