//! Where lanes go at the end of a block.

use ptx::analysis::{Block, EdgeKind};
use ptx::ir::{Guard, StmtId};
use ptx::ops::{Effect, Op};

use super::analysis::DivergentBranch;
use super::function::Lowering;
use crate::abi::calls::Undefined;
use crate::llvm::Value;

impl<'c> Lowering<'_, '_, 'c> {
    /// Emits the end of a block.
    pub(crate) fn leave(&mut self, block: Block, terminator: Option<StmtId>) {
        let Some(view) = terminator.and_then(|statement| self.view(statement)) else {
            return self.leave_by_falling(block);
        };
        self.statement = terminator.expect("there is a view of it");
        let guard = view.inst.guard;
        match view.effect() {
            Some(Effect::Branch) if view.op() == Some(Op::BrxIdx) => self.leave_by_table(block, &view),
            Some(Effect::Branch) => match self.analyses.target(block, EdgeKind::Taken) {
                Some(taken) => self.leave_by_branch(block, guard, taken),
                None => {
                    self.refuse();
                    self.unit.builder.branch(self.masks.end);
                }
            },
            _ => self.leave_function(block, guard, view.effect() == Some(Effect::Trap), view.op() == Some(Op::Exit)),
        }
    }

    fn leave_by_falling(&mut self, block: Block) {
        match self.analyses.target(block, EdgeKind::FallThrough) {
            Some(next) => self.go(block, next, self.masks.running),
            None => self.leave_function(block, None, false, false),
        }
    }

    fn leave_by_branch(&mut self, block: Block, guard: Option<Guard>, taken: Block) {
        let fall = self.analyses.target(block, EdgeKind::FallThrough);
        let (Some(guard), Some(fall)) = (guard, fall) else {
            return self.go(block, taken, self.masks.running);
        };
        if taken == fall {
            return self.go(block, taken, self.masks.running);
        }
        let builder = self.unit.builder;
        let Some(DivergentBranch { first, second, is_taken_first, is_next }) = self.analyses.divergent_branch(block)
        else {
            let condition = self.scalar_guard(guard);
            let (yes, no) = (self.new_block("taken"), self.new_block("not"));
            builder.branch_if(condition, yes, no);
            builder.position_at_end(yes);
            self.go(block, taken, self.masks.running);
            builder.position_at_end(no);
            self.go(block, fall, self.masks.running);
            return;
        };
        let condition = self.vector_guard(guard);
        let yes = builder.and(self.masks.running, condition);
        let no = builder.and(self.masks.running, builder.not(condition));
        let (first_mask, second_mask) = if is_taken_first { (yes, no) } else { (no, yes) };
        self.masks.wait_at(block, first, first_mask);
        self.masks.wait_at(block, second, second_mask);
        if !is_next {
            let after = self.masks.after(block);
            builder.branch(after);
            return;
        }
        let otherwise = if self.analyses.layout.is_next(block, second) {
            self.masks.lowered(second).body
        } else {
            self.masks.after(block)
        };
        builder.branch_if(self.masks.any(first_mask), self.masks.lowered(first).body, otherwise);
    }

    fn leave_by_table(&mut self, block: Block, view: &ptx::view::View<'_>) {
        let builder = self.unit.builder;
        let emit = self.vector();
        let index = self.read(&view.operands()[0], 32, emit);
        let fall = self.analyses.target(block, EdgeKind::FallThrough);
        let edges = self.analyses.cfg.edges(block).to_vec();
        let table = edges.iter().filter_map(|edge| match edge.kind {
            EdgeKind::Table(number) => Some((u64::from(number), edge.target)),
            _ => None,
        });
        if self.is_scalar_device() {
            if let (Some(guard), Some(fall)) = (view.inst.guard, fall) {
                let (yes, condition) = (self.new_block("taken"), self.vector_guard(guard));
                builder.branch_if(condition, yes, self.masks.lowered(fall).body);
                builder.position_at_end(yes);
            }
            let past = self.new_block("past");
            let cases: Vec<_> = table.map(|(number, target)| (number, self.masks.lowered(target).body)).collect();
            builder.switch(index, past, &cases);
            builder.position_at_end(past);
            self.call_undefined(Undefined::BranchIndex);
            builder.unreachable();
            return;
        }
        let mut rest = self.masks.running;
        if let Some(guard) = view.inst.guard {
            rest = builder.and(rest, self.vector_guard(guard));
        }
        let mut left = self.masks.running;
        for (number, target) in table {
            let is_it = emit.equal(index, index.ty().constant(number));
            let mask = builder.and(rest, is_it);
            left = builder.and(left, builder.not(mask));
            self.masks.add_pending(target, mask);
        }
        if let Some(fall) = fall {
            let staying = builder.and(self.masks.running, builder.not(rest));
            left = builder.and(left, builder.not(staying));
            self.masks.add_pending(fall, staying);
        }
        // An index past the table leads nowhere.
        let any = self.masks.any(left);
        self.fail_when(any, |this| this.call_undefined(Undefined::BranchIndex));
        let after = self.masks.after(block);
        builder.branch(after);
    }

    /// `ret`, `exit` or `trap`, guarded or not.
    fn leave_function(&mut self, block: Block, guard: Option<Guard>, is_trap: bool, is_exit: bool) {
        let builder = self.unit.builder;
        let leaving = match guard {
            None => self.masks.running,
            Some(guard) => builder.and(self.masks.running, self.vector_guard(guard)),
        };
        if is_trap {
            let any = self.masks.any(leaving);
            self.fail_when(any, |this| this.call_trap(leaving));
        }
        if !is_exit && !is_trap {
            self.write_register_results(leaving);
        }
        if is_exit || self.function.is_entry() {
            let alive = builder.load(leaving.ty(), self.masks.alive, 4);
            builder.store(builder.and(alive, builder.not(leaving)), self.masks.alive, 4);
        }
        let after = self.masks.after_last(block);
        let (Some(_), Some(next)) = (guard, self.analyses.target(block, EdgeKind::FallThrough)) else {
            return builder.branch(after);
        };
        let staying = builder.and(self.masks.running, builder.not(leaving));
        self.masks.wait_at(block, next, staying);
        if self.analyses.layout.is_next(block, next) {
            builder.branch_if(self.masks.any(staying), self.masks.lowered(next).body, after);
        } else {
            let after = self.masks.after(block);
            builder.branch(after);
        }
    }

    /// All lanes of the block go to one target.
    fn go(&mut self, block: Block, target: Block, mask: Value<'c>) {
        self.masks.wait_at(block, target, mask);
        let next = if self.analyses.layout.is_next(block, target) {
            self.masks.lowered(target).body
        } else {
            self.masks.after(block)
        };
        self.unit.builder.branch(next);
    }
}
