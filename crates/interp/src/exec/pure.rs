//! Operations from values to one value.

use super::mbarrier_object::MbarrierObject;
use crate::arith::float::{self, Mode};
use crate::arith::format::{F32, Format, Number, Round};
use crate::arith::int::{self, Int, mask};
use crate::arith::{approx, bits, video};
use crate::code::{Combine, Compare, FloatOp, IntLimit, IntOp, Logic, Pure, Setp, TestKind, Video};
use crate::memory::{Window, window};

/// The result of an operation; the caller cuts it to the width of the destination.
pub(crate) fn eval(op: Pure, args: &[u128]) -> u128 {
    let arg = |index: usize| args.get(index).copied().unwrap_or(0);
    let (a, b, c) = (arg(0), arg(1), arg(2));
    let word = |value: u128| value as u32;
    match op {
        Pure::Copy(ty) => ty.value(a) as u128,
        Pure::Int { op, ty, lanes, limit } => int_lanes(op, ty, lanes, limit, a, b, c),
        Pure::Popc(width) => (a & mask(width)).count_ones().into(),
        Pure::Clz(width) => ((a & mask(width)).leading_zeros() - (128 - width)).into(),
        Pure::Bfind(ty, shift_amount) => bits::bfind(ty, shift_amount, a).into(),
        Pure::Fns => bits::fns(word(a), word(b), word(c) as i32).into(),
        Pure::Brev(width) => (a & mask(width)).reverse_bits() >> (128 - width),
        Pure::Bfe(ty) => bits::bfe(ty, a, word(b), word(c)),
        Pure::Bfi(width) => bits::bfi(width, a, b, word(c), word(arg(3))),
        Pure::Szext { signed, wrap } => bits::szext(signed, wrap, word(a), word(b)).into(),
        Pure::Bmsk { wrap } => bits::bmsk(wrap, word(a), word(b)).into(),
        Pure::Dp4a { a_signed, b_signed } => {
            int::dp4a(a_signed, b_signed, a, b, Int { bits: 32, signed: true }.value(c)) as u128
        }
        Pure::Dp2a { a_signed, b_signed, high } => {
            int::dp2a(a_signed, b_signed, high, a, b, Int { bits: 32, signed: true }.value(c)) as u128
        }
        Pure::Clmad { high } => {
            let product = int::carryless_product(a as u64, b as u64);
            (if high { product >> 64 } else { product }) ^ c
        }
        Pure::Logic(op) => logic(op, a, b),
        Pure::Cnot(width) => u128::from(a & mask(width) == 0),
        Pure::Lop3(table) => bits::lop3(table, word(a), word(b), word(c)).into(),
        Pure::Shf { left, wrap } => bits::funnel_shift(left, wrap, word(a), word(b), word(c)).into(),
        Pure::Shl(width) => bits::shl(width, a, word(b)),
        Pure::Shr(ty) => bits::shr(ty, a, word(b)),
        Pure::Prmt(mode) => bits::prmt(mode, word(a), word(b), word(c)).into(),
        Pure::Selp => {
            if c & 1 == 1 {
                a
            } else {
                b
            }
        }
        Pure::SlctInt => {
            if word(c) as i32 >= 0 {
                a
            } else {
                b
            }
        }
        Pure::SlctFloat { flush } => {
            let mode = Mode { flush, ..Mode::NEAREST };
            let order = float::compare(mode.input(F32, word(c).into()), Number::Zero(false));
            if order.is_some_and(std::cmp::Ordering::is_ge) { a } else { b }
        }
        Pure::Float { op, format, lanes, mode } => {
            float_lanes(format, lanes, a, b, c, |a, b, c| float_op(op, format, mode, a, b, c))
        }
        Pure::Mixed { op, narrow, mode } => {
            let widen = |bits: u128| F32.pack(narrow.unpack(bits as u64 & mask(narrow.bits()) as u64), Round::Zero);
            let (b, c) = if op == FloatOp::Fma { (widen(b), c as u64) } else { (b as u64, 0) };
            float_op(op, F32, mode, widen(a), b & 0xffff_ffff, c & 0xffff_ffff).into()
        }
        Pure::Copysign(format) => {
            let sign = u128::from(format.sign());
            b & !sign | a & sign
        }
        Pure::Testp(kind, format) => testp(kind, format, a as u64).into(),
        Pure::Approx { function, format, lanes, flush } => {
            float_lanes(format, lanes, a, 0, 0, |a, _, _| approx::apply(function, format, flush, a))
        }
        Pure::ApproxUpperHalf(function) => approx::apply_upper_half(function, a as u64).into(),
        Pure::DivApprox { flush } => approx::div_approx(flush, word(a).into(), word(b).into()).into(),
        Pure::Set { compare, combine, truth, lane_bits } => {
            let (low, high) = compare_lanes(compare, a, b);
            let value = |holds: bool| if apply_combine(combine, holds, c) { u128::from(truth) } else { 0 };
            value(low) | high.map_or(0, |high| value(high) << lane_bits)
        }
        Pure::Convert(conversion) => {
            let result = conversion.apply(a);
            match conversion.to {
                crate::arith::convert::Kind::Int(ty) => ty.value(result) as u128,
                _ => result,
            }
        }
        Pure::ConvertPair { conversion, bits } => conversion.apply(a) << bits | conversion.apply(b),
        Pure::ConvertLanes { conversion, from_bits, to_bits, lanes } => {
            (0..u32::from(lanes)).fold(0, |result, lane| {
                let source = a >> (lane * u32::from(from_bits)) & mask(from_bits.into());
                result | conversion.apply(source) << (lane * u32::from(to_bits))
            })
        }
        Pure::ConvertPack { to } => {
            let clamp = |value: u128| to.clamp(Int { bits: 32, signed: true }.value(value)) as u128 & mask(to.bits);
            // The first is above the second, and both below what was there.
            let both = clamp(a) << to.bits | clamp(b);
            both | if args.len() == 3 { c << (2 * to.bits) & mask(32) } else { 0 }
        }
        Pure::Cvta { window, to, bits } => {
            let base = u128::from(window.base());
            let result = if to { a.wrapping_sub(base) } else { a.wrapping_add(base) };
            result & mask(bits)
        }
        Pure::Isspacep(window) => {
            // Global memory is whatever is in no other window.
            u128::from(Window::of(a as u64).unwrap_or(Window::Global) == window)
        }
        Pure::Video(video) => video_op(video, a, b, c),
        Pure::VideoMad { result_signed, a: a_type, b: b_type, po, negate_product, negate_c, saturate, shift } => {
            let product = a_type.value(a) * b_type.value(b);
            let product = if negate_product { -product } else { product };
            let ty = Int { bits: 32, signed: result_signed };
            let addend = ty.value(c);
            let sum = product + if negate_c { -addend } else { addend } + i128::from(po);
            let shifted = sum >> shift;
            (if saturate { ty.clamp(shifted) } else { shifted }) as u128
        }
        Pure::VideoSimd { simd, selectors } => simd.apply(a, b, c, selectors),
        Pure::MbarrierPendingCount => MbarrierObject::from_bits(a as u64).pending.into(),
    }
}

pub(crate) fn logic(op: Logic, a: u128, b: u128) -> u128 {
    match op {
        Logic::And => a & b,
        Logic::Or => a | b,
        Logic::Xor => a ^ b,
        Logic::Not => !a,
    }
}

fn int_lanes(op: IntOp, ty: Int, lanes: u8, limit: IntLimit, a: u128, b: u128, c: u128) -> u128 {
    if lanes == 1 {
        return int_op(op, ty, limit, a, b, c);
    }
    (0..u32::from(lanes)).fold(0, |result, lane| {
        let shift = lane * ty.bits;
        let value = int_op(op, ty, limit, a >> shift, b >> shift, c >> shift);
        result | (value & mask(ty.bits)) << shift
    })
}

/// One integer operation. The addend of a wide product is twice as wide as its factors.
pub(crate) fn int_op(op: IntOp, ty: Int, limit: IntLimit, a: u128, b: u128, c: u128) -> u128 {
    let (x, y, z) = (ty.value(a), ty.value(b), ty.value(c));
    let result = match op {
        IntOp::Add => x + y,
        IntOp::Sub => x - y,
        IntOp::MulLo | IntOp::MulWide => x.wrapping_mul(y),
        IntOp::MulHi => int::mul_hi(ty, x, y),
        IntOp::MadLo => x.wrapping_mul(y).wrapping_add(z),
        // Only the upper half is saturated: `mad.hi.sat.s32`.
        IntOp::MadHi => Int { signed: ty.signed, ..ty }.value(int::mul_hi(ty, x, y) as u128) + z,
        IntOp::MadWide => x.wrapping_mul(y).wrapping_add(Int { bits: 2 * ty.bits, ..ty }.value(c)),
        IntOp::Mul24Lo => int::product24(ty.signed, x, y),
        IntOp::Mul24Hi => int::product24(ty.signed, x, y) >> 16,
        IntOp::Mad24Lo => int::product24(ty.signed, x, y) + z,
        IntOp::Mad24Hi => ty.value((int::product24(ty.signed, x, y) >> 16) as u128) + z,
        IntOp::Sad => int::sad(x, y, z),
        IntOp::Div => int::div(ty, x, y),
        IntOp::Rem => int::rem(x, y),
        IntOp::Abs => x.abs(),
        IntOp::Neg => -x,
        IntOp::Min => x.min(y),
        IntOp::Max => x.max(y),
        IntOp::Compare(order) => {
            if order.holds(x, y) {
                mask(ty.bits) as i128
            } else {
                0
            }
        }
    };
    (match limit {
        IntLimit::Wrap => result,
        IntLimit::Saturate => ty.clamp(result),
        IntLimit::Relu => result.max(0),
    }) as u128
}

fn float_lanes(format: Format, lanes: u8, a: u128, b: u128, c: u128, op: impl Fn(u64, u64, u64) -> u64) -> u128 {
    let width = format.bits();
    let lane = |value: u128, index: u32| (value >> (index * width) & mask(width)) as u64;
    (0..u32::from(lanes)).fold(0, |result, index| {
        result | u128::from(op(lane(a, index), lane(b, index), lane(c, index))) << (index * width)
    })
}

pub(crate) fn float_op(op: FloatOp, format: Format, mode: Mode, a: u64, b: u64, c: u64) -> u64 {
    let flushed = || if mode.flush { format.flush(a) } else { a };
    match op {
        FloatOp::Add => float::add(format, mode, a, b),
        FloatOp::Sub => float::sub(format, mode, a, b),
        FloatOp::Mul => float::mul(format, mode, a, b),
        FloatOp::Fma => float::fma(format, mode, a, b, c),
        FloatOp::Div => float::div(format, mode, a, b),
        FloatOp::Sqrt => float::sqrt(format, mode, a),
        FloatOp::Rcp => float::rcp(format, mode, a),
        FloatOp::Abs => flushed() & !format.sign(),
        FloatOp::Neg => flushed() ^ format.sign(),
        FloatOp::MinMax(how) => float::min_max(format, how, a, b),
        FloatOp::MinMax3(how) => float::min_max(format, how, float::min_max(format, how, a, b), c),
    }
}

/// Every lane of a packed float operation, for atomics.
pub(crate) fn float_packed(op: FloatOp, format: Format, lanes: u8, mode: Mode, a: u128, b: u128) -> u128 {
    float_lanes(format, lanes, a, b, 0, |a, b, c| float_op(op, format, mode, a, b, c))
}

fn testp(kind: TestKind, format: Format, bits: u64) -> bool {
    let number = format.unpack(bits);
    let is_finite = matches!(number, Number::Finite { .. } | Number::Zero(_));
    match kind {
        TestKind::Finite => is_finite,
        TestKind::Infinite => matches!(number, Number::Infinite(_)),
        TestKind::Number => number != Number::Nan,
        TestKind::NotANumber => number == Number::Nan,
        TestKind::Normal => matches!(number, Number::Finite { .. }) && !format.is_subnormal(bits),
        TestKind::Subnormal => format.is_subnormal(bits),
    }
}

/// Whether a comparison holds, in the only or lower lane and in the upper one.
fn compare_lanes(compare: Compare, a: u128, b: u128) -> (bool, Option<bool>) {
    match compare {
        Compare::Int(ty, order) => (order.holds(ty.value(a), ty.value(b)), None),
        Compare::Float { format, lanes, flush, compare } => {
            let width = format.bits();
            let lane = |index: u32| {
                let part = |value: u128| (value >> (index * width) & mask(width)) as u64;
                compare.holds(format, flush, part(a), part(b))
            };
            (lane(0), (lanes == 2).then(|| lane(1)))
        }
    }
}

fn apply_combine(combine: Option<Combine>, holds: bool, c: u128) -> bool {
    let c = c & 1 == 1;
    match combine {
        None => holds,
        Some(Combine::And) => holds && c,
        Some(Combine::Or) => holds || c,
        Some(Combine::Xor) => holds != c,
    }
}

/// Both predicates of `setp`: of a packed type those of its lanes, else the comparison and its complement.
pub(crate) fn setp(setp: Setp, args: &[u128]) -> (bool, bool) {
    let c = args.get(2).copied().unwrap_or(0);
    let (low, high) = compare_lanes(setp.compare, args[0], args[1]);
    (apply_combine(setp.combine, low, c), apply_combine(setp.combine, high.unwrap_or(!low), c))
}

/// A scalar video instruction, whose first two args are parts of registers.
fn video_op(op: Video, a: u128, b: u128, c: u128) -> u128 {
    let result = Int { bits: 32, signed: op.result_signed };
    let value = op.op.apply(op.a.value(a), op.b.value(b));
    // Saturation is to the part that is written, if there is one.
    let target = op.merge.map_or(result, |(_, bits)| Int { bits: bits.into(), signed: op.result_signed });
    let value = if op.saturate { target.clamp(value) } else { value };
    match op.merge {
        Some((shift, bits)) => video::merge(value as u128, c, shift.into(), bits.into()),
        None => video::second(op.second, result, value, c) as u128,
    }
}

/// The windows must not overlap for `isspacep` to mean anything.
const _: () = assert!(window::PARAM + window::SIZE == window::CODE);
