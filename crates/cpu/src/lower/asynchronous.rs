//! Asynchronous copies, barrier objects in shared memory, and what else is done to many bytes at once.
//!
//! A copy is done where it is issued, which is one of the moments at which the hardware may do it. What waits for copies
//! therefore has nothing to wait for. Where late copies are asked for, those of `cp.async` are done where their thread
//! waits for them instead (`runtime/copies.rs`); bulk copies, whose end everybody can wait for, are always early.

use ptx::ir::Operand;
use ptx::ops::{Mod, Op};
use ptx::types::{Space, Type};
use ptx::view::View;

use super::address::Address;
use super::function::Lowering;
use crate::abi::calls::{RuntimeFunction, with_line};
use crate::abi::mbarrier::{MbarrierOp, PENDING_BITS};
use crate::emit::Sign;
use crate::llvm::Value;

impl<'a, 'c> Lowering<'_, 'a, 'c> {
    /// `cp.async`, `cp.async.bulk`, and the answer to a request to cancel a block. False if it is another copy.
    pub(crate) fn copy_async(&mut self, op: Op, view: &View<'a>) -> bool {
        match op {
            Op::CpAsync => self.copy_few_bytes(view),
            Op::CpAsyncBulk => self.copy_many_bytes(view),
            Op::ClusterlaunchcontrolTryCancel => self.decline_to_cancel(view),
            _ => false,
        }
    }

    /// What waits for copies.
    pub(crate) fn copy_group(&mut self, op: Op, view: &View<'a>) -> bool {
        match op {
            Op::CpAsyncCommitGroup
            | Op::CpAsyncWaitGroup
            | Op::CpAsyncWaitAll
            | Op::CpAsyncBulkCommitGroup
            | Op::CpAsyncBulkWaitGroup => {
                if self.unit.options.late_copies {
                    self.late_copy_group(op, view);
                }
                self.unit.builder.compiler_fence();
                true
            }
            Op::CpAsyncMbarrierArrive => {
                // The arrival counts once the copies are done, so they are done now.
                if self.unit.options.late_copies {
                    self.wait_for_copies(u32::MAX.into());
                }
                self.mbarrier(op, view)
            }
            _ => false,
        }
    }

    fn copy_few_bytes(&mut self, view: &View<'a>) -> bool {
        let (Some(target), Some(source), Some(size)) =
            (named(view, "d"), named(view, "a"), named(view, "size").and_then(|size| size.as_int()))
        else {
            return false;
        };
        let bytes = size as u32;
        if !matches!(bytes, 4 | 8 | 16) {
            return false;
        }
        let (Some(target), Some(source)) =
            (self.address(target, Some(Space::Shared)), self.address(source, Some(Space::Global)))
        else {
            return false;
        };
        self.check_alignment(&source, bytes);
        self.check_alignment(&target, bytes);
        self.confine(&source, Some(Space::Global), bytes);
        self.unit.builder.compiler_fence();
        match named(view, "src_size") {
            size if self.unit.options.late_copies => {
                let valid = match size {
                    Some(operand) => self.valid_bytes(operand, bytes),
                    None => self.vector().int(64).constant(bytes.into()),
                };
                self.copy_later(&source, &target, bytes, valid);
            }
            None => self.copy_whole(&source, &target, bytes),
            Some(operand) => {
                let valid = self.valid_bytes(operand, bytes);
                self.copy_part(&source, &target, bytes, valid);
            }
        }
        self.unit.builder.compiler_fence();
        true
    }

    fn copy_whole(&mut self, source: &Address<'c>, target: &Address<'c>, bytes: u32) {
        let emit = self.scalar();
        let chunk = bytes.min(8);
        let ty = self.unit.context().int(chunk * 8);
        let offsets: Vec<i64> = (0..bytes / chunk).map(|nth| i64::from(nth * chunk)).collect();
        // All is read before anything is written.
        let values: Vec<_> = offsets.iter().map(|&offset| self.load(ty, &source.offset(emit, offset), false)).collect();
        for (value, &offset) in values.into_iter().zip(&offsets) {
            self.store(&target.offset(emit, offset), value, false);
        }
    }

    /// How many bytes of the source count, in each lane.
    fn valid_bytes(&mut self, operand: &Operand, bytes: u32) -> Value<'c> {
        let emit = self.vector();
        let int = emit.int(64);
        let is_predicate = match *operand {
            Operand::Not(_) => true,
            Operand::Reg(reg) => self.function.reg_type(reg) == Type::Pred,
            _ => false,
        };
        if is_predicate {
            // True means that the source is ignored.
            let is_ignored = self.read(operand, 1, emit);
            return emit.select(is_ignored, int.zero(), int.constant(bytes.into()));
        }
        let size = self.read(operand, 32, emit);
        emit.int_min(Sign::Unsigned, emit.resize(Sign::Unsigned, size, 64), int.constant(bytes.into()))
    }

    /// Lets the runtime copy when the thread waits for it.
    fn copy_later(&mut self, source: &Address<'c>, target: &Address<'c>, bytes: u32, valid: Value<'c>) {
        let (sources, targets) = (self.addresses(source), self.addresses(target));
        let int = self.unit.context().int(32);
        let active = self.active();
        self.for_each_lane(active, |this, lane| {
            let emit = this.scalar();
            let [from, to, valid] = [sources, targets, valid].map(|values| this.lane_value(values, lane));
            let valid = emit.shl(emit.trunc(valid, int), int.constant(8));
            let sizes = emit.or(valid, int.constant(bytes.into()));
            this.call_runtime(RuntimeFunction::CopyLater, &[this.warp, lane, from, to, sizes]);
        });
    }

    /// Makes a group of late copies, or does those that are waited for.
    fn late_copy_group(&mut self, op: Op, view: &View<'a>) {
        match op {
            Op::CpAsyncCommitGroup => {
                let active = self.active();
                let lanes = self.masks.bits(active);
                self.call_runtime(RuntimeFunction::CommitCopies, &[self.warp, lanes]);
            }
            Op::CpAsyncWaitGroup => {
                let groups = view.operands().first().and_then(|operand| operand.as_int()).unwrap_or(0);
                self.wait_for_copies(groups as u64 & 0x7fff_ffff);
            }
            Op::CpAsyncWaitAll => self.wait_for_copies(u32::MAX.into()),
            _ => {}
        }
    }

    fn wait_for_copies(&mut self, groups: u64) {
        let active = self.active();
        let lanes = self.masks.bits(active);
        let groups = self.unit.context().int(32).constant(groups);
        self.call_runtime(RuntimeFunction::WaitForCopies, &[self.warp, lanes, groups]);
    }

    /// Copies the first bytes, and writes zeros for the rest. Nothing is read past those that count.
    fn copy_part(&mut self, source: &Address<'c>, target: &Address<'c>, bytes: u32, valid: Value<'c>) {
        let (sources, targets) = (self.addresses(source), self.addresses(target));
        let context = self.unit.context();
        let (int, word, pointer) = (context.int(32), context.int(64), context.pointer());
        let room = self.alloca(context.int(128), 16);
        let memcpy = self.unit.runtime(RuntimeFunction::Memcpy, pointer, &[pointer, pointer, word]);
        let active = self.active();
        self.for_each_lane(active, |this, lane| {
            let emit = this.scalar();
            let one = |values: Value<'c>| this.lane_value(values, emit.resize(Sign::Unsigned, lane, int.bits()));
            let (from, to, count) = (one(sources), one(targets), one(valid));
            emit.store(context.int(128).zero(), room, 16);
            emit.call(memcpy, &[room, emit.int_to_ptr(from, pointer), count]);
            emit.call(memcpy, &[emit.int_to_ptr(to, pointer), room, word.constant(bytes.into())]);
        });
    }

    /// A copy between global and shared memory, which may complete on a barrier object.
    fn copy_many_bytes(&mut self, view: &View<'a>) -> bool {
        let form = view.form;
        let is_refused = form.words().any(|word| {
            matches!(word, Mod::MulticastCluster | Mod::MulticastCluster16b | Mod::MulticastCluster32b | Mod::Relaxed)
        });
        let mut spaces = form.spaces();
        let (Some(to), Some(from), false) = (spaces.next(), spaces.next(), is_refused) else { return false };
        let (Some(target), Some(source), Some(size)) = (named(view, "d"), named(view, "a"), named(view, "size")) else {
            return false;
        };
        let (Some(target), Some(source)) = (self.address(target, Some(to)), self.address(source, Some(from))) else {
            return false;
        };
        let barrier = match named(view, "mbar") {
            Some(operand) => match self.address(operand, Some(Space::Shared)) {
                Some(address) => Some(self.addresses(&address)),
                None => return false,
            },
            None => None,
        };
        self.check_alignment(&source, 16);
        self.check_alignment(&target, 16);
        let emit = self.vector();
        let sizes = self.read(size, 32, emit);
        let sizes = emit.resize(Sign::Unsigned, sizes, 64);
        self.check_alignment(&Address::Vector(sizes, None), 16);
        let (sources, targets) = (self.addresses(&source), self.addresses(&target));
        // Bytes at the start and at the end that may be outside of their object, and are not copied.
        let ignored = match (named(view, "b"), named(view, "c")) {
            (Some(left), Some(right)) => Some([left, right].map(|operand| {
                let bytes = self.read(operand, 32, emit);
                emit.resize(Sign::Unsigned, bytes, 64)
            })),
            _ => None,
        };
        let mask = named(view, "bytes").map(|operand| {
            let mask = self.read(operand, 16, emit);
            emit.resize(Sign::Unsigned, mask, 64)
        });
        let (word, pointer) = (self.unit.context().int(64), self.unit.context().pointer());
        let memmove = self.unit.runtime(RuntimeFunction::Memmove, pointer, &[pointer, pointer, word]);
        let active = self.active();
        self.unit.builder.compiler_fence();
        self.for_each_lane(active, |this, lane| {
            let emit = this.scalar();
            let [mut from, mut to, size] = [sources, targets, sizes].map(|values| this.lane_value(values, lane));
            let mut copied = size;
            if let Some(ignored) = ignored {
                let [left, right] = ignored.map(|values| this.lane_value(values, lane));
                [from, to] = [from, to].map(|address| emit.add(address, left));
                let both = emit.add(left, right);
                copied = emit.sub(size, emit.int_min(Sign::Unsigned, both, size));
            }
            match mask {
                Some(mask) => {
                    let mask = this.lane_value(mask, lane);
                    this.call_runtime(RuntimeFunction::CopyMasked, &[to, from, copied, mask]);
                }
                None => {
                    emit.call(memmove, &[emit.int_to_ptr(to, pointer), emit.int_to_ptr(from, pointer), copied]);
                }
            }
            if let Some(barriers) = barrier {
                let barrier = this.lane_value(barriers, lane);
                this.call_mbarrier(MbarrierOp::CompleteBytes, barrier, size);
            }
        });
        self.unit.builder.compiler_fence();
        true
    }

    /// `clusterlaunchcontrol.try_cancel`: the answer, of 16 bytes, is that nothing was cancelled, as it may always be.
    fn decline_to_cancel(&mut self, view: &View<'a>) -> bool {
        let space = view.form.spaces().next();
        let (Some(answer), Some(barrier)) = (named(view, "a"), named(view, "mbar")) else { return false };
        let (Some(answer), Some(barrier)) = (self.address(answer, space), self.address(barrier, space)) else {
            return false;
        };
        self.check_alignment(&answer, 16);
        let (answers, barriers) = (self.addresses(&answer), self.addresses(&barrier));
        let context = self.unit.context();
        let (int, word, pointer) = (context.int(128), context.int(64), context.pointer());
        let active = self.active();
        self.unit.builder.compiler_fence();
        self.for_each_lane(active, |this, lane| {
            let emit = this.scalar();
            let [answer, barrier] = [answers, barriers].map(|values| this.lane_value(values, lane));
            emit.store(int.zero(), emit.int_to_ptr(answer, pointer), 16);
            this.call_mbarrier(MbarrierOp::CompleteBytes, barrier, word.constant(16));
        });
        self.unit.builder.compiler_fence();
        true
    }

    /// `clusterlaunchcontrol.query_cancel`: no request is granted, so all answers are the same.
    pub(crate) fn query_cancel(&mut self, view: &View<'a>) -> bool {
        let emit = self.shape(view);
        let bits = if view.form.has(Mod::IsCanceled) {
            1
        } else if view.form.has(Mod::GetFirstCtaid) {
            128
        } else {
            32
        };
        self.write(&view.operands()[0], emit.int(bits).zero(), Sign::Unsigned);
        true
    }

    /// `st.bulk`
    pub(crate) fn store_zeros(&mut self, view: &View<'a>) -> bool {
        let (Some(target), Some(size)) = (named(view, "a"), named(view, "size")) else { return false };
        let Some(target) = self.address(target, view.form.spaces().next()) else { return false };
        let targets = self.addresses(&target);
        let emit = self.vector();
        let sizes = self.read(size, 64, emit);
        let context = self.unit.context();
        let (int, word, pointer) = (context.int(32), context.int(64), context.pointer());
        let memset = self.unit.runtime(RuntimeFunction::Memset, pointer, &[pointer, int, word]);
        let active = self.active();
        self.for_each_lane(active, |this, lane| {
            let emit = this.scalar();
            let [to, size] = [targets, sizes].map(|values| this.lane_value(values, lane));
            emit.call(memset, &[emit.int_to_ptr(to, pointer), int.zero(), size]);
        });
        true
    }

    /// Operations on barrier objects. False if it is one that the device does not have.
    pub(crate) fn mbarrier(&mut self, op: Op, view: &View<'a>) -> bool {
        let form = view.form;
        let unsupported = [Mod::MulticastCluster32b, Mod::PhaseTypePrimary, Mod::PhaseTypeConditional, Mod::LayoutV1];
        let Some(what) = mbarrier_op(op, view) else { return false };
        if unsupported.into_iter().any(|word| form.has(word)) {
            return false;
        }
        let Some(operand) = named(view, "a").or_else(|| named(view, "mbar")) else { return false };
        let Some(address) = self.address(operand, form.spaces().next()) else { return false };
        let addresses = self.addresses(&address);
        let emit = self.vector();
        let word = emit.int(64);
        let argument = match named(view, "b") {
            Some(operand) => {
                let bits = if what == MbarrierOp::TestState { 64 } else { 32 };
                let value = self.read(operand, bits, emit);
                emit.resize(Sign::Unsigned, value, 64)
            }
            // One arrival.
            None => word.constant(1),
        };
        let room = self.alloca(word, if self.is_scalar_device() { 8 } else { 64 });
        let align = if self.is_scalar_device() { 8 } else { 64 };
        emit.store(word.zero(), room, align);
        let active = self.active();
        let element = self.unit.context().int(64);
        self.unit.builder.compiler_fence();
        self.for_each_lane(active, |this, lane| {
            let scalar = this.scalar();
            let address = this.lane_value(addresses, lane);
            let argument = this.lane_value(argument, lane);
            let result = this.call_mbarrier(what, address, argument);
            let offset = scalar.mul(scalar.zext(lane, element), element.constant(8));
            scalar.store(result, scalar.offset(room, offset), 8);
        });
        self.unit.builder.compiler_fence();
        let result = emit.load(word, room, align);
        let is_test = matches!(what, MbarrierOp::TestState | MbarrierOp::TestParity);
        if is_test {
            let has_ended = emit.is_not_zero(result);
            if op == Op::MbarrierTryWait {
                // Whoever the phase waits for must come to run.
                let waits = self.masks.any(emit.and(active, emit.not(has_ended)));
                self.when(waits, |this| this.call_spin());
            }
            if let Some(target) = named(view, "p") {
                self.write(target, has_ended, Sign::Unsigned);
            }
        } else if let Some(target) = named(view, "d") {
            self.write(target, result, Sign::Unsigned);
        }
        true
    }

    /// Gives way to other warps.
    pub(crate) fn call_spin(&mut self) {
        self.call_runtime(RuntimeFunction::Spin, &[self.warp]);
    }

    /// Calls the runtime for the object of one lane.
    fn call_mbarrier(&mut self, what: MbarrierOp, address: Value<'c>, argument: Value<'c>) -> Value<'c> {
        let (int, word, pointer) =
            (self.unit.context().int(32), self.unit.context().int(64), self.unit.context().pointer());
        let function = self.unit.runtime(RuntimeFunction::Mbarrier, word, &[pointer, int, word, word]);
        let line = int.constant(with_line(what as u32, self.line()).into());
        self.unit.builder.call(function, &[self.warp, line, address, argument])
    }

    /// `mbarrier.pending_count`
    pub(crate) fn pending_count(&mut self, view: &View<'a>) -> bool {
        let emit = self.shape(view);
        let operands = view.operands();
        if view.form.has(Mod::LayoutV1) {
            return false;
        }
        let state = self.read(&operands[1], 64, emit);
        let pending = emit.part(Sign::Unsigned, state, 0, PENDING_BITS);
        self.write(&operands[0], emit.resize(Sign::Unsigned, pending, 32), Sign::Unsigned);
        true
    }
}

/// An operand by its name in the table.
fn named<'a>(view: &View<'a>, name: &str) -> Option<&'a Operand> {
    view.matched_operands()?.into_iter().find(|(_, spec)| spec.name == name).map(|(operand, _)| operand)
}

fn mbarrier_op(op: Op, view: &View<'_>) -> Option<MbarrierOp> {
    let has = |word| view.form.has(word);
    Some(match op {
        Op::MbarrierInit => MbarrierOp::Init,
        Op::MbarrierInval => MbarrierOp::Invalidate,
        Op::MbarrierExpectTx => MbarrierOp::ExpectBytes,
        Op::MbarrierCompleteTx => MbarrierOp::CompleteBytes,
        Op::MbarrierArrive if has(Mod::ExpectTx) => MbarrierOp::ArriveExpecting,
        Op::MbarrierArrive if has(Mod::NoComplete) => MbarrierOp::ArriveEarly,
        Op::MbarrierArrive => MbarrierOp::Arrive,
        Op::MbarrierArriveDrop if has(Mod::ExpectTx) => MbarrierOp::ArriveExpectingAndDrop,
        Op::MbarrierArriveDrop if has(Mod::NoComplete) => MbarrierOp::ArriveEarlyAndDrop,
        Op::MbarrierArriveDrop => MbarrierOp::ArriveAndDrop,
        Op::CpAsyncMbarrierArrive if has(Mod::Noinc) => MbarrierOp::ArriveAfterCopiesCounted,
        Op::CpAsyncMbarrierArrive => MbarrierOp::ArriveAfterCopies,
        Op::MbarrierTestWait | Op::MbarrierTryWait if has(Mod::Parity) => MbarrierOp::TestParity,
        Op::MbarrierTestWait | Op::MbarrierTryWait => MbarrierOp::TestState,
        _ => return None,
    })
}
