//! Local memory of functions, and its shadow: for each variable another one of the same size, in the same function.
//!
//! An access is to a variable of which the analysis of pointers says so, and its shadow is at the same distance from it
//! everywhere. A variable whose address goes elsewhere, to a function, to memory, or into a pointer to one of several, may be
//! accessed by those who do not know of the shadow: it counts as defined.

use ptx::analysis::{PointerValue, Provenance, Root};
use ptx::edit::Editor;
use ptx::ir::{Function, Guard, Module, Operand, Stmt, StmtId, Symbol, Var};
use ptx::ops::{Effect, Op};
use ptx::types::{Space, Type, TypeKind};
use ptx::view::View;
use rewrite::Cursor;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::memcheck::shadows::Shadows;

/// Larger variables are not followed: all of the shadow is written when the function begins.
const MOST_BYTES: u64 = 64 << 10;

/// The local variables of a function that are followed, and how many bytes they have.
pub(in crate::memcheck) fn variables(module: &Module, function: &Function) -> FxHashMap<Var, u64> {
    let mut followed = FxHashMap::default();
    let Some(body) = &function.body else { return followed };
    let mut depth = 0;
    for id in body.iter() {
        match *body.stmt(id) {
            Stmt::Open => depth += 1,
            Stmt::Close => depth -= 1,
            // What is declared in a scope has no name where the function begins.
            Stmt::Var(var) if depth == 0 && function.vars[var].space == Space::Local => {
                let bytes = function.vars[var].size().unwrap_or(0);
                if (1..=MOST_BYTES).contains(&bytes) {
                    followed.insert(var, bytes);
                }
            }
            Stmt::Unknown(_) => return FxHashMap::default(),
            _ => {}
        }
    }
    if followed.is_empty() {
        return followed;
    }
    let provenance = Provenance::of(module, function);
    for view in body.iter().filter_map(|id| View::of(&module.forms, body, id)) {
        for var in escaping(&view, &provenance, function) {
            followed.remove(&var);
        }
    }
    followed
}

/// The variables whose address an instruction takes elsewhere than into an address of the same variable, or an access to it.
fn escaping(view: &View<'_>, provenance: &Provenance, function: &Function) -> Vec<Var> {
    let root = |value: PointerValue| match value {
        PointerValue::Pointer { root: Root::Var(var), .. } => Some(var),
        _ => None,
    };
    let mut escaping = Vec::new();
    let is_access = matches!(view.op(), Some(Op::Ld | Op::St)) && view.effect().is_some();
    let mut results = Vec::new();
    view.for_each_write(|reg| results.push(reg));
    let keeps = |var: Var| {
        view.effect() == Some(Effect::Pure)
            && results.iter().all(|&reg| {
                let is_predicate = function.groups[function.regs[reg].group].ty.kind() == TypeKind::Pred;
                is_predicate || root(provenance.value(reg)) == Some(var)
            })
    };
    let mut operands: Vec<Operand> = Vec::new();
    for operand in view.operands() {
        match *operand {
            Operand::Vector(list) | Operand::Arguments(list) | Operand::TupleAddress(list) => {
                operands.extend_from_slice(view.body.operands(list));
            }
            operand => operands.push(operand),
        }
    }
    for operand in operands {
        match operand {
            Operand::RegAddress(..) | Operand::SymbolAddress(..) => {
                // Accesses to parameters of calls are by their names.
                escaping.extend(root(provenance.address(&operand)).filter(|_| !is_access));
            }
            Operand::Reg(reg) | Operand::Not(reg) | Operand::Neg(reg) | Operand::Part(reg, _) => {
                let is_result = results.contains(&reg);
                let var = root(provenance.value(reg));
                escaping.extend(var.filter(|&var| !is_result && !keeps(var)));
            }
            Operand::Symbol(Symbol::Var(var), _) => escaping.extend((!keeps(var)).then_some(var)),
            Operand::Element(Symbol::Var(var), _) => escaping.push(var),
            _ => {}
        }
    }
    // A register that is read and written.
    for &reg in &results {
        let mut is_read = false;
        view.for_each_read(|read| is_read |= read == reg);
        escaping.extend(root(provenance.value(reg)).filter(|&var| is_read && !keeps(var)));
    }
    escaping
}

/// The loads of a function from variables that are followed.
pub(super) fn loads(editor: &Editor<'_>, followed: &FxHashMap<Var, u64>) -> FxHashSet<StmtId> {
    let mut found = FxHashSet::default();
    if followed.is_empty() {
        return found;
    }
    let provenance = Provenance::of(editor.module(), editor.function());
    for id in editor.body().iter() {
        let Some(view) = editor.view(id).filter(|view| view.op() == Some(Op::Ld)) else { continue };
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
