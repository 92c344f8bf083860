//! Loops in which a thread may wait for memory that another one writes.

use ptx::analysis::{BitSet, Block, Cfg};
use ptx::ir::{Body, Module, Reg};
use ptx::ops::{Effect, Op};
use ptx::view::{Order, View};
use rustc_hash::FxHashSet;

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
