//! Which kernels print: what a GPU has printed cannot be taken back.

use ptx::analysis::CallGraph;
use ptx::ir::Module;

/// Whether a kernel of a module may print, or what it calls.
pub(super) fn may_print(module: &Module, kernel: &str) -> bool {
    let Some(kernel) = module.function(kernel) else { return false };
    let calls = CallGraph::of(module);
    calls.reachable_from(kernel).iter().any(|func| module.text(module.functions[func].name) == "vprintf")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_are_called_print_too() {
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n\
            .extern .func (.param .b32 n) vprintf (.param .b64 text, .param .b64 values);\n\
            .func f() { .param .b64 t; .param .b64 v; .param .b32 n; call (n), vprintf, (t, v); ret; }\n\
            .visible .entry prints() { call f, (); ret; }\n.visible .entry silent() { ret; }";
        let module = ptx::parse(text).module;
        assert!(may_print(&module, "prints") && !may_print(&module, "silent") && !may_print(&module, "missing"));
    }
}
