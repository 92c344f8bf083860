//! Kernels that run all warps of a block from barrier to barrier, in one function.
//!
//! Where all threads of a block come to the same barriers in the same order, nobody has to ask who waits and who is next:
//! the first warp runs up to a barrier, then the second one from where the first began, and when the last has come to the
//! barrier, the first goes on after it. So the code between two barriers is a region, and the compiled kernel a sequence of
//! loops over warps. A barrier costs what it takes to keep the registers of a warp that are live there and to fetch those of
//! the next: no switch of stacks, and a processor can begin with the next warp while it still computes for the one before.
//!
//! Registers that are the same in all warps are kept once for all of them, so that LLVM sees that they do not change from
//! one warp to the next. Those that are written once only need not be kept at all. The others are kept in memory, one place for each
//! warp, and are written only if they may have changed in the region that ends.
//!
//! If a warp is deoptimized, so are the others of its block: those before it stand at the barrier that ends the region, those
//! after it at the start of the region.

use ptx::analysis::{BarrierRegions, BitSet, Block, BlockScope, BlockUniformity, Region, RegionInputs, RegionStart};
use ptx::analysis::{Web, functions_with_barriers};
use ptx::entity::Id;
use ptx::ir::StmtId;
use ptx::ops::{Effect, Op};
use ptx::view::View;
use rustc_hash::{FxHashMap, FxHashSet};

use super::deopt::ResumePoint;
use super::function::{Execution, Lowering, register_align};
use crate::abi::calls::RuntimeFunction;
use crate::abi::context::field;
use crate::llvm::{BasicBlock, IntPredicate, Ty, Value};
use crate::options::Width;

/// A kernel in region loops, while it is lowered.
#[derive(Debug)]
pub(crate) struct RegionLoops<'c> {
    /// How many warps a block has.
    warps: u32,
    /// The barriers that end regions: after the first, the second region begins.
    barriers: Vec<RegionEnd>,
    /// The regions in which warps may come to the end of the kernel.
    last: Vec<usize>,
    /// Where each region begins, for one warp.
    begin: Vec<BasicBlock<'c>>,
    /// Where a warp starts with the kernel when its registers are zero.
    first: BasicBlock<'c>,
    /// Where registers are kept from one region to the next.
    homes: FxHashMap<Web, Home<'c>>,
    /// The warp that runs, in memory.
    warp: Value<'c>,
    /// The region that it runs, in memory.
    region: Value<'c>,
    /// The region that begins where the warps before it stand, in memory; that after the last if they have ended.
    reached: Value<'c>,
    /// Where all warps are deoptimized because the one that runs was; nothing if none is.
    deoptimize_all: Option<BasicBlock<'c>>,
}

/// A barrier, and what is kept there.
#[derive(Debug)]
struct RegionEnd {
    barrier: StmtId,
    /// The regions that end here, and which of what is kept may have changed in each.
    regions: Vec<(usize, FxHashSet<Web>)>,
    live: Vec<Kept>,
}

/// A register that is live at a barrier.
#[derive(Clone, Copy, Debug)]
struct Kept {
    web: Web,
    bits: u32,
    /// Whether it may have changed in a region that ends here.
    has_changed: bool,
    /// Whether it is the same in each lane of all warps.
    is_block_uniform: bool,
}

/// Where a register is kept.
#[derive(Clone, Copy, Debug)]
enum Home<'c> {
    /// One place for all warps: what it is in this region, and what it is for warps that have come to its end.
    Shared { now: Value<'c>, next: Value<'c> },
    /// One place for each warp, so many bytes from each other.
    Each { first: Value<'c>, stride: u64 },
}

/// A kernel with more barriers than this, or with more bytes to be kept, runs in other ways: the code would be large, and
/// what is kept should not be more than the caches hold.
const MOST_BARRIERS: usize = 64;
const MOST_BYTES: u64 = 128 << 10;
/// So does one without a barrier that has more statements than this: what is the same for all warps is then computed before
/// the first of them, which is worth it for few registers, and takes those of the processor away if they are many.
const MOST_ALONE: usize = 140;

/// Whether an instruction is a barrier for all threads of the block: `bar.sync 0`.
pub(crate) fn is_whole_barrier(view: &View<'_>) -> bool {
    let is_zero = |operand: &ptx::ir::Operand| matches!(operand, ptx::ir::Operand::Int(0) | ptx::ir::Operand::Hex(0));
    matches!(view.op(), Some(Op::BarSync | Op::BarrierSync))
        && view.inst.guard.is_none()
        && view.operands().len() == 1
        && view.operands().iter().all(is_zero)
}

impl<'c> Lowering<'_, '_, 'c> {
    /// How the kernel is run in region loops, if it can be.
    pub(crate) fn plan_region_loops(&mut self) -> Option<RegionLoops<'c>> {
        let options = self.unit.options;
        let may = options.region_loops && options.width == Width::Warp && !options.preempt && !options.count;
        let threads = u32::try_from(self.threads_of_block()?).ok()?;
        if !may || !self.function.is_entry() || threads == 0 || threads % 32 != 0 || !self.is_small() {
            return None;
        }
        let calls = self.unit.graph;
        let with_barriers = functions_with_barriers(self.unit.module, calls);
        let inputs = RegionInputs {
            cfg: &self.cfg,
            def_use: &self.def_use,
            liveness: &self.liveness,
            calls,
            with_barriers: &with_barriers,
        };
        let regions = BarrierRegions::of(self.unit.module, self.func, inputs);
        if !regions.is_exact() || !self.can_loop_over_warps() {
            return None;
        }
        let barriers = self.region_ends(&regions)?;
        let is_last = |&region: &Region| regions.facts(region).may_leave;
        let last = regions.iter().filter(is_last).map(Region::index).collect();
        let warps = threads / 32;
        if self.kept_bytes(&barriers) * u64::from(warps) > MOST_BYTES {
            return None;
        }
        let int = self.unit.context().int(32);
        let [warp, region, reached] = [(); 3].map(|()| self.alloca_zeroed(int, 4));
        let begin = regions.iter().map(|_| self.new_block("region")).collect();
        let (first, homes) = (self.new_block("first"), FxHashMap::default());
        Some(RegionLoops { warps, barriers, last, begin, first, homes, warp, region, reached, deoptimize_all: None })
    }

    /// Whether the kernel has few enough barriers or, without any, few enough statements.
    fn is_small(&self) -> bool {
        let views = || self.body.insts().filter_map(|(statement, _)| self.view(statement));
        match views().filter(|view| view.effect() == Some(Effect::Barrier)).count() {
            0 => self.spinning.is_empty() && views().count() <= MOST_ALONE,
            // A warp that waits for another one in the middle of a region is deoptimized with all others.
            barriers => barriers <= MOST_BARRIERS && (self.spinning.is_empty() || self.unit.options.speculate),
        }
    }

    /// Whether warps come to barriers in the same order, and nothing that they do makes them wait for each other elsewhere,
    /// or looks at the context for what differs from warp to warp.
    fn can_loop_over_warps(&self) -> bool {
        let Some(uniformity) = &self.uniformity else { return false };
        let mut with_barrier = FxHashSet::default();
        for &block in &self.layout.order {
            for &statement in self.cfg.statements(block) {
                let Some(view) = View::of(&self.unit.module.forms, self.body, statement) else { continue };
                match view.effect() {
                    Some(Effect::Barrier) => {
                        if !is_whole_barrier(&view) || uniformity.is_divergent(block) {
                            return false;
                        }
                        with_barrier.insert(block);
                    }
                    Some(Effect::AsyncCopy | Effect::AsyncGroup | Effect::Mbarrier | Effect::Stack) => return false,
                    Some(Effect::Call) if !matches!(self.execution(statement, &view), Execution::Never) => {
                        return false;
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

    fn block_uniformity(&self, scope: BlockScope) -> BlockUniformity {
        let facts = &self.unit.options.facts;
        BlockUniformity::of(self.unit.module, self.function, &self.cfg, &self.def_use, facts, scope)
    }

    /// The barriers, with what is kept at each. Nothing if something is live that is not a register.
    fn region_ends(&mut self, regions: &BarrierRegions) -> Option<Vec<RegionEnd>> {
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

    /// The number of the first thread of the warp that runs, if the kernel runs in region loops.
    pub(crate) fn first_thread_of_region(&self) -> Option<Value<'c>> {
        let loops = self.region_loops.as_ref()?;
        let int = self.unit.context().int(32);
        let builder = self.unit.builder;
        Some(builder.shl(builder.load(int, loops.warp, 4), int.constant(5)))
    }

    /// Begins with the first warp. What follows is the start of the kernel for one warp.
    pub(crate) fn begin_region_loops(&mut self) {
        let Some(loops) = &self.region_loops else { return };
        let (begin, first) = (loops.begin[0], loops.first);
        self.unit.builder.branch(begin);
        self.unit.builder.position_at_end(first);
    }

    /// Fills what could not be known before all registers were: where warps begin, and where they are deoptimized.
    pub(crate) fn fill_region_loops(&mut self) {
        self.fill_apart();
        let Some(loops) = &self.region_loops else { return };
        self.unit.builder.position_at_end(loops.begin[0]);
        self.zero_registers();
        self.begin_warp();
        self.unit.builder.branch(loops.first);
    }

    /// What is the same for each warp at the start of a region: all its lanes are there.
    fn begin_warp(&self) {
        self.unit.builder.store(self.entered, self.alive, 4);
    }

    /// Goes on with another warp.
    fn set_warp(&self, number: Value<'c>) {
        let loops = self.region_loops.as_ref().expect("the kernel runs in region loops");
        let builder = self.unit.builder;
        builder.store(number, loops.warp, 4);
        // For who asks in case of a fault.
        let first_thread = builder.offset(self.warp, self.unit.context().int(64).constant(field!(first_thread)));
        builder.store_beside(builder.shl(number, number.ty().constant(5)), first_thread, 4);
    }

    /// At a barrier: the next warp runs the region, or the first one goes on after the barrier, where all registers come from
    /// where they were kept. Says whether the kernel runs in region loops.
    pub(crate) fn end_region(&mut self) -> bool {
        let statement = self.statement;
        let Some(loops) = &self.region_loops else { return false };
        let index = loops.barriers.iter().position(|end| end.barrier == statement).expect("all barriers end regions");
        let live = loops.barriers[index].live.clone();
        let from = loops.barriers[index].regions.clone();
        let (reached, region, begin) = (loops.reached, loops.region, loops.begin[index + 1]);
        self.keep_all(&live, &from);
        let builder = self.unit.builder;
        let int = self.unit.context().int(32);
        let number = int.constant(index as u64 + 1);
        builder.store(number, reached, 4);
        let all = self.new_block("all");
        self.next_warp(from.iter().map(|&(region, _)| region), all);
        builder.position_at_end(all);
        self.set_warp(int.zero());
        builder.store(number, region, 4);
        for kept in live.iter().filter(|kept| kept.has_changed) {
            if let Home::Shared { now, .. } = self.home(kept) {
                let (room, ty) = self.room_of_web(kept.web, kept.bits);
                let align = register_align(ty);
                builder.store(builder.load(ty, room, align), now, align);
            }
        }
        builder.branch(begin);
        builder.position_at_end(begin);
        self.begin_warp();
        for kept in &live {
            self.fetch(kept, true);
        }
        true
    }

    /// At the end of the kernel for a warp: the next one runs the region, if there is one. What follows is for when none is
    /// left.
    pub(crate) fn end_last_region(&mut self) {
        let Some(loops) = &self.region_loops else { return };
        let (from, reached) = (loops.last.clone(), loops.reached);
        let builder = self.unit.builder;
        let int = self.unit.context().int(32);
        builder.store(int.constant(loops.begin.len() as u64), reached, 4);
        let all = self.new_block("all");
        self.next_warp(from.into_iter(), all);
        builder.position_at_end(all);
        self.set_warp(int.zero());
    }

    /// Runs a region for the next warp, or goes on elsewhere if there is none.
    fn next_warp(&mut self, from: impl Iterator<Item = usize>, otherwise: BasicBlock<'c>) {
        let loops = self.region_loops.as_ref().expect("the kernel runs in region loops");
        let builder = self.unit.builder;
        let int = self.unit.context().int(32);
        let next = builder.add(builder.load(int, loops.warp, 4), int.constant(1));
        let is_over = builder.icmp(IntPredicate::LLVMIntEQ, next, int.constant(loops.warps.into()));
        let another = self.new_block("another");
        builder.branch_if(is_over, otherwise, another);
        builder.position_at_end(another);
        self.set_warp(next);
        let cases: Vec<_> = from.map(|region| (region as u64, loops.begin[region])).collect();
        match cases.split_first() {
            Some((&(_, only), [])) => builder.branch(only),
            Some((&(_, first), others)) => builder.switch(builder.load(int, loops.region, 4), first, others),
            None => builder.unreachable(),
        }
    }

    /// Where a register is kept.
    fn home(&mut self, kept: &Kept) -> Home<'c> {
        if let Some(&home) = self.region_loops.as_ref().and_then(|loops| loops.homes.get(&kept.web)) {
            return home;
        }
        let (_, ty) = self.room_of_web(kept.web, kept.bits);
        let align = register_align(ty);
        let home = if kept.is_block_uniform {
            Home::Shared { now: self.alloca(ty, align), next: self.alloca(ty, align) }
        } else {
            let stride = bytes_of(ty).next_multiple_of(align.into());
            let warps = self.region_loops.as_ref().map_or(0, |loops| loops.warps);
            let all = self.unit.context().int(8).array(stride * u64::from(warps));
            Home::Each { first: self.alloca(all, align), stride }
        };
        self.region_loops.as_mut().expect("the kernel runs in region loops").homes.insert(kept.web, home);
        home
    }

    /// Where a register of the warp that runs is kept, if each has a place.
    fn home_of_warp(&self, first: Value<'c>, stride: u64) -> Value<'c> {
        let loops = self.region_loops.as_ref().expect("the kernel runs in region loops");
        let (builder, context) = (self.unit.builder, self.unit.context());
        let warp = builder.zext(builder.load(context.int(32), loops.warp, 4), context.int(64));
        builder.offset(first, builder.mul(warp, warp.ty().constant(stride)))
    }

    /// At the end of a region: keeps the registers of the warp that runs.
    fn keep_all(&mut self, live: &[Kept], from: &[(usize, FxHashSet<Web>)]) {
        let changes_in =
            |kept: &Kept, region: &(usize, FxHashSet<Web>)| kept.is_block_uniform || region.1.contains(&kept.web);
        let (always, sometimes): (Vec<&Kept>, Vec<&Kept>) = live
            .iter()
            .filter(|kept| kept.has_changed)
            .partition(|kept| from.iter().all(|region| changes_in(kept, region)));
        for kept in always {
            self.keep(kept);
        }
        if sometimes.is_empty() {
            return;
        }
        let (builder, int) = (self.unit.builder, self.unit.context().int(32));
        let region = builder.load(int, self.region_loops.as_ref().expect("the kernel runs in region loops").region, 4);
        let kept = self.new_block("kept");
        let cases: Vec<_> = from.iter().map(|(region, _)| (*region as u64, self.new_block("keep"))).collect();
        builder.switch(region, cases[0].1, &cases[1..]);
        for ((_, block), region) in cases.iter().zip(from) {
            builder.position_at_end(*block);
            for register in sometimes.iter().filter(|kept| changes_in(kept, region)) {
                self.keep(register);
            }
            builder.branch(kept);
        }
        builder.position_at_end(kept);
    }

    /// Keeps a register of the warp that runs.
    fn keep(&mut self, kept: &Kept) {
        if self.place_of_web(kept.web, kept.bits).constant.is_some() {
            return;
        }
        let home = self.home(kept);
        let (room, ty) = self.room_of_web(kept.web, kept.bits);
        let (builder, align) = (self.unit.builder, register_align(ty));
        let value = builder.load(ty, room, align);
        match home {
            // Nearly nobody asks for it: it is not worth a register of the processor.
            Home::Shared { next, .. } => builder.volatile_store(value, next, align),
            Home::Each { first, stride } => builder.store(value, self.home_of_warp(first, stride), align),
        }
    }

    /// Fetches a register of the warp that runs, at the start of a region or, for who comes to the end of one, there.
    fn fetch(&mut self, kept: &Kept, is_start: bool) {
        if self.place_of_web(kept.web, kept.bits).constant.is_some() {
            return;
        }
        let home = self.home(kept);
        let (room, ty) = self.room_of_web(kept.web, kept.bits);
        let (builder, align) = (self.unit.builder, register_align(ty));
        let value = match home {
            Home::Shared { next, .. } if kept.has_changed && !is_start => builder.volatile_load(ty, next, align),
            Home::Shared { now, .. } => builder.load(ty, now, align),
            Home::Each { first, stride } => builder.load(ty, self.home_of_warp(first, stride), align),
        };
        builder.store(value, room, align);
    }

    /// The warp that runs was written down, to be deoptimized: so are the others, if the kernel runs in region loops. Says whether it
    /// does.
    pub(crate) fn deoptimize_block(&mut self) -> bool {
        let Some(loops) = &self.region_loops else { return false };
        let deoptimize_all = loops.deoptimize_all.unwrap_or_else(|| self.new_block("deoptimize_all"));
        self.region_loops.as_mut().expect("it is there").deoptimize_all = Some(deoptimize_all);
        self.unit.builder.branch(deoptimize_all);
        let unused = self.new_block("unused");
        self.unit.builder.position_at_end(unused);
        true
    }

    /// Writes down all warps but the one that was, and hands them over to the runtime.
    fn fill_apart(&mut self) {
        let Some(loops) = &self.region_loops else { return };
        let Some(deoptimize_all) = loops.deoptimize_all else { return };
        let (warps, warp, region, reached) = (loops.warps, loops.warp, loops.region, loops.reached);
        let count = loops.begin.len();
        let (builder, int) = (self.unit.builder, self.unit.context().int(32));
        let [each, other, before, after, next, done] =
            ["each", "other", "before", "after", "next", "done"].map(|name| self.new_block(name));
        builder.position_at_end(deoptimize_all);
        let own = builder.load(int, warp, 4);
        self.set_warp(int.zero());
        builder.branch(each);
        builder.position_at_end(each);
        let number = builder.load(int, warp, 4);
        builder.branch_if(builder.icmp(IntPredicate::LLVMIntEQ, number, int.constant(warps.into())), done, other);
        builder.position_at_end(other);
        let is_before = builder.icmp(IntPredicate::LLVMIntULT, number, own);
        let not_before = self.new_block("not_before");
        builder.branch_if(is_before, before, not_before);
        builder.position_at_end(not_before);
        builder.branch_if(builder.icmp(IntPredicate::LLVMIntEQ, number, own), next, after);
        let ends: Vec<_> = (1..count).map(|region| (region as u64, self.new_block("at_end"))).collect();
        let starts: Vec<_> = (0..count).map(|region| (region as u64, self.new_block("at_start"))).collect();
        builder.position_at_end(before);
        // Those that have ended are not written down.
        builder.switch(builder.load(int, reached, 4), next, &ends);
        builder.position_at_end(after);
        builder.switch(builder.load(int, region, 4), next, &starts);
        for (cases, is_start) in [(ends, false), (starts, true)] {
            for (region, block) in cases {
                builder.position_at_end(block);
                let point = self.fetch_all(region as usize, is_start);
                self.save_warp_state(point);
                builder.branch(next);
            }
        }
        builder.position_at_end(next);
        self.set_warp(builder.add(number, int.constant(1)));
        builder.branch(each);
        builder.position_at_end(done);
        self.call_fault(RuntimeFunction::Deoptimize, &[self.warp]);
        builder.unreachable();
    }

    /// Fetches all registers of the warp that runs, which is at the start of a region, or at the barrier before it. Gives
    /// where that is.
    fn fetch_all(&mut self, region: usize, is_start: bool) -> ResumePoint {
        let Some(index) = region.checked_sub(1) else {
            self.zero_registers();
            return ResumePoint::Block(self.cfg.entry());
        };
        let end = &self.region_loops.as_ref().expect("the kernel runs in region loops").barriers[index];
        let (barrier, live) = (end.barrier, end.live.clone());
        for kept in &live {
            self.fetch(kept, is_start);
        }
        if is_start { ResumePoint::After(barrier) } else { ResumePoint::Statement(barrier) }
    }
}

fn bytes_of(ty: Ty<'_>) -> u64 {
    u64::from(ty.bits().div_ceil(8).next_power_of_two()) * u64::from(ty.lanes().unwrap_or(1))
}
