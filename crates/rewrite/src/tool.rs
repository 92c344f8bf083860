//! What a tool is.

use std::fmt::Debug;

use ptx::analysis::PointerValue;
use ptx::ir::{Guard, Module, StmtId};
use ptx::view::MemAccess;

use crate::access_group::AccessGroupId;
use crate::cursor::Cursor;
use crate::plan::LaunchPlan;
use crate::rewriter::RewriteError;

/// A tool: it rewrites what kernels do. Every hook does nothing unless a tool says otherwise.
///
/// For each function, [`Tool::access`] and [`Tool::sync`] are called in the order of the text, for the instructions that
/// the module had before any tool changed it.
pub trait Tool: Debug + Send + std::marker::Sync {
    /// The name, a word: `memcheck`.
    fn name(&self) -> &'static str;

    /// Functions and variables that the tool needs on the device, as PTX. All of them are `.weak`.
    fn device_code(&self) -> Option<&'static str> {
        None
    }

    /// Changes a module before any instruction of it is looked at: kernels that are copied, variables that grow.
    fn module(&self, _module: &mut Module) -> Result<(), RewriteError> {
        Ok(())
    }

    /// An access to memory, which is about to happen.
    fn access(&self, _at: &mut Cursor<'_, '_>, _access: &Access) {}

    /// A barrier, a fence, or a synchronisation of lanes, which is about to happen.
    fn sync(&self, _at: &mut Cursor<'_, '_>, _sync: &Sync) {}

    /// A kernel is about to be launched.
    fn launch(&self, _plan: &mut LaunchPlan) {}
}

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
    /// The accesses through the same pointer, if it is the only access of its instruction: see [`Cursor::access_group`].
    pub group: Option<AccessGroupId>,
}

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

/// A parameter of a kernel that is a pointer, and whose object the launch looks up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PointerSlot {
    /// The parameter, counted from 0.
    pub param: usize,
    /// Where in it the pointer is.
    pub offset: u32,
    /// What the pointer must be a multiple of: accesses rely on it.
    pub align: u32,
    /// How many bytes the object must have: checks subtract so many from its size, and rely on it.
    pub bytes: u32,
}
