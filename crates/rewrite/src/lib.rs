//! Rewriting of PTX by tools.
//!
//! A tool's [`Instrumentation`] is called for all that the kernels of a module do: accesses to memory, synchronisations,
//! calls, exits, definitions of registers. It inserts instructions of its own there through a [`Cursor`]. What it inserts is straight-line code: a test, and a guarded call of a helper that does
//! the rest in the rare case that it is needed. Helpers are PTX, too, and find what belongs to their launch through the
//! [launch context](context), which kernels get as one more parameter.
//!
//! ```
//! use rewrite::{Access, Cursor, Instrumentation, Rewriter};
//!
//! /// Counts nothing, and shows where it could.
//! #[derive(Debug)]
//! struct Look;
//!
//! impl Instrumentation for Look {
//!     fn name(&self) -> &'static str {
//!         "look"
//!     }
//!
//!     fn access(&self, at: &mut Cursor<'_, '_>, access: &Access) {
//!         let site = at.site(access);
//!         let number = at.reg(ptx::types::Type::B32);
//!         at.before().inst("mov.u32", &[number.into(), i64::from(site.0).into()]);
//!     }
//! }
//!
//! let text = ".version 8.0\n.target sm_80\n.address_size 64\n\
//!     .visible .entry k(.param .u64 p) { .reg .b64 %a; ld.param.u64 %a, [p]; st.global.u32 [%a], 1; ret; }";
//! let rewritten = Rewriter::new(&[&Look])?.rewrite(ptx::parse(text).module)?;
//! assert_eq!(rewritten.sites.len(), 1);
//! assert!(ptx::print(&rewritten.module).contains("mov.u32"));
//! # Ok::<(), rewrite::RewriteError>(())
//! ```
//!
//! It does no I/O and knows no device: where memory and its shadow lie is told by who loads the module.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod access_group;
mod constant_sums;
pub mod context;
mod cursor;
mod device_code;
mod error;
mod event;
mod events;
mod function;
mod instrumentation;
mod kernel_view;
mod place;
mod program_view;
mod request;
mod rewriter;
mod shape;
mod site;
mod version;
mod virtual_ids;
mod votes;

pub use access_group::{AccessGroup, Member};
pub use constant_sums::ConstantSums;
pub use cursor::{Cursor, KernelWord, State};
pub use device_code::DeviceCode;
pub use error::{Refusal, RewriteError};
pub use event::{Access, AccessGroupId, Branch, Call, Definition, Exit, Sync};
pub use instrumentation::{Class, Instrumentation};
pub use kernel_view::KernelView;
pub use program_view::ProgramView;
pub use request::{Request, RequestKind};
pub use rewriter::{Rewriter, Rewritten};
pub use shape::{LaunchShape, ThreadId};
pub use site::{Site, SiteId, Sites};
pub use version::{KernelVersion, KernelVersions, Original};
