//! The order in which a warp runs the blocks of a function, and where its lanes may wait meanwhile.
//!
//! Blocks run in a fixed order. Each has a set of lanes that wait for it; a branch adds lanes to the sets of its targets,
//! and a block without lanes is passed over. The order is one in which all edges lead forwards except those that close
//! a cycle, and in which loops are in one piece. So lanes that part at a branch meet again as early as control flow
//! allows, without a stack, and in any graph, reducible or not.
//!
//! A cycle is closed at its *end*, the last block of a loop, or with an edge back to some block: when it has run, and lanes
//! wait at that block, control goes back there. Lanes that continue a loop early wait for the others.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use ptx::analysis::{BitSet, Block, Cfg, DominatorTree, Liveness, LoopId, Loops, Uniformity};
use ptx::entity::Map;
use ptx::ir::Reg;

use super::reconvergence::{PendingBlocks, WhileRunning};

/// The order of the blocks of a function.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The blocks that can be reached, in the order in which they run.
    pub(crate) order: Vec<Block>,
    /// The place of each block in the order.
    position: Map<Block, Option<u32>>,
    /// The place of the end of the cycle that goes back to each block.
    ends: Map<Block, Option<u32>>,
    /// The blocks to go back to, by the place of the end of their cycle, the latest first.
    back_at: Vec<Vec<Block>>,
    pending: WhileRunning,
    /// What comes next, by place.
    next: Vec<Next>,
    /// The registers that are live at the start of any block, once somebody has asked.
    live_anywhere: OnceCell<Rc<BitSet<Reg>>>,
}

impl Layout {
    /// `uniformity` is nothing where only one lane runs.
    pub(crate) fn of(cfg: &Cfg, uniformity: Option<&Uniformity>) -> Self {
        let graph = cfg.graph();
        let dominators = DominatorTree::dominators(graph);
        let loops = Loops::of(graph, &dominators);
        let order = loop_order(cfg, &loops);
        let mut position = Map::filled(cfg.len(), None);
        for (place, &block) in order.iter().enumerate() {
            position[block] = Some(place as u32);
        }
        // The last place from which an edge goes back to a block, or the last of the loop that the block is the start of:
        // an edge back may come from the middle of an inner loop, where other lanes go on.
        let mut ends: Map<Block, Option<u32>> = Map::filled(cfg.len(), None);
        for (place, &block) in order.iter().enumerate() {
            for &target in cfg.successors(block) {
                if position[target].is_some_and(|target| target <= place as u32) {
                    ends[target] = Some(place as u32);
                }
            }
        }
        for id in loops.iter() {
            let last = loops.members(id).iter().filter_map(|&member| position[member]).max();
            let end = &mut ends[loops.header(id)];
            *end = last.max(*end);
        }
        let mut back_at = vec![Vec::new(); order.len()];
        for &block in order.iter().rev() {
            if let Some(end) = ends[block] {
                back_at[end as usize].push(block);
            }
        }
        let pending = PendingBlocks::of(cfg, uniformity, &dominators, &loops, &position, &ends, &order);
        let next = next_steps(&order, &position, &ends, &pending.first_places);
        Self { order, position, ends, back_at, pending: pending.while_running, next, live_anywhere: OnceCell::new() }
    }

    /// The place of a block that can be reached.
    pub(crate) fn position(&self, block: Block) -> usize {
        self.position[block].expect("only blocks that can be reached are asked for") as usize
    }

    /// The blocks that control goes back to when the block at this place has run and lanes wait there.
    pub(crate) fn back_at(&self, place: usize) -> &[Block] {
        &self.back_at[place]
    }

    /// What comes next after the block at a place has run.
    pub(crate) fn after_block(&self, place: usize) -> Option<Step> {
        self.next[place].after_block
    }

    /// What comes next after a step that went nowhere.
    pub(crate) fn after_step(&self, step: Step) -> Option<Step> {
        match step {
            Step::Test(place) => self.next[place].after_test,
            Step::Cycle(place) => self.next[place].after_cycle,
        }
    }

    /// Whether a target runs right after a block, because no lane can wait anywhere in between.
    pub(crate) fn is_next(&self, block: Block, target: Block) -> bool {
        let (here, there) = (self.position(block), self.position(target));
        // Back: everything up to the end of the cycle runs before.
        let end = if there > here { there } else { self.cycle_end(target).expect("an edge back ends a cycle") + 1 };
        self.pending_while(block).all(|other| {
            let runs_before = (here + 1..end).contains(&self.position(other));
            let goes_back_before = self.cycle_end(other).is_some_and(|place| (here..end).contains(&place));
            other == target || !runs_before && !goes_back_before
        })
    }

    /// The place of the last block of the cycle that goes back to this one, if there is any.
    pub(crate) fn cycle_end(&self, block: Block) -> Option<usize> {
        self.ends[block].map(|end| end as usize)
    }

    /// The blocks at which lanes may wait while a block runs for other lanes, by place.
    pub(crate) fn pending_while(&self, block: Block) -> impl Iterator<Item = Block> {
        let all: &[Block] = match &self.pending {
            WhileRunning::At(lists) => &lists[block],
            WhileRunning::Anywhere(divergent) if divergent.contains(block) => &self.order,
            WhileRunning::Anywhere(_) => &[],
        };
        all.iter().copied().filter(move |&other| other != block)
    }

    /// Whether lanes may wait at `other` while `block` runs for other lanes.
    pub(crate) fn may_wait(&self, block: Block, other: Block) -> bool {
        match &self.pending {
            WhileRunning::At(lists) => lists[block].contains(&other),
            WhileRunning::Anywhere(divergent) => block != other && divergent.contains(block),
        }
    }

    /// The registers that lanes elsewhere may still need while a block runs; nothing if no lane is elsewhere.
    pub(crate) fn kept_registers(
        &self,
        liveness: &Liveness,
        registers: usize,
        block: Block,
    ) -> Option<Rc<BitSet<Reg>>> {
        self.pending_while(block).next()?;
        let union = |blocks: &mut dyn Iterator<Item = Block>| {
            let mut kept = BitSet::new(registers);
            for reg in blocks.flat_map(|other| liveness.live_in(other)) {
                kept.insert(reg);
            }
            Rc::new(kept)
        };
        Some(match &self.pending {
            WhileRunning::At(_) => union(&mut self.pending_while(block)),
            WhileRunning::Anywhere(_) => {
                Rc::clone(self.live_anywhere.get_or_init(|| union(&mut self.order.iter().copied())))
            }
        })
    }
}

/// Something between two blocks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Step {
    /// Passes over the block at this place if no lane waits for it.
    Test(usize),
    /// Goes back to the start of the cycles that end at this place.
    Cycle(usize),
}

/// What comes next at a place.
#[derive(Clone, Copy, Debug)]
struct Next {
    /// If the block has run.
    after_block: Option<Step>,
    /// If it was passed over.
    after_test: Option<Step>,
    /// If no lane goes back from the end of the cycles here.
    after_cycle: Option<Step>,
}

/// The next step at each place. Only blocks are tested to which something that ran can have sent lanes, and only cycles
/// are closed of which something ran. The shorter the ways between blocks, the fewer values LLVM has to bring together.
fn next_steps(
    order: &[Block],
    position: &Map<Block, Option<u32>>,
    ends: &Map<Block, Option<u32>>,
    first_places: &Map<Block, u32>,
) -> Vec<Next> {
    let mut starting = vec![Vec::new(); order.len()];
    for &block in order {
        let place = position[block].expect("the block is in the order") as usize;
        starting[first_places[block] as usize].push(place);
    }
    // The blocks to which lanes can have been sent up to here, and the ends of the cycles that have begun.
    let (mut tests, mut cycles) = (BTreeSet::new(), BTreeSet::new());
    let first_of = |tests: &BTreeSet<usize>, cycles: &BTreeSet<usize>, place: usize, cycles_from: usize| {
        let test = tests.range(place + 1..).next().copied();
        let cycle = cycles.range(cycles_from..).next().copied();
        match (test, cycle) {
            (Some(test), Some(cycle)) if test <= cycle => Some(Step::Test(test)),
            (_, Some(cycle)) => Some(Step::Cycle(cycle)),
            (test, None) => test.map(Step::Test),
        }
    };
    let mut next = Vec::with_capacity(order.len());
    for (place, &block) in order.iter().enumerate() {
        let after_test = first_of(&tests, &cycles, place, place);
        tests.extend(&starting[place]);
        cycles.extend(ends[block].map(|end| end as usize));
        next.push(Next {
            after_block: first_of(&tests, &cycles, place, place),
            after_test,
            after_cycle: first_of(&tests, &cycles, place, place + 1),
        });
    }
    next
}

/// All blocks that can be reached, each after those that lead to it (except around cycles), and loops in one piece.
fn loop_order(cfg: &Cfg, loops: &Loops) -> Vec<Block> {
    let graph = cfg.graph();
    let mut order = Vec::with_capacity(graph.len());
    let mut is_placed = BitSet::new(graph.len());
    // Regions that are being placed, each with the blocks that are left of it, in reverse post-order.
    let mut regions: Vec<(Option<LoopId>, Vec<Block>, usize)> = vec![(None, graph.reverse_post_order().to_vec(), 0)];
    while let Some((region, blocks, next)) = regions.last_mut() {
        let Some(&block) = blocks.get(*next) else {
            regions.pop();
            continue;
        };
        *next += 1;
        if is_placed.contains(block) {
            continue;
        }
        match child_loop(loops, *region, block) {
            Some(inner) => {
                let mut members = loops.members(inner).to_vec();
                members.sort_by_key(|&member| graph.position(member));
                // The block itself comes up again, as the first of its loop.
                regions.push((Some(inner), members, 0));
            }
            None => {
                is_placed.insert(block);
                order.push(block);
            }
        }
    }
    order
}

/// The outermost loop around a block that is nested in a region.
fn child_loop(loops: &Loops, region: Option<LoopId>, block: Block) -> Option<LoopId> {
    let mut found = None;
    let mut next = loops.innermost(block);
    while next != region {
        let id = next?;
        found = Some(id);
        next = loops.parent(id);
    }
    found
}
