//! Edits that leave the program as it is, so that nothing of the printed text can come from anywhere but the IR.

use ptx::diagnostic::Position;
use ptx::ir::{Module, RegGroup, Stmt};
use ptx::types::Type;

/// Moves every operand list, inserts and removes statements, and declares a register that nobody uses.
pub fn edit_without_effect(module: &mut Module) {
    let name = module.names.intern("%unused_by_anyone");
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
        if let Some(first) = body.first() {
            let group =
                function.groups.push(RegGroup { name, ty: Type::B32, vector: 1, count: Some(2), at: Position::NONE });
            let origin = body.origin(first);
            body.insert_before(first, Stmt::Regs(group), Position::NONE, origin);
        }
    }
}
