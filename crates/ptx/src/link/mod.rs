//! Linking: several modules, as `nvcc -rdc=true` makes one of each source file, become one.
//!
//! ```
//! use ptx::link::{Input, link};
//!
//! let first = ptx::parse(
//!     ".version 8.0\n.target sm_80\n.address_size 64\n\
//!      .extern .func twice(.param .b32 x);\n\
//!      .visible .entry k() { .param .b32 a; st.param.b32 [a], 1; call.uni twice, (a); ret; }",
//! );
//! let second = ptx::parse(
//!     ".version 8.1\n.target sm_80\n.address_size 64\n\
//!      .visible .func twice(.param .b32 x) { ret; }",
//! );
//! let inputs = [
//!     Input { name: "a.cu", module: &first.module },
//!     Input { name: "b.cu", module: &second.module },
//! ];
//! let linked = link(&inputs, ptx::link::is_provided).unwrap();
//! assert!(ptx::verify(&linked.module).is_empty());
//! assert_eq!(linked.module.version, Some((8, 1)));
//! let callee = linked.module.function("twice").unwrap();
//! let body = linked.module.functions[callee].body.as_ref().unwrap();
//! let (input, id) = linked.origins.input_of(body.origin(body.first().unwrap()).id);
//! assert_eq!((inputs[input].name, format!("{id:?}")), ("b.cu", "@0".to_owned()));
//! ```
//!
//! The rules:
//! - A name that is `.visible`, `.weak`, `.common` or `.extern` means the same in all modules; so does that of a kernel,
//!   which the host knows by its name. Of several definitions a `.visible` one wins, then the largest `.common` one, then
//!   the first `.weak` one; two that are `.visible` are an error. A variable gets the largest alignment that anyone
//!   declares.
//! - Any other name belongs to its module. If something else has it, too, all but the first get another one
//!   (`name$module2`).
//! - What nobody defines stays `.extern` if something names it, and is an error if a kernel or an initial value leads to
//!   it, unless the device provides it or it is shared memory whose size is given at launch. What nobody names goes.
//! - Nothing else goes: what no kernel uses stays.
//! - The version and the architecture are the highest. Files of `.loc` are numbered anew.
//! - `.debug_str` is kept, because `.loc` names its labels. The other sections of debugging information are dropped, with
//!   the option `debug` of `.target`, which demands them: they refer to files by number, in bytes that only a reader of
//!   DWARF could change, and no tool here reads them. A single module keeps all.
//!
//! The text has declarations of functions first, then variables, then functions: then everything is declared before it
//! is named, whatever the modules name of each other.
//!
//! Time is linear in the size of the inputs.
//!
//! **Why PTX is linked.** NVIDIA links machine code. We link what tools rewrite and devices run, so that a tool sees
//! the whole program and a linked program is a module like any other: `cuLinkComplete` returns PTX. Text is
//! declarations, then variables, then functions, so that an order exists whatever the modules name of each other; only
//! initial values that name each other in a circle across modules have none, and are refused.

mod assemble;
mod error;
mod header;
mod names;
mod order;
mod origins;
mod reach;
mod sections;
mod symbols;

pub use error::LinkError;
pub use origins::InputOrigins;

use crate::ir::Module;

/// More text than this is not linked.
const MAX_TEXT_BYTES: u64 = 1 << 30;

/// A module to be linked.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What it is called in messages.
    pub name: &'a str,
    /// The module.
    pub module: &'a Module,
}

/// A module that was made of several.
#[derive(Clone, Debug)]
pub struct Linked {
    /// The module.
    pub module: Module,
    /// Where its instructions come from. It stays right when the module is printed and parsed again.
    pub origins: InputOrigins,
}

/// Links modules. `provided` says which functions the device has, so that nobody needs to define them:
/// [`is_provided`], mostly. If something is wrong, all errors of the first step that found any are returned.
pub fn link(inputs: &[Input<'_>], provided: impl Fn(&str) -> bool) -> Result<Linked, Vec<LinkError>> {
    let bytes: u64 = inputs.iter().map(|input| u64::from(input.module.lines.text_bytes())).sum();
    if bytes > MAX_TEXT_BYTES {
        return Err(vec![LinkError::TooLarge]);
    }
    let header = header::merge(inputs)?;
    let symbols = symbols::resolve(inputs)?;
    let reached = reach::find(inputs, &symbols, &provided)?;
    let names = names::choose(inputs, &symbols)?;
    let variables = order::of_variables(inputs, &symbols, &reached)?;
    Ok(assemble::assemble(inputs, header, &symbols, &reached, &names, &variables))
}

/// Whether devices provide a function by themselves: output, assertions, memory, and what kernels call to launch others.
/// Of the latter, `__cudaCDP2…` are the functions of the library `cudadevrt`, which is not always linked; it calls
/// `__cuda_syscall_…` and, for programs of former versions, `cnp…`.
pub fn is_provided(name: &str) -> bool {
    const PREFIXES: [&str; 3] = ["__cudaCDP2", "__cuda_syscall_", "cnp"];
    matches!(name, "vprintf" | "__assertfail" | "malloc" | "free")
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
