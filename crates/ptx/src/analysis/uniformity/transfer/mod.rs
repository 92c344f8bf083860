//! What an instruction makes of the values of its operands.

mod arithmetic;
mod compare;
mod memory;

use smallvec::SmallVec;

use super::Given;
use super::arithmetic::{Checks, WrapCheck};
use super::value::{ALL_BITS, LaneBits, LaneValue, Signedness};
use super::webs::{Web, Webs};
use crate::entity::{Id, Map};
use crate::ir::{Function, FunctionKind, Module, Operand, Param, Reg, StmtId, Symbol, Var, Variable};
use crate::ops::{Effect, Mod, Op};
use crate::types::{Space, Type, TypeKind};
use crate::view::View;

/// Addresses in shared memory are below this: blocks have at most 227 KiB of it, and windows of other blocks of a
/// cluster are not reached by the name of a variable.
const SHARED_MEMORY_LIMIT: u64 = 1 << 24;

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
        // `mov.b64 {%r1, %r1}, %rd1` leaves open which half it is.
        let values = self.values.iter().filter(|(other, _)| *other == reg).map(|&(_, value)| value);
        values.reduce(LaneValue::join).unwrap_or_else(|| {
            let needs_guard = self.rest_needs_guard && self.rest != ALL_BITS;
            LaneValue { needs_guard, ..LaneValue::varying_in(bits, self.rest) }
        })
    }
}

/// Computes the outcome of instructions.
pub(super) struct Transfer<'a> {
    pub(super) module: &'a Module,
    pub(super) function: &'a Function,
    given: Given<'a>,
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
    pub(super) fn new(module: &'a Module, function: &'a Function, given: Given<'a>, webs: &'a Webs) -> Self {
        let mut uniform_params = Map::filled(function.vars.len(), false);
        if function.kind == FunctionKind::Entry {
            for param in &function.params {
                if let Param::Var(var) = *param {
                    uniform_params[var] = true;
                }
            }
        }
        Self { module, function, given, webs, uniform_params }
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

    /// Whether the guard of an instruction is known not to hold. Nothing as long as nothing is known of it.
    pub(super) fn is_never_executed(&self, values: &Values, statement: StmtId, view: &View<'_>) -> Option<bool> {
        let Some(guard) = view.inst.guard else { return Some(false) };
        let value = self.reg_value(values, statement, guard.reg)?;
        Some(value.constant().is_some_and(|value| (value != 0) == guard.negated))
    }

    /// On which bits of the lane's number it depends how control goes on after a branch, `ret`, `exit` or `trap`.
    pub(super) fn disagreement(&self, values: &Values, statement: StmtId, view: &View<'_>) -> Option<LaneBits> {
        let guard = self.guard(values, statement, view)?;
        let index = match (view.op(), view.operands().first()) {
            (Some(Op::BrxIdx), Some(&Operand::Reg(reg))) => {
                self.reg_value(values, statement, reg)?.certain_dependence()
            }
            (Some(Op::BrxIdx), Some(&Operand::Special(special))) => {
                self.given.facts.special(special).certain_dependence()
            }
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
        if let Some(address) = (self.given.addresses)(symbol) {
            return LaneValue::number(bits, address.wrapping_add_signed(offset));
        }
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
            (Op::Match, _) if self.has(Mod::All) => self.match_all()?,
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
                    Operand::Special(special) => each(self.transfer.given.facts.special(special)),
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
                let value = self.transfer.given.facts.special(special);
                let mut checks = Checks::of(None);
                value.extend(bits, Signedness::Unsigned, &mut checks).truncate(bits)
            }
            Operand::F32(float) if bits == 32 => LaneValue::number(32, float.into()),
            Operand::F64(float) if bits == 64 => LaneValue::number(64, float),
            Operand::F32(_) | Operand::F64(_) => LaneValue::uniform(bits),
            Operand::Symbol(symbol, offset) => self.transfer.address_of(symbol, offset.into(), bits),
            Operand::Element(symbol, _) => LaneValue::function_of(bits, &[self.transfer.address_of(symbol, 0, bits)]),
            operand => match operand.as_int() {
                Some(number) => LaneValue::number(bits, number as u64),
                None => LaneValue::vector(bits),
            },
        };
        Some(Input { value, reg: None })
    }
}
