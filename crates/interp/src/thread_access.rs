//! What threads accessed, one by one.

use ptx::ir::{FuncId, StmtId};

use crate::memory::Window;

/// A load, a store or an atomic operation of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadAccess {
    /// The block.
    pub block: [u32; 3],
    /// Linear index of the thread in the block.
    pub thread: u32,
    /// How many barriers of the block the thread has waited at before.
    pub interval: u32,
    /// The kernel, or a function that it calls.
    pub function: FuncId,
    /// The instruction, a statement of that.
    pub statement: StmtId,
    /// Where the address is.
    pub window: Window,
    /// The address in the window.
    pub address: u64,
    /// Bytes.
    pub size: u32,
    /// Written, or read and written.
    pub write: bool,
}
