//! Statements of a function body.

use super::debug::SourceLocation;
use super::entities::{GroupId, Label, Reg, Var};
use super::operand::List;
use super::variable::{Directive, Variable};
use crate::form::FormId;
use crate::name::Name;

/// One statement, in the order of the text.
#[derive(Clone, PartialEq, Debug)]
pub enum Stmt {
    /// An instruction.
    Inst(Inst),
    /// A statement that starts with a word that is no known opcode and goes on in a way that nobody can read: the
    /// text up to its semicolon, as written.
    Unknown(Name),
    /// `LABEL:`
    Label(Label),
    /// `{`
    Open,
    /// `}`
    Close,
    /// `.reg .b32 %r<8>;`
    Regs(GroupId),
    /// `.shared .align 4 .b8 buffer[128];` and the other state spaces.
    Var(Var),
    /// `.loc 1 12 5`
    Loc(Box<SourceLocation>),
    /// `.pragma "nounroll";` and directives that nobody knows, as words.
    Directive(Box<Directive>),
    /// `table: .branchtargets A, B;`
    BranchTargets(Label, List),
    /// `targets: .calltargets f, g;`
    CallTargets(Label, List),
    /// `prototype_0: .callprototype (.param .b32 _) _ (.param .b64 _);`
    CallPrototype(Label, Box<CallPrototype>),
}

/// An instruction: known or not, it prints as it was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inst {
    /// `@%p` or `@!%p`
    pub guard: Option<Guard>,
    /// Opcode and modifiers.
    pub form: FormId,
    /// The operands, in the pool of the function.
    pub operands: List,
    /// Whether `.unified` follows the address.
    pub unified: bool,
    /// Which of the first eight operands are addresses written with an offset of zero, lowest bit first: without
    /// optimisation, ptxas makes other code for `[param0+0]` than for `[param0]`.
    pub zero_offsets: u8,
}

/// The condition under which an instruction is executed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Guard {
    /// A predicate register.
    pub reg: Reg,
    /// Whether the instruction is executed where the predicate is false.
    pub negated: bool,
}

/// The signature of an indirect call.
#[derive(Clone, PartialEq, Debug)]
pub struct CallPrototype {
    /// Result parameters; they have no names.
    pub returns: Vec<Variable>,
    /// The name between results and parameters, `_` as compilers write it.
    pub name: Name,
    /// Parameters.
    pub params: Vec<Variable>,
    /// `.noreturn` and the like.
    pub directives: Vec<Directive>,
}
