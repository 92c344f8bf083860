//! What tools are told of a program: accesses to memory, and synchronisations.

use ptx::analysis::PointerValue;
use ptx::ir::{Guard, StmtId};
use ptx::view::MemAccess;

/// An access to memory by an instruction of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The instruction.
    pub stmt: StmtId,
    /// Which of the accesses of the instruction it is.
    pub index: usize,
    /// What is accessed and how.
    pub access: MemAccess,
    /// Which object the address points into, and how it is aligned.
    pub pointer: PointerValue,
    /// The guard that the instruction had in the program.
    pub guard: Option<Guard>,
    /// Whether all lanes of a warp must execute the instruction together, so that it cannot be left out for some.
    pub is_collective: bool,
    /// An earlier access that is always executed before this one, and accesses the same bytes or more. In global memory, it
    /// writes if this one does.
    pub covered_by: Option<StmtId>,
    /// The accesses through the same pointer, if it is the only access of its instruction: see [`Cursor::access_group`](crate::Cursor::access_group).
    pub group: Option<AccessGroupId>,
}

/// The number of an [`AccessGroup`](crate::AccessGroup) in its function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessGroupId(pub(crate) u32);

/// A synchronisation by an instruction of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sync {
    /// The instruction.
    pub stmt: StmtId,
    /// What it does.
    pub kind: SyncKind,
    /// The guard that the instruction had in the program.
    pub guard: Option<Guard>,
}

/// Kinds of synchronisation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyncKind {
    /// Threads of a block or cluster wait for each other.
    Barrier,
    /// Lanes of a warp wait for each other, and may exchange values.
    Collective,
    /// Accesses of the thread are ordered.
    Fence,
    /// Asynchronous copies are committed or waited for, or an `mbarrier` is used.
    Async,
}
