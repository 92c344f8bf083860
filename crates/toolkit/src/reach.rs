//! Through which pointers a kernel accesses memory, as far as its text says.

use ptx::analysis::{PointerValue, Provenance, Root};
use ptx::entity::Map;
use ptx::ir::{FuncId, Function, Module, Operand, Reg};
use ptx::ops::{Effect, Op};
use ptx::types::{Space, Type};
use ptx::view::{AccessSpace, View};

use crate::touched::{Accessed, place};

/// The memory of the program that a kernel may read or write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reach {
    /// What these point into, and nothing else. Only addresses are computed from the pointers: no number that the kernel
    /// leaves behind depends on where an object is.
    Only(Vec<Accessed>),
    /// Anything.
    Anything,
}

impl Reach {
    /// What a kernel of a module may access.
    pub fn of(module: &Module, kernel: FuncId) -> Self {
        let function = &module.functions[kernel];
        let Some(body) = &function.body else { return Self::Anything };
        let provenance = Provenance::of(module, function);
        let pointers = pointers(module, function, &provenance);
        let mut accessed = Vec::new();
        for id in body.iter() {
            let Some(view) = View::of(&module.forms, body, id) else { continue };
            // What follows pointers where we do not, or reads objects that no address tells.
            let is_known = matches!(
                view.effect(),
                Some(
                    Effect::Pure
                        | Effect::Load
                        | Effect::Store
                        | Effect::Atomic
                        | Effect::Barrier
                        | Effect::Collective
                        | Effect::Fence
                        | Effect::Branch
                        | Effect::Return
                        | Effect::Exit
                        | Effect::Hint
                )
            );
            if !is_known {
                return Self::Anything;
            }
            let accesses = view.accesses();
            for access in &accesses {
                let is_own = matches!(access.space, AccessSpace::State(Space::Shared | Space::Local | Space::Param));
                if is_own {
                    continue;
                }
                match place(module, kernel, kernel, &provenance.address(&view.operands()[access.address])) {
                    Some(Some(place)) if !accessed.contains(&place) => accessed.push(place),
                    Some(_) => {}
                    None => return Self::Anything,
                }
            }
            if view.op() == Some(Op::Setp) && compares_objects(&provenance, &view) {
                return Self::Anything;
            }
            if matches!(view.effect(), Some(Effect::Store | Effect::Atomic | Effect::Collective)) {
                let is_address = |reg: &Reg| {
                    accesses.iter().any(|access| {
                        matches!(view.operands()[access.address], Operand::RegAddress(address, _) if address == *reg)
                    })
                };
                // A register that is the address and the value, too, is read twice.
                let uses = |reg: &Reg| view.reads().iter().filter(|read| *read == reg).count();
                if view.reads().iter().any(|reg| pointers[*reg] && (!is_address(reg) || uses(reg) > 1)) {
                    return Self::Anything;
                }
            }
        }
        Self::Only(accessed)
    }
}

/// Whether an instruction compares pointers into different objects: which of them comes first depends on where these are.
fn compares_objects(provenance: &Provenance, view: &View<'_>) -> bool {
    let roots = view.operands().iter().skip(1).filter_map(|operand| match *operand {
        Operand::Reg(reg) => match provenance.value(reg) {
            PointerValue::Pointer { root, .. } => Some(Some(root)),
            PointerValue::Unknown => Some(None),
            _ => None,
        },
        _ => None,
    });
    let roots: Vec<Option<Root>> = roots.collect();
    matches!(roots[..], [one, other, ..] if one != other)
}

/// The registers whose value depends on a pointer among the parameters, except for what comparisons say of one.
fn pointers(module: &Module, function: &Function, provenance: &Provenance) -> Map<Reg, bool> {
    let mut pointers = Map::filled(function.regs.len(), false);
    let Some(body) = &function.body else { return pointers };
    loop {
        let mut has_changed = false;
        for id in body.iter() {
            let Some(view) = View::of(&module.forms, body, id) else { continue };
            let is_computed = view.effect() == Some(Effect::Pure) && view.reads().iter().any(|reg| pointers[*reg]);
            for reg in view.writes() {
                let is_root = matches!(provenance.value(reg), PointerValue::Pointer { root: Root::Param { .. }, .. });
                if (is_root || is_computed) && !pointers[reg] && function.reg_type(reg) != Type::Pred {
                    pointers[reg] = true;
                    has_changed = true;
                }
            }
        }
        if !has_changed {
            return pointers;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> Reach {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 4 .b8 table[64];\n\
             .visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{{\n.reg .b64 %d<9>; .reg .b32 %r<9>;\n\
             .reg .pred %p<3>; .shared .align 8 .b8 tile[64];\nld.param.u64 %d1, [p]; ld.param.u64 %d2, [q];\n\
             ld.param.u32 %r1, [n];\n{body}\nret;\n}}\n"
        );
        let parsed = ptx::parse(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        Reach::of(&parsed.module, parsed.module.function("k").unwrap())
    }

    #[test]
    fn what_is_read_and_written_through_parameters_and_variables() {
        let [p, q] = [0, 1].map(|param| Accessed::Param { param, offset: 0 });
        let copy =
            "mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3; ld.global.u32 %r2, [%d4]; st.global.u32 [%d2+4], %r2;";
        assert_eq!(of(copy), Reach::Only(vec![p.clone(), q]));
        let compared = "setp.eq.u64 %p1, %d1, 0; selp.u32 %r2, 1, 2, %p1; st.global.u32 [%d1], %r2;";
        assert_eq!(of(compared), Reach::Only(vec![p.clone()]));
        let to_end =
            "add.s64 %d3, %d1, 64; setp.lt.u64 %p1, %d1, %d3; selp.u32 %r2, 1, 2, %p1; st.global.u32 [%d1], %r2;";
        assert_eq!(of(to_end), Reach::Only(vec![p.clone()]));
        let variable = "ld.global.u32 %r2, [table]; st.global.u32 [%d1], %r2;";
        assert_eq!(of(variable), Reach::Only(vec![Accessed::Variable("table".to_owned()), p]));
    }

    #[test]
    fn pointers_that_go_elsewhere() {
        for text in [
            "st.global.u64 [%d1], %d2;",
            "st.global.u64 [%d1], %d1;",
            "sub.s64 %d3, %d1, %d2; cvt.u32.u64 %r2, %d3; st.global.u32 [%d1], %r2;",
            "st.shared.u64 [tile], %d1;",
            "ld.global.u64 %d3, [%d1]; ld.global.u32 %r2, [%d3];",
            "setp.lt.u64 %p1, %d1, %d2; selp.u32 %r2, 1, 2, %p1; st.global.u32 [%d1], %r2;",
        ] {
            assert_eq!(of(text), Reach::Anything, "{text}");
        }
    }
}
