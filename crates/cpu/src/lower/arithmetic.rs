//! Instructions that compute registers from registers.

use ptx::form::Form;
use ptx::ir::Operand;
use ptx::ops::{Mod, Op};
use ptx::types::{Type, TypeKind};
use ptx::view::View;

use super::analysis::predicates;
use super::function::Lowering;
use super::operands::sign_of;
use crate::emit::{Approximation, Arithmetic, Comparison, Emit, FloatFormat, FloatStyle, MinMax, Rounding, Sign};
use crate::llvm::{IntPredicate, Value};

impl<'a, 'c> Lowering<'_, 'a, 'c> {
    /// Computes registers from registers. False if it is no such instruction.
    pub(crate) fn arithmetic(&mut self, op: Op, view: &View<'a>) -> bool {
        let form = view.form;
        let operands = view.operands();
        let emit = self.shape(view);
        let ty = form.types().last().copied().unwrap_or(Type::B32);
        let sign = sign_of(ty);
        match op {
            Op::Mov => self.mov(view, emit),
            Op::Cvt => return self.convert(view, emit),
            Op::CvtPack => return self.convert_and_pack(view, emit),
            Op::Setp => return self.set_predicate(view, emit),
            Op::Set => return self.set_number(view, emit),
            Op::Selp => {
                let (a, b) = (self.read(&operands[1], ty.bits(), emit), self.read(&operands[2], ty.bits(), emit));
                let condition = self.read(&operands[3], 1, emit);
                self.write(&operands[0], emit.select(condition, a, b), sign);
            }
            Op::Slct => {
                let ty = form.types()[0];
                let (a, b) = (self.read(&operands[1], ty.bits(), emit), self.read(&operands[2], ty.bits(), emit));
                let chooses_first = if form.types()[1] == Type::F32 {
                    let c = self.read_as(&operands[3], Type::F32, emit);
                    let c = if form.has(Mod::Ftz) { emit.flush(c) } else { c };
                    emit.compare_floats(Comparison::GreaterOrEqual, c, c.ty().zero())
                } else {
                    let c = self.read(&operands[3], 32, emit);
                    emit.icmp(IntPredicate::LLVMIntSGE, c, c.ty().zero())
                };
                self.write(&operands[0], emit.select(chooses_first, a, b), sign);
            }
            Op::And | Op::Or | Op::Xor | Op::Not | Op::Cnot | Op::Shl | Op::Shr | Op::Shf | Op::Lop3 | Op::Prmt => {
                return self.logic(op, view, emit);
            }
            Op::Popc
            | Op::Clz
            | Op::Brev
            | Op::Bfind
            | Op::Bfe
            | Op::Bfi
            | Op::Bmsk
            | Op::Szext
            | Op::Fns
            | Op::Dp4a
            | Op::Dp2a => self.bits(op, view, emit),
            Op::Cvta | Op::Isspacep => return self.address_space(op, view, emit),
            Op::Testp => {
                let a = self.read_as(&operands[1], ty, emit);
                let result = class_test(emit, form, a);
                self.write(&operands[0], result, Sign::Unsigned);
            }
            Op::Copysign => {
                let (a, b) = (self.read_as(&operands[1], ty, emit), self.read_as(&operands[2], ty, emit));
                self.write(&operands[0], emit.copysign(b, a), sign);
            }
            Op::Add
            | Op::Sub
            | Op::Mul
            | Op::Mad
            | Op::Fma
            | Op::Div
            | Op::Rcp
            | Op::Sqrt
            | Op::Rsqrt
            | Op::Sin
            | Op::Cos
            | Op::Lg2
            | Op::Ex2
            | Op::Tanh
            | Op::Min
            | Op::Max
            | Op::Abs
            | Op::Neg
                if is_float(ty) =>
            {
                return self.float(op, view, emit);
            }
            Op::Add
            | Op::Sub
            | Op::Addc
            | Op::Subc
            | Op::Mul
            | Op::Mad
            | Op::Madc
            | Op::Mul24
            | Op::Mad24
            | Op::Sad
            | Op::Div
            | Op::Rem
            | Op::Abs
            | Op::Neg
            | Op::Min
            | Op::Max => {
                return self.integer(op, view, emit);
            }
            Op::Createpolicy => {
                // Cache policies advise nobody here.
                self.write(&operands[0], emit.int(64).zero(), Sign::Unsigned);
            }
            // A cluster has one block: every address of shared memory belongs to rank 0.
            Op::Mapa => {
                let address = self.read(&operands[1], ty.bits(), emit);
                self.write(&operands[0], address, sign);
            }
            Op::Getctarank => self.write(&operands[0], emit.int(32).zero(), Sign::Unsigned),
            Op::Clmad => {
                let [a, b, c] = [1, 2, 3].map(|nth| self.read(&operands[nth], 64, emit));
                let product = emit.carryless_product(a, b, form.has(Mod::Hi));
                self.write(&operands[0], emit.xor(product, c), sign);
            }
            _ => return self.video(op, view, emit),
        }
        true
    }

    fn mov(&mut self, view: &View<'a>, emit: Emit<'a, 'c>) {
        let operands = view.operands();
        let ty = view.form.types().last().copied().unwrap_or(Type::B32);
        let bits = ty.bits() * view.form.vector();
        let value = self.read(&operands[1], bits, emit);
        self.write(&operands[0], value, sign_of(ty));
    }

    fn integer(&mut self, op: Op, view: &View<'a>, emit: Emit<'a, 'c>) -> bool {
        let form = view.form;
        let operands = view.operands();
        let ty = form.types().last().copied().unwrap_or(Type::B32);
        if let Some((parts, element)) = packed(ty) {
            return self.packed_integer(op, view, emit, parts, element);
        }
        let sign = sign_of(ty);
        let bits = ty.bits();
        // The carry flag has a value for each lane, so what computes it has too.
        let emit = if view.reads_carry() || view.writes_carry() { self.vector() } else { emit };
        let mut read = |index: usize| self.read(&operands[index], bits, emit);
        let result = match op {
            Op::Add if form.has(Mod::Sat) => emit.add_saturated(sign, read(1), read(2)),
            Op::Sub if form.has(Mod::Sat) => emit.sub_saturated(sign, read(1), read(2)),
            Op::Add | Op::Addc | Op::Sub | Op::Subc => {
                let (a, b) = (read(1), read(2));
                self.with_carry(op, form, a, b, emit)
            }
            Op::Mul if form.has(Mod::Wide) => emit.mul_wide(sign, read(1), read(2)),
            Op::Mul if form.has(Mod::Hi) => emit.mul_high(sign, read(1), read(2)),
            Op::Mul => emit.mul(read(1), read(2)),
            Op::Mad if form.has(Mod::Wide) => {
                let product = emit.mul_wide(sign, read(1), read(2));
                let c = self.read(&operands[3], bits * 2, emit);
                emit.add(product, c)
            }
            Op::Mad | Op::Madc => {
                let (a, b) = (read(1), read(2));
                let product = if form.has(Mod::Hi) { emit.mul_high(sign, a, b) } else { emit.mul(a, b) };
                let c = read(3);
                if form.has(Mod::Sat) {
                    emit.add_saturated(sign, product, c)
                } else {
                    let op = if op == Op::Madc { Op::Addc } else { Op::Add };
                    self.with_carry(op, form, product, c, emit)
                }
            }
            Op::Mul24 | Op::Mad24 => {
                let (a, b) = (read(1), read(2));
                let product = if form.has(Mod::Hi) {
                    emit.mul_24_high(sign, a, b)
                } else {
                    emit.mul(emit.low_24(sign, a), emit.low_24(sign, b))
                };
                if op == Op::Mul24 {
                    product
                } else if form.has(Mod::Sat) {
                    emit.add_saturated(sign, product, read(3))
                } else {
                    emit.add(product, read(3))
                }
            }
            Op::Sad => {
                let difference = emit.absolute_difference(sign, read(1), read(2));
                emit.add(difference, read(3))
            }
            Op::Div | Op::Rem => {
                let dividend = read(1);
                let of_divisor = if self.is_uniform(&operands[2]) { emit.scalar() } else { emit };
                let divisor = self.read(&operands[2], bits, of_divisor);
                match op {
                    Op::Div => emit.int_div(sign, dividend, divisor),
                    _ => emit.int_rem(sign, dividend, divisor),
                }
            }
            Op::Abs => emit.int_abs(read(1)),
            Op::Neg => emit.neg(read(1)),
            Op::Min | Op::Max => {
                let (a, b) = (read(1), read(2));
                let result = if op == Op::Min { emit.int_min(sign, a, b) } else { emit.int_max(sign, a, b) };
                if form.has(Mod::Relu) { emit.int_max(Sign::Signed, result, result.ty().zero()) } else { result }
            }
            _ => return false,
        };
        self.write(&operands[0], result, sign);
        true
    }

    /// A sum or difference that may take the carry flag in and put it out.
    fn with_carry(&mut self, op: Op, form: &Form, a: Value<'c>, b: Value<'c>, emit: Emit<'a, 'c>) -> Value<'c> {
        let takes = matches!(op, Op::Addc | Op::Subc);
        let puts = form.has(Mod::Cc);
        if !takes && !puts {
            return if op == Op::Sub { emit.sub(a, b) } else { emit.add(a, b) };
        }
        let carry = takes.then(|| emit.load(emit.bool(), self.registers.carry, 4));
        let (result, out) = match op {
            // As on a GPU, and as the code for divisions of 128 bits that NVVM makes expects it, a difference is
            // `a + !b + 1`: the flag is set where nothing is borrowed.
            Op::Sub | Op::Subc => {
                let (result, borrow) = emit.sub_with_borrow(a, b, carry.map(|carry| emit.is_zero(carry)));
                (result, emit.is_zero(borrow))
            }
            _ => emit.add_with_carry(a, b, carry),
        };
        if puts {
            let old = emit.load(emit.bool(), self.registers.carry, 4);
            let active = self.active();
            emit.store(emit.select(active, out, old), self.registers.carry, 4);
        }
        result
    }

    /// Integers of 8 or 16 bits, several in a register.
    fn packed_integer(&mut self, op: Op, view: &View<'a>, emit: Emit<'a, 'c>, parts: u32, element: Type) -> bool {
        let form = view.form;
        let operands = view.operands();
        let sign = sign_of(element);
        let bits = element.bits();
        let args: Vec<_> = operands[1..].iter().map(|operand| self.read(operand, 32, emit)).collect();
        let mut result = emit.int(32).zero();
        for part in 0..parts {
            let place = part * bits;
            let values: Vec<_> = args
                .iter()
                .map(|&arg| emit.resize(Sign::Unsigned, emit.part(Sign::Unsigned, arg, place, bits), bits))
                .collect();
            let value = match op {
                Op::Add if form.has(Mod::Sat) => emit.add_saturated(sign, values[0], values[1]),
                Op::Sub if form.has(Mod::Sat) => emit.sub_saturated(sign, values[0], values[1]),
                Op::Add => emit.add(values[0], values[1]),
                Op::Sub => emit.sub(values[0], values[1]),
                Op::Neg => emit.neg(values[0]),
                Op::Abs => emit.int_abs(values[0]),
                Op::Min => emit.int_min(sign, values[0], values[1]),
                Op::Max => emit.int_max(sign, values[0], values[1]),
                Op::Set => {
                    let Some(result) = self.compared(form, element, values[0], values[1], emit) else { return false };
                    let ty = values[0].ty();
                    emit.select(result, ty.all_ones(), ty.zero())
                }
                _ => return false,
            };
            let value = if form.has(Mod::Relu) { emit.int_max(Sign::Signed, value, value.ty().zero()) } else { value };
            let wide = emit.resize(Sign::Unsigned, value, 32);
            result = emit.or(result, emit.shl(wide, wide.ty().constant(place.into())));
        }
        self.write(&operands[0], result, Sign::Unsigned);
        true
    }

    fn float(&mut self, op: Op, view: &View<'a>, emit: Emit<'a, 'c>) -> bool {
        let form = view.form;
        let operands = view.operands();
        let types = form.types();
        let ty = types[0];
        let style = style_of(form);
        if types.iter().any(|&other| other != ty) {
            return self.mixed_float(op, view, emit);
        }
        let args: Vec<_> = operands[1..].iter().map(|operand| self.read_as(operand, ty, emit)).collect();
        let result = match ty {
            Type::F16 => half_operation(emit, op, form, style, FloatFormat::F16, &args),
            Type::Bf16 => half_operation(emit, op, form, style, FloatFormat::Bf16, &args),
            Type::F16x2 | Type::Bf16x2 => {
                let format = if ty == Type::F16x2 { FloatFormat::F16 } else { FloatFormat::Bf16 };
                let mut is_known = true;
                let result = emit.both_halves(&args, |halves| {
                    half_operation(emit, op, form, style, format, halves).unwrap_or_else(|| {
                        is_known = false;
                        halves[0]
                    })
                });
                is_known.then_some(result)
            }
            Type::F32x2 => {
                let mut is_known = true;
                let result = emit.both_halves(&args, |halves| {
                    let floats: Vec<_> = halves.iter().map(|&half| emit.bitcast(half, emit.f32())).collect();
                    match float_operation(emit, op, form, style, &floats) {
                        Some(result) => emit.to_bits(result),
                        None => {
                            is_known = false;
                            halves[0]
                        }
                    }
                });
                is_known.then_some(result)
            }
            _ => float_operation(emit, op, form, style, &args),
        };
        match result {
            Some(result) => {
                self.write(&operands[0], result, Sign::Unsigned);
                true
            }
            None => false,
        }
    }

    /// `add.f32.f16`, `fma.f32.bf16`: some operands are narrower than the result.
    fn mixed_float(&mut self, op: Op, view: &View<'a>, emit: Emit<'a, 'c>) -> bool {
        let form = view.form;
        let operands = view.operands();
        let [Type::F32, narrow @ (Type::F16 | Type::Bf16)] = form.types() else {
            return false;
        };
        let format = if *narrow == Type::F16 { FloatFormat::F16 } else { FloatFormat::Bf16 };
        let narrow_operands = if op == Op::Fma { 2 } else { 1 };
        let mut args = Vec::new();
        for (index, operand) in operands[1..].iter().enumerate() {
            let value = if index < narrow_operands {
                let bits = self.read(operand, 16, emit);
                emit.widen_half(format, bits)
            } else {
                self.read_as(operand, Type::F32, emit)
            };
            args.push(value);
        }
        match float_operation(emit, op, form, style_of(form), &args) {
            Some(result) => {
                self.write(&operands[0], result, Sign::Unsigned);
                true
            }
            None => false,
        }
    }

    fn logic(&mut self, op: Op, view: &View<'a>, emit: Emit<'a, 'c>) -> bool {
        let form = view.form;
        let operands = view.operands();
        let ty = form.types().last().copied().unwrap_or(Type::B32);
        let bits = ty.bits();
        let mut read = |index: usize, bits: u32| self.read(&operands[index], bits, emit);
        let result = match op {
            Op::And => emit.and(read(1, bits), read(2, bits)),
            Op::Or => emit.or(read(1, bits), read(2, bits)),
            Op::Xor => emit.xor(read(1, bits), read(2, bits)),
            Op::Not => emit.not(read(1, bits)),
            Op::Cnot => {
                let is_zero = emit.is_zero(read(1, bits));
                emit.zext(is_zero, emit.int(bits))
            }
            Op::Shl => emit.shift_left(read(1, bits), read(2, 32)),
            Op::Shr => emit.shift_right(sign_of(ty), read(1, bits), read(2, 32)),
            Op::Shf => {
                let (a, b, c) = (read(1, 32), read(2, 32), read(3, 32));
                emit.funnel_shift(form.has(Mod::L), form.has(Mod::Wrap), a, b, c)
            }
            Op::Lop3 => {
                let Some(table) = operands[4].as_int() else { return false };
                let (a, b, c) = (read(1, 32), read(2, 32), read(3, 32));
                let result = emit.logic3(table as u8, a, b, c);
                if let Operand::Pair(_, second) = operands[0]
                    && let Some(predicate) = second.reg()
                {
                    let q = read(5, 1);
                    let any = emit.is_not_zero(result);
                    let combined = if form.has(Mod::And) { emit.and(any, q) } else { emit.or(any, q) };
                    self.write_reg(predicate, combined, Sign::Unsigned);
                }
                result
            }
            _ => {
                let (a, b, c) = (read(1, 32), read(2, 32), read(3, 32));
                match form.words().find_map(byte_order) {
                    Some(order) => emit.permute_bytes_by(order, a, b, c),
                    None => emit.permute_bytes(a, b, c),
                }
            }
        };
        self.write(&operands[0], result, sign_of(ty));
        true
    }

    fn bits(&mut self, op: Op, view: &View<'a>, emit: Emit<'a, 'c>) {
        let form = view.form;
        let operands = view.operands();
        let ty = form.types().last().copied().unwrap_or(Type::B32);
        let (bits, sign) = (ty.bits(), sign_of(ty));
        let mut read = |index: usize, bits: u32| self.read(&operands[index], bits, emit);
        let wraps = form.has(Mod::Wrap);
        let result = match op {
            Op::Popc => emit.popc(read(1, bits)),
            Op::Clz => emit.clz(read(1, bits)),
            Op::Brev => emit.reverse_bits(read(1, bits)),
            Op::Bfind => emit.find_leading(sign, read(1, bits), form.has(Mod::Shiftamt)),
            Op::Bfe => emit.extract_field(sign, read(1, bits), read(2, 32), read(3, 32)),
            Op::Bfi => emit.insert_field(read(1, bits), read(2, bits), read(3, 32), read(4, 32)),
            Op::Bmsk => emit.mask_of(read(1, 32), read(2, 32), wraps),
            Op::Szext => emit.extend_from(sign, read(1, 32), read(2, 32), wraps),
            Op::Fns => emit.find_nth_set(read(1, 32), read(2, 32), read(3, 32)),
            _ => {
                let signs = (sign_of(form.types()[0]), sign_of(form.types()[1]));
                let parts: &[(u32, u32, u32)] = match (op, form.has(Mod::Hi)) {
                    (Op::Dp4a, _) => &[(8, 0, 0), (8, 8, 8), (8, 16, 16), (8, 24, 24)],
                    (_, false) => &[(16, 0, 0), (16, 16, 8)],
                    (_, true) => &[(16, 0, 16), (16, 16, 24)],
                };
                emit.dot_product(parts, signs, read(1, 32), read(2, 32), read(3, 32))
            }
        };
        self.write(&operands[0], result, Sign::Unsigned);
    }

    fn set_predicate(&mut self, view: &View<'a>, emit: Emit<'a, 'c>) -> bool {
        let form = view.form;
        let operands = view.operands();
        let ty = form.types().last().copied().unwrap_or(Type::B32);
        if self.analyses.speculated_checks.contains(self.statement) && !self.is_scalar_device() {
            return self.speculate_none(view, ty);
        }
        let (first, second) = predicates(&operands[0]);
        let results = if matches!(ty, Type::F16x2 | Type::Bf16x2) {
            // One predicate for each half.
            let element = if ty == Type::F16x2 { Type::F16 } else { Type::Bf16 };
            let (a, b) = (self.read(&operands[1], 32, emit), self.read(&operands[2], 32, emit));
            let low = self.compared(form, element, emit.low_half(a), emit.low_half(b), emit);
            let high = self.compared(form, element, emit.high_half(a), emit.high_half(b), emit);
            [low, high]
        } else {
            let result = match self.any_above(form, ty, &operands[1], &operands[2], emit) {
                Some(result) => Some(result),
                None => {
                    let (a, b) = (self.read_as(&operands[1], ty, emit), self.read_as(&operands[2], ty, emit));
                    let result = self.compared(form, ty, a, b, emit);
                    // Nearly nobody but tools asks for the opposite, too.
                    if second.is_some() { result.map(|result| self.none_or_some(result)) } else { result }
                }
            };
            [result, result.map(|result| emit.not(result))]
        };
        let [Some(mut yes), Some(mut no)] = results else { return false };
        if let Some(condition) = operands.get(3) {
            let condition = self.read(condition, 1, emit);
            yes = combined(emit, form, yes, condition);
            no = combined(emit, form, no, condition);
        }
        if let Some(reg) = first {
            self.write_reg(reg, yes, Sign::Unsigned);
        }
        if let Some(reg) = second {
            self.write_reg(reg, no, Sign::Unsigned);
        }
        true
    }

    /// Whether numbers that differ by constants from lane to lane are above a limit that is the same for all. Mostly, none
    /// is: these are checks of bounds. Then one comparison of the largest does, and what follows need not be in vectors.
    fn any_above(&mut self, form: &Form, ty: Type, a: &Operand, b: &Operand, emit: Emit<'a, 'c>) -> Option<Value<'c>> {
        emit.lanes?;
        let may_be_above = self.may_be_above(form, ty, a, b)?;
        let builder = self.unit.builder;
        let (some, after) = (self.new_block("some"), self.new_block("compared"));
        let before = builder.block();
        builder.branch_if(may_be_above, some, after);
        builder.position_at_end(some);
        let (a, b) = (self.read_as(a, ty, emit), self.read_as(b, ty, emit));
        let result = self.compared(form, ty, a, b, emit)?;
        let some = builder.block();
        builder.branch(after);
        builder.position_at_end(after);
        Some(builder.phi(result.ty(), &[(result.ty().zero(), before), (result, some)]))
    }

    /// Whether any of such numbers may be above the limit: of a lane that executes the statement, or of another.
    pub(crate) fn may_be_above(&mut self, form: &Form, ty: Type, a: &Operand, b: &Operand) -> Option<Value<'c>> {
        let how = form.words().find_map(|word| comparison(word, sign_of(ty)))?;
        let Operand::Reg(reg) = *a else { return None };
        if how != (Comparison::Greater, Sign::Unsigned)
            || ty.bits() < 32
            || self.analyses.register_bits(reg) != ty.bits()
            || !self.is_uniform(b)
        {
            return None;
        }
        let affine = self.place(reg, false)?.affine.filter(|affine| !affine.is_uniform())?;
        let offsets = (0..self.lanes()).map(|lane| affine.offset(lane));
        let (least, most) = (offsets.clone().min()?, offsets.max()?);
        let scalar = self.scalar();
        let base = self.read_reg(reg, scalar);
        let limit = self.read(b, ty.bits(), scalar);
        let low = scalar.add(base, base.ty().constant(least as u64));
        let high = scalar.add(base, base.ty().constant(most as u64));
        let wraps = scalar.less(Sign::Unsigned, high, low);
        Some(scalar.or(wraps, scalar.less(Sign::Unsigned, limit, high)))
    }

    /// The same, where it mostly holds for no lane: then what follows need not look at lanes.
    fn none_or_some(&mut self, result: Value<'c>) -> Value<'c> {
        if result.ty().lanes().is_none() {
            return result;
        }
        let builder = self.unit.builder;
        let result = builder.and(result, self.masks.running);
        let (some, after) = (self.new_block("some"), self.new_block("compared"));
        let before = builder.block();
        builder.branch_if(self.masks.any(result), some, after);
        builder.position_at_end(some);
        builder.branch(after);
        builder.position_at_end(after);
        builder.phi(result.ty(), &[(result.ty().zero(), before), (result, some)])
    }

    fn set_number(&mut self, view: &View<'a>, emit: Emit<'a, 'c>) -> bool {
        let form = view.form;
        let operands = view.operands();
        if let [ty] = form.types()
            && let Some((parts, element)) = packed(*ty)
        {
            return self.packed_integer(Op::Set, view, emit, parts, element);
        }
        let [to, from] = form.types() else { return false };
        let condition = operands.get(3).map(|condition| self.read(condition, 1, emit));
        let result_of = |this: &mut Self, element: Type, a, b| -> Option<Value<'c>> {
            let result = this.compared(form, element, a, b, emit)?;
            Some(condition.map_or(result, |condition| combined(emit, form, result, condition)))
        };
        let result = match from {
            Type::F16x2 | Type::Bf16x2 => {
                let element = if *from == Type::F16x2 { Type::F16 } else { Type::Bf16 };
                let (a, b) = (self.read(&operands[1], 32, emit), self.read(&operands[2], 32, emit));
                let low = result_of(self, element, emit.low_half(a), emit.low_half(b));
                let high = result_of(self, element, emit.high_half(a), emit.high_half(b));
                let (Some(low), Some(high)) = (low, high) else { return false };
                let one = match to {
                    Type::F16x2 => 0x3c00,
                    Type::Bf16x2 => 0x3f80,
                    _ => 0xffff,
                };
                let half = emit.int(16);
                let [low, high] = [low, high].map(|result| emit.select(result, half.constant(one), half.zero()));
                emit.pair(low, high)
            }
            _ => {
                let (a, b) = (self.read_as(&operands[1], *from, emit), self.read_as(&operands[2], *from, emit));
                let Some(result) = result_of(self, *from, a, b) else { return false };
                let ty = emit.int(to.bits());
                let yes = match to {
                    Type::F32 => ty.constant(1.0_f32.to_bits().into()),
                    Type::F16 => ty.constant(0x3c00),
                    Type::Bf16 => ty.constant(0x3f80),
                    _ => ty.all_ones(),
                };
                emit.select(result, yes, ty.zero())
            }
        };
        self.write(&operands[0], result, sign_of(*to));
        true
    }

    /// Compares as the modifiers say.
    pub(crate) fn compared(
        &mut self,
        form: &Form,
        ty: Type,
        a: Value<'c>,
        b: Value<'c>,
        emit: Emit<'a, 'c>,
    ) -> Option<Value<'c>> {
        let (how, sign) = form.words().find_map(|word| comparison(word, sign_of(ty)))?;
        let style = style_of(form);
        Some(match ty {
            Type::F32 | Type::F64 => {
                let [a, b] = [a, b].map(|value| if ty == Type::F32 { emit.flushed(style, value) } else { value });
                emit.compare_floats(how, a, b)
            }
            Type::F16 | Type::Bf16 => {
                let format = if ty == Type::F16 { FloatFormat::F16 } else { FloatFormat::Bf16 };
                let [a, b] = [a, b].map(|bits| emit.widen_half(format, emit.flushed_half(style, format, bits)));
                emit.compare_floats(how, a, b)
            }
            _ => emit.icmp(how.of_ints(sign)?, a, b),
        })
    }
}

/// An operation on numbers of 32 or 64 bits.
fn float_operation<'c>(
    emit: Emit<'_, 'c>,
    op: Op,
    form: &Form,
    style: FloatStyle,
    args: &[Value<'c>],
) -> Option<Value<'c>> {
    let is_approximate = form.has(Mod::Approx) || form.has(Mod::Full);
    let ty = args[0].ty();
    let one = ty.float_constant(1.0);
    // Approximations have no rounding of their own.
    let style = FloatStyle { rounding: if is_approximate { Rounding::Nearest } else { style.rounding }, ..style };
    let approximate = |what| {
        // 2 to the power of a subnormal number is 1, as if it were zero.
        let x = if what == Approximation::Ex2 { args[0] } else { emit.flushed(style, args[0]) };
        emit.finish(style, emit.approximate(what, x))
    };
    Some(match op {
        Op::Add => emit.styled(Arithmetic::Add, style, args),
        Op::Sub => emit.styled(Arithmetic::Sub, style, args),
        Op::Mul => emit.styled(Arithmetic::Mul, style, args),
        Op::Mad | Op::Fma => emit.styled(Arithmetic::Fma, style, args),
        Op::Div if form.has(Mod::Approx) => {
            // The reciprocal of a divisor above 2^126 is zero.
            let [a, b] = [args[0], args[1]].map(|arg| emit.flushed(style, arg));
            let is_large = emit.float_less(ty.float_constant(2_f64.powi(126)), emit.fabs(b));
            let is_large = emit.and(is_large, emit.is_finite(b));
            let b = emit.select(is_large, emit.copysign(ty.float_constant(f64::INFINITY), b), b);
            emit.styled(Arithmetic::Div, style, &[a, b])
        }
        Op::Div => emit.styled(Arithmetic::Div, style, args),
        Op::Rcp if is_approximate && ty.bits() == 64 => {
            // Only the upper half of the operand counts, and only that of the result is computed.
            let high = |value| emit.bitcast(emit.and_constant(emit.to_bits(value), !0 << 32), ty);
            let result = emit.styled(Arithmetic::Div, style, &[one, high(args[0])]);
            high(result)
        }
        Op::Rcp => emit.styled(Arithmetic::Div, style, &[one, args[0]]),
        Op::Sqrt => emit.styled(Arithmetic::Sqrt, style, args),
        Op::Rsqrt => {
            let nearest = FloatStyle { rounding: Rounding::Nearest, ..style };
            let root = emit.styled(Arithmetic::Sqrt, nearest, args);
            emit.styled(Arithmetic::Div, nearest, &[one, root])
        }
        Op::Sin => approximate(Approximation::Sin),
        Op::Cos => approximate(Approximation::Cos),
        Op::Lg2 => approximate(Approximation::Lg2),
        Op::Ex2 => approximate(Approximation::Ex2),
        Op::Tanh => approximate(Approximation::Tanh),
        Op::Abs => emit.flushed(style, emit.fabs(args[0])),
        Op::Neg => emit.flushed(style, emit.fneg(args[0])),
        Op::Min | Op::Max => {
            let what = min_max(op, form);
            let args: Vec<_> = args.iter().map(|&arg| emit.flushed(style, arg)).collect();
            // Of three operands with `.abs`, the magnitudes count.
            let abs = form.has(Mod::Abs) && !what.xorsign;
            let args: Vec<_> = args.iter().map(|&arg| if abs { emit.fabs(arg) } else { arg }).collect();
            args[1..].iter().fold(args[0], |result, &arg| emit.float_min_max(what, result, arg))
        }
        _ => return None,
    })
}

/// An operation on numbers of 16 bits.
fn half_operation<'c>(
    emit: Emit<'_, 'c>,
    op: Op,
    form: &Form,
    style: FloatStyle,
    format: FloatFormat,
    args: &[Value<'c>],
) -> Option<Value<'c>> {
    let operate = |op| emit.half_arithmetic(format, op, style, args);
    let approximate = |what| {
        let value = emit.widen_half(format, emit.flushed_half(style, format, args[0]));
        let bits = emit.narrow_to_half(format, emit.approximate(what, value), Rounding::Nearest);
        emit.finish_half(format, style, bits)
    };
    Some(match op {
        Op::Add => operate(Arithmetic::Add),
        Op::Sub => operate(Arithmetic::Sub),
        Op::Mul => operate(Arithmetic::Mul),
        Op::Fma if !form.has(Mod::Oob) => operate(Arithmetic::Fma),
        Op::Ex2 => approximate(Approximation::Ex2),
        Op::Tanh => approximate(Approximation::Tanh),
        Op::Abs => emit.flushed_half(style, format, emit.and_constant(args[0], 0x7fff)),
        Op::Neg => emit.flushed_half(style, format, emit.xor(args[0], args[0].ty().constant(0x8000))),
        Op::Min | Op::Max => emit.half_min_max(format, min_max(op, form), style, args[0], args[1]),
        _ => return None,
    })
}

fn min_max(op: Op, form: &Form) -> MinMax {
    MinMax { is_max: op == Op::Max, propagates_nan: form.has(Mod::NaN), xorsign: form.has(Mod::Xorsign) }
}

/// What the modifiers of a floating-point instruction say.
pub(crate) fn style_of(form: &Form) -> FloatStyle {
    FloatStyle {
        rounding: rounding_of(form).unwrap_or(Rounding::Nearest),
        flush: form.has(Mod::Ftz),
        saturate: form.has(Mod::Sat),
        relu: form.has(Mod::Relu),
    }
}

/// The rounding that the modifiers name.
pub(crate) fn rounding_of(form: &Form) -> Option<Rounding> {
    form.words().find_map(|word| match word {
        Mod::Rn => Some(Rounding::Nearest),
        Mod::Rz => Some(Rounding::TowardZero),
        Mod::Rm => Some(Rounding::Down),
        Mod::Rp => Some(Rounding::Up),
        _ => None,
    })
}

/// Whether instructions of the type compute with floating-point numbers.
pub(crate) fn is_float(ty: Type) -> bool {
    ty.kind() == TypeKind::Float || matches!(ty, Type::Bf16 | Type::F16x2 | Type::Bf16x2 | Type::F32x2 | Type::Tf32)
}

/// How many integers a register of a packed type holds, and of which type.
fn packed(ty: Type) -> Option<(u32, Type)> {
    Some(match ty {
        Type::U16x2 => (2, Type::U16),
        Type::S16x2 => (2, Type::S16),
        Type::U8x4 => (4, Type::U8),
        Type::S8x4 => (4, Type::S8),
        _ => return None,
    })
}

/// What a comparison word means for integers of a sign, or for floating-point numbers.
pub(crate) fn comparison(word: Mod, sign: Sign) -> Option<(Comparison, Sign)> {
    Some(match word {
        Mod::Eq => (Comparison::Equal, sign),
        Mod::Ne => (Comparison::NotEqual, sign),
        Mod::Lt => (Comparison::Less, sign),
        Mod::Le => (Comparison::LessOrEqual, sign),
        Mod::Gt => (Comparison::Greater, sign),
        Mod::Ge => (Comparison::GreaterOrEqual, sign),
        Mod::Lo => (Comparison::Less, Sign::Unsigned),
        Mod::Ls => (Comparison::LessOrEqual, Sign::Unsigned),
        Mod::Hi => (Comparison::Greater, Sign::Unsigned),
        Mod::Hs => (Comparison::GreaterOrEqual, Sign::Unsigned),
        Mod::Equ => (Comparison::EqualOrNan, sign),
        Mod::Neu => (Comparison::NotEqualOrNan, sign),
        Mod::Ltu => (Comparison::LessOrNan, sign),
        Mod::Leu => (Comparison::LessOrEqualOrNan, sign),
        Mod::Gtu => (Comparison::GreaterOrNan, sign),
        Mod::Geu => (Comparison::GreaterOrEqualOrNan, sign),
        Mod::Num => (Comparison::BothNumbers, sign),
        Mod::Nan => (Comparison::EitherNan, sign),
        _ => return None,
    })
}

/// A comparison combined with a predicate as the modifiers say.
fn combined<'c>(emit: Emit<'_, 'c>, form: &Form, result: Value<'c>, condition: Value<'c>) -> Value<'c> {
    if form.has(Mod::And) {
        emit.and(result, condition)
    } else if form.has(Mod::Or) {
        emit.or(result, condition)
    } else {
        emit.xor(result, condition)
    }
}

fn class_test<'c>(emit: Emit<'_, 'c>, form: &Form, a: Value<'c>) -> Value<'c> {
    if form.has(Mod::Finite) {
        emit.is_finite(a)
    } else if form.has(Mod::Infinite) {
        emit.is_infinite(a)
    } else if form.has(Mod::Number) {
        emit.not(emit.is_nan(a))
    } else if form.has(Mod::Notanumber) {
        emit.is_nan(a)
    } else if form.has(Mod::Subnormal) {
        emit.is_subnormal(a)
    } else {
        let is_zero = emit.compare_floats(Comparison::Equal, a, a.ty().zero());
        emit.and(emit.is_finite(a), emit.not(emit.or(emit.is_subnormal(a), is_zero)))
    }
}

/// The bytes that `prmt` picks in one of its modes, by the selector.
fn byte_order(word: Mod) -> Option<fn(u64) -> [u64; 4]> {
    Some(match word {
        Mod::F4e => |start| [start, start + 1, start + 2, start + 3],
        Mod::B4e => |start| [start, (start + 7) % 8, (start + 6) % 8, (start + 5) % 8],
        Mod::Rc8 => |start| [start; 4],
        Mod::Ecl => |start| [start, start.max(1), start.max(2), 3],
        Mod::Ecr => |start| [0, start.min(1), start.min(2), start],
        Mod::Rc16 => |start| [start % 2 * 2, start % 2 * 2 + 1, start % 2 * 2, start % 2 * 2 + 1],
        _ => return None,
    })
}
