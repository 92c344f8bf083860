//! Matrices of a warp: which element is in which register of which lane.
//!
//! The fragments of `mma` are laid out as the manual says. Those of `wmma` are opaque, so here they are as simple as can
//! be: the elements of the matrix in row-major order, dealt out to lane 0 first, from the beginning again where the
//! registers of all lanes together hold more than the matrix.

use ptx::ops::{Mod, Modifier, Op};
use ptx::types::Type;

use super::operand::{InstDecoder, int};
use crate::arith::format::Round;
use crate::arith::matrix::{Dot, Element};
use crate::code::{Code, Collective, CollectiveOp, Fragment, Inst, Layout, Members, Mma};
use crate::fault::Refusal;

pub(super) fn decode(decoder: &InstDecoder<'_, '_>) -> Result<Option<Inst>, Refusal> {
    match decoder.op {
        Op::Mma => mma(decoder).map(Some),
        Op::WmmaMma => wmma(decoder).map(Some),
        Op::WmmaLoadA | Op::WmmaLoadB | Op::WmmaLoadC | Op::WmmaStoreD => fragment(decoder).map(Some),
        Op::Ldmatrix | Op::Stmatrix => {
            if !decoder.view.form.modifiers().contains(&Modifier::Shape { m: 8, n: 8, k: 0 }) {
                return Err(decoder.refuse("is not supported by the interpreter"));
            }
            let count = if decoder.has(Mod::X4) {
                4
            } else if decoder.has(Mod::X2) {
                2
            } else {
                1
            };
            let transpose = decoder.has(Mod::Trans);
            let is_load = decoder.op == Op::Ldmatrix;
            let op = if is_load {
                CollectiveOp::LdMatrix { count, transpose }
            } else {
                CollectiveOp::StMatrix { count, transpose }
            };
            let mut inst = collective(decoder, op)?;
            if !is_load {
                inst.args = decoder.values(decoder.required("b")?, Type::B32)?;
            }
            let registers = if is_load { inst.dests.len() } else { inst.args.len() };
            if registers != usize::from(count) {
                return Err(decoder.refuse("has another number of registers than matrices"));
            }
            inst.addresses.push(decoder.address("a", decoder.view.form.spaces().next())?);
            Ok(Some(inst))
        }
        Op::Movmatrix => {
            let mut inst = collective(decoder, CollectiveOp::MovMatrix)?;
            inst.args.push(decoder.arg("a", Type::B32)?);
            Ok(Some(inst))
        }
        _ => Ok(None),
    }
}

fn collective(decoder: &InstDecoder<'_, '_>, op: CollectiveOp) -> Result<Inst, Refusal> {
    decoder.with(Code::Collective(Collective { op, members: Members::All }), &[])
}

fn shape(decoder: &InstDecoder<'_, '_>) -> Result<[u32; 3], Refusal> {
    let shape = decoder.view.form.modifiers().iter().find_map(|modifier| match *modifier {
        Modifier::Shape { m, n, k } => Some([m, n, k].map(u32::from)),
        _ => None,
    });
    shape.ok_or_else(|| decoder.refuse("has no shape"))
}

fn element(decoder: &InstDecoder<'_, '_>, ty: Type) -> Result<Element, Refusal> {
    Ok(match ty {
        Type::F16 => Element::F16,
        Type::Bf16 => Element::Bf16,
        Type::Tf32 => Element::Tf32,
        Type::F32 => Element::F32,
        Type::F64 => Element::F64,
        Type::E4m3 => Element::E4m3,
        Type::E5m2 => Element::E5m2,
        Type::B1 => Element::B1,
        Type::U4 | Type::S4 | Type::U8 | Type::S8 | Type::S32 => Element::Int(int(ty)),
        _ => return Err(decoder.refuse("has elements that the interpreter does not multiply")),
    })
}

fn dot(decoder: &InstDecoder<'_, '_>, [d, a, b, c]: [Element; 4]) -> Dot {
    match (a, b) {
        (Element::Int(a), Element::Int(b)) => Dot::Int(a, b, decoder.has(Mod::Satfinite)),
        (Element::B1, _) => Dot::Bits { xor: decoder.has(Mod::Xor) },
        (Element::F64, _) => Dot::Double(decoder.round().unwrap_or(Round::NearestEven)),
        _ => Dot::Single(a, b, c, d),
    }
}

/// Operands of a multiplication, with their registers as args and dests.
fn multiplication(
    decoder: &InstDecoder<'_, '_>,
    mma: impl FnOnce([u32; 4]) -> Result<Mma, Refusal>,
) -> Result<Inst, Refusal> {
    let mut inst = decoder.with(Code::Nop, &[])?;
    let mut registers = [inst.dests.len() as u32, 0, 0, 0];
    for (name, count) in ["a", "b", "c"].into_iter().zip(&mut registers[1..]) {
        let args = decoder.values(decoder.required(name)?, Type::B32)?;
        *count = args.len() as u32;
        inst.args.extend(args);
    }
    let op = CollectiveOp::Mma(Box::new(mma(registers)?));
    inst.code = Code::Collective(Collective { op, members: Members::All });
    Ok(inst)
}

fn mma(decoder: &InstDecoder<'_, '_>) -> Result<Inst, Refusal> {
    let unsupported = [Mod::Sp, Mod::SpOrderedMetadata, Mod::BlockScale, Mod::KindF8f6f4];
    let shape @ [m, n, _] = shape(decoder)?;
    let types = decoder.view.form.types();
    let &[d, a, b, c] = types else {
        return Err(decoder.refuse("is not supported by the interpreter"));
    };
    if unsupported.into_iter().any(|word| decoder.has(word)) || n != 8 {
        return Err(decoder.refuse("is not supported by the interpreter"));
    }
    let elements = [element(decoder, d)?, element(decoder, a)?, element(decoder, b)?, element(decoder, c)?];
    let layouts: Vec<Mod> = decoder.view.form.words().filter(|word| matches!(word, Mod::Row | Mod::Col)).collect();
    let is_volta = m == 8 && a == Type::F16;
    if !is_volta && layouts != [Mod::Row, Mod::Col] {
        return Err(decoder.refuse("has another layout than `.row.col`"));
    }
    multiplication(decoder, |registers| {
        let mma = if is_volta {
            quad_pairs(shape, dot(decoder, elements), elements, layouts[0] == Mod::Row, layouts[1] == Mod::Row)
        } else {
            whole_warp(shape, dot(decoder, elements), elements)
        };
        let expected = [mma.d.registers, mma.a.registers, mma.b.registers, mma.c.registers];
        if registers != expected {
            return Err(decoder.refuse(&format!("has {registers:?} registers for d, a, b, c instead of {expected:?}")));
        }
        Ok(mma)
    })
}

/// One multiplication by all lanes.
fn whole_warp(shape @ [m, n, k]: [u32; 3], dot: Dot, [d, a, b, c]: [Element; 4]) -> Mma {
    Mma {
        shape,
        groups: vec![(0..32).collect()],
        dot,
        a: mma_layout(a, 32, m * k, |lane, register, index, per_register| {
            let row = lane / 4 + 8 * (if m == 16 { register % 2 } else { 0 });
            let step = if m == 16 { register / 2 } else { register };
            (row, lane % 4 * per_register + index + step * 4 * per_register)
        }),
        b: mma_layout(b, 32, k * n, |lane, register, index, per_register| {
            (lane % 4 * per_register + index + register * 4 * per_register, lane / 4)
        }),
        c: mma_layout(c, 32, m * n, accumulator),
        d: mma_layout(d, 32, m * n, accumulator),
    }
}

/// Four multiplications (`m8n8k4` of halves): lanes 0 to 3 with 16 to 19, 4 to 7 with 20 to 23, and so on.
fn quad_pairs(
    shape @ [m, n, k]: [u32; 3],
    dot: Dot,
    [d, a, b, c]: [Element; 4],
    a_is_row: bool,
    b_is_row: bool,
) -> Mma {
    // Lanes 4 to 7 of a group are those of the upper half of the warp.
    let spread = |element| {
        mma_layout(element, 8, m * n, move |lane, register, index, per_register| {
            let i = register * per_register + index;
            match element {
                Element::F16 => (lane, i),
                _ => ((lane & 1) + (i & 2) + lane / 4 * 4, (i & 4) + (lane & 2) + (i & 1)),
            }
        })
    };
    // Along rows of a and columns of b a lane holds one, across them four.
    let along = |lane, i| (lane, i);
    let across = |lane: u32, i: u32| (i + lane / 4 * 4, lane % 4);
    Mma {
        shape,
        groups: (0..4).map(|pair| (4 * pair..4 * pair + 4).chain(16 + 4 * pair..20 + 4 * pair).collect()).collect(),
        dot,
        a: mma_layout(a, 8, m * k, |lane, register, index, per_register| {
            let i = register * per_register + index;
            if a_is_row { along(lane, i) } else { across(lane, i) }
        }),
        b: mma_layout(b, 8, k * n, |lane, register, index, per_register| {
            let i = register * per_register + index;
            let (column, row) = if b_is_row { across(lane, i) } else { along(lane, i) };
            (row, column)
        }),
        c: spread(c),
        d: spread(d),
    }
}

/// Row and column of an element of an accumulator: two neighbours, then two that are eight rows below.
fn accumulator(lane: u32, register: u32, index: u32, per_register: u32) -> (u32, u32) {
    let element = register * per_register + index;
    (lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2)
}

/// A layout from a function of lane, register, element of the register, and elements per register.
fn mma_layout(element: Element, lanes: u32, elements: u32, place: impl Fn(u32, u32, u32, u32) -> (u32, u32)) -> Layout {
    let register_bits = element.bits().max(32);
    let per_register = register_bits / element.bits();
    let per_lane = (elements / lanes).max(1);
    let registers = per_lane.div_ceil(per_register);
    let mut places = Vec::with_capacity((lanes * per_lane) as usize);
    for lane in 0..lanes {
        for register in 0..registers {
            for index in 0..per_register.min(per_lane) {
                let (row, column) = place(lane, register, index, per_register);
                places.push((row as u16, column as u16));
            }
        }
    }
    Layout { element, registers, place: places, per_lane }
}

/// The layout of `wmma`: see the beginning of the file.
fn wmma_layout(
    decoder: &InstDecoder<'_, '_>,
    element: Element,
    rows: u32,
    columns: u32,
    registers: u32,
) -> Result<Layout, Refusal> {
    let per_lane = registers * element.bits().max(32) / element.bits();
    let elements = rows * columns;
    if per_lane * 32 < elements || !(per_lane * 32).is_multiple_of(elements) {
        return Err(decoder.refuse(&format!("has {registers} registers for a matrix of {rows}x{columns}")));
    }
    let place = (0..32 * per_lane).map(|index| index % elements);
    let place = place.map(|index| ((index / columns) as u16, (index % columns) as u16)).collect();
    Ok(Layout { element, registers, place, per_lane })
}

fn wmma(decoder: &InstDecoder<'_, '_>) -> Result<Inst, Refusal> {
    let shape @ [m, n, k] = shape(decoder)?;
    // With two types they are those of d and c, and the factors are halves.
    let types = match *decoder.view.form.types() {
        [d, c] => [d, Type::F16, Type::F16, c],
        [d, a, b, c] => [d, a, b, c],
        _ => return Err(decoder.refuse("lacks a type")),
    };
    let [d, a, b, c] = [
        element(decoder, types[0])?,
        element(decoder, types[1])?,
        element(decoder, types[2])?,
        element(decoder, types[3])?,
    ];
    multiplication(decoder, |[d_registers, a_registers, b_registers, c_registers]| {
        Ok(Mma {
            shape,
            groups: vec![(0..32).collect()],
            dot: dot(decoder, [d, a, b, c]),
            a: wmma_layout(decoder, a, m, k, a_registers)?,
            b: wmma_layout(decoder, b, k, n, b_registers)?,
            c: wmma_layout(decoder, c, m, n, c_registers)?,
            d: wmma_layout(decoder, d, m, n, d_registers)?,
        })
    })
}

fn fragment(decoder: &InstDecoder<'_, '_>) -> Result<Inst, Refusal> {
    let [m, n, k] = shape(decoder)?;
    let (rows, columns) = match decoder.op {
        Op::WmmaLoadA => (m, k),
        Op::WmmaLoadB => (k, n),
        _ => (m, n),
    };
    let element = element(decoder, decoder.last_type()?)?;
    let is_store = decoder.op == Op::WmmaStoreD;
    let stride = if is_store { "c" } else { "b" };
    let mut inst = decoder.with(Code::Nop, &[])?;
    if is_store {
        inst.args = decoder.values(decoder.required("b")?, Type::B32)?;
    }
    let registers = if is_store { inst.args.len() } else { inst.dests.len() };
    let fragment = Fragment {
        layout: wmma_layout(decoder, element, rows, columns, registers as u32)?,
        rows,
        columns,
        row_major: decoder.has(Mod::Row),
        has_stride: decoder.operand(stride).is_some(),
    };
    if fragment.has_stride {
        inst.args.push(decoder.arg(stride, Type::B32)?);
    }
    inst.addresses.push(decoder.address("a", decoder.view.form.spaces().next())?);
    let op =
        if is_store { CollectiveOp::WmmaStore(Box::new(fragment)) } else { CollectiveOp::WmmaLoad(Box::new(fragment)) };
    inst.code = Code::Collective(Collective { op, members: Members::All });
    Ok(inst)
}
