//! Rewriting of PTX by tools.
//!
//! A [`Tool`] is called for every access to memory and every synchronisation of a module, and inserts instructions of its
//! own there through a [`Cursor`]. What it inserts is straight-line code: a test, and a guarded call of a helper that does
//! the rest in the rare case that it is needed. Helpers are PTX, too, and find what belongs to their launch through the
//! [launch context](context), which kernels get as one more parameter.
//!
//! ```
//! use rewrite::{Cursor, Rewriter, Tool, Access};
//!
//! /// Counts nothing, and shows where it could.
//! #[derive(Debug)]
//! struct Look;
//!
//! impl Tool for Look {
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
//! let rewritten = Rewriter::new(&[&Look]).rewrite(ptx::parse(text).module)?;
//! assert_eq!(rewritten.sites.len(), 1);
//! assert!(ptx::print(&rewritten.module).contains("mov.u32"));
//! # Ok::<(), rewrite::RewriteError>(())
//! ```
//!
//! It does no I/O and knows no device: where memory and its shadow lie is told by who loads the module.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod access_group;
pub mod context;
mod cursor;
mod device_code;
mod error;
mod event;
mod place;
mod plan;
mod rewriter;
mod site;
mod tool;
mod votes;

pub use access_group::{AccessGroup, Member};
pub use context::PointerSlot;
pub use cursor::{AllowedLanes, Cursor};
pub use device_code::DeviceCode;
pub use error::RewriteError;
pub use event::{Access, AccessGroupId, Sync, SyncKind};
pub use plan::LaunchPlan;
pub use rewriter::{KernelPlan, Rewriter, Rewritten};
pub use site::{Site, SiteId, Sites};
pub use tool::Tool;
