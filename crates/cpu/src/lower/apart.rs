//! Taking a warp apart: its lanes go on as threads of their own.
//!
//! The threads of a warp are independent in CUDA. They may wait for each other at different places: half of them at a
//! barrier that the other half reaches by another way, or one spinning on a lock that another holds. Vector code cannot
//! be at two places at once. Where it finds that lanes must wait for lanes that are elsewhere, it writes down for each
//! lane where it stands and the registers that are live there, and ends; the runtime then starts a thread for each lane,
//! in code of width 1 that can be entered at all such places.
//!
//! That is rare, and what it costs is paid only then: vector code needs no way to be entered in its middle, and the code
//! of width 1 is compiled when it is first needed.

use ptx::analysis::{Block, Web};
use ptx::entity::Id;
use ptx::ir::{Reg, StmtId};
use ptx::ops::Effect;
use ptx::view::View;

use super::function::Lowering;
use super::operands::field;
use crate::emit::Sign;
use crate::llvm::{BasicBlock, Value};

/// A place where a thread can go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Point {
    /// The start of a block.
    Block(Block),
    /// A statement in a block, which is executed again.
    Statement(StmtId),
}

impl Point {
    /// The number by which it is known; never zero, which is the start of the kernel.
    fn number(self) -> u64 {
        match self {
            Self::Block(block) => 2 * block.index() as u64 + 2,
            Self::Statement(statement) => 2 * statement.index() as u64 + 3,
        }
    }
}

/// Lanes of a warp, as the frame has room for them.
const LANES: u64 = 32;

impl<'c> Lowering<'_, '_, 'c> {
    /// Whether threads may have to wait at an instruction for others.
    fn is_meeting(view: &View<'_>) -> bool {
        matches!(view.effect(), Some(Effect::Barrier | Effect::Collective)) || view.is_collective()
    }

    /// What is live at a point: registers, and whether the carry flag is.
    fn live_at(&self, point: Point) -> (Vec<Reg>, bool) {
        match point {
            Point::Block(block) => (self.liveness.live_in(block).collect(), self.liveness.is_carry_live_in(block)),
            Point::Statement(statement) => {
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

    /// Where the frame has a register: as many words as it has 64 bits, for each lane. The carry flag comes first, the
    /// number of the point before it.
    fn slot(&self, reg: Reg) -> u64 {
        2 + 2 * reg.index() as u64
    }

    /// The web that a register belongs to at a point where it is live: that of a read which can be reached from there.
    pub(crate) fn web_at(&self, point: Point, reg: Reg) -> Option<Web> {
        let uniformity = self.uniformity.as_ref()?;
        let (block, first) = match point {
            Point::Block(block) => (block, 0),
            Point::Statement(statement) => self.cfg.place_of(statement)?,
        };
        let mut seen = ptx::analysis::BitSet::new(self.cfg.len());
        let mut rest = vec![(block, first)];
        while let Some((block, first)) = rest.pop() {
            let mut is_overwritten = false;
            for &statement in &self.cfg.statements(block)[first..] {
                if let Some(web) = uniformity.read(statement, reg) {
                    return Some(web);
                }
                if self.def_use.writes(statement).contains(&reg) {
                    // Where a guard does not hold, the old value stays, in the same place.
                    if self.view(statement).is_some_and(|view| view.inst.guard.is_some()) {
                        return uniformity.written(statement, reg);
                    }
                    is_overwritten = true;
                    break;
                }
            }
            if !is_overwritten {
                for &next in self.cfg.successors(block) {
                    if seen.insert(next) {
                        rest.push((next, 0));
                    }
                }
            }
        }
        None
    }

    /// Writes down where all lanes are, and hands them over to the runtime. What follows does not run.
    pub(crate) fn take_apart(&mut self, here: Point) {
        if !self.function.is_entry() {
            return self.call_stuck();
        }
        let (word, pointer) = (self.unit.context().int(64), self.unit.context().pointer());
        let builder = self.unit.builder;
        let words = (2 + 2 * self.function.regs.len() as u64) * LANES;
        let function = self.unit.runtime("wg_frame", pointer, &[pointer, word]);
        let frame = builder.call(function, &[self.warp, word.constant(words)]);
        let block = match here {
            Point::Block(block) => block,
            Point::Statement(statement) => self.cfg.block_of(statement).expect("the statement is in a block"),
        };
        self.write_down(frame, here, self.mask);
        for other in self.layout.order.clone() {
            let uniformity = self.uniformity.as_ref().expect("only warps are taken apart");
            if self.layout.may_wait(&self.cfg, uniformity, block, other) {
                let waiting = builder.load(self.mask.ty(), self.lowered(other).waiting, 4);
                self.write_down(frame, Point::Block(other), waiting);
            }
        }
        self.call_fault("wg_take_apart", &[self.warp, frame]);
    }

    /// Writes down what is live at a point, for the lanes that are there.
    fn write_down(&mut self, frame: Value<'c>, point: Point, lanes: Value<'c>) {
        let emit = self.vector();
        let word = emit.int(64);
        self.write_slot(frame, 0, word.constant(point.number()), lanes);
        let (regs, carry) = self.live_at(point);
        if carry {
            let carry = emit.load(emit.bool(), self.carry, 4);
            self.write_slot(frame, 1, emit.zext(carry, word), lanes);
        }
        for reg in regs {
            let bits = self.register_bits(reg);
            let Some(web) = self.web_at(point, reg) else { continue };
            let place = self.place_of_web(web, bits);
            let value = self.load_place(place, bits, emit);
            let slot = self.slot(reg);
            self.write_slot(frame, slot, emit.resize(Sign::Unsigned, value, 64), lanes);
            if bits > 64 {
                let high = emit.lshr(value, value.ty().constant(64));
                self.write_slot(frame, slot + 1, emit.resize(Sign::Unsigned, high, 64), lanes);
            }
        }
    }

    fn write_slot(&mut self, frame: Value<'c>, slot: u64, value: Value<'c>, lanes: Value<'c>) {
        let emit = self.vector();
        let address = emit.offset(frame, self.unit.context().int(64).constant(slot * LANES * 8));
        emit.intrinsic(self.unit.llvm, "llvm.masked.store", &[value.ty(), address.ty()], &[value, address, lanes]);
    }

    /// The places at which code of width 1 can be entered.
    fn points(&self) -> Vec<Point> {
        let mut points = Vec::new();
        for &block in &self.layout.order {
            points.push(Point::Block(block));
            for &statement in self.cfg.statements(block) {
                if self.view(statement).is_some_and(|view| Self::is_meeting(&view)) {
                    points.push(Point::Statement(statement));
                }
            }
        }
        points
    }

    /// At the start of code of width 1: goes on where the thread stands. Else falls through.
    pub(crate) fn enter_at_points(&mut self) {
        let builder = self.unit.builder;
        let word = self.unit.context().int(64);
        let resume = self.context_field(field!(resume), word);
        let frame = self.context_field(field!(frame), self.unit.context().pointer());
        let lane = self.context_field(field!(first_thread), self.unit.context().int(32));
        let lane = builder.zext(builder.and(lane, lane.ty().constant(LANES - 1)), word);
        let start = self.new_block("begin");
        let cases: Vec<_> = self.points().into_iter().map(|point| (point, self.new_block("enter"))).collect();
        let numbers: Vec<_> = cases.iter().map(|(point, block)| (point.number(), *block)).collect();
        builder.switch(resume, start, &numbers);
        for (point, block) in cases {
            builder.position_at_end(block);
            let read = |slot: u64| {
                let index = builder.add(lane, word.constant(slot * LANES));
                let address = builder.offset(frame, builder.mul(index, word.constant(8)));
                builder.load(word, address, 8)
            };
            let (regs, carry) = self.live_at(point);
            if carry {
                let carry = builder.trunc(read(1), self.unit.context().int(1));
                builder.store(carry, self.carry, 4);
            }
            for reg in regs {
                let bits = self.register_bits(reg);
                let slot = self.slot(reg);
                let emit = self.scalar();
                let mut value = emit.resize(Sign::Unsigned, read(slot), bits);
                if bits > 64 {
                    let high = emit.resize(Sign::Unsigned, read(slot + 1), bits);
                    value = emit.or(value, emit.shl(high, high.ty().constant(64)));
                }
                self.store_register(reg, value);
            }
            let target = match point {
                Point::Block(block) => self.lowered(block).body,
                Point::Statement(statement) => self.point_block(statement),
            };
            builder.branch(target);
        }
        builder.position_at_end(start);
    }

    /// The block of LLVM that starts with a statement at which threads can go on.
    fn point_block(&mut self, statement: StmtId) -> BasicBlock<'c> {
        if let Some(&block) = self.point_blocks.get(&statement) {
            return block;
        }
        let block = self.new_block("point");
        self.point_blocks.insert(statement, block);
        block
    }

    /// Before a statement is lowered: starts a new block if threads can go on there.
    pub(crate) fn start_at_point(&mut self, statement: StmtId, view: &View<'_>) {
        if !self.unit.options.resumable || !self.function.is_entry() || !Self::is_meeting(view) {
            return;
        }
        let block = self.point_block(statement);
        self.unit.builder.branch(block);
        self.unit.builder.position_at_end(block);
        // What a call before it left of the mask is not there when a thread enters here; the thread is.
        self.mask = self.entered;
    }
}
