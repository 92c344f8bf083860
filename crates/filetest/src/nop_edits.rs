//! Edits that leave the program as it is, so that nothing of the printed text can come from anywhere but the IR.

use ptx::diagnostic::Position;
use ptx::ir::{Module, Stmt};

/// Moves every operand list, puts a copy of each instruction in its place, and inserts and removes statements.
pub fn edit_without_effect(module: &mut Module) {
    for function in module.functions.values_mut() {
        let Some(body) = &mut function.body else {
            continue;
        };
        for id in body.ids() {
            let Some(&inst) = body.inst(id) else { continue };
            let operands = body.operands(inst.operands).to_vec();
            let copy = ptx::ir::Inst { operands: body.list(&operands), ..inst };
            let origin = body.origin(id);
            // The copy takes the place of the original in two steps.
            let copy = body.insert_after(id, Stmt::Inst(copy), body.position(id), origin);
            body.remove(id);
            let removed = body.insert_before(copy, Stmt::Open, Position::NONE, origin);
            body.remove(removed);
        }
    }
}
