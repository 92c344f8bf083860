//! The tools.
//!
//! Each has a folder: what it inserts into kernels, the functions of it that run on the device, and what it makes of
//! what these record. [`TOOLS`] has all of them, [`memcheck::Memcheck`] is the one to know, and [`Trace`] the one to copy.
//!
//! ```
//! let memcheck = tools::tool("memcheck").unwrap();
//! let text = ".version 8.0\n.target sm_80\n.address_size 64\n\
//!     .visible .entry k(.param .u64 p) { .reg .b64 %a; ld.param.u64 %a, [p]; st.global.u32 [%a], 1; ret; }";
//! let rewritten = rewrite::Rewriter::new(&[memcheck.instrumentation()])?.rewrite(ptx::parse(text).module)?;
//! // One access is checked, against the object that one parameter points into: where it begins, and its size.
//! let version = rewritten.kernels["k"].version(&[0]).unwrap();
//! assert_eq!((version.sites, version.kernel_words), (1, 2));
//! assert!(tools::explanations().iter().any(|known| known.name() == "memcheck::out-of-bounds"));
//! # Ok::<(), rewrite::RewriteError>(())
//! ```
//!
//! A tool knows PTX and findings. It does not know devices, programs and processes: these are the business of others.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod doubled;
mod fidelity;
pub mod inject;
mod loads;
pub mod memcheck;
mod nop;
mod order;
mod proofs;
pub mod racecheck;
mod records;
pub mod repair;
pub mod rmt;
mod stm;
mod stores;
mod ticket;
mod trace;
mod traffic;
mod twice;

pub use doubled::Doubled;
pub use fidelity::Fidelity;
pub use loads::Loads;
pub use nop::Nop;
pub use order::Order;
pub use proofs::Proofs;
pub use stm::Stm;
pub use stores::Stores;
pub use trace::Trace;
pub use traffic::Traffic;
pub use twice::Twice;

use report::Explanation;
use toolkit::Tool;

/// All tools that can be asked for.
pub static TOOLS: &[&dyn Tool] = &[
    &memcheck::Memcheck,
    &racecheck::Racecheck,
    &repair::Repair,
    &rmt::Rmt,
    &Stm,
    &inject::Inject,
    &Traffic,
    &Fidelity,
    &Nop,
    &Trace,
    &Loads,
    &Stores,
    &Order,
    &Proofs,
    &Twice,
    &Doubled,
];

/// What the findings of all tools mean.
pub fn explanations() -> Vec<Explanation> {
    let fault = Explanation {
        tool: None,
        code: "device-fault",
        title: "a kernel that the device ended",
        text: include_str!("device-fault.md"),
    };
    let api_error = Explanation {
        tool: None,
        code: "api-error",
        title: "a call of CUDA that failed",
        text: include_str!("api-error.md"),
    };
    TOOLS.iter().flat_map(|tool| tool.explanations()).copied().chain([fault, api_error]).collect()
}

/// The tool of this name.
pub fn tool(name: &str) -> Option<&'static dyn Tool> {
    TOOLS.iter().find(|tool| tool.name() == name).copied()
}
