//! Integers, bits, logic, and moving data between registers.

use ptx::ir::Operand;
use ptx::ops::{Mod, Op};
use ptx::special::Special;
use ptx::types::{Type, TypeKind};
use smallvec::SmallVec;

use super::operand::{InstDecoder, format, int};
use crate::arith::bits::Permute;
use crate::arith::int::Int;
use crate::code::{Arg, Carry, CarryOp, Code, Inst, IntLimit, IntOp, Logic, Pure};
use crate::fault::Refusal;

pub(super) fn decode(decoder: &InstDecoder<'_, '_>) -> Result<Option<Inst>, Refusal> {
    let pure = |pure: Pure, sources: &[(&str, Type)]| decoder.with(Code::Pure(pure), sources).map(Some);
    let Some(ty) = decoder.view.form.types().last().copied() else {
        return Ok(None);
    };
    let is_float = decoder.view.form.types().iter().any(|&ty| format(ty).is_some());
    let bits = ty.bits();
    let b32 = Type::B32;
    match decoder.op {
        Op::Add | Op::Sub | Op::Mul | Op::Mad | Op::Addc | Op::Subc | Op::Madc | Op::Min | Op::Max if !is_float => {
            binary(decoder, ty).map(Some)
        }
        Op::Mul24 | Op::Mad24 | Op::Sad | Op::Div | Op::Rem | Op::Abs | Op::Neg if !is_float => {
            binary(decoder, ty).map(Some)
        }
        Op::Clmad => pure(Pure::Clmad { high: decoder.has(Mod::Hi) }, &[("a", ty), ("b", ty), ("c", ty)]),
        Op::Popc => pure(Pure::Popc(bits), &[("a", ty)]),
        Op::Clz => pure(Pure::Clz(bits), &[("a", ty)]),
        Op::Bfind => pure(Pure::Bfind(int(ty), decoder.has(Mod::Shiftamt)), &[("a", ty)]),
        Op::Fns => pure(Pure::Fns, &[("a", ty), ("b", ty), ("c", ty)]),
        Op::Brev => pure(Pure::Brev(bits), &[("a", ty)]),
        Op::Bfe => pure(Pure::Bfe(int(ty)), &[("a", ty), ("b", b32), ("c", b32)]),
        Op::Bfi => pure(Pure::Bfi(bits), &[("a", ty), ("b", ty), ("c", b32), ("e", b32)]),
        Op::Szext => {
            let op = Pure::Szext { signed: ty == Type::S32, wrap: decoder.has(Mod::Wrap) };
            pure(op, &[("a", ty), ("b", b32)])
        }
        Op::Bmsk => pure(Pure::Bmsk { wrap: decoder.has(Mod::Wrap) }, &[("a", ty), ("b", ty)]),
        Op::Dp4a | Op::Dp2a => {
            let (a, b) = (decoder.ty(0)?, decoder.ty(1)?);
            let (a_signed, b_signed) = (a == Type::S32, b == Type::S32);
            let op = match decoder.op {
                Op::Dp4a => Pure::Dp4a { a_signed, b_signed },
                _ => Pure::Dp2a { a_signed, b_signed, high: decoder.has(Mod::Hi) },
            };
            pure(op, &[("a", a), ("b", b), ("c", a)])
        }
        Op::And => pure(Pure::Logic(Logic::And), &[("a", ty), ("b", ty)]),
        Op::Or => pure(Pure::Logic(Logic::Or), &[("a", ty), ("b", ty)]),
        Op::Xor => pure(Pure::Logic(Logic::Xor), &[("a", ty), ("b", ty)]),
        Op::Not => pure(Pure::Logic(Logic::Not), &[("a", ty)]),
        Op::Cnot => pure(Pure::Cnot(bits), &[("a", ty)]),
        Op::Lop3 => {
            let table = decoder.immediate("lut")? as u8;
            let sources = [("a", ty), ("b", ty), ("c", ty)];
            if decoder.operand("e").is_none() {
                return pure(Pure::Lop3(table), &sources);
            }
            let mut inst = decoder.with(Code::Lop3Predicate { table, or: decoder.has(Mod::Or) }, &sources)?;
            inst.args.push(decoder.arg("e", Type::Pred)?);
            Ok(Some(inst))
        }
        Op::Shf => {
            let op = Pure::Shf { left: decoder.has(Mod::L), wrap: decoder.has(Mod::Wrap) };
            pure(op, &[("a", ty), ("b", ty), ("c", ty)])
        }
        Op::Shl => pure(Pure::Shl(bits), &[("a", ty), ("b", b32)]),
        Op::Shr => pure(Pure::Shr(int(ty)), &[("a", ty), ("b", b32)]),
        Op::Prmt => {
            let mode = decoder.view.form.words().find_map(|word| match word {
                Mod::F4e => Some(Permute::Forward),
                Mod::B4e => Some(Permute::Backward),
                Mod::Rc8 => Some(Permute::Replicate8),
                Mod::Ecl => Some(Permute::EdgeLeft),
                Mod::Ecr => Some(Permute::EdgeRight),
                Mod::Rc16 => Some(Permute::Replicate16),
                _ => None,
            });
            pure(Pure::Prmt(mode.unwrap_or(Permute::Selectors)), &[("a", ty), ("b", ty), ("c", ty)])
        }
        Op::Mov => mov(decoder, ty).map(Some),
        _ => Ok(None),
    }
}

/// Lane type and number of lanes of packed integers.
fn lanes(ty: Type) -> (Int, u8) {
    let packed = |bits, signed, lanes| (Int { bits, signed }, lanes);
    match ty {
        Type::U16x2 => packed(16, false, 2),
        Type::S16x2 => packed(16, true, 2),
        Type::U8x4 => packed(8, false, 4),
        Type::S8x4 => packed(8, true, 4),
        _ => (int(ty), 1),
    }
}

fn binary(decoder: &InstDecoder<'_, '_>, ty: Type) -> Result<Inst, Refusal> {
    if !matches!(ty.kind(), TypeKind::Signed | TypeKind::Unsigned) && lanes(ty).1 == 1 {
        return Err(decoder.refuse("has a type that the interpreter does not compute with"));
    }
    let (high, wide) = (decoder.has(Mod::Hi), decoder.has(Mod::Wide));
    let pick = |lo, hi, whole| {
        if wide {
            whole
        } else if high {
            hi
        } else {
            lo
        }
    };
    let op = match decoder.op {
        Op::Add | Op::Addc => IntOp::Add,
        Op::Sub | Op::Subc => IntOp::Sub,
        Op::Mul => pick(IntOp::MulLo, IntOp::MulHi, IntOp::MulWide),
        Op::Mad | Op::Madc => pick(IntOp::MadLo, IntOp::MadHi, IntOp::MadWide),
        Op::Mul24 => pick(IntOp::Mul24Lo, IntOp::Mul24Hi, IntOp::Mul24Lo),
        Op::Mad24 => pick(IntOp::Mad24Lo, IntOp::Mad24Hi, IntOp::Mad24Lo),
        Op::Sad => IntOp::Sad,
        Op::Div => IntOp::Div,
        Op::Rem => IntOp::Rem,
        Op::Abs => IntOp::Abs,
        Op::Neg => IntOp::Neg,
        Op::Min => IntOp::Min,
        _ => IntOp::Max,
    };
    let (lane, lanes) = lanes(ty);
    let limit = if decoder.has(Mod::Sat) {
        IntLimit::Saturate
    } else if decoder.has(Mod::Relu) {
        IntLimit::Relu
    } else {
        IntLimit::Wrap
    };
    let reads_carry = decoder.view.reads_carry();
    let code = if reads_carry || decoder.view.writes_carry() {
        let op = match op {
            IntOp::Add => CarryOp::Add,
            IntOp::Sub => CarryOp::Sub,
            IntOp::MadLo => CarryOp::MadLo,
            IntOp::MadHi => CarryOp::MadHi,
            _ => return Err(decoder.refuse("cannot have a carry")),
        };
        Code::Carry(Carry { op, ty: lane, read: reads_carry, write: decoder.view.writes_carry() })
    } else {
        Code::Pure(Pure::Int { op, ty: lane, lanes, limit })
    };
    let mut inst = decoder.with(code, &[("a", ty)])?;
    if decoder.operand("b").is_some() {
        inst.args.push(decoder.arg("b", ty)?);
    }
    if decoder.operand("c").is_some() {
        // The addend of a wide product is as wide as the product.
        let wide_type = match ty {
            _ if !wide => ty,
            Type::U16 => Type::U32,
            Type::S16 => Type::S32,
            Type::U32 => Type::U64,
            _ => Type::S64,
        };
        inst.args.push(decoder.arg("c", wide_type)?);
    }
    Ok(inst)
}

/// Copies a value, or strings the elements of vectors together and deals them out.
fn mov(decoder: &InstDecoder<'_, '_>, ty: Type) -> Result<Inst, Refusal> {
    let (target, source) = (decoder.required("d")?, decoder.required("a")?);
    let dests = decoder.dests_of(target)?;
    let vector = decoder.view.form.vector();
    let args = match source {
        Operand::Special(special) if vector > 1 => elements_of(decoder, *special)?,
        _ => decoder.values(source, element_type(ty, vector, source, decoder))?,
    };
    if dests.len() == 1 && args.len() == 1 {
        return decoder.with(Code::Pure(Pure::Copy(int(ty))), &[("a", ty)]);
    }
    let total = ty.bits() * vector;
    let widths = |count: usize| -> Result<SmallVec<[u8; 4]>, Refusal> {
        if count == 0 || !total.is_multiple_of(count as u32) {
            return Err(decoder.refuse("has vectors that do not fill its type"));
        }
        Ok(std::iter::repeat_n((total / count as u32) as u8, count).collect())
    };
    let mut inst = decoder.inst(Code::Deal { sources: widths(args.len())?, targets: widths(dests.len())? });
    inst.dests = dests;
    inst.args = args;
    Ok(inst)
}

/// The type of an immediate among the elements of a vector.
fn element_type(ty: Type, vector: u32, source: &Operand, decoder: &InstDecoder<'_, '_>) -> Type {
    match source {
        Operand::Vector(list) if vector == 1 => {
            let count = decoder.view.body.operands(*list).len().max(1) as u32;
            Type::bits_of(ty.bits() / count).unwrap_or(ty)
        }
        _ => ty,
    }
}

/// The elements of a special register that is a vector, such as `%tid`.
fn elements_of(decoder: &InstDecoder<'_, '_>, special: Special) -> Result<SmallVec<[Arg; 4]>, Refusal> {
    use Special::*;
    let elements = match special {
        Tid => [TidX, TidY, TidZ, TidW],
        Ntid => [NtidX, NtidY, NtidZ, NtidW],
        Ctaid => [CtaidX, CtaidY, CtaidZ, CtaidW],
        Nctaid => [NctaidX, NctaidY, NctaidZ, NctaidW],
        _ => return Err(decoder.refuse(&format!("reads {special} as a vector, which it is not"))),
    };
    Ok(elements.map(Arg::Special).into_iter().collect())
}
