//! What a program on disk is, before anything of it runs: whether we can get in front of it ([`Kind`]), and which CUDA
//! runtime it carries ([`runtime::Linkage`]).
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! let file = std::fs::File::open("/proc/self/exe")?;
//! assert_eq!(program::Kind::of(&file)?, program::Kind::Dynamic);
//! let elf = program::Elf::read(&file).expect("an ELF file");
//! assert_eq!(program::runtime::Linkage::of(&elf), Ok(program::runtime::Linkage::None));
//! # Ok(())
//! # }
//! ```
//!
//! Files may be hostile: every offset, size and count is checked, and what is read is bounded. [`Kind`] is found without
//! allocating memory, because it is also asked for between `fork` and `exec`.
//!
//! Only little-endian ELF files of 64 bits are read further than their first bytes, and nothing is said of files that
//! are neither ELF files nor scripts.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod elf;
mod kind;
mod machine_code;
pub mod runtime;

pub use elf::Elf;
pub use kind::{Interpreter, Kind};
pub use machine_code::has_machine_code_only;
