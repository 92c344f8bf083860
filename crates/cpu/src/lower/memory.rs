//! Loads, stores and addresses.

use ptx::ir::{Operand, Param, StmtId, Symbol};
use ptx::ops::Op;
use ptx::types::{Space, Type};
use ptx::view::{AccessSpace, MemAccess, Order, View};

use super::address::{Address, Spot};
use super::function::Lowering;
use super::memory_map::constant_bytes;
use super::operands::sign_of;
use super::strided::Strided;
use super::unit::{CONSTANTS, symbol_of};
use crate::abi::context::field;
use crate::emit::{Emit, Sign};
use crate::llvm::{Ordering, Ty, Value};

impl<'a, 'c> Lowering<'_, 'a, 'c> {
    /// The addresses that an operand names in a state space, or generic ones.
    pub(crate) fn address(&mut self, operand: &Operand, space: Option<Space>) -> Option<Address<'c>> {
        if let Some((Symbol::Var(var), _)) = symbol_of(operand)
            && self.function.vars[var].space == Space::Param
            && let Some(address) = self.param_address(var)
        {
            return Some(address.offset(self.scalar(), self.symbol_offset(operand)));
        }
        let emit = self.scalar();
        let int = self.unit.context().int(64);
        let inner = match *operand {
            Operand::RegAddress(reg, offset) => {
                let bits = self.analyses.register_bits(reg);
                let place = self.place(reg, false)?;
                let sign = if space == Some(Space::Shared) || space == Some(Space::Local) {
                    Sign::Signed
                } else {
                    Sign::Unsigned
                };
                let address = match place.affine {
                    _ if self.is_scalar_device() => {
                        let value = self.read_reg(reg, emit);
                        Address::Uniform(Spot::at(self.extended_address(value, bits, sign, space)))
                    }
                    Some(affine) => {
                        let base = self.read_reg(reg, emit);
                        let base = self.extended_address(base, bits, sign, space);
                        Address::affine(base, &affine, self.lanes())
                    }
                    None => {
                        let value = self.read_reg(reg, self.vector());
                        let groups = self.groups(reg);
                        let extend = |value| self.extended_address(value, bits, sign, space);
                        Address::Vector(extend(value), groups.map(|groups| groups.map(extend)))
                    }
                };
                address.offset(emit, offset.into())
            }
            Operand::SymbolAddress(symbol, _) | Operand::Element(symbol, _) => {
                let base = self.symbol_address(symbol);
                Address::Uniform(Spot::at(base)).offset(emit, self.symbol_offset(operand))
            }
            Operand::IntAddress(address) => Address::Uniform(Spot::at(int.constant(address))),
            _ => return None,
        };
        // A name says in which space it is.
        let space = space.or_else(|| match symbol_of(operand)?.0 {
            Symbol::Global(global) => Some(self.unit.module.globals[global].space),
            Symbol::Var(var) => Some(self.function.vars[var].space),
            _ => None,
        });
        Some(match space {
            Some(Space::Shared) => {
                let base = self.shared_base();
                match inner {
                    Address::Uniform(offset) => Address::Uniform(offset.with_base(emit, base)),
                    Address::Affine(offset, lanes) => Address::Affine(offset.with_base(emit, base), lanes),
                    Address::Vector(offsets, groups) => {
                        let emit = self.vector();
                        // Arrays in shared memory are small, and what is far from affine there has strides.
                        let add = |offsets: Value<'c>| {
                            let emit = self.emit_like(offsets);
                            emit.add(emit.broadcast(base), offsets)
                        };
                        let groups = groups.map(|groups| groups.unlikely_one_piece().map(add));
                        Address::Vector(emit.add(emit.broadcast(base), offsets), groups)
                    }
                }
            }
            Some(Space::Local) => {
                let base = self.local_base();
                let stride = self.unit.local_stride as i64;
                let lanes: Vec<i64> = (0..self.lanes()).map(|lane| i64::from(lane) * stride).collect();
                match inner {
                    Address::Uniform(offset) if self.is_scalar_device() => {
                        Address::Uniform(offset.with_base(emit, base))
                    }
                    Address::Uniform(offset) => Address::Affine(offset.with_base(emit, base), lanes),
                    Address::Affine(offset, more) => {
                        let lanes = lanes.iter().zip(more).map(|(a, b)| a + b).collect();
                        Address::Affine(offset.with_base(emit, base), lanes)
                    }
                    Address::Vector(offsets, _) => {
                        let emit = self.vector();
                        let bases = self.per_lane(base, &lanes);
                        Address::Vector(emit.add(bases, offsets), None)
                    }
                }
            }
            _ => inner,
        })
    }

    /// A register as an address: offsets in a window have 32 bits, whatever the register has.
    fn extended_address(&self, value: Value<'c>, bits: u32, sign: Sign, space: Option<Space>) -> Value<'c> {
        let emit = self.emit_like(value);
        let value = if bits > 32 && matches!(space, Some(Space::Shared | Space::Local)) {
            emit.resize(sign, value, 32)
        } else {
            value
        };
        emit.resize(sign, value, 64)
    }

    fn shared_base(&self) -> Value<'c> {
        let pointer = self.context_field(field!(shared), self.unit.context().pointer());
        self.unit.builder.ptr_to_int(pointer, self.unit.context().int(64))
    }

    fn local_base(&self) -> Value<'c> {
        let (builder, word) = (self.unit.builder, self.unit.context().int(64));
        let pointer = self.context_field(field!(local), self.unit.context().pointer());
        let base = builder.ptr_to_int(pointer, word);
        // What the context says is that of the first warp.
        self.first_thread_of_region().map_or(base, |thread| {
            builder.add(base, builder.mul(builder.zext(thread, word), word.constant(self.unit.local_stride)))
        })
    }

    /// A number plus a constant for each lane.
    fn per_lane(&self, base: Value<'c>, lanes: &[i64]) -> Value<'c> {
        let emit = self.vector();
        if emit.lanes.is_none() {
            return base;
        }
        let offsets: Vec<_> = lanes.iter().map(|&offset| base.ty().constant(offset as u64)).collect();
        emit.add(emit.broadcast(base), Value::vector_constant(&offsets))
    }

    /// What is added to an address of a space to make it generic; nothing if they are the same.
    pub(crate) fn space_base(&mut self, space: Space, emit: Emit<'a, 'c>) -> Option<Value<'c>> {
        match space {
            Space::Shared => Some(emit.broadcast(self.shared_base())),
            Space::Local => {
                let stride = self.unit.local_stride as i64;
                let lanes: Vec<i64> = (0..self.lanes()).map(|lane| i64::from(lane) * stride).collect();
                Some(self.per_lane(self.local_base(), &lanes))
            }
            _ => None,
        }
    }

    /// Whether generic addresses are in a space.
    pub(crate) fn is_in_space(&mut self, space: Space, address: Value<'c>) -> Value<'c> {
        let emit = self.vector();
        let within = |base: Value<'c>, bytes: u64| {
            emit.less(Sign::Unsigned, emit.sub(address, base), address.ty().constant(bytes))
        };
        let shared = emit.broadcast(self.shared_base());
        let local = self.space_base(Space::Local, emit).expect("local memory has a base");
        let in_shared = within(shared, crate::abi::MAX_SHARED);
        let in_local = within(local, self.unit.local_stride);
        match space {
            Space::Shared => in_shared,
            Space::Local => in_local,
            Space::Global => {
                let params = self.context_field(field!(params), self.unit.context().pointer());
                let params = emit.broadcast(self.unit.builder.ptr_to_int(params, self.unit.context().int(64)));
                let elsewhere = emit.or(emit.or(in_shared, in_local), within(params, 4096));
                let in_constants = self.is_in_space(Space::Const, address);
                emit.not(emit.or(elsewhere, in_constants))
            }
            Space::Param => {
                let params = self.context_field(field!(params), self.unit.context().pointer());
                let params = emit.broadcast(self.unit.builder.ptr_to_int(params, self.unit.context().int(64)));
                within(params, 4096)
            }
            Space::Const => {
                let base = self.unit.llvm.external(CONSTANTS);
                let base = self.unit.builder.ptr_to_int(base, self.unit.context().int(64));
                within(emit.broadcast(base), constant_bytes(self.unit.module))
            }
            _ => emit.bool().zero(),
        }
    }

    pub(crate) fn load_or_store(&mut self, op: Op, view: &View<'a>) -> bool {
        let accesses = view.accesses();
        let Some(access) = accesses.first() else { return false };
        let Some(space) = addressed_space(access) else { return false };
        let operands = view.operands();
        let ty = view.form.types().last().copied().unwrap_or(Type::B32);
        let bytes = ty.bytes();
        let elements = view.form.vector();
        if elements == 1
            && op != Op::St
            && let Some(offset) = self.kernel_param(&operands[access.address], bytes)
        {
            let value = self.load_kernel_param(offset, bytes);
            self.write(&operands[1 - access.address.min(1)], value, sign_of(ty));
            return true;
        }
        let Some(address) = self.address(&operands[access.address], space) else { return false };
        if !self.is_aligned(&operands[access.address], space, bytes * elements) {
            self.check_alignment(&address, bytes * elements);
        }
        self.confine(&address, space, bytes * elements);
        let is_ordered = access.order != Order::Weak;
        if is_ordered {
            self.unit.builder.compiler_fence();
        }
        let value_operand = &operands[1 - access.address.min(1)];
        let parts: Vec<Operand> = match *value_operand {
            Operand::Vector(list) if elements > 1 => self.body.operands(list).to_vec(),
            Operand::Reg(reg) if elements > 1 => {
                let names = ["x", "y", "z", "w"].map(|name| self.unit.module.names.find(name));
                let part = |name: &Option<ptx::name::Name>| name.map(|name| Operand::Part(reg, name));
                match names[..elements.min(4) as usize].iter().map(part).collect() {
                    Some(parts) => parts,
                    None => return false,
                }
            }
            other => vec![other],
        };
        if op == Op::St {
            self.store_parts(&address, &parts, ty, is_ordered);
        } else if let Some((store, stored)) = self.stored_before(view, &address) {
            let load = std::mem::replace(&mut self.statement, store);
            let value = self.read(&stored, bytes * 8, self.vector());
            self.statement = load;
            self.write(value_operand, value, sign_of(ty));
        } else {
            // Destinations may hold the address.
            let values = self.load_parts(&address, &parts, ty, is_ordered);
            for (part, value) in parts.iter().zip(values) {
                if let Some(value) = value {
                    self.write(part, value, sign_of(ty));
                }
            }
        }
        if is_ordered {
            self.unit.builder.compiler_fence();
        }
        true
    }

    /// Where an operand names so many bytes of a parameter of the kernel, at a multiple of them.
    /// What the instruction before this load has stored at its addresses, if lanes have stored to different ones: each loads what
    /// it has stored itself. Processors do not hand on what was stored under a mask, and wait for it.
    fn stored_before(&self, load: &View<'a>, address: &Address<'c>) -> Option<(StmtId, Operand)> {
        let previous = self.previous?;
        let store = self.view(previous).filter(|view| view.op() == Some(Op::St))?;
        let [(accessed, before), (loaded, _)] = [&store, load].map(|view| match view.accesses().as_slice() {
            [access] if access.order == Order::Weak => (Some(*access), *view),
            _ => (None, *view),
        });
        let (accessed, loaded) = (accessed?, loaded?);
        let is_same = before.operands()[accessed.address] == load.operands()[loaded.address]
            && accessed.space == loaded.space
            && before.inst.guard == load.inst.guard
            && [before, *load].map(|view| view.form.vector()) == [1, 1]
            && before.form.types().last() == load.form.types().last();
        let bytes = load.form.types().last()?.bytes();
        let is_possible = is_same && !self.unit.options.preempt && (self.lanes() == 1 || address.is_apart(bytes));
        is_possible.then(|| (previous, before.operands()[1 - accessed.address.min(1)]))
    }

    fn kernel_param(&self, operand: &Operand, bytes: u32) -> Option<u64> {
        let Operand::SymbolAddress(Symbol::Var(var), _) = *operand else { return None };
        if !self.function.is_entry() || !self.function.params.contains(&Param::Var(var)) {
            return None;
        }
        let frame = self.unit.map.frame(self.func);
        let offset = frame.offset(var)?.checked_add_signed(self.symbol_offset(operand))?;
        let is_inside = offset.checked_add(bytes.into())? <= frame.params;
        (is_inside && offset.is_multiple_of(bytes.into())).then_some(offset)
    }

    /// A parameter of the kernel, which nobody writes, and which all lanes have.
    fn load_kernel_param(&self, offset: u64, bytes: u32) -> Value<'c> {
        let (builder, context) = (self.unit.builder, self.unit.context());
        let params = self.context_field(field!(params), context.pointer());
        let address = builder.offset(params, context.int(64).constant(offset));
        builder.invariant_load(context.int(8 * bytes), address, bytes)
    }

    /// Loads for the lanes that execute the statement; zero for the others. A scalar where all lanes load the same.
    pub(crate) fn load(&mut self, ty: Ty<'c>, address: &Address<'c>, is_ordered: bool) -> Value<'c> {
        let builder = self.unit.builder;
        let bytes = ty.bits() / 8;
        if let Address::Uniform(spot) = *address {
            let pointer = spot.pointer(self.scalar());
            let read = |this: &Self| {
                let value = if is_ordered {
                    this.unit.builder.volatile_load(ty, pointer, 1)
                } else {
                    this.unit.builder.beside(this.unit.builder.load(ty, pointer, 1))
                };
                this.unit.builder.freeze(value)
            };
            if !self.is_guarded() {
                return read(self);
            }
            // No lane may be active.
            let room = self.alloca(ty, bytes.clamp(1, 16));
            builder.store(ty.zero(), room, bytes.clamp(1, 16));
            let active = self.active();
            let any = self.masks.any(active);
            self.when(any, |this| {
                let value = read(this);
                this.unit.builder.store(value, room, bytes.clamp(1, 16));
            });
            return builder.load(ty, room, bytes.clamp(1, 16));
        }
        let active = self.active();
        let vector = ty.vector(self.lanes());
        match address {
            Address::Affine(spot, _) if address.is_contiguous(bytes) => {
                let pointer = spot.pointer(self.scalar());
                self.load_words(vector, pointer, active)
            }
            _ => match (self.pieces(address, bytes), Strided::of(address, bytes)) {
                (Some(pieces), _) => self.load_pieces(ty, address, &pieces, active),
                (None, Some(words)) if active.is_all_ones() => self.load_strided(vector, words),
                (None, _) => self.load_irregular(vector, address, active),
            },
        }
    }

    /// Loads words that follow each other for the lanes of a mask; zero for the others.
    ///
    /// Here as wherever memory is loaded that others may write meanwhile, the value is frozen: whatever it is, it is the
    /// same wherever it is used.
    pub(crate) fn load_words(&self, vector: Ty<'c>, pointer: Value<'c>, lanes: Value<'c>) -> Value<'c> {
        let builder = self.unit.builder;
        let value = if lanes.is_all_ones() {
            builder.load(vector, pointer, 1)
        } else {
            let types = [vector, pointer.ty()];
            builder.intrinsic(self.unit.llvm, "llvm.masked.load", &types, &[pointer, lanes, vector.zero()])
        };
        builder.freeze(builder.beside(value))
    }

    /// Loads what each lane of a mask asks for, one by one; zero for the others.
    pub(crate) fn gather(&self, vector: Ty<'c>, address: &Address<'c>, lanes: Value<'c>) -> Value<'c> {
        let pointers = self.pointers(address);
        if let Some(period) = address.period().filter(|&period| period < self.lanes() && lanes.is_all_ones()) {
            // What rows of the block share is loaded once.
            let emit = self.scalar();
            let (first, all) = (emit.lanes_from(pointers, 0, period), lanes.ty().element().vector(period).all_ones());
            let row = self.gather_from(vector.element().vector(period), first, all);
            return emit.beside_each_other(&vec![row; (self.lanes() / period) as usize]);
        }
        self.gather_from(vector, pointers, lanes)
    }

    fn gather_from(&self, vector: Ty<'c>, pointers: Value<'c>, lanes: Value<'c>) -> Value<'c> {
        let types = [vector, pointers.ty()];
        let builder = self.unit.builder;
        builder.freeze(builder.intrinsic(
            self.unit.llvm,
            "llvm.masked.gather",
            &types,
            &[pointers, lanes, vector.zero()],
        ))
    }

    /// Stores for the lanes that execute the statement. Of several that store to one place, the last wins.
    pub(crate) fn store(&mut self, address: &Address<'c>, value: Value<'c>, is_ordered: bool) {
        let bytes = value.ty().bits() / 8;
        if let Address::Uniform(spot) = *address {
            let pointer = spot.pointer(self.scalar());
            let active = self.active();
            let write = |this: &mut Self| {
                let emit = this.scalar();
                let one = if value.ty().lanes().is_some() {
                    let last = emit.sub(emit.int(32).constant(31), emit.clz(this.masks.bits(active)));
                    emit.extract_element(value, last)
                } else {
                    value
                };
                if is_ordered {
                    emit.volatile_store(one, pointer, 1);
                } else {
                    emit.store(one, pointer, 1);
                }
            };
            if self.is_guarded() {
                let any = self.masks.any(active);
                self.when(any, write);
            } else {
                write(self);
            }
            return;
        }
        let active = self.active();
        let value = self.vector().broadcast(value);
        match address {
            Address::Affine(spot, _) if address.is_contiguous(bytes) => {
                self.store_words(spot.pointer(self.scalar()), value, active);
            }
            _ => match (self.pieces(address, bytes), Strided::of(address, bytes)) {
                (Some(pieces), _) if !pieces.are_uniform() => self.store_pieces(address, &pieces, value, active),
                (None, Some(words)) if active.is_all_ones() => self.store_strided(words, value),
                _ => self.store_irregular(address, value, active),
            },
        }
    }

    /// Stores words that follow each other, for the lanes of a mask.
    pub(crate) fn store_words(&self, pointer: Value<'c>, value: Value<'c>, lanes: Value<'c>) {
        let builder = self.unit.builder;
        if lanes.is_all_ones() {
            builder.store(value, pointer, 1);
        } else {
            let types = [value.ty(), pointer.ty()];
            builder.stored(builder.intrinsic(self.unit.llvm, "llvm.masked.store", &types, &[value, pointer, lanes]));
        }
    }

    /// Stores what each lane of a mask has, one by one.
    pub(crate) fn scatter(&self, address: &Address<'c>, value: Value<'c>, lanes: Value<'c>) {
        let pointers = self.pointers(address);
        let types = [value.ty(), pointers.ty()];
        let builder = self.unit.builder;
        builder.stored(builder.intrinsic(self.unit.llvm, "llvm.masked.scatter", &types, &[value, pointers, lanes]));
    }

    /// An address for each lane.
    pub(crate) fn addresses(&self, address: &Address<'c>) -> Value<'c> {
        match address {
            Address::Uniform(spot) => self.vector().broadcast(spot.number(self.scalar())),
            Address::Affine(spot, offsets) => self.per_lane(spot.number(self.scalar()), offsets),
            Address::Vector(all, _) => *all,
        }
    }

    /// A pointer for each lane.
    fn pointers(&self, address: &Address<'c>) -> Value<'c> {
        let all = self.addresses(address);
        let pointer = self.unit.context().pointer();
        self.unit.builder.int_to_ptr(all, all.ty().with_element(pointer))
    }

    /// Whether an operand is known to be a multiple of some bytes: it names memory, or is the offset of shared memory in
    /// a register of which the analysis knows as much.
    fn is_aligned(&self, operand: &Operand, space: Option<Space>, bytes: u32) -> bool {
        if let (Operand::RegAddress(reg, offset), Some(Space::Shared)) = (*operand, space) {
            let value = self.known_value(reg);
            // Memory that a launch adds starts at a multiple of 16, whatever its declaration says.
            let alignment = value.map_or(1, |value| value.multiple_of().min(16) as u32);
            return alignment.is_multiple_of(bytes) && offset % bytes as i32 == 0;
        }
        let variable = match symbol_of(operand) {
            Some((Symbol::Global(global), _)) => &self.unit.module.globals[global],
            Some((Symbol::Var(var), _)) => &self.function.vars[var],
            _ => return false,
        };
        let alignment = variable.alignment().min(16);
        matches!(variable.space, Space::Global | Space::Const | Space::Shared)
            && alignment.is_multiple_of(bytes)
            && self.symbol_offset(operand) % i64::from(bytes) == 0
    }

    /// Ends the launch if an address is not a multiple of the size of the access.
    pub(crate) fn check_alignment(&mut self, address: &Address<'c>, bytes: u32) {
        if bytes <= 1 {
            return;
        }
        let emit = self.scalar();
        let low =
            |emit: Emit<'a, 'c>, value: Value<'c>| emit.is_not_zero(emit.and_constant(value, u64::from(bytes - 1)));
        let wrong = match address {
            Address::Uniform(spot) => {
                let wrong = low(emit, spot.alignment(emit, bytes));
                if wrong.as_constant() == Some(0) {
                    return;
                }
                if self.is_guarded() {
                    let active = self.active();
                    emit.and(wrong, self.masks.any(active))
                } else {
                    wrong
                }
            }
            Address::Affine(spot, offsets) if offsets.iter().all(|offset| offset % i64::from(bytes) == 0) => {
                let wrong = low(emit, spot.alignment(emit, bytes));
                let active = self.active();
                emit.and(wrong, self.masks.any(active))
            }
            _ => {
                let active = self.active();
                match self.known_bases(address, bytes, active) {
                    Some(bases) => {
                        bases.iter().fold(emit.bool().zero(), |wrong, &base| emit.or(wrong, low(emit, base)))
                    }
                    None => {
                        let emit = self.vector();
                        let all = self.addresses(address);
                        let wrong = emit.and(low(emit, all), active);
                        self.masks.any(wrong)
                    }
                }
            }
        };
        self.fail_when(wrong, |this| this.call_misaligned(address, bytes));
    }

    pub(crate) fn fence(&mut self, is_block: bool) {
        if is_block {
            self.unit.builder.compiler_fence();
        } else {
            self.unit.builder.fence(Ordering::LLVMAtomicOrderingSequentiallyConsistent);
        }
    }
}

/// The state space of an access, or nothing for generic addresses; nothing at all for textures and tensors.
pub(crate) fn addressed_space(access: &MemAccess) -> Option<Option<Space>> {
    match access.space {
        AccessSpace::State(space) => Some(Some(space)),
        AccessSpace::Generic => Some(None),
        _ => None,
    }
}
