//! What tools found: as data, and how it travels from the process in which it was found to the one that reports it.
//!
//! - [`Finding`]: what, where, by whom, about which memory, and what to do next;
//! - [`Line`]: what a process that is checked writes down for the one that watches it.
//!
//! It knows nothing of PTX or CUDA: places are files and lines, memory is sentences.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod finding;
mod journal;

pub use finding::{Dim, Finding, Frame, Note, Occurrence, Place, Severity, SourceLine, Stack};
pub use journal::{Coverage, Journal, Line, Process};
