//! The first read of a compare-and-swap loop.
//!
//! The CUDA C++ Programming Guide reads a word plainly before the loop that swaps it, and so do NVIDIA's own headers. By the
//! memory model that read races with the swaps of others. But all that comes of it is a first guess, which the swap itself
//! compares with what is there: no result depends on it. So it is looked at as if it were atomic, unless something else is
//! done with it on the way to the swap.

use std::cell::LazyCell;

use ptx::analysis::Cfg;
use ptx::ir::{Body, Function, Module, Operand, Reg, StmtId};
use ptx::ops::Op;
use ptx::view::{AccessKind, Order, View};
use rustc_hash::{FxHashMap, FxHashSet};

use super::strength::kind;

/// The reads of a function whose value a compare-and-swap of the same address expects, with the kind of that.
pub(super) fn expected_by_swaps(module: &Module, function: &Function) -> FxHashMap<StmtId, u32> {
    let mut reads = FxHashMap::default();
    let Some(body) = &function.body else { return reads };
    let cfg = LazyCell::new(|| Cfg::of(&module.forms, function));
    let views = || body.iter().filter_map(|id| Some((id, View::of(&module.forms, body, id)?)));
    for (swap_id, swap) in views().filter(|(_, view)| view.op() == Some(Op::Atom)) {
        let accesses = swap.accesses();
        let (Some(access), Some(expected)) =
            (accesses.first(), swap.place_of_operand("c").and(swap.place_of_operand("b")))
        else {
            continue;
        };
        let Operand::Reg(expected) = swap.operands()[expected] else { continue };
        let registers = moved_to(module, function, expected);
        for (id, load) in views().filter(|(_, view)| view.op() == Some(Op::Ld)) {
            let is_same = |other: &ptx::view::MemAccess| {
                other.kind == AccessKind::Read
                    && other.order == Order::Weak
                    && other.bytes == access.bytes
                    && load.operands()[other.address] == swap.operands()[access.address]
            };
            if load.accesses().first().is_some_and(is_same)
                && load.writes().iter().any(|reg| registers.contains(reg))
                && is_used_by_swap_only(module, body, &cfg, id, swap_id)
            {
                reads.insert(id, kind(access));
            }
        }
    }
    reads
}

/// Whether all that is done with what a load read, until the swap, is to compute other registers.
fn is_used_by_swap_only(module: &Module, body: &Body, cfg: &Cfg, load: StmtId, swap: StmtId) -> bool {
    let between = between(cfg, load, swap);
    let views: Vec<View> = between.into_iter().filter_map(|id| View::of(&module.forms, body, id)).collect();
    let Some(load) = View::of(&module.forms, body, load) else { return false };
    let mut derived = FxHashSet::from_iter(load.writes());
    loop {
        let before = derived.len();
        for view in &views {
            if !view.reads().iter().any(|reg| derived.contains(reg)) {
                continue;
            }
            let is_computed = view.accesses().is_empty() && !view.writes().is_empty() && view.op() != Some(Op::Call);
            if !is_computed {
                return false;
            }
            derived.extend(view.writes());
        }
        if derived.len() == before {
            return true;
        }
    }
}

/// The statements that may run after one and before the next time that another does.
fn between(cfg: &Cfg, after: StmtId, before: StmtId) -> Vec<StmtId> {
    let Some((block, place)) = cfg.place_of(after) else { return Vec::new() };
    let mut statements = Vec::new();
    let mut seen = FxHashSet::default();
    let mut rest = vec![(block, place + 1)];
    while let Some((block, start)) = rest.pop() {
        let all = &cfg.statements(block)[start..];
        let end = all.iter().position(|&id| id == before);
        statements.extend(&all[..end.unwrap_or(all.len())]);
        if end.is_none() {
            rest.extend(cfg.successors(block).iter().filter(|&&next| seen.insert(next)).map(|&next| (next, 0)));
        }
    }
    statements
}

/// The registers whose values may be moved to another one, and that itself.
fn moved_to(module: &Module, function: &Function, to: Reg) -> FxHashSet<Reg> {
    let mut registers = FxHashSet::from_iter([to]);
    let Some(body) = &function.body else { return registers };
    loop {
        let before = registers.len();
        for view in body.iter().filter_map(|id| View::of(&module.forms, body, id)) {
            if view.op() == Some(Op::Mov) && view.writes().iter().any(|reg| registers.contains(reg)) {
                registers.extend(view.reads());
            }
        }
        if registers.len() == before {
            return registers;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(between: &str) -> Vec<String> {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n\
            .reg .b64 %d<3>; .reg .b32 %r<9>; .reg .pred %p<3>;\nld.param.u64 %d1, [p];\n\
            ld.global.u32 %r1, [%d1];\nld.global.u32 %r2, [%d1];\nld.global.u32 %r3, [%d1+4];\n{between}\n\
            again: mov.b32 %r4, %r1; add.u32 %r5, %r4, %r2;\natom.global.cas.b32 %r6, [%d1], %r4, %r5;\n\
            setp.ne.b32 %p1, %r6, %r4; mov.b32 %r1, %r6; @%p1 bra again;\n\
            st.global.u32 [%d1+8], %r4;\nend: ret;\n}}\n"
        );
        let module = ptx::parse(&text).module;
        let function = &module.functions[module.function("k").expect("the kernel is there")];
        let body = function.body.as_ref().expect("it has a body");
        let found = expected_by_swaps(&module, function);
        found.keys().map(|&id| ptx::print_stmt(&module, function, body, id)).collect()
    }

    #[test]
    fn only_the_value_that_is_compared() {
        let reads = reads("");
        assert_eq!(reads.len(), 1, "{reads:?}");
        assert!(reads[0].contains("%r1"), "{reads:?}");
    }

    #[test]
    fn not_a_value_that_is_used_before() {
        for use_of_it in [
            "st.global.u32 [%d1+8], %r1;",
            "add.u32 %r7, %r1, 1; st.global.u32 [%d1+8], %r7;",
            "setp.gt.u32 %p2, %r1, 9; @%p2 bra end;",
        ] {
            assert_eq!(reads(use_of_it), Vec::<String>::new(), "{use_of_it}");
        }
    }
}
