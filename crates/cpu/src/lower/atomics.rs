//! Reading and writing memory in one step.
//!
//! The lanes of a warp take their turns in ascending order.

use ptx::form::Form;
use ptx::ir::Operand;
use ptx::ops::{Mod, Op};
use ptx::types::Type;
use ptx::view::View;

use super::function::Lowering;
use super::memory::{Address, addressed_space};
use super::operands::sign_of;
use crate::emit::{Arithmetic, Emit, FloatFormat, FloatStyle, MinMax, Rounding, Sign};
use crate::llvm::{AtomicOp, Ordering, Value};

impl<'a, 'c> Lowering<'_, 'a, 'c> {
    pub(crate) fn atomic(&mut self, op: Op, view: &View<'a>) -> bool {
        let accesses = view.accesses();
        let Some(access) = accesses.first() else { return false };
        let Some(space) = addressed_space(access) else { return false };
        self.preempt();
        let form = view.form;
        let operands = view.operands();
        let ty = form.types().last().copied().unwrap_or(Type::B32);
        let Some(address) = self.address(&operands[access.address], space) else { return false };
        self.check_alignment(&address, ty.bytes() * form.vector());
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
        for (index, source) in sources.iter().enumerate() {
            let value = self.read(source, ty.bits(), emit);
            let at = address.offset(self.scalar(), i64::from(ty.bytes()) * index as i64);
            results.push(self.atomic_lanes(form, ty, &at, value, second));
        }
        for (target, result) in targets.iter().zip(results) {
            self.write(target, result, sign_of(ty));
        }
        true
    }

    fn atomic_lanes(
        &mut self,
        form: &Form,
        ty: Type,
        address: &Address<'c>,
        value: Value<'c>,
        second: Option<Value<'c>>,
    ) -> Value<'c> {
        let emit = self.vector();
        let addresses = self.addresses(address);
        let align = if self.is_scalar_device() { ty.bytes().max(1) } else { 64 };
        let room = self.alloca(emit.int(ty.bits()), align);
        emit.store(emit.int(ty.bits()).zero(), room, align);
        let active = self.active();
        self.for_each_lane(active, |this, lane| {
            let scalar = this.scalar();
            let pointer = this.lane_value(addresses, lane);
            let pointer = scalar.int_to_ptr(pointer, this.unit.context().pointer());
            let value = this.lane_value(value, lane);
            let second = second.map(|second| this.lane_value(second, lane));
            let old = this.atomic_one(form, ty, pointer, value, second);
            if this.is_scalar_device() {
                scalar.store(old, room, align);
            } else {
                let all = scalar.load(emit.int(ty.bits()), room, align);
                scalar.store(scalar.insert_element(all, old, lane), room, align);
            }
        });
        emit.load(emit.int(ty.bits()), room, align)
    }

    fn atomic_one(
        &mut self,
        form: &Form,
        ty: Type,
        pointer: Value<'c>,
        value: Value<'c>,
        second: Option<Value<'c>>,
    ) -> Value<'c> {
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
