//! Keeps votes such that NVIDIA's assembler can have calls before them.
//!
//! After a call, `ptxas` does not know whether the lanes of a warp are together, and gives every vote a second way for when
//! they are not. Where votes ask for the bits of one register, as CUB's radix sorts do for all keys with the same digit, it
//! then loads seven predicates at once (`R2P`), has none left for that way, and fails: "Register allocation failed with
//! register count of '7'". It knows these bits by a comparison with zero for inequality; one for order says the same.

use ptx::edit::Editor;
use ptx::ir::{Operand, Reg, Stmt, StmtId};
use ptx::ops::{Mod, Op};
use ptx::types::TypeKind;
use ptx::view::View;
use rustc_hash::FxHashMap;

/// Makes `x > 0` of `x != 0` and `x <= 0` of `x == 0` where a vote is about it. Both are of unsigned numbers.
pub(crate) fn separate(editor: &mut Editor<'_>) {
    let mut found: Vec<(StmtId, &'static str)> = Vec::new();
    let mut compared: FxHashMap<Reg, (StmtId, &'static str)> = FxHashMap::default();
    for stmt in editor.body().iter() {
        if matches!(editor.body().stmt(stmt), Stmt::Label(_)) {
            compared.clear();
        }
        let Some(view) = editor.view(stmt) else { continue };
        if view.op() == Some(Op::Vote) {
            found.extend(view.reads().iter().filter_map(|reg| compared.remove(reg)));
        }
        view.for_each_write(|reg| {
            compared.remove(&reg);
        });
        if let Some(comparison) = comparison_with_zero(&view) {
            view.for_each_write(|reg| {
                compared.insert(reg, (stmt, comparison));
            });
        }
    }
    for (stmt, spelling) in found {
        let form = editor.form(spelling);
        editor.set_form(stmt, form);
    }
}

/// How a comparison of 32 bits with zero for equality is spelled as one for order.
fn comparison_with_zero(view: &View<'_>) -> Option<&'static str> {
    let &[_, Operand::Reg(_), zero] = view.operands() else { return None };
    let is_word = |kind, bits| !matches!(kind, TypeKind::Float) && bits == 32;
    let is_it = view.op() == Some(Op::Setp)
        && zero.as_int() == Some(0)
        && view.form.types().first().is_some_and(|ty| is_word(ty.kind(), ty.bits()));
    match () {
        () if !is_it => None,
        () if view.form.has(Mod::Ne) => Some("setp.gt.u32"),
        () if view.form.has(Mod::Eq) => Some("setp.le.u32"),
        () => None,
    }
}
