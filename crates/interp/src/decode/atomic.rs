//! `atom` and `red`.

use ptx::ops::{Mod, Op};
use ptx::types::TypeKind;

use super::operand::{InstDecoder, format, int};
use crate::arith::float::{MinMax, Mode};
use crate::code::{Atomic, AtomicOp, Code, FloatOp, Inst, IntOp, Logic};
use crate::fault::Refusal;

pub(super) fn decode(decoder: &InstDecoder<'_, '_>) -> Result<Option<Inst>, Refusal> {
    if !matches!(decoder.op, Op::Atom | Op::Red) {
        return Ok(None);
    }
    let ty = decoder.last_type()?;
    let word = decoder.view.form.words().find(|word| {
        matches!(
            word,
            Mod::And | Mod::Or | Mod::Xor | Mod::Exch | Mod::Cas | Mod::Add | Mod::Min | Mod::Max | Mod::Inc | Mod::Dec
        )
    });
    let is_float = format(ty).is_some();
    let op = match word {
        Some(Mod::And) => AtomicOp::Logic(Logic::And),
        Some(Mod::Or) => AtomicOp::Logic(Logic::Or),
        Some(Mod::Xor) => AtomicOp::Logic(Logic::Xor),
        Some(Mod::Exch) => AtomicOp::Exchange,
        Some(Mod::Cas) => AtomicOp::CompareAndSwap,
        Some(Mod::Inc) => AtomicOp::Inc,
        Some(Mod::Dec) => AtomicOp::Dec,
        Some(word @ (Mod::Add | Mod::Min | Mod::Max)) if is_float => {
            let (format, lanes) = format(ty).expect("it is a format");
            let op = match word {
                Mod::Add => FloatOp::Add,
                _ => FloatOp::MinMax(MinMax { max: word == Mod::Max, ..MinMax::default() }),
            };
            // Additions of singles in global memory do not flush on any device since sm_70; the manual leaves it open.
            AtomicOp::Float { op, format, lanes, mode: Mode::NEAREST }
        }
        Some(Mod::Add) => AtomicOp::Int(IntOp::Add, int(ty)),
        Some(Mod::Min) => AtomicOp::Int(IntOp::Min, int(ty)),
        Some(Mod::Max) => AtomicOp::Int(IntOp::Max, int(ty)),
        _ => return Err(decoder.refuse("does nothing that is known")),
    };
    debug_assert!(ty.kind() != TypeKind::Opaque);
    let vector = decoder.view.form.vector() as u8;
    let mut inst = decoder.with(Code::Atomic(Atomic { op, size: ty.bytes() as u8, vector }), &[])?;
    inst.addresses.push(decoder.address("a", decoder.view.form.spaces().next())?);
    inst.args = decoder.values(decoder.required("b")?, ty)?;
    if decoder.operand("c").is_some() {
        inst.args.push(decoder.arg("c", ty)?);
    }
    Ok(Some(inst))
}
