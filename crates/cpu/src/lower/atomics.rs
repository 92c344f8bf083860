//! Reading and writing memory in one step.
//!
//! The lanes of a warp take their turns in ascending order. Where all have the same address, one step for the warp does as
//! much as one for each. Shared memory needs no atomic instructions at all: a block is run by one thread of the system.

use ptx::form::Form;
use ptx::ir::Operand;
use ptx::ops::{Mod, Op};
use ptx::types::{Space, Type};
use ptx::view::View;

use super::address::Address;
use super::function::Lowering;
use super::memory::addressed_space;
use super::operands::sign_of;
use crate::emit::{Arithmetic, Emit, FloatFormat, FloatStyle, MinMax, Rounding, Sign};
use crate::llvm::{AtomicOp, Ordering, Ty, Value};

impl<'a, 'c> Lowering<'_, 'a, 'c> {
    pub(crate) fn atomic(&mut self, op: Op, view: &View<'a>) -> bool {
        let accesses = view.accesses();
        let Some(access) = accesses.first() else { return false };
        let Some(space) = addressed_space(access) else { return false };
        let form = view.form;
        let operands = view.operands();
        let ty = form.types().last().copied().unwrap_or(Type::B32);
        let Some(address) = self.address(&operands[access.address], space) else { return false };
        self.check_alignment(&address, ty.bytes() * form.vector());
        self.confine(&address, space, ty.bytes() * form.vector());
        let values = &operands[access.address + 1..];
        let elements = form.vector() as usize;
        let list = |this: &Self, operand: &Operand| match *operand {
            Operand::Vector(list) if elements > 1 => this.body.operands(list).to_vec(),
            other => vec![other],
        };
        let emit = self.vector();
        let sources = list(self, &values[0]);
        let second = form.has(Mod::Cas).then(|| self.read(&values[1], ty.bits(), emit));
        let targets = if op == Op::Atom { list(self, &operands[0]) } else { Vec::new() };
        let mut results = Vec::new();
        let is_shared = space == Some(Space::Shared);
        for (index, source) in sources.iter().enumerate() {
            let at = address.offset(self.scalar(), i64::from(ty.bytes()) * index as i64);
            let result = match self.add_for_all(form, ty, &at, source) {
                Some(result) => result,
                None => {
                    let value = self.read(source, ty.bits(), emit);
                    self.atomic_lanes(form, ty, &at, is_shared, value, second)
                }
            };
            results.push(result);
        }
        for (target, result) in targets.iter().zip(results) {
            self.write(target, result, sign_of(ty));
        }
        true
    }

    /// What all lanes find, one after another.
    fn atomic_lanes(
        &mut self,
        form: &Form,
        ty: Type,
        address: &Address<'c>,
        is_shared: bool,
        value: Value<'c>,
        second: Option<Value<'c>>,
    ) -> Value<'c> {
        let emit = self.vector();
        let active = self.active();
        let (room, align) = self.lanes_in_memory(ty.bits());
        emit.store(emit.int(ty.bits()).zero(), room, align);
        if self.is_scalar_device() {
            let pointer = self.addresses(address);
            self.when(active, |this| {
                let pointer = this.scalar().int_to_ptr(pointer, this.unit.context().pointer());
                let old = this.atomic_one(form, ty, pointer, is_shared, value, second);
                this.scalar().store(old, room, align);
            });
            return emit.load(emit.int(ty.bits()), room, align);
        }
        let stored = |this: &Self, value: Value<'c>| {
            let (room, align) = this.lanes_in_memory(value.ty().bits());
            emit.store(value, room, align);
            (room, value.ty().element())
        };
        let pointers = match address {
            Address::Uniform(_) => None,
            _ => Some(stored(self, self.addresses(address))),
        };
        let values = stored(self, value);
        let seconds = second.map(|second| stored(self, second));
        self.for_each_lane(active, |this, lane| {
            let scalar = this.scalar();
            let lane = scalar.zext(lane, this.unit.context().int(64));
            let place = |(room, ty): (Value<'c>, Ty<'c>)| {
                let bytes = u64::from(ty.bits().div_ceil(8));
                scalar.offset(room, scalar.mul(lane, lane.ty().constant(bytes)))
            };
            let of_lane = |array: (Value<'c>, Ty<'c>)| scalar.load(array.1, place(array), array.1.bits().div_ceil(8));
            let pointer = match (address, pointers) {
                (Address::Uniform(spot), _) => spot.pointer(scalar),
                (_, Some(pointers)) => scalar.int_to_ptr(of_lane(pointers), this.unit.context().pointer()),
                (_, None) => unreachable!("lanes with addresses of their own have them in memory"),
            };
            let (value, second) = (of_lane(values), seconds.map(of_lane));
            let old = this.atomic_one(form, ty, pointer, is_shared, value, second);
            scalar.store(old, place((room, old.ty())), ty.bytes());
        });
        emit.load(emit.int(ty.bits()), room, align)
    }

    /// Room for a value of each lane, and its alignment.
    fn lanes_in_memory(&self, bits: u32) -> (Value<'c>, u32) {
        let ty = self.vector().int(bits);
        let align = if self.is_scalar_device() { bits.div_ceil(8) } else { 64 };
        (self.alloca(ty, align), align)
    }

    /// Counters are mostly added to by all lanes at once: one step for all, from whose result each has its own.
    fn add_for_all(&mut self, form: &Form, ty: Type, address: &Address<'c>, source: &Operand) -> Option<Value<'c>> {
        let Address::Uniform(spot) = address else { return None };
        let is_integer = !super::arithmetic::is_float(ty) && matches!(ty.bits(), 32 | 64);
        if self.is_scalar_device() || !form.has(Mod::Add) || !is_integer || !self.is_uniform(source) {
            return None;
        }
        let (emit, scalar) = (self.vector(), self.scalar());
        let active = self.active();
        let bits = self.masks.bits(active);
        let int = self.unit.context().int(ty.bits());
        let value = self.read(source, ty.bits(), scalar);
        let room = self.alloca(int, ty.bytes());
        scalar.store(int.zero(), room, ty.bytes());
        let any = self.masks.any(active);
        self.when(any, |this| {
            let scalar = this.scalar();
            let count = scalar.resize(Sign::Unsigned, scalar.popc(bits), ty.bits());
            let order = Ordering::LLVMAtomicOrderingSequentiallyConsistent;
            let sum = scalar.mul(count, value);
            let old = scalar.atomic_rmw(AtomicOp::LLVMAtomicRMWBinOpAdd, spot.pointer(scalar), sum, order);
            scalar.store(old, room, ty.bytes());
        });
        // Each finds what those before it have added.
        let below: Vec<_> = (0..32).map(|lane| bits.ty().constant((1 << lane) - 1)).collect();
        let before = emit.popc(emit.and(emit.broadcast(bits), Value::vector_constant(&below)));
        let before = emit.resize(Sign::Unsigned, before, ty.bits());
        let old = emit.broadcast(scalar.load(int, room, ty.bytes()));
        Some(emit.add(old, emit.mul(before, emit.broadcast(value))))
    }

    fn atomic_one(
        &mut self,
        form: &Form,
        ty: Type,
        pointer: Value<'c>,
        is_shared: bool,
        value: Value<'c>,
        second: Option<Value<'c>>,
    ) -> Value<'c> {
        if is_shared {
            return self.step_of_one_thread(form, ty, pointer, value, second);
        }
        let emit = self.scalar();
        let order = Ordering::LLVMAtomicOrderingSequentiallyConsistent;
        let is_signed = sign_of(ty) == Sign::Signed;
        let has = |word| form.has(word);
        if let Some(new) = second {
            return emit.compare_exchange(pointer, value, new).0;
        }
        let is_float = super::arithmetic::is_float(ty);
        let op = match () {
            () if has(Mod::Exch) && ty.bits() <= 64 => Some(AtomicOp::LLVMAtomicRMWBinOpXchg),
            () if has(Mod::Exch) || is_float => None,
            () if has(Mod::Add) => Some(AtomicOp::LLVMAtomicRMWBinOpAdd),
            () if has(Mod::And) => Some(AtomicOp::LLVMAtomicRMWBinOpAnd),
            () if has(Mod::Or) => Some(AtomicOp::LLVMAtomicRMWBinOpOr),
            () if has(Mod::Xor) => Some(AtomicOp::LLVMAtomicRMWBinOpXor),
            () if has(Mod::Min) && is_signed => Some(AtomicOp::LLVMAtomicRMWBinOpMin),
            () if has(Mod::Min) => Some(AtomicOp::LLVMAtomicRMWBinOpUMin),
            () if has(Mod::Max) && is_signed => Some(AtomicOp::LLVMAtomicRMWBinOpMax),
            () if has(Mod::Max) => Some(AtomicOp::LLVMAtomicRMWBinOpUMax),
            // Counts up to the operand and starts again; counts down and starts at the operand.
            () if has(Mod::Inc) => Some(AtomicOp::LLVMAtomicRMWBinOpUIncWrap),
            () if has(Mod::Dec) => Some(AtomicOp::LLVMAtomicRMWBinOpUDecWrap),
            () => None,
        };
        if let Some(op) = op {
            return emit.atomic_rmw(op, pointer, value, order);
        }
        // What processors lack: computed, and tried until nobody came between.
        let int = self.unit.context().int(ty.bits());
        let builder = self.unit.builder;
        let start = builder.volatile_load(int, pointer, ty.bytes().min(8));
        let (again, done) = (self.new_block("again"), self.new_block("done"));
        let before = builder.block();
        builder.branch(again);
        builder.position_at_end(again);
        let seen = builder.phi(int, &[(start, before)]);
        let new = if has(Mod::Exch) { value } else { combined(emit, form, ty, seen, value) };
        let (found, succeeded) = builder.compare_exchange(pointer, seen, new);
        builder.add_incoming(seen, &[(found, builder.block())]);
        builder.branch_if(succeeded, done, again);
        builder.position_at_end(done);
        found
    }

    /// The same where nobody can come between.
    fn step_of_one_thread(
        &mut self,
        form: &Form,
        ty: Type,
        pointer: Value<'c>,
        value: Value<'c>,
        second: Option<Value<'c>>,
    ) -> Value<'c> {
        let emit = self.scalar();
        let align = ty.bytes().min(8);
        let old = emit.freeze(emit.load(self.unit.context().int(ty.bits()), pointer, align));
        let sign = sign_of(ty);
        let has = |word| form.has(word);
        let smaller = |a: Value<'c>, b: Value<'c>| emit.less(sign, a, b);
        let one = || old.ty().constant(1);
        let new = match second {
            Some(new) => emit.select(emit.equal(old, value), new, old),
            None if has(Mod::Exch) => value,
            None if super::arithmetic::is_float(ty) => combined(emit, form, ty, old, value),
            None if has(Mod::Add) => emit.add(old, value),
            None if has(Mod::And) => emit.and(old, value),
            None if has(Mod::Or) => emit.or(old, value),
            None if has(Mod::Xor) => emit.xor(old, value),
            None if has(Mod::Min) => emit.select(smaller(old, value), old, value),
            None if has(Mod::Max) => emit.select(smaller(value, old), old, value),
            // Counts up to the operand and starts again; counts down and starts at the operand.
            None if has(Mod::Inc) => {
                let is_last = emit.not(emit.less(Sign::Unsigned, old, value));
                emit.select(is_last, old.ty().zero(), emit.add(old, one()))
            }
            None if has(Mod::Dec) => {
                let starts = emit.or(emit.is_zero(old), emit.less(Sign::Unsigned, value, old));
                emit.select(starts, value, emit.sub(old, one()))
            }
            None => combined(emit, form, ty, old, value),
        };
        emit.store(new, pointer, align);
        old
    }
}

/// A sum, minimum or maximum of floating-point numbers.
fn combined<'c>(emit: Emit<'_, 'c>, form: &Form, ty: Type, a: Value<'c>, b: Value<'c>) -> Value<'c> {
    let style = FloatStyle { rounding: Rounding::Nearest, flush: false, saturate: false, relu: false };
    let what = MinMax { is_max: form.has(Mod::Max), propagates_nan: false, xorsign: false };
    let half = |format: FloatFormat, args: &[Value<'c>]| {
        if form.has(Mod::Add) {
            emit.half_arithmetic(format, Arithmetic::Add, style, args)
        } else {
            emit.half_min_max(format, what, style, args[0], args[1])
        }
    };
    match ty {
        Type::F32 | Type::F64 => {
            let float = if ty == Type::F32 { emit.f32() } else { emit.f64() };
            let (a, b) = (emit.bitcast(a, float), emit.bitcast(b, float));
            emit.to_bits(emit.arithmetic(Arithmetic::Add, Rounding::Nearest, &[a, b]))
        }
        Type::F16 => half(FloatFormat::F16, &[a, b]),
        Type::Bf16 => half(FloatFormat::Bf16, &[a, b]),
        Type::F16x2 => emit.both_halves(&[a, b], |halves| half(FloatFormat::F16, halves)),
        _ => emit.both_halves(&[a, b], |halves| half(FloatFormat::Bf16, halves)),
    }
}
