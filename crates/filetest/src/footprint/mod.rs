//! Proofs about launches, compared with what launches do.

mod check;
mod launches;

pub use check::{Checked, Observed, check, observe};
pub use launches::{Benchmark, PlacedLaunch, benchmarks};
