//! The tool that does nothing: what a program costs that is rewritten and not checked.

use std::sync::Arc;

use rewrite::Instrumentation;
use toolkit::{Host, Instance, Options, Tool};

/// The tool, and its instance.
#[derive(Clone, Copy, Debug)]
pub struct Nop;

impl Instrumentation for Nop {
    fn name(&self) -> &'static str {
        "nop"
    }
}

impl Instance for Nop {}

impl Tool for Nop {
    fn instrumentation(&self) -> &'static dyn Instrumentation {
        &Nop
    }

    fn about(&self) -> &'static str {
        "Runs a CUDA program as a tool would, and finds nothing: for measuring"
    }

    fn is_hidden(&self) -> bool {
        true
    }

    fn start(&self, _: &Options, _: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        Ok(Box::new(Nop))
    }
}
