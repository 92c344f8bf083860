//! What tools found: as data, how it travels from the process in which it was found to the one that reports it, and how
//! it looks to people and to programs.
//!
//! - [`Finding`]: what, where, by whom, about which memory, and what to do next;
//! - [`Line`] and [`Journal`]: what a process that is checked writes down for the one that watches it;
//! - [`Session`] and [`Report`]: all that the processes of a run wrote, each finding once;
//! - [`Symbols`] and [`Sources`]: functions of the host, lines of source files;
//! - [`render`] and [`json`]: text in rustc's look, JSON lines; [`Suppressions`]: what is not shown.
//!
//! ```no_run
//! let mut session = report::Session::new("/run/user/1000/session".as_ref());
//! session.poll().expect("the directory is there");
//! let mut report = session.finish(|_| false);
//! report::Symbols::default().resolve(&mut report);
//! ```
//!
//! It knows nothing of PTX or CUDA: places are files and lines, memory is sentences.
//! Everything that it reads was written by the programs that are checked, so all of it is bounded and escaped.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod demangle;
mod escape;
mod explain;
mod filter;
mod finding;
mod journal;
pub mod json;
mod picture;
mod read;
mod regular_file;
mod report;
mod signal;
mod source;
mod suppress;
mod symbols;
mod table;
mod text;
mod watch;

pub use demangle::{demangled, short_name};
pub use escape::escaped;
pub use explain::{Explanation, explain};
pub use filter::{FilterError, KernelFilter};
pub use finding::{
    AccessOf, Dim, Finding, Frame, Note, Occurrence, Place, Severity, SourceLine, Stack, dim, thread_name,
};
pub use journal::{Counts, Coverage, Journal, Line, Process};
pub use picture::svg;
pub use read::{Progress, Session};
pub use report::{Checked, Exit, Found, Gap, Report, Run, Verdict};
pub use signal::signal_name;
pub use source::Sources;
pub use suppress::{SuppressionError, Suppressions, entry_for};
pub use symbols::Symbols;
pub use table::{Cell, Row};
pub use text::{Look, render, render_finding, with_article};
pub use watch::Watch;
