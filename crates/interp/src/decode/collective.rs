//! Exchanges between the lanes of a warp.

use ptx::ops::{Mod, Op};
use ptx::types::Type;

use super::operand::{InstDecoder, int};
use crate::arith::float::MinMax;
use crate::code::{Code, Collective, CollectiveOp, Inst, IntOp, Logic, Members, Redux, Shuffle, Vote};
use crate::fault::Refusal;

pub(super) fn decode(decoder: &InstDecoder<'_, '_>) -> Result<Option<Inst>, Refusal> {
    let b32 = Type::B32;
    let pred = Type::Pred;
    let (op, sources): (CollectiveOp, &[(&str, Type)]) = match decoder.op {
        Op::Shfl => {
            let how = if decoder.has(Mod::Up) {
                Shuffle::Up
            } else if decoder.has(Mod::Down) {
                Shuffle::Down
            } else if decoder.has(Mod::Bfly) {
                Shuffle::Butterfly
            } else {
                Shuffle::Index
            };
            (CollectiveOp::Shuffle(how), &[("a", b32), ("b", b32), ("c", b32)])
        }
        Op::Vote if decoder.has(Mod::Ballot) => (CollectiveOp::Ballot, &[("a", pred)]),
        Op::Vote => {
            let how = if decoder.has(Mod::All) {
                Vote::All
            } else if decoder.has(Mod::Any) {
                Vote::Any
            } else {
                Vote::Uniform
            };
            (CollectiveOp::Vote(how), &[("a", pred)])
        }
        Op::Match => {
            let ty = decoder.last_type()?;
            let op = if decoder.has(Mod::All) {
                CollectiveOp::MatchAll(ty.bits())
            } else {
                CollectiveOp::MatchAny(ty.bits())
            };
            (op, if ty == Type::B64 { &[("a", Type::B64)] } else { &[("a", Type::B32)] })
        }
        Op::Activemask => (CollectiveOp::ActiveMask, &[]),
        Op::Redux => (CollectiveOp::Redux(redux(decoder)?), &[("a", b32)]),
        Op::BarWarpSync => (CollectiveOp::Sync, &[]),
        Op::Elect => (CollectiveOp::Elect, &[]),
        _ => return Ok(None),
    };
    let has_mask = decoder.operand("mask").is_some();
    let members = if has_mask { Members::Mask } else { Members::Here };
    let mut inst = decoder.with(Code::Collective(Collective { op, members }), sources)?;
    if has_mask {
        inst.args.push(decoder.arg("mask", b32)?);
    }
    Ok(Some(inst))
}

fn redux(decoder: &InstDecoder<'_, '_>) -> Result<Redux, Refusal> {
    let ty = decoder.last_type()?;
    let max = decoder.has(Mod::Max);
    Ok(if ty == Type::F32 {
        Redux::Float(MinMax { max, nan: decoder.has(Mod::NaN), abs: decoder.has(Mod::Abs), ..MinMax::default() })
    } else if decoder.has(Mod::Add) {
        Redux::Int(IntOp::Add, int(ty))
    } else if max {
        Redux::Int(IntOp::Max, int(ty))
    } else if decoder.has(Mod::Min) {
        Redux::Int(IntOp::Min, int(ty))
    } else if decoder.has(Mod::And) {
        Redux::Logic(Logic::And)
    } else if decoder.has(Mod::Or) {
        Redux::Logic(Logic::Or)
    } else {
        Redux::Logic(Logic::Xor)
    })
}
