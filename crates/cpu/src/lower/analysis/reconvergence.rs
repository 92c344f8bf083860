//! Where lanes of a warp may wait while others run a block.
//!
//! Whatever is known to be false here saves code: registers that nobody else needs are overwritten without looking at
//! the mask, and control goes straight to the block that is next.
//!
//! Compile time follows the number of values that meet where control flow does. So only blocks are tested for which
//! lanes can be pending, the lanes of all other blocks are values and not memory, registers start as zero only where
//! that can be seen, and what ends a launch or deoptimizes a warp does not come back (`fail_when`). Figures are in
//! `docs/cpu-measurements.md`.

use ptx::analysis::{BitSet, Block, Cfg, DominatorTree, LoopId, Loops, Uniformity};
use ptx::entity::Map;

/// Where lanes may wait.
#[derive(Debug)]
pub(crate) struct PendingBlocks {
    pub(crate) while_running: WhileRunning,
    /// For each block, the first place in the order that can run while lanes wait for the block, or send them there.
    pub(crate) first_places: Map<Block, u32>,
}

/// Where lanes may wait while a block runs for others.
#[derive(Debug)]
pub(crate) enum WhileRunning {
    /// For each block, by place.
    At(Map<Block, Vec<Block>>),
    /// At all blocks, while one of these runs.
    Anywhere(BitSet<Block>),
}

/// Beyond so many pairs of a block that runs and one where lanes wait, they are taken to wait anywhere.
const MOST_PAIRS: usize = 1 << 22;

impl PendingBlocks {
    /// `ends` are the places of the last blocks with an edge back to each block.
    pub(crate) fn of(
        cfg: &Cfg,
        uniformity: Option<&Uniformity>,
        dominators: &DominatorTree,
        loops: &Loops,
        position: &Map<Block, Option<u32>>,
        ends: &Map<Block, Option<u32>>,
        order: &[Block],
    ) -> Self {
        let mut pending = Map::filled(cfg.len(), Vec::new());
        let mut first_places = Map::filled(cfg.len(), 0);
        let Some(uniformity) = uniformity else {
            return Self { while_running: WhileRunning::At(pending), first_places };
        };
        let anywhere = || {
            let mut divergent = BitSet::new(cfg.len());
            order.iter().filter(|&&block| uniformity.is_divergent(block)).for_each(|&block| {
                divergent.insert(block);
            });
            WhileRunning::Anywhere(divergent)
        };
        // In cycles that are no loops, anything may have happened.
        if !loops.is_reducible() {
            return Self { while_running: anywhere(), first_places };
        }
        let mut left_together = Map::filled(loops.len(), false);
        for id in loops.iter() {
            left_together[id] = is_left_together(cfg, uniformity, dominators, loops, id);
        }
        let search = Search { cfg, dominators, loops, left_together, position, ends };
        // Lanes wait at a block only between the first and the last place of a stretch of the order: so only the blocks
        // whose stretches a place lies in are asked about.
        let mut starting = vec![Vec::new(); order.len()];
        for &block in order {
            if let Some(first) = search.first_place(block) {
                first_places[block] = first as u32;
                starting[first].push(block);
            }
        }
        let mut open: Vec<Block> = Vec::new();
        let mut pairs = 0;
        for (place, &block) in order.iter().enumerate() {
            open.append(&mut starting[place]);
            open.retain(|&other| search.last_place(other) >= place);
            if uniformity.is_divergent(block) {
                let mut found: Vec<_> = open.iter().copied().filter(|&other| search.may_wait(block, other)).collect();
                found.sort_unstable_by_key(|&other| search.place(other));
                pending[block] = found;
                pairs += open.len();
                if pairs > MOST_PAIRS {
                    return Self { while_running: anywhere(), first_places };
                }
            }
        }
        Self { while_running: WhileRunning::At(pending), first_places }
    }
}

struct Search<'a> {
    cfg: &'a Cfg,
    dominators: &'a DominatorTree,
    loops: &'a Loops,
    /// Whether all lanes that are in a loop leave it in the same iteration.
    left_together: Map<LoopId, bool>,
    position: &'a Map<Block, Option<u32>>,
    ends: &'a Map<Block, Option<u32>>,
}

impl Search<'_> {
    fn place(&self, block: Block) -> usize {
        self.position[block].expect("only blocks that can be reached are asked for") as usize
    }

    fn predecessors(&self, block: Block) -> impl Iterator<Item = Block> {
        self.cfg.predecessors(block).iter().copied().filter(|&from| self.cfg.is_reachable(from))
    }

    /// The first place at which lanes may wait for a block: where the first of them comes from, or the start of a loop
    /// that they left there, whose other lanes run on.
    fn first_place(&self, block: Block) -> Option<usize> {
        let from = |from: Block| {
            let mut first = self.place(from);
            let mut inner = self.loops.innermost(from);
            while let Some(id) = inner.filter(|&id| !self.loops.contains(id, block)) {
                first = first.min(self.place(self.loops.header(id)));
                inner = self.loops.parent(id);
            }
            first
        };
        self.predecessors(block).map(from).min()
    }

    /// The last place at which lanes may wait for a block: its own, or the end of the cycle that goes back to it.
    fn last_place(&self, block: Block) -> usize {
        self.ends[block].map_or(self.place(block), |end| end as usize)
    }

    /// Whether lanes may wait at `other` while `block` runs for other lanes.
    fn may_wait(&self, block: Block, other: Block) -> bool {
        if block == other {
            return false;
        }
        let (here, there) = (self.place(block), self.place(other));
        if there < here {
            // Lanes wait behind for the next iteration, if they got there earlier in this one, or while a loop inside it
            // went round for the others.
            return self.predecessors(other).any(|latch| {
                self.place(latch) >= there && (self.place(latch) < here || self.left_earlier(block, latch, other))
            });
        }
        self.predecessors(other).any(|from| {
            if from == block && !self.is_in_loop_without(block, other) {
                return false;
            }
            let came_before = self.place(from) < here && !self.dominators.dominates(block, from);
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
}

/// Whether lanes that are in an iteration of a loop all go on to the next or all leave: every branch out of the loop is
/// one that lanes agree on, and one that all of them come to.
fn is_left_together(cfg: &Cfg, uniformity: &Uniformity, dominators: &DominatorTree, loops: &Loops, id: LoopId) -> bool {
    loops.members(id).iter().all(|&block| {
        let leaves = cfg.is_exit(block) || cfg.successors(block).iter().any(|&target| !loops.contains(id, target));
        !leaves
            || uniformity
                .branch(block)
                .is_none_or(|branch| branch.uniformity == ptx::analysis::BranchUniformity::Uniform)
                && loops.latches(id).iter().all(|&latch| dominators.dominates(block, latch))
    })
}
