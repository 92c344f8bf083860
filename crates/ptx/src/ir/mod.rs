//! The intermediate representation: PTX as data, complete enough to be printed again.
//!
//! A [`Module`] owns its [`Function`]s; a function owns a list of statements in the order of the text, and tables of
//! its registers, labels and variables. Names are resolved while parsing, so that an operand says which register,
//! label or variable it means, whatever scopes and shadowing the text used.
//!
//! Scopes and shadowing are no concern of analyses and edits, although every inline `asm` block of CUTLASS defines the
//! same labels. Only registers that are used have ids: `.reg .b32 %r<1000000>` costs nothing, analyses get dense ids,
//! and a hostile `%r4000000000` goes to a hash map. Statements are a linked list over an arena, as in Cranelift's
//! layout: insertion costs the same anywhere, and ids stay valid. Operands are 16 bytes each, in one pool per function.

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
pub use origin::{InsertedBy, Origin, OriginId, SHADOW_ROLE, TagId};
pub use statement::{CallPrototype, Guard, Inst, Stmt};
pub use variable::{Directive, DirectiveArg, InitValue, Initializer, PointerNote, Variable};
