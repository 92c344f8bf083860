//! Why a module cannot be rewritten.

use ptx::edit::EditError;
use ptx::import::ImportError;

/// Why a module cannot be rewritten.
#[derive(Debug, thiserror::Error)]
pub enum RewriteError {
    /// A function of a tool does not fit in.
    #[error("{0}")]
    Import(#[from] ImportError),
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
