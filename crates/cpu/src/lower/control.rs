//! What can be compiled into a kernel to control its execution: preemption, counts, budgets.

use ptx::analysis::Block;

use super::function::Lowering;
use crate::abi::calls::RuntimeFunction;
use crate::abi::context::field;
use crate::emit::Sign;

impl Lowering<'_, '_, '_> {
    /// Before an access to memory: lets another warp run, if kernels are compiled so.
    pub(crate) fn preempt(&mut self) {
        if self.unit.options.preempt {
            self.call_runtime(RuntimeFunction::Preempt, &[self.warp]);
        }
    }

    /// At the start of a block: counts its instructions, and ends the launch if there are too many.
    pub(crate) fn count_instructions(&mut self, block: Block) {
        if !self.unit.options.count {
            return;
        }
        let instructions = self.cfg.insts(self.body, block).count() as u64;
        let word = self.unit.context().int(64);
        let emit = self.scalar();
        let lanes = emit.resize(Sign::Unsigned, emit.popc(self.mask_bits(self.mask)), 64);
        let more = emit.mul(lanes, word.constant(instructions));
        let address = emit.offset(self.warp, word.constant(field!(executed)));
        let executed = emit.add(emit.load(word, address, 8), more);
        emit.store(executed, address, 8);
        let budget = self.context_field(field!(budget), word);
        let is_over = emit.less(Sign::Unsigned, budget, executed);
        self.fail_when(is_over, |this| this.call_fault(RuntimeFunction::OverBudget, &[this.warp]));
    }
}
