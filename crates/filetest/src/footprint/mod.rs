//! Proofs about launches, compared with what launches do.

mod check;
mod launches;
mod mutants;

pub use check::{Checked, Observed, check, prove, thread_time};
pub use launches::{Benchmark, PlacedLaunch, benchmarks};
pub use mutants::{Mistake, Mutant, mutants};
