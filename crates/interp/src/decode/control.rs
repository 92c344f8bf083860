//! Branches, ends, barriers of the block, the stack.

use ptx::ops::{Mod, Op};
use ptx::types::Type;

use super::operand::Site;
use crate::code::{Barrier, BarrierKind, Code, Inst, Reduction};
use crate::fault::Refusal;

pub(super) fn decode(site: &Site<'_, '_>) -> Result<Option<Inst>, Refusal> {
    let inst = match site.op {
        Op::Bra => site.inst(Code::Bra(site.label(site.required("target")?)?)),
        Op::BrxIdx => {
            let mut inst = site.inst(Code::BrxIdx(site.branch_table()?));
            inst.args.push(site.arg("index", Type::U32)?);
            inst
        }
        Op::Ret => site.inst(Code::Ret),
        Op::Exit => site.inst(Code::Exit),
        Op::Trap => site.inst(Code::Trap),
        Op::Nanosleep => site.inst(Code::Yield),
        // A grid never runs together with the one before it.
        Op::Brkpt | Op::Pmevent | Op::Griddepcontrol | Op::Setmaxnreg => site.inst(Code::Nop),
        Op::Stacksave => site.with(Code::StackSave, &[])?,
        Op::Stackrestore => site.with(Code::StackRestore, &[("a", site.last_type()?)])?,
        Op::Alloca => {
            let align = match site.operand("b") {
                Some(_) => site.immediate("b")?,
                None => 8,
            };
            let align = u64::try_from(align).ok().filter(|align| align.is_power_of_two() && *align <= 1 << 16);
            let align = align.ok_or_else(|| site.refuse("has an impossible alignment"))?;
            site.with(Code::Alloca { align }, &[("a", site.last_type()?)])?
        }
        Op::BarSync | Op::BarrierSync => barrier(site, BarrierKind::Sync)?,
        Op::BarArrive | Op::BarrierArrive => barrier(site, BarrierKind::Arrive)?,
        Op::BarRed | Op::BarrierRed => {
            let reduction = if site.has(Mod::Popc) {
                Reduction::Popc
            } else if site.has(Mod::And) {
                Reduction::And
            } else {
                Reduction::Or
            };
            barrier(site, BarrierKind::Reduce(reduction))?
        }
        Op::BarrierClusterArrive => site.inst(Code::ClusterArrive),
        Op::BarrierClusterWait => site.inst(Code::ClusterWait),
        _ => return Ok(None),
    };
    Ok(Some(inst))
}

fn barrier(site: &Site<'_, '_>, kind: BarrierKind) -> Result<Inst, Refusal> {
    let has_count = site.operand("b").is_some();
    let mut inst = site.with(Code::Barrier(Barrier { has_count, kind }), &[("a", Type::U32)])?;
    if has_count {
        inst.args.push(site.arg("b", Type::U32)?);
    }
    if matches!(kind, BarrierKind::Reduce(_)) {
        inst.args.push(site.arg("c", Type::Pred)?);
    }
    Ok(inst)
}
