//! Reading and comparing the texts of the tests.

use ptx::edit::{Editor, origins};
use ptx::ir::{FuncId, Module, StmtId};

/// Parses a module without its header.
pub(crate) fn parse(text: &str) -> Module {
    let parsed = ptx::parse(&format!(".version 8.5\n.target sm_80\n.address_size 64\n{text}"));
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    assert_eq!(ptx::verify(&parsed.module), []);
    parsed.module
}

/// A kernel with some registers and a parameter.
pub(crate) fn kernel(statements: &str) -> Module {
    parse(&format!(
        ".visible .entry k(.param .u64 p) {{ .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; {statements} }}"
    ))
}

pub(crate) fn function(module: &Module, name: &str) -> FuncId {
    module.function(name).expect("the function is there")
}

/// The n-th statement whose text contains `part`.
pub(crate) fn nth(editor: &Editor<'_>, part: &str, n: usize) -> StmtId {
    let print = |id| ptx::print_stmt(editor.module(), editor.function(), editor.body(), id).replace('\t', "");
    editor.body().iter().filter(|&id| print(id).contains(part)).nth(n).expect("the statement is there")
}

pub(crate) fn find(editor: &Editor<'_>, part: &str) -> StmtId {
    nth(editor, part, 0)
}

/// Every edit leaves a module that verifies, and that is the same after printing and parsing.
pub(crate) fn check(module: &Module) {
    assert_eq!(ptx::verify(module), [], "{}", ptx::print(module));
    let text = ptx::print(module);
    let parsed = ptx::parse(&text);
    assert!(parsed.diagnostics.is_empty(), "{:?}\n{text}", parsed.diagnostics);
    assert_eq!(ptx::print(&parsed.module), text);
    assert_eq!(origins(&parsed.module), origins(module));
}

/// Compares a function with what it should be, line by line and without the layout.
#[track_caller]
pub(crate) fn assert_function(module: &Module, name: &str, expected: &str) {
    check(module);
    let mut only = module.clone();
    let func = function(module, name);
    only.items.retain(|item| *item == ptx::ir::Item::Function(func));
    // Ids are counted from the first instruction of the whole text, so those of a later function are all printed.
    let text = ptx::print(&only);
    let plain = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.filter(|line| !line.is_empty() && !line.starts_with(".version .target .address_size")).collect()
    };
    let found: Vec<String> = plain(&text).into_iter().skip(3).collect();
    assert_eq!(found.join("\n"), plain(expected).join("\n"));
}
