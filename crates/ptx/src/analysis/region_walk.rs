//! The walk from the start of a barrier region to all of its ends.

use super::barrier::BarrierKind;
use super::bitset::BitSet;
use super::callgraph::{CallGraph, CallKind};
use super::cfg::Cfg;
use super::graph::Block;
use super::lists::Lists;
use crate::entity::Map;
use crate::ir::{FuncId, Module, StmtId};
use crate::ops::Effect;
use crate::view::View;

/// A run of statements of one block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Piece {
    /// The block.
    pub block: Block,
    /// The place of the first statement in the block.
    pub start: usize,
    /// The place after the last statement: after the barrier, if one ends the piece.
    pub end: usize,
}

/// The statements that matter to regions, so that a walk need not look at the others.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    at: Lists<Block, Mark>,
    statements: usize,
    allocates_stack: bool,
}

/// A statement that matters to regions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// Its place in its block.
    pub(super) place: u32,
    pub(super) kind: MarkKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MarkKind {
    /// A barrier at which every thread waits that comes here.
    Wait,
    /// A barrier at which a thread may not wait, because it is guarded.
    GuardedWait,
    Arrival,
    Cluster,
    /// A call of a function that may wait at a barrier.
    WaitingCall,
}

impl Marks {
    /// The statements of a function; some functions of the module may wait.
    pub(super) fn of(
        module: &Module,
        function: FuncId,
        cfg: &Cfg,
        calls: &CallGraph,
        with_barriers: &BitSet<FuncId>,
    ) -> Self {
        let Some(body) = &module.functions[function].body else {
            return Self { at: Lists::from_pairs(cfg.len(), &[]), statements: 0, allocates_stack: false };
        };
        let mut waiting_calls = BitSet::new(body.capacity());
        for site in calls.sites(function) {
            let targets = calls.targets(site);
            if site.kind == CallKind::Unknown || targets.iter().any(|&target| with_barriers.contains(target)) {
                waiting_calls.insert(site.statement);
            }
        }
        let mut marks = Vec::new();
        let mut allocates_stack = false;
        for block in cfg.blocks() {
            for (place, &id) in cfg.statements(block).iter().enumerate() {
                let Some(view) = View::of(&module.forms, body, id) else { continue };
                let kind = match BarrierKind::of(&view) {
                    Some(BarrierKind::Wait) if view.inst.guard.is_none() => MarkKind::Wait,
                    Some(BarrierKind::Wait) => MarkKind::GuardedWait,
                    Some(BarrierKind::Arrive) => MarkKind::Arrival,
                    Some(BarrierKind::Cluster) => MarkKind::Cluster,
                    None if waiting_calls.contains(id) => MarkKind::WaitingCall,
                    None => {
                        allocates_stack |= view.effect() == Some(Effect::Stack);
                        continue;
                    }
                };
                marks.push((block, Mark { place: place as u32, kind }));
            }
        }
        Self { at: Lists::from_pairs(cfg.len(), &marks), statements: body.capacity(), allocates_stack }
    }

    /// The barriers of a block at which threads wait.
    pub(super) fn waits<'a>(&'a self, cfg: &'a Cfg, block: Block) -> impl Iterator<Item = StmtId> + 'a {
        let waits = self.at[block].iter().filter(|mark| matches!(mark.kind, MarkKind::Wait | MarkKind::GuardedWait));
        waits.map(move |mark| cfg.statements(block)[mark.place as usize])
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (Block, Mark)> {
        self.at.ids().flat_map(|block| self.at[block].iter().map(move |&mark| (block, mark)))
    }

    /// Every id of a statement is below this.
    pub(super) fn statements(&self) -> usize {
        self.statements
    }

    pub(super) fn allocates_stack(&self) -> bool {
        self.allocates_stack
    }
}

/// Walks through regions, one after the other.
pub(super) struct RegionWalk<'a> {
    cfg: &'a Cfg,
    marks: &'a Marks,
    /// The last walk that came to the start of each block.
    seen_in: Map<Block, u32>,
    walks: u32,
    stack: Vec<Block>,
    /// Blocks and marks that all walks visited.
    pub(super) steps: usize,
}

impl<'a> RegionWalk<'a> {
    pub(super) fn new(cfg: &'a Cfg, marks: &'a Marks) -> Self {
        Self { cfg, marks, seen_in: Map::filled(cfg.len(), 0), walks: 0, stack: Vec::new(), steps: 0 }
    }

    /// Calls `each` with every piece of the region that begins at a place of a block, and its marks.
    pub(super) fn run(&mut self, from: (Block, usize), mut each: impl FnMut(Piece, &[Mark])) {
        self.walks += 1;
        let cfg = self.cfg;
        self.piece(from.0, from.1, cfg.statements(from.0).len(), &mut each);
        while let Some(block) = self.stack.pop() {
            // After a guarded barrier at which the walk began, everything was visited.
            let end = if block == from.0 { from.1 } else { cfg.statements(block).len() };
            self.piece(block, 0, end, &mut each);
        }
    }

    /// Visits a block from a place up to a barrier at which control surely waits, or up to `end`.
    fn piece(&mut self, block: Block, start: usize, end: usize, each: &mut impl FnMut(Piece, &[Mark])) {
        let marks = &self.marks.at[block];
        let marks = &marks[marks.partition_point(|mark| (mark.place as usize) < start)..];
        let marks = &marks[..marks.partition_point(|mark| (mark.place as usize) < end)];
        let wait = marks.iter().position(|mark| mark.kind == MarkKind::Wait);
        let marks = wait.map_or(marks, |wait| &marks[..=wait]);
        self.steps += 1 + marks.len();
        let end = wait.map_or(end, |wait| marks[wait].place as usize + 1);
        each(Piece { block, start, end }, marks);
        if wait.is_none() {
            for &next in self.cfg.successors(block) {
                if self.seen_in[next] != self.walks {
                    self.seen_in[next] = self.walks;
                    self.stack.push(next);
                }
            }
        }
    }
}
