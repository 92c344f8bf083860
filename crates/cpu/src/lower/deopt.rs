//! Deoptimisation: the lanes go on as threads of their own.
//!
//! The threads of a warp are independent in CUDA. They may wait for each other at different places: half of them at a
//! barrier that the other half reaches by another way, or one spinning on a lock that another holds. Vector code cannot
//! be at two places at once. Where it finds that lanes must wait for lanes that are elsewhere, it saves for each
//! lane where it stands and the registers that are live there, and ends; the runtime then starts a thread for each lane,
//! in code of width 1 that can be entered at all such places. So it does where something is not as the vector code
//! speculates (`speculation`).
//!
//! That is rare, and what it costs is paid only then: vector code needs no way to be entered in its middle, and the code
//! of width 1 is compiled when it is first needed.
//!
//! **Why lanes are not parked.** The obvious design parks lanes inside the vector code and comes back to them through a
//! dispatcher; but then every block can be entered from everywhere, which costs all kernels the scalar registers and
//! the loops that LLVM understands, for the sake of a few. Here fast code stays simple, and the general case is the one
//! that is easiest to get right.

use std::collections::BTreeMap;

use ptx::analysis::Web;
use ptx::entity::Id;
use ptx::ir::Reg;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::analysis::{Analyses, ResumePoint};
use super::masks::Masks;
use super::registers::Registers;
use super::unit::Unit;
use crate::abi::calls::RuntimeFunction;
use crate::abi::context::field;
use crate::emit::{Emit, Sign};
use crate::llvm::{BasicBlock, FunctionValue, Value};

/// Lanes of a warp, as the frame has room for them.
const LANES: u64 = 32;

/// The bits that the frame has for a register of so many.
fn stored_bits(bits: u32) -> u32 {
    bits.max(8)
}

/// Where the frame has a register: the values of all lanes beside each other. The carry flag comes first, the number
/// of the point before it.
fn slot(reg: Reg) -> u64 {
    2 + 2 * reg.index() as u64
}

/// How the lanes of a function leave it in its middle and, at width 1, enter it there.
pub(crate) struct Deopt<'u, 'a, 'c> {
    analyses: &'u Analyses<'a>,
    /// Emits a value for each lane.
    vector: Emit<'a, 'c>,
    llvm: FunctionValue<'c>,
    /// The context of the warp.
    warp: Value<'c>,
    /// Blocks that start where threads can go on.
    resume_blocks: FxHashMap<ResumePoint, BasicBlock<'c>>,
}

impl<'u, 'a, 'c> Deopt<'u, 'a, 'c> {
    pub(crate) fn new(
        analyses: &'u Analyses<'a>,
        vector: Emit<'a, 'c>,
        llvm: FunctionValue<'c>,
        warp: Value<'c>,
    ) -> Self {
        Self { analyses, vector, llvm, warp, resume_blocks: FxHashMap::default() }
    }

    /// Room for where the lanes of the warp are.
    pub(crate) fn new_frame(&self, unit: &Unit<'a, 'c>) -> Value<'c> {
        let (word, pointer) = (unit.context().int(64), unit.context().pointer());
        let words = (2 + 2 * self.analyses.function.regs.len() as u64) * LANES;
        let function = unit.runtime(RuntimeFunction::Frame, pointer, &[pointer, word]);
        unit.builder.call(function, &[self.warp, word.constant(words)])
    }

    /// Saves the number of the point for each lane, and what is live there.
    ///
    /// A register is saved once, for all lanes, although it may be live at many points: where it is not, nobody reads
    /// it. Only where lanes have it in different places is each written for its own lanes.
    pub(crate) fn save(
        &self,
        frame: Value<'c>,
        lanes_at: &[(ResumePoint, Value<'c>)],
        registers: &mut Registers<'_, 'a, 'c>,
    ) {
        let emit = self.vector;
        let mut numbers = emit.int(64).zero();
        let mut is_carry_live = false;
        let mut places: BTreeMap<Reg, SmallVec<[(Web, Value<'c>); 1]>> = BTreeMap::new();
        for &(point, lanes) in lanes_at {
            numbers = emit.select(lanes, emit.int(64).constant(point.number()), numbers);
            let (regs, carry) = self.analyses.live_at(point);
            is_carry_live |= carry;
            for reg in regs {
                let Some(web) = self.analyses.web_at(point, reg) else { continue };
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
            let carry = emit.load(emit.bool(), registers.carry, 4);
            emit.store(emit.zext(carry, emit.int(8)), self.slot_address(frame, 1), 8);
        }
        for (reg, webs) in places {
            let bits = self.analyses.register_bits(reg);
            let address = self.slot_address(frame, slot(reg));
            for (index, (web, lanes)) in webs.into_iter().enumerate() {
                let place = registers.place_of_web(web, bits);
                let value = registers.load(place, bits, emit);
                let value = emit.resize(Sign::Unsigned, value, stored_bits(bits));
                if index == 0 {
                    emit.store(value, address, 8);
                } else {
                    let types = [value.ty(), address.ty()];
                    emit.intrinsic(emit.module, "llvm.masked.store", &types, &[value, address, lanes]);
                }
            }
        }
    }

    fn slot_address(&self, frame: Value<'c>, slot: u64) -> Value<'c> {
        self.vector.builder.offset(frame, self.vector.context().int(64).constant(slot * LANES * 8))
    }

    /// Whether threads can enter the function in its middle.
    fn is_resumable(&self) -> bool {
        self.analyses.options.resumable && self.analyses.function.is_entry()
    }

    /// At the start of code of width 1: goes on where the thread stands. Else falls through.
    pub(crate) fn dispatch(
        &mut self,
        unit: &Unit<'a, 'c>,
        registers: &mut Registers<'_, 'a, 'c>,
        masks: &Masks<'_, 'a, 'c>,
    ) {
        if !self.is_resumable() {
            return;
        }
        let (builder, context) = (unit.builder, unit.context());
        let word = context.int(64);
        let resume = unit.context_field(self.warp, field!(resume), word);
        let frame = unit.context_field(self.warp, field!(frame), context.pointer());
        let lane = unit.context_field(self.warp, field!(first_thread), context.int(32));
        let lane = builder.zext(builder.and(lane, lane.ty().constant(LANES - 1)), word);
        let start = self.llvm.append_block(context, "begin");
        let enter = |point| (point, self.llvm.append_block(context, "enter"));
        let cases: Vec<_> = self.analyses.resume_points().into_iter().map(enter).collect();
        let numbers: Vec<_> = cases.iter().map(|(point, block)| (point.number(), *block)).collect();
        builder.switch(resume, start, &numbers);
        for (point, block) in cases {
            builder.position_at_end(block);
            let read = |slot: u64, bits: u32| {
                let bytes = u64::from(stored_bits(bits) / 8);
                let index = builder.add(word.constant(slot * LANES * 8), builder.mul(lane, word.constant(bytes)));
                let value = builder.load(context.int(stored_bits(bits)), builder.offset(frame, index), 1);
                unit.scalar().resize(Sign::Unsigned, value, bits)
            };
            let (regs, carry) = self.analyses.live_at(point);
            if carry {
                builder.store(read(1, 1), registers.carry, 4);
            }
            let values: Vec<_> =
                regs.into_iter().map(|reg| (reg, read(slot(reg), self.analyses.register_bits(reg)))).collect();
            for (reg, value) in values {
                registers.store(reg, value);
            }
            let target = match point {
                ResumePoint::Block(block) => masks.lowered(block).body,
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
        let block = self.llvm.append_block(self.vector.context(), "point");
        self.resume_blocks.insert(point, block);
        block
    }

    /// Starts a new block at a point where threads can go on.
    pub(crate) fn start_at(&mut self, point: ResumePoint, masks: &mut Masks<'_, 'a, 'c>) {
        if !self.is_resumable() {
            return;
        }
        let block = self.resume_block(point);
        self.vector.builder.branch(block);
        self.vector.builder.position_at_end(block);
        // What a call before it left of the mask is not there when a thread enters here; the thread is.
        masks.running = masks.entered;
    }
}
