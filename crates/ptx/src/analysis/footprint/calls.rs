//! Calls of functions: their bodies are put in the place of the calls, in a copy of the module, so that the rest sees a kernel
//! without calls. What cannot be put in its place stays, and is refused where it is executed.

use crate::edit::Editor;
use crate::ir::{FuncId, Module, StmtId};
use crate::ops::Effect;
use crate::view::{Callee, View};

/// Statements of functions that a kernel gets at most: one with more takes too many steps anyway.
const MOST_STATEMENTS: usize = 1 << 14;

/// The module with the calls of a kernel replaced by what they call; nothing if it calls no function that has a body.
pub(super) fn without_calls(module: &Module, kernel: FuncId) -> Option<Module> {
    let reached = module.functions_called_from(kernel);
    if reached.is_empty() {
        return None;
    }
    let mut module = module.with_bodies_of(|function| function == kernel || reached.contains(&function));
    let mut editor = Editor::new(&mut module, kernel).ok()?;
    let tag = editor.tag("footprint", "inlined", 0);
    let mut calls = calls_among(&editor, &editor.body().iter().collect::<Vec<_>>());
    let mut inserted = 0;
    while let Some(call) = calls.pop().filter(|_| inserted < MOST_STATEMENTS) {
        // One that is refused stays where it is.
        let Ok(inlined) = editor.inline(call, tag) else { continue };
        let copies: Vec<StmtId> = inlined.statements.iter().map(|&(_, copy)| copy).collect();
        inserted += copies.len();
        calls.extend(calls_among(&editor, &copies));
    }
    Some(module)
}

fn calls_among(editor: &Editor<'_>, statements: &[StmtId]) -> Vec<StmtId> {
    let effect = |&id: &StmtId| View::of(&editor.module().forms, editor.body(), id)?.effect();
    statements.iter().copied().filter(|id| effect(id) == Some(Effect::Call)).collect()
}

/// Whether a call is of a function of the device that writes nothing which a program accesses. A thread whose assertion fails
/// goes on here, and does more than on a device.
pub(super) fn is_harmless(module: &Module, view: &View<'_>) -> bool {
    let Some(Callee::Direct(called)) = view.callee() else { return false };
    let function = &module.functions[called];
    function.body.is_none() && matches!(module.text(function.name), "vprintf" | "__assertfail")
}
