//! What tools say of the functions that they insert.

use ptx::ir::{Body, DirectiveArg, Module, Stmt};

/// The pragma of a function in which no thread waits, nor for what it does.
pub(crate) const NOSYNC: &str = "nosync";
/// The pragma of a function that is called where something unusual has happened. Vector code speculates that it is not called,
/// and deoptimizes the warp where it is.
pub(crate) const COLD: &str = "cold";
/// The pragma of a `cold` function that is called on purpose, but rarely: that it is called is no misspeculation, so the kernel
/// goes on to speculate.
pub(crate) const INTENDED: &str = "intended";
/// The pragma of a function without results, also `nosync`, that is called rarely and for its side effect: nothing after a call
/// depends on it. The call stays in vector code, as a cold block.
pub(crate) const SIDE: &str = "side";
/// The pragma of a `side` function in which threads wait for other blocks, but for none of their own. A warp waits as a whole, and
/// lets others run.
pub(crate) const AWAITS_BLOCKS: &str = "awaits-blocks";
/// The same for other warps: the warps of a block cannot run one after another.
pub(crate) const AWAITS_WARPS: &str = "awaits-warps";

/// Whether a function waits for what others do, by its pragmas.
pub(crate) fn awaits(module: &Module, body: &Body) -> bool {
    [AWAITS_BLOCKS, AWAITS_WARPS].iter().any(|pragma| has_pragma(module, body, pragma))
}

/// Whether a function has a pragma.
pub(crate) fn has_pragma(module: &Module, body: &Body, pragma: &str) -> bool {
    body.iter().any(|id| match body.stmt(id) {
        Stmt::Directive(directive) if module.text(directive.name) == "pragma" => {
            directive.args.iter().any(|arg| matches!(arg, DirectiveArg::Text(text) if module.text(*text) == pragma))
        }
        _ => false,
    })
}
