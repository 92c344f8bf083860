//! `cvt` and its relatives, and addresses between state spaces.

use ptx::ir::Operand;
use ptx::ops::{Mod, Op};
use ptx::types::{Space, Type};
use ptx::view::View;

use super::arithmetic::{is_float, rounding_of, style_of};
use super::function::Lowering;
use super::operands::sign_of;
use crate::emit::{Emit, FloatFormat, FloatStyle, IntegerRounding, Rounding, Sign, SmallFormat};
use crate::llvm::{TyKind, Value};

impl<'a, 'c> Lowering<'_, 'a, 'c> {
    pub(crate) fn convert(&mut self, view: &View<'a>, emit: Emit<'a, 'c>) -> bool {
        let form = view.form;
        let operands = view.operands();
        let [to, from] = form.types() else { return false };
        let style = style_of(form);
        let result = match (is_float(*to), is_float(*from)) {
            (false, false) => {
                let value = self.read(&operands[1], from.bits(), emit);
                if form.has(Mod::Sat) {
                    emit.int_to_int_saturated(sign_of(*from), value, sign_of(*to), to.bits())
                } else {
                    emit.resize(sign_of(*from), value, to.bits())
                }
            }
            (true, false) => {
                let Some(format) = format_of(*to) else { return self.convert_small(view, emit) };
                let value = self.read(&operands[1], from.bits(), emit);
                let result = emit.int_to_float(sign_of(*from), value, format, style.rounding);
                self.finished(format, style, result, emit)
            }
            (false, true) => {
                let Some(format) = format_of(*from) else { return self.convert_small(view, emit) };
                if !matches!(to.bits(), 8 | 16 | 32 | 64) || to.kind() == ptx::types::TypeKind::Packed {
                    return self.convert_small(view, emit);
                }
                let value = self.read(&operands[1], format.bits(), emit);
                let value = emit.decode_float(format, value);
                let value = if *from == Type::F32 { emit.flushed(style, value) } else { value };
                let rounding = form.words().find_map(integer_rounding).unwrap_or(IntegerRounding::TowardZero);
                emit.float_to_int(value, rounding, sign_of(*to), to.bits())
            }
            (true, true) => match self.convert_floats(view, *to, *from, emit) {
                Some(result) => result,
                None => return self.convert_small(view, emit),
            },
        };
        self.write(&operands[0], result, sign_of(*to));
        true
    }

    fn convert_floats(&mut self, view: &View<'a>, to: Type, from: Type, emit: Emit<'a, 'c>) -> Option<Value<'c>> {
        let form = view.form;
        let operands = view.operands();
        let style = style_of(form);
        // Two numbers into the halves of one register.
        if let (Type::F16x2 | Type::Bf16x2, Type::F32) = (to, from) {
            if operands.len() != 3 {
                return None;
            }
            let format = if to == Type::F16x2 { FloatFormat::F16 } else { FloatFormat::Bf16 };
            let mut half = |index: usize| {
                let value = self.read_as(&operands[index], Type::F32, emit);
                self.narrowed(format, style, form.has(Mod::Satfinite), value, emit)
            };
            let (high, low) = (half(1), half(2));
            return Some(emit.pair(low, high));
        }
        let (to_format, from_format) = (format_of(to)?, format_of(from)?);
        let value = self.read(&operands[1], from_format.bits(), emit);
        let value = emit.decode_float(from_format, value);
        let value = if from == Type::F32 { emit.flushed(style, value) } else { value };
        if to == Type::Tf32 {
            let rounding = if form.has(Mod::Rna) { None } else { rounding_of(form) };
            let rounded = emit.round_to_tf32(value, rounding);
            let rounded = if form.has(Mod::Satfinite) {
                emit.bitcast(emit.hold_finite(FloatFormat::Tf32, emit.to_bits(rounded)), emit.f32())
            } else {
                rounded
            };
            return Some(emit.finish(style, rounded));
        }
        if let Some(rounding) = form.words().find_map(integer_rounding) {
            let integral = emit.round_to_integer(value, rounding);
            let result = self.encode(to_format, integral, Rounding::Nearest, emit);
            return Some(self.finished(to_format, style, result, emit));
        }
        if to_format.is_half() {
            let narrow = match value.ty().kind() {
                TyKind::Double => emit.round_double_to_odd(value),
                _ => value,
            };
            return Some(self.narrowed(to_format, style, form.has(Mod::Satfinite), narrow, emit));
        }
        let result = self.encode(to_format, value, style.rounding, emit);
        Some(self.finished(to_format, style, result, emit))
    }

    /// A `float` or `double` in a format.
    fn encode(&self, format: FloatFormat, value: Value<'c>, rounding: Rounding, emit: Emit<'a, 'c>) -> Value<'c> {
        let from = if value.ty().kind() == TyKind::Double { FloatFormat::F64 } else { FloatFormat::F32 };
        emit.convert_float(from, format, value, rounding)
    }

    /// A `float` as 16 bits, with all that the modifiers ask for.
    fn narrowed(
        &self,
        format: FloatFormat,
        style: FloatStyle,
        satfinite: bool,
        value: Value<'c>,
        emit: Emit<'a, 'c>,
    ) -> Value<'c> {
        let bits = emit.narrow_to_half(format, value, style.rounding);
        let bits = if satfinite { emit.hold_finite(format, bits) } else { bits };
        emit.finish_half(format, FloatStyle { flush: false, ..style }, bits)
    }

    /// The end of a conversion to a format.
    fn finished(&self, format: FloatFormat, style: FloatStyle, value: Value<'c>, emit: Emit<'a, 'c>) -> Value<'c> {
        match format {
            FloatFormat::F16 | FloatFormat::Bf16 => emit.finish_half(format, style, value),
            FloatFormat::F64 => emit.finish(FloatStyle { flush: false, ..style }, value),
            _ => emit.finish(style, value),
        }
    }

    /// Formats of 8 bits and fewer.
    fn convert_small(&mut self, view: &View<'a>, emit: Emit<'a, 'c>) -> bool {
        let form = view.form;
        let operands = view.operands();
        let [to, from] = form.types() else { return false };
        // Random rounding, and scales: for later processors.
        let is_simple =
            !form.words().any(|word| matches!(word, Mod::Rs | Mod::Pzo | Mod::ScaledN1Ue8m0 | Mod::ScaledN2Ue8m0));
        if !is_simple {
            return false;
        }
        let style = style_of(form);
        if let (Some(source), Type::F16x2 | Type::Bf16x2) = (small_format_of(*from), *to) {
            let format = if *to == Type::F16x2 { FloatFormat::F16 } else { FloatFormat::Bf16 };
            let bits = self.read(&operands[1], 32, emit);
            let [low, high] = [0, 1].map(|nth| {
                let moved = emit.lshr(bits, bits.ty().constant(u64::from(nth * source.stride())));
                let value = emit.widen_small(source, moved);
                self.narrowed(format, style, form.has(Mod::Satfinite), value, emit)
            });
            self.write(&operands[0], emit.pair(low, high), Sign::Unsigned);
            return true;
        }
        let Some(format) = small_format_of(*to) else { return false };
        let [low, high] = match *from {
            Type::F32 if operands.len() == 3 => {
                let high = self.read_as(&operands[1], Type::F32, emit);
                [self.read_as(&operands[2], Type::F32, emit), high]
            }
            Type::F16x2 | Type::Bf16x2 => {
                let format = if *from == Type::F16x2 { FloatFormat::F16 } else { FloatFormat::Bf16 };
                let pair = self.read(&operands[1], 32, emit);
                emit.widen_halves(format, pair)
            }
            _ => return false,
        };
        let [low, high] = [low, high].map(|value| emit.narrow_to_small(format, value, style.rounding, style.relu));
        let pair = emit.or(low, emit.shl(high, high.ty().constant(format.stride().into())));
        self.write(&operands[0], emit.resize(Sign::Unsigned, pair, to.bits()), Sign::Unsigned);
        true
    }

    /// `cvt.pack`: two integers, narrowed and put beside each other, above what is left of a third.
    pub(crate) fn convert_and_pack(&mut self, view: &View<'a>, emit: Emit<'a, 'c>) -> bool {
        let operands = view.operands();
        let to = view.form.types()[0];
        let bits = to.bits();
        let mut narrow = |index: usize| {
            let value = self.read(&operands[index], 32, emit);
            let held = emit.int_to_int_saturated(Sign::Signed, value, sign_of(to), bits);
            emit.resize(Sign::Unsigned, held, 32)
        };
        let (high, low) = (narrow(1), narrow(2));
        let pair = emit.or(emit.shl(high, high.ty().constant(bits.into())), low);
        let result = match operands.get(3) {
            Some(rest) => {
                let rest = self.read(rest, 32, emit);
                emit.or(emit.shl(rest, rest.ty().constant(u64::from(2 * bits))), pair)
            }
            None => pair,
        };
        self.write(&operands[0], result, Sign::Unsigned);
        true
    }

    /// `cvta` and `isspacep`.
    pub(crate) fn address_space(&mut self, op: Op, view: &View<'a>, emit: Emit<'a, 'c>) -> bool {
        let form = view.form;
        let operands = view.operands();
        let Some(space) = form.spaces().next() else { return false };
        if op == Op::Isspacep {
            let address = self.read(&operands[1], 64, self.vector());
            let result = self.is_in_space(space, address);
            self.write(&operands[0], result, Sign::Unsigned);
            return true;
        }
        let bits = form.types()[0].bits();
        if bits != 64 {
            return false;
        }
        // The base of local memory differs from lane to lane.
        let emit = if space == Space::Local { self.vector() } else { emit };
        let address = match operands[1] {
            Operand::Reg(_) | Operand::Symbol(..) => self.read(&operands[1], 64, emit),
            _ => return false,
        };
        let base = self.space_base(space, emit);
        let result = match base {
            None => address,
            Some(base) if form.has(Mod::To) => emit.sub(address, base),
            Some(base) => emit.add(address, base),
        };
        self.write(&operands[0], result, Sign::Unsigned);
        true
    }
}

/// The format of a type of one number.
pub(crate) fn format_of(ty: Type) -> Option<FloatFormat> {
    Some(match ty {
        Type::F16 => FloatFormat::F16,
        Type::Bf16 => FloatFormat::Bf16,
        Type::Tf32 => FloatFormat::Tf32,
        Type::F32 => FloatFormat::F32,
        Type::F64 => FloatFormat::F64,
        _ => return None,
    })
}

/// The format of the numbers of a packed type.
fn small_format_of(ty: Type) -> Option<SmallFormat> {
    Some(match ty {
        Type::E4m3x2 => SmallFormat::E4m3,
        Type::E5m2x2 => SmallFormat::E5m2,
        Type::E3m2x2 => SmallFormat::E3m2,
        Type::E2m3x2 => SmallFormat::E2m3,
        Type::E2m1x2 => SmallFormat::E2m1,
        _ => return None,
    })
}

fn integer_rounding(word: Mod) -> Option<IntegerRounding> {
    Some(match word {
        Mod::Rni => IntegerRounding::NearestEven,
        Mod::Rzi => IntegerRounding::TowardZero,
        Mod::Rmi => IntegerRounding::Down,
        Mod::Rpi => IntegerRounding::Up,
        _ => return None,
    })
}
