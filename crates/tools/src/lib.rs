//! The tools.
//!
//! Each has a folder: what it inserts into kernels, the functions of it that run on the device, and what it makes of
//! what these record. A tool knows PTX and findings; devices, programs and processes are the business of others.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod memcheck;
mod nop;

pub use nop::Nop;

use report::Explanation;
use rewrite::Tool;

/// All tools that can be asked for.
pub static TOOLS: &[&dyn Tool] = &[&memcheck::Memcheck, &Nop];

/// What the findings of all tools mean.
pub const EXPLANATIONS: &[Explanation] = memcheck::EXPLANATIONS;

/// The tool of this name.
pub fn tool(name: &str) -> Option<&'static dyn Tool> {
    TOOLS.iter().find(|tool| tool.name() == name).copied()
}
