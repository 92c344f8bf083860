//! Where lanes go at the end of a block.

use ptx::analysis::{BitSet, Block, BranchUniformity, EdgeKind};
use ptx::ir::{Guard, StmtId};
use ptx::ops::{Effect, Op};
use smallvec::SmallVec;

use super::function::{Lanes, Lowered, Lowering};
use super::layout::Step;
use crate::abi::calls::Undefined;
use crate::llvm::{BasicBlock, Value};

/// A branch at which lanes go different ways.
struct Parting {
    /// The target that runs first.
    first: Block,
    second: Block,
    is_taken_first: bool,
    /// Whether nothing runs before the first.
    is_next: bool,
}

impl<'c> Lowering<'_, '_, 'c> {
    /// Where control goes after a block whose lanes wait for others: back where a cycle ends and lanes wait at its start,
    /// else to the next block in the order for which lanes wait.
    fn after(&mut self, block: Block) -> BasicBlock<'c> {
        let next = self.layout.after_block(self.layout.position(block));
        self.step(next)
    }

    /// Where control goes after a block whose lanes have all ended.
    pub(crate) fn after_last(&mut self, block: Block) -> BasicBlock<'c> {
        if self.layout.pending_while(block).next().is_none() { self.end } else { self.after(block) }
    }

    fn step(&mut self, mut step: Option<Step>) -> BasicBlock<'c> {
        while let Some(empty) = step
            && self.waiting_at(empty).is_empty()
        {
            step = self.layout.after_step(empty);
        }
        let Some(step) = step else { return self.end };
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
            let otherwise = self.step(self.layout.after_step(step));
            let mut targets = self.waiting_at(step);
            while let Some((pending, body)) = targets.pop() {
                let mask = builder.load(self.vector().bool(), pending, 4);
                let next = if targets.is_empty() { otherwise } else { self.new_block("step") };
                builder.branch_if(self.any(mask), body, next);
                builder.position_at_end(next);
            }
        }
    }

    /// The lanes that wait at the targets of a step, in memory, and where they go: the first target last.
    fn waiting_at(&self, step: Step) -> SmallVec<[(Value<'c>, BasicBlock<'c>); 1]> {
        let targets = match step {
            Step::Test(place) => std::slice::from_ref(&self.layout.order[place]),
            Step::Cycle(place) => self.layout.back_at(place),
        };
        let pending = |&target: &Block| match self.lowered(target) {
            Lowered { lanes: Lanes::Pending(pending), body } => Some((pending, body)),
            // Nobody waits where blocks are only entered directly.
            _ => None,
        };
        targets.iter().rev().filter_map(pending).collect()
    }

    /// The blocks for which lanes wait in memory. All others are entered straight from where their lanes come from.
    pub(crate) fn waited_for(&self) -> BitSet<Block> {
        let mut found = BitSet::new(self.cfg.len());
        if self.is_scalar_device() {
            return found;
        }
        for &block in &self.layout.order {
            for other in self.layout.pending_while(block) {
                found.insert(other);
            }
            let terminator = self.cfg.terminator(block).and_then(|statement| self.view(statement));
            let is_table = terminator.is_some_and(|view| view.op() == Some(Op::BrxIdx));
            let parting = self.parting(block);
            for &target in self.cfg.successors(block) {
                let is_direct = match &parting {
                    Some(parting) => parting.is_next && target == parting.first,
                    None => !is_table && self.layout.is_next(block, target),
                };
                if !is_direct {
                    found.insert(target);
                }
            }
        }
        found
    }

    /// How lanes part at the end of a block; nothing if they all go the same way, or by a table.
    fn parting(&self, block: Block) -> Option<Parting> {
        let (taken, fall) = (self.target(block, EdgeKind::Taken)?, self.target(block, EdgeKind::FallThrough)?);
        if taken == fall || self.lanes_agree(block) {
            return None;
        }
        let here = self.layout.position(block);
        let (taken_at, fall_at) = (self.layout.position(taken), self.layout.position(fall));
        let is_taken_first = match (taken_at > here, fall_at > here) {
            (true, true) => taken_at <= fall_at,
            (is_forward, _) => !is_forward,
        };
        let (first, second) = if is_taken_first { (taken, fall) } else { (fall, taken) };
        let is_next = !self.comes_before(here, second, first) && self.layout.is_next(block, first);
        Some(Parting { first, second, is_taken_first, is_next })
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
        let Some(Parting { first, second, is_taken_first, is_next }) = self.parting(block) else {
            let condition = self.scalar_guard(guard);
            let (yes, no) = (self.new_block("taken"), self.new_block("not"));
            builder.branch_if(condition, yes, no);
            builder.position_at_end(yes);
            self.go(block, taken, self.mask);
            builder.position_at_end(no);
            self.go(block, fall, self.mask);
            return;
        };
        let condition = self.vector_guard(guard);
        let yes = builder.and(self.mask, condition);
        let no = builder.and(self.mask, builder.not(condition));
        let (first_mask, second_mask) = if is_taken_first { (yes, no) } else { (no, yes) };
        self.wait_at(block, first, first_mask);
        self.wait_at(block, second, second_mask);
        if !is_next {
            let after = self.after(block);
            builder.branch(after);
            return;
        }
        let otherwise = if self.layout.is_next(block, second) { self.lowered(second).body } else { self.after(block) };
        builder.branch_if(self.any(first_mask), self.lowered(first).body, otherwise);
    }

    fn leave_by_table(&mut self, block: Block, view: &ptx::view::View<'_>) {
        let builder = self.unit.builder;
        let emit = self.vector();
        let index = self.read(&view.operands()[0], 32, emit);
        let fall = self.target(block, EdgeKind::FallThrough);
        let edges = self.cfg.edges(block).to_vec();
        let table = edges.iter().filter_map(|edge| match edge.kind {
            EdgeKind::Table(number) => Some((u64::from(number), edge.target)),
            _ => None,
        });
        if self.is_scalar_device() {
            if let (Some(guard), Some(fall)) = (view.inst.guard, fall) {
                let (yes, condition) = (self.new_block("taken"), self.vector_guard(guard));
                builder.branch_if(condition, yes, self.lowered(fall).body);
                builder.position_at_end(yes);
            }
            let past = self.new_block("past");
            let cases: Vec<_> = table.map(|(number, target)| (number, self.lowered(target).body)).collect();
            builder.switch(index, past, &cases);
            builder.position_at_end(past);
            self.call_undefined(Undefined::BranchIndex);
            builder.unreachable();
            return;
        }
        let mut rest = self.mask;
        if let Some(guard) = view.inst.guard {
            rest = builder.and(rest, self.vector_guard(guard));
        }
        let mut left = self.mask;
        for (number, target) in table {
            let is_it = emit.equal(index, index.ty().constant(number));
            let mask = builder.and(rest, is_it);
            left = builder.and(left, builder.not(mask));
            self.add_pending(target, mask);
        }
        if let Some(fall) = fall {
            let staying = builder.and(self.mask, builder.not(rest));
            left = builder.and(left, builder.not(staying));
            self.add_pending(fall, staying);
        }
        // An index past the table leads nowhere.
        let any = self.any(left);
        self.fail_when(any, |this| this.call_undefined(Undefined::BranchIndex));
        let after = self.after(block);
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
            self.fail_when(any, |this| this.call_trap(leaving));
        }
        if !is_exit && !is_trap {
            self.write_register_results(leaving);
        }
        if is_exit || self.function.is_entry() {
            let alive = builder.load(leaving.ty(), self.alive, 4);
            builder.store(builder.and(alive, builder.not(leaving)), self.alive, 4);
        }
        let after = self.after_last(block);
        let (Some(_), Some(next)) = (guard, self.target(block, EdgeKind::FallThrough)) else {
            return builder.branch(after);
        };
        let staying = builder.and(self.mask, builder.not(leaving));
        self.wait_at(block, next, staying);
        if self.layout.is_next(block, next) {
            builder.branch_if(self.any(staying), self.lowered(next).body, after);
        } else {
            let after = self.after(block);
            builder.branch(after);
        }
    }

    /// All lanes of the block go to one target.
    fn go(&mut self, block: Block, target: Block, mask: Value<'c>) {
        self.wait_at(block, target, mask);
        let next = if self.layout.is_next(block, target) { self.lowered(target).body } else { self.after(block) };
        self.unit.builder.branch(next);
    }

    /// Lanes that come from a block wait for another.
    pub(crate) fn wait_at(&mut self, block: Block, target: Block, mask: Value<'c>) {
        let builder = self.unit.builder;
        match self.lowered(target).lanes {
            Lanes::All => {}
            Lanes::Entering(lanes) => builder.add_incoming(lanes, &[(mask, builder.block())]),
            Lanes::Pending(_) if self.layout.may_wait(block, target) => self.add_pending(target, mask),
            Lanes::Pending(pending) => builder.store(mask, pending, 4),
        }
    }

    fn add_pending(&mut self, target: Block, mask: Value<'c>) {
        let Lanes::Pending(pending) = self.lowered(target).lanes else {
            unreachable!("lanes wait where they come from a branch that parts them")
        };
        let builder = self.unit.builder;
        let others = builder.load(mask.ty(), pending, 4);
        builder.store(builder.or(others, mask), pending, 4);
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

    /// Whether lanes that wait at `other` run before those that wait at `first`, although `first` was to be next.
    fn comes_before(&self, here: usize, other: Block, first: Block) -> bool {
        let (other, first_at) = (self.layout.position(other), self.layout.position(first));
        if first_at > here {
            return other > here && other < first_at;
        }
        // `first` is behind, at the start of a cycle: all that is in the cycle runs before.
        other <= here || self.layout.cycle_end(first).is_some_and(|end| other <= end)
    }
}
