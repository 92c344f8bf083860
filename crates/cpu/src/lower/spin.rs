//! Loops in which a thread may wait for memory that another one writes.
//!
//! Such a loop lets other warps run from time to time. If lanes of the same warp are elsewhere, one of them may be the one
//! that is waited for, and it cannot come while this loop runs: then the warp is deoptimized.

use ptx::analysis::{BitSet, Block, Cfg};
use ptx::ir::{Body, Module, Reg};
use ptx::ops::{Effect, Op};
use ptx::view::{Order, View};
use rustc_hash::FxHashSet;

use super::deopt::ResumePoint;
use super::function::Lowering;
use crate::abi::calls::RuntimeFunction;

/// A loop gives way each time that it has run so often.
const TURN: u64 = 32;
/// After so many rounds, lanes that are elsewhere are taken to be waited for.
const SPIN_LIMIT: u64 = 1024;

/// Whether an instruction reads memory that others write meanwhile. Some registers are read by nobody.
fn watches_memory(view: &View<'_>, is_read: &dyn Fn(Reg) -> bool) -> bool {
    match view.effect() {
        // What an atomic operation finds may be of no interest: it counts something.
        Some(Effect::Atomic) => {
            let mut is_wanted = false;
            view.for_each_write(|reg| is_wanted |= is_read(reg));
            is_wanted
        }
        Some(Effect::Mbarrier) => true,
        Some(Effect::Load) => view.accesses().iter().any(|access| access.order != Order::Weak),
        Some(Effect::Control) => view.op() == Some(Op::Nanosleep),
        _ => false,
    }
}

/// Registers that some instruction reads.
fn read_registers(module: &Module, body: &Body) -> FxHashSet<Reg> {
    let mut found = FxHashSet::default();
    for (id, _) in body.insts() {
        if let Some(view) = View::of(&module.forms, body, id) {
            view.for_each_read(|reg| {
                found.insert(reg);
            });
            found.extend(view.inst.guard.map(|guard| guard.reg));
        }
    }
    found
}

/// Whether there is an instruction in a body that reads memory that others write meanwhile.
pub(crate) fn watches_any_memory(module: &Module, body: &Body) -> bool {
    let read = read_registers(module, body);
    let watches = |view: View<'_>| watches_memory(&view, &|reg| read.contains(&reg));
    body.insts().any(|(id, _)| View::of(&module.forms, body, id).is_some_and(watches))
}

/// The blocks to which control goes back in cycles that watch memory.
pub(crate) fn spinning_blocks(module: &Module, body: &Body, cfg: &Cfg, order: &[Block]) -> BitSet<Block> {
    let mut found = BitSet::new(cfg.len());
    let mut place = vec![usize::MAX; cfg.len()];
    for (index, &block) in order.iter().enumerate() {
        place[ptx::entity::Id::index(block)] = index;
    }
    let read = read_registers(module, body);
    let is_read = |reg: Reg| read.contains(&reg);
    // How many blocks up to each place watch memory: a cycle is one piece of the order.
    let mut watching = vec![0_u32];
    for &block in order {
        let watches = cfg
            .insts(body, block)
            .any(|(id, _)| View::of(&module.forms, body, id).is_some_and(|view| watches_memory(&view, &is_read)));
        watching.push(watching.last().copied().unwrap_or(0) + u32::from(watches));
    }
    for (end, &block) in order.iter().enumerate() {
        for &target in cfg.successors(block) {
            let start = place[ptx::entity::Id::index(target)];
            if start <= end && watching[end + 1] > watching[start] {
                found.insert(target);
            }
        }
    }
    found
}

impl Lowering<'_, '_, '_> {
    /// At the start of a block to which control goes back in a loop that watches memory.
    pub(crate) fn give_way_in_loop(&mut self, block: Block) {
        if !self.spinning.contains(block) {
            return;
        }
        let emit = self.scalar();
        let int = self.unit.context().int(32);
        let counter = self.alloca_zeroed(int, 4);
        let rounds = emit.add(emit.load(int, counter, 4), int.constant(1));
        emit.store(rounds, counter, 4);
        let is_turn = emit.is_zero(emit.and_constant(rounds, TURN - 1));
        self.when(is_turn, |this| {
            let emit = this.scalar();
            if this.region_loops.is_some() {
                // What is waited for may be a warp of the block, which cannot run before this one has ended the region.
                let context = this.unit.context();
                let spin = this.unit.runtime(RuntimeFunction::SpinInRegion, context.int(8), &[context.pointer()]);
                let is_livelocked = emit.is_not_zero(this.unit.builder.call(spin, &[this.warp]));
                this.fail_when(is_livelocked, |this| {
                    this.call_runtime(RuntimeFunction::Misspeculated, &[this.warp]);
                    this.deoptimize(ResumePoint::Block(block));
                });
                return;
            }
            if !this.is_scalar_device() {
                let alive = emit.load(this.mask.ty(), this.alive, 4);
                let elsewhere = emit.and(alive, emit.not(this.mask));
                let is_late = emit.is_zero(emit.and_constant(rounds, SPIN_LIMIT - 1));
                let is_stuck = emit.and(this.any(elsewhere), is_late);
                this.fail_when(is_stuck, |this| this.deoptimize(ResumePoint::Block(block)));
            }
            this.call_runtime(RuntimeFunction::Spin, &[this.warp]);
        });
    }
}
