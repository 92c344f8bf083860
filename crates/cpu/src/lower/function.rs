//! One function: its blocks in their order, its registers, its masks.

use std::rc::Rc;

use ptx::analysis::{BitSet, Block, Cfg, DefUse, LaneValue, Liveness, Uniformity, Web};
use ptx::entity::Map;
use ptx::ir::{Body, FuncId, Function, Guard, Reg, StmtId, Var};
use ptx::view::View;

use rustc_hash::{FxHashMap, FxHashSet};

use super::checks::SpeculatedChecks;
use super::contiguous_runs::computed_registers;
use super::deopt::ResumePoint;
use super::inactive_lanes::InactiveLanes;
use super::layout::{Layout, Step};
use super::region_loops::RegionLoops;
use super::spin::spinning_blocks;
use super::unit::Unit;
use super::wrapping::WrapChecks;
use crate::abi::context::field;
use crate::emit::Emit;
use crate::llvm::{BasicBlock, Builder, FunctionValue, Ty, Value};
use crate::options::Width;

/// One function while it is lowered.
pub(crate) struct Lowering<'u, 'a, 'c> {
    pub(crate) unit: &'u mut Unit<'a, 'c>,
    pub(crate) func: FuncId,
    pub(crate) function: &'a Function,
    pub(crate) body: &'a Body,
    pub(crate) cfg: Cfg,
    pub(crate) layout: Layout,
    pub(crate) liveness: Liveness,
    pub(crate) def_use: DefUse,
    /// Nothing at width 1, where there is nothing to be found out.
    pub(crate) uniformity: Option<Uniformity>,
    /// Whether registers are speculated not to wrap where that makes them affine, and checks stand before.
    pub(crate) speculates_no_wrap: bool,
    /// The checks of registers that may wrap, by the statement before which they are made.
    pub(crate) wrap_checks: WrapChecks,
    pub(crate) speculated_checks: SpeculatedChecks,
    /// Registers that depend on nothing in memory but parameters.
    pub(crate) computed: FxHashSet<Reg>,
    pub(crate) llvm: FunctionValue<'c>,
    /// The context of the warp.
    pub(crate) warp: Value<'c>,
    /// The lanes that the function was entered with.
    pub(crate) entered: Value<'c>,
    /// The lanes that run the present block.
    pub(crate) mask: Value<'c>,
    /// The lanes that have not ended, in memory.
    pub(crate) alive: Value<'c>,
    /// Results and parameters, at the first lane; nothing for a kernel.
    pub(crate) arguments: Option<Value<'c>>,
    /// Where the variables of this call start in local memory.
    pub(crate) frame: Value<'c>,
    /// The carry flag, in memory.
    pub(crate) carry: Value<'c>,
    /// The guard of the present statement in each lane, and in all at once, if the statement overwrites it.
    pub(crate) saved_guard: Option<(Value<'c>, Option<Value<'c>>)>,
    /// Bytes that `alloca` has taken, in memory; nothing if the function does not use it.
    pub(crate) taken: Option<Value<'c>>,
    places: Places<'c>,
    /// Webs that have one number for each group of lanes, and how many groups there are.
    pub(crate) subwarp_affine: FxHashMap<Web, u32>,
    /// How the kernel runs all warps of a block, if it does.
    pub(crate) region_loops: Option<RegionLoops<'c>>,
    /// Blocks to which control goes back in loops that wait for memory.
    pub(crate) spinning: BitSet<Block>,
    /// Blocks that start where threads can go on.
    pub(crate) resume_blocks: FxHashMap<ResumePoint, BasicBlock<'c>>,
    /// The webs of the registers that are live at the start of each block, once somebody has asked.
    pub(crate) entry_webs: Option<FxHashMap<(Block, Reg), Web>>,
    /// The registers that hold what they should in all lanes.
    pub(crate) inactive_lanes: InactiveLanes,
    /// Room for variables that are passed to calls.
    pub(crate) param_rooms: FxHashMap<Var, Value<'c>>,
    /// Appends allocations to the first block of the function.
    allocas: Builder<'c>,
    pub(crate) blocks: Map<Block, Option<Lowered<'c>>>,
    /// What lies between the blocks, made when first needed.
    pub(crate) steps: FxHashMap<Step, BasicBlock<'c>>,
    /// Those that were needed and are still empty.
    pub(crate) unfilled: Vec<Step>,
    /// Where the function returns.
    pub(crate) end: BasicBlock<'c>,
    /// The registers that lanes elsewhere may still need while the present block runs; nothing if no lane is elsewhere.
    kept: Option<Rc<BitSet<Reg>>>,
    pub(crate) statement: StmtId,
    /// The guard of the present statement, if it is not known to hold.
    pub(crate) guard: Option<Guard>,
}

/// What was found out about a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Traits {
    /// Whether one call runs all warps of a block (see `region_loops`).
    pub(crate) has_region_loops: bool,
    /// Whether it has loops in which a thread may wait for memory.
    pub(crate) spins: bool,
}

/// For which of the lanes that come to it a statement is executed.
pub(crate) enum Execution {
    /// For all.
    Always,
    /// For none.
    Never,
    /// For those for which its guard holds.
    Where(Guard),
}

/// A block of PTX in LLVM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lowered<'c> {
    /// Where it runs for the lanes that wait for it.
    pub(crate) body: BasicBlock<'c>,
    pub(crate) lanes: Lanes<'c>,
}

/// The lanes that run a block.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lanes<'c> {
    /// Those that the function was entered with.
    All,
    /// Those of the block that control comes from: a phi.
    Entering(Value<'c>),
    /// Those that wait for it, in memory.
    Pending(Value<'c>),
}

/// Where the values of registers are.
enum Places<'c> {
    /// One place for each register.
    Registers(Map<Reg, Option<Room<'c>>>),
    /// One for each web.
    Webs(Map<Web, Option<Room<'c>>>),
}

/// Room for a register.
#[derive(Clone, Copy, Debug)]
struct Room<'c> {
    address: Value<'c>,
    ty: Ty<'c>,
    /// Whether it starts as zero.
    is_zeroed: bool,
}

/// A place of a register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'c> {
    pub(crate) address: Value<'c>,
    /// What each lane adds to the one number that is there, if it has not one for each lane.
    pub(crate) affine: Option<LaneValue>,
    /// What each lane adds to the number of its group, if it has one for each group of lanes.
    pub(crate) subwarp_affine: Option<LaneValue>,
    /// How many groups those are.
    groups: Option<u32>,
    /// What it holds whenever it is read, if that is known.
    pub(crate) constant: Option<u64>,
}

impl Place<'_> {
    /// How many numbers it has, of a warp of so many lanes.
    pub(crate) fn lanes(&self, all: u32) -> u32 {
        match (self.affine, self.groups) {
            (Some(_), _) => 1,
            (None, Some(groups)) => groups,
            (None, None) => all,
        }
    }
}

impl<'u, 'a, 'c> Lowering<'u, 'a, 'c> {
    /// `llvm` is the function to fill, with the parameters context, mask, arguments and frame; a kernel has only the
    /// first.
    pub(crate) fn new(unit: &'u mut Unit<'a, 'c>, func: FuncId, llvm: FunctionValue<'c>) -> Option<Self> {
        let module = unit.module;
        let function = &module.functions[func];
        let body = function.body.as_ref()?;
        let first = body.first()?;
        let cfg = Cfg::of(&module.forms, function);
        let def_use = DefUse::of(&module.forms, function);
        let liveness = Liveness::of(&cfg, &def_use);
        let is_kernel = function.is_entry();
        // Threads of a warp that was deoptimized go on where the checks of the warp were.
        let speculates = unit.options.speculate && is_kernel && (unit.width() == Width::Warp || unit.options.resumable);
        let speculated_checks =
            if speculates { SpeculatedChecks::of(unit, body, &cfg, &liveness) } else { SpeculatedChecks::default() };
        let uniformity =
            (unit.width() == Width::Warp || speculates).then(|| unit.uniformity(func, &cfg, &speculated_checks));
        let wrap_checks = match &uniformity {
            Some(uniformity) if speculates => WrapChecks::of(uniformity, &cfg, &liveness),
            _ => WrapChecks::default(),
        };
        let uniformity = uniformity.filter(|_| unit.width() == Width::Warp);
        let computed =
            if uniformity.is_some() { computed_registers(module, body, &def_use) } else { FxHashSet::default() };
        let layout = Layout::of(&cfg, uniformity.as_ref());
        let spinning = spinning_blocks(module, body, &cfg, &layout.order);
        let context = unit.context();
        let allocas = Builder::new(context);
        allocas.position_at_end(llvm.append_block(context, "allocas"));
        let places = match &uniformity {
            None => Places::Registers(Map::filled(function.regs.len(), None)),
            Some(uniformity) => Places::Webs(Map::filled(uniformity.webs().len(), None)),
        };
        let mask = unit.vector().bool();
        let alive = allocas.alloca(mask, 4);
        let carry = allocas.alloca(mask, 4);
        allocas.store(mask.zero(), carry, 4);
        let blocks = Map::filled(cfg.len(), None);
        let end = llvm.append_block(context, "end");
        let warp = llvm.param(0);
        let none = mask.zero();
        let mut lowering = Self {
            func,
            function,
            body,
            cfg,
            layout,
            liveness,
            def_use,
            uniformity,
            speculates_no_wrap: !wrap_checks.is_empty(),
            wrap_checks,
            speculated_checks,
            computed,
            llvm,
            warp,
            entered: none,
            mask: none,
            alive,
            arguments: (!is_kernel).then(|| llvm.param(2)),
            frame: if is_kernel { context.int(64).zero() } else { llvm.param(3) },
            carry,
            taken: None,
            saved_guard: None,
            places,
            subwarp_affine: FxHashMap::default(),
            region_loops: None,
            spinning,
            resume_blocks: FxHashMap::default(),
            entry_webs: None,
            inactive_lanes: InactiveLanes::default(),
            param_rooms: FxHashMap::default(),
            allocas,
            blocks,
            steps: FxHashMap::default(),
            unfilled: Vec::new(),
            end,
            kept: None,
            statement: first,
            guard: None,
            unit,
        };
        lowering.subwarp_affine = lowering.find_subwarp_affine();
        let waited_for = lowering.waited_for();
        for &block in &lowering.layout.order {
            let body = llvm.append_block(context, "body");
            let is_divergent = lowering.uniformity.as_ref().is_some_and(|uniformity| uniformity.is_divergent(block));
            let lanes = if waited_for.contains(block) {
                Lanes::Pending(lowering.alloca_zeroed(mask, 4))
            } else if is_divergent {
                lowering.unit.builder.position_at_end(body);
                Lanes::Entering(lowering.unit.builder.phi(mask, &[]))
            } else {
                Lanes::All
            };
            lowering.blocks[block] = Some(Lowered { body, lanes });
        }
        if lowering.is_scalar_device() && super::stack::grows(module, body) {
            lowering.taken = Some(lowering.alloca_zeroed(context.int(64), 8));
        }
        lowering.region_loops = lowering.plan_region_loops();
        Some(lowering)
    }

    /// Fills the function.
    pub(crate) fn run(mut self) -> Traits {
        let context = self.unit.context();
        let start = self.llvm.append_block(context, "start");
        self.unit.builder.position_at_end(start);
        self.entered = self.entry_mask();
        self.mask = self.entered;
        self.begin_region_loops();
        let alive = self.alive;
        self.unit.builder.store(self.entered, alive, 4);
        if self.unit.options.resumable && self.function.is_entry() {
            self.resume_dispatch();
        }
        self.read_register_params();
        let entry = self.layout.order[0];
        self.wait_at(entry, entry, self.entered);
        self.unit.builder.branch(self.lowered(entry).body);
        for place in 0..self.layout.order.len() {
            self.block(place);
        }
        self.fill_steps();
        self.fill_region_loops();
        self.allocas.branch(start);
        // Every chain of tests ends here.
        let builder = self.unit.builder;
        builder.position_at_end(self.end);
        self.end_last_region();
        if self.function.is_entry() {
            builder.ret(None);
        } else {
            builder.ret(Some(builder.load(self.entered.ty(), self.alive, 4)));
        }
        Traits { has_region_loops: self.region_loops.is_some(), spins: !self.spinning.is_empty() }
    }

    fn block(&mut self, place: usize) {
        let block = self.layout.order[place];
        let lowered = self.lowered(block);
        let builder = self.unit.builder;
        builder.position_at_end(lowered.body);
        self.mask = match lowered.lanes {
            Lanes::All => self.entered,
            Lanes::Entering(lanes) => lanes,
            Lanes::Pending(pending) => {
                let mask = builder.load(self.vector().bool(), pending, 4);
                builder.store(mask.ty().zero(), pending, 4);
                let is_divergent = self.uniformity.as_ref().is_some_and(|uniformity| uniformity.is_divergent(block));
                if is_divergent { mask } else { self.entered }
            }
        };
        self.kept = self.layout.kept_registers(&self.liveness, self.function.regs.len(), block);
        self.count_instructions(block);
        self.give_way_in_loop(block);
        let terminator = self.cfg.terminator(block);
        for statement in self.cfg.statements(block).to_vec() {
            if Some(statement) == terminator {
                break;
            }
            if let Some(view) = self.view(statement) {
                self.resume_before(statement, &view);
                self.statement = statement;
                self.guard = match self.execution(statement, &view) {
                    Execution::Always => None,
                    Execution::Never => continue,
                    Execution::Where(guard) => Some(guard),
                };
                self.save_guard(&view);
                self.check_wrapping();
                self.instruction(&view);
                self.saved_guard = None;
                self.resume_after(statement, &view);
            }
        }
        self.leave(block, terminator);
    }

    /// For which lanes a statement is executed. What tools check is often known to be right beforehand.
    pub(crate) fn execution(&self, statement: StmtId, view: &View<'_>) -> Execution {
        let Some(guard) = view.inst.guard else { return Execution::Always };
        match self.known_value_at(statement, guard.reg).and_then(|value| value.constant()) {
            None => Execution::Where(guard),
            Some(value) if (value != 0) != guard.negated => Execution::Always,
            Some(_) => Execution::Never,
        }
    }

    /// How many threads a block has, if that is known.
    pub(crate) fn threads_of_block(&self) -> Option<u64> {
        let sizes = self.unit.facts().block;
        sizes.iter().try_fold(1_u64, |product, size| size.map(|size| product.saturating_mul(size.into())))
    }

    /// The lanes that the function is entered with.
    fn entry_mask(&mut self) -> Value<'c> {
        if !self.function.is_entry() {
            return self.llvm.param(1);
        }
        let mask = self.vector().bool();
        if self.is_scalar_device() || self.threads_of_block().is_some_and(|threads| threads % 32 == 0) {
            return mask.all_ones();
        }
        let bits = self.context_field(field!(lanes), self.unit.context().int(32));
        self.mask_of_bits(bits)
    }

    pub(crate) fn view(&self, statement: StmtId) -> Option<View<'a>> {
        View::of(&self.unit.module.forms, self.body, statement)
    }

    pub(crate) fn lowered(&self, block: Block) -> Lowered<'c> {
        self.blocks[block].expect("blocks that can be reached have a place")
    }

    /// Room on the stack of the function.
    pub(crate) fn alloca(&self, ty: Ty<'c>, align: u32) -> Value<'c> {
        self.allocas.alloca(ty, align)
    }

    /// Room on the stack of the function that starts as zero.
    pub(crate) fn alloca_zeroed(&self, ty: Ty<'c>, align: u32) -> Value<'c> {
        let room = self.allocas.alloca(ty, align);
        self.allocas.store(ty.zero(), room, align);
        room
    }

    /// Emits a value for each lane.
    pub(crate) fn vector(&self) -> Emit<'a, 'c> {
        self.unit.vector()
    }

    /// Emits values that all lanes share.
    pub(crate) fn scalar(&self) -> Emit<'a, 'c> {
        self.unit.scalar()
    }

    /// Emits what a value has the shape of.
    pub(crate) fn emit_like(&self, value: Value<'c>) -> Emit<'a, 'c> {
        Emit { lanes: value.ty().lanes(), ..self.scalar() }
    }

    pub(crate) fn is_scalar_device(&self) -> bool {
        self.unit.width() == Width::Thread
    }

    /// The number of lanes.
    pub(crate) fn lanes(&self) -> u32 {
        self.unit.width().lanes()
    }

    /// Whether any lane is in a mask.
    pub(crate) fn any(&self, mask: Value<'c>) -> Value<'c> {
        let emit = self.scalar();
        match mask.ty().lanes() {
            None => mask,
            Some(_) => emit.is_not_zero(self.mask_bits(mask)),
        }
    }

    /// A mask as a number, the first lane in the lowest bit.
    pub(crate) fn mask_bits(&self, mask: Value<'c>) -> Value<'c> {
        let emit = self.scalar();
        match mask.ty().lanes() {
            None => emit.zext(mask, self.unit.context().int(32)),
            Some(lanes) => emit.bitcast(mask, self.unit.context().int(lanes)),
        }
    }

    /// A number as a mask.
    pub(crate) fn mask_of_bits(&self, bits: Value<'c>) -> Value<'c> {
        let emit = self.scalar();
        let mask = self.vector().bool();
        match mask.lanes() {
            None => emit.trunc(bits, mask),
            Some(_) => emit.bitcast(bits, mask),
        }
    }

    /// Appends a block to the function and goes on there.
    pub(crate) fn new_block(&self, name: &str) -> BasicBlock<'c> {
        self.llvm.append_block(self.unit.context(), name)
    }

    /// Emits something that only runs where a condition holds.
    pub(crate) fn when(&mut self, condition: Value<'c>, body: impl FnOnce(&mut Self)) {
        let builder = self.unit.builder;
        let (then, after) = (self.new_block("then"), self.new_block("after"));
        builder.branch_if(condition, then, after);
        builder.position_at_end(then);
        body(self);
        builder.branch(after);
        builder.position_at_end(after);
    }

    /// Emits something that does not come back, where a condition holds. So nothing has to be kept for what follows.
    pub(crate) fn fail_when(&mut self, condition: Value<'c>, body: impl FnOnce(&mut Self)) {
        let builder = self.unit.builder;
        let (then, after) = (self.new_block("fail"), self.new_block("after"));
        builder.branch_if(condition, then, after);
        builder.position_at_end(then);
        body(self);
        builder.unreachable();
        builder.position_at_end(after);
    }

    /// Emits something once for each lane of a mask, in ascending order. At width 1, once if the mask holds.
    pub(crate) fn for_each_lane(&mut self, mask: Value<'c>, body: impl FnOnce(&mut Self, Value<'c>)) {
        let int = self.unit.context().int(32);
        if self.is_scalar_device() {
            self.when(mask, |this| body(this, int.zero()));
            return;
        }
        let emit = self.scalar();
        let builder = self.unit.builder;
        let before = builder.block();
        let (head, inside, after) = (self.new_block("lanes"), self.new_block("lane"), self.new_block("after"));
        let bits = self.mask_bits(mask);
        builder.branch(head);
        builder.position_at_end(head);
        let left = builder.phi(int, &[(bits, before)]);
        builder.branch_if(emit.is_zero(left), after, inside);
        builder.position_at_end(inside);
        let lane = emit.ctz(left);
        body(self, lane);
        let rest = emit.and(left, emit.sub(left, int.constant(1)));
        builder.add_incoming(left, &[(rest, builder.block())]);
        builder.branch(head);
        builder.position_at_end(after);
    }

    /// The value of one lane.
    pub(crate) fn lane_value(&self, value: Value<'c>, lane: Value<'c>) -> Value<'c> {
        if value.ty().lanes().is_some() { self.unit.builder.extract_element(value, lane) } else { value }
    }

    /// Whether lanes elsewhere may still need a register while the present block runs.
    pub(crate) fn is_live_in_pending_lanes(&self, reg: Reg) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.contains(reg))
    }

    /// The place of a register that the present statement reads or writes.
    pub(crate) fn place(&mut self, reg: Reg, is_written: bool) -> Option<Place<'c>> {
        let bits = self.register_bits(reg);
        let scalar = self.unit.context().int(bits);
        let starts_as_zero = self.starts_as_zero(reg);
        match &mut self.places {
            Places::Registers(places) => {
                let room = places[reg].get_or_insert_with(|| new_room(&self.allocas, scalar, starts_as_zero));
                Some(Place { address: room.address, affine: None, subwarp_affine: None, groups: None, constant: None })
            }
            Places::Webs(_) => {
                let uniformity = self.uniformity.as_ref().expect("webs come from the analysis");
                let statement = self.statement;
                let web =
                    if is_written { uniformity.written(statement, reg) } else { uniformity.read(statement, reg) }?;
                Some(self.place_of_web(web, bits))
            }
        }
    }

    /// The place of a web.
    pub(crate) fn place_of_web(&mut self, web: Web, bits: u32) -> Place<'c> {
        let scalar = self.unit.context().int(bits);
        let uniformity = self.uniformity.as_ref().expect("webs come from the analysis");
        let value = uniformity.value(web);
        let affine = self.is_affine(value, bits).then_some(*value);
        let groups = self.subwarp_affine.get(&web).copied();
        let subwarp_affine = groups.map(|_| *value);
        let ty = match (affine, groups) {
            (Some(_), _) => scalar,
            (None, Some(groups)) => scalar.vector(groups),
            (None, None) => scalar.vector(self.unit.width().lanes()),
        };
        let starts_as_zero = self.starts_as_zero(uniformity.reg_of(web));
        let Places::Webs(places) = &mut self.places else {
            unreachable!("threads that run on their own have registers, not webs")
        };
        let room = places[web].get_or_insert_with(|| new_room(&self.allocas, ty, starts_as_zero));
        let constant = affine.and_then(|value| value.constant()).filter(|_| !starts_as_zero);
        Place { address: room.address, affine, subwarp_affine, groups, constant }
    }

    /// Where a web is, and its type.
    pub(crate) fn room_of_web(&mut self, web: Web, bits: u32) -> (Value<'c>, Ty<'c>) {
        self.place_of_web(web, bits);
        let Places::Webs(places) = &self.places else { unreachable!("threads that run on their own have no webs") };
        let room = places[web].as_ref().expect("it was just made");
        (room.address, room.ty)
    }

    /// Makes all registers zero that are zero at the start of the function.
    pub(crate) fn zero_registers(&self) {
        let Places::Webs(places) = &self.places else { unreachable!("threads that run on their own have no webs") };
        let builder = self.unit.builder;
        for room in places.values().flatten().filter(|room| room.is_zeroed) {
            builder.store(room.ty.zero(), room.address, register_align(room.ty));
        }
        builder.store(self.entered.ty().zero(), self.carry, 4);
    }

    /// Whether a register may be read before it is written.
    ///
    /// Where it may not, its place needs no value at the start, which saves LLVM from bringing that value to all places
    /// where it seems to be needed. A read in a warp is one of lanes that have all written the register.
    fn starts_as_zero(&self, reg: Reg) -> bool {
        // Results are read where a function ends, whether it wrote them or not.
        !self.function.is_entry() || self.liveness.is_live_in(self.cfg.entry(), reg)
    }

    /// Makes the place of a register that the present statement writes start as zero: lanes that have not written it keep what is there, and compute with it,
    /// although nobody looks at the result.
    pub(crate) fn zero_written(&mut self, reg: Reg) {
        let uniformity = self.uniformity.as_ref().expect("nobody else needs the registers of a thread");
        let Some(web) = uniformity.written(self.statement, reg) else { return };
        let Places::Webs(places) = &mut self.places else {
            unreachable!("threads that run on their own have registers, not webs")
        };
        let room = places[web].as_mut().expect("the web has a place");
        if !room.is_zeroed {
            self.allocas.store(room.ty.zero(), room.address, register_align(room.ty));
            room.is_zeroed = true;
        }
    }

    /// Writes the place of a register at width 1.
    pub(crate) fn store_register(&mut self, reg: Reg, value: Value<'c>) {
        let ty = self.unit.context().int(self.register_bits(reg));
        let starts_as_zero = self.starts_as_zero(reg);
        let Places::Registers(places) = &mut self.places else { unreachable!("the lanes of a warp have webs") };
        let room = places[reg].get_or_insert_with(|| new_room(&self.allocas, ty, starts_as_zero));
        self.unit.builder.store(value, room.address, register_align(ty));
    }

    /// Bits of a register; a predicate has one, and a vector those of its elements.
    pub(crate) fn register_bits(&self, reg: Reg) -> u32 {
        let group = &self.function.groups[self.function.regs[reg].group];
        group.ty.bits() * u32::from(group.vector)
    }
}

fn new_room<'c>(allocas: &Builder<'c>, ty: Ty<'c>, is_zeroed: bool) -> Room<'c> {
    let address = allocas.alloca(ty, register_align(ty));
    if is_zeroed {
        allocas.store(ty.zero(), address, register_align(ty));
    }
    Room { address, ty, is_zeroed }
}

/// The alignment of the place of a register.
pub(crate) fn register_align(ty: Ty<'_>) -> u32 {
    let bytes = ty.bits().div_ceil(8).next_power_of_two();
    (bytes * ty.lanes().unwrap_or(1)).clamp(1, 64)
}
