//! The intermediate representation: PTX as data, complete enough to be printed again.
//!
//! A [`Module`] owns its [`Function`]s; a function owns a list of statements in the order of the text, and tables of
//! its registers, labels and variables. Names are resolved while parsing, so that an operand says which register,
//! label or variable it means, whatever scopes and shadowing the text used.

mod debug;
mod entities;
mod function;
mod module;
mod operand;
mod origin;
mod statement;
mod variable;

pub use debug::{FileEntry, InlinedAt, Section, SectionData, SectionItem, SourceLocation};
pub use entities::{FuncId, Global, GroupId, Label, Reg, StmtId, Var};
pub use function::{Body, Function, FunctionKind, LabelInfo, Param, RegGroup, RegInfo};
pub use module::{AliasDirective, Item, Module, UnknownDirective};
pub use operand::{List, Operand, PairMember, Symbol};
pub use origin::{InsertedBy, Origin, OriginId, TagId};
pub use statement::{CallPrototype, Guard, Inst, Stmt};
pub use variable::{Directive, DirectiveArg, InitValue, Initializer, PointerNote, Variable};
