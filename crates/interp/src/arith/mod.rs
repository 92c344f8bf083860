//! The arithmetic of PTX as functions from bits to bits, without any notion of threads or memory.

pub mod approx;
pub mod bits;
pub mod convert;
pub mod float;
pub mod format;
pub mod int;
pub mod matrix;
pub mod video;
