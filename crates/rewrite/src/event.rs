//! What tools are told of a program.

use ptx::analysis::PointerValue;
use ptx::ir::{Guard, Reg, StmtId};
use ptx::synchronisation::Synchronisation;
use ptx::view::{Callee, MemAccess};
use smallvec::SmallVec;

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
    /// Whether the program has asked for no checks here ([`RequestKind::Checks`](crate::RequestKind::Checks)).
    pub is_unchecked: bool,
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
    /// What it waits for, and what it orders.
    pub kind: Synchronisation,
    /// The guard that the instruction had in the program.
    pub guard: Option<Guard>,
}

/// A call by an instruction of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// The instruction.
    pub stmt: StmtId,
    /// Whom it calls.
    pub callee: Callee,
    /// The guard that the instruction had in the program.
    pub guard: Option<Guard>,
}

/// A branch by an instruction of the program that only some threads may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Branch {
    /// The instruction.
    pub stmt: StmtId,
    /// The guard that the instruction had in the program: threads for which it holds go to the target.
    pub guard: Guard,
}

/// An instruction of the program by which a thread leaves a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exit {
    /// The instruction.
    pub stmt: StmtId,
    /// Whether the thread ends, wherever it is: by `exit`, or by `ret` in a kernel.
    pub ends_thread: bool,
    /// The guard that the instruction had in the program.
    pub guard: Option<Guard>,
}

/// An instruction that writes registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    /// The instruction.
    pub stmt: StmtId,
    /// The registers.
    pub regs: SmallVec<[Reg; 4]>,
    /// The guard that the instruction had in the program.
    pub guard: Option<Guard>,
}
