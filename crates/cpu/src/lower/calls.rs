//! Calls of functions, of the host's functions, and of the runtime.

use ptx::ir::{FuncId, Function, Operand, Param, Symbol, Var};
use ptx::types::Space;
use ptx::view::{Callee, View};

use super::address::{Address, Spot};
use super::analysis::ResumePoint;
use super::function::Lowering;
use super::memory_map::param_offsets;
use super::operands::sign_of;
use crate::abi::calls::{HostFunction, RuntimeFunction, Undefined, with_line};
use crate::abi::context::field;
use crate::emit::Sign;
use crate::llvm::{FunctionValue, Value};

/// Where results and arguments of a call are.
struct Passing {
    /// From the first of a lane.
    offsets: Vec<u64>,
    sizes: Vec<u64>,
    /// Bytes of all of them.
    total: u64,
    /// Whether those of all lanes are beside each other, one row for each result and argument. Else each lane has its own
    /// together: memory that is passed has addresses, and those of parts of it, too.
    in_rows: bool,
}

impl Passing {
    fn of(signature: &Function) -> Self {
        let params = || signature.returns.iter().chain(&signature.params);
        let size = |param: &Param| match *param {
            Param::Var(var) => signature.vars[var].size().unwrap_or(0),
            Param::Reg(group) => u64::from(signature.groups[group].ty.bytes()),
        };
        let (offsets, sizes): (_, Vec<u64>) = (param_offsets(signature), params().map(size).collect());
        let total = offsets.last().zip(sizes.last()).map_or(0, |(offset, size)| offset + size).next_multiple_of(16);
        Self { offsets, sizes, total, in_rows: params().all(|param| matches!(param, Param::Reg(_))) }
    }
}

impl<'a, 'c> Lowering<'_, 'a, 'c> {
    /// Where a parameter of this function is, or a variable that is passed to calls.
    pub(crate) fn param_address(&mut self, var: Var) -> Option<Address<'c>> {
        let word = self.unit.context().int(64);
        if let Some(offset) = self.unit.map.frame(self.func).offset(var) {
            let stride = self.unit.map.frame(self.func).params;
            let arguments = self.arguments?;
            let base = self.unit.builder.ptr_to_int(arguments, word);
            let base = self.unit.builder.add(base, word.constant(offset));
            return Some(self.strided(base, stride));
        }
        let variable = &self.function.vars[var];
        let stride = variable.size()?.next_multiple_of(u64::from(variable.alignment().max(1))).max(1);
        let room = match self.param_rooms.get(&var) {
            Some(&room) => room,
            None => {
                let bytes = stride * u64::from(self.lanes());
                let room = self.alloca(self.unit.context().int(8).array(bytes), 64);
                self.param_rooms.insert(var, room);
                room
            }
        };
        let base = self.unit.builder.ptr_to_int(room, word);
        Some(self.strided(base, stride))
    }

    /// Memory of which each lane has its own piece.
    fn strided(&self, base: Value<'c>, stride: u64) -> Address<'c> {
        if self.is_scalar_device() {
            return Address::Uniform(Spot::at(base));
        }
        Address::Affine(Spot::at(base), (0..i64::from(self.lanes())).map(|lane| lane * stride as i64).collect())
    }

    pub(crate) fn call(&mut self, view: &View<'a>) -> bool {
        let operands = view.operands();
        let lists: Vec<_> = operands
            .iter()
            .enumerate()
            .filter_map(|(index, operand)| match operand {
                Operand::Arguments(list) => Some((index, self.body.operands(*list).to_vec())),
                _ => None,
            })
            .collect();
        let returns = lists.iter().find(|(index, _)| *index == 0).map(|(_, list)| list.clone()).unwrap_or_default();
        let args = lists.iter().find(|(index, _)| *index != 0).map(|(_, list)| list.clone()).unwrap_or_default();
        match view.callee() {
            Some(Callee::Direct(func)) => self.call_direct(func, &returns, &args),
            Some(Callee::Indirect(reg)) => self.call_indirect(reg, view, &returns, &args),
            _ => false,
        }
    }

    fn call_direct(&mut self, func: FuncId, returns: &[Operand], args: &[Operand]) -> bool {
        let module = self.unit.module;
        let name = module.text(module.functions[func].name);
        let signature = &module.functions[func];
        let layout = Passing::of(signature);
        if let Some(host) = HostFunction::named(name) {
            let area = self.fill_arguments(&layout, returns, args);
            self.call_host(host, area, layout.total);
            self.take_results(area, &layout, returns);
            return true;
        }
        let Some(definition) = self.unit.definition(func) else {
            let line = module.lines.line(self.body.position(self.statement));
            self.unit.refuse_call(name, line);
            return true;
        };
        let function = self.unit.function(definition);
        let active = self.active();
        let frame = self.next_frame();
        let may_end = self.unit.may_end(definition);
        // Arguments are passed where there is a call at all: most guarded calls are for what hardly ever happens.
        self.call_with_mask(active, may_end, |this, mask| {
            this.check_recursion(definition, frame);
            let area = this.fill_arguments(&layout, returns, args);
            let left = this.call_from_here(function, &[this.warp, mask, area, frame]);
            this.take_results(area, &layout, returns);
            left
        });
        true
    }

    /// Ends the launch where a function that calls itself has used the local memory up.
    fn check_recursion(&mut self, callee: FuncId, frame: Value<'c>) {
        if !self.unit.graph.is_recursive(callee) {
            return;
        }
        let emit = self.scalar();
        let last = frame.ty().constant(self.unit.local_stride - self.unit.frames);
        let is_over = emit.less(Sign::Unsigned, last, frame);
        let line = emit.int(32).constant(self.line().into());
        self.fail_when(is_over, |this| this.call_fault(RuntimeFunction::StackOverflow, &[this.warp, line]));
    }

    /// Calls a function. Of a thread that runs on its own it is noted by which call it is there: threads of a warp that come to
    /// the same instruction by different calls are not there together. Lanes of a warp are called together in any case.
    fn call_from_here(&mut self, function: FunctionValue<'c>, args: &[Value<'c>]) -> Value<'c> {
        /// Spreads the numbers of calls (Knuth's multiplicative hash).
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        let builder = self.unit.builder;
        if !self.is_scalar_device() {
            return builder.call(function, args);
        }
        let word = self.unit.context().int(64);
        let at = builder.offset(self.warp, word.constant(field!(calls)));
        let before = builder.load(word, at, 8);
        let number = word.constant(u64::from(self.line()) + 1);
        builder.store(builder.mul(builder.add(before, number), word.constant(SPREAD)), at, 8);
        let result = builder.call(function, args);
        builder.store(before, at, 8);
        result
    }

    /// Calls for some lanes, and takes those out that ended.
    fn call_with_mask(
        &mut self,
        active: Value<'c>,
        may_end: bool,
        call: impl FnOnce(&mut Self, Value<'c>) -> Value<'c>,
    ) {
        let builder = self.unit.builder;
        let any = self.masks.any(active);
        let alive = self.masks.alive;
        if !may_end {
            self.when(any, |this| {
                call(this, active);
            });
            return;
        }
        self.when(any, |this| {
            let left = call(this, active);
            let ended = builder.and(active, builder.not(left));
            let before = builder.load(left.ty(), alive, 4);
            builder.store(builder.and(before, builder.not(ended)), alive, 4);
        });
        // Lanes that ended in the call do not go on here.
        let alive = builder.load(active.ty(), alive, 4);
        self.masks.running = builder.and(self.masks.running, alive);
        let go_on = self.new_block("returned");
        let block = self.analyses.cfg.block_of(self.statement).expect("the statement is in a block");
        let after = self.masks.after_last(block);
        builder.branch_if(self.masks.any(self.masks.running), go_on, after);
        builder.position_at_end(go_on);
    }

    /// Room for results and arguments, with the arguments in it.
    fn fill_arguments(&mut self, layout: &Passing, returns: &[Operand], args: &[Operand]) -> Value<'c> {
        let bytes = layout.total.max(16) * u64::from(self.lanes());
        let area = self.alloca(self.unit.context().int(8).array(bytes), 64);
        for (operand, (index, &size)) in args.iter().zip(layout.sizes.iter().enumerate().skip(returns.len())) {
            let target = self.area_address(area, layout, index);
            match *operand {
                Operand::Symbol(Symbol::Var(var), 0) if self.function.vars[var].space == Space::Param => {
                    if let Some(source) = self.param_address(var) {
                        self.copy(&source, &target, size);
                    }
                }
                _ => {
                    let value = self.read(operand, size as u32 * 8, self.vector());
                    self.store(&target, value, false);
                }
            }
        }
        area
    }

    /// Where the n-th of results and arguments is.
    fn area_address(&self, area: Value<'c>, layout: &Passing, index: usize) -> Address<'c> {
        let word = self.unit.context().int(64);
        let (offset, stride) = match layout.in_rows {
            true => (layout.offsets[index] * u64::from(self.lanes()), layout.sizes[index]),
            false => (layout.offsets[index], layout.total.max(16)),
        };
        let base = self.unit.builder.ptr_to_int(area, word);
        let base = self.unit.builder.add(base, word.constant(offset));
        self.strided(base, stride)
    }

    fn take_results(&mut self, area: Value<'c>, layout: &Passing, returns: &[Operand]) {
        for (operand, (index, &size)) in returns.iter().zip(layout.sizes.iter().enumerate()) {
            let source = self.area_address(area, layout, index);
            match *operand {
                Operand::Symbol(Symbol::Var(var), 0) => {
                    if let Some(target) = self.param_address(var) {
                        self.copy(&source, &target, size);
                    }
                }
                Operand::Reg(reg) => {
                    let ty = self.unit.context().int(size as u32 * 8);
                    let value = self.load(ty, &source, false);
                    let sign = sign_of(self.function.reg_type(reg));
                    self.write_reg(reg, value, sign);
                }
                _ => {}
            }
        }
    }

    /// Copies bytes for each lane that executes the statement.
    fn copy(&mut self, source: &Address<'c>, target: &Address<'c>, size: u64) {
        let emit = self.scalar();
        let mut at = 0;
        while at < size {
            let bytes = [8, 4, 2, 1].into_iter().find(|bytes| at + bytes <= size).expect("one byte is left");
            let ty = self.unit.context().int(bytes as u32 * 8);
            let value = self.load(ty, &source.offset(emit, at as i64), false);
            self.store(&target.offset(emit, at as i64), value, false);
            at += bytes;
        }
    }

    /// Calls the functions whose addresses are in a register: once for each that is there.
    fn call_indirect(&mut self, reg: ptx::ir::Reg, view: &View<'a>, returns: &[Operand], args: &[Operand]) -> bool {
        let Some(layout) = self.prototype(view) else { return false };
        let area = self.fill_arguments(&layout, returns, args);
        let active = self.active();
        let frame = self.next_frame();
        let targets = self.read_reg(reg, self.vector());
        let candidates = self.unit.indirect_targets();
        let builder = self.unit.builder;
        self.call_with_mask(active, true, |this, mask| {
            let alive = this.alloca(mask.ty(), 4);
            builder.store(mask, alive, 4);
            let mut rest = mask;
            for func in candidates {
                let address = this.unit.function_address(func);
                let emit = this.vector();
                let is_it = emit.and(emit.equal(targets, emit.broadcast(address)), mask);
                rest = emit.and(rest, emit.not(is_it));
                let function = this.unit.function(func);
                let any = this.masks.any(is_it);
                this.when(any, |this| {
                    this.check_recursion(func, frame);
                    let left = this.call_from_here(function, &[this.warp, is_it, area, frame]);
                    let before = builder.load(mask.ty(), alive, 4);
                    let ended = builder.and(is_it, builder.not(left));
                    builder.store(builder.and(before, builder.not(ended)), alive, 4);
                });
            }
            let any = this.masks.any(rest);
            this.fail_when(any, |this| this.call_bad_target(rest));
            builder.load(mask.ty(), alive, 4)
        });
        self.take_results(area, &layout, returns);
        true
    }

    /// Where results and arguments of an indirect call are, from its prototype.
    fn prototype(&self, view: &View<'a>) -> Option<Passing> {
        let label = view.operands().iter().find_map(|operand| match operand {
            Operand::Symbol(Symbol::Label(label), 0) => Some(*label),
            _ => None,
        })?;
        let variables: Vec<_> = self.body.iter().find_map(|id| match self.body.stmt(id) {
            ptx::ir::Stmt::CallPrototype(name, prototype) if *name == label => {
                Some(prototype.returns.iter().chain(&prototype.params).cloned().collect())
            }
            ptx::ir::Stmt::CallTargets(name, list) if *name == label => {
                let func = self.body.operands(*list).iter().find_map(|operand| match operand {
                    Operand::Symbol(Symbol::Func(func), _) => Some(*func),
                    _ => None,
                })?;
                let function = &self.unit.module.functions[func];
                let params = function.returns.iter().chain(&function.params);
                params
                    .map(|param| match *param {
                        Param::Var(var) => Some(function.vars[var].clone()),
                        Param::Reg(_) => None,
                    })
                    .collect()
            }
            _ => None,
        })?;
        let mut at = 0_u64;
        let (mut offsets, mut sizes) = (Vec::new(), Vec::new());
        for variable in &variables {
            at = at.next_multiple_of(u64::from(variable.alignment().max(1)));
            offsets.push(at);
            sizes.push(variable.size()?);
            at += variable.size()?;
        }
        Some(Passing { offsets, sizes, total: at.next_multiple_of(16), in_rows: false })
    }

    /// Calls a function of the device, lane by lane.
    fn call_host(&mut self, host: HostFunction, area: Value<'c>, total: u64) {
        let (int, word, pointer) =
            (self.unit.context().int(32), self.unit.context().int(64), self.unit.context().pointer());
        let function =
            self.unit.runtime(RuntimeFunction::HostCall, self.unit.context().void(), &[pointer, int, int, pointer]);
        let active = self.active();
        let line = self.line();
        self.for_each_lane(active, |this, lane| {
            let emit = this.scalar();
            let offset = emit.mul(emit.zext(lane, word), word.constant(total.max(16)));
            let place = emit.offset(area, offset);
            let what = int.constant(with_line(host as u32, line).into());
            emit.call(function, &[this.warp, what, lane, place]);
        });
    }

    /// Reads the parameters of this function that are registers.
    pub(crate) fn read_register_params(&mut self) {
        self.move_register_params(self.function.returns.len()..usize::MAX, |this, reg, address, ty| {
            let value = this.load(ty, &address, false);
            let value = this.vector().broadcast(value);
            this.write_entry(reg, value);
        });
    }

    /// Writes the results of this function that are registers.
    pub(crate) fn write_register_results(&mut self, leaving: Value<'c>) {
        let mask = std::mem::replace(&mut self.masks.running, leaving);
        self.move_register_params(0..self.function.returns.len(), |this, reg, address, _| {
            let value = this.read_exit(reg);
            this.store(&address, value, false);
        });
        self.masks.running = mask;
    }

    /// Writes a register that is a parameter, when the function is entered.
    fn write_entry(&mut self, reg: ptx::ir::Reg, value: Value<'c>) {
        if self.is_scalar_device() {
            let emit = self.scalar();
            let value = emit.resize(sign_of(self.function.reg_type(reg)), value, self.analyses.register_bits(reg));
            return self.registers.store(reg, value);
        }
        let entry = ResumePoint::Block(self.analyses.cfg.entry());
        let Some(web) = self.analyses.web_at(entry, reg) else { return };
        let bits = self.analyses.register_bits(reg);
        let place = self.registers.place_of_web(web, bits);
        let emit = self.vector();
        let value = emit.resize(sign_of(self.function.reg_type(reg)), value, bits);
        assert!(place.affine.is_none(), "nothing is known of what callers pass");
        emit.store(value, place.address, 1);
    }

    /// The value of a register that is a result, when the function is left.
    fn read_exit(&mut self, reg: ptx::ir::Reg) -> Value<'c> {
        let emit = self.vector();
        let value = self.read_reg(reg, emit);
        let bytes = self.function.reg_type(reg).bytes();
        emit.resize(Sign::Unsigned, value, bytes * 8)
    }

    /// Calls `each` with the parameters or results of this function that are registers, and where they are passed.
    fn move_register_params(
        &mut self,
        wanted: std::ops::Range<usize>,
        mut each: impl FnMut(&mut Self, ptx::ir::Reg, Address<'c>, crate::llvm::Ty<'c>),
    ) {
        let Some(arguments) = self.arguments else { return };
        let function = self.function;
        let layout = Passing { total: self.unit.map.frame(self.func).params, ..Passing::of(function) };
        for (index, param) in function.returns.iter().chain(&function.params).enumerate() {
            let Param::Reg(group) = *param else { continue };
            let reg = function.regs.iter().find(|(_, info)| info.group == group).map(|(reg, _)| reg);
            if let Some(reg) = reg.filter(|_| wanted.contains(&index)) {
                let ty = self.unit.context().int(function.groups[group].ty.bytes() * 8);
                let address = self.area_address(arguments, &layout, index);
                each(self, reg, address, ty);
            }
        }
    }

    /// `trap`
    pub(crate) fn call_trap(&mut self, lanes: Value<'c>) {
        let int = self.unit.context().int(32);
        let (line, lanes) = (int.constant(self.line().into()), self.masks.bits(lanes));
        self.call_fault(RuntimeFunction::Trap, &[self.warp, line, lanes]);
    }

    /// An access to an address that is not a multiple of its size.
    pub(crate) fn call_misaligned(&mut self, address: &Address<'c>, bytes: u32) {
        let int = self.unit.context().int(32);
        let address = if let Address::Uniform(spot) = address {
            spot.number(self.scalar())
        } else {
            let emit = self.vector();
            let addresses = self.addresses(address);
            let active = self.active();
            let wrong = emit.is_not_zero(emit.and_constant(addresses, u64::from(bytes - 1)));
            let lane = self.scalar().ctz(self.masks.bits(emit.and(wrong, active)));
            self.lane_value(addresses, self.scalar().and_constant(lane, 31))
        };
        let (line, bytes) = (int.constant(self.line().into()), int.constant(bytes.into()));
        self.call_fault(RuntimeFunction::Misaligned, &[self.warp, line, address, bytes]);
    }

    /// A call of something that is no function.
    fn call_bad_target(&mut self, lanes: Value<'c>) {
        let int = self.unit.context().int(32);
        let (line, lanes) = (int.constant(self.line().into()), self.masks.bits(lanes));
        self.call_fault(RuntimeFunction::BadTarget, &[self.warp, line, lanes]);
    }

    /// Something that PTX leaves undefined.
    pub(crate) fn call_undefined(&mut self, what: Undefined) {
        let int = self.unit.context().int(32);
        let what = int.constant(with_line(what as u32, self.line()).into());
        self.call_fault(RuntimeFunction::Undefined, &[self.warp, what]);
    }

    /// Lanes of the warp wait for each other in a function, which cannot be left half done.
    pub(crate) fn call_stuck(&mut self) {
        let int = self.unit.context().int(32);
        let line = int.constant(self.line().into());
        self.call_fault(RuntimeFunction::Stuck, &[self.warp, line]);
    }
}
