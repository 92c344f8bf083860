//! Operands: 16 bytes each, so that a module of millions of them stays small.

use super::entities::{FuncId, Global, Label, Reg, Var};
use crate::name::Name;
use crate::special::Special;

/// One operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// `%r1`
    Reg(Reg),
    /// `!%p1`
    Not(Reg),
    /// `-%r1`, which only `vmad` knows.
    Neg(Reg),
    /// `%r1.b0`, `%v.x`: a byte, half-word or element of a register.
    Part(Reg, Name),
    /// `%p|%q`, `%r|%p`, `_|%p`: two destinations.
    Pair(PairMember, PairMember),
    /// `{%f1, %f2, %f3, %f4}|%p`: a texel and whether it is resident.
    VectorPair(List, PairMember),
    /// `%tid.x`
    Special(Special),
    /// `42`, `-1`
    Int(i64),
    /// `0x2a`, `4294967295U`: printed in hexadecimal.
    Hex(u64),
    /// `0f3F800000`: the bits of a 32-bit float.
    F32(u32),
    /// `0d3FF0000000000000`, `1.0`: the bits of a 64-bit float.
    F64(u64),
    /// `WARP_SZ`
    WarpSize,
    /// `buffer+8`: the address of a variable or function, or a label.
    Symbol(Symbol, i32),
    /// `[%rd1+8]`
    RegAddress(Reg, i32),
    /// `[buffer+8]`
    SymbolAddress(Symbol, i32),
    /// `[64]`: an absolute address.
    IntAddress(u64),
    /// `[texture, {%f1, %f2}]`, `[tensor, {%r1, %r2}]`: an address made of several operands.
    TupleAddress(List),
    /// `table[3]`: an element of an array; the address of it for `mov`, its content for `ld`.
    Element(Symbol, i32),
    /// `{%f1, %f2, _, 0}`
    Vector(List),
    /// `(%r1, param0)`: arguments and results of a call.
    Arguments(List),
    /// `_`: a result that nobody wants.
    Sink,
}

/// A register or `_` in a pair of destinations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct PairMember(u32);

impl PairMember {
    /// `_`
    pub const SINK: Self = Self(u32::MAX);

    /// The register, or nothing for `_`.
    pub fn reg(self) -> Option<Reg> {
        use crate::entity::Id;
        (self != Self::SINK).then(|| Reg::new(self.0 as usize))
    }
}

impl From<Reg> for PairMember {
    fn from(reg: Reg) -> Self {
        use crate::entity::Id;
        Self(reg.index() as u32)
    }
}

/// What an identifier in an operand stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Symbol {
    /// A variable of the module.
    Global(Global),
    /// A variable or parameter of the function.
    Var(Var),
    /// A function or kernel.
    Func(FuncId),
    /// A label of the function.
    Label(Label),
    /// A name that is declared nowhere: the verifier says so.
    Undeclared(Name),
}

/// A run of operands in the pool of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct List {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

impl List {
    /// Number of operands.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether the list is empty.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

impl Operand {
    /// The register, if this is one and nothing is done to it.
    pub fn as_reg(self) -> Option<Reg> {
        match self {
            Self::Reg(reg) => Some(reg),
            _ => None,
        }
    }

    /// The value of an integer immediate, as the 64 bits that PTX computes with.
    pub fn as_int(self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(value),
            Self::Hex(value) => Some(value as i64),
            Self::WarpSize => Some(32),
            _ => None,
        }
    }

    /// Whether this is an integer or floating-point constant.
    pub fn is_immediate(self) -> bool {
        matches!(self, Self::Int(_) | Self::Hex(_) | Self::F32(_) | Self::F64(_) | Self::WarpSize)
    }

    /// Whether this operand is an address in brackets (or an array element, which is loaded like one).
    pub fn is_address(self) -> bool {
        matches!(
            self,
            Self::RegAddress(..)
                | Self::SymbolAddress(..)
                | Self::IntAddress(_)
                | Self::TupleAddress(_)
                | Self::Element(..)
        )
    }
}

const _: () = assert!(size_of::<Operand>() == 16);
