//! How the copies of a thread come through a kernel: which instructions are repeated, what follows stores, and whether the first
//! copy has to wait for the second.

use ptx::analysis::{Block, Cfg, DominatorTree, Loops};
use ptx::ir::{Function, Module, StmtId};
use ptx::ops::Effect;
use ptx::types::Space;
use ptx::view::{AccessKind, AccessSpace, Order, View};
use rustc_hash::FxHashSet;

use super::TOOL;
use super::version::Pair;

/// What is known of the instructions of a kernel.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Instructions before which something may have been written that both copies have.
    after_writes: FxHashSet<StmtId>,
    /// Instructions in loops.
    repeated: FxHashSet<StmtId>,
    /// Whether the first copy has to wait in the middle of the kernel: it needs a result, or reads what it may have written, or
    /// writes more than its log has room for.
    pub(super) waits: bool,
}

impl Pace {
    /// That of a kernel in a version; an empty one if it has no log.
    pub(super) fn of(module: &Module, function: &Function, pair: Pair) -> Self {
        let Some(body) = function.body.as_ref().filter(|_| pair.has_log()) else { return Self::default() };
        let cfg = Cfg::of(&module.forms, function);
        let loops = Loops::of(cfg.graph(), &DominatorTree::dominators(cfg.graph()));
        let is_repeated = |block: Block| {
            loops.innermost(block).is_some() || loops.irreducible_regions().iter().any(|blocks| blocks.contains(&block))
        };
        // What was inserted before has memory of its own.
        let is_ours = |stmt: StmtId| module.is_inserted_by(TOOL, body.origin(stmt));
        let view = |stmt: StmtId| View::of(&module.forms, body, stmt).filter(|_| !is_ours(stmt));
        let writes = |stmt: StmtId| does(view(stmt), |kind, _| kind != AccessKind::Read);
        let mut pace = Self::default();
        let mut from_writes = Vec::new();
        for block in cfg.blocks() {
            let statements = cfg.statements(block);
            if is_repeated(block) {
                pace.repeated.extend(statements);
            }
            if let Some(first) = statements.iter().position(|&stmt| writes(stmt)) {
                pace.after_writes.extend(&statements[first + 1..]);
                from_writes.extend(cfg.successors(block).iter().copied());
            }
        }
        let mut reached = FxHashSet::default();
        while let Some(block) = from_writes.pop() {
            if reached.insert(block) {
                pace.after_writes.extend(cfg.statements(block));
                from_writes.extend(cfg.successors(block).iter().copied());
            }
        }
        // The end of a thread has an entry, too.
        let mut entries = 1;
        for (stmt, view) in body.iter().filter_map(|stmt| Some((stmt, view(stmt)?))) {
            let is_logged = does(Some(view), |kind, order| kind != AccessKind::Read || order != Order::Weak);
            let reads = does(Some(view), |kind, _| kind == AccessKind::Read);
            let is_atomic = view.effect() == Some(Effect::Atomic);
            let tells_others = matches!(view.effect(), Some(Effect::Fence | Effect::Collective));
            entries += u32::from(is_logged);
            pace.waits |= is_logged && pace.repeated.contains(&stmt);
            pace.waits |= is_atomic && is_logged && !view.writes().is_empty();
            pace.waits |= pair.is_in_place && (reads || tells_others) && pace.is_after_writes(stmt);
        }
        pace.waits |= entries > pair.layout.log_entries();
        pace
    }

    /// Whether something may have been written before an instruction that both copies have.
    pub(super) fn is_after_writes(&self, stmt: StmtId) -> bool {
        self.after_writes.contains(&stmt)
    }

    /// Whether an instruction may be executed again.
    pub(super) fn is_repeated(&self, stmt: StmtId) -> bool {
        self.repeated.contains(&stmt)
    }
}

/// Whether an instruction accesses memory that all threads have, in some way.
fn does(view: Option<View<'_>>, how: impl Fn(AccessKind, Order) -> bool) -> bool {
    let is_common =
        |space: AccessSpace| !matches!(space, AccessSpace::State(Space::Shared | Space::Local | Space::Param));
    view.is_some_and(|view| {
        view.accesses().iter().any(|access| is_common(access.space) && how(access.kind, access.order))
    })
}
