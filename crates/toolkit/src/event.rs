//! What the program did on the host.

use std::sync::Arc;
use std::time::Instant;

use report::Place;

use crate::objects::Object;
use crate::order::WorkOrder;
use crate::stack::HostStack;

/// Waits until all streams have done what they were asked for, or until some time; whether they have.
pub type Settle = fn(Instant) -> bool;

/// What the program did on the host. What it did with memory has been done, and [`Objects`](crate::Objects) knows of it,
/// unless it is said otherwise.
#[derive(Clone, Copy, Debug)]
pub enum HostEvent<'a> {
    /// It calls a function of CUDA. Told only if a tool [wants](crate::Instance::wants_calls) to know.
    Called {
        /// The function.
        function: &'static str,
        /// Whether it is there; else it says so, and returns an error.
        is_supported: bool,
    },
    /// Memory is there that kernels may access.
    Allocated(&'a Object),
    /// Memory is gone, for good.
    Unmapped(&'a Object),
    /// It frees what cannot be freed.
    InvalidFree {
        /// The address.
        address: u64,
    },
    /// A kernel frees what no kernel has allocated.
    InvalidFreeInKernel {
        /// The address.
        address: u64,
        /// Where.
        place: &'a Place,
    },
    /// It asks for a copy or fill that goes past the end of an allocation, and is refused.
    CopyOverrun {
        /// Where it begins.
        address: u64,
        /// How many bytes it has.
        bytes: u64,
    },
    /// It asks for a texture of more memory than an allocation has, and is refused.
    BindingOverrun {
        /// Where the memory begins.
        address: u64,
        /// How many bytes are bound.
        bytes: u64,
    },
    /// It uses what it has destroyed, and is refused.
    DestroyedHandle {
        /// What it was: "a stream".
        what: &'static str,
        /// Where it was destroyed.
        stack: &'a HostStack,
    },
    /// It asks for a copy in a direction that is not that of the pointers.
    WrongDirection {
        /// The pointer that does not fit.
        address: u64,
        /// Whether it is the target of the copy.
        is_target: bool,
        /// Whether it should be one of the device; else one of the host.
        wants_device: bool,
    },
    /// Memory is there for work that comes after its allocation in a stream. The object is there before.
    AllocatedInStream {
        /// Where it begins.
        start: u64,
        /// The allocation, and what comes before it.
        order: &'a WorkOrder,
    },
    /// Memory is to be given back, in a stream.
    FreedInStream {
        /// Where it begins.
        start: u64,
        /// When, and what comes before that.
        order: &'a WorkOrder,
        /// Where the program asked for it.
        stack: &'a HostStack,
    },
    /// It asks for an asynchronous copy of memory of the host that is not pinned, which is not asynchronous then.
    UnpinnedCopy {
        /// Whether it goes to the host: then the call has to wait for it.
        is_to_host: bool,
    },
    /// It asks for a copy from or to memory, or a fill of it, that is within an allocation.
    Copy {
        /// Where it begins.
        address: u64,
        /// How many bytes it has.
        bytes: u64,
    },
    /// Memory was copied, in a stream. Not told of what is copied between two places of the host.
    Copied {
        /// Where from.
        from: u64,
        /// Where to.
        to: u64,
        /// How many bytes.
        bytes: u64,
        /// Where the program asked for it.
        stack: &'a HostStack,
        /// What comes before it; nothing if no tool [wants](crate::Instance::wants_order) to know.
        order: Option<&'a WorkOrder>,
    },
    /// Memory was filled or written, in a stream.
    Filled {
        /// Where it begins.
        address: u64,
        /// How many bytes it has.
        bytes: u64,
        /// Where the program asked for it.
        stack: &'a HostStack,
        /// What comes before it; nothing if no tool [wants](crate::Instance::wants_order) to know.
        order: Option<&'a WorkOrder>,
    },
    /// It asks for a copy of memory that was freed, or a fill, and is refused.
    CopyOfFreed {
        /// Where it begins.
        address: u64,
    },
    /// Its own code accesses device memory, and gets a signal for it.
    HostAccess {
        /// The address.
        address: u64,
        /// Whether it writes.
        is_write: bool,
        /// Where.
        stack: &'a HostStack,
    },
    /// A context ends, and takes memory with it, which is still there.
    ContextEnds {
        /// Which objects.
        taken: &'a [Object],
    },
    /// It allocates from a range by itself from now on.
    HeapAppears {
        /// Where the range begins.
        start: u64,
        /// How many bytes it has.
        bytes: u64,
        /// How it is used.
        usage: HeapUse,
        /// As the program calls it.
        label: Option<&'a Arc<str>>,
        /// Waits for streams.
        settle: Settle,
    },
    /// It does not do so any more.
    HeapVanishes {
        /// Where the range begins.
        start: u64,
    },
    /// All is free that was allocated from a heap.
    HeapIsReset {
        /// Where the range begins.
        start: u64,
        /// Waits for streams.
        settle: Settle,
    },
    /// A range of a heap is allocated.
    PartAppears {
        /// Where it begins.
        start: u64,
        /// How many bytes it has.
        bytes: u64,
    },
    /// It has another size from now on.
    PartIsResized {
        /// Where it begins.
        start: u64,
        /// How many bytes it has.
        bytes: u64,
        /// Waits for streams.
        settle: Settle,
    },
    /// It is free again.
    PartVanishes {
        /// Where it begins.
        start: u64,
        /// Waits for streams.
        settle: Settle,
    },
    /// It says that memory is defined.
    MarkedDefined {
        /// Where it begins.
        start: u64,
        /// How many bytes it has.
        bytes: u64,
        /// Waits for streams.
        settle: Settle,
    },
    /// It says that memory is undefined.
    MarkedUndefined {
        /// Where it begins.
        start: u64,
        /// How many bytes it has.
        bytes: u64,
        /// Waits for streams.
        settle: Settle,
    },
    /// It says that races in memory are meant.
    BenignRace {
        /// Where it begins.
        start: u64,
        /// How many bytes it has.
        bytes: u64,
    },
    /// It says what may be done with an object: [`permissions`](crate::objects::permissions).
    Permissions {
        /// Where the object begins.
        start: u64,
        /// What may be done.
        given: u64,
        /// Waits for streams.
        settle: Settle,
    },
    /// Everything may be done with all objects again.
    PermissionsAreReset {
        /// Waits for streams.
        settle: Settle,
    },
}

/// How the memory of a heap is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeapUse {
    /// Only what is allocated from it is accessed.
    SubAllocator,
    /// All of it may be accessed.
    Layout,
}
