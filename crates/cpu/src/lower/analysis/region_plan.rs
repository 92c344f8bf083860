//! Which kernels run all warps of a block from barrier to barrier, and what is kept at each barrier (see `region_loops`).

use ptx::analysis::{BarrierRegions, BitSet, Block, BlockScope, BlockUniformity, Region, RegionInputs, RegionStart};
use ptx::analysis::{Web, functions_with_barriers};
use ptx::entity::Id;
use ptx::ir::{FuncId, StmtId};
use ptx::ops::{Effect, Op};
use ptx::view::{Callee, View};
use rustc_hash::{FxHashMap, FxHashSet};

use super::resume_points::{ResumePoint, is_whole_barrier};
use super::{Analyses, Execution};
use crate::lower::memory_map::MemoryMap;
use crate::lower::pragma::{AWAITS_BLOCKS, NOSYNC, SIDE, has_pragma};
use crate::options::Width;

/// How a kernel is run in region loops.
#[derive(Debug)]
pub(crate) struct RegionPlan {
    /// How many warps a block has.
    pub(crate) warps: u32,
    /// How many regions there are.
    pub(crate) regions: usize,
    /// The barriers that end regions: after the first, the second region begins.
    pub(crate) barriers: Vec<RegionEnd>,
    /// The regions in which warps may come to the end of the kernel.
    pub(crate) last: Vec<usize>,
}

/// A barrier, and what is kept there.
#[derive(Debug)]
pub(crate) struct RegionEnd {
    pub(crate) barrier: StmtId,
    /// The regions that end here, and which of what is kept may have changed in each.
    pub(crate) regions: Vec<(usize, FxHashSet<Web>)>,
    pub(crate) live: Vec<Kept>,
}

/// A register that is live at a barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub(crate) web: Web,
    pub(crate) bits: u32,
    /// Whether it may have changed in a region that ends here.
    pub(crate) has_changed: bool,
    /// Whether it is the same in each lane of all warps.
    pub(crate) is_block_uniform: bool,
}

/// A kernel with more barriers than this, or with more bytes to be kept, runs in other ways: the code would be large, and
/// what is kept should not be more than the caches hold.
const MOST_BARRIERS: usize = 64;
const MOST_BYTES: u64 = 128 << 10;
/// So does one without a barrier that has more statements than this: what is the same for all warps is then computed before
/// the first of them, which is worth it for few registers, and takes those of the processor away if they are many.
const MOST_ALONE: usize = 140;

impl Analyses<'_> {
    /// How the kernel is run in region loops, if it can be.
    pub(crate) fn plan_region_loops(&self, map: &MemoryMap) -> Option<RegionPlan> {
        let options = self.options;
        let may = options.region_loops && options.width == Width::Warp && !options.preempt;
        let threads = u32::try_from(self.threads_of_block()?).ok()?;
        if !may || !self.function.is_entry() || threads == 0 || threads % 32 != 0 || !self.is_small() {
            return None;
        }
        let with_barriers = functions_with_barriers(self.module, self.graph);
        let inputs = RegionInputs {
            cfg: &self.cfg,
            def_use: &self.def_use,
            liveness: &self.liveness,
            calls: self.graph,
            with_barriers: &with_barriers,
        };
        let regions = BarrierRegions::of(self.module, self.func, inputs);
        if !regions.is_exact() || !self.can_loop_over_warps(map) {
            return None;
        }
        let barriers = self.region_ends(&regions)?;
        let is_last = |&region: &Region| regions.facts(region).may_leave;
        let last = regions.iter().filter(is_last).map(Region::index).collect();
        let warps = threads / 32;
        if self.kept_bytes(&barriers) * u64::from(warps) > MOST_BYTES {
            return None;
        }
        Some(RegionPlan { warps, regions: regions.iter().count(), barriers, last })
    }

    /// Whether the kernel has few enough barriers or, without any, few enough statements.
    fn is_small(&self) -> bool {
        let views = || self.body.insts().filter_map(|(statement, _)| self.view(statement));
        match views().filter(|view| view.effect() == Some(Effect::Barrier)).count() {
            0 => self.spinning.is_empty() && views().count() <= MOST_ALONE,
            // A warp that waits for another one in the middle of a region is deoptimized with all others.
            barriers => barriers <= MOST_BARRIERS && (self.spinning.is_empty() || self.options.speculate),
        }
    }

    /// Whether warps come to barriers in the same order, and nothing that they do makes them wait for each other elsewhere,
    /// or looks at the context for what differs from warp to warp.
    fn can_loop_over_warps(&self, map: &MemoryMap) -> bool {
        let Some(uniformity) = &self.uniformity else { return false };
        let mut with_barrier = FxHashSet::default();
        for &block in &self.layout.order {
            for &statement in self.cfg.statements(block) {
                let Some(view) = self.view(statement) else { continue };
                match view.effect() {
                    Some(Effect::Barrier) => {
                        if !is_whole_barrier(&view) || uniformity.is_divergent(block) {
                            return false;
                        }
                        with_barrier.insert(block);
                    }
                    Some(Effect::AsyncCopy | Effect::AsyncGroup | Effect::Mbarrier | Effect::Stack) => return false,
                    Some(Effect::Call) => {
                        let is_never = matches!(self.execution(statement, &view), Execution::Never);
                        if !is_never && !self.is_side_call(&view, map) {
                            return false;
                        }
                    }
                    Some(Effect::Control) if view.op() == Some(Op::Nanosleep) => return false,
                    _ => {}
                }
            }
        }
        if with_barrier.is_empty() {
            return true;
        }
        let block_uniformity = self.block_uniformity(BlockScope::Threads);
        with_barrier.into_iter().all(|block| !block_uniformity.is_divergent(block))
    }

    /// Whether a call can be made in the middle of a region, for one warp of many. What the function looks at in the context
    /// must be what `region_loops` writes there for each warp: the first thread, but not local memory.
    fn is_side_call(&self, view: &View<'_>, map: &MemoryMap) -> bool {
        let Some(Callee::Direct(func)) = view.callee() else { return false };
        let func = self.graph.resolve(func);
        let function = &self.module.functions[func];
        let Some(body) = &function.body else { return false };
        let has = |pragma| has_pragma(self.module, body, pragma);
        // Twins of blocks come to the same places in the same order.
        let has_pragmas = has(SIDE) && (has(NOSYNC) || has(AWAITS_BLOCKS));
        let is_plain = |func: FuncId| {
            let body = self.module.functions[func].body.as_ref();
            map.frame(func).local == 0
                && body.is_some_and(|body| {
                    body.insts().filter_map(|(id, _)| View::of(&self.module.forms, body, id)).all(|view| {
                        let is_direct =
                            view.effect() != Some(Effect::Call) || matches!(view.callee(), Some(Callee::Direct(_)));
                        is_direct && view.op() != Some(Op::Exit) && view.effect() != Some(Effect::Stack)
                    })
                })
        };
        has_pragmas && function.returns.is_empty() && self.graph.reachable_from(func).iter().all(is_plain)
    }

    fn block_uniformity(&self, scope: BlockScope) -> BlockUniformity {
        let facts = &self.options.facts;
        BlockUniformity::of(self.module, self.function, &self.cfg, &self.def_use, facts, scope)
    }

    /// The barriers, with what is kept at each. Nothing if something is live that is not a register.
    fn region_ends(&self, regions: &BarrierRegions) -> Option<Vec<RegionEnd>> {
        if regions.iter().nth(1).is_none() {
            // Without barriers there is one region.
            return Some(Vec::new());
        }
        let block_uniformity = self.block_uniformity(BlockScope::Lanes);
        let once = self.written_once();
        let mut ends = Vec::new();
        for region in regions.iter().skip(1) {
            let RegionStart::Barrier(barrier) = regions.start(region) else { return None };
            let facts = regions.facts(region);
            if facts.carry {
                return None;
            }
            let leads_here = |other: &Region| regions.facts(*other).next.contains(&region);
            let ending: Vec<_> = regions
                .iter()
                .filter(leads_here)
                .map(|other| (other.index(), self.changed_between(regions, other, barrier)))
                .collect();
            let mut live = Vec::new();
            for &reg in facts.live.iter().chain(&facts.predicates) {
                let Some(web) = self.web_at(ResumePoint::Statement(barrier), reg) else { continue };
                let is_block_uniform = block_uniformity.is_block_uniform(reg);
                if is_block_uniform && once.contains(&web) {
                    continue;
                }
                let has_changed = ending.iter().any(|(_, changed)| changed.contains(&web));
                live.push(Kept { web, bits: self.register_bits(reg), has_changed, is_block_uniform });
            }
            live.sort_unstable_by_key(|kept| kept.web.index());
            ends.push(RegionEnd { barrier, regions: ending, live });
        }
        Some(ends)
    }

    /// The webs that a thread writes at most once, and does not read before.
    fn written_once(&self) -> FxHashSet<Web> {
        let uniformity = self.uniformity.as_ref().expect("a warp has webs");
        // A cycle is one piece of the order.
        let mut is_repeated = BitSet::new(self.cfg.len());
        for (end, &block) in self.layout.order.iter().enumerate() {
            for &target in self.cfg.successors(block) {
                let start = self.layout.position(target);
                self.layout.order[start.min(end + 1)..=end].iter().for_each(|&other| {
                    is_repeated.insert(other);
                });
            }
        }
        let mut writes: FxHashMap<Web, u32> = FxHashMap::default();
        for &block in &self.layout.order {
            // Twice stands for often.
            let times = if is_repeated.contains(block) { 2 } else { 1 };
            for &statement in self.cfg.statements(block) {
                for web in self.def_use.writes(statement).iter().filter_map(|&reg| uniformity.written(statement, reg)) {
                    *writes.entry(web).or_default() += times;
                }
            }
        }
        let entry = self.cfg.entry();
        let is_unread = |web: Web| !self.liveness.is_live_in(entry, uniformity.reg_of(web));
        writes.into_iter().filter(|&(web, times)| times == 1 && is_unread(web)).map(|(web, _)| web).collect()
    }

    /// The webs that may be written in a region that ends at a barrier.
    fn changed_between(&self, regions: &BarrierRegions, region: Region, barrier: StmtId) -> FxHashSet<Web> {
        let uniformity = self.uniformity.as_ref().expect("a warp has webs");
        let (start, mut first, mut webs) = match regions.start(region) {
            RegionStart::Entry => {
                // What is read before it is written is zero then, and kept nowhere.
                let entry = self.cfg.entry();
                let is_zero = |web: &Web| self.liveness.is_live_in(entry, uniformity.reg_of(*web));
                (entry, 0, uniformity.webs().filter(is_zero).collect::<FxHashSet<Web>>())
            }
            RegionStart::Barrier(before) => {
                let (block, place) = self.cfg.place_of(before).expect("barriers are in blocks");
                (block, place + 1, FxHashSet::default())
            }
        };
        let mut changed = FxHashSet::default();
        let mut at_block: FxHashMap<Block, FxHashSet<Web>> = FxHashMap::default();
        let mut left = Vec::new();
        let mut block = start;
        loop {
            let mut goes_on = true;
            for &statement in &self.cfg.statements(block)[first..] {
                if regions.at_barrier(statement).is_some() {
                    if statement == barrier {
                        changed.extend(webs.iter().copied());
                    }
                    goes_on = false;
                    break;
                }
                let writes = self.def_use.writes(statement);
                webs.extend(writes.iter().filter_map(|&reg| uniformity.written(statement, reg)));
            }
            for &next in self.cfg.successors(block).iter().filter(|_| goes_on) {
                let is_new = !at_block.contains_key(&next);
                let known = at_block.entry(next).or_default();
                let before = known.len();
                known.extend(&webs);
                if is_new || known.len() > before {
                    left.push(next);
                }
            }
            let Some(next) = left.pop() else { return changed };
            (block, first, webs) = (next, 0, at_block[&next].clone());
        }
    }

    /// How many bytes are kept for each warp, at most.
    fn kept_bytes(&self, barriers: &[RegionEnd]) -> u64 {
        let all: FxHashMap<Web, u32> =
            barriers.iter().flat_map(|end| &end.live).map(|kept| (kept.web, kept.bits)).collect();
        all.values().map(|&bits| 32 * u64::from(bits.div_ceil(8))).sum()
    }
}
