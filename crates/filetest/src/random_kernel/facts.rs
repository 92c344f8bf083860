//! What is the same all over a function, and decides which statements it may have.

use super::choose::Choose;

/// What is the same all over a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// Whether this is a function and not the kernel.
    pub(super) in_function: bool,
    /// Threads of a block.
    pub(super) threads: u32,
    pub(super) has_shared: bool,
    pub(super) has_local: bool,
    pub(super) has_generic: bool,
    /// Whether all warps keep in step: they wait for each other at barriers of the whole block, and nowhere else.
    pub(super) in_step: bool,
    /// Whether threads may end early.
    pub(super) may_exit: bool,
    /// How many instructions there may be before no further branches and loops are begun.
    pub(super) limit: usize,
    pub(super) counters: Vec<Counter>,
    pub(super) callees: Vec<Callee>,
    /// The last barrier that was given to some warps alone.
    pub(super) next_barrier: u32,
}

impl Facts {
    pub(super) fn warps(&self) -> u32 {
        self.threads.div_ceil(32)
    }
}

/// Memory that many threads change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    /// What they do to it: the operation and the type.
    pub(super) operation: &'static str,
    /// Where it is.
    pub(super) offset: u32,
    pub(super) is_shared: bool,
}

/// What counters can be used for. Sums of small whole numbers are exact also in floating point.
const OPERATIONS: [&str; 14] = [
    "add.u32", "add.s32", "add.u64", "add.f32", "add.f64", "min.s32", "min.u32", "max.s64", "max.u32", "min.u64",
    "and.b32", "or.b32", "xor.b32", "xor.b64",
];

impl Counter {
    pub(super) fn new(choose: &mut Choose, offset: u32, is_shared: bool) -> Self {
        Self { operation: choose.pick(&OPERATIONS), offset, is_shared }
    }

    /// What it holds in the beginning: not what nothing can change any more.
    pub(super) fn start(&self) -> u64 {
        if self.operation.starts_with("and") || self.operation.starts_with("min.u") { u64::MAX } else { 0 }
    }
}

/// A function that can be called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Callee {
    pub(super) name: String,
    pub(super) kind: CalleeKind,
}

/// What a function takes and returns, and how it is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CalleeKind {
    /// `(b32) f(b32, b64)`
    Plain,
    /// `(b32) f(b32, b64)`, among those that are called by address.
    InTable,
    /// `(b32) f(b32, b32)`: the second is how often it calls itself.
    Recursive,
    /// `(b32) f(b32, b32)`: the second is the mask of the lanes that call it together.
    Collective,
    /// `(b32) f(b32, b32)` in registers.
    Registers,
    /// The same, called where a comparison holds, as tools do.
    Rare,
}
