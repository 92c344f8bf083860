//! What is kept of a function while it is rewritten, and of a kernel for its launches.

use ptx::ir::{Reg, Symbol};
use rustc_hash::FxHashSet;
use toolkit::Touched;

use super::pace::Pace;

/// What is kept of a kernel, or of a function that it calls, for its launches.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// What it may read without telling others, and what it may write; known of kernels only.
    pub(super) touched: Option<[Touched; 2]>,
    /// Bytes of shared memory that its variables have, once.
    pub(super) static_shared: u64,
    /// Whether it does something that must not be done again, or reads what others may have changed meanwhile: atomic
    /// operations, strong loads, prints.
    pub(super) has_side_effects: bool,
    /// Whether barriers say how many threads come.
    pub(super) has_counted_barriers: bool,
    /// Whether it has strong loads of memory that both copies have.
    pub(super) has_strong_loads: bool,
    /// Whether the function prints, from its local memory.
    pub(super) prints: bool,
    /// The register with the position in the log, of kernels that have one.
    pub(super) position: Option<Reg>,
    /// Whether the block has drawn its ticket.
    pub(super) has_ticket: bool,
    /// Registers that the function reads: compilers leave atomic operations with results that nobody does.
    pub(super) read: FxHashSet<Reg>,
    /// How the copies of a thread come through the kernel, if they have a log.
    pub(super) pace: Pace,
    /// How many places of the ring were given to instructions.
    pub(super) places: u32,
    /// Variables in which a call that is made once leaves its result.
    pub(super) results: Vec<Symbol>,
}
