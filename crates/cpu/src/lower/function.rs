//! One function while it is lowered: its parts, and what all families of instructions need.

use ptx::analysis::LaneValue;
use ptx::ir::{Body, FuncId, Function, Guard, Reg, StmtId, Var};
use ptx::view::View;
use rustc_hash::FxHashMap;

use super::analysis::{Analyses, InactiveLanes};
use super::deopt::Deopt;
use super::masks::Masks;
use super::region_loops::RegionLoops;
use super::registers::{Place, Registers};
use super::unit::Unit;
use crate::abi::calls::RuntimeFunction;
use crate::emit::Emit;
use crate::llvm::{Attribute, BasicBlock, FunctionValue, Ty, Value};
use crate::options::Width;

/// One function while it is lowered.
pub(crate) struct Lowering<'u, 'a, 'c> {
    pub(crate) unit: &'u mut Unit<'a, 'c>,
    pub(crate) func: FuncId,
    pub(crate) function: &'a Function,
    pub(crate) body: &'a Body,
    pub(crate) analyses: &'u Analyses<'a>,
    pub(crate) registers: Registers<'u, 'a, 'c>,
    pub(crate) masks: Masks<'u, 'a, 'c>,
    pub(crate) deopt: Deopt<'u, 'a, 'c>,
    /// How the kernel runs all warps of a block, if it does.
    pub(crate) region_loops: Option<RegionLoops<'a, 'c>>,
    /// What was found out about registers in lanes that are not active.
    pub(crate) inactive_lanes: InactiveLanes,
    pub(crate) llvm: FunctionValue<'c>,
    /// The context of the warp.
    pub(crate) warp: Value<'c>,
    /// Results and parameters, at the first lane; nothing for a kernel.
    pub(crate) arguments: Option<Value<'c>>,
    /// Where the variables of this call start in local memory.
    pub(crate) frame: Value<'c>,
    /// Bytes that `alloca` has taken, in memory; nothing if the function does not use it.
    pub(crate) taken: Option<Value<'c>>,
    /// Room for variables that are passed to calls.
    pub(crate) param_rooms: FxHashMap<Var, Value<'c>>,
    pub(crate) statement: StmtId,
    /// The instruction before it, if that is in the same block.
    pub(crate) previous: Option<StmtId>,
    /// The guard of the present statement, if it is not known to hold.
    pub(crate) guard: Option<Guard>,
    /// The guard of the present statement in each lane, and in all at once, if the statement overwrites it.
    pub(crate) saved_guard: Option<(Value<'c>, Option<Value<'c>>)>,
}

impl<'a, 'c> Lowering<'_, 'a, 'c> {
    pub(crate) fn view(&self, statement: StmtId) -> Option<View<'a>> {
        self.analyses.view(statement)
    }

    /// Room on the stack of the function.
    pub(crate) fn alloca(&self, ty: Ty<'c>, align: u32) -> Value<'c> {
        self.registers.alloca(ty, align)
    }

    /// The place of a register that the present statement reads or writes.
    pub(crate) fn place(&mut self, reg: Reg, is_written: bool) -> Option<Place<'c>> {
        self.registers.place(self.statement, reg, is_written)
    }

    /// What is known, or speculated, of a register that the present statement reads.
    pub(crate) fn known_value(&self, reg: Reg) -> Option<&LaneValue> {
        self.analyses.known_value(self.statement, reg)
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

    /// Emits a value for each of so many groups of lanes.
    pub(crate) fn group_shape(&self, groups: u32) -> Emit<'a, 'c> {
        Emit { lanes: Some(groups), ..self.scalar() }
    }

    /// The groups of which a lane is in a mask.
    pub(crate) fn groups_in(&self, mask: Value<'c>, groups: u32) -> Value<'c> {
        let emit = self.group_shape(groups);
        if mask.is_all_ones() {
            return emit.bool().all_ones();
        }
        let size = self.lanes() / groups;
        let int = self.unit.context().int(32);
        let of_group = |group: u32| int.constant(((1_u64 << size) - 1) << (group * size));
        let members: Vec<_> = (0..groups).map(of_group).collect();
        let bits = emit.broadcast(self.masks.bits(mask));
        emit.is_not_zero(emit.and(bits, Value::vector_constant(&members)))
    }

    pub(crate) fn is_scalar_device(&self) -> bool {
        self.unit.width() == Width::Thread
    }

    /// The number of lanes.
    pub(crate) fn lanes(&self) -> u32 {
        self.unit.width().lanes()
    }

    /// Appends a block to the function.
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
        let bits = self.masks.bits(mask);
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

    /// A field of the warp's context, of those that do not change while the warp runs.
    pub(crate) fn context_field(&self, offset: u64, ty: Ty<'c>) -> Value<'c> {
        self.unit.context_field(self.warp, offset, ty)
    }

    /// The number of the first thread of the warp that runs, if the kernel runs in region loops.
    pub(crate) fn first_thread_of_region(&self) -> Option<Value<'c>> {
        self.region_loops.as_ref().map(RegionLoops::first_thread)
    }

    /// Refuses the present statement.
    pub(crate) fn refuse(&mut self) {
        self.unit.refuse(self.function, self.statement);
    }

    /// Calls a function of the runtime that has no result.
    pub(crate) fn call_runtime(&mut self, function: RuntimeFunction, args: &[Value<'c>]) {
        self.unit.builder.call(self.runtime_function(function, args), args);
    }

    /// Calls a function of the runtime that does not come back: only in `fail_when`.
    pub(crate) fn call_fault(&mut self, function: RuntimeFunction, args: &[Value<'c>]) {
        let function = self.runtime_function(function, args);
        function.add_attribute(self.unit.context(), Attribute::NoReturn);
        self.unit.builder.call(function, args);
    }

    fn runtime_function(&self, function: RuntimeFunction, args: &[Value<'c>]) -> FunctionValue<'c> {
        let types: Vec<_> = args.iter().map(|arg| arg.ty()).collect();
        self.unit.runtime(function, self.unit.context().void(), &types)
    }
}
