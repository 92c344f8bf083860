//! Faults that stay: all that a kind of unit computes in some lanes has a wrong bit. Every warp is hit, so nothing is called:
//! what is written is masked, in all lanes but those with what changes nothing.

use ptx::ir::{Guard, Operand, Reg};
use ptx::ops::{Effect, Op};
use ptx::special::Special;
use ptx::types::{Type, TypeKind};
use ptx::view::View;
use rewrite::{Cursor, Definition};

use super::kept::Kept;
use super::register::Kind;
use super::{KEEPS, LANE, LANES_OF_UNIT, TOGGLES, UNIT};

/// The kinds of units, by their names.
pub(super) const UNITS: [&str; 5] = ["integer", "logic", "fp32", "fp64", "memory"];
const INTEGER: u32 = 0;
const LOGIC: u32 = 1;
const FP32: u32 = 2;
/// The only one whose results all have 64 bits.
pub(super) const FP64: u32 = 3;
const MEMORY: u32 = 4;

fn unit(view: &View<'_>) -> u32 {
    if matches!(view.effect(), Some(Effect::Load | Effect::Atomic | Effect::TextureLoad)) {
        return MEMORY;
    }
    let ty = view.form.types().last();
    match (view.op(), ty.map(|ty| (ty.kind(), ty.bits()))) {
        (Some(Op::Mov | Op::Selp | Op::And | Op::Or | Op::Xor | Op::Not | Op::Shl | Op::Shr), _) => LOGIC,
        (_, Some((TypeKind::Float, 64))) => FP64,
        (_, Some((TypeKind::Float, _))) => FP32,
        _ => INTEGER,
    }
}

/// Masks what an instruction writes.
pub(super) fn definition(at: &mut Cursor<'_, '_>, definition: &Definition) {
    let Some(unit) =
        at.editor().view(definition.stmt).filter(|view| view.effect() != Some(Effect::Call)).map(|view| unit(&view))
    else {
        return;
    };
    let regs: Vec<(Reg, Kind)> = definition.regs.iter().filter_map(|&reg| Some((reg, Kind::of(at, reg)?))).collect();
    let regs: Vec<_> = regs.into_iter().filter(|(_, kind)| *kind != Kind::Predicate).collect();
    if regs.is_empty() {
        return;
    }
    at.state::<Kept>().units.insert(unit);
    // The instruction may overwrite its guard.
    let guard = definition.guard.map(|guard| {
        let copy = at.reg(Type::Pred);
        at.before().inst("mov.pred", &[copy.into(), guard.reg.into()]);
        Guard { reg: copy, ..guard }
    });
    let (keeps, toggles) = masks(at, unit);
    for (reg, kind) in regs {
        mask(at, guard, reg, kind, keeps, toggles);
    }
}

/// What a lane keeps of a result, and what it inverts, of 64 bits.
fn masks(at: &mut Cursor<'_, '_>, unit: u32) -> (Reg, Reg) {
    let [lane, lanes, wanted, keeps, toggles] = [LANE, LANES_OF_UNIT, UNIT, KEEPS, TOGGLES].map(|word| at.word(word));
    let mine = at.at_entry("mov.u32", Type::B32, &[Special::Laneid.into()]);
    let mine = at.at_entry("cvt.u64.u32", Type::B64, &[mine.into()]);
    let mine = at.at_entry("and.b64", Type::B64, &[mine.into(), lanes.into()]);
    let is_lane = at.at_entry("setp.eq.u64", Type::Pred, &[mine.into(), lane.into()]);
    let is_unit = at.at_entry("setp.eq.u64", Type::Pred, &[wanted.into(), Operand::Int(unit.into())]);
    let is_hit = at.at_entry("and.pred", Type::Pred, &[is_lane.into(), is_unit.into()]);
    let keeps = at.at_entry("selp.b64", Type::B64, &[keeps.into(), Operand::Int(-1), is_hit.into()]);
    let toggles = at.at_entry("selp.b64", Type::B64, &[toggles.into(), Operand::Int(0), is_hit.into()]);
    (keeps, toggles)
}

fn mask(at: &mut Cursor<'_, '_>, guard: Option<Guard>, reg: Reg, kind: Kind, keeps: Reg, toggles: Reg) {
    let (ty, and, xor) = match kind.size() {
        16 => (Type::B16, "and.b16", "xor.b16"),
        32 => (Type::B32, "and.b32", "xor.b32"),
        _ => (Type::B64, "and.b64", "xor.b64"),
    };
    let [keeps, toggles] = [keeps, toggles].map(|mask| match kind.size() {
        16 => at.at_entry("cvt.u16.u64", Type::B16, &[mask.into()]),
        32 => at.at_entry("cvt.u32.u64", Type::B32, &[mask.into()]),
        _ => mask,
    });
    let is_float = matches!(kind, Kind::Half | Kind::Float | Kind::Double);
    let plain = if is_float { at.reg(ty) } else { reg };
    let mov = match kind.size() {
        16 => "mov.b16",
        32 => "mov.b32",
        _ => "mov.b64",
    };
    let mut code = at.after();
    if is_float {
        code.inst_if(guard, mov, &[plain.into(), reg.into()]);
    }
    code.inst_if(guard, and, &[plain.into(), plain.into(), keeps.into()]);
    code.inst_if(guard, xor, &[plain.into(), plain.into(), toggles.into()]);
    if is_float {
        code.inst_if(guard, mov, &[reg.into(), plain.into()]);
    }
}
