//! A module, as tools look at it before any of it is rewritten.

use ptx::analysis::{BitSet, CallGraph};
use ptx::ir::{FuncId, Module};

/// A module that no tool has changed.
#[derive(Clone, Copy, Debug)]
pub struct ProgramView<'m> {
    pub(crate) module: &'m Module,
    pub(crate) calls: &'m CallGraph,
    pub(crate) in_place: &'m BitSet<FuncId>,
}

impl<'m> ProgramView<'m> {
    /// The module.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// Its calls.
    pub fn calls(&self) -> &'m CallGraph {
        self.calls
    }

    /// Whether each version of a kernel has a copy of a function for itself, which nothing else calls. Those that may be
    /// called through pointers are there once.
    pub fn is_copied(&self, func: FuncId) -> bool {
        let function = &self.module.functions[func];
        function.body.is_some() && !function.is_entry() && !self.in_place.contains(func)
    }
}
