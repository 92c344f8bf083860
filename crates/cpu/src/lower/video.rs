//! Video instructions: on parts of registers, and on all parts of a register at once.

use ptx::form::Form;
use ptx::ir::Operand;
use ptx::ops::{Mod, Op};
use ptx::types::Type;
use ptx::view::View;

use super::arithmetic::comparison;
use super::function::Lowering;
use super::operands::part_of;
use crate::emit::{Emit, Sign, VideoOp};
use crate::llvm::Value;

impl<'a, 'c> Lowering<'_, 'a, 'c> {
    /// False if it is no video instruction.
    pub(crate) fn video(&mut self, op: Op, view: &View<'a>, emit: Emit<'a, 'c>) -> bool {
        if op == Op::Vmad {
            self.video_mad(view, emit);
            return true;
        }
        let Some((op, lanes)) = operation(op, view.form) else { return false };
        if lanes == 1 {
            self.video_scalar(op, view, emit);
            true
        } else {
            self.video_lanes(op, lanes, view, emit)
        }
    }

    /// An operand, or the part of a register that it selects, in so many bits.
    fn video_source(&mut self, operand: &Operand, sign: Sign, bits: u32, emit: Emit<'a, 'c>) -> Value<'c> {
        let value = match *operand {
            Operand::Part(reg, name) => {
                let (place, width) = part_of(self.unit.module.text(name));
                let value = self.read_reg(reg, emit);
                emit.part(sign, value, place, width)
            }
            // Whether it is negated is asked separately, because a negated number does not fit.
            Operand::Neg(reg) => self.read_reg(reg, emit),
            _ => self.read(operand, 32, emit),
        };
        emit.resize(sign, value, bits)
    }

    fn video_scalar(&mut self, op: VideoOp, view: &View<'a>, emit: Emit<'a, 'c>) {
        let form = view.form;
        let operands = view.operands();
        let [result, a_sign, b_sign] = signs(op, form);
        let saturates = form.has(Mod::Sat);
        // A left shift by 32 needs more than 64 bits to show that it overflows.
        let bits = if matches!(op, VideoOp::ShiftLeft { .. }) && saturates { 128 } else { 64 };
        let a = self.video_source(&operands[1], a_sign, bits, emit);
        let b = self.video_source(&operands[2], b_sign, bits, emit);
        let part = match operands[0] {
            Operand::Part(_, name) => Some(part_of(self.unit.module.text(name))),
            _ => None,
        };
        let value = emit.video(op, a, b);
        let value =
            if saturates { emit.hold_within(value, result, part.map_or(32, |(_, width)| width)) } else { value };
        let value = emit.resize(Sign::Unsigned, value, 32);
        let c = operands.get(3).map(|operand| self.read(operand, 32, emit));
        let value = match (part, c) {
            (Some((place, width)), Some(c)) => emit.merge_bits(value, c, place, width),
            (None, Some(c)) if form.has(Mod::Add) => emit.add(value, c),
            (None, Some(c)) if form.has(Mod::Min) => emit.int_min(result, value, c),
            (None, Some(c)) if form.has(Mod::Max) => emit.int_max(result, value, c),
            _ => value,
        };
        self.write_whole(&operands[0], value);
    }

    fn video_mad(&mut self, view: &View<'a>, emit: Emit<'a, 'c>) {
        let form = view.form;
        let operands = view.operands();
        let sign = |nth: usize| sign_at(form, nth);
        let is_negated = |nth: usize| matches!(operands[nth], Operand::Neg(_));
        let negates_product = is_negated(1) != is_negated(2);
        // What is signed is the sum, whatever the type of the result says.
        let is_signed = sign(1) == Sign::Signed || sign(2) == Sign::Signed || negates_product || is_negated(3);
        let result = if is_signed { Sign::Signed } else { Sign::Unsigned };
        let a = self.video_source(&operands[1], sign(1), 128, emit);
        let b = self.video_source(&operands[2], sign(2), 128, emit);
        let c = self.video_source(&operands[3], result, 128, emit);
        let product = emit.mul(a, b);
        let product = if negates_product { emit.neg(product) } else { product };
        let sum = if is_negated(3) { emit.sub(product, c) } else { emit.add(product, c) };
        let sum = if form.has(Mod::Po) { emit.add(sum, sum.ty().constant(1)) } else { sum };
        let shift = match () {
            () if form.has(Mod::Shr7) => 7,
            () if form.has(Mod::Shr15) => 15,
            () => 0,
        };
        let value = emit.ashr(sum, sum.ty().constant(shift));
        let value = if form.has(Mod::Sat) { emit.hold_within(value, result, 32) } else { value };
        self.write_whole(&operands[0], emit.resize(Sign::Unsigned, value, 32));
    }

    /// Two halfwords or four bytes at once.
    fn video_lanes(&mut self, op: VideoOp, lanes: u32, view: &View<'a>, emit: Emit<'a, 'c>) -> bool {
        let form = view.form;
        let operands = view.operands();
        let bits = 32 / lanes;
        let [result, a_sign, b_sign] = signs(op, form);
        let choice = |this: &Self, nth: usize| this.video_choice(&operands[nth], lanes);
        let (Some(a_choice), Some(b_choice), Some(written)) = (choice(self, 1), choice(self, 2), choice(self, 0))
        else {
            return false;
        };
        let word = |this: &mut Self, nth: usize| match operands[nth] {
            Operand::Part(reg, _) => this.read_reg(reg, emit),
            ref operand => this.read(operand, 32, emit),
        };
        let (a, b, c) = (word(self, 1), word(self, 2), word(self, 3));
        // The lane of `b:a` that a digit names.
        let lane = |sign: Sign, number: u32| {
            let register = if number < lanes { a } else { b };
            emit.part(sign, register, number % lanes * bits, bits)
        };
        let (mut sum, mut merged) = (c, c);
        for index in 0..lanes {
            // Without digits for the destination, all lanes are computed.
            if written.as_ref().is_some_and(|written| !written.contains(&index)) {
                continue;
            }
            let chosen = |choice: &Option<Vec<u32>>, first: u32| {
                choice.as_ref().and_then(|digits| digits.get(index as usize).copied()).unwrap_or(first + index)
            };
            let left = lane(a_sign, chosen(&a_choice, 0));
            let right = lane(b_sign, chosen(&b_choice, lanes));
            let value = emit.video(op, left, right);
            let value = if form.has(Mod::Sat) { emit.hold_within(value, result, bits) } else { value };
            // An accumulated lane counts in full; a stored one is cut to its width.
            sum = emit.add(sum, value);
            merged = emit.merge_bits(value, merged, index * bits, bits);
        }
        self.write_whole(&operands[0], if form.has(Mod::Add) { sum } else { merged });
        true
    }

    /// The digits of a selector such as `.b3210`, the lowest lane first; nothing within if there is none. Nothing at all
    /// if it makes no sense.
    fn video_choice(&self, operand: &Operand, lanes: u32) -> Option<Option<Vec<u32>>> {
        let Operand::Part(_, name) = *operand else { return Some(None) };
        let digits: Vec<u32> =
            self.unit.module.text(name).bytes().skip(1).rev().map(|byte| u32::from(byte.wrapping_sub(b'0'))).collect();
        let is_right =
            !digits.is_empty() && digits.len() <= lanes as usize && digits.iter().all(|&digit| digit < 2 * lanes);
        is_right.then_some(Some(digits))
    }

    /// Writes a register as a whole, although the operand may name a part of it: the rest came from the third source.
    fn write_whole(&mut self, operand: &Operand, value: Value<'c>) {
        match *operand {
            Operand::Part(reg, _) => self.write_reg(reg, value, Sign::Unsigned),
            _ => self.write(operand, value, Sign::Unsigned),
        }
    }
}

fn sign_at(form: &Form, nth: usize) -> Sign {
    if form.types().get(nth) == Some(&Type::S32) { Sign::Signed } else { Sign::Unsigned }
}

/// How result, first and second operand are read; a comparison has no type of its own.
fn signs(op: VideoOp, form: &Form) -> [Sign; 3] {
    match op {
        VideoOp::Set(_) => [Sign::Unsigned, sign_at(form, 0), sign_at(form, 1)],
        _ => [sign_at(form, 0), sign_at(form, 1), sign_at(form, 2)],
    }
}

/// The first operation, and on how many parts of a register.
fn operation(op: Op, form: &Form) -> Option<(VideoOp, u32)> {
    let wraps = form.has(Mod::Wrap);
    let set = || {
        let (how, sign) = form.words().find_map(|word| comparison(word, Sign::Signed))?;
        how.of_ints(sign).map(VideoOp::Set)
    };
    Some(match op {
        Op::Vadd => (VideoOp::Add, 1),
        Op::Vsub => (VideoOp::Sub, 1),
        Op::Vabsdiff => (VideoOp::AbsoluteDifference, 1),
        Op::Vmin => (VideoOp::Min, 1),
        Op::Vmax => (VideoOp::Max, 1),
        Op::Vshl => (VideoOp::ShiftLeft { wraps }, 1),
        Op::Vshr => (VideoOp::ShiftRight { wraps }, 1),
        Op::Vset => (set()?, 1),
        Op::Vadd2 => (VideoOp::Add, 2),
        Op::Vsub2 => (VideoOp::Sub, 2),
        Op::Vavrg2 => (VideoOp::Average, 2),
        Op::Vabsdiff2 => (VideoOp::AbsoluteDifference, 2),
        Op::Vmin2 => (VideoOp::Min, 2),
        Op::Vmax2 => (VideoOp::Max, 2),
        Op::Vset2 => (set()?, 2),
        Op::Vadd4 => (VideoOp::Add, 4),
        Op::Vsub4 => (VideoOp::Sub, 4),
        Op::Vavrg4 => (VideoOp::Average, 4),
        Op::Vabsdiff4 => (VideoOp::AbsoluteDifference, 4),
        Op::Vmin4 => (VideoOp::Min, 4),
        Op::Vmax4 => (VideoOp::Max, 4),
        Op::Vset4 => (set()?, 4),
        _ => return None,
    })
}
