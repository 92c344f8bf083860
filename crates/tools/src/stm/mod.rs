//! Transactions of `include/warpgrind/tx.cuh` for code that marks only where they begin and end
//! (`include/warpgrind/transactional.cuh`).
//!
//! `region.rs` finds what is between the marks, `refusals.rs` says what cannot be there, and `rewrite.rs` passes every access of
//! it through a transaction, and goes back to the mark, with the registers that there were, as soon as an attempt has failed.
//! The transactions themselves are functions of the header in the program's own module: there is one implementation, with one
//! table of locks, whoever begins a transaction.

mod host;
mod refusals;
mod region;
mod rewrite;
mod runtime;

use std::sync::Arc;

use ::rewrite::{Class, Cursor, Instrumentation, KernelView, Refusal, Request, RequestKind};
use ptx::edit::Editor;
use ptx::ir::{FuncId, Module};
use toolkit::{Host, Instance, Options, Tool};

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Stm;

/// Its name.
const TOOL: &str = "stm";

/// What is counted at a mark, as the word of its site.
const ATTEMPTS: u64 = 0;
const COMMITS: u64 = 1;

impl Tool for Stm {
    fn instrumentation(&self) -> &'static dyn Instrumentation {
        &Stm
    }

    fn about(&self) -> &'static str {
        "Runs a CUDA program with the code between marks of warpgrind/transactional.cuh as transactions"
    }

    fn start(&self, _: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        Ok(Box::new(host::StmInstance::new(host)))
    }
}

impl Instrumentation for Stm {
    fn name(&self) -> &'static str {
        TOOL
    }

    fn class(&self) -> Class {
        Class::Change
    }

    fn versions(&self, kernel: &KernelView<'_>) -> Result<Vec<&'static str>, Refusal> {
        refusals::of_kernel(kernel).map_or(Ok(vec![""]), Err)
    }

    fn callees(&self, module: &Module, func: FuncId) -> Vec<FuncId> {
        let is_marked = RequestKind::is_asked_in(module, func, RequestKind::is_mark);
        runtime::Runtime::of(module).filter(|_| is_marked).map_or_else(Vec::new, |runtime| runtime.functions().to_vec())
    }

    fn transform(&self, editor: &mut Editor<'_>, _version: usize) -> Result<(), Refusal> {
        rewrite::transform(editor)
    }

    /// The marks are where attempts begin, and where they have committed.
    fn request(&self, at: &mut Cursor<'_, '_>, request: &Request) {
        let what = match request.kind {
            RequestKind::TransactionBegin(_) => ATTEMPTS,
            RequestKind::TransactionEnd => COMMITS,
            _ => return,
        };
        let site = at.instruction_site(what);
        at.call(None, "warpgrind_count", &[], &[i64::from(site.0).into()]);
    }
}
