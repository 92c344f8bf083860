//! A kernel as it is executed: instructions, blocks, loops and variables.

use smallvec::SmallVec;

use super::site::Site;
use super::value::ObjectId;
use crate::analysis::{Block, LoopId};
use crate::entity::{Id, Map};
use crate::ir::Reg;
use crate::special::Special;
use crate::types::Space;
use crate::view::{AccessKind, Scope};

/// A kernel that can be executed.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub steps: Vec<Step>,
    pub blocks: Map<Block, BlockCode>,
    pub entry: Block,
    pub loops: Map<LoopId, LoopCode>,
    pub registers: usize,
    /// Bits of each register.
    pub register_bits: Map<Reg, u32>,
    pub variables: Map<ObjectId, ObjectInfo>,
    pub sites: Vec<Site>,
    pub param_bytes: u32,
    /// Bytes of the parameters that are loaded as integers: other bytes do not matter.
    pub relevant: Vec<std::ops::Range<u32>>,
    /// Whether it asks which lane of its warp a thread is.
    pub uses_lane: bool,
    /// What ends every attempt, and where: control flow that is not understood.
    pub refusal: Option<(usize, &'static str)>,
}

/// An object that is known before launches.
#[derive(Clone, Debug)]
pub(super) struct ObjectInfo {
    pub name: String,
    pub space: Space,
    /// Nothing for dynamic shared memory, whose size a launch says.
    pub size: Option<u64>,
    pub align: u64,
    /// Whether it is a variable of the module, which a parameter may point into as well.
    pub is_module_variable: bool,
}

/// A basic block.
#[derive(Clone, Debug)]
pub(super) struct BlockCode {
    pub steps: std::ops::Range<usize>,
    pub end: End,
    /// The block at which all ways from here meet.
    pub meets_at: Option<Block>,
    pub heads: Option<LoopId>,
    pub live: Vec<Reg>,
    /// Whether threads that come here do nothing more.
    pub only_leaves: bool,
}

/// Where control goes after a block.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// To a block.
    Jump(Block),
    /// Threads end.
    Leave,
    /// To one block or another; nothing where threads end.
    Branch { reg: Reg, negated: bool, taken: Option<Block>, otherwise: Option<Block> },
    /// Nobody knows where.
    Unknown(usize),
}

/// A natural loop.
#[derive(Clone, Debug)]
pub(super) struct LoopCode {
    pub header: Block,
    /// Ascending.
    pub members: Vec<Block>,
    pub written: Vec<Reg>,
    pub has_barrier: bool,
}

impl LoopCode {
    pub(super) fn contains(&self, block: Block) -> bool {
        self.members.binary_search(&block).is_ok()
    }
}

/// An instruction.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub site: usize,
    pub guard: Option<(Reg, bool)>,
    pub action: Action,
    pub targets: SmallVec<[Target; 1]>,
    pub sources: SmallVec<[Source; 3]>,
}

/// A register that is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub reg: Reg,
    pub is_predicate: bool,
}

/// A value that is read.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Source {
    Reg(Reg),
    Not(Reg),
    Int(i64),
    Special(Special),
    Address(ObjectId, i64),
    Other,
}

/// An integer type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Width {
    pub bits: u32,
    pub signed: bool,
}

/// What an instruction does.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Add(Width),
    Sub(Width),
    /// The low half of the product.
    Mul(Width),
    MulHigh(Width),
    MulWide(Width),
    Mad(Width),
    MadWide(Width),
    Div(Width),
    Rem(Width),
    Neg(Width),
    Abs(Width),
    Min(Width),
    Max(Width),
    And(Width),
    Or(Width),
    Xor(Width),
    Not(Width),
    ShiftLeft(Width),
    ShiftRight(Width),
    ExtractBits(Width),
    InsertBits(Width),
    /// A number from 0 to the most.
    UpTo(i64),
    Copy,
    /// Between an address of a space and a generic one.
    ConvertAddress,
    Convert {
        from: Width,
        to: Width,
    },
    /// A number of a type, from something that is no integer.
    Number(Width),
    Compare {
        comparison: Comparison,
        width: Width,
        combine: Option<Logic>,
    },
    /// Of predicates.
    Logic(Logic),
    Complement,
    Select,
    Load {
        access: Access,
        value: Option<Width>,
    },
    Access(Access),
    Barrier,
    Nothing,
    /// Writes something that is not known.
    Unknown,
    /// Does something that is not understood.
    Refused(&'static str),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Logic {
    And,
    Or,
    Xor,
}

/// An access to memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub base: Source,
    pub offset: i64,
    pub kind: AccessKind,
    pub space: Option<Space>,
    pub bytes: u32,
    pub vector: u32,
    /// Among whom it is a strong operation; nothing for a weak one.
    pub strong: Option<Scope>,
}

/// The object that stands for the parameters.
pub(super) fn parameters() -> ObjectId {
    ObjectId::new(0)
}

/// The object that stands for dynamic shared memory, whatever it is called.
pub(super) fn dynamic_shared() -> ObjectId {
    ObjectId::new(1)
}
