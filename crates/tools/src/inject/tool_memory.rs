//! Registers from which tools compute addresses of memory of their own.
//!
//! Nothing confines the accesses of what tools insert: a fault in such an address would hit the process, and later trials. So
//! these registers are not struck.

use ptx::ir::{Body, Function, Module, Operand, Reg};
use ptx::ops::Effect;
use ptx::types::Space;
use ptx::view::{AccessSpace, View};
use rustc_hash::FxHashSet;

/// All registers of a function on which such an address depends.
pub(super) fn addresses(module: &Module, function: &Function, body: &Body) -> FxHashSet<Reg> {
    let instructions: Vec<(View<'_>, bool)> = body
        .iter()
        .filter_map(|id| Some((View::of(&module.forms, body, id)?, body.origin(id).tag.is_some())))
        .collect();
    let mut found = FxHashSet::default();
    for (view, _) in instructions.iter().filter(|(_, is_inserted)| *is_inserted) {
        for access in view.accesses() {
            let reg = match view.operands().get(access.address) {
                Some(Operand::RegAddress(reg, _)) if access.space != AccessSpace::State(Space::Shared) => Some(*reg),
                _ => None,
            };
            found.extend(reg);
        }
        // What helpers get may be an address.
        if view.effect() == Some(Effect::Call) {
            view.for_each_read(|reg| _ = (function.reg_type(reg).bits() == 64).then(|| found.insert(reg)));
        }
    }
    // Nearly all values are computed after what they depend on.
    loop {
        let before = found.len();
        for (view, _) in instructions.iter().rev() {
            let mut is_needed = false;
            view.for_each_write(|reg| is_needed |= found.contains(&reg));
            if is_needed {
                view.for_each_read(|reg| _ = found.insert(reg));
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
