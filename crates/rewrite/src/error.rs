//! Why a module cannot be rewritten.

use ptx::edit::EditError;
use ptx::import::ImportError;

/// Why a module cannot be rewritten.
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
    /// An edit is not possible.
    #[error("{0}")]
    Edit(#[from] EditError),
    /// A tool cannot do what it should.
    #[error("{tool}: {reason}")]
    Tool {
        /// The tool.
        tool: &'static str,
        /// Why, as a sentence.
        reason: String,
    },
}
