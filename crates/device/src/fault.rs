//! What can go wrong with a launch, and who waits meanwhile.

/// What went wrong in a launch, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{kind} (block {block:?}, thread {thread:?}, line {line} of the PTX)")]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// The line of the PTX; 0 if not known.
    pub line: u32,
    /// The block.
    pub block: [u32; 3],
    /// The first thread of the warp, or the thread.
    pub thread: [u32; 3],
}

/// What can go wrong in a launch.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FaultKind {
    /// An access to memory that is not there.
    #[error("illegal address {address:#x}")]
    IllegalAddress {
        /// The address.
        address: u64,
    },
    /// An access to an address that is not a multiple of its size.
    #[error("address {address:#x} is not a multiple of {bytes} bytes")]
    Misaligned {
        /// The address.
        address: u64,
        /// The size of the access.
        bytes: u32,
    },
    /// `trap`
    #[error("trap")]
    Trap,
    /// `assert` failed.
    #[error("assertion failed: {place}: {message}")]
    Assertion {
        /// What does not hold.
        message: String,
        /// File, line and function: `a.cu:7: void f(int)`.
        place: String,
    },
    /// A call of something that is no function.
    #[error("call of an address that is no function")]
    BadCall,
    /// A barrier that does not exist.
    #[error("barrier {id} does not exist")]
    BadBarrier {
        /// Its number.
        id: u32,
    },
    /// Something that PTX leaves undefined, and that cannot be gone on from.
    #[error("{what}")]
    Undefined {
        /// What.
        what: &'static str,
    },
    /// The stack, or the local memory, was not enough.
    #[error("stack overflow")]
    StackOverflow,
    /// All threads that are left wait for each other.
    #[error("deadlock: {} threads or warps wait", waiters.len())]
    Deadlock {
        /// Some of them.
        waiters: Vec<Waiter>,
    },
    /// A thread executed more instructions than it may.
    #[error("a thread executed more than {budget} instructions, as many as --instruction-budget allows")]
    OverBudget {
        /// How many it may execute.
        budget: u64,
    },
    /// The launch took longer than it may.
    #[error("the launch did not end in time")]
    Timeout {
        /// Who waits at a barrier meanwhile.
        waiters: Vec<Waiter>,
    },
    /// The host has no memory left.
    #[error("out of memory: {message}")]
    OutOfMemory {
        /// What the system says.
        message: String,
    },
    /// What a driver says, which does not know where it was.
    #[error("{message}")]
    Driver {
        /// CUDA's number for it.
        code: u32,
        /// In words.
        message: String,
    },
    /// Something that the device cannot do.
    #[error("not supported by the CPU device: {what}")]
    Unsupported {
        /// What.
        what: String,
    },
}

/// Somebody who waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiter {
    /// The block.
    pub block: [u32; 3],
    /// The thread, or the first of the warp.
    pub thread: [u32; 3],
    /// The barrier; nothing for lanes of the warp.
    pub barrier: Option<u32>,
    /// The line of the PTX.
    pub line: u32,
}

/// A thread that names lanes of its warp in a collective, and not its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneNotInMask {
    /// The block.
    pub block: [u32; 3],
    /// The thread.
    pub thread: [u32; 3],
    /// The lanes that it names.
    pub mask: u32,
    /// The line of the PTX.
    pub line: u32,
}

impl Fault {
    /// The host has no memory left, as the system says.
    pub fn out_of_memory(error: &std::io::Error) -> Self {
        let kind = FaultKind::OutOfMemory { message: error.to_string() };
        Self { kind, line: 0, block: [0; 3], thread: [0; 3] }
    }
}
