//! PTX text to IR and back: a parser, a printer, a table of every instruction, a verifier, analyses and editing.
//!
//! The types to know:
//! - [`ir::Module`] is what a text declares; [`ir::Function`] has a list of statements and tables of its registers,
//!   labels and variables.
//! - [`form::Form`] is an opcode with its modifiers, looked up once in the table in [`ops`].
//! - [`view::View`] says what an instruction reads, writes and accesses.
//!
//! ```
//! let text = "
//!     .version 8.0
//!     .target sm_80
//!     .address_size 64
//!     .visible .entry increment(.param .u64 data) {
//!         .reg .b32 %r<2>; .reg .b64 %rd<2>;
//!         ld.param.u64 %rd1, [data];
//!         ld.global.u32 %r1, [%rd1];
//!         add.s32 %r1, %r1, 1;
//!         st.global.u32 [%rd1], %r1;
//!         ret;
//!     }";
//! let parsed = ptx::parse(text);
//! assert!(parsed.diagnostics.is_empty());
//! assert!(ptx::verify(&parsed.module).is_empty());
//!
//! let module = parsed.module;
//! let kernel = &module.functions[module.function("increment").unwrap()];
//! let body = kernel.body.as_ref().unwrap();
//! let stores = body.insts().filter(|(id, _)| {
//!     let view = ptx::view::View::of(&module.forms, body, *id).unwrap();
//!     view.accesses().iter().any(|access| access.kind == ptx::view::AccessKind::Write)
//! });
//! assert_eq!(stores.count(), 1);
//! print!("{}", ptx::print(&module));
//! ```
//!
//! What it does not do: it keeps neither comments nor layout, it does not check what a given architecture supports
//! (ptxas does), and it does not execute anything.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod analysis;
pub mod describe;
pub mod diagnostic;
pub mod edit;
pub mod entity;
pub mod form;
pub mod import;
pub mod ir;
pub mod link;
pub mod name;
pub mod ops;
mod parse;
mod print;
pub mod special;
pub mod stats;
pub mod synchronisation;
pub mod types;
mod verify;
pub mod view;

pub use parse::{Parsed, parse, parse_bytes};
pub use print::{print, print_function, print_stmt, print_variable};
pub use verify::verify;
