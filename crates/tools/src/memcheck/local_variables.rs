//! The local variables of a function in which undefined values are followed.
//!
//! A variable whose address goes elsewhere, to a function, to memory, or into a pointer to one of several, may be accessed by those
//! who do not know of its shadow: it counts as defined.

use ptx::analysis::{PointerValue, Provenance, Root};
use ptx::ir::{Function, Module, Operand, Stmt, Symbol, Var};
use ptx::ops::{Effect, Op};
use ptx::types::{Space, TypeKind};
use ptx::view::View;
use rustc_hash::FxHashMap;

/// Larger variables are not followed: all of the shadow is written when the function begins.
const MOST_BYTES: u64 = 64 << 10;

/// The local variables of a function that are followed, and how many bytes they have.
pub(super) fn variables(module: &Module, function: &Function) -> FxHashMap<Var, u64> {
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
