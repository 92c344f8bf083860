//! What is kept of a function while it is rewritten, and of a kernel for its launches.

use ptx::ir::{Guard, OriginId, Reg, StmtId};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is kept of a function while it is rewritten, and of a kernel for its launches.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The basic block of each statement.
    pub(super) blocks: FxHashMap<StmtId, u32>,
    /// The last block in which it was asked whether the thread is armed, and the answer.
    pub(super) asked: Option<(u32, Reg)>,
    /// Instructions of the program that read ids or sizes, also where a tool gives them others.
    pub(super) ids: FxHashSet<OriginId>,
    /// The guards that the program gave its instructions, also where a tool gives them others.
    pub(super) guards: FxHashMap<OriginId, Option<Guard>>,
    /// Registers that the program writes.
    pub(super) registers: FxHashSet<Reg>,
    /// Registers on which addresses of memory of other tools depend, if that matters.
    pub(super) addresses: FxHashSet<Reg>,
    /// How many places of each stratum the thread has come to.
    pub(super) counts: Vec<Reg>,
    /// The kinds of units that compute in it.
    pub(super) units: FxHashSet<u32>,
}
