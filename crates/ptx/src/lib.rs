//! PTX text to IR and back.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod analysis;
pub mod describe;
pub mod diagnostic;
pub mod edit;
pub mod entity;
pub mod form;
pub mod ir;
pub mod name;
pub mod ops;
mod parse;
mod print;
pub mod special;
pub mod stats;
pub mod types;
mod verify;
pub mod view;

pub use parse::{Parsed, parse, parse_bytes};
pub use print::{print, print_stmt};
pub use verify::verify;
