//! What is known of barrier regions: where they lead, and what has to be saved where they start.

use super::barrier_regions::{Region, RegionFacts, RegionInputs, RegionStart};
use super::dataflow::MAX_BITS;
use super::local_memory::LocalMemory;
use super::region_walk::{Mark, MarkKind, Marks, RegionWalk};
use crate::entity::{Id, Map};
use crate::ir::{FuncId, Module, Reg, StmtId};
use crate::types::Type;

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
        let mut points = Vec::new();
        // Nothing was written before the first region.
        for (region, start) in self.starts.iter() {
            if let RegionStart::Barrier(statement) = start {
                let (block, place) = cfg.place_of(*statement).expect("barriers come from the graph");
                points.push((region, block, place));
            }
        }
        if points.is_empty() {
            return Some(());
        }
        let locals = LocalMemory::of(self.module, self.function, cfg);
        let work: usize = points.iter().map(|&(_, block, _)| 1 + locals.uses_in(block)).sum();
        let words = locals.variables().len().div_ceil(64);
        if work.saturating_mul(words) > max_work || words.saturating_mul(64 * cfg.len()) > MAX_BITS {
            return None;
        }
        locals.alive_at(cfg, &points, |region, variable| facts[region.index()].locals.push(variable));
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
