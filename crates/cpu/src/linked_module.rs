//! A module with its call graph, which is as large as the module and is asked for by every kernel of it.

use std::ops::Deref;
use std::sync::OnceLock;

use ptx::analysis::CallGraph;
use ptx::ir::Module;

/// A module of which all is there.
#[derive(Debug)]
pub(crate) struct LinkedModule {
    module: Module,
    calls: OnceLock<CallGraph>,
}

impl LinkedModule {
    pub(crate) fn new(module: Module) -> Self {
        Self { module, calls: OnceLock::new() }
    }

    /// Which function may call which.
    pub(crate) fn calls(&self) -> &CallGraph {
        self.calls.get_or_init(|| CallGraph::of(&self.module))
    }
}

impl Deref for LinkedModule {
    type Target = Module;

    fn deref(&self) -> &Module {
        &self.module
    }
}
