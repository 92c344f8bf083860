//! Branches, ends, barriers of the block, the stack.

use ptx::ops::{Mod, Op};
use ptx::types::Type;

use super::operand::InstDecoder;
use crate::code::{Barrier, BarrierKind, Code, Inst, Reduction};
use crate::fault::Refusal;

pub(super) fn decode(decoder: &InstDecoder<'_, '_>) -> Result<Option<Inst>, Refusal> {
    let inst = match decoder.op {
        Op::Bra => decoder.inst(Code::Bra(decoder.label(decoder.required("target")?)?)),
        Op::BrxIdx => {
            let mut inst = decoder.inst(Code::BrxIdx(decoder.branch_table()?));
            inst.args.push(decoder.arg("index", Type::U32)?);
            inst
        }
        Op::Ret => decoder.inst(Code::Ret),
        Op::Exit => decoder.inst(Code::Exit),
        Op::Trap => decoder.inst(Code::Trap),
        Op::Nanosleep => decoder.inst(Code::Yield),
        // A grid never runs together with the one before it.
        Op::Brkpt | Op::Pmevent | Op::Griddepcontrol | Op::Setmaxnreg => decoder.inst(Code::Nop),
        Op::Stacksave => decoder.with(Code::StackSave, &[])?,
        Op::Stackrestore => decoder.with(Code::StackRestore, &[("a", decoder.last_type()?)])?,
        Op::Alloca => {
            let align = match decoder.operand("b") {
                Some(_) => decoder.immediate("b")?,
                None => 8,
            };
            let align = u64::try_from(align).ok().filter(|align| align.is_power_of_two() && *align <= 1 << 16);
            let align = align.ok_or_else(|| decoder.refuse("has an impossible alignment"))?;
            decoder.with(Code::Alloca { align }, &[("a", decoder.last_type()?)])?
        }
        Op::BarSync | Op::BarrierSync => barrier(decoder, BarrierKind::Sync)?,
        Op::BarArrive | Op::BarrierArrive => barrier(decoder, BarrierKind::Arrive)?,
        Op::BarRed | Op::BarrierRed => {
            let reduction = if decoder.has(Mod::Popc) {
                Reduction::Popc
            } else if decoder.has(Mod::And) {
                Reduction::And
            } else {
                Reduction::Or
            };
            barrier(decoder, BarrierKind::Reduce(reduction))?
        }
        Op::BarrierClusterArrive => decoder.inst(Code::ClusterArrive),
        Op::BarrierClusterWait => decoder.inst(Code::ClusterWait),
        _ => return Ok(None),
    };
    Ok(Some(inst))
}

fn barrier(decoder: &InstDecoder<'_, '_>, kind: BarrierKind) -> Result<Inst, Refusal> {
    let has_count = decoder.operand("b").is_some();
    let mut inst = decoder.with(Code::Barrier(Barrier { has_count, kind }), &[("a", Type::U32)])?;
    if has_count {
        inst.args.push(decoder.arg("b", Type::U32)?);
    }
    if matches!(kind, BarrierKind::Reduce(_)) {
        inst.args.push(decoder.arg("c", Type::Pred)?);
    }
    Ok(inst)
}
