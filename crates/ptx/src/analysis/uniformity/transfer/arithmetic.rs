//! Integer instructions.

use smallvec::SmallVec;

use super::super::arithmetic::Checks;
use super::super::value::{LaneValue, Signedness, low_mask, mask};
use super::compare::less;
use super::{At, Input, Integer, Outcome};
use crate::ir::Operand;
use crate::ops::{Mod, Op};
use crate::types::Type;

impl At<'_, '_> {
    pub(super) fn mov(&self, ty: Type) -> Option<Outcome> {
        let bits = ty.bits();
        let unsigned = |bits| Integer { bits, signedness: Signedness::Unsigned };
        match *self.view.operands() {
            _ if !(1..=64).contains(&bits) => self.function_of_operands(),
            [Operand::Vector(to), Operand::Vector(_)] if !to.is_empty() => self.function_of_operands(),
            [Operand::Vector(to), ref from] if !to.is_empty() => {
                let input = self.operand(from, bits)?;
                let to = self.view.body.operands(to);
                let width = bits / to.len() as u32;
                let mut outcome = Outcome::rest(input.value.dependence());
                outcome.rest_needs_guard = input.value.needs_guard;
                for (index, operand) in to.iter().enumerate() {
                    let Operand::Reg(reg) = *operand else { continue };
                    let mut checks = Checks::of(input.reg);
                    let part = input.value.shr((index as u32 * width).into(), Signedness::Unsigned, &mut checks);
                    let reg_bits = self.transfer.reg_bits(reg);
                    let part = part.truncate(width).extend(reg_bits, Signedness::Unsigned, &mut Checks::of(None));
                    outcome.values.push((reg, part.truncate(reg_bits)));
                    outcome = outcome.demanding(&checks);
                }
                Some(outcome)
            }
            [_, Operand::Vector(from)] if !from.is_empty() => {
                let from = self.view.body.operands(from);
                let width = bits / from.len() as u32;
                let mut packed = LaneValue::number(bits, 0);
                let mut needed = SmallVec::<[Checks; 2]>::new();
                for (index, operand) in from.iter().enumerate() {
                    let Input { value, reg } = self.operand(operand, width)?;
                    let mut checks = Checks::of(reg);
                    let wide = value.extend(bits, Signedness::Unsigned, &mut checks);
                    packed = packed.add(wide.shl((index as u32 * width).into()));
                    needed.push(checks);
                }
                Some(needed.iter().fold(self.write(0, packed, unsigned(bits)), Outcome::demanding))
            }
            _ => {
                let value = self.input(1, bits)?.value;
                Some(self.write(0, value, unsigned(bits)))
            }
        }
    }

    /// Sums and products.
    pub(super) fn linear(&self, op: Op, ty: Integer) -> Option<Outcome> {
        let is_wide = self.has(Mod::Wide);
        if self.has(Mod::Hi) || self.view.form.types().len() > 1 {
            return self.function_of_operands();
        }
        let (a, b) = (self.input(1, ty.bits)?, self.input(2, ty.bits)?);
        if !is_wide {
            let result = match op {
                Op::Add => a.value.add(b.value),
                Op::Sub => a.value.sub(b.value),
                Op::Mul => a.value.mul(b.value),
                _ => a.value.mul(b.value).add(self.input(3, ty.bits)?.value),
            };
            return Some(self.write(0, result, ty));
        }
        let wide = Integer { bits: ty.bits * 2, ..ty };
        let widened = |input: Input| {
            let mut checks = Checks::of(input.reg);
            (input.value.extend(wide.bits, ty.signedness, &mut checks), checks)
        };
        let ((wide_a, checks_of_a), (wide_b, checks_of_b)) = (widened(a), widened(b));
        let mut result = wide_a.mul(wide_b);
        if op == Op::Mad {
            result = result.add(self.input(3, wide.bits)?.value);
        }
        Some(self.write(0, result, wide).demanding(&checks_of_a).demanding(&checks_of_b))
    }

    pub(super) fn shr(&self, ty: Integer) -> Option<Outcome> {
        let (a, amount) = (self.input(1, ty.bits)?, self.input(2, 32)?.value);
        let mut checks = Checks::of(a.reg);
        let shifted = match amount.constant() {
            Some(amount) => a.value.shr(amount, ty.signedness, &mut checks),
            None => LaneValue::function_of(ty.bits, &[a.value, amount]),
        };
        Some(self.write(0, shifted, ty).demanding(&checks))
    }

    pub(super) fn logic(&self, op: Op, ty: Integer) -> Option<Outcome> {
        let (a, b) = (self.input(1, ty.bits)?, self.input(2, ty.bits)?);
        let (a, b) = if a.value.constant().is_some() { (b, a) } else { (a, b) };
        let mut checks = Checks::of(a.reg);
        let result = match (op, b.value.constant()) {
            (Op::And, Some(constant)) => a.value.and(constant, &mut checks),
            (Op::Or | Op::Xor, _) if a.value.is_disjoint(&b.value) => a.value.add(b.value),
            (Op::Or, Some(constant)) => a.value.or(constant, &mut checks),
            (Op::Xor, Some(constant)) => a.value.xor(constant, &mut checks),
            _ => {
                let result = LaneValue::function_of(ty.bits, &[a.value, b.value]);
                let (greatest_a, greatest_b) = (a.value.range().1, b.value.range().1);
                let all_ones = low_mask((64 - (greatest_a | greatest_b).leading_zeros()) as u8);
                result.with_range(0, if op == Op::And { greatest_a.min(greatest_b) } else { all_ones })
            }
        };
        Some(self.write(0, result, ty).demanding(&checks))
    }

    pub(super) fn bit_field_extract(&self, ty: Integer) -> Option<Outcome> {
        let a = self.input(1, ty.bits)?;
        let (start, len) = (self.input(2, 32)?.value, self.input(3, 32)?.value);
        let mut checks = Checks::of(a.reg);
        let field = match (start.constant(), len.constant(), ty.signedness) {
            (Some(start), Some(len), Signedness::Unsigned) => {
                let shifted = a.value.shr(start & 0xff, Signedness::Unsigned, &mut checks);
                shifted.low_bits((len & 0xff).min(64) as u8, &mut checks)
            }
            _ => LaneValue::function_of(ty.bits, &[a.value, start, len]),
        };
        // The second check is of the shifted value, whose base is in no register.
        let is_shifted = start.constant() != Some(0);
        if is_shifted && !checks.is_empty() {
            let field = LaneValue::function_of(ty.bits, &[a.value, start, len]);
            return Some(self.write(0, field, ty));
        }
        Some(self.write(0, field, ty).demanding(&checks))
    }

    /// `d = b` with the low bits of `a` in a field.
    pub(super) fn bit_field_insert(&self, ty: Integer) -> Option<Outcome> {
        let (a, b) = (self.input(1, ty.bits)?, self.input(2, ty.bits)?);
        let (start, len) = (self.input(3, 32)?.value, self.input(4, 32)?.value);
        let field = start.constant().zip(len.constant()).map(|(start, len)| (start & 0xff, len & 0xff));
        match field {
            Some((start, len)) if start + len <= ty.bits.into() => {
                let mut checks = Checks::of(a.reg);
                let inserted = a.value.low_bits(len as u8, &mut checks).shl(start);
                let hole = !(low_mask(len as u8) << (start & 63)) & mask(ty.bits as u8);
                let mut checks_of_b = Checks::of(b.reg);
                let around = if len == 0 { b.value } else { b.value.and(hole, &mut checks_of_b) };
                let inserted = if len == 0 { LaneValue::number(ty.bits, 0) } else { inserted };
                Some(self.write(0, around.add(inserted), ty).demanding(&checks).demanding(&checks_of_b))
            }
            _ => self.function_of_operands(),
        }
    }

    pub(super) fn divide(&self, op: Op, ty: Integer) -> Option<Outcome> {
        let (a, b) = (self.input(1, ty.bits)?, self.input(2, ty.bits)?.value);
        let mut checks = Checks::of(a.reg);
        let divisor = b.constant().filter(|&divisor| divisor != 0 && ty.signedness == Signedness::Unsigned);
        let quotient = match divisor {
            None => LaneValue::function_of(ty.bits, &[a.value, b]),
            Some(divisor) if divisor.is_power_of_two() => match op {
                Op::Div => a.value.shr(divisor.trailing_zeros().into(), Signedness::Unsigned, &mut checks),
                _ => a.value.and(divisor - 1, &mut checks),
            },
            Some(divisor) => {
                let (least, greatest) = a.value.range();
                let range = if op == Op::Div { (least / divisor, greatest / divisor) } else { (0, divisor - 1) };
                LaneValue::function_of(ty.bits, &[a.value]).with_range(range.0, range.1)
            }
        };
        Some(self.write(0, quotient, ty).demanding(&checks))
    }

    pub(super) fn extremum(&self, op: Op, ty: Integer) -> Option<Outcome> {
        let (a, b) = (self.input(1, ty.bits)?.value, self.input(2, ty.bits)?.value);
        let choice = less(ty, &a, &b).unwrap_or(a.dependence() | b.dependence());
        let either = a.either(b, choice);
        let pick = |one: (i128, i128), other: (i128, i128)| match op {
            Op::Min => (one.0.min(other.0), one.1.min(other.1)),
            _ => (one.0.max(other.0), one.1.max(other.1)),
        };
        let unsigned = |value: &LaneValue| (i128::from(value.range().0), i128::from(value.range().1));
        let signed = |value: &LaneValue| (i128::from(value.signed_range().0), i128::from(value.signed_range().1));
        let ranged = match ty.signedness {
            Signedness::Unsigned => {
                let (least, greatest) = pick(unsigned(&a), unsigned(&b));
                either.with_range(least as u64, greatest as u64)
            }
            Signedness::Signed => {
                let (least, greatest) = pick(signed(&a), signed(&b));
                either.with_signed_range(least as i64, greatest as i64)
            }
        };
        Some(self.write(0, ranged, ty))
    }

    pub(super) fn convert(&self, to: Integer) -> Option<Outcome> {
        let Some(from) = self.view.form.types().get(1).copied().and_then(Integer::of) else {
            return self.function_of_operands();
        };
        let a = self.input(1, from.bits)?;
        let mut checks = Checks::of(a.reg);
        let value = a.value.extend(to.bits, from.signedness, &mut checks).truncate(to.bits);
        let value = match self.view.operands().first() {
            Some(&Operand::Reg(reg)) => value.extend(self.transfer.reg_bits(reg), to.signedness, &mut checks),
            _ => value,
        };
        Some(self.write(0, value, to).demanding(&checks))
    }
}

impl LaneValue {
    fn with_signed_range(self, least: i64, greatest: i64) -> Self {
        Self { signed: (self.signed.0.max(least), self.signed.1.min(greatest)), ..self }.tightened()
    }
}
