//! What a tool is: what it inserts into kernels, and the half of it that runs in the process of the program.
//!
//! A [`Tool`] is known by one line in the list of tools. Its [`rewrite::Instrumentation`] rewrites kernels and knows only
//! PTX. Its [`Instance`], one in each process, is told what the program does with memory and kernels, says which version of
//! a kernel a launch runs and with which words in its context, may [plan](Plan) a launch in steps, and makes findings and
//! rows of tables of what kernels recorded. It asks the [`Host`] for what it needs: objects in memory ([`Objects`]), shadow
//! [planes](Plane), stacks.
//!
//! ```
//! use std::sync::Arc;
//! use toolkit::{Host, Instance, Options, Tool};
//!
//! #[derive(Debug)]
//! struct Look;
//!
//! impl rewrite::Instrumentation for Look {
//!     fn name(&self) -> &'static str {
//!         "look"
//!     }
//! }
//!
//! impl Instance for Look {}
//!
//! impl Tool for Look {
//!     fn instrumentation(&self) -> &'static dyn rewrite::Instrumentation {
//!         &Look
//!     }
//!     fn about(&self) -> &'static str {
//!         "Runs a CUDA program and looks at it"
//!     }
//!     fn start(&self, _: &Options, _: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
//!         Ok(Box::new(Look))
//!     }
//! }
//!
//! assert_eq!(Look.name(), "look");
//! ```
//!
//! It knows devices by the traits of the crate `device`, and neither CUDA nor files nor processes.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod device_access;
mod event;
mod failure;
mod host;
mod instance;
mod launch;
pub mod objects;
mod order;
mod plan;
mod plane;
mod proofs;
pub mod quarantine;
mod reach;
mod shared_words;
mod stack;
mod tallies;
mod tool;
mod touched;

pub use device_access::{DeviceAccess, LaunchDevice};
pub use event::{HeapUse, HostEvent, Settle};
pub use failure::Failure;
pub use host::Host;
pub use instance::Instance;
pub use launch::{CarveoutRequest, EndedLaunch, Evidence, Kept, LaunchView, SiteCount, Words, site_variable};
pub use objects::{AllocationKind, Moment, Object, Objects};
pub use order::{Clock, WorkId, WorkOrder};
pub use plan::{ChildEnd, ForkStep, Forked, LaunchStep, Outcome, Plan, RunStep, Step, TrialEnd, Tried};
pub use plane::{Plane, PlaneLayout, PlaneOf};
pub use proofs::Proofs;
pub use reach::Reach;
pub use shared_words::SharedWords;
pub use stack::{Calls, HostStack};
pub use tallies::tally_rows;
pub use tool::{Flag, FlagValue, Options, Tool};
pub use touched::{Accessed, Touched};
