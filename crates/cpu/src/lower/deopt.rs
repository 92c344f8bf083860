//! Deoptimisation: the lanes go on as threads of their own.
//!
//! The threads of a warp are independent in CUDA. They may wait for each other at different places: half of them at a
//! barrier that the other half reaches by another way, or one spinning on a lock that another holds. Vector code cannot
//! be at two places at once. Where it finds that lanes must wait for lanes that are elsewhere, it saves for each
//! lane where it stands and the registers that are live there, and ends; the runtime then starts a thread for each lane,
//! in code of width 1 that can be entered at all such places. So it does where something is not as the vector code
//! speculates (`wrapping`, `checks`).
//!
//! That is rare, and what it costs is paid only then: vector code needs no way to be entered in its middle, and the code
//! of width 1 is compiled when it is first needed.

use std::collections::BTreeMap;

use ptx::analysis::{Block, Cfg, Liveness, Web};
use ptx::entity::Id;
use ptx::ir::{Reg, StmtId};
use ptx::ops::Effect;
use ptx::view::View;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::function::{Lanes, Lowering};
use super::region_loops::is_whole_barrier;
use crate::abi::calls::RuntimeFunction;
use crate::abi::context::field;
use crate::emit::Sign;
use crate::llvm::{BasicBlock, Value};

/// A place where a thread can go on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ResumePoint {
    /// The start of a block.
    Block(Block),
    /// A statement in a block, which is executed again.
    Statement(StmtId),
    /// After a barrier of the whole block.
    After(StmtId),
}

impl ResumePoint {
    /// The number by which it is known; never zero, which is the start of the kernel.
    fn number(self) -> u64 {
        match self {
            Self::Block(block) => 3 * block.index() as u64 + 1,
            Self::Statement(statement) => 3 * statement.index() as u64 + 2,
            Self::After(statement) => 3 * statement.index() as u64 + 3,
        }
    }
}

/// On a misspeculation, all live registers are saved. If there were more than so many such registers
/// for each statement of the function, there is no speculation: the code for what never happens would be longer than the function.
const MOST_LIVE_FOR_EACH_STATEMENT: usize = 4;

/// Whether something is worth speculating on, if the warp is deoptimized before some statements where it does not hold.
pub(crate) fn is_worth_speculating(cfg: &Cfg, liveness: &Liveness, points: impl Iterator<Item = StmtId>) -> bool {
    let statements: usize = cfg.blocks().map(|block| cfg.statements(block).len()).sum();
    let live = |statement| cfg.block_of(statement).map_or(0, |block| liveness.live_in(block).count());
    points.map(live).sum::<usize>() <= MOST_LIVE_FOR_EACH_STATEMENT * statements
}

/// Lanes of a warp, as the frame has room for them.
const LANES: u64 = 32;

/// The bits that the frame has for a register of so many.
fn stored_bits(bits: u32) -> u32 {
    bits.max(8)
}

impl<'c> Lowering<'_, '_, 'c> {
    /// Whether threads may have to wait at an instruction for others.
    fn is_rendezvous(view: &View<'_>) -> bool {
        matches!(view.effect(), Some(Effect::Barrier | Effect::Collective)) || view.is_collective()
    }

    /// Whether a warp may be deoptimized before a statement.
    fn is_resume_point(&self, statement: StmtId, view: &View<'_>) -> bool {
        Self::is_rendezvous(view)
            || self.wrap_checks.are_before(statement)
            || self.speculated_checks.contains(statement)
    }

    /// What is live at a point: registers, and whether the carry flag is.
    fn live_at(&self, point: ResumePoint) -> (Vec<Reg>, bool) {
        match point {
            ResumePoint::Block(block) => {
                (self.liveness.live_in(block).collect(), self.liveness.is_carry_live_in(block))
            }
            // A barrier reads and writes no registers.
            ResumePoint::Statement(statement) | ResumePoint::After(statement) => {
                let block = self.cfg.block_of(statement).expect("the statement is in a block");
                let mut walk = self.liveness.walk(&self.cfg, &self.def_use, block);
                while let Some((other, _)) = walk.previous() {
                    if other == statement {
                        break;
                    }
                }
                let live = walk.live_before();
                (live.iter().collect(), live.contains_carry())
            }
        }
    }

    /// Where the frame has a register: the values of all lanes beside each other. The carry flag comes first, the number
    /// of the point before it.
    fn slot(reg: Reg) -> u64 {
        2 + 2 * reg.index() as u64
    }

    /// The web that a register belongs to at a point where it is live: that of a read which can be reached from there.
    pub(crate) fn web_at(&mut self, point: ResumePoint, reg: Reg) -> Option<Web> {
        if self.entry_webs.is_none() {
            self.entry_webs = Some(self.webs_at_entries());
        }
        let entry_webs = self.entry_webs.as_ref().expect("it was just made");
        match point {
            ResumePoint::Block(block) => entry_webs.get(&(block, reg)).copied(),
            ResumePoint::Statement(statement) | ResumePoint::After(statement) => {
                let (block, first) = self.cfg.place_of(statement)?;
                self.web_from(entry_webs, block, first, reg)
            }
        }
    }

    /// The webs of the registers that are live at the start of each block.
    fn webs_at_entries(&self) -> FxHashMap<(Block, Reg), Web> {
        let mut webs = FxHashMap::default();
        // Blocks come after those that they lead to, so once is enough, except for what only the next iteration of a loop
        // reads.
        loop {
            let before = webs.len();
            for &block in self.layout.order.iter().rev() {
                for reg in self.liveness.live_in(block) {
                    if !webs.contains_key(&(block, reg))
                        && let Some(web) = self.web_from(&webs, block, 0, reg)
                    {
                        webs.insert((block, reg), web);
                    }
                }
            }
            if webs.len() == before {
                return webs;
            }
        }
    }

    /// The web of a register at a statement of a block, as far as those at the starts of the blocks after it are known.
    fn web_from(&self, webs: &FxHashMap<(Block, Reg), Web>, block: Block, first: usize, reg: Reg) -> Option<Web> {
        let uniformity = self.uniformity.as_ref()?;
        for &statement in &self.cfg.statements(block)[first..] {
            if let Some(web) = uniformity.read(statement, reg) {
                return Some(web);
            }
            if self.def_use.writes(statement).contains(&reg) {
                // Where a guard does not hold, the old value stays, in the same place.
                let is_guarded = self.view(statement).is_some_and(|view| view.inst.guard.is_some());
                return if is_guarded { uniformity.written(statement, reg) } else { None };
            }
        }
        self.cfg.successors(block).iter().find_map(|&next| webs.get(&(next, reg)).copied())
    }

    /// Deoptimizes the warp before the present statement on a misspeculation.
    pub(crate) fn deoptimize_when(&mut self, is_wrong: Value<'c>) {
        let statement = self.statement;
        self.fail_when(is_wrong, |this| {
            this.call_runtime(RuntimeFunction::Misspeculated, &[this.warp]);
            this.deoptimize(ResumePoint::Statement(statement));
        });
    }

    /// Saves the state of all lanes, and hands them over to the runtime. What follows does not run.
    pub(crate) fn deoptimize(&mut self, here: ResumePoint) {
        if !self.function.is_entry() {
            return self.call_stuck();
        }
        let builder = self.unit.builder;
        let frame = self.new_frame();
        let block = match here {
            ResumePoint::Block(block) => block,
            ResumePoint::Statement(statement) | ResumePoint::After(statement) => {
                self.cfg.block_of(statement).expect("the statement is in a block")
            }
        };
        let mut lanes_at = vec![(here, self.mask)];
        for other in self.layout.pending_while(block).collect::<Vec<_>>() {
            let Lanes::Pending(pending) = self.lowered(other).lanes else {
                unreachable!("lanes may wait there");
            };
            lanes_at.push((ResumePoint::Block(other), builder.load(self.mask.ty(), pending, 4)));
        }
        self.save_lane_state(frame, &lanes_at);
        if !self.deoptimize_block() {
            self.call_fault(RuntimeFunction::Deoptimize, &[self.warp]);
        }
    }

    /// Saves the state of all lanes of the warp, which are at one point.
    pub(crate) fn save_warp_state(&mut self, point: ResumePoint) {
        let frame = self.new_frame();
        self.save_lane_state(frame, &[(point, self.entered)]);
    }

    /// Room for where the lanes of the warp are.
    fn new_frame(&self) -> Value<'c> {
        let (word, pointer) = (self.unit.context().int(64), self.unit.context().pointer());
        let words = (2 + 2 * self.function.regs.len() as u64) * LANES;
        let function = self.unit.runtime(RuntimeFunction::Frame, pointer, &[pointer, word]);
        self.unit.builder.call(function, &[self.warp, word.constant(words)])
    }

    /// Saves the number of the point for each lane, and what is live there.
    ///
    /// A register is saved once, for all lanes, although it may be live at many points: where it is not, nobody reads
    /// it. Only where lanes have it in different places is each written for its own lanes.
    fn save_lane_state(&mut self, frame: Value<'c>, lanes_at: &[(ResumePoint, Value<'c>)]) {
        let emit = self.vector();
        let mut numbers = emit.int(64).zero();
        let mut is_carry_live = false;
        let mut places: BTreeMap<Reg, SmallVec<[(Web, Value<'c>); 1]>> = BTreeMap::new();
        for &(point, lanes) in lanes_at {
            numbers = emit.select(lanes, emit.int(64).constant(point.number()), numbers);
            let (regs, carry) = self.live_at(point);
            is_carry_live |= carry;
            for reg in regs {
                let Some(web) = self.web_at(point, reg) else { continue };
                let webs = places.entry(reg).or_default();
                match webs.iter().position(|(other, _)| *other == web) {
                    // The first is written for all lanes.
                    Some(0) => {}
                    Some(index) => webs[index].1 = emit.or(webs[index].1, lanes),
                    None => webs.push((web, lanes)),
                }
            }
        }
        emit.store(numbers, self.slot_address(frame, 0), 8);
        if is_carry_live {
            let carry = emit.load(emit.bool(), self.carry, 4);
            emit.store(emit.zext(carry, emit.int(8)), self.slot_address(frame, 1), 8);
        }
        for (reg, webs) in places {
            let bits = self.register_bits(reg);
            let address = self.slot_address(frame, Self::slot(reg));
            for (index, (web, lanes)) in webs.into_iter().enumerate() {
                let place = self.place_of_web(web, bits);
                let value = self.load_place(place, bits, emit);
                let value = emit.resize(Sign::Unsigned, value, stored_bits(bits));
                if index == 0 {
                    emit.store(value, address, 8);
                } else {
                    let types = [value.ty(), address.ty()];
                    emit.intrinsic(self.unit.llvm, "llvm.masked.store", &types, &[value, address, lanes]);
                }
            }
        }
    }

    fn slot_address(&self, frame: Value<'c>, slot: u64) -> Value<'c> {
        self.unit.builder.offset(frame, self.unit.context().int(64).constant(slot * LANES * 8))
    }

    /// The places at which code of width 1 can be entered.
    fn resume_points(&self) -> Vec<ResumePoint> {
        let mut points = Vec::new();
        for &block in &self.layout.order {
            points.push(ResumePoint::Block(block));
            for &statement in self.cfg.statements(block) {
                let Some(view) = self.view(statement) else { continue };
                if self.is_resume_point(statement, &view) {
                    points.push(ResumePoint::Statement(statement));
                }
                if is_whole_barrier(&view) {
                    points.push(ResumePoint::After(statement));
                }
            }
        }
        points
    }

    /// At the start of code of width 1: goes on where the thread stands. Else falls through.
    pub(crate) fn resume_dispatch(&mut self) {
        let builder = self.unit.builder;
        let word = self.unit.context().int(64);
        let resume = self.context_field(field!(resume), word);
        let frame = self.context_field(field!(frame), self.unit.context().pointer());
        let lane = self.context_field(field!(first_thread), self.unit.context().int(32));
        let lane = builder.zext(builder.and(lane, lane.ty().constant(LANES - 1)), word);
        let start = self.new_block("begin");
        let cases: Vec<_> = self.resume_points().into_iter().map(|point| (point, self.new_block("enter"))).collect();
        let numbers: Vec<_> = cases.iter().map(|(point, block)| (point.number(), *block)).collect();
        builder.switch(resume, start, &numbers);
        for (point, block) in cases {
            builder.position_at_end(block);
            let read = |slot: u64, bits: u32| {
                let bytes = u64::from(stored_bits(bits) / 8);
                let index = builder.add(word.constant(slot * LANES * 8), builder.mul(lane, word.constant(bytes)));
                let value = builder.load(self.unit.context().int(stored_bits(bits)), builder.offset(frame, index), 1);
                self.scalar().resize(Sign::Unsigned, value, bits)
            };
            let (regs, carry) = self.live_at(point);
            if carry {
                builder.store(read(1, 1), self.carry, 4);
            }
            let values: Vec<_> =
                regs.into_iter().map(|reg| (reg, read(Self::slot(reg), self.register_bits(reg)))).collect();
            for (reg, value) in values {
                self.store_register(reg, value);
            }
            let target = match point {
                ResumePoint::Block(block) => self.lowered(block).body,
                ResumePoint::Statement(_) | ResumePoint::After(_) => self.resume_block(point),
            };
            builder.branch(target);
        }
        builder.position_at_end(start);
    }

    /// The block of LLVM that starts where threads can go on.
    fn resume_block(&mut self, point: ResumePoint) -> BasicBlock<'c> {
        if let Some(&block) = self.resume_blocks.get(&point) {
            return block;
        }
        let block = self.new_block("point");
        self.resume_blocks.insert(point, block);
        block
    }

    /// Before a statement is lowered: starts a new block if threads can go on there.
    pub(crate) fn resume_before(&mut self, statement: StmtId, view: &View<'_>) {
        if self.is_resume_point(statement, view) {
            self.start_at(ResumePoint::Statement(statement));
        }
    }

    /// After a statement that was lowered: the same.
    pub(crate) fn resume_after(&mut self, statement: StmtId, view: &View<'_>) {
        if is_whole_barrier(view) {
            self.start_at(ResumePoint::After(statement));
        }
    }

    fn start_at(&mut self, point: ResumePoint) {
        if !self.unit.options.resumable || !self.function.is_entry() {
            return;
        }
        let block = self.resume_block(point);
        self.unit.builder.branch(block);
        self.unit.builder.position_at_end(block);
        // What a call before it left of the mask is not there when a thread enters here; the thread is.
        self.mask = self.entered;
    }
}
