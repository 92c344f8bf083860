//! The lanes of a function: which run, which wait where, and which have ended.

use std::rc::Rc;

use ptx::analysis::{BitSet, Block};
use ptx::entity::Map;
use ptx::ir::Reg;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::analysis::{Analyses, Step};
use super::registers::Registers;
use crate::emit::Emit;
use crate::llvm::{BasicBlock, FunctionValue, Value};

/// The lanes of a function while it is lowered.
pub(crate) struct Masks<'u, 'a, 'c> {
    analyses: &'u Analyses<'a>,
    /// Emits a value for each lane.
    vector: Emit<'a, 'c>,
    llvm: FunctionValue<'c>,
    /// The lanes that the function was entered with.
    pub(crate) entered: Value<'c>,
    /// The lanes that run the present block.
    pub(crate) running: Value<'c>,
    /// The lanes that have not ended, in memory.
    pub(crate) alive: Value<'c>,
    blocks: Map<Block, Option<Lowered<'c>>>,
    /// What lies between the blocks, made when first needed.
    steps: FxHashMap<Step, BasicBlock<'c>>,
    /// Those that were needed and are still empty.
    unfilled: Vec<Step>,
    /// Where the function returns.
    pub(crate) end: BasicBlock<'c>,
    /// The registers that lanes elsewhere may still need while the present block runs; nothing if no lane is elsewhere.
    kept: Option<Rc<BitSet<Reg>>>,
}

/// A block of PTX in LLVM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lowered<'c> {
    /// Where it runs for the lanes that wait for it.
    pub(crate) body: BasicBlock<'c>,
    lanes: Lanes<'c>,
}

/// The lanes that run a block.
#[derive(Clone, Copy, Debug)]
enum Lanes<'c> {
    /// Those that the function was entered with.
    All,
    /// Those of the block that control comes from: a phi.
    Entering(Value<'c>),
    /// Those that wait for it, in memory.
    Pending(Value<'c>),
}

impl<'u, 'a, 'c> Masks<'u, 'a, 'c> {
    /// Makes the blocks of a function that returns at `end`. Until [`Self::enter`], no lane is there.
    pub(crate) fn new(
        analyses: &'u Analyses<'a>,
        vector: Emit<'a, 'c>,
        llvm: FunctionValue<'c>,
        end: BasicBlock<'c>,
        alive: Value<'c>,
        registers: &Registers<'_, '_, 'c>,
    ) -> Self {
        let mask = vector.bool();
        let waited_for = analyses.waited_for();
        let mut blocks = Map::filled(analyses.cfg.len(), None);
        for &block in &analyses.layout.order {
            let body = llvm.append_block(vector.context(), "body");
            let lanes = if waited_for.contains(block) {
                Lanes::Pending(registers.alloca_zeroed(mask, 4))
            } else if analyses.is_divergent(block) {
                vector.builder.position_at_end(body);
                Lanes::Entering(vector.builder.phi(mask, &[]))
            } else {
                Lanes::All
            };
            blocks[block] = Some(Lowered { body, lanes });
        }
        Self {
            analyses,
            vector,
            llvm,
            entered: mask.zero(),
            running: mask.zero(),
            alive,
            blocks,
            steps: FxHashMap::default(),
            unfilled: Vec::new(),
            end,
            kept: None,
        }
    }

    /// The function is entered with some lanes.
    pub(crate) fn enter(&mut self, lanes: Value<'c>) {
        (self.entered, self.running) = (lanes, lanes);
    }

    /// Goes on at the start of a block.
    pub(crate) fn start_block(&mut self, block: Block) {
        let lowered = self.lowered(block);
        let builder = self.vector.builder;
        builder.position_at_end(lowered.body);
        self.running = match lowered.lanes {
            Lanes::All => self.entered,
            Lanes::Entering(lanes) => lanes,
            Lanes::Pending(pending) => {
                let mask = builder.load(self.vector.bool(), pending, 4);
                builder.store(mask.ty().zero(), pending, 4);
                if self.analyses.is_divergent(block) { mask } else { self.entered }
            }
        };
        self.kept = self.analyses.kept_registers(block);
    }

    pub(crate) fn lowered(&self, block: Block) -> Lowered<'c> {
        self.blocks[block].expect("blocks that can be reached have a place")
    }

    /// Whether lanes elsewhere may still need a register while the present block runs.
    pub(crate) fn is_live_in_pending_lanes(&self, reg: Reg) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.contains(reg))
    }

    /// The blocks at which lanes may wait while a block runs, and those that do.
    pub(crate) fn pending_while(&self, block: Block) -> Vec<(Block, Value<'c>)> {
        let pending = |other: Block| {
            let Lanes::Pending(pending) = self.lowered(other).lanes else { unreachable!("lanes may wait there") };
            (other, self.vector.builder.load(self.vector.bool(), pending, 4))
        };
        self.analyses.layout.pending_while(block).map(pending).collect()
    }

    /// Where control goes after a block whose lanes wait for others: back where a cycle ends and lanes wait at its start,
    /// else to the next block in the order for which lanes wait.
    pub(crate) fn after(&mut self, block: Block) -> BasicBlock<'c> {
        let layout = &self.analyses.layout;
        self.step(layout.after_block(layout.position(block)))
    }

    /// Where control goes after a block whose lanes have all ended.
    pub(crate) fn after_last(&mut self, block: Block) -> BasicBlock<'c> {
        if self.analyses.layout.pending_while(block).next().is_none() { self.end } else { self.after(block) }
    }

    fn step(&mut self, mut step: Option<Step>) -> BasicBlock<'c> {
        while let Some(empty) = step
            && self.waiting_at(empty).is_empty()
        {
            step = self.analyses.layout.after_step(empty);
        }
        let Some(step) = step else { return self.end };
        if let Some(&block) = self.steps.get(&step) {
            return block;
        }
        let block = self.new_step();
        self.steps.insert(step, block);
        self.unfilled.push(step);
        block
    }

    fn new_step(&self) -> BasicBlock<'c> {
        self.llvm.append_block(self.vector.context(), "step")
    }

    /// Fills the steps that blocks and other steps lead to.
    pub(crate) fn fill_steps(&mut self) {
        let builder = self.vector.builder;
        while let Some(step) = self.unfilled.pop() {
            builder.position_at_end(self.steps[&step]);
            let otherwise = self.step(self.analyses.layout.after_step(step));
            let mut targets = self.waiting_at(step);
            while let Some((pending, body)) = targets.pop() {
                let mask = builder.load(self.vector.bool(), pending, 4);
                let next = if targets.is_empty() { otherwise } else { self.new_step() };
                builder.branch_if(self.any(mask), body, next);
                builder.position_at_end(next);
            }
        }
    }

    /// The lanes that wait at the targets of a step, in memory, and where they go: the first target last.
    fn waiting_at(&self, step: Step) -> SmallVec<[(Value<'c>, BasicBlock<'c>); 1]> {
        let layout = &self.analyses.layout;
        let targets = match step {
            Step::Test(place) => std::slice::from_ref(&layout.order[place]),
            Step::Cycle(place) => layout.back_at(place),
        };
        let pending = |&target: &Block| match self.lowered(target) {
            Lowered { lanes: Lanes::Pending(pending), body } => Some((pending, body)),
            // Nobody waits where blocks are only entered directly.
            _ => None,
        };
        targets.iter().rev().filter_map(pending).collect()
    }

    /// Lanes that come from a block wait for another.
    pub(crate) fn wait_at(&self, block: Block, target: Block, mask: Value<'c>) {
        let builder = self.vector.builder;
        match self.lowered(target).lanes {
            Lanes::All => {}
            Lanes::Entering(lanes) => builder.add_incoming(lanes, &[(mask, builder.block())]),
            Lanes::Pending(_) if self.analyses.layout.may_wait(block, target) => self.add_pending(target, mask),
            Lanes::Pending(pending) => builder.store(mask, pending, 4),
        }
    }

    /// Lanes wait for a block, with those that do.
    pub(crate) fn add_pending(&self, target: Block, mask: Value<'c>) {
        let Lanes::Pending(pending) = self.lowered(target).lanes else {
            unreachable!("lanes wait where they come from a divergent branch")
        };
        let builder = self.vector.builder;
        let others = builder.load(mask.ty(), pending, 4);
        builder.store(builder.or(others, mask), pending, 4);
    }

    /// Whether any lane is in a mask.
    pub(crate) fn any(&self, mask: Value<'c>) -> Value<'c> {
        match mask.ty().lanes() {
            None => mask,
            Some(_) => self.vector.scalar().is_not_zero(self.bits(mask)),
        }
    }

    /// A mask as a number, the first lane in the lowest bit.
    pub(crate) fn bits(&self, mask: Value<'c>) -> Value<'c> {
        let emit = self.vector.scalar();
        match mask.ty().lanes() {
            None => emit.zext(mask, emit.context().int(32)),
            Some(lanes) => emit.bitcast(mask, emit.context().int(lanes)),
        }
    }

    /// A number as a mask.
    pub(crate) fn of_bits(&self, bits: Value<'c>) -> Value<'c> {
        let emit = self.vector.scalar();
        let mask = self.vector.bool();
        match mask.lanes() {
            None => emit.trunc(bits, mask),
            Some(_) => emit.bitcast(bits, mask),
        }
    }
}
