//! Which kernels may execute an instruction twice: a thread of any other comes to its end, whatever strikes it, and needs no
//! budget.

use ptx::analysis::CallGraph;
use ptx::ir::{Function, Module, Stmt};
use ptx::ops::Effect;
use ptx::view::View;
use rustc_hash::FxHashSet;

/// Whether any of some kernels of a module does, or what it calls, with what tools have inserted: their waits have no end of their
/// own.
pub(super) fn have_loops<'k>(module: &Module, kernels: impl IntoIterator<Item = &'k str>) -> bool {
    let calls = CallGraph::of(module);
    let has_loops = |kernel: &str| {
        let Some(kernel) = module.function(kernel) else { return true };
        let repeats = |func| calls.is_recursive(func) || goes_back(module, &module.functions[func]);
        calls.may_call_unknown(kernel) || calls.reachable_from(kernel).iter().any(repeats)
    };
    kernels.into_iter().any(has_loops)
}

/// Whether control goes back, or to where it is not known.
fn goes_back(module: &Module, function: &Function) -> bool {
    let Some(body) = &function.body else { return false };
    let mut labels = FxHashSet::default();
    body.iter().any(|id| {
        if let Stmt::Label(label) = body.stmt(id) {
            labels.insert(*label);
        }
        let branch = View::of(&module.forms, body, id).filter(|view| view.effect() == Some(Effect::Branch));
        branch.is_some_and(|view| view.branch_target().is_none_or(|target| labels.contains(&target)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(functions: &str, body: &str) -> bool {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n{functions}\n.visible .entry k() {{ .reg .pred %p; .reg .b32 %r; \
             {body} ret; }}"
        );
        have_loops(&ptx::parse(&text).module, ["k"])
    }

    #[test]
    fn what_goes_back_is_a_loop() {
        assert!(!kernel("", "@%p bra over; mov.u32 %r, 1; over: mov.u32 %r, 2;"));
        assert!(kernel("", "again: mov.u32 %r, 1; @%p bra again;"));
    }

    #[test]
    fn functions_that_are_called_count() {
        let straight = ".func f() { ret; }";
        let looping = ".func f() { .reg .pred %p; again: @%p bra again; ret; }";
        let recursive = ".func f() { call f, (); ret; }";
        assert!(!kernel(straight, "call f, ();"));
        assert!(kernel(looping, "call f, ();") && kernel(recursive, "call f, ();"));
        assert!(!kernel(looping, "mov.u32 %r, 1;"));
    }
}
