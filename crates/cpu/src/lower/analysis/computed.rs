//! Registers that are computed without anything from memory.

use ptx::analysis::DefUse;
use ptx::ir::{Body, Module, Reg};
use ptx::ops::Effect;
use ptx::types::Space;
use ptx::view::{AccessSpace, MemAccess, View};
use rustc_hash::FxHashSet;

/// Registers that depend on nothing in memory but parameters.
pub(crate) fn computed_registers(module: &Module, body: &Body, def_use: &DefUse) -> FxHashSet<Reg> {
    let mut not: FxHashSet<Reg> = FxHashSet::default();
    loop {
        let before = not.len();
        for (statement, _) in body.insts() {
            let Some(view) = View::of(&module.forms, body, statement) else { continue };
            let is_param = |access: &MemAccess| access.space == AccessSpace::State(Space::Param);
            let is_pure = match view.effect() {
                Some(Effect::Pure) => true,
                Some(Effect::Load) => view.accesses().iter().all(is_param),
                _ => false,
            };
            let is_computed = is_pure && def_use.reads(statement).iter().all(|reg| !not.contains(reg));
            if !is_computed {
                not.extend(def_use.writes(statement));
            }
        }
        if not.len() == before {
            break;
        }
    }
    let all = body.insts().flat_map(|(statement, _)| def_use.writes(statement).iter().copied());
    all.filter(|reg| !not.contains(reg)).collect()
}
