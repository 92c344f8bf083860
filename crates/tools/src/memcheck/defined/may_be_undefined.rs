//! Which registers of a function may have a value that is undefined: what is computed from memory that is followed.
//!
//! All others have no shadow, and nothing is inserted for them: indices that are made of the ids of threads and of
//! parameters are most of what kernels compute.

use ptx::ir::{Function, Module, Reg, StmtId};
use ptx::ops::{Effect, Op};
use ptx::types::{Space, TypeKind};
use ptx::view::{AccessKind, AccessSpace, View};
use rustc_hash::FxHashSet;

use super::matrix;
use crate::memcheck::version::Follows;

/// The registers of a function that may be undefined, some of whose loads may load something that is, whatever these look at.
pub(super) fn registers(
    module: &Module,
    function: &Function,
    follows: Follows,
    loads: &FxHashSet<StmtId>,
) -> FxHashSet<Reg> {
    let mut found = FxHashSet::default();
    let Some(body) = &function.body else { return found };
    let view = |id| Some((View::of(&module.forms, body, id)?, loads.contains(&id)));
    let views: Vec<(View<'_>, bool)> = body.iter().filter_map(view).collect();
    // The carry is one more register.
    let mut is_carry_undefined = false;
    loop {
        let (before, carry_before) = (found.len(), is_carry_undefined);
        for (view, is_known_source) in &views {
            let is_source = *is_known_source || loads_followed_memory(view, follows);
            let mut is_computed = is_carry_undefined && view.reads_carry();
            if computes(view) {
                view.for_each_read(|reg| is_computed |= found.contains(&reg));
            }
            if is_source || is_computed {
                is_carry_undefined |= view.writes_carry();
                view.for_each_write(|reg| {
                    if has_shadow(function, reg) {
                        found.insert(reg);
                    }
                });
            }
        }
        if (found.len(), is_carry_undefined) == (before, carry_before) {
            return found;
        }
    }
}

/// Whether what an instruction writes depends on the registers that it reads. What it loads depends on memory.
fn computes(view: &View<'_>) -> bool {
    match view.effect() {
        Some(Effect::Pure | Effect::Collective | Effect::Barrier | Effect::TextureLoad) => true,
        // Under a guard that is undefined, so is what is loaded.
        Some(Effect::Load | Effect::Atomic) => view.inst.guard.is_some(),
        _ => false,
    }
}

/// Whether an instruction loads from memory that is looked at then.
pub(super) fn loads_followed_memory(view: &View<'_>, follows: Follows) -> bool {
    let is_load = match view.op() {
        Some(Op::Ldmatrix) => matrix::moves(view.form.spelling()).is_some(),
        op => matches!(op, Some(Op::Ld | Op::Ldu | Op::Atom | Op::WmmaLoadA | Op::WmmaLoadB | Op::WmmaLoadC)),
    };
    is_load
        && view.accesses().iter().any(|access| access.kind != AccessKind::Write && is_followed(access.space, follows))
}

/// Whether loads from a space look at its shadow.
pub(super) fn is_followed(space: AccessSpace, follows: Follows) -> bool {
    match space {
        AccessSpace::Generic | AccessSpace::State(Space::Shared) => follows != Follows::Nothing,
        AccessSpace::State(Space::Global) => follows == Follows::All,
        _ => false,
    }
}

/// Whether a register can have a shadow: those with several elements, and those of 8 and of 128 bits, count as defined.
fn has_shadow(function: &Function, reg: Reg) -> bool {
    let group = &function.groups[function.regs[reg].group];
    group.vector == 1 && (group.ty.kind() == TypeKind::Pred || matches!(group.ty.bits(), 16 | 32 | 64))
}
