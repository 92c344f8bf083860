//! Which instructions give what a GPU need not give: the manual allows an approximation, leaves an order open, or speaks of
//! hardware that the CPU device does not have. All others are exact: NVIDIA's manual says which bits come out.

use ptx::ir::Operand;
use ptx::ops::{Effect, Mod, Op};
use ptx::special::Special;
use ptx::types::{Type, TypeKind};
use ptx::view::View;

/// Why the result of an instruction may be another one on a GPU; nothing if it is exact.
pub(super) fn reason(view: &View<'_>) -> Option<&'static str> {
    let op = view.op()?;
    let types = view.form.types();
    let has_floats = types.iter().any(|ty| ty.kind() == TypeKind::Float);
    let adds_floats = has_floats && view.form.has(Mod::Add);
    match op {
        _ if view.form.has(Mod::Approx) || view.form.has(Mod::Full) => Some(function(op, types.last().copied())),
        Op::WmmaMma | Op::Mma | Op::WgmmaMmaAsync | Op::WgmmaMmaAsyncSp if has_floats => {
            Some("a GPU adds products in another order, and may round sums otherwise")
        }
        Op::Tex | Op::Tld4 if types.last() == Some(&Type::F32) => {
            Some("if the texture is filtered, a GPU may round the weights otherwise")
        }
        Op::Atom | Op::Red if adds_floats => {
            Some("the order of additions is not defined, and sums of floats depend on it")
        }
        Op::Activemask => Some("which lanes run together is not defined"),
        _ => view.operands().iter().find_map(|operand| match *operand {
            Operand::Special(special) => of_special(special),
            _ => None,
        }),
    }
}

/// What the manual says of the accuracy of an approximate function. The CPU device is within these bounds, too, and mostly closer.
fn function(op: Op, ty: Option<Type>) -> &'static str {
    match (op, ty) {
        (Op::Rcp | Op::Rsqrt, Some(Type::F64)) => "a GPU may be off by a relative error of 2^-20",
        (Op::Div, _) => "a GPU may be off by 2 units in the last place",
        (Op::Rcp, _) => "a GPU may be off by 1 unit in the last place",
        (Op::Sqrt, _) => "a GPU may be off by a relative error of 2^-23",
        (Op::Rsqrt, _) => "a GPU may be off by a relative error of 2^-22.9",
        (Op::Sin | Op::Cos, _) => "a GPU may be off by 2^-20.5 within two pi of zero, and by more elsewhere",
        (Op::Lg2, _) => "a GPU may be off by 2^-22",
        (Op::Ex2, Some(Type::F32)) => "a GPU may be off by 2 units in the last place",
        (Op::Ex2, _) => "a GPU may be off by a relative error of 2^-9.9 in halves, and of 2^-7 in bf16",
        (Op::Tanh, Some(Type::F32)) => "a GPU may be off by a relative error of 2^-11",
        (Op::Tanh, _) => "a GPU may be off by 2^-10.987 in halves, and by 2^-8 in bf16",
        _ => "it is an approximation",
    }
}

fn of_special(special: Special) -> Option<&'static str> {
    use Special::*;
    match special {
        Clock | ClockHi | Clock64 | Globaltimer | GlobaltimerLo | GlobaltimerHi => {
            Some("it is the time of this machine, not that of a GPU")
        }
        Smid | Nsmid => Some("multiprocessors are threads of this machine"),
        Warpid | Nwarpid => Some("a GPU may number its warps in another way"),
        Pm0 | Pm1 | Pm2 | Pm3 | Pm4 | Pm5 | Pm6 | Pm7 | Pm0In64 | Pm1In64 | Pm2In64 | Pm3In64 | Pm4In64 | Pm5In64
        | Pm6In64 | Pm7In64 => Some("performance counters are always 0"),
        _ => None,
    }
}

/// Whether an instruction computes, so that it is counted as exact or not. Declarations and jumps have no result.
pub(super) fn computes(view: &View<'_>) -> bool {
    !matches!(view.effect(), Some(Effect::Branch | Effect::Return | Effect::Exit | Effect::Call | Effect::Hint))
}
