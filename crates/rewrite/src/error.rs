//! Why something cannot be rewritten: a tool that is broken, or a kernel that a tool refuses.

use std::fmt;

use ptx::edit::EditError;
use ptx::import::ImportError;

/// Why no module can be rewritten: a tool is broken, or tools do not go together.
#[derive(Debug, thiserror::Error)]
pub enum RewriteError {
    /// What a tool brings to the device is not right.
    #[error("the tool {tool} is broken: line {line} of its device code: {message}")]
    DeviceCode {
        /// The tool; `warpgrind` for what all of them share.
        tool: &'static str,
        /// The line of the text, from 1 on.
        line: u32,
        /// What is wrong, in one sentence without a full stop.
        message: String,
    },
    /// A tool calls a helper that is in no device code.
    #[error("the tool {tool} is broken: it calls `{helper}`, and no device code has a function of that name")]
    NoHelper {
        /// The tool.
        tool: &'static str,
        /// The name that it calls.
        helper: String,
    },
    /// A function of a tool does not fit into the module.
    #[error("{tool}: {error}")]
    Import {
        /// The tool; `warpgrind` for what all of them share.
        tool: &'static str,
        /// Why.
        #[source]
        error: ImportError,
    },
    /// Two tools change the program.
    #[error(
        "{first} and {second} both change how kernels run, and only one such tool can run at a time: leave one out"
    )]
    TwoChange {
        /// One of them.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
}

/// Why a tool leaves a kernel as it is. The kernel then runs as the program launches it, and counts as unchecked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The tool.
    pub tool: &'static str,
    /// A word for it: `block-too-large`.
    pub code: &'static str,
    /// Why, as a sentence without a full stop.
    pub reason: String,
}

impl Refusal {
    /// A refusal of a tool.
    pub fn new(tool: &'static str, code: &'static str, reason: impl Into<String>) -> Self {
        Self { tool, code, reason: reason.into() }
    }

    /// A kernel cannot be edited.
    pub(crate) fn edit(error: &EditError) -> Self {
        Self::new("warpgrind", "not-editable", error.to_string())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}: {})", self.reason, self.tool, self.code)
    }
}
