//! The tool that does nothing: what a program costs that is rewritten and not checked.

use rewrite::Tool;

/// The tool that does nothing.
#[derive(Clone, Copy, Debug)]
pub struct Nop;

impl Tool for Nop {
    fn name(&self) -> &'static str {
        "nop"
    }
}
