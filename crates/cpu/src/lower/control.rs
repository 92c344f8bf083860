//! What is compiled into a kernel to control its execution: preemption, counts, budgets, loops that wait for memory.
//!
//! Instructions of the program are counted, and not what tools inserted, so that a budget means the same with any tool. They are
//! counted in memory that the block has for each thread, so that it does not matter who runs a warp: a fibre,
//! a loop over warps, or threads of a warp that was deoptimized. A budget is looked at where a loop goes back only.
//!
//! A loop in which a thread may wait for memory that another one writes lets other warps run from time to time. If lanes of
//! the same warp are elsewhere, one of them may be the one that is waited for, and it cannot come while this loop runs: then
//! the warp is deoptimized.

use ptx::analysis::Block;
use ptx::ir::StmtId;
use ptx::ops::Effect;
use ptx::types::Space;

use super::analysis::ResumePoint;
use super::function::Lowering;
use super::memory::addressed_space;
use super::pragma::awaits;
use crate::abi::calls::RuntimeFunction;
use crate::abi::context::field;
use crate::emit::Sign;

/// A loop gives way each time that it has run so often.
const TURN: u64 = 32;
/// After so many rounds, lanes that are elsewhere are taken to be waited for.
const SPIN_LIMIT: u64 = 1024;

impl Lowering<'_, '_, '_> {
    /// Before an instruction of the program that accesses memory: lets another warp run, if kernels are compiled so, and another
    /// thread could see the access. What tools inserted before the access, and look at memory with, belongs to it: they find
    /// what the access finds.
    pub(crate) fn preempt(&mut self) {
        if !self.unit.options.preempt {
            return;
        }
        let origin = self.body.origin(self.statement).id;
        let belongs = |id: StmtId| self.view(id).is_some() && self.body.origin(id).id == origin;
        let is_tools = |id: StmtId| self.body.origin(id).tag.is_some();
        if self.previous.is_some_and(|previous| belongs(previous) && is_tools(previous)) {
            return;
        }
        let mut group =
            std::iter::successors(Some(self.statement), |&id| self.body.next(id)).take_while(|&id| belongs(id));
        let Some(view) = group.find(|&id| !is_tools(id)).and_then(|id| self.view(id)) else { return };
        let is_plain = matches!(view.effect(), Some(Effect::Load | Effect::Store | Effect::Atomic));
        let space = view.accesses().first().and_then(addressed_space);
        if is_plain && space.is_some_and(|space| !matches!(space, Some(Space::Param | Space::Const | Space::Local))) {
            self.call_runtime(RuntimeFunction::Preempt, &[self.warp]);
        }
    }

    /// At the start of a block: counts its instructions. Where a loop goes back to it, ends the launch if there are too many.
    pub(crate) fn count_instructions(&mut self, block: Block) {
        if !self.unit.options.count {
            return;
        }
        let of_program = |(id, _): &(StmtId, &ptx::ir::Inst)| self.body.origin(*id).tag.is_none();
        let instructions = self.analyses.cfg.insts(self.body, block).filter(of_program).count() as u64;
        let goes_back = self.analyses.layout.cycle_end(block).is_some();
        if instructions == 0 && !goes_back {
            return;
        }
        // A loop that is a tool's own counts, too: else nothing would end it.
        let instructions = instructions.max(1);
        let (word, pointer) = (self.unit.context().int(64), self.unit.context().pointer());
        let (scalar, emit) = (self.scalar(), self.vector());
        let first = scalar.resize(Sign::Unsigned, self.first_thread(), 64);
        let address = scalar.offset(self.context_field(field!(counts), pointer), scalar.shl(first, word.constant(3)));
        let running = self.masks.running;
        let more = emit.select(running, emit.int(64).constant(instructions), emit.int(64).zero());
        let executed = emit.add(emit.load(emit.int(64), address, 8), more);
        emit.store(executed, address, 8);
        // Without a way back, a function comes to an end.
        let is_entry_of_function = !self.function.is_entry() && block == self.analyses.cfg.entry();
        if !goes_back && !is_entry_of_function {
            return;
        }
        let budget = emit.broadcast(self.context_field(field!(budget), word));
        let over = emit.and(emit.less(Sign::Unsigned, budget, executed), running);
        let lanes = self.masks.bits(over);
        let is_over = self.masks.any(over);
        self.fail_when(is_over, |this| this.call_fault(RuntimeFunction::OverBudget, &[this.warp, lanes]));
    }

    /// `nanosleep`: lets others run at once. Lanes of the same warp that are elsewhere can only run if the warp is deoptimized.
    pub(crate) fn sleep(&mut self) {
        let statement = self.statement;
        let active = self.active();
        let any = self.masks.any(active);
        self.when(any, |this| {
            // A warp cannot be deoptimized in the middle of a call.
            if !this.is_scalar_device() && this.function.is_entry() {
                let emit = this.scalar();
                let alive = emit.load(this.masks.running.ty(), this.masks.alive, 4);
                let elsewhere = emit.and(alive, emit.not(this.masks.running));
                let is_awaited = this.masks.any(elsewhere);
                this.fail_when(is_awaited, |this| this.deoptimize(ResumePoint::Statement(statement)));
            }
            this.call_spin();
        });
    }

    /// At the start of a block to which control goes back in a loop that watches memory.
    pub(crate) fn give_way_in_loop(&mut self, block: Block) {
        if !self.analyses.spinning.contains(block) {
            return;
        }
        if awaits(self.unit.module, self.body) {
            // It is called where there is something to wait for, and a warp cannot be deoptimized in the middle of a call.
            self.call_runtime(RuntimeFunction::Await, &[self.warp]);
            return;
        }
        let emit = self.scalar();
        let int = self.unit.context().int(32);
        let counter = self.registers.alloca_zeroed(int, 4);
        let rounds = emit.add(emit.load(int, counter, 4), int.constant(1));
        emit.store(rounds, counter, 4);
        let is_turn = emit.is_zero(emit.and_constant(rounds, TURN - 1));
        self.when(is_turn, |this| {
            let emit = this.scalar();
            if this.region_loops.is_some() {
                // What is waited for may be a warp of the block, which cannot run before this one has ended the region.
                let context = this.unit.context();
                let spin = this.unit.runtime(RuntimeFunction::SpinInRegion, context.int(8), &[context.pointer()]);
                let is_livelocked = emit.is_not_zero(this.unit.builder.call(spin, &[this.warp]));
                this.fail_when(is_livelocked, |this| {
                    this.call_runtime(RuntimeFunction::Misspeculated, &[this.warp]);
                    this.deoptimize(ResumePoint::Block(block));
                });
                return;
            }
            if !this.is_scalar_device() {
                let alive = emit.load(this.masks.running.ty(), this.masks.alive, 4);
                let elsewhere = emit.and(alive, emit.not(this.masks.running));
                let is_late = emit.is_zero(emit.and_constant(rounds, SPIN_LIMIT - 1));
                let is_stuck = emit.and(this.masks.any(elsewhere), is_late);
                this.fail_when(is_stuck, |this| this.deoptimize(ResumePoint::Block(block)));
            }
            this.call_runtime(RuntimeFunction::Spin, &[this.warp]);
        });
    }
}
