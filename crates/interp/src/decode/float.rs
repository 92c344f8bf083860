//! Floating-point arithmetic and approximations.

use ptx::ops::{Mod, Op};
use ptx::types::Type;

use super::operand::{Site, format};
use crate::arith::approx::Approx;
use crate::arith::float::MinMax;
use crate::arith::format::F32;
use crate::code::{Code, FloatOp, Inst, Pure, TestKind};
use crate::fault::Refusal;

pub(super) fn decode(site: &Site<'_, '_>) -> Result<Option<Inst>, Refusal> {
    let op = match site.op {
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
                max: site.op == Op::Max,
                flush: site.has(Mod::Ftz),
                nan: site.has(Mod::NaN),
                abs: site.has(Mod::Abs),
                xorsign: site.has(Mod::Xorsign),
            };
            if site.operand("c").is_some() { FloatOp::MinMax3(how) } else { FloatOp::MinMax(how) }
        }
        _ => return others(site),
    };
    if site.has(Mod::Oob) {
        return Err(site.refuse("is not supported by the interpreter"));
    }
    if site.has(Mod::Approx) || site.has(Mod::Full) {
        return approximate(site).map(Some);
    }
    let types = site.view.form.types();
    let Some(&ty) = types.last() else {
        return Ok(None);
    };
    if let ([Type::F32, narrow @ (Type::F16 | Type::Bf16)], FloatOp::Add | FloatOp::Sub | FloatOp::Fma) = (types, op) {
        let (narrow_format, _) = format(*narrow).expect("both are formats");
        let code = Code::Pure(Pure::Mixed { op, narrow: narrow_format, mode: site.mode() });
        let sources: &[(&str, Type)] = match op {
            FloatOp::Fma => &[("a", *narrow), ("b", *narrow), ("c", Type::F32)],
            _ => &[("a", *narrow), ("b", Type::F32)],
        };
        return site.with(code, sources).map(Some);
    }
    let (Some((format, lanes)), 1) = (format(ty), types.len()) else {
        return Err(site.refuse("is not supported by the interpreter"));
    };
    let mut inst = site.with(Code::Pure(Pure::Float { op, format, lanes, mode: site.mode() }), &[("a", ty)])?;
    for name in ["b", "c"] {
        if site.operand(name).is_some() {
            inst.args.push(site.arg(name, ty)?);
        }
    }
    Ok(Some(inst))
}

fn others(site: &Site<'_, '_>) -> Result<Option<Inst>, Refusal> {
    match site.op {
        Op::Rsqrt | Op::Sin | Op::Cos | Op::Lg2 | Op::Ex2 | Op::Tanh => approximate(site).map(Some),
        Op::Copysign => {
            let ty = site.ty(0)?;
            let (format, _) = format(ty).ok_or_else(|| site.refuse("has an unexpected type"))?;
            site.with(Code::Pure(Pure::Copysign(format)), &[("a", ty), ("b", ty)]).map(Some)
        }
        Op::Testp => {
            let ty = site.ty(0)?;
            let (format, _) = format(ty).ok_or_else(|| site.refuse("has an unexpected type"))?;
            let kind = site.view.form.words().find_map(|word| match word {
                Mod::Finite => Some(TestKind::Finite),
                Mod::Infinite => Some(TestKind::Infinite),
                Mod::Number => Some(TestKind::Number),
                Mod::Notanumber => Some(TestKind::NotANumber),
                Mod::Normal => Some(TestKind::Normal),
                Mod::Subnormal => Some(TestKind::Subnormal),
                _ => None,
            });
            let kind = kind.ok_or_else(|| site.refuse("tests for nothing"))?;
            site.with(Code::Pure(Pure::Testp(kind, format)), &[("a", ty)]).map(Some)
        }
        _ => Ok(None),
    }
}

fn approximate(site: &Site<'_, '_>) -> Result<Inst, Refusal> {
    let ty = site.last_type()?;
    let (format, lanes) = format(ty).ok_or_else(|| site.refuse("has an unexpected type"))?;
    let flush = site.has(Mod::Ftz);
    let function = match site.op {
        Op::Div if format == F32 => {
            // `.full` has no range in which it gives up.
            let code = if site.has(Mod::Approx) {
                Pure::DivApprox { flush }
            } else {
                Pure::Float { op: FloatOp::Div, format, lanes, mode: site.mode() }
            };
            return site.with(Code::Pure(code), &[("a", ty), ("b", ty)]);
        }
        Op::Rcp => Approx::Rcp,
        Op::Sqrt => Approx::Sqrt,
        Op::Rsqrt => Approx::Rsqrt,
        Op::Sin => Approx::Sin,
        Op::Cos => Approx::Cos,
        Op::Lg2 => Approx::Lg2,
        Op::Ex2 => Approx::Ex2,
        Op::Tanh => Approx::Tanh,
        _ => return Err(site.refuse("has no approximation")),
    };
    let code = match ty {
        Type::F64 if flush => Pure::ApproxUpperHalf(function),
        _ => Pure::Approx { function, format, lanes, flush },
    };
    site.with(Code::Pure(code), &[("a", ty)])
}
