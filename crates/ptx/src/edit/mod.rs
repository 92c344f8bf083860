//! Changing a module: what every tool is made of.
//!
//! An [`Editor`] is opened on one function and makes what the edits need: fresh registers, labels and variables whose
//! names are used nowhere in the function. A [`Builder`] inserts statements at a place. What is inserted or copied
//! carries the id of the user's instruction that it is there for, and the tag of the tool ([`Origin`](crate::ir::Origin)).
//!
//! - [`Editor::before`], [`Editor::after`], [`Editor::at_entry`], [`Editor::at_end`] insert;
//! - [`Editor::replace`], [`Editor::set_operand`], [`Editor::rename_regs`], [`Forms::with_modifier`] change;
//! - [`Editor::split_before`], [`Editor::redirect`] cut and join blocks;
//! - [`Editor::flatten`] removes inner scopes, [`Editor::unshadow`] uncovers names of the module;
//! - [`Editor::clone_region`], [`Module::clone_function`], [`Editor::inline`] copy;
//! - [`Module::add_variable`], [`Module::declare_function`], [`Module::add_function`] declare.
//!
//! ```
//! use ptx::edit::Editor;
//! use ptx::types::Type;
//!
//! let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { bar.sync 0; ret; }";
//! let mut module = ptx::parse(text).module;
//! let kernel = module.function("k").unwrap();
//! let mut editor = Editor::new(&mut module, kernel)?;
//! let tag = editor.tag("count", "barrier", 0);
//! let counter = editor.reg(tag, Type::B32);
//! editor.at_entry(tag).inst("mov.b32", &[counter.into(), 0.into()]);
//! for id in editor.body().ids() {
//!     if editor.view(id).is_some_and(|view| view.form.spelling().starts_with("bar.")) {
//!         editor.before(id, tag).inst("add.u32", &[counter.into(), counter.into(), 1.into()]);
//!     }
//! }
//! assert!(ptx::verify(&module).is_empty());
//! assert!(ptx::print(&module).contains("add.u32 \t%count_barrier_b32_0, %count_barrier_b32_0, 1; //@ 0 count.barrier"));
//! # Ok::<(), ptx::edit::EditError>(())
//! ```
//!
//! Edits keep a module consistent as far as they know it: they do not ask whether an instruction that a tool inserts
//! makes sense. [`verify`](crate::verify) does.
//!
//! [`Module::clone_function`]: crate::ir::Module::clone_function
//! [`Module::add_variable`]: crate::ir::Module::add_variable
//! [`Module::declare_function`]: crate::ir::Module::declare_function
//! [`Module::add_function`]: crate::ir::Module::add_function
//! [`Forms::with_modifier`]: crate::form::Forms::with_modifier

mod builder;
mod clone;
mod clone_function;
mod copy;
mod declare;
mod declared;
mod editor;
mod error;
mod flatten;
mod fresh;
mod inline;
mod modifiers;
mod modify;
mod names;
mod origin;
mod split;

pub use builder::{Builder, Point};
pub use clone::{Copied, Registers};
pub use clone_function::SelfCalls;
pub use declare::{ParamType, Signature};
pub use editor::Editor;
pub use error::EditError;
pub use inline::Inlined;
pub use modify::RegUse;
pub use origin::{TracedOrigin, origin_of, origins};
