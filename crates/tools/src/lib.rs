//! The tools.
//!
//! Each has a folder: what it inserts into kernels, the functions of it that run on the device, and what it makes of
//! what these record. A tool knows PTX and findings; devices, programs and processes are the business of others.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod doubled;
pub mod memcheck;
mod nop;
mod trace;
mod twice;

pub use doubled::Doubled;
pub use nop::Nop;
pub use trace::Trace;
pub use twice::Twice;

use report::Explanation;
use rewrite::Tool;

/// All tools that can be asked for.
pub static TOOLS: &[&dyn Tool] = &[&memcheck::Memcheck, &Nop, &Trace, &Twice, &Doubled];

/// What the findings of all tools mean.
pub fn explanations() -> Vec<Explanation> {
    let fault = Explanation {
        tool: None,
        code: "device-fault",
        title: "a kernel that the device ended",
        text: include_str!("device-fault.md"),
    };
    memcheck::EXPLANATIONS.iter().copied().chain([fault]).collect()
}

/// The tool of this name.
pub fn tool(name: &str) -> Option<&'static dyn Tool> {
    TOOLS.iter().find(|tool| tool.name() == name).copied()
}
