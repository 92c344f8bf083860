//! The order in which a warp runs the blocks of a function, and where its lanes may wait meanwhile.
//!
//! Blocks run in a fixed order. Each has a set of lanes that wait for it; a branch adds lanes to the sets of its targets,
//! and a block without lanes is passed over. The order is one in which all edges lead forwards except those that close
//! a cycle, and in which loops are in one piece. So lanes that part at a branch meet again as early as control flow
//! allows, without a stack, and in any graph, reducible or not.
//!
//! A cycle is closed at its *end*, the last block with an edge back to some block: when it has run, and lanes wait at
//! that block, control goes back there. Lanes that continue a loop early wait for the others.

use ptx::analysis::{BitSet, Block, Cfg, DominatorTree, Liveness, LoopId, Loops, Uniformity};
use ptx::entity::Map;
use ptx::ir::Reg;

/// The order of the blocks of a function.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The blocks that can be reached, in the order in which they run.
    pub(crate) order: Vec<Block>,
    /// The place of each block in the order.
    position: Map<Block, Option<u32>>,
    /// The blocks to go back to, by the place of the end of their cycle, the latest first.
    back_at: Vec<Vec<Block>>,
    dominators: DominatorTree,
    loops: Loops,
    /// Whether all lanes that are in a loop leave it in the same iteration.
    left_together: Map<LoopId, bool>,
}

/// In functions with more blocks than this, lanes are taken to wait anywhere.
const MOST_BLOCKS: usize = 4096;

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
        // The last place from which an edge goes back to a block.
        let mut ends: Map<Block, Option<u32>> = Map::filled(cfg.len(), None);
        for (place, &block) in order.iter().enumerate() {
            for &target in cfg.successors(block) {
                if position[target].is_some_and(|target| target <= place as u32) {
                    ends[target] = Some(place as u32);
                }
            }
        }
        let mut back_at = vec![Vec::new(); order.len()];
        for &block in order.iter().rev() {
            if let Some(end) = ends[block] {
                back_at[end as usize].push(block);
            }
        }
        let mut left_together = Map::filled(loops.len(), false);
        for id in loops.iter() {
            left_together[id] = is_left_together(cfg, uniformity, &dominators, &loops, id);
        }
        Self { order, position, back_at, dominators, loops, left_together }
    }

    /// The place of a block that can be reached.
    pub(crate) fn position(&self, block: Block) -> usize {
        self.position[block].expect("only blocks that can be reached are asked for") as usize
    }

    /// The blocks that control goes back to when the block at this place has run and lanes wait there.
    pub(crate) fn back_at(&self, place: usize) -> &[Block] {
        &self.back_at[place]
    }

    /// Whether lanes may wait at `other` while `block` runs for other lanes.
    pub(crate) fn may_wait(&self, cfg: &Cfg, uniformity: &Uniformity, block: Block, other: Block) -> bool {
        if !uniformity.is_divergent(block) || block == other {
            return false;
        }
        // In cycles that are no loops, anything may have happened.
        if self.order.len() > MOST_BLOCKS || !self.loops.is_reducible() {
            return true;
        }
        let (here, there) = (self.position(block), self.position(other));
        if there < here {
            // Lanes wait behind for the next iteration, if they got there earlier in this one, or while a loop inside it
            // went round for the others.
            return cfg.predecessors(other).iter().any(|&latch| {
                cfg.is_reachable(latch)
                    && self.position(latch) >= there
                    && (self.position(latch) < here || self.left_earlier(block, latch, other))
            });
        }
        cfg.predecessors(other).iter().any(|&from| {
            if !cfg.is_reachable(from) || from == block && !self.is_in_loop_without(block, other) {
                return false;
            }
            let came_before = self.position(from) < here && !self.dominators.dominates(block, from);
            came_before || self.left_earlier(block, from, other)
        })
    }

    /// Whether lanes may have left for `other`, from `from`, in an earlier iteration of a loop that `block` is in.
    fn left_earlier(&self, block: Block, from: Block, other: Block) -> bool {
        let mut inner = self.loops.innermost(block);
        while let Some(id) = inner {
            if self.loops.contains(id, other) {
                return false;
            }
            if self.loops.contains(id, from) && !self.left_together[id] {
                return true;
            }
            inner = self.loops.parent(id);
        }
        false
    }

    /// Whether a loop has `block` but not `other`.
    fn is_in_loop_without(&self, block: Block, other: Block) -> bool {
        self.loops.innermost(block).is_some_and(|id| !self.loops.contains(id, other))
    }

    /// The registers that lanes elsewhere may still need while a block runs.
    pub(crate) fn kept_registers(
        &self,
        cfg: &Cfg,
        uniformity: &Uniformity,
        liveness: &Liveness,
        registers: usize,
        block: Block,
    ) -> Kept {
        if !uniformity.is_divergent(block) {
            return Kept::None;
        }
        if self.order.len() > MOST_BLOCKS {
            return Kept::All;
        }
        let mut kept = BitSet::new(registers);
        for &other in &self.order {
            if self.may_wait(cfg, uniformity, block, other) {
                liveness.live_in(other).for_each(|reg| {
                    kept.insert(reg);
                });
            }
        }
        Kept::Some(kept)
    }
}

/// The registers that lanes elsewhere may still need.
#[derive(Debug)]
pub(crate) enum Kept {
    None,
    Some(BitSet<Reg>),
    All,
}

impl Kept {
    pub(crate) fn contains(&self, reg: Reg) -> bool {
        match self {
            Self::None => false,
            Self::Some(regs) => regs.contains(reg),
            Self::All => true,
        }
    }
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

/// Whether lanes that are in an iteration of a loop all go on to the next or all leave: every branch out of the loop is
/// one that lanes agree on, and one that all of them come to.
fn is_left_together(
    cfg: &Cfg,
    uniformity: Option<&Uniformity>,
    dominators: &DominatorTree,
    loops: &Loops,
    id: LoopId,
) -> bool {
    let Some(uniformity) = uniformity else {
        return true;
    };
    loops.members(id).iter().all(|&block| {
        let leaves = cfg.is_exit(block) || cfg.successors(block).iter().any(|&target| !loops.contains(id, target));
        !leaves
            || uniformity
                .branch(block)
                .is_none_or(|branch| branch.uniformity == ptx::analysis::BranchUniformity::Uniform)
                && loops.latches(id).iter().all(|&latch| dominators.dominates(block, latch))
    })
}
