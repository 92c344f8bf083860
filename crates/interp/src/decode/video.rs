//! Video instructions: parts of registers, merging, second operations, and their SIMD forms.

use ptx::ir::Operand;
use ptx::ops::{Mod, Op};
use ptx::types::Type;

use super::compare::order;
use super::operand::{InstDecoder, part_of};
use crate::arith::int::Int;
use crate::arith::video::{Second, Selectors, Simd, VideoOp};
use crate::code::{Arg, Code, Inst, Pure, Video};
use crate::fault::Refusal;

pub(super) fn decode(decoder: &InstDecoder<'_, '_>) -> Result<Option<Inst>, Refusal> {
    let wrap = decoder.has(Mod::Wrap);
    let unordered = || decoder.refuse("compares in no way");
    let (op, lanes) = match decoder.op {
        Op::Vadd => (VideoOp::Add, 1),
        Op::Vsub => (VideoOp::Sub, 1),
        Op::Vabsdiff => (VideoOp::AbsDiff, 1),
        Op::Vmin => (VideoOp::Min, 1),
        Op::Vmax => (VideoOp::Max, 1),
        Op::Vshl => (VideoOp::Shl(wrap), 1),
        Op::Vshr => (VideoOp::Shr(wrap), 1),
        Op::Vset => (VideoOp::Set(order(decoder).ok_or_else(unordered)?), 1),
        Op::Vmad => return vmad(decoder).map(Some),
        Op::Vadd2 => (VideoOp::Add, 2),
        Op::Vsub2 => (VideoOp::Sub, 2),
        Op::Vavrg2 => (VideoOp::Average, 2),
        Op::Vabsdiff2 => (VideoOp::AbsDiff, 2),
        Op::Vmin2 => (VideoOp::Min, 2),
        Op::Vmax2 => (VideoOp::Max, 2),
        Op::Vset2 => (VideoOp::Set(order(decoder).ok_or_else(unordered)?), 2),
        Op::Vadd4 => (VideoOp::Add, 4),
        Op::Vsub4 => (VideoOp::Sub, 4),
        Op::Vavrg4 => (VideoOp::Average, 4),
        Op::Vabsdiff4 => (VideoOp::AbsDiff, 4),
        Op::Vmin4 => (VideoOp::Min, 4),
        Op::Vmax4 => (VideoOp::Max, 4),
        Op::Vset4 => (VideoOp::Set(order(decoder).ok_or_else(unordered)?), 4),
        _ => return Ok(None),
    };
    if lanes == 1 { scalar(decoder, op).map(Some) } else { simd(decoder, op, lanes).map(Some) }
}

/// Whether result, first and second operand are signed; a comparison has no type of its own.
fn signs(decoder: &InstDecoder<'_, '_>, op: VideoOp) -> Result<[bool; 3], Refusal> {
    let signed = |nth| Ok::<_, Refusal>(decoder.ty(nth)? == Type::S32);
    Ok(match op {
        VideoOp::Set(_) => [false, signed(0)?, signed(1)?],
        _ => [signed(0)?, signed(1)?, signed(2)?],
    })
}

/// The part of a register that an operand selects.
fn part(decoder: &InstDecoder<'_, '_>, operand: &Operand) -> Option<String> {
    match operand {
        Operand::Part(_, name) => Some(decoder.context.module.text(*name).to_owned()),
        _ => None,
    }
}

/// A source as a part of a register of a sign.
fn source(decoder: &InstDecoder<'_, '_>, name: &str, signed: bool) -> Result<(Arg, Int, bool), Refusal> {
    let operand = decoder.required(name)?;
    let bits = match part(decoder, operand) {
        Some(part) => part_of(&part).ok_or_else(|| decoder.refuse("selects an unknown part"))?.1,
        None => 32,
    };
    let (arg, negated) = match *operand {
        Operand::Neg(reg) => (Arg::Reg(decoder.slot(reg)), true),
        _ => (decoder.value(operand, Type::B32)?, false),
    };
    Ok((arg, Int { bits: bits.into(), signed }, negated))
}

fn scalar(decoder: &InstDecoder<'_, '_>, op: VideoOp) -> Result<Inst, Refusal> {
    let [result_signed, a_signed, b_signed] = signs(decoder, op)?;
    let (a, a_type, _) = source(decoder, "a", a_signed)?;
    let (b, b_type, _) = source(decoder, "b", b_signed)?;
    let merge = match part(decoder, decoder.required("d")?) {
        Some(part) => Some(part_of(&part).ok_or_else(|| decoder.refuse("selects an unknown part"))?),
        None => None,
    };
    let second = decoder.view.form.words().find_map(|word| match word {
        Mod::Add => Some(Second::Add),
        Mod::Min => Some(Second::Min),
        Mod::Max => Some(Second::Max),
        _ => None,
    });
    let video = Video {
        op,
        result_signed,
        a: a_type,
        b: b_type,
        saturate: decoder.has(Mod::Sat),
        merge,
        second: second.unwrap_or(Second::None),
    };
    let mut inst = decoder.with(Code::Pure(Pure::Video(video)), &[])?;
    inst.args.extend([a, b]);
    if decoder.operand("c").is_some() {
        inst.args.push(decoder.arg("c", Type::B32)?);
    }
    Ok(inst)
}

fn vmad(decoder: &InstDecoder<'_, '_>) -> Result<Inst, Refusal> {
    let (a_signed, b_signed) = (decoder.ty(1)? == Type::S32, decoder.ty(2)? == Type::S32);
    let (a, a_type, a_negated) = source(decoder, "a", a_signed)?;
    let (b, b_type, b_negated) = source(decoder, "b", b_signed)?;
    let (c, _, c_negated) = source(decoder, "c", false)?;
    let negate_product = a_negated != b_negated;
    let code = Pure::VideoMad {
        // What is signed is the sum, whatever the type of the result says.
        result_signed: a_signed || b_signed || negate_product || c_negated,
        a: a_type,
        b: b_type,
        po: decoder.has(Mod::Po),
        negate_product,
        negate_c: c_negated,
        saturate: decoder.has(Mod::Sat),
        shift: match (decoder.has(Mod::Shr7), decoder.has(Mod::Shr15)) {
            (true, _) => 7,
            (_, true) => 15,
            _ => 0,
        },
    };
    let mut inst = decoder.with(Code::Pure(code), &[])?;
    inst.args.extend([a, b, c]);
    Ok(inst)
}

fn simd(decoder: &InstDecoder<'_, '_>, op: VideoOp, lanes: u8) -> Result<Inst, Refusal> {
    let [result, a_signed, b_signed] = signs(decoder, op)?;
    let mut selectors = Selectors::straight(lanes);
    let digits = |name: &str| -> Result<Option<Vec<u8>>, Refusal> {
        let Some(part) = part(decoder, decoder.required(name)?) else {
            return Ok(None);
        };
        // The leftmost digit is the highest lane.
        let digits: Vec<u8> = part.bytes().skip(1).rev().map(|byte| byte.wrapping_sub(b'0')).collect();
        if digits.is_empty() || digits.len() > usize::from(lanes) || digits.iter().any(|&digit| digit >= 2 * lanes) {
            return Err(decoder.refuse("selects an unknown part"));
        }
        Ok(Some(digits))
    };
    for (name, target) in [("a", &mut selectors.a), ("b", &mut selectors.b)] {
        if let Some(digits) = digits(name)? {
            target[..digits.len()].copy_from_slice(&digits);
        }
    }
    if let Some(digits) = digits("d")? {
        selectors.written = digits.iter().fold(0, |mask, &lane| mask | 1 << lane);
    }
    let simd = Simd {
        op,
        lanes: lanes.into(),
        result,
        a_signed,
        b_signed,
        saturate: decoder.has(Mod::Sat),
        accumulate: decoder.has(Mod::Add),
    };
    let mut inst = decoder.with(Code::Pure(Pure::VideoSimd { simd, selectors }), &[])?;
    for name in ["a", "b", "c"] {
        let arg = match *decoder.required(name)? {
            Operand::Part(reg, _) => Arg::Reg(decoder.slot(reg)),
            ref operand => decoder.value(operand, Type::B32)?,
        };
        inst.args.push(arg);
    }
    Ok(inst)
}
