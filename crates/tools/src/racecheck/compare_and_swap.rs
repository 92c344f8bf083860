//! The first read of a compare-and-swap loop.
//!
//! The CUDA C++ Programming Guide reads a word plainly before the loop that swaps it, and so do NVIDIA's own headers. By the
//! memory model that read races with the swaps of others. But all that comes of it is a first guess, which the swap itself
//! compares with what is there: no result depends on it. So it is looked at as if it were atomic.

use ptx::ir::{Function, Module, Operand, Reg, StmtId};
use ptx::ops::Op;
use ptx::view::{AccessKind, Order, View};
use rustc_hash::{FxHashMap, FxHashSet};

use super::strength::kind;

/// The reads of a function whose value a compare-and-swap of the same address expects, with the kind of that.
pub(super) fn expected_by_swaps(module: &Module, function: &Function) -> FxHashMap<StmtId, u32> {
    let mut reads = FxHashMap::default();
    let Some(body) = &function.body else { return reads };
    let views = || body.iter().filter_map(|id| Some((id, View::of(&module.forms, body, id)?)));
    for (_, swap) in views().filter(|(_, view)| view.op() == Some(Op::Atom)) {
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
            if load.accesses().first().is_some_and(is_same) && load.writes().iter().any(|reg| registers.contains(reg)) {
                reads.insert(id, kind(access));
            }
        }
    }
    reads
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

    #[test]
    fn only_the_value_that_is_compared() {
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\
            .reg .b64 %d<3>; .reg .b32 %r<9>; .reg .pred %p1;\nld.param.u64 %d1, [p];\n\
            ld.global.u32 %r1, [%d1];\nld.global.u32 %r2, [%d1];\nld.global.u32 %r3, [%d1+4];\n\
            again: mov.b32 %r4, %r1; add.u32 %r5, %r4, %r2;\natom.global.cas.b32 %r6, [%d1], %r4, %r5;\n\
            setp.ne.b32 %p1, %r6, %r4; mov.b32 %r1, %r6; @%p1 bra again;\nret;\n}\n";
        let module = ptx::parse(text).module;
        let function = &module.functions[module.function("k").expect("the kernel is there")];
        let body = function.body.as_ref().expect("it has a body");
        let found = expected_by_swaps(&module, function);
        let reads: Vec<String> = found.keys().map(|&id| ptx::print_stmt(&module, function, body, id)).collect();
        assert_eq!(reads.len(), 1, "{reads:?}");
        assert!(reads[0].contains("%r1"), "{reads:?}");
    }
}
