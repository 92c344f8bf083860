//! Starts two blocks for each block of a grid: one does what the kernel does, the other one does the same and changes
//! nothing that others see.
//!
//! A tool for tests: of launch plans, and of ids that kernels see. It stands for tools that compare two copies of a
//! computation. Blocks that wait for each other are not doubled rightly: the copy sees what atomics did not do.

use ptx::edit::Editor;
use ptx::ir::{FuncId, List, Module, Operand, Reg};
use ptx::special::Special;
use ptx::types::{Space, Type};
use ptx::view::{AccessKind, AccessSpace};
use rewrite::{Access, Cursor, LaunchPlan, RewriteError, Tool};

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Doubled;

impl Tool for Doubled {
    fn name(&self) -> &'static str {
        "doubled"
    }

    fn module(&self, module: &mut Module) -> Result<(), RewriteError> {
        let functions: Vec<FuncId> =
            module.functions.iter().filter(|(_, function)| function.body.is_some()).map(|(func, _)| func).collect();
        for func in functions {
            hide_copies(&mut Editor::new(module, func)?);
        }
        Ok(())
    }

    fn access(&self, at: &mut Cursor<'_, '_>, access: &Access) {
        let is_seen = matches!(access.access.space, AccessSpace::Generic | AccessSpace::State(Space::Global));
        if !is_seen || access.access.kind == AccessKind::Read || access.is_collective {
            return;
        }
        let block = at.at_entry("mov.u32", Type::B32, &[Special::CtaidX.into()]);
        let copy = at.at_entry("and.b32", Type::B32, &[block.into(), 1.into()]);
        let is_first = at.at_entry("setp.eq.u32", Type::Pred, &[copy.into(), 0.into()]);
        let is_first = match access.access.space {
            AccessSpace::Generic => or_own_memory(at, access, is_first),
            _ => is_first,
        };
        let allowed = match at.guard() {
            None => is_first,
            guard => {
                let allowed = at.reg(Type::Pred);
                at.and_guard(allowed, is_first, guard);
                allowed
            }
        };
        at.only_where(allowed);
    }

    fn launch(&self, plan: &mut LaunchPlan) {
        plan.grid[0] *= 2;
    }
}

/// Where a predicate holds, or the access is to shared or local memory, of which each copy has its own.
fn or_own_memory(at: &mut Cursor<'_, '_>, access: &Access, is_first: Reg) -> Reg {
    let address = at.address(access);
    let [in_shared, in_local, allowed] = [(); 3].map(|()| at.reg(Type::Pred));
    let mut builder = at.before();
    builder.inst("isspacep.shared", &[in_shared.into(), address.into()]);
    builder.inst("isspacep.local", &[in_local.into(), address.into()]);
    builder.inst("or.pred", &[allowed.into(), in_shared.into(), in_local.into()]);
    builder.inst("or.pred", &[allowed.into(), allowed.into(), is_first.into()]);
    allowed
}

/// Lets both copies of a block see the number that it has without copies, and the size of the grid likewise.
fn hide_copies(editor: &mut Editor<'_>) {
    let tag = editor.tag("doubled", "ids", 0);
    let mut virtual_ids: [Option<Reg>; 2] = [None; 2];
    for id in editor.body().ids() {
        // Operands, and those in braces and parentheses.
        let mut lists: Vec<List> = editor.view(id).map(|view| view.inst.operands).into_iter().collect();
        while let Some(list) = lists.pop() {
            for index in 0..list.len() {
                let which = match editor.body().operands(list)[index] {
                    Operand::Special(Special::CtaidX) => 0,
                    Operand::Special(Special::NctaidX) => 1,
                    Operand::Vector(inner)
                    | Operand::VectorPair(inner, _)
                    | Operand::TupleAddress(inner)
                    | Operand::Arguments(inner) => {
                        lists.push(inner);
                        continue;
                    }
                    _ => continue,
                };
                let reg = *virtual_ids[which].get_or_insert_with(|| editor.reg(tag, Type::B32));
                editor.body_mut().operands_mut(list)[index] = reg.into();
            }
        }
    }
    for (reg, special) in virtual_ids.into_iter().zip([Special::CtaidX, Special::NctaidX]) {
        let Some(reg) = reg else { continue };
        let mut entry = editor.at_entry(tag);
        entry.inst("mov.u32", &[reg.into(), special.into()]);
        entry.inst("shr.u32", &[reg.into(), reg.into(), 1.into()]);
    }
}
