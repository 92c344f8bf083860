//! Proofs about launches, compared with what launches do.

mod launches;

pub use launches::{Benchmark, PlacedLaunch, benchmarks};
