//! What tools say of the functions that they insert.

use ptx::ir::{Body, DirectiveArg, Module, Stmt};

/// The pragma of a function in which no thread waits, nor for what it does.
pub(crate) const NOSYNC: &str = "nosync";
/// The pragma of a function that is called where something unusual has happened.
pub(crate) const COLD: &str = "cold";

/// Whether a function has a pragma.
pub(crate) fn has_pragma(module: &Module, body: &Body, pragma: &str) -> bool {
    body.iter().any(|id| match body.stmt(id) {
        Stmt::Directive(directive) if module.text(directive.name) == "pragma" => {
            directive.args.iter().any(|arg| matches!(arg, DirectiveArg::Text(text) if module.text(*text) == pragma))
        }
        _ => false,
    })
}
