//! Whether blocks of a kernel tell each other something.
//!
//! A kernel whose blocks do may not end, or end otherwise, if some of them run in one launch and others in the next. What it
//! takes to communicate is known: to see what another block wrote, an instruction must read memory that is not shared memory
//! in a way that is not weak, or use what an atomic operation found there. Barriers of the whole grid are made of these.

use ptx::analysis::CallGraph;
use ptx::ir::{Body, Module, Reg};
use ptx::ops::{Effect, Op};
use ptx::types::Space;
use ptx::view::{AccessSpace, Order, View};

/// Whether blocks of a kernel may communicate.
pub(crate) fn communicates(module: &Module, kernel: &str) -> bool {
    let Some(kernel) = module.function(kernel) else { return false };
    let graph = CallGraph::of(module);
    let reached = graph.reachable_from(kernel);
    reached.iter().filter_map(|func| module.functions[func].body.as_ref()).any(|body| {
        body.insts().any(|(id, _)| View::of(&module.forms, body, id).is_some_and(|view| hears(module, body, &view)))
    })
}

/// Whether an instruction may learn what another block did.
fn hears(module: &Module, body: &Body, view: &View<'_>) -> bool {
    let accesses = view.accesses();
    let is_beyond_block = || accesses.iter().any(|access| access.space != AccessSpace::State(Space::Shared));
    match view.effect() {
        Some(Effect::Atomic) => {
            let mut is_used = false;
            view.for_each_write(|reg| is_used |= is_read(module, body, reg));
            is_used && is_beyond_block()
        }
        Some(Effect::Load) => accesses.iter().any(|access| access.order != Order::Weak) && is_beyond_block(),
        Some(Effect::Control) => view.op() == Some(Op::Nanosleep),
        _ => false,
    }
}

fn is_read(module: &Module, body: &Body, reg: Reg) -> bool {
    body.insts().any(|(id, inst)| {
        let mut is_read = inst.guard.is_some_and(|guard| guard.reg == reg);
        if let Some(view) = View::of(&module.forms, body, id) {
            view.for_each_read(|read| is_read |= read == reg);
        }
        is_read
    })
}

#[cfg(test)]
mod tests {
    use super::communicates;

    fn hears(body: &str) -> bool {
        let text = format!(
            ".version 8.0 .target sm_80 .address_size 64 .global .u32 g; \
             .func f() {{ .reg .b32 %r<4>; {body} ret; }} .visible .entry k() {{ .shared .u32 s; call f; ret; }}"
        );
        let parsed = ptx::parse(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        communicates(&parsed.module, "k")
    }

    #[test]
    fn who_may_hear_of_other_blocks() {
        assert!(hears("atom.global.add.u32 %r1, [g], 1; st.global.u32 [g], %r1;"));
        assert!(!hears("atom.global.add.u32 %r1, [g], 1;"), "nobody reads what was there");
        assert!(!hears("red.global.add.u32 [g], 1;"));
        assert!(hears("ld.volatile.global.u32 %r1, [g];") && hears("ld.relaxed.gpu.global.u32 %r1, [g];"));
        assert!(!hears("ld.global.u32 %r1, [g];"));
        assert!(hears("nanosleep.u32 100;"));
    }
}
