//! Floating-point arithmetic and approximations.

use ptx::ops::{Mod, Op};
use ptx::types::Type;

use super::operand::{InstDecoder, format};
use crate::arith::approx::Approx;
use crate::arith::float::MinMax;
use crate::arith::format::F32;
use crate::code::{Code, FloatOp, Inst, Pure, TestKind};
use crate::fault::Refusal;

pub(super) fn decode(decoder: &InstDecoder<'_, '_>) -> Result<Option<Inst>, Refusal> {
    let op = match decoder.op {
        Op::Add => FloatOp::Add,
        Op::Sub => FloatOp::Sub,
        Op::Mul => FloatOp::Mul,
        // `mad` without a rounding was an inexact one once; since sm_20 it is `fma`.
        Op::Fma | Op::Mad => FloatOp::Fma,
        Op::Div => FloatOp::Div,
        Op::Sqrt => FloatOp::Sqrt,
        Op::Rcp => FloatOp::Rcp,
        Op::Abs => FloatOp::Abs,
        Op::Neg => FloatOp::Neg,
        Op::Min | Op::Max => {
            let how = MinMax {
                max: decoder.op == Op::Max,
                flush: decoder.has(Mod::Ftz),
                nan: decoder.has(Mod::NaN),
                abs: decoder.has(Mod::Abs),
                xorsign: decoder.has(Mod::Xorsign),
            };
            if decoder.operand("c").is_some() { FloatOp::MinMax3(how) } else { FloatOp::MinMax(how) }
        }
        _ => return others(decoder),
    };
    if decoder.has(Mod::Oob) {
        return Err(decoder.refuse("is not supported by the interpreter"));
    }
    if decoder.has(Mod::Approx) || decoder.has(Mod::Full) {
        return approximate(decoder).map(Some);
    }
    let types = decoder.view.form.types();
    let Some(&ty) = types.last() else {
        return Ok(None);
    };
    if let ([Type::F32, narrow @ (Type::F16 | Type::Bf16)], FloatOp::Add | FloatOp::Sub | FloatOp::Fma) = (types, op) {
        let (narrow_format, _) = format(*narrow).expect("both are formats");
        let code = Code::Pure(Pure::Mixed { op, narrow: narrow_format, mode: decoder.mode() });
        let sources: &[(&str, Type)] = match op {
            FloatOp::Fma => &[("a", *narrow), ("b", *narrow), ("c", Type::F32)],
            _ => &[("a", *narrow), ("b", Type::F32)],
        };
        return decoder.with(code, sources).map(Some);
    }
    let (Some((format, lanes)), 1) = (format(ty), types.len()) else {
        return Err(decoder.refuse("is not supported by the interpreter"));
    };
    let mut inst = decoder.with(Code::Pure(Pure::Float { op, format, lanes, mode: decoder.mode() }), &[("a", ty)])?;
    for name in ["b", "c"] {
        if decoder.operand(name).is_some() {
            inst.args.push(decoder.arg(name, ty)?);
        }
    }
    Ok(Some(inst))
}

fn others(decoder: &InstDecoder<'_, '_>) -> Result<Option<Inst>, Refusal> {
    match decoder.op {
        Op::Rsqrt | Op::Sin | Op::Cos | Op::Lg2 | Op::Ex2 | Op::Tanh => approximate(decoder).map(Some),
        Op::Copysign => {
            let ty = decoder.ty(0)?;
            let (format, _) = format(ty).ok_or_else(|| decoder.refuse("has an unexpected type"))?;
            decoder.with(Code::Pure(Pure::Copysign(format)), &[("a", ty), ("b", ty)]).map(Some)
        }
        Op::Testp => {
            let ty = decoder.ty(0)?;
            let (format, _) = format(ty).ok_or_else(|| decoder.refuse("has an unexpected type"))?;
            let kind = decoder.view.form.words().find_map(|word| match word {
                Mod::Finite => Some(TestKind::Finite),
                Mod::Infinite => Some(TestKind::Infinite),
                Mod::Number => Some(TestKind::Number),
                Mod::Notanumber => Some(TestKind::NotANumber),
                Mod::Normal => Some(TestKind::Normal),
                Mod::Subnormal => Some(TestKind::Subnormal),
                _ => None,
            });
            let kind = kind.ok_or_else(|| decoder.refuse("tests for nothing"))?;
            decoder.with(Code::Pure(Pure::Testp(kind, format)), &[("a", ty)]).map(Some)
        }
        _ => Ok(None),
    }
}

fn approximate(decoder: &InstDecoder<'_, '_>) -> Result<Inst, Refusal> {
    let ty = decoder.last_type()?;
    let (format, lanes) = format(ty).ok_or_else(|| decoder.refuse("has an unexpected type"))?;
    let flush = decoder.has(Mod::Ftz);
    let function = match decoder.op {
        Op::Div if format == F32 => {
            // `.full` has no range in which it gives up.
            let code = if decoder.has(Mod::Approx) {
                Pure::DivApprox { flush }
            } else {
                Pure::Float { op: FloatOp::Div, format, lanes, mode: decoder.mode() }
            };
            return decoder.with(Code::Pure(code), &[("a", ty), ("b", ty)]);
        }
        Op::Rcp => Approx::Rcp,
        Op::Sqrt => Approx::Sqrt,
        Op::Rsqrt => Approx::Rsqrt,
        Op::Sin => Approx::Sin,
        Op::Cos => Approx::Cos,
        Op::Lg2 => Approx::Lg2,
        Op::Ex2 => Approx::Ex2,
        Op::Tanh => Approx::Tanh,
        _ => return Err(decoder.refuse("has no approximation")),
    };
    let code = match ty {
        Type::F64 if flush => Pure::ApproxUpperHalf(function),
        _ => Pure::Approx { function, format, lanes, flush },
    };
    decoder.with(Code::Pure(code), &[("a", ty)])
}
