//! Follows which bits are undefined, through registers and memory, and reports where that matters.
//!
//! Every register that may be undefined has a [shadow](shadows), every byte of memory of the device and of blocks has one
//! [at a fixed distance](memory), and every instruction of the program computes the shadows of what it writes
//! [from those of what it reads](propagate). Values that are loaded, copied and stored are nobody's mistake; [uses] are
//! where a value decides.
//!
//! **Why one version, and speculation.** Correct programs rarely load anything undefined. So a load looks whether its shadow
//! is zero, and a shadow that is not comes from a function that is called rarely (`cold`). A device that
//! speculates that such functions are not called has zeros for all shadows, and all of the propagation folds away: what is
//! left is a load and a comparison for each load, and a store of zeros for each store. Where the speculation fails, the warp is
//! deoptimised in its midst, and its threads follow every bit from there on. Nothing is undone or run again, so findings and
//! shadows are those of the very launch.

pub(super) mod local;
mod matrix;
mod may_be_undefined;
mod memory;
pub(super) mod origin;
mod passing;
mod propagate;
mod sequences;
mod shared;
mod uses;
mod wmma;

use ptx::types::Type;
use rewrite::{Access, Branch, Call, Cursor, Definition, Exit, Sync};

pub(super) use passing::Passing;

use super::kernel_facts::KernelFacts;
use super::local_variables;
use super::shadows::{Compute, Shadows, SharedShadow, bits_type};

use super::slots::Checked;
use super::version::ShadowPlace;

/// A function begins: nothing in its registers is undefined. Of a kernel, the shared memory of the block is.
pub(super) fn entry(at: &mut Cursor<'_, '_>) {
    let (is_kernel, version) = (at.is_kernel(), super::version(at));
    let follows = version.follows;
    let plan = at.survey::<Passing>().and_then(|passing| passing.plan(at.original(), follows));
    let editor = at.editor();
    let (module, func) = (editor.module(), editor.func());
    let facts = is_kernel.then(|| KernelFacts::of(module, func));
    let locals = local_variables::variables(module, &module.functions[func]);
    let local_loads = local::loads(module, &module.functions[func], &locals);
    let mut loads = local_loads.clone();
    loads.extend(plan.into_iter().flat_map(|plan| plan.loads()));
    let mut followed: Vec<_> =
        may_be_undefined::registers(module, &module.functions[func], follows, &loads).into_iter().collect();
    followed.sort_unstable();
    let has_carry = editor.body().ids().into_iter().any(|id| editor.view(id).is_some_and(|view| view.writes_carry()));
    let epochs = memory::epochs(editor);
    let shared = match &facts {
        None => SharedShadow::Unknown,
        Some(facts) if facts.follows_shared => SharedShadow::Yes,
        Some(_) => SharedShadow::No,
    };
    let mut shadows = Shadows::new(shared, version, epochs);
    shadows.local_loads = local_loads;
    local::undefine(at, &mut shadows, &locals);
    match shadows.shared_place {
        ShadowPlace::Plane if shadows.shared == SharedShadow::Yes => shared::undefine(at),
        ShadowPlace::Block if facts.as_ref().is_some_and(|facts| facts.uses_shared) => {
            shared::fill_in_block(at, shadows.shared == SharedShadow::Yes);
        }
        _ => {}
    }
    for reg in followed {
        let bits = Compute { at, shadows: &mut shadows }.bits(reg);
        let shadow = at.reg(bits_type(bits));
        at.before().inst(&format!("mov.b{bits}"), &[shadow.into(), 0.into()]);
        shadows.of.insert(reg, shadow);
    }
    if !shadows.of.is_empty() {
        let origin = at.reg(Type::B64);
        at.before().inst("mov.b64", &[origin.into(), 0.into()]);
        shadows.origin = Some(origin);
        if has_carry {
            let carry = at.reg(Type::B32);
            at.before().inst("mov.b32", &[carry.into(), 0.into()]);
            shadows.carry = Some(carry);
        }
    }
    if let Some(plan) = plan {
        Compute { at, shadows: &mut shadows }.pass(plan);
    }
    let checked = at.state::<Checked>();
    (checked.facts, checked.shadows) = (facts, Some(shadows));
}

/// Computes with the shadows of the function.
fn with_shadows(at: &mut Cursor<'_, '_>, compute: impl FnOnce(&mut Compute<'_, '_, '_>)) {
    let Some(mut shadows) = at.state::<Checked>().shadows.take() else { return };
    compute(&mut Compute { at, shadows: &mut shadows });
    at.state::<Checked>().shadows = Some(shadows);
}

/// An access is about to happen, wherever its guard now says.
pub(super) fn access(at: &mut Cursor<'_, '_>, access: &Access) {
    with_shadows(at, |compute| compute.access(access));
}

/// An access is about to happen: its address must be defined.
pub(super) fn addressed(at: &mut Cursor<'_, '_>, access: &Access) {
    with_shadows(at, |compute| compute.addressed(access));
}

/// An instruction writes registers.
pub(super) fn definition(at: &mut Cursor<'_, '_>, definition: &Definition) {
    let follows = super::version(at).follows;
    let Some(view) = at.editor().view(definition.stmt) else { return };
    // Their accesses are followed, and what is loaded with them.
    let is_followed = may_be_undefined::loads_followed_memory(&view, follows);
    with_shadows(at, |compute| {
        if let Some(&layout) = compute.shadows.passed.get(&definition.stmt) {
            compute.load_passed(definition, layout);
        } else if !is_followed && !compute.shadows.local_loads.contains(&definition.stmt) {
            compute.propagate(definition);
        }
    });
}

/// A branch that only some threads may take.
pub(super) fn branch(at: &mut Cursor<'_, '_>, branch: &Branch) {
    with_shadows(at, |compute| compute.decides(Some(branch.guard)));
}

/// The thread may leave the function.
pub(super) fn exit(at: &mut Cursor<'_, '_>, exit: &Exit) {
    with_shadows(at, |compute| compute.decides(exit.guard));
}

/// A call.
pub(super) fn call(at: &mut Cursor<'_, '_>, call: &Call) {
    with_shadows(at, |compute| compute.called(call));
}

/// Threads wait for each other, or exchange values.
pub(super) fn sync(at: &mut Cursor<'_, '_>, sync: &Sync) {
    with_shadows(at, |compute| compute.synchronised(sync));
}
