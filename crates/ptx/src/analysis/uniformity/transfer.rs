//! What an instruction makes of the values of its operands.

use smallvec::SmallVec;

use super::arithmetic::{Checks, WrapCheck};
use super::launch::LaunchFacts;
use super::value::{ALL_BITS, LANE_BITS, LaneBits, LaneValue, Signedness, low_mask, mask};
use super::webs::{Web, Webs};
use crate::entity::{Id, Map};
use crate::ir::{Function, FunctionKind, Module, Operand, Param, Reg, StmtId, Symbol, Var, Variable};
use crate::ops::{Effect, Mod, Op};
use crate::types::{Space, Type, TypeKind};
use crate::view::View;

/// Addresses in shared memory are below this: blocks have at most 227 KiB of it, and windows of other blocks of a
/// cluster are not reached by the name of a variable.
const SHARED_MEMORY_LIMIT: u64 = 1 << 24;

/// The start of each window of generic addresses is aligned to 2 to this power.
const WINDOW_ALIGNMENT: u32 = 8;

/// What an instruction writes.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The values of registers.
    values: SmallVec<[(Reg, LaneValue); 2]>,
    /// What all other registers depend on that are written.
    pub(super) rest: LaneBits,
    pub(super) rest_needs_guard: bool,
    /// Checks of the bases of registers that are read.
    pub(super) checks: SmallVec<[(Reg, WrapCheck); 2]>,
}

impl Outcome {
    fn rest(rest: LaneBits) -> Self {
        Self { values: SmallVec::new(), rest, rest_needs_guard: false, checks: SmallVec::new() }
    }

    /// The same on condition that checks hold.
    fn demanding(mut self, checks: &Checks) -> Self {
        self.checks.extend(checks.iter());
        self
    }

    /// The value of a register that is written.
    pub(super) fn value(&self, reg: Reg, bits: u32) -> LaneValue {
        match self.values.iter().find(|(other, _)| *other == reg) {
            Some(&(_, value)) => value,
            None => {
                let needs_guard = self.rest_needs_guard && self.rest != ALL_BITS;
                LaneValue { needs_guard, ..LaneValue::varying_in(bits, self.rest) }
            }
        }
    }
}

/// Computes the outcome of instructions.
pub(super) struct Transfer<'a> {
    pub(super) module: &'a Module,
    pub(super) function: &'a Function,
    pub(super) facts: &'a LaunchFacts,
    pub(super) webs: &'a Webs,
    /// The parameters of a kernel, which are the same for all threads. Those of functions are not among them.
    uniform_params: Map<Var, bool>,
}

/// An operand: its value, and the register whose base a check would look at.
#[derive(Clone, Copy, Debug)]
struct Input {
    value: LaneValue,
    reg: Option<Reg>,
}

/// An integer type.
#[derive(Clone, Copy, Debug)]
struct Integer {
    bits: u32,
    signedness: Signedness,
}

impl Integer {
    /// Untyped bits are read as unsigned.
    fn of(ty: Type) -> Option<Self> {
        let signedness = match ty.kind() {
            TypeKind::Bits | TypeKind::Unsigned => Signedness::Unsigned,
            TypeKind::Signed => Signedness::Signed,
            _ => return None,
        };
        (8..=64).contains(&ty.bits()).then_some(Self { bits: ty.bits(), signedness })
    }
}

type Values = Map<Web, Option<LaneValue>>;

impl<'a> Transfer<'a> {
    pub(super) fn new(module: &'a Module, function: &'a Function, facts: &'a LaunchFacts, webs: &'a Webs) -> Self {
        let mut uniform_params = Map::filled(function.vars.len(), false);
        if function.kind == FunctionKind::Entry {
            for param in &function.params {
                if let Param::Var(var) = *param {
                    uniform_params[var] = true;
                }
            }
        }
        Self { module, function, facts, webs, uniform_params }
    }

    /// Width of a register; the carry flag has 1.
    pub(super) fn reg_bits(&self, reg: Reg) -> u32 {
        if reg.index() < self.function.regs.len() { self.function.reg_type(reg).bits().min(64) } else { 1 }
    }

    /// On which bits of the lane's number it depends whether an instruction is executed, apart from control flow.
    pub(super) fn guard(&self, values: &Values, statement: StmtId, view: &View<'_>) -> Option<LaneBits> {
        match view.inst.guard {
            None => Some(0),
            Some(guard) => self.reg_value(values, statement, guard.reg).map(|value| value.certain_dependence()),
        }
    }

    /// On which bits of the lane's number it depends how control goes on behind a branch, `ret`, `exit` or `trap`.
    pub(super) fn disagreement(&self, values: &Values, statement: StmtId, view: &View<'_>) -> Option<LaneBits> {
        let guard = self.guard(values, statement, view)?;
        let index = match (view.op(), view.operands().first()) {
            (Some(Op::BrxIdx), Some(&Operand::Reg(reg))) => {
                self.reg_value(values, statement, reg)?.certain_dependence()
            }
            (Some(Op::BrxIdx), Some(&Operand::Special(special))) => self.facts.special(special).certain_dependence(),
            _ => 0,
        };
        Some(guard | index)
    }

    /// Whether a register has several elements, of which only together something is known.
    pub(super) fn is_vector_register(&self, reg: Reg) -> bool {
        reg.index() < self.function.regs.len() && self.function.groups[self.function.regs[reg].group].vector > 1
    }

    /// The outcome of a statement; nothing as long as nothing is known of an operand.
    pub(super) fn outcome(&self, values: &Values, statement: StmtId, view: &View<'_>) -> Option<Outcome> {
        let at = At { transfer: self, values, statement, view };
        at.outcome()
    }

    fn reg_value(&self, values: &Values, statement: StmtId, reg: Reg) -> Option<LaneValue> {
        match self.webs.read(statement, reg) {
            Some(web) => values[web],
            None => Some(LaneValue::vector(self.reg_bits(reg))),
        }
    }

    fn variable(&self, symbol: Symbol) -> Option<&'a Variable> {
        match symbol {
            Symbol::Global(global) => self.module.globals.get(global),
            Symbol::Var(var) => self.function.vars.get(var),
            _ => None,
        }
    }

    /// The address of a variable or function, as `mov` takes it.
    fn address_of(&self, symbol: Symbol, offset: i64, bits: u32) -> LaneValue {
        let is_private = self.variable(symbol).is_some_and(|variable| variable.space == Space::Param)
            && !self.is_uniform_param(symbol);
        if is_private { LaneValue::vector(bits) } else { self.address_in_space(symbol, offset, bits) }
    }

    /// The address of a variable within its state space, of which each thread may have its own.
    pub(super) fn address_in_space(&self, symbol: Symbol, offset: i64, bits: u32) -> LaneValue {
        let Some(variable) = self.variable(symbol) else { return LaneValue::uniform(bits) };
        let alignment = variable.alignment();
        let zeros = if alignment.is_power_of_two() { alignment.trailing_zeros() } else { 0 };
        let address = LaneValue::uniform(bits).with_low(zeros, 0);
        let address =
            if variable.space == Space::Shared { address.with_range(0, SHARED_MEMORY_LIMIT - 1) } else { address };
        address.add(LaneValue::number(bits, offset as u64))
    }

    fn is_uniform_param(&self, symbol: Symbol) -> bool {
        matches!(symbol, Symbol::Var(var) if self.uniform_params[var])
    }
}

/// One statement with what is known before it.
struct At<'a, 'b> {
    transfer: &'b Transfer<'a>,
    values: &'b Values,
    statement: StmtId,
    view: &'b View<'b>,
}

impl At<'_, '_> {
    fn outcome(&self) -> Option<Outcome> {
        let Some(op) = self.view.op() else { return Some(Outcome::rest(ALL_BITS)) };
        if self.writes_part() {
            return Some(Outcome::rest(ALL_BITS));
        }
        // What lacks its type is refused by the verifier; any type will do here.
        let ty = self.view.form.types().first().copied().unwrap_or(Type::B128);
        let integer = Integer::of(ty).filter(|_| !self.has(Mod::Sat));
        let outcome = match (op, integer) {
            (Op::Mov, _) => self.mov(ty)?,
            (Op::Add | Op::Sub | Op::Mul | Op::Mad, Some(ty)) => self.linear(op, ty)?,
            (Op::Neg | Op::Not, Some(ty)) => {
                let a = self.input(1, ty.bits)?.value;
                self.write(0, if op == Op::Neg { a.neg() } else { a.not() }, ty)
            }
            (Op::Shl, Some(ty)) => {
                let (a, amount) = (self.input(1, ty.bits)?.value, self.input(2, 32)?.value);
                let shifted = match amount.constant() {
                    Some(amount) => a.shl(amount),
                    None => LaneValue::function_of(ty.bits, &[a, amount]),
                };
                self.write(0, shifted, ty)
            }
            (Op::Shr, Some(ty)) => self.shr(ty)?,
            (Op::And | Op::Or | Op::Xor, Some(ty)) => self.logic(op, ty)?,
            (Op::Bfe, Some(ty)) => self.bit_field_extract(ty)?,
            (Op::Bfi, Some(ty)) => self.bit_field_insert(ty)?,
            (Op::Div | Op::Rem, Some(ty)) => self.divide(op, ty)?,
            (Op::Min | Op::Max, Some(ty)) if !self.has(Mod::Relu) => self.extremum(op, ty)?,
            (Op::Popc | Op::Clz, Some(ty)) => {
                let a = self.input(1, ty.bits)?.value;
                let counted = LaneValue::function_of(32, &[a]).with_range(0, ty.bits.into());
                self.write(0, counted, Integer { bits: 32, signedness: Signedness::Unsigned })
            }
            (Op::Cvt, Some(ty)) => self.convert(ty)?,
            (Op::Cvta, Some(ty)) => self.convert_address(ty)?,
            (Op::Setp, _) => self.compare(ty)?,
            (Op::Selp, _) => self.select(ty)?,
            (Op::Ld | Op::Ldu, _) => self.load(ty)?,
            (Op::Shfl, _) => self.shuffle()?,
            (Op::Vote | Op::Redux | Op::Activemask, _) => self.collective()?,
            (Op::Match, _) if self.has(Mod::All) => self.collective()?,
            (Op::BarRed | Op::BarrierRed, _) => {
                // Every thread that waits at the same barrier gets the same.
                let barrier = self.input(1, 32)?.value.certain_dependence();
                Outcome::rest(if barrier == 0 { 0 } else { ALL_BITS })
            }
            _ => match self.view.effect() {
                Some(Effect::Pure | Effect::TextureLoad | Effect::TextureQuery) => self.function_of_operands()?,
                _ => Outcome::rest(ALL_BITS),
            },
        };
        Some(outcome)
    }

    fn has(&self, word: Mod) -> bool {
        self.view.form.has(word)
    }

    /// Whether only a part of a register is written, so that the rest of it has to be looked at too.
    fn writes_part(&self) -> bool {
        match self.view.operands().first() {
            Some(Operand::Part(..)) => true,
            Some(Operand::Vector(list)) => {
                self.view.body.operands(*list).iter().any(|operand| matches!(operand, Operand::Part(..)))
            }
            _ => false,
        }
    }

    /// Results that depend on what the operands depend on.
    fn function_of_operands(&self) -> Option<Outcome> {
        let mut outcome = Outcome::rest(0);
        if self.transfer.webs.reads[self.statement].is_empty() && !self.view.reads().is_empty() {
            return Some(Outcome::rest(ALL_BITS));
        }
        for &(_, web) in &self.transfer.webs.reads[self.statement] {
            let value = self.values[web]?;
            outcome.rest |= value.dependence();
            outcome.rest_needs_guard |= value.needs_guard;
        }
        self.for_each_special(self.view.operands(), &mut |value| outcome.rest |= value.dependence());
        Some(outcome)
    }

    fn for_each_special(&self, operands: &[Operand], each: &mut impl FnMut(LaneValue)) {
        let mut lists: SmallVec<[&[Operand]; 4]> = SmallVec::from_iter([operands]);
        while let Some(operands) = lists.pop() {
            for operand in operands {
                match *operand {
                    Operand::Special(special) => each(self.transfer.facts.special(special)),
                    Operand::Symbol(symbol, offset) => each(self.transfer.address_of(symbol, offset.into(), 64)),
                    Operand::Vector(list) | Operand::TupleAddress(list) | Operand::Arguments(list) => {
                        lists.push(self.view.body.operands(list));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Writes to the register that is the n-th operand; where it is none, only what is written depends on counts.
    fn write(&self, index: usize, value: LaneValue, ty: Integer) -> Outcome {
        let mut outcome = Outcome::rest(value.dependence());
        if let Some(&Operand::Reg(reg)) = self.view.operands().get(index) {
            // Only conversions and loads write registers that are wider than their type.
            let bits = self.transfer.reg_bits(reg);
            let value = value.extend(bits, ty.signedness, &mut Checks::of(None)).truncate(bits);
            outcome.values.push((reg, value));
        }
        outcome.rest_needs_guard = value.needs_guard;
        self.with_carry(outcome)
    }

    /// The carry depends on all operands, even if the result does not.
    fn with_carry(&self, mut outcome: Outcome) -> Outcome {
        if self.view.writes_carry() {
            match self.function_of_operands() {
                Some(all) => {
                    outcome.rest |= all.rest;
                    outcome.rest_needs_guard |= all.rest_needs_guard;
                }
                None => outcome.rest = ALL_BITS,
            }
        }
        outcome
    }

    /// The n-th operand as a value of so many bits.
    fn input(&self, index: usize, bits: u32) -> Option<Input> {
        match self.view.operands().get(index) {
            Some(operand) => self.operand(operand, bits),
            None => Some(Input { value: LaneValue::vector(bits), reg: None }),
        }
    }

    fn operand(&self, operand: &Operand, bits: u32) -> Option<Input> {
        let value = match *operand {
            Operand::Reg(reg) => {
                let value = self.transfer.reg_value(self.values, self.statement, reg)?;
                let fits = value.bits() >= bits;
                let value = if fits { value.truncate(bits) } else { LaneValue::function_of(bits, &[value]) };
                return Some(Input { value, reg: fits.then_some(reg) });
            }
            Operand::Not(reg) | Operand::Neg(reg) | Operand::Part(reg, _) => {
                LaneValue::function_of(bits, &[self.transfer.reg_value(self.values, self.statement, reg)?])
            }
            Operand::Special(special) => {
                let value = self.transfer.facts.special(special);
                let mut checks = Checks::of(None);
                value.extend(bits, Signedness::Unsigned, &mut checks).truncate(bits)
            }
            Operand::F32(float) if bits == 32 => LaneValue::number(32, float.into()),
            Operand::F64(float) if bits == 64 => LaneValue::number(64, float),
            Operand::F32(_) | Operand::F64(_) => LaneValue::uniform(bits),
            Operand::Symbol(symbol, offset) => self.transfer.address_of(symbol, offset.into(), bits),
            Operand::Element(symbol, _) => {
                LaneValue::function_of(bits, &[self.transfer.address_of(symbol, 0, bits)])
            }
            operand => match operand.as_int() {
                Some(number) => LaneValue::number(bits, number as u64),
                None => LaneValue::vector(bits),
            },
        };
        Some(Input { value, reg: None })
    }

    fn mov(&self, ty: Type) -> Option<Outcome> {
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
    fn linear(&self, op: Op, ty: Integer) -> Option<Outcome> {
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

    fn shr(&self, ty: Integer) -> Option<Outcome> {
        let (a, amount) = (self.input(1, ty.bits)?, self.input(2, 32)?.value);
        let mut checks = Checks::of(a.reg);
        let shifted = match amount.constant() {
            Some(amount) => a.value.shr(amount, ty.signedness, &mut checks),
            None => LaneValue::function_of(ty.bits, &[a.value, amount]),
        };
        Some(self.write(0, shifted, ty).demanding(&checks))
    }

    fn logic(&self, op: Op, ty: Integer) -> Option<Outcome> {
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

    fn bit_field_extract(&self, ty: Integer) -> Option<Outcome> {
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
    fn bit_field_insert(&self, ty: Integer) -> Option<Outcome> {
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

    fn divide(&self, op: Op, ty: Integer) -> Option<Outcome> {
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

    fn extremum(&self, op: Op, ty: Integer) -> Option<Outcome> {
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

    fn convert(&self, to: Integer) -> Option<Outcome> {
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

    /// The window of a state space is at some distance from its generic addresses.
    fn convert_address(&self, ty: Integer) -> Option<Outcome> {
        let a = self.input(1, ty.bits)?.value;
        let value = match self.view.form.spaces().next() {
            Some(Space::Global) => a,
            // Each thread has its own memory there, and perhaps its own window.
            None | Some(Space::Local) => LaneValue::vector(ty.bits),
            Some(_) => a.add(LaneValue::uniform(ty.bits).with_low(WINDOW_ALIGNMENT, 0)),
        };
        Some(self.write(0, value, ty))
    }

    fn compare(&self, ty: Type) -> Option<Outcome> {
        let Some(integer) = Integer::of(ty) else { return self.function_of_predicates() };
        let (a, b) = (self.input(1, integer.bits)?.value, self.input(2, integer.bits)?.value);
        let other = match self.view.operands().get(3) {
            Some(operand) => self.operand(operand, 1)?.value.certain_dependence(),
            None => 0,
        };
        if a.needs_guard || b.needs_guard {
            return Some(Outcome::rest(ALL_BITS));
        }
        let unsigned = Integer { signedness: Signedness::Unsigned, ..integer };
        let compared = self.view.form.words().find_map(|word| match word {
            Mod::Eq | Mod::Ne => Some(equal(&a, &b)),
            Mod::Lt | Mod::Ge => Some(less(integer, &a, &b)),
            Mod::Gt | Mod::Le => Some(less(integer, &b, &a)),
            Mod::Lo | Mod::Hs => Some(less(unsigned, &a, &b)),
            Mod::Hi | Mod::Ls => Some(less(unsigned, &b, &a)),
            _ => None,
        });
        let compared = compared.flatten().unwrap_or(a.dependence() | b.dependence());
        Some(Outcome::rest(compared | other))
    }

    /// Predicates decide on control flow, which must not depend on guards.
    fn function_of_predicates(&self) -> Option<Outcome> {
        let outcome = self.function_of_operands()?;
        Some(if outcome.rest_needs_guard { Outcome::rest(ALL_BITS) } else { outcome })
    }

    fn select(&self, ty: Type) -> Option<Outcome> {
        let bits = ty.bits();
        let choice = self.input(3, 1)?.value.certain_dependence();
        let (a, b) = (self.input(1, bits)?.value, self.input(2, bits)?.value);
        Some(self.write(0, a.either(b, choice), Integer { bits, signedness: Signedness::Unsigned }))
    }

    /// One access serves all lanes with the same address, so they get the same, even if the memory changes meanwhile.
    fn load(&self, ty: Type) -> Option<Outcome> {
        let space = self.view.form.spaces().next();
        let is_private = match space {
            Some(Space::Local) => true,
            Some(Space::Param) => {
                self.transfer.function.kind != FunctionKind::Entry || self.has(Mod::ParamFunc)
            }
            _ => false,
        };
        let address = match *self.view.operands().get(1).unwrap_or(&Operand::Sink) {
            Operand::RegAddress(reg, _) => self.transfer.reg_value(self.values, self.statement, reg)?,
            Operand::SymbolAddress(symbol, _) | Operand::Element(symbol, _) => {
                match self.transfer.variable(symbol).map(|variable| variable.space) {
                    Some(Space::Local) => LaneValue::vector(64),
                    Some(Space::Param) if !self.transfer.is_uniform_param(symbol) => LaneValue::vector(64),
                    _ => LaneValue::uniform(64),
                }
            }
            Operand::IntAddress(_) => LaneValue::uniform(64),
            _ => LaneValue::vector(64),
        };
        if is_private || address.dependence() == ALL_BITS {
            return Some(Outcome::rest(ALL_BITS));
        }
        let value = LaneValue::function_of(ty.bits(), &[address]);
        let value = match self.pointer_alignment() {
            Some(alignment) => value.with_low(alignment.trailing_zeros(), 0),
            None => value,
        };
        let Some(integer) = Integer::of(ty).filter(|_| self.view.form.vector() == 1) else {
            let mut outcome = Outcome::rest(value.dependence());
            outcome.rest_needs_guard = value.needs_guard;
            return Some(outcome);
        };
        Some(self.write(0, value, integer))
    }

    /// The alignment of what a parameter points to, if the instruction loads a parameter of which that is declared.
    fn pointer_alignment(&self) -> Option<u32> {
        let &Operand::SymbolAddress(symbol, 0) = self.view.operands().get(1)? else { return None };
        let variable = self.transfer.variable(symbol).filter(|variable| variable.space == Space::Param)?;
        let is_whole = self.view.form.types().last()?.bits() == variable.ty.bits() && variable.dimensions.is_empty();
        variable.pointer?.align.filter(|align| is_whole && align.is_power_of_two())
    }

    /// `shfl.idx` from one lane of the warp, or of each segment of it.
    fn shuffle(&self) -> Option<Outcome> {
        let (source, clamp) = (self.input(2, 32)?.value, self.input(3, 32)?.value);
        let mask = match self.view.operands().len() > 4 {
            true => self.input(4, 32)?.value.certain_dependence(),
            false => 0,
        };
        let is_one_lane = self.has(Mod::Idx) && source.certain_dependence() == 0 && mask == 0;
        Some(match clamp.constant() {
            Some(clamp) if is_one_lane && clamp & 0x1f == 0x1f => Outcome::rest((clamp >> 8) as LaneBits & ALL_BITS),
            _ => Outcome::rest(ALL_BITS),
        })
    }

    /// All lanes that take part get the same. Tiles of a warp take part with different masks at once.
    fn collective(&self) -> Option<Outcome> {
        let operands = self.view.operands();
        let mask = match self.has(Mod::Sync) {
            true => self.input(operands.len().saturating_sub(1), 32)?.value.certain_dependence(),
            false => 0,
        };
        Some(Outcome::rest(if mask == 0 { 0 } else { ALL_BITS }))
    }
}

impl LaneValue {
    fn with_signed_range(self, least: i64, greatest: i64) -> Self {
        Self { signed: (self.signed.0.max(least), self.signed.1.min(greatest)), ..self }.tightened()
    }
}

/// The bits of the lane's number on which it depends whether two values are equal; nothing if all that they depend on.
fn equal(a: &LaneValue, b: &LaneValue) -> Option<LaneBits> {
    if a.range().1 < b.range().0 || b.range().1 < a.range().0 {
        return Some(0);
    }
    // Where both change by the same from lane to lane, they are equal in all lanes or in none.
    let difference = a.sub(*b);
    Some(difference.dependence())
}

/// The bits of the lane's number on which it depends whether `a < b`; nothing if all that they depend on.
fn less(ty: Integer, a: &LaneValue, b: &LaneValue) -> Option<LaneBits> {
    let is_decided = match ty.signedness {
        Signedness::Unsigned => a.range().1 < b.range().0 || a.range().0 >= b.range().1,
        Signedness::Signed => {
            let (a, b) = (a.signed_range(), b.signed_range());
            a.1 < b.0 || a.0 >= b.1
        }
    };
    if is_decided {
        return Some(0);
    }
    let free = a.free | b.free;
    if a.sub(*b).dependence() == free && a.never_wraps(ty.signedness) && b.never_wraps(ty.signedness) {
        return Some(free);
    }
    // `tid < 64`, where 32 lanes have all bits of the thread's number in common but the lowest five: all are below 64
    // or none. `a < b` is the same as `a < b` without the lowest bits if those of `b` are zero, and those of `a` hold
    // all that the lanes add; and `b < a` is `!(a < b + 1)`, so that those of `b` must be ones there.
    let blocks = |varying: &LaneValue, constant: &LaneValue, ones: bool| {
        let is_constant = constant.dependence() == constant.free;
        let fits = |&bits: &u8| varying.fits_low(bits) && constant.known >= bits;
        let bits = (0..varying.bits).find(fits)?;
        let low = constant.low & low_mask(bits);
        (is_constant && low == if ones { low_mask(bits) } else { 0 }).then_some(free)
    };
    blocks(a, b, false).or_else(|| blocks(b, a, true))
}

const _: () = assert!(LANE_BITS == 5, "the segments of `shfl` are bits of a lane's number");
