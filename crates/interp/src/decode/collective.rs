//! Exchanges between the lanes of a warp.

use ptx::ops::{Mod, Op};
use ptx::types::Type;

use super::operand::{Site, int};
use crate::arith::float::MinMax;
use crate::code::{Code, Collective, CollectiveOp, Inst, IntOp, Logic, Members, Redux, Shuffle, Vote};
use crate::fault::Refusal;

pub(super) fn decode(site: &Site<'_, '_>) -> Result<Option<Inst>, Refusal> {
    let b32 = Type::B32;
    let pred = Type::Pred;
    let (op, sources): (CollectiveOp, &[(&str, Type)]) = match site.op {
        Op::Shfl => {
            let how = if site.has(Mod::Up) {
                Shuffle::Up
            } else if site.has(Mod::Down) {
                Shuffle::Down
            } else if site.has(Mod::Bfly) {
                Shuffle::Butterfly
            } else {
                Shuffle::Index
            };
            (CollectiveOp::Shuffle(how), &[("a", b32), ("b", b32), ("c", b32)])
        }
        Op::Vote if site.has(Mod::Ballot) => (CollectiveOp::Ballot, &[("a", pred)]),
        Op::Vote => {
            let how = if site.has(Mod::All) {
                Vote::All
            } else if site.has(Mod::Any) {
                Vote::Any
            } else {
                Vote::Uniform
            };
            (CollectiveOp::Vote(how), &[("a", pred)])
        }
        Op::Match => {
            let ty = site.last_type()?;
            let op =
                if site.has(Mod::All) { CollectiveOp::MatchAll(ty.bits()) } else { CollectiveOp::MatchAny(ty.bits()) };
            (op, if ty == Type::B64 { &[("a", Type::B64)] } else { &[("a", Type::B32)] })
        }
        Op::Activemask => (CollectiveOp::ActiveMask, &[]),
        Op::Redux => (CollectiveOp::Redux(redux(site)?), &[("a", b32)]),
        Op::BarWarpSync => (CollectiveOp::Sync, &[]),
        Op::Elect => (CollectiveOp::Elect, &[]),
        _ => return Ok(None),
    };
    let has_mask = site.operand("mask").is_some();
    let members = if has_mask { Members::Mask } else { Members::Here };
    let mut inst = site.with(Code::Collective(Collective { op, members }), sources)?;
    if has_mask {
        inst.args.push(site.arg("mask", b32)?);
    }
    Ok(Some(inst))
}

fn redux(site: &Site<'_, '_>) -> Result<Redux, Refusal> {
    let ty = site.last_type()?;
    let max = site.has(Mod::Max);
    Ok(if ty == Type::F32 {
        Redux::Float(MinMax { max, nan: site.has(Mod::NaN), abs: site.has(Mod::Abs), ..MinMax::default() })
    } else if site.has(Mod::Add) {
        Redux::Int(IntOp::Add, int(ty))
    } else if max {
        Redux::Int(IntOp::Max, int(ty))
    } else if site.has(Mod::Min) {
        Redux::Int(IntOp::Min, int(ty))
    } else if site.has(Mod::And) {
        Redux::Logic(Logic::And)
    } else if site.has(Mod::Or) {
        Redux::Logic(Logic::Or)
    } else {
        Redux::Logic(Logic::Xor)
    })
}
