//! Where lanes go at the end of a block.

use ptx::analysis::{Block, BranchUniformity, EdgeKind};
use ptx::ir::{Guard, StmtId};
use ptx::ops::{Effect, Op};

use super::calls::Undefined;
use super::function::Lowering;
use crate::llvm::{BasicBlock, Value};

/// Something between two blocks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Step {
    /// Passes over the block at this place if no lane waits for it.
    Test(usize),
    /// Goes back to the start of the cycles that end at this place.
    Cycle(usize),
}

impl<'c> Lowering<'_, '_, 'c> {
    /// Where control goes behind the block at a place: back where a cycle ends and lanes wait at its start, else to the
    /// next block in the order for which lanes wait.
    pub(crate) fn after(&mut self, place: usize) -> BasicBlock<'c> {
        if self.layout.back_at(place).is_empty() { self.test(place + 1) } else { self.step(Step::Cycle(place)) }
    }

    /// Where the block at a place is passed over if no lane waits for it.
    fn test(&mut self, place: usize) -> BasicBlock<'c> {
        if place < self.layout.order.len() { self.step(Step::Test(place)) } else { self.end }
    }

    fn step(&mut self, step: Step) -> BasicBlock<'c> {
        if let Some(&block) = self.steps.get(&step) {
            return block;
        }
        let block = self.new_block("step");
        self.steps.insert(step, block);
        self.unfilled.push(step);
        block
    }

    /// Fills the steps that blocks and other steps lead to.
    pub(crate) fn fill_steps(&mut self) {
        let builder = self.unit.builder;
        while let Some(step) = self.unfilled.pop() {
            builder.position_at_end(self.steps[&step]);
            match step {
                Step::Test(place) => {
                    let lowered = self.lowered(self.layout.order[place]);
                    let mask = builder.load(self.vector().bool(), lowered.waiting, 4);
                    let after = self.after(place);
                    builder.branch_if(self.any(mask), lowered.body, after);
                }
                Step::Cycle(place) => {
                    for target in self.layout.back_at(place).to_vec() {
                        let target = self.lowered(target);
                        let mask = builder.load(self.vector().bool(), target.waiting, 4);
                        let otherwise = self.new_block("step");
                        builder.branch_if(self.any(mask), target.body, otherwise);
                        builder.position_at_end(otherwise);
                    }
                    let next = self.test(place + 1);
                    builder.branch(next);
                }
            }
        }
    }

    /// Emits the end of a block.
    pub(crate) fn leave(&mut self, block: Block, terminator: Option<StmtId>) {
        let Some(view) = terminator.and_then(|statement| self.view(statement)) else {
            return self.leave_by_falling(block);
        };
        self.statement = terminator.expect("there is a view of it");
        let guard = view.inst.guard;
        match view.effect() {
            Some(Effect::Branch) if view.op() == Some(Op::BrxIdx) => self.leave_by_table(block, &view),
            Some(Effect::Branch) => match self.target(block, EdgeKind::Taken) {
                Some(taken) => self.leave_by_branch(block, guard, taken),
                None => {
                    self.refuse();
                    self.unit.builder.branch(self.end);
                }
            },
            _ => self.leave_function(block, guard, view.effect() == Some(Effect::Trap), view.op() == Some(Op::Exit)),
        }
    }

    fn target(&self, block: Block, kind: EdgeKind) -> Option<Block> {
        self.cfg.edges(block).iter().find(|edge| edge.kind == kind).map(|edge| edge.target)
    }

    fn leave_by_falling(&mut self, block: Block) {
        match self.target(block, EdgeKind::FallThrough) {
            Some(next) => self.go(block, next, self.mask),
            None => self.leave_function(block, None, false, false),
        }
    }

    fn leave_by_branch(&mut self, block: Block, guard: Option<Guard>, taken: Block) {
        let fall = self.target(block, EdgeKind::FallThrough);
        let (Some(guard), Some(fall)) = (guard, fall) else {
            return self.go(block, taken, self.mask);
        };
        if taken == fall {
            return self.go(block, taken, self.mask);
        }
        let builder = self.unit.builder;
        if self.lanes_agree(block) {
            let condition = self.scalar_guard(guard);
            let (yes, no) = (self.new_block("taken"), self.new_block("not"));
            builder.branch_if(condition, yes, no);
            builder.position_at_end(yes);
            self.go(block, taken, self.mask);
            builder.position_at_end(no);
            self.go(block, fall, self.mask);
            return;
        }
        let condition = self.vector_guard(guard);
        let yes = builder.and(self.mask, condition);
        let no = builder.and(self.mask, builder.not(condition));
        self.wait_at(block, taken, yes);
        self.wait_at(block, fall, no);
        // The one of the two that runs next, if nothing else comes before it.
        let here = self.layout.position(block);
        let (first, first_mask, second) = {
            let (taken_at, fall_at) = (self.layout.position(taken), self.layout.position(fall));
            let taken_first = match (taken_at > here, fall_at > here) {
                (true, true) => taken_at <= fall_at,
                (is_forward, _) => !is_forward,
            };
            if taken_first { (taken, yes, fall) } else { (fall, no, taken) }
        };
        let second_waits_before = self.comes_before(here, second, first);
        if second_waits_before || !self.is_next(block, first) {
            let after = self.after(here);
            builder.branch(after);
            return;
        }
        let otherwise = if self.is_next(block, second) { self.lowered(second).body } else { self.after(here) };
        builder.branch_if(self.any(first_mask), self.lowered(first).body, otherwise);
    }

    fn leave_by_table(&mut self, block: Block, view: &ptx::view::View<'_>) {
        let builder = self.unit.builder;
        let index = view.operands()[0];
        let emit = self.vector();
        let mut rest = self.mask;
        if let Some(guard) = view.inst.guard {
            rest = builder.and(rest, self.vector_guard(guard));
        }
        let index = self.read(&index, 32, emit);
        let mut left = self.mask;
        for edge in self.cfg.edges(block).to_vec() {
            let EdgeKind::Table(number) = edge.kind else { continue };
            let is_it = emit.equal(index, index.ty().constant(number.into()));
            let mask = builder.and(rest, is_it);
            left = builder.and(left, builder.not(mask));
            self.add_waiting(edge.target, mask);
        }
        if let Some(fall) = self.target(block, EdgeKind::FallThrough) {
            let staying = builder.and(self.mask, builder.not(rest));
            left = builder.and(left, builder.not(staying));
            self.add_waiting(fall, staying);
        }
        // An index past the table leads nowhere.
        let any = self.any(left);
        self.when(any, |this| this.call_undefined(Undefined::BranchIndex));
        if self.is_scalar_device() {
            // One lane: straight to where it goes.
            let targets: Vec<Block> = self.cfg.successors(block).to_vec();
            for target in targets {
                let lowered = self.lowered(target);
                let waits = builder.load(emit.bool(), lowered.waiting, 4);
                let next = self.new_block("table");
                builder.branch_if(waits, lowered.body, next);
                builder.position_at_end(next);
            }
            builder.branch(self.end);
            return;
        }
        let after = self.after(self.layout.position(block));
        builder.branch(after);
    }

    /// `ret`, `exit` or `trap`, guarded or not.
    fn leave_function(&mut self, block: Block, guard: Option<Guard>, is_trap: bool, is_exit: bool) {
        let builder = self.unit.builder;
        let leaving = match guard {
            None => self.mask,
            Some(guard) => builder.and(self.mask, self.vector_guard(guard)),
        };
        if is_trap {
            let any = self.any(leaving);
            self.when(any, |this| this.call_trap(leaving));
        }
        if !is_exit && !is_trap {
            self.write_register_results(leaving);
        }
        if is_exit || self.function.is_entry() {
            let alive = builder.load(leaving.ty(), self.alive, 4);
            builder.store(builder.and(alive, builder.not(leaving)), self.alive, 4);
        }
        let here = self.layout.position(block);
        match (guard, self.target(block, EdgeKind::FallThrough)) {
            (Some(_), Some(next)) => {
                let staying = builder.and(self.mask, builder.not(leaving));
                self.wait_at(block, next, staying);
                let after = if self.is_scalar_device() { self.end } else { self.after(here) };
                if self.is_next(block, next) {
                    builder.branch_if(self.any(staying), self.lowered(next).body, after);
                } else {
                    builder.branch(after);
                }
            }
            _ if self.is_scalar_device() => builder.branch(self.end),
            _ => {
                let after = self.after(here);
                builder.branch(after);
            }
        }
    }

    /// All lanes of the block go to one target.
    fn go(&mut self, block: Block, target: Block, mask: Value<'c>) {
        self.wait_at(block, target, mask);
        let next = if self.is_next(block, target) {
            self.lowered(target).body
        } else {
            self.after(self.layout.position(block))
        };
        self.unit.builder.branch(next);
    }

    /// Lanes that come from a block wait for another.
    fn wait_at(&mut self, block: Block, target: Block, mask: Value<'c>) {
        let may_wait = match &self.uniformity {
            None => false,
            Some(uniformity) => self.layout.may_wait(&self.cfg, uniformity, block, target),
        };
        if may_wait {
            self.add_waiting(target, mask);
        } else {
            self.unit.builder.store(mask, self.lowered(target).waiting, 4);
        }
    }

    fn add_waiting(&mut self, target: Block, mask: Value<'c>) {
        let builder = self.unit.builder;
        let waiting = self.lowered(target).waiting;
        let others = builder.load(mask.ty(), waiting, 4);
        builder.store(builder.or(others, mask), waiting, 4);
    }

    /// Whether all lanes that run a block take the same way at its end.
    fn lanes_agree(&self, block: Block) -> bool {
        match &self.uniformity {
            None => true,
            Some(uniformity) => {
                uniformity.branch(block).is_none_or(|branch| branch.uniformity == BranchUniformity::Uniform)
            }
        }
    }

    /// Whether a target runs right after a block, because no lane can wait anywhere in between.
    fn is_next(&self, block: Block, target: Block) -> bool {
        let Some(uniformity) = &self.uniformity else {
            return true;
        };
        if !uniformity.is_divergent(block) {
            return true;
        }
        let here = self.layout.position(block);
        let there = self.layout.position(target);
        let may_wait = |other| self.layout.may_wait(&self.cfg, uniformity, block, other);
        let is_free_until = |end: usize| {
            (here..end).all(|place| {
                self.layout.back_at(place).iter().all(|&start| start == target || !may_wait(start))
                    && (place == here || !may_wait(self.layout.order[place]))
            })
        };
        if there > here {
            return is_free_until(there);
        }
        // Back: everything up to the end of the cycle runs before.
        let Some(end) = (here..self.layout.order.len()).find(|&place| self.layout.back_at(place).contains(&target))
        else {
            return false;
        };
        is_free_until(end + 1)
    }

    /// Whether lanes that wait at `other` run before those that wait at `first`, although `first` was to be next.
    fn comes_before(&self, here: usize, other: Block, first: Block) -> bool {
        let (other, first_at) = (self.layout.position(other), self.layout.position(first));
        if first_at > here {
            return other > here && other < first_at;
        }
        // `first` is behind, at the start of a cycle: all that is in the cycle runs before.
        let end = (here..self.layout.order.len()).find(|&place| self.layout.back_at(place).contains(&first));
        other <= here || end.is_some_and(|end| other <= end)
    }
}
