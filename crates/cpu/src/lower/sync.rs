//! Barriers of the block, and what the lanes of a warp do together.
//!
//! Where all members of a collective run the instruction at once, which is nearly always, it is a handful of vector
//! instructions. Where some are elsewhere, the warp is deoptimized (see `Lowering::deoptimize`). At width 1, the runtime
//! brings the members together.

use ptx::ir::Operand;
use ptx::ops::{Mod, Op};
use ptx::types::Type;
use ptx::view::View;

use super::analysis::ResumePoint;
use super::function::Lowering;
use crate::abi::calls::{RuntimeFunction, with_line};
use crate::abi::collective::Collective;
use crate::emit::{Emit, MinMax, Sign};
use crate::llvm::{IntPredicate, Value};

impl<'a, 'c> Lowering<'_, 'a, 'c> {
    /// `bar` and `barrier` of the block.
    pub(crate) fn barrier(&mut self, op: Op, view: &View<'a>) -> bool {
        let operands = view.operands();
        let is_reduction = matches!(op, Op::BarRed | Op::BarrierRed);
        let inputs = if is_reduction { &operands[1..operands.len() - 1] } else { operands };
        let Some(id) = inputs.first() else { return false };
        // Different lanes at different barriers are for threads that run on their own.
        if !inputs.iter().all(|operand| self.is_uniform(operand)) {
            return false;
        }
        let emit = self.scalar();
        let int = self.unit.context().int(32);
        let id = self.read(id, 32, emit);
        let count = inputs.get(1).map_or(int.zero(), |count| self.read(count, 32, emit));
        let active = self.active();
        self.deoptimize_if_lanes_are_missing(active, None);
        let bits = self.masks.bits(active);
        let predicate = if is_reduction {
            let predicate = self.read(&operands[operands.len() - 1], 1, self.vector());
            self.masks.bits(emit.and(self.vector().broadcast(predicate), active))
        } else {
            int.zero()
        };
        let kind = match op {
            Op::BarArrive | Op::BarrierArrive => 1,
            Op::BarRed | Op::BarrierRed if view.form.has(Mod::Popc) => 2,
            Op::BarRed | Op::BarrierRed if view.form.has(Mod::And) => 3,
            Op::BarRed | Op::BarrierRed => 4,
            _ => 0,
        };
        let pointer = self.unit.context().pointer();
        let function = self.unit.runtime(RuntimeFunction::Barrier, int, &[pointer, int, int, int, int, int]);
        let line = self.line();
        let call = |this: &Self| {
            this.unit
                .builder
                .call(function, &[this.warp, int.constant(with_line(kind, line).into()), id, count, bits, predicate])
        };
        let result = if self.is_guarded() {
            let room = self.alloca(int, 4);
            emit.store(int.zero(), room, 4);
            let any = self.masks.any(active);
            self.when(any, |this| {
                let result = call(this);
                this.unit.builder.store(result, room, 4);
            });
            emit.load(int, room, 4)
        } else if kind == 0 && id.as_constant() == Some(0) && count.as_constant() == Some(0) && !self.is_scalar_device()
        {
            match &mut self.region_loops {
                Some(loops) => loops.end_region(self.statement, &mut self.registers, &self.masks),
                // In one call, without a branch: LLVM would move what was computed before to where it is used after it.
                None => {
                    self.call_runtime(RuntimeFunction::Synchronise, &[self.warp, int.constant(line.into()), bits]);
                }
            }
            int.zero()
        } else {
            call(self)
        };
        if is_reduction {
            let is_count = view.form.has(Mod::Popc);
            let result = if is_count { result } else { emit.is_not_zero(result) };
            self.write(&operands[0], result, Sign::Unsigned);
        }
        true
    }

    /// `barrier.cluster`, where a cluster is one block: arriving does not wait, and waiting is for the last arrival.
    pub(crate) fn cluster_barrier(&mut self, op: Op) -> bool {
        let active = self.active();
        let int = self.unit.context().int(32);
        let any = self.masks.any(active);
        let lanes = self.masks.bits(active);
        if op == Op::BarrierClusterArrive {
            self.unit.builder.compiler_fence();
            self.when(any, |this| this.call_runtime(RuntimeFunction::ClusterArrive, &[this.warp, lanes]));
        } else {
            self.deoptimize_if_lanes_are_missing(active, None);
            let line = int.constant(self.line().into());
            self.when(any, |this| this.call_runtime(RuntimeFunction::ClusterWait, &[this.warp, line, lanes]));
            self.unit.builder.compiler_fence();
        }
        true
    }

    /// Something that the lanes of a warp do together. False if it is no such instruction.
    pub(crate) fn collective(&mut self, op: Op, view: &View<'a>) -> bool {
        let form = view.form;
        let operands = view.operands();
        if op == Op::Activemask {
            let active = self.active();
            let result = if self.is_scalar_device() {
                self.exchange(Collective::ActiveMask, &[self.unit.context().int(64).all_ones()]).0
            } else {
                self.masks.bits(active)
            };
            self.write(&operands[0], result, Sign::Unsigned);
            return true;
        }
        let is_sync = form.has(Mod::Sync) || op == Op::BarWarpSync;
        let members = if is_sync {
            let operand = operands.last().expect("the table demands a mask");
            Some(*operand)
        } else {
            None
        };
        let Some(kind) = kind_of(op, form) else { return false };
        if self.is_scalar_device() {
            return self.exchange_one(kind, op, view, members);
        }
        let emit = self.vector();
        let active = self.active();
        let is_uniform = members.is_none_or(|operand| self.is_uniform(&operand));
        let members = match members {
            Some(operand) => self.read(&operand, 32, emit),
            None => emit.broadcast(self.masks.bits(active)),
        };
        if is_sync {
            self.deoptimize_if_lanes_are_missing(active, Some((members, is_uniform)));
            let own = emit.shl(emit.int(32).constant(1), self.lane_numbers(32));
            let is_outside = emit.and(emit.is_zero(emit.and(members, own)), active);
            self.tell_lanes_not_in_mask(is_outside, members);
        }
        match op {
            Op::BarWarpSync => self.unit.builder.compiler_fence(),
            Op::Shfl => self.shuffle(kind, view),
            Op::Vote => {
                let predicate = self.read(&operands[1], 1, emit);
                let ballot = emit.broadcast(self.masks.bits(emit.and(predicate, active)));
                let present = emit.and(members, emit.broadcast(self.masks.bits(active)));
                let votes = emit.and(ballot, members);
                let result = match kind {
                    Collective::VoteBallot => votes,
                    Collective::VoteAny => emit.is_not_zero(votes),
                    Collective::VoteAll => emit.equal(votes, present),
                    _ => emit.or(emit.is_zero(votes), emit.equal(votes, present)),
                };
                self.write(&operands[0], result, Sign::Unsigned);
            }
            Op::Match => self.match_lanes(kind, view, members, active),
            Op::Redux => self.reduce(kind, view, members, active),
            Op::Elect => {
                let present = emit.and(members, emit.broadcast(self.masks.bits(active)));
                let leader = emit.ctz(present);
                let lanes = self.lane_numbers(32);
                self.write_pair(&operands[0], leader, emit.equal(leader, lanes));
            }
            _ => return false,
        }
        true
    }

    /// Tells the runtime of lanes that are not among the members that they name. They go on like these.
    fn tell_lanes_not_in_mask(&mut self, outside: Value<'c>, members: Value<'c>) {
        let any = self.masks.any(outside);
        if any.as_constant() == Some(0) {
            return;
        }
        let int = self.unit.context().int(32);
        let line = int.constant(self.line().into());
        self.when(any, |this| {
            let room = this.alloca(members.ty(), 64);
            this.unit.builder.store(members, room, 64);
            let lanes = this.masks.bits(outside);
            this.call_runtime(RuntimeFunction::LanesNotInMask, &[this.warp, line, lanes, room]);
        });
    }

    /// Writes `d|p`.
    fn write_pair(&mut self, operand: &Operand, first: Value<'c>, second: Value<'c>) {
        match *operand {
            Operand::Pair(one, other) => {
                if let Some(reg) = one.reg() {
                    self.write_reg(reg, first, Sign::Unsigned);
                }
                if let Some(reg) = other.reg() {
                    self.write_reg(reg, second, Sign::Unsigned);
                }
            }
            _ => self.write(operand, first, Sign::Unsigned),
        }
    }

    fn shuffle(&mut self, kind: Collective, view: &View<'a>) {
        let operands = view.operands();
        let emit = self.vector();
        let a = self.read(&operands[1], 32, emit);
        if kind == Collective::ShuffleIndex
            && operands[3].as_int() == Some(31)
            && operands[2].as_int().is_none()
            && self.is_uniform(&operands[2])
        {
            // What one lane has, for all: it need not go through memory for each of them.
            let from = self.read(&operands[2], 32, self.scalar());
            let value = self.lane_value(a, self.scalar().and_constant(from, 31));
            let fits = emit.bool().all_ones();
            return self.write_pair(&operands[0], emit.broadcast(value), fits);
        }
        let b = self.read(&operands[2], 32, emit);
        let c = self.read(&operands[3], 32, emit);
        let lane = self.lane_numbers(32);
        let b = emit.and_constant(b, 31);
        let clamp = emit.and_constant(c, 31);
        let segment = emit.and_constant(emit.lshr(c, c.ty().constant(8)), 31);
        // The highest lane of the segment, and the lowest.
        let outside = emit.and(clamp, emit.not(segment));
        let max = emit.or(emit.and(lane, segment), outside);
        let min = emit.and(lane, segment);
        let (source, fits) = match kind {
            Collective::ShuffleUp => {
                let source = emit.sub(lane, b);
                (source, emit.icmp(IntPredicate::LLVMIntSGE, source, max))
            }
            Collective::ShuffleDown => {
                let source = emit.add(lane, b);
                (source, emit.icmp(IntPredicate::LLVMIntSLE, source, max))
            }
            Collective::ShuffleXor => {
                let source = emit.xor(lane, b);
                (source, emit.icmp(IntPredicate::LLVMIntSLE, source, max))
            }
            _ => {
                let source = emit.or(min, emit.and(b, emit.not(segment)));
                (source, emit.icmp(IntPredicate::LLVMIntSLE, source, max))
            }
        };
        let source = emit.and_constant(emit.select(fits, source, lane), 31);
        let result = self.permute(a, source);
        self.write_pair(&operands[0], result, fits);
    }

    /// The values of other lanes, by their numbers.
    pub(crate) fn permute(&mut self, values: Value<'c>, source: Value<'c>) -> Value<'c> {
        let emit = self.vector();
        if let Some(order) = source.constant_elements() {
            return emit.shuffle(values, values, &order);
        }
        // Through memory: processors differ in what they can do in registers.
        let room = self.alloca(values.ty(), 64);
        emit.store(values, room, 64);
        let element = values.ty().bits() / 8;
        let offsets = emit.resize(Sign::Unsigned, source, 64);
        let offsets = emit.mul(offsets, offsets.ty().constant(element.into()));
        let pointers = emit.offset(room, offsets);
        emit.intrinsic(
            self.unit.llvm,
            "llvm.masked.gather",
            &[values.ty(), pointers.ty()],
            &[pointers, emit.bool().all_ones(), values.ty().zero()],
        )
    }

    fn match_lanes(&mut self, kind: Collective, view: &View<'a>, members: Value<'c>, active: Value<'c>) {
        let operands = view.operands();
        let emit = self.vector();
        let bits = view.form.types()[0].bits();
        let a = self.read(&operands[1], bits, emit);
        let present = emit.and(members, emit.broadcast(self.masks.bits(active)));
        let room = self.alloca(emit.int(32), 64);
        emit.store(emit.int(32).zero(), room, 64);
        self.for_each_lane(active, |this, lane| {
            let emit = this.vector();
            let value = emit.broadcast(this.lane_value(a, lane));
            let same = emit.and(emit.equal(a, value), active);
            let same = this.masks.bits(same);
            let found = emit.load(emit.int(32), room, 64);
            emit.store(emit.insert_element(found, same, lane), room, 64);
        });
        let same = emit.and(emit.load(emit.int(32), room, 64), members);
        match kind {
            Collective::MatchAny => self.write(&operands[0], same, Sign::Unsigned),
            _ => {
                let all = emit.equal(same, present);
                let result = emit.select(all, present, present.ty().zero());
                self.write_pair(&operands[0], result, all);
            }
        }
    }

    /// A reduction over the members, whose sets may differ from lane to lane. That of nobody is 0.
    fn reduce(&mut self, kind: Collective, view: &View<'a>, members: Value<'c>, active: Value<'c>) {
        let operands = view.operands();
        let emit = self.vector();
        let form = view.form;
        let ty = form.types()[0];
        let a = self.read(&operands[1], 32, emit);
        let room = self.alloca(emit.int(32), 64);
        emit.store(emit.int(32).zero(), room, 64);
        let left = self.alloca(emit.bool(), 4);
        emit.store(active, left, 4);
        // Once for each set of members.
        let builder = self.unit.builder;
        let (head, inside, after) = (self.new_block("sets"), self.new_block("set"), self.new_block("after"));
        builder.branch(head);
        builder.position_at_end(head);
        let remaining = builder.load(emit.bool(), left, 4);
        builder.branch_if(self.masks.any(remaining), inside, after);
        builder.position_at_end(inside);
        let scalar = self.scalar();
        let first = scalar.ctz(self.masks.bits(remaining));
        let set = emit.extract_element(members, first);
        let in_set = emit.and(self.masks.of_bits(set), active);
        let names_set = emit.equal(members, emit.broadcast(set));
        let (name, neutral): (&str, u64) = match kind {
            Collective::ReduceAdd => ("llvm.vector.reduce.add", 0),
            Collective::ReduceAnd => ("llvm.vector.reduce.and", u64::MAX),
            Collective::ReduceOr => ("llvm.vector.reduce.or", 0),
            Collective::ReduceXor => ("llvm.vector.reduce.xor", 0),
            Collective::ReduceMinSigned => ("llvm.vector.reduce.smin", i32::MAX as u64),
            Collective::ReduceMin => ("llvm.vector.reduce.umin", u64::MAX),
            Collective::ReduceMaxSigned => ("llvm.vector.reduce.smax", i32::MIN as u64),
            _ => ("llvm.vector.reduce.umax", 0),
        };
        let result = if ty == Type::F32 {
            self.reduce_floats(form, a, in_set)
        } else {
            let held = emit.select(in_set, a, emit.int(32).constant(neutral & 0xffff_ffff));
            emit.call1(name, held.ty(), &[held])
        };
        let result = scalar.select(self.masks.any(in_set), result, result.ty().zero());
        let found = emit.load(emit.int(32), room, 64);
        emit.store(emit.select(names_set, emit.broadcast(result), found), room, 64);
        emit.store(emit.and(remaining, emit.not(names_set)), left, 4);
        builder.branch(head);
        builder.position_at_end(after);
        let result = emit.load(emit.int(32), room, 64);
        self.write(&operands[0], result, Sign::Unsigned);
    }

    fn reduce_floats(&mut self, form: &ptx::form::Form, a: Value<'c>, in_set: Value<'c>) -> Value<'c> {
        let what = MinMax { is_max: form.has(Mod::Max), propagates_nan: form.has(Mod::NaN), xorsign: false };
        let scalar = self.scalar();
        let float = scalar.f32();
        let room = self.alloca(float, 4);
        let first = scalar.and_constant(scalar.ctz(self.masks.bits(in_set)), 31);
        let prepare = |emit: Emit<'a, 'c>, bits: Value<'c>| {
            let value = emit.bitcast(bits, emit.f32());
            if form.has(Mod::Abs) { emit.fabs(value) } else { value }
        };
        let start = prepare(scalar, scalar.extract_element(a, first));
        scalar.store(start, room, 4);
        self.for_each_lane(in_set, |this, lane| {
            let scalar = this.scalar();
            let value = prepare(scalar, this.lane_value(a, lane));
            let sofar = scalar.load(float, room, 4);
            scalar.store(scalar.float_min_max(what, sofar, value), room, 4);
        });
        scalar.to_bits(scalar.load(float, room, 4))
    }

    /// A collective of threads that run on their own.
    fn exchange_one(&mut self, kind: Collective, op: Op, view: &View<'a>, members: Option<Operand>) -> bool {
        let form = view.form;
        let operands = view.operands();
        let emit = self.scalar();
        let word = self.unit.context().int(64);
        let mut args = vec![match members {
            Some(operand) => {
                let members = self.read(&operand, 32, emit);
                emit.zext(members, word)
            }
            // Without a mask: whoever is here.
            None => word.all_ones(),
        }];
        let sources = match op {
            Op::BarWarpSync | Op::Elect => &operands[..0],
            Op::Shfl => &operands[1..4],
            _ => &operands[1..2],
        };
        let bits = match op {
            Op::Vote => 1,
            Op::Match => form.types()[0].bits(),
            _ => 32,
        };
        for operand in sources {
            let value = self.read(operand, bits, emit);
            args.push(emit.zext(value, word));
        }
        let (first, second) = self.exchange(kind, &args);
        match op {
            Op::BarWarpSync => {}
            Op::Vote if kind != Collective::VoteBallot => {
                self.write(&operands[0], emit.is_not_zero(first), Sign::Unsigned);
            }
            _ => self.write_pair(&operands[0], first, emit.is_not_zero(second)),
        }
        true
    }

    /// Asks the runtime to bring the members of a collective together: results of 32 bits.
    fn exchange(&mut self, kind: Collective, args: &[Value<'c>]) -> (Value<'c>, Value<'c>) {
        let emit = self.scalar();
        let (int, word, pointer) =
            (self.unit.context().int(32), self.unit.context().int(64), self.unit.context().pointer());
        let mut all = vec![self.warp, int.constant(with_line(kind as u32, self.line()).into())];
        all.extend_from_slice(args);
        all.resize(6, word.zero());
        let function = self.unit.runtime(RuntimeFunction::Collective, word, &[pointer, int, word, word, word, word]);
        let result = if self.is_guarded() {
            let room = self.alloca(word, 8);
            emit.store(word.zero(), room, 8);
            let active = self.active();
            self.when(active, |this| {
                let result = this.unit.builder.call(function, &all);
                this.unit.builder.store(result, room, 8);
            });
            emit.load(word, room, 8)
        } else {
            emit.call(function, &all)
        };
        let second = emit.trunc(emit.lshr(result, word.constant(32)), int);
        (emit.trunc(result, int), second)
    }

    /// The line of the present statement, by which the runtime knows it.
    pub(crate) fn line(&self) -> u32 {
        let lines = &self.unit.module.lines;
        lines.line(self.body.position(self.statement)) & 0xff_ffff
    }

    /// Whether the members of a collective, or without those all threads of the warp, are here; if not, the warp is
    /// deoptimized. Nothing is done where nobody can be elsewhere.
    pub(crate) fn deoptimize_if_lanes_are_missing(&mut self, active: Value<'c>, members: Option<(Value<'c>, bool)>) {
        let Some(uniformity) = &self.analyses.uniformity else { return };
        let Some(block) = self.analyses.cfg.block_of(self.statement) else { return };
        if !uniformity.is_divergent(block) && !self.is_guarded() {
            return;
        }
        let emit = self.scalar();
        let alive = emit.load(self.vector().bool(), self.masks.alive, 4);
        let elsewhere = emit.and(alive, emit.not(active));
        let elsewhere = self.masks.bits(elsewhere);
        let missing = match members {
            None => elsewhere,
            Some((members, _)) => {
                let vector = self.vector();
                let wanted = vector.select(active, members, members.ty().zero());
                let wanted = emit.call1("llvm.vector.reduce.or", wanted.ty(), &[wanted]);
                emit.and(elsewhere, wanted)
            }
        };
        // With a guard, no lane at all may be here.
        let any = self.masks.any(active);
        let is_missing = emit.and(emit.is_not_zero(missing), any);
        let here = ResumePoint::Statement(self.statement);
        self.fail_when(is_missing, |this| this.deoptimize(here));
    }
}

fn kind_of(op: Op, form: &ptx::form::Form) -> Option<Collective> {
    let has = |word| form.has(word);
    Some(match op {
        Op::BarWarpSync => Collective::Barrier,
        Op::Elect => Collective::Elect,
        Op::Shfl if has(Mod::Up) => Collective::ShuffleUp,
        Op::Shfl if has(Mod::Down) => Collective::ShuffleDown,
        Op::Shfl if has(Mod::Bfly) => Collective::ShuffleXor,
        Op::Shfl => Collective::ShuffleIndex,
        Op::Vote if has(Mod::Ballot) => Collective::VoteBallot,
        Op::Vote if has(Mod::All) => Collective::VoteAll,
        Op::Vote if has(Mod::Any) => Collective::VoteAny,
        Op::Vote => Collective::VoteUniform,
        Op::Match if has(Mod::All) => Collective::MatchAll,
        Op::Match => Collective::MatchAny,
        Op::Redux if form.types() == [Type::F32] => match () {
            () if has(Mod::Min) && has(Mod::NaN) && has(Mod::Abs) => Collective::ReduceFloatMinAbsNan,
            () if has(Mod::Min) && has(Mod::NaN) => Collective::ReduceFloatMinNan,
            () if has(Mod::Min) && has(Mod::Abs) => Collective::ReduceFloatMinAbs,
            () if has(Mod::Min) => Collective::ReduceFloatMin,
            () if has(Mod::NaN) && has(Mod::Abs) => Collective::ReduceFloatMaxAbsNan,
            () if has(Mod::NaN) => Collective::ReduceFloatMaxNan,
            () if has(Mod::Abs) => Collective::ReduceFloatMaxAbs,
            () => Collective::ReduceFloatMax,
        },
        Op::Redux if has(Mod::Add) => Collective::ReduceAdd,
        Op::Redux if has(Mod::And) => Collective::ReduceAnd,
        Op::Redux if has(Mod::Or) => Collective::ReduceOr,
        Op::Redux if has(Mod::Xor) => Collective::ReduceXor,
        Op::Redux if has(Mod::Min) && form.types() == [Type::S32] => Collective::ReduceMinSigned,
        Op::Redux if has(Mod::Min) => Collective::ReduceMin,
        Op::Redux if form.types() == [Type::S32] => Collective::ReduceMaxSigned,
        Op::Redux => Collective::ReduceMax,
        _ => return None,
    })
}
