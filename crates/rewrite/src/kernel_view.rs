//! A kernel, as tools look at it before they say what they make of it.

use ptx::analysis::CallGraph;
use ptx::ir::{FuncId, Function, Module};
use ptx::view::View;

/// A kernel of a module that no tool has changed.
#[derive(Clone, Copy, Debug)]
pub struct KernelView<'m> {
    pub(crate) module: &'m Module,
    pub(crate) calls: &'m CallGraph,
    pub(crate) kernel: FuncId,
    pub(crate) calls_through_pointers: bool,
}

impl<'m> KernelView<'m> {
    /// Its module.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// The kernel itself.
    pub fn function(&self) -> &'m Function {
        &self.module.functions[self.kernel]
    }

    /// Its name, as the compiler has it.
    pub fn name(&self) -> &'m str {
        self.module.text(self.function().name)
    }

    /// Whether it, or a function that it calls, may call a function through a pointer. Such functions are there once for
    /// all versions, and tools that change the program do not see them.
    pub fn calls_through_pointers(&self) -> bool {
        self.calls_through_pointers
    }

    /// The kernel, and all functions with bodies that it may call.
    pub fn functions(&self) -> impl Iterator<Item = (FuncId, &'m Function)> {
        let Self { module, calls, kernel, .. } = *self;
        let reached: Vec<FuncId> = calls.reachable_from(kernel).iter().collect();
        let with_body = move |func: FuncId| (func, &module.functions[func]);
        reached.into_iter().map(with_body).filter(|(_, function)| function.body.is_some())
    }

    /// The instructions of the kernel, and of all functions that it may call.
    pub fn instructions(&self) -> impl Iterator<Item = View<'m>> {
        let module = self.module;
        let bodies = self.functions().filter_map(|(_, function)| function.body.as_ref());
        bodies.flat_map(move |body| body.iter().filter_map(move |id| View::of(&module.forms, body, id)))
    }
}
