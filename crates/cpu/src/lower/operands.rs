//! Reading and writing operands.

use ptx::ir::{Guard, Operand, Reg, Symbol};
use ptx::ops::Op;
use ptx::special::Special;
use ptx::types::{Space, Type, TypeKind};
use ptx::view::View;

use super::function::Lowering;
use super::registers::Place;
use super::unit::symbol_of;
use crate::abi::calls::RuntimeFunction;
use crate::abi::context::field;
use crate::emit::{Emit, Sign};
use crate::llvm::{Ty, Value};
use crate::options::Tier;

impl<'a, 'c> Lowering<'_, 'a, 'c> {
    /// The shape in which an instruction is computed: scalars if all that it reads and writes is the same, or affine, in
    /// all lanes.
    pub(crate) fn shape(&mut self, view: &View<'_>) -> Emit<'a, 'c> {
        if self.is_scalar_device() {
            return self.scalar();
        }
        let mut is_regular = true;
        view.for_each_write(|reg| is_regular &= self.place(reg, true).is_some_and(|place| place.affine.is_some()));
        view.for_each_read(|reg| is_regular &= self.place(reg, false).is_some_and(|place| place.affine.is_some()));
        if let Some(guard) = self.guard {
            is_regular &= self.is_uniform_reg(guard.reg);
        }
        is_regular = is_regular && view.operands().iter().all(|operand| self.is_regular_operand(operand));
        if is_regular {
            return self.scalar();
        }
        let groups = self.analyses.def_use.writes(self.statement).iter().find_map(|&reg| self.groups_written(reg));
        groups.map_or_else(|| self.vector(), |groups| self.group_shape(groups))
    }

    /// How many groups of lanes have a number of their own in a register that the present statement writes, if it is kept so.
    fn groups_written(&self, reg: Reg) -> Option<u32> {
        let web = self.analyses.uniformity.as_ref()?.written(self.statement, reg)?;
        self.analyses.subwarp_affine.get(&web).copied()
    }

    fn is_regular_operand(&self, operand: &Operand) -> bool {
        match *operand {
            Operand::Special(special) => self.unit.facts().special(special).has_one_base(),
            Operand::Vector(list) | Operand::TupleAddress(list) | Operand::Arguments(list) => {
                self.body.operands(list).iter().all(|operand| self.is_regular_operand(operand))
            }
            _ => true,
        }
    }

    /// Whether a register that the present statement reads has the same value in all lanes.
    pub(crate) fn is_uniform_reg(&mut self, reg: Reg) -> bool {
        self.is_scalar_device()
            || self.place(reg, false).is_some_and(|place| place.affine.is_some_and(|value| value.is_uniform()))
    }

    /// Whether an operand has the same value in all lanes.
    pub(crate) fn is_uniform(&mut self, operand: &Operand) -> bool {
        match *operand {
            Operand::Reg(reg) | Operand::Not(reg) | Operand::Neg(reg) | Operand::Part(reg, _) => {
                self.is_uniform_reg(reg)
            }
            Operand::Special(special) => self.is_scalar_device() || self.unit.facts().special(special).is_uniform(),
            Operand::Vector(list) => {
                let parts = self.body.operands(list);
                parts.iter().all(|part| self.is_uniform(part))
            }
            _ => true,
        }
    }

    /// The value of a register.
    pub(crate) fn read_reg(&mut self, reg: Reg, emit: Emit<'a, 'c>) -> Value<'c> {
        let bits = self.analyses.register_bits(reg);
        match self.place(reg, false) {
            Some(place) => self.registers.load(place, bits, emit),
            None => emit.int(bits).zero(),
        }
    }

    /// An operand that is read, as bits.
    pub(crate) fn read(&mut self, operand: &Operand, bits: u32, emit: Emit<'a, 'c>) -> Value<'c> {
        let ty = emit.int(bits);
        match *operand {
            Operand::Reg(reg) => {
                let value = self.read_reg(reg, emit);
                emit.resize(Sign::Unsigned, value, bits)
            }
            Operand::Not(reg) => {
                let value = self.read_reg(reg, emit);
                emit.resize(Sign::Unsigned, emit.not(value), bits)
            }
            Operand::Neg(reg) => {
                let value = self.read_reg(reg, emit);
                emit.resize(Sign::Unsigned, emit.neg(value), bits)
            }
            Operand::Part(reg, part) => {
                let value = self.read_reg(reg, emit);
                let (place, width) = self.part_of(reg, part);
                let part = emit.part(Sign::Unsigned, value, place, width.min(value.ty().bits()));
                emit.resize(Sign::Unsigned, part, bits)
            }
            Operand::Int(value) => self.number(ty, value as u64, value < 0),
            Operand::Hex(value) => self.number(ty, value, false),
            Operand::WarpSize => ty.constant(32),
            Operand::F32(value) => match bits {
                64 => ty.constant(f64::from(f32::from_bits(value)).to_bits()),
                _ => ty.constant(value.into()),
            },
            Operand::F64(value) => match bits {
                32 => ty.constant((f64::from_bits(value) as f32).to_bits().into()),
                _ => ty.constant(value),
            },
            Operand::Special(special) => {
                let value = self.special(special, emit);
                emit.resize(Sign::Unsigned, value, bits)
            }
            Operand::Symbol(symbol, 0) if self.unit.names_texture(symbol) => {
                let handle = self.named_texture(symbol);
                emit.broadcast(self.scalar().resize(Sign::Unsigned, handle, bits))
            }
            Operand::Symbol(..) | Operand::Element(..) => {
                let (symbol, _) = symbol_of(operand).expect("it names something");
                let address = self.symbol_address(symbol);
                let offset = self.symbol_offset(operand);
                let address = self.scalar().add(address, address.ty().constant(offset as u64));
                emit.broadcast(self.scalar().resize(Sign::Unsigned, address, bits))
            }
            Operand::Vector(list) => {
                // Parts of one register, the lowest first.
                let parts = self.body.operands(list).to_vec();
                let width = bits / parts.len().max(1) as u32;
                let mut value = ty.zero();
                for (index, part) in parts.iter().enumerate() {
                    let part = self.read(part, width, emit);
                    let part = emit.resize(Sign::Unsigned, part, bits);
                    value = emit.or(value, emit.shl(part, ty.constant(u64::from(width) * index as u64)));
                }
                value
            }
            _ => {
                self.refuse();
                ty.zero()
            }
        }
    }

    fn number(&self, ty: Ty<'c>, value: u64, is_negative: bool) -> Value<'c> {
        match ty.bits() {
            bits if bits > 64 => {
                let high = if is_negative { u64::MAX } else { 0 };
                ty.wide_constant(u128::from(high) << 64 | u128::from(value))
            }
            1 => ty.constant(u64::from(value != 0)),
            _ => ty.constant(value),
        }
    }

    /// An operand in the type of the instruction: `float` and `double` for those, bits for all others.
    pub(crate) fn read_as(&mut self, operand: &Operand, ty: Type, emit: Emit<'a, 'c>) -> Value<'c> {
        let value = self.read(operand, ty.bits(), emit);
        match ty {
            Type::F32 | Type::Tf32 => emit.bitcast(value, emit.f32()),
            Type::F64 => emit.bitcast(value, emit.f64()),
            _ => value,
        }
    }

    /// Writes a register. The value is of the shape in which it was computed; if it is narrower than the register, it is
    /// extended by its sign.
    pub(crate) fn write_reg(&mut self, reg: Reg, value: Value<'c>, sign: Sign) {
        let Some(place) = self.place(reg, true) else { return };
        let bits = self.analyses.register_bits(reg);
        let emit = self.emit_like(value);
        let value = emit.resize(sign, emit.to_bits(value), bits);
        let align = self.registers.align(place, bits);
        let guard = self.guard;
        if place.subwarp_affine.is_some() {
            return self.write_groups(reg, place, value, align);
        }
        let value = match (place.affine, emit.lanes) {
            (Some(affine), Some(_)) => {
                // The value of one lane that executes it tells those of all.
                let active = self.active();
                let scalar = self.scalar();
                let lane = scalar.and_constant(scalar.ctz(self.masks.bits(active)), 31);
                let one = emit.extract_element(value, lane);
                if affine.is_uniform() {
                    one
                } else {
                    let int = one.ty();
                    let offsets: Vec<_> = (0..32).map(|lane| int.constant(affine.offset(lane) as u64)).collect();
                    let offset = emit.extract_element(Value::vector_constant(&offsets), lane);
                    emit.sub(one, offset)
                }
            }
            (None, None) => self.vector().broadcast(value),
            _ => value,
        };
        let is_vector = value.ty().lanes().is_some();
        let must_select = guard.is_some() || is_vector && self.masks.is_live_in_pending_lanes(reg);
        if !must_select {
            emit.store(value, place.address, align);
            return;
        }
        let value = if is_vector && self.may_be_logic() { emit.opaque(value) } else { value };
        let old = emit.load(value.ty(), place.address, align);
        let condition = if is_vector {
            let mut mask = None;
            if self.masks.is_live_in_pending_lanes(reg) {
                mask = Some(self.masks.running);
                self.registers.zero_written(self.statement, reg);
            }
            if let Some(guard) = guard {
                let condition = self.vector_guard(guard);
                mask = Some(mask.map_or(condition, |mask| emit.and(mask, condition)));
            }
            mask.expect("there is a reason to select")
        } else {
            let guard = guard.expect("scalars are only kept for a guard");
            if self.is_uniform_reg(guard.reg) {
                self.scalar_guard(guard)
            } else {
                let active = self.active();
                self.masks.any(active)
            }
        };
        emit.store(emit.select(condition, value, old), place.address, align);
    }

    /// Whether the present statement may be what LLVM makes one instruction of together with the selection of lanes that it is
    /// for, wrongly: a function of three operands, one of them in memory (llvm/llvm-project#157929, mended in LLVM 23).
    fn may_be_logic(&self) -> bool {
        use Op::*;
        let op = self.view(self.statement).and_then(|view| view.op());
        let is_logic = matches!(op, Some(And | Or | Xor | Not | Lop3 | Bfi | Bmsk | Shf | Prmt | Mov | Selp | Slct))
            || matches!(op, Some(Szext | Cvt | Copysign | Abs | Neg));
        is_logic && self.unit.llvm.has_avx512 && self.unit.options.tier == Tier::Optimised
    }

    /// Writes a register that has a number for each group of lanes, as was computed.
    fn write_groups(&mut self, reg: Reg, place: Place<'c>, value: Value<'c>, align: u32) {
        let groups = place.lanes(self.lanes());
        let emit = self.group_shape(groups);
        debug_assert_eq!(value.ty().lanes(), Some(groups), "such registers are only computed for groups");
        let mut condition = None;
        if self.masks.is_live_in_pending_lanes(reg) {
            condition = Some(self.groups_in(self.masks.running, groups));
            self.registers.zero_written(self.statement, reg);
        }
        if let Some(guard) = self.guard {
            let guard = emit.broadcast(self.scalar_guard(guard));
            condition = Some(condition.map_or(guard, |condition| emit.and(condition, guard)));
        }
        let value = match condition {
            None => value,
            Some(condition) => emit.select(condition, value, emit.load(value.ty(), place.address, align)),
        };
        emit.store(value, place.address, align);
    }

    /// Writes a destination operand.
    pub(crate) fn write(&mut self, operand: &Operand, value: Value<'c>, sign: Sign) {
        match *operand {
            Operand::Reg(reg) => self.write_reg(reg, value, sign),
            Operand::Pair(first, _) => {
                if let Some(reg) = first.reg() {
                    self.write_reg(reg, value, sign);
                }
            }
            Operand::Vector(list) => {
                let parts = self.body.operands(list).to_vec();
                let emit = self.emit_like(value);
                let value = emit.to_bits(value);
                let width = value.ty().bits() / parts.len().max(1) as u32;
                for (index, part) in parts.iter().enumerate() {
                    let moved = emit.lshr(value, value.ty().constant(u64::from(width) * index as u64));
                    let moved = emit.resize(Sign::Unsigned, moved, width);
                    self.write(part, moved, sign);
                }
            }
            Operand::Part(reg, part) => {
                let (place, width) = self.part_of(reg, part);
                let emit = self.emit_like(value);
                let old = self.read_reg(reg, emit);
                let bits = old.ty().bits();
                let field = emit.resize(Sign::Unsigned, emit.to_bits(value), bits);
                let mask = old.ty().wide_constant(((1 << width) - 1) << place);
                let field = emit.and(emit.shl(field, old.ty().constant(place.into())), mask);
                let kept = emit.and(old, emit.not(mask));
                self.write_reg(reg, emit.or(kept, field), sign);
            }
            Operand::Sink => {}
            _ => self.refuse(),
        }
    }

    /// Place and width in bits of `.b2`, `.h1`, `.x`.
    fn part_of(&self, reg: Reg, part: ptx::name::Name) -> (u32, u32) {
        let element = self.function.reg_type(reg).bits();
        match self.unit.module.text(part) {
            "y" | "g" => (element, element),
            "z" | "b" => (2 * element, element),
            "w" | "a" => (3 * element, element),
            "x" | "r" => (0, element),
            part => part_of(part),
        }
    }

    /// Keeps the condition of an instruction that overwrites its own guard: other destinations may be written after.
    pub(crate) fn save_guard(&mut self, view: &View<'_>) {
        self.saved_guard = None;
        let Some(guard) = self.guard else { return };
        if view.writes().contains(&guard.reg) {
            let scalar = self.is_uniform_reg(guard.reg).then(|| self.scalar_guard(guard));
            self.saved_guard = Some((self.vector_guard(guard), scalar));
        }
    }

    /// The condition of a guard in each lane.
    pub(crate) fn vector_guard(&mut self, guard: Guard) -> Value<'c> {
        if let Some((condition, _)) = self.saved_guard {
            return condition;
        }
        let emit = self.vector();
        let value = self.read_reg(guard.reg, emit);
        if guard.negated { emit.not(value) } else { value }
    }

    /// The condition of a guard that all lanes agree on.
    pub(crate) fn scalar_guard(&mut self, guard: Guard) -> Value<'c> {
        if let Some((_, Some(condition))) = self.saved_guard {
            return condition;
        }
        let emit = self.scalar();
        let value = match self.place(guard.reg, false) {
            Some(place) if place.affine.is_none() && !self.is_scalar_device() => {
                // All active lanes agree, although the place has one for each.
                let all = self.read_reg(guard.reg, self.vector());
                self.masks.any(emit.and(all, self.masks.running))
            }
            _ => self.read_reg(guard.reg, emit),
        };
        if guard.negated { emit.not(value) } else { value }
    }

    /// The lanes for which the present statement is executed.
    pub(crate) fn active(&mut self) -> Value<'c> {
        match self.guard {
            None => self.masks.running,
            Some(guard) => {
                let condition = self.vector_guard(guard);
                self.unit.builder.and(self.masks.running, condition)
            }
        }
    }

    /// Whether the present statement is guarded.
    pub(crate) fn is_guarded(&self) -> bool {
        self.guard.is_some()
    }

    /// The address of a variable in its own space, the same in all lanes.
    pub(crate) fn symbol_address(&mut self, symbol: Symbol) -> Value<'c> {
        let int = self.unit.context().int(64);
        match symbol {
            Symbol::Global(global) => self.unit.global_address(global),
            Symbol::Func(func) => self.unit.function_address(func),
            Symbol::Var(var) => {
                let offset = self.unit.map.frame(self.func).offset(var);
                let variable = &self.function.vars[var];
                match (variable.space, offset) {
                    (Space::Shared, Some(offset)) => int.constant(offset),
                    (Space::Local, Some(offset)) => self.unit.builder.add(self.frame, int.constant(offset)),
                    (Space::Param, Some(offset)) if self.function.is_entry() => {
                        let params = self.context_field(field!(params), self.unit.context().pointer());
                        let params = self.unit.builder.ptr_to_int(params, int);
                        self.unit.builder.add(params, int.constant(offset))
                    }
                    _ => {
                        self.refuse();
                        int.zero()
                    }
                }
            }
            _ => {
                self.refuse();
                int.zero()
            }
        }
    }

    /// The bytes from the start of a variable that an operand names: `buffer+8`, `table[3]`.
    pub(crate) fn symbol_offset(&self, operand: &Operand) -> i64 {
        match *operand {
            Operand::Element(symbol, index) => {
                let variable = match symbol {
                    Symbol::Global(global) => &self.unit.module.globals[global],
                    Symbol::Var(var) => &self.function.vars[var],
                    _ => return 0,
                };
                i64::from(index) * i64::from(variable.ty.bytes()) * i64::from(variable.vector)
            }
            Operand::Symbol(_, offset) | Operand::SymbolAddress(_, offset) => offset.into(),
            _ => 0,
        }
    }

    /// The numbers of the lanes; zero at width 1.
    pub(crate) fn lane_numbers(&self, bits: u32) -> Value<'c> {
        let scalar = self.unit.context().int(bits);
        match self.vector().lanes {
            None => scalar.zero(),
            Some(lanes) => {
                let numbers: Vec<_> = (0..lanes).map(|lane| scalar.constant(lane.into())).collect();
                Value::vector_constant(&numbers)
            }
        }
    }

    /// The numbers of the lanes that a shape of several computes for.
    fn lane_numbers_in(&self, emit: Emit<'a, 'c>) -> Value<'c> {
        let int = self.unit.context().int(32);
        let numbers: Vec<_> =
            self.registers.first_lanes_in(emit).iter().map(|&lane| int.constant(lane.into())).collect();
        Value::vector_constant(&numbers)
    }

    /// A special register. In scalar shape, the value of the first lane.
    pub(crate) fn special(&mut self, special: Special, emit: Emit<'a, 'c>) -> Value<'c> {
        use Special::*;
        let int = self.unit.context().int(32);
        let uniform =
            |this: &Self, offset: u64, index: u64| emit.broadcast(this.context_field(offset + 4 * index, int));
        let constant = |value: u64| emit.int(32).constant(value);
        let parts = match special {
            Tid => Some([TidX, TidY, TidZ, TidW]),
            Ntid => Some([NtidX, NtidY, NtidZ, NtidW]),
            Ctaid => Some([CtaidX, CtaidY, CtaidZ, CtaidW]),
            Nctaid => Some([NctaidX, NctaidY, NctaidZ, NctaidW]),
            _ => None,
        };
        if let Some(parts) = parts {
            let mut all = emit.int(128).zero();
            for (place, part) in parts.into_iter().enumerate() {
                let value = self.special(part, emit);
                let value = emit.resize(Sign::Unsigned, value, 128);
                all = emit.or(all, emit.shl(value, all.ty().constant(32 * place as u64)));
            }
            return all;
        }
        match special {
            TidX | TidY | TidZ => self.thread_index(special, emit),
            NtidX => self.block_size(0, emit),
            NtidY => self.block_size(1, emit),
            NtidZ => self.block_size(2, emit),
            CtaidX | ClusteridX => uniform(self, field!(block), 0),
            CtaidY | ClusteridY => uniform(self, field!(block), 1),
            CtaidZ | ClusteridZ => uniform(self, field!(block), 2),
            NctaidX | NclusteridX => uniform(self, field!(grid), 0),
            NctaidY | NclusteridY => uniform(self, field!(grid), 1),
            NctaidZ | NclusteridZ => uniform(self, field!(grid), 2),
            TidW | CtaidW | ClusteridW | ClusterCtaidX | ClusterCtaidY | ClusterCtaidZ | ClusterCtaidW
            | ClusterCtarank => constant(0),
            Smid => uniform(self, field!(worker), 0),
            Nsmid => uniform(self, field!(workers), 0),
            NtidW | NctaidW | NclusteridW | ClusterNctaidX | ClusterNctaidY | ClusterNctaidZ | ClusterNctaidW
            | ClusterNctarank => constant(1),
            IsExplicitCluster => emit.int(1).zero(),
            Laneid => self.lane_id(emit),
            Warpid => {
                let first = self.linear_thread(self.scalar());
                emit.broadcast(emit.scalar().lshr(first, int.constant(5)))
            }
            Nwarpid => {
                let sizes = [0, 1, 2].map(|axis| self.block_size(axis, self.scalar()));
                let scalar = emit.scalar();
                let threads = scalar.mul(scalar.mul(sizes[0], sizes[1]), sizes[2]);
                let warps = scalar.lshr(scalar.add(threads, int.constant(31)), int.constant(5));
                emit.broadcast(warps)
            }
            LanemaskEq => {
                let lane = self.lane_id(emit);
                emit.shl(constant(1), lane)
            }
            LanemaskLt => {
                let lane = self.lane_id(emit);
                emit.sub(emit.shl(constant(1), lane), constant(1))
            }
            LanemaskLe => {
                let lane = self.lane_id(emit);
                let bit = emit.shl(constant(1), lane);
                emit.or(bit, emit.sub(bit, constant(1)))
            }
            LanemaskGe => {
                let lane = self.lane_id(emit);
                emit.neg(emit.shl(constant(1), lane))
            }
            LanemaskGt => {
                let lane = self.lane_id(emit);
                let bit = emit.shl(constant(1), lane);
                emit.not(emit.or(bit, emit.sub(bit, constant(1))))
            }
            Gridid => emit.broadcast(self.context_field(field!(grid_id), self.unit.context().int(64))),
            DynamicSmemSize => uniform(self, field!(dynamic_shared), 0),
            TotalSmemSize | AggrSmemSize => uniform(self, field!(total_shared), 0),
            Clock | Clock64 | ClockHi | Globaltimer | GlobaltimerLo | GlobaltimerHi => {
                let now = self.clock(matches!(special, Globaltimer | GlobaltimerLo | GlobaltimerHi));
                let scalar = self.scalar();
                let part = match special {
                    Clock | GlobaltimerLo => scalar.trunc(now, int),
                    ClockHi | GlobaltimerHi => scalar.trunc(scalar.lshr(now, now.ty().constant(32)), int),
                    _ => now,
                };
                emit.broadcast(part)
            }
            _ => {
                if let Some(index) = environment_index(special) {
                    return uniform(self, field!(environment), index);
                }
                if let Some(offset) = special.reserved_shared_offset() {
                    return constant(self.unit.map.reserved_shared + offset);
                }
                match special.ty().bits() {
                    // Performance counters and graphs: nothing is counted or running.
                    64 => emit.int(64).zero(),
                    _ => constant(0),
                }
            }
        }
    }

    /// The number of the lane in its warp.
    fn lane_id(&mut self, emit: Emit<'a, 'c>) -> Value<'c> {
        match emit.lanes {
            Some(_) => self.lane_numbers_in(emit),
            None => emit.and_constant(self.first_thread(), 31),
        }
    }

    /// The number of the first lane's thread in its block.
    pub(crate) fn first_thread(&self) -> Value<'c> {
        let of_region = self.first_thread_of_region();
        of_region.unwrap_or_else(|| self.context_field(field!(first_thread), self.unit.context().int(32)))
    }

    /// The number of the thread in its block.
    fn linear_thread(&mut self, emit: Emit<'a, 'c>) -> Value<'c> {
        let first = self.first_thread();
        match emit.lanes {
            Some(_) => emit.add(emit.broadcast(first), self.lane_numbers_in(emit)),
            None => first,
        }
    }

    fn block_size(&mut self, axis: usize, emit: Emit<'a, 'c>) -> Value<'c> {
        match self.unit.facts().block[axis] {
            Some(size) => emit.int(32).constant(size.into()),
            None => {
                let offset = field!(threads) + 4 * axis as u64;
                emit.broadcast(self.context_field(offset, self.unit.context().int(32)))
            }
        }
    }

    fn thread_index(&mut self, special: Special, emit: Emit<'a, 'c>) -> Value<'c> {
        let linear = self.linear_thread(emit);
        let block = self.unit.facts().block;
        let one = |axis: usize| block[axis] == Some(1);
        let zero = emit.int(32).zero();
        match special {
            Special::TidX if one(1) && one(2) => linear,
            Special::TidX => {
                let x = self.block_size(0, emit);
                emit.int_rem(Sign::Unsigned, linear, x)
            }
            Special::TidY if one(1) => zero,
            Special::TidY => {
                let (x, y) = (self.block_size(0, emit), self.block_size(1, emit));
                let row = emit.int_div(Sign::Unsigned, linear, x);
                if one(2) { row } else { emit.int_rem(Sign::Unsigned, row, y) }
            }
            _ if one(2) => zero,
            _ => {
                let (x, y) = (self.block_size(0, emit), self.block_size(1, emit));
                let layer = emit.mul(x, y);
                emit.int_div(Sign::Unsigned, linear, layer)
            }
        }
    }

    /// Cycles, or nanoseconds, since some moment.
    fn clock(&mut self, is_time: bool) -> Value<'c> {
        let int = self.unit.context().int(64);
        let name = if is_time { RuntimeFunction::Nanoseconds } else { RuntimeFunction::Cycles };
        let function = self.unit.runtime(name, int, &[self.unit.context().pointer()]);
        self.unit.builder.call(function, &[self.warp])
    }
}

/// How the sign of a type extends narrower results.
pub(crate) fn sign_of(ty: Type) -> Sign {
    if ty.kind() == TypeKind::Signed { Sign::Signed } else { Sign::Unsigned }
}

/// Place and width in bits of `.b2`, `.h1`.
pub(crate) fn part_of(name: &str) -> (u32, u32) {
    match name {
        "b0" => (0, 8),
        "b1" => (8, 8),
        "b2" => (16, 8),
        "b3" => (24, 8),
        "h0" => (0, 16),
        "h1" => (16, 16),
        _ => (0, 32),
    }
}

fn environment_index(special: Special) -> Option<u64> {
    special.text().strip_prefix("%envreg")?.parse().ok()
}
