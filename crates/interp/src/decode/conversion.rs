//! Conversions between types, and of addresses.

use ptx::ops::{Mod, Op};
use ptx::types::{Space, Type, TypeKind};

use super::operand::{InstDecoder, format, int};
use crate::arith::convert::{Conversion, Kind};
use crate::arith::float::Mode;
use crate::arith::format::{E2M1, E2M3, E3M2, E4M3, E5M2, F32, Format, Round};
use crate::arith::int::Int;
use crate::code::{Code, DEFAULT_ROUND, Inst, Pure};
use crate::fault::Refusal;
use crate::memory::Window;

pub(super) fn decode(decoder: &InstDecoder<'_, '_>) -> Result<Option<Inst>, Refusal> {
    match decoder.op {
        Op::Cvt => cvt(decoder).map(Some),
        Op::CvtPack => {
            let to = int(decoder.ty(0)?);
            let mut inst = decoder.with(Code::Pure(Pure::ConvertPack { to }), &[("a", Type::S32), ("b", Type::S32)])?;
            if decoder.operand("c").is_some() {
                inst.args.push(decoder.arg("c", Type::B32)?);
            }
            Ok(Some(inst))
        }
        Op::Cvta => {
            let ty = decoder.last_type()?;
            let window = window_of(decoder)?;
            let code = Pure::Cvta { window, to: decoder.has(Mod::To), bits: ty.bits() };
            decoder.with(Code::Pure(code), &[("a", ty)]).map(Some)
        }
        Op::Isspacep => decoder.with(Code::Pure(Pure::Isspacep(window_of(decoder)?)), &[("a", Type::B64)]).map(Some),
        // A cluster has one block: every address of shared memory belongs to rank 0.
        Op::Mapa => {
            let ty = decoder.last_type()?;
            decoder.with(Code::Pure(Pure::Copy(int(ty))), &[("a", ty)]).map(Some)
        }
        Op::Getctarank => {
            let mut inst = decoder.with(Code::Pure(Pure::Copy(Int { bits: 32, signed: false })), &[])?;
            inst.args.push(crate::code::Arg::Const(0));
            Ok(Some(inst))
        }
        _ => Ok(None),
    }
}

fn window_of(decoder: &InstDecoder<'_, '_>) -> Result<Window, Refusal> {
    Ok(match decoder.view.form.spaces().next() {
        Some(Space::Global) => Window::Global,
        Some(Space::Const) => Window::Const,
        Some(Space::Shared) => Window::Shared,
        Some(Space::Local) => Window::Local,
        Some(Space::Param) => Window::Param,
        _ => return Err(decoder.refuse("names no space")),
    })
}

fn cvt(decoder: &InstDecoder<'_, '_>) -> Result<Inst, Refusal> {
    let unsupported = [Mod::Rs, Mod::Pzo, Mod::ScaledN1Ue8m0, Mod::ScaledN2Ue8m0];
    if unsupported.into_iter().any(|word| decoder.has(word)) {
        return Err(decoder.refuse("is not supported by the interpreter"));
    }
    let (to, from) = (decoder.ty(0)?, decoder.ty(1)?);
    let (to_packed, from_packed) = (packed(to), packed(from));
    let conversion = |to: Kind, from: Kind| {
        let is_single = |kind| kind == Kind::Float(F32);
        let flush = decoder.has(Mod::Ftz);
        let round = decoder.round().unwrap_or(DEFAULT_ROUND);
        let mode = Mode { round, ..decoder.mode() };
        Conversion {
            to,
            from,
            integral: integral(decoder),
            mode,
            flush_source: flush && is_single(from),
            flush_target: flush && is_single(to),
        }
    };
    let pure = |code, sources: &[(&str, Type)]| decoder.with(Code::Pure(code), sources);
    match (to_packed, from_packed) {
        (None, None) => {
            let kind =
                |ty| kind(ty).ok_or_else(|| decoder.refuse("converts a type that the interpreter does not know"));
            pure(Pure::Convert(conversion(kind(to)?, kind(from)?)), &[("a", from)])
        }
        (Some((to, bits, 2)), None) => {
            let from_kind = kind(from).ok_or_else(|| decoder.refuse("converts an unknown type"))?;
            let conversion = conversion(Kind::Float(to), from_kind);
            pure(Pure::ConvertPair { conversion, bits }, &[("a", from), ("b", from)])
        }
        (Some((to, to_bits, lanes)), Some((source, from_bits, from_lanes))) if lanes == from_lanes => {
            let conversion = conversion(Kind::Float(to), Kind::Float(source));
            pure(Pure::ConvertLanes { conversion, from_bits, to_bits, lanes }, &[("a", from)])
        }
        _ => Err(decoder.refuse("is not supported by the interpreter")),
    }
}

fn integral(decoder: &InstDecoder<'_, '_>) -> Option<Round> {
    decoder.view.form.words().find_map(|word| match word {
        Mod::Rni => Some(Round::NearestEven),
        Mod::Rzi => Some(Round::Zero),
        Mod::Rmi => Some(Round::Down),
        Mod::Rpi => Some(Round::Up),
        _ => None,
    })
}

fn kind(ty: Type) -> Option<Kind> {
    match ty {
        Type::Tf32 => Some(Kind::Tf32),
        _ if matches!(ty.kind(), TypeKind::Signed | TypeKind::Unsigned) => Some(Kind::Int(int(ty))),
        _ => match format(ty) {
            Some((format, 1)) => Some(Kind::Float(format)),
            _ => None,
        },
    }
}

/// Format, width and number of the lanes of a packed type. The narrow ones take a byte each, `e2m1` half of one.
fn packed(ty: Type) -> Option<(Format, u8, u8)> {
    Some(match ty {
        Type::E4m3x2 => (E4M3, 8, 2),
        Type::E5m2x2 => (E5M2, 8, 2),
        Type::E3m2x2 => (E3M2, 8, 2),
        Type::E2m3x2 => (E2M3, 8, 2),
        Type::E2m1x2 => (E2M1, 4, 2),
        Type::F16x2 | Type::Bf16x2 => (format(ty)?.0, 16, 2),
        _ => return None,
    })
}
