//! Local memory of functions, and its shadow: for each variable another one of the same size, in the same function.
//!
//! An access is to a variable of which the analysis of pointers says so, and its shadow is at the same distance from it
//! everywhere. A variable whose address goes elsewhere, to a function, to memory, or into a pointer to one of several, may be
//! accessed by those who do not know of the shadow: it counts as defined.

use ptx::analysis::{PointerValue, Provenance, Root};
use ptx::ir::{Function, Guard, Module, Operand, StmtId, Symbol, Var};
use ptx::ops::Op;
use ptx::types::{Space, Type};
use ptx::view::View;
use rewrite::Cursor;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::memcheck::shadows::Shadows;

/// The loads of a function from variables that are followed.
pub(super) fn loads(module: &Module, function: &Function, followed: &FxHashMap<Var, u64>) -> FxHashSet<StmtId> {
    let mut found = FxHashSet::default();
    let Some(body) = function.body.as_ref().filter(|_| !followed.is_empty()) else { return found };
    let provenance = Provenance::of(module, function);
    for id in body.iter() {
        let Some(view) = View::of(&module.forms, body, id).filter(|view| view.op() == Some(Op::Ld)) else { continue };
        let address = view.operands().get(1).map(|operand| provenance.address(operand));
        if let Some(PointerValue::Pointer { root: Root::Var(var), .. }) = address
            && followed.contains_key(&var)
        {
            found.insert(id);
        }
    }
    found
}

/// A function begins: its local memory is undefined.
pub(super) fn undefine(at: &mut Cursor<'_, '_>, shadows: &mut Shadows, followed: &FxHashMap<Var, u64>) {
    let mut all: Vec<(Var, u64)> = followed.iter().map(|(var, bytes)| (*var, *bytes)).collect();
    all.sort_unstable();
    for (var, bytes) in all {
        let align = at.editor().function().vars[var].alignment().max(8);
        let bytes = bytes.next_multiple_of(8);
        let shadow = at.editor().byte_array(Space::Local, "warpgrind_local_shadow", bytes, align);
        let [start, distance, of_var] = [(); 3].map(|()| at.reg(Type::B64));
        let mut builder = at.before();
        builder.inst("mov.u64", &[start.into(), Operand::Symbol(Symbol::Var(shadow), 0)]);
        builder.inst("mov.u64", &[of_var.into(), Operand::Symbol(Symbol::Var(var), 0)]);
        builder.inst("sub.u64", &[distance.into(), start.into(), of_var.into()]);
        shadows.locals.insert(var, distance);
        fill(at, start, bytes);
    }
}

/// Sets all bits of some words from an address on.
fn fill(at: &mut Cursor<'_, '_>, start: ptx::ir::Reg, bytes: u64) {
    /// Fewer words are written one after another.
    const FEW: u64 = 16;
    let all = Operand::Int(-1);
    if bytes / 8 <= FEW {
        for word in 0..bytes / 8 {
            at.before().inst("st.local.u64", &[Operand::RegAddress(start, word as i32 * 8), all]);
        }
        return;
    }
    let [next_address, end] = [(); 2].map(|()| at.reg(Type::B64));
    let is_left = at.reg(Type::Pred);
    let mut builder = at.before();
    builder.inst("mov.b64", &[next_address.into(), start.into()]);
    builder.inst("add.u64", &[end.into(), start.into(), (bytes as i64).into()]);
    let next = builder.label("next");
    builder.place(next);
    builder.inst("st.local.u64", &[Operand::RegAddress(next_address, 0), all]);
    builder.inst("add.u64", &[next_address.into(), next_address.into(), 8.into()]);
    builder.inst("setp.lt.u64", &[is_left.into(), next_address.into(), end.into()]);
    builder.branch(Some(Guard::when(is_left)), next);
}
