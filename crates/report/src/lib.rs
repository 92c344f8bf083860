//! What tools found: as data, how it travels from the process in which it was found to the one that reports it, and how
//! it looks to people and to programs.
//!
//! - [`Finding`]: what, where, by whom, about which memory, and what to do next;
//! - [`Line`] and [`Journal`]: what a process that is checked writes down for the one that watches it;
//! - [`Session`] and [`Report`]: all that the processes of a run wrote, each finding once;
//! - [`Symbols`] and [`Sources`]: functions of the host, lines of source files;
//! - [`render`] and [`json`]: text in rustc's look, JSON lines; [`sarif`], [`junit`], [`github`]: what CI servers read; [`html`]: a page;
//! - [`Suppressions`] and [`Baseline`]: what is not shown, and what is known.
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

mod alike;
mod baseline;
mod demangle;
mod escape;
mod explain;
mod fidelity;
mod filter;
mod finding;
mod fingerprint;
mod github;
mod html;
mod journal;
pub mod json;
mod junit;
mod locate;
mod picture;
mod plural;
mod read;
mod regular_file;
mod report;
mod sarif;
mod signal;
mod source;
mod suppress;
mod sweep;
mod symbols;
mod table;
mod text;
mod watch;

pub use baseline::{Baseline, BaselineError, LARGEST_BASELINE};
pub use demangle::{demangled, short_name};
pub use escape::escaped;
pub use explain::{Explanation, distance, explain};
pub use filter::{FilterError, KernelFilter};
pub use finding::{
    AccessOf, AccessedObject, Dim, Finding, Frame, Note, Occurrence, Place, Severity, SourceLine, Stack, dim,
    thread_name,
};
pub use github::github;
pub use html::text as markup_text;
pub use html::{html, html_of_tables};
pub use journal::{Counts, Coverage, Journal, Line, Process};
pub use junit::junit;
pub use picture::svg;
pub use plural::plural;
pub use read::{Progress, Session};
pub use report::{Checked, Exit, Found, Gap, Report, Run, Verdict};
pub use sarif::sarif;
pub use signal::signal_name;
pub use source::Sources;
pub use suppress::{SuppressionError, Suppressions, entry_for};
pub use sweep::sweep_svg;
pub use symbols::Symbols;
pub use table::{Cell, Row};
pub use text::{Look, render, render_finding, with_article};
pub use watch::Watch;
