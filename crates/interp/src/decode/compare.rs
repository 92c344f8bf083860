//! Comparisons and selections.

use ptx::ops::{Mod, Op};
use ptx::types::Type;

use super::operand::{InstDecoder, format, int};
use crate::arith::float::FloatCompare;
use crate::arith::format::F32;
use crate::arith::int::{Int, mask};
use crate::arith::video::Order;
use crate::code::{Code, Combine, Compare, Inst, IntLimit, IntOp, Pure, Setp};
use crate::fault::Refusal;

pub(super) fn decode(decoder: &InstDecoder<'_, '_>) -> Result<Option<Inst>, Refusal> {
    let pure = |pure: Pure, sources: &[(&str, Type)]| decoder.with(Code::Pure(pure), sources).map(Some);
    match decoder.op {
        Op::Setp => {
            let ty = decoder.last_type()?;
            let setp = Setp { compare: compare(decoder, ty)?, combine: combine(decoder) };
            let mut inst = decoder.with(Code::Setp(setp), &[("a", ty), ("b", ty)])?;
            if setp.combine.is_some() {
                inst.args.push(decoder.arg("c", Type::Pred)?);
            }
            Ok(Some(inst))
        }
        Op::Set => set(decoder).map(Some),
        Op::Selp => {
            let ty = decoder.ty(0)?;
            pure(Pure::Selp, &[("a", ty), ("b", ty), ("c", Type::Pred)])
        }
        Op::Slct => {
            let (ty, by) = (decoder.ty(0)?, decoder.ty(1)?);
            let op = if by == Type::F32 { Pure::SlctFloat { flush: decoder.has(Mod::Ftz) } } else { Pure::SlctInt };
            pure(op, &[("a", ty), ("b", ty), ("c", by)])
        }
        _ => Ok(None),
    }
}

fn set(decoder: &InstDecoder<'_, '_>) -> Result<Inst, Refusal> {
    let types = decoder.view.form.types();
    let (to, from) = (decoder.ty(0)?, decoder.last_type()?);
    if types.len() == 1 {
        let (lane, lanes) = match to {
            Type::U16x2 => (Int { bits: 16, signed: false }, 2),
            Type::S16x2 => (Int { bits: 16, signed: true }, 2),
            Type::U8x4 => (Int { bits: 8, signed: false }, 4),
            _ => (Int { bits: 8, signed: true }, 4),
        };
        let op = IntOp::Compare(order(decoder).ok_or_else(|| decoder.refuse("compares in no way"))?);
        let code = Pure::Int { op, ty: lane, lanes, limit: IntLimit::Wrap };
        return decoder.with(Code::Pure(code), &[("a", to), ("b", to)]);
    }
    let compare = compare(decoder, from)?;
    let lanes = match compare {
        Compare::Float { lanes, .. } => u32::from(lanes),
        Compare::Int(..) => 1,
    };
    let lane_bits = to.bits() / lanes;
    let truth = match format(to) {
        Some((format, _)) => format.one(),
        None => mask(lane_bits) as u64,
    };
    let combine = combine(decoder);
    let code = Pure::Set { compare, combine, truth, lane_bits: lane_bits as u8 };
    let mut inst = decoder.with(Code::Pure(code), &[("a", from), ("b", from)])?;
    if combine.is_some() {
        inst.args.push(decoder.arg("c", Type::Pred)?);
    }
    Ok(inst)
}

fn combine(decoder: &InstDecoder<'_, '_>) -> Option<Combine> {
    decoder.view.form.words().find_map(|word| match word {
        Mod::And => Some(Combine::And),
        Mod::Or => Some(Combine::Or),
        Mod::Xor => Some(Combine::Xor),
        _ => None,
    })
}

fn compare(decoder: &InstDecoder<'_, '_>, ty: Type) -> Result<Compare, Refusal> {
    if let Some((format, lanes)) = format(ty) {
        debug_assert!(lanes <= 2 && format.bits() >= 16 && F32.bits() == 32);
        let compare = float_compare(decoder).ok_or_else(|| decoder.refuse("compares in no way"))?;
        return Ok(Compare::Float { format, lanes, flush: decoder.has(Mod::Ftz), compare });
    }
    let order = order(decoder).ok_or_else(|| decoder.refuse("compares in no way"))?;
    // `.lo`, `.ls`, `.hi`, `.hs` compare as unsigned whatever the type says.
    let is_unsigned = [Mod::Lo, Mod::Ls, Mod::Hi, Mod::Hs].into_iter().any(|word| decoder.has(word));
    let ty = int(ty);
    Ok(Compare::Int(Int { signed: ty.signed && !is_unsigned, ..ty }, order))
}

pub(super) fn order(decoder: &InstDecoder<'_, '_>) -> Option<Order> {
    decoder.view.form.words().find_map(|word| match word {
        Mod::Eq => Some(Order::Eq),
        Mod::Ne => Some(Order::Ne),
        Mod::Lt | Mod::Lo => Some(Order::Lt),
        Mod::Le | Mod::Ls => Some(Order::Le),
        Mod::Gt | Mod::Hi => Some(Order::Gt),
        Mod::Ge | Mod::Hs => Some(Order::Ge),
        _ => None,
    })
}

fn float_compare(decoder: &InstDecoder<'_, '_>) -> Option<FloatCompare> {
    let made = |less, equal, greater, unordered| Some(FloatCompare { less, equal, greater, unordered });
    decoder.view.form.words().find_map(|word| match word {
        Mod::Eq => made(false, true, false, false),
        Mod::Ne => made(true, false, true, false),
        Mod::Lt => made(true, false, false, false),
        Mod::Le => made(true, true, false, false),
        Mod::Gt => made(false, false, true, false),
        Mod::Ge => made(false, true, true, false),
        Mod::Equ => made(false, true, false, true),
        Mod::Neu => made(true, false, true, true),
        Mod::Ltu => made(true, false, false, true),
        Mod::Leu => made(true, true, false, true),
        Mod::Gtu => made(false, false, true, true),
        Mod::Geu => made(false, true, true, true),
        Mod::Num => made(true, true, true, false),
        Mod::Nan => made(false, false, false, true),
        _ => None,
    })
}
