//! What is known of barrier regions: where they lead, and what has to be saved where they start.

use super::bitset::BitSet;
use super::callgraph::CallGraph;
use super::cfg::Cfg;
use super::dataflow::MAX_BITS;
use super::defuse::DefUse;
use super::graph::Block;
use super::liveness::Liveness;
use super::local_memory::LocalMemory;
use super::region_walk::{Mark, MarkKind, Marks, RegionWalk};
use crate::entity::{Id, Map, define_id};
use crate::ir::{FuncId, Module, Reg, StmtId, Symbol};
use crate::types::Type;

define_id! {
    /// A barrier region of a function, or the point at which it starts.
    Region "region"
}

/// Where a region starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegionStart {
    /// Where control enters the function.
    Entry,
    /// After a barrier.
    Barrier(StmtId),
}

impl RegionStart {
    /// The block and place at which the code of the region begins.
    pub(super) fn place(self, cfg: &Cfg) -> (Block, usize) {
        match self {
            Self::Entry => (cfg.entry(), 0),
            Self::Barrier(statement) => {
                let (block, place) = cfg.place_of(statement).expect("barriers come from the graph");
                (block, place + 1)
            }
        }
    }
}

/// What is known of a region.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RegionFacts {
    /// The regions that start at the barriers to which control may come next.
    pub next: Vec<Region>,
    /// Whether control may leave the function without coming to another barrier.
    pub may_leave: bool,
    /// Whether a call in the region may wait at a barrier of the block, so that it is not one region really.
    pub calls_barrier: bool,
    /// Instructions in the region that arrive at a barrier of the block without waiting.
    pub arrivals: Vec<StmtId>,
    /// Instructions in the region that arrive, or wait, at the barrier of the cluster.
    pub cluster_barriers: Vec<StmtId>,
    /// The registers other than predicates that are live at the start, in no particular order.
    pub live: Vec<Reg>,
    /// The predicates that are live at the start, in no particular order.
    pub predicates: Vec<Reg>,
    /// Whether the carry flag is live at the start.
    pub carry: bool,
    /// The `.local` variables that may have been written before the start and may be read after it.
    pub locals: Vec<Symbol>,
}

/// The analyses that barrier regions rest on.
#[derive(Clone, Copy, Debug)]
pub struct RegionInputs<'a> {
    /// The control-flow graph of the function.
    pub cfg: &'a Cfg,
    /// Reads and writes of the function.
    pub def_use: &'a DefUse,
    /// Live registers of the function.
    pub liveness: &'a Liveness,
    /// The calls of the module.
    pub calls: &'a CallGraph,
    /// The functions of the module that may wait: [`functions_with_barriers`](super::functions_with_barriers).
    pub with_barriers: &'a BitSet<FuncId>,
}

pub(super) struct FactFinder<'a> {
    pub(super) module: &'a Module,
    pub(super) function: FuncId,
    pub(super) inputs: RegionInputs<'a>,
    pub(super) marks: &'a Marks,
    pub(super) starts: &'a Map<Region, RegionStart>,
    pub(super) region_at: &'a Map<StmtId, Option<Region>>,
}

impl FactFinder<'_> {
    /// The facts of each region; nothing if that is too much work.
    pub(super) fn exact(&self, max_work: usize) -> Option<Vec<RegionFacts>> {
        let mut facts = vec![RegionFacts::default(); self.starts.len()];
        self.find_ends(&mut facts, max_work)?;
        self.find_live_registers(&mut facts, max_work)?;
        self.find_locals(&mut facts, max_work)?;
        Some(facts)
    }

    fn find_ends(&self, facts: &mut [RegionFacts], max_work: usize) -> Option<()> {
        let cfg = self.inputs.cfg;
        let mut walk = RegionWalk::new(cfg, self.marks);
        for (facts, start) in facts.iter_mut().zip(self.starts.values()) {
            walk.run(start.place(cfg), |piece, marks| {
                for mark in marks {
                    self.add_mark(facts, mark, cfg.statements(piece.block)[mark.place as usize]);
                }
                let waits = marks.last().is_some_and(|mark| mark.kind == MarkKind::Wait);
                facts.may_leave |= !waits && cfg.is_exit(piece.block);
            });
            if walk.steps > max_work {
                return None;
            }
            facts.next.sort_unstable();
            facts.arrivals.sort_unstable();
            facts.cluster_barriers.sort_unstable();
        }
        Some(())
    }

    fn add_mark(&self, facts: &mut RegionFacts, mark: &Mark, statement: StmtId) {
        match mark.kind {
            // Barriers that cannot be reached start no region.
            MarkKind::Wait | MarkKind::GuardedWait => facts.next.extend(self.region_at[statement]),
            MarkKind::Arrival => facts.arrivals.push(statement),
            MarkKind::Cluster => facts.cluster_barriers.push(statement),
            MarkKind::WaitingCall => facts.calls_barrier = true,
        }
    }

    fn find_live_registers(&self, facts: &mut [RegionFacts], max_work: usize) -> Option<()> {
        let RegionInputs { cfg, def_use, liveness, .. } = self.inputs;
        self.add_live(&mut facts[0], liveness.live_in(cfg.entry()));
        facts[0].carry = liveness.is_carry_live_in(cfg.entry());
        let mut found = 0;
        let mut walk = liveness.walk(cfg, def_use, cfg.entry());
        for &block in cfg.graph().reverse_post_order() {
            let mut waits = self.marks.waits(cfg, block).count();
            if waits == 0 {
                continue;
            }
            walk.restart(block);
            while waits > 0
                && let Some((statement, live)) = walk.previous()
            {
                let Some(region) = self.region_at[statement] else { continue };
                waits -= 1;
                let facts = &mut facts[region.index()];
                self.add_live(facts, live.iter());
                facts.carry = live.contains_carry();
                found += facts.live.len() + facts.predicates.len();
                if found > max_work {
                    return None;
                }
            }
        }
        Some(())
    }

    fn add_live(&self, facts: &mut RegionFacts, regs: impl Iterator<Item = Reg>) {
        let function = &self.module.functions[self.function];
        for reg in regs {
            let is_predicate = function.reg_type(reg) == Type::Pred;
            if is_predicate { &mut facts.predicates } else { &mut facts.live }.push(reg);
        }
    }

    fn find_locals(&self, facts: &mut [RegionFacts], max_work: usize) -> Option<()> {
        let cfg = self.inputs.cfg;
        let (mut regions, mut points) = (Vec::new(), Vec::new());
        // Nothing was written before the first region.
        for (region, start) in self.starts.iter() {
            if let RegionStart::Barrier(statement) = start {
                regions.push(region);
                points.push(cfg.place_of(*statement).expect("barriers come from the graph"));
            }
        }
        if points.is_empty() {
            return Some(());
        }
        let locals = LocalMemory::of(self.module, self.function, cfg);
        let work: usize = points.iter().map(|&(block, _)| 1 + locals.uses_in(block)).sum();
        let words = locals.variables().len().div_ceil(64);
        if work.saturating_mul(words) > max_work || words.saturating_mul(64 * cfg.len()) > MAX_BITS {
            return None;
        }
        locals.alive_at(cfg, &points, |point, variable| facts[regions[point].index()].locals.push(variable));
        Some(())
    }

    /// Facts that hold in every region, whatever it is.
    pub(super) fn conservative(&self) -> RegionFacts {
        let cfg = self.inputs.cfg;
        let mut facts = RegionFacts::default();
        for (block, mark) in self.marks.all() {
            self.add_mark(&mut facts, &mark, cfg.statements(block)[mark.place as usize]);
        }
        facts.may_leave = true;
        facts.next.sort_unstable();
        self.add_live(&mut facts, self.module.functions[self.function].regs.ids());
        facts.carry = true;
        facts.locals = LocalMemory::of(self.module, self.function, cfg).variables().to_vec();
        facts
    }
}
