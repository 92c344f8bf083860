//! What a branch on which lanes disagree does to the registers of a function.
//!
//! Lanes that take different ways from a branch meet again at its *reconvergence point*: the nearest block that all of
//! them must come to in the same iteration of the loops around. Until then they are in the *region* of the branch.
//! The region falls into *parts*: what every way from the branch enters through one block, the *head* of the part.
//! These are the subtrees below the branch in the tree of dominators of the region. Lanes in one part came through its
//! head together; lanes in two parts went different ways.
//!
//! A web that is written in one part, while lanes that are elsewhere still need a value of it, has from there on a value
//! that depends on the way, or is overwritten while others need it. Both is found by one question: is the web live at
//! the head of another part, or at the reconvergence point? For a join of two ways that is the condition for a phi
//! function; for a branch out of a loop, where the region goes around the loop, it is what makes values that were
//! computed in different iterations differ after the loop (temporal divergence).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::value::LaneBits;
use super::webs::{Web, Webs};
use crate::analysis::bitset::BitSet;
use crate::analysis::dominators::DominatorTree;
use crate::analysis::graph::{Block, Graph};
use crate::analysis::liveness::Liveness;
use crate::analysis::loops::{LoopId, Loops};
use crate::entity::Map;

/// After so many steps through regions, the rest is answered conservatively. Regions overlap, so a function of a million
/// blocks could otherwise take hours. This is about a second; the largest kernel of HeCBench, with 14,000 blocks, takes a
/// twentieth of it.
const MAX_STEPS: usize = 1 << 23;

/// Finds the regions of branches.
pub(super) struct Divergence<'a> {
    graph: &'a Graph,
    post_dominators: DominatorTree,
    loops: Loops,
    liveness: &'a Liveness,
    webs: &'a Webs,
    /// The blocks that are in the region of a branch.
    pub(super) blocks: BitSet<Block>,
    /// The reconvergence point up to which everything after a block is in `blocks` already.
    marked_until: Map<Block, Option<Option<Block>>>,
    steps: usize,
    /// The bits of the lane's number on which everything depends, because a branch could not be explored.
    all_depend_on: LaneBits,
    region: DivergentRegion,
    /// The part in which a web is written.
    part_of_web: Map<Web, (u32, Block)>,
    stamp: u32,
}

/// The region of one branch while it is explored.
struct DivergentRegion {
    /// The head of the part of each block, if the stamp is that of the branch.
    part: Map<Block, (u32, Block)>,
    visits: Map<Block, u32>,
    blocks: Vec<Block>,
    queue: BinaryHeap<Reverse<(usize, Block)>>,
    /// Loops around the branch that are gone around before reconvergence.
    repeated: Vec<LoopId>,
}

/// A block whose part changed so often becomes the head of a part of its own, which is always allowed.
const MAX_VISITS: u32 = 8;

impl<'a> Divergence<'a> {
    pub(super) fn new(graph: &'a Graph, dominators: &DominatorTree, liveness: &'a Liveness, webs: &'a Webs) -> Self {
        let nothing = (0, graph.entry());
        Self {
            graph,
            post_dominators: DominatorTree::post_dominators(graph),
            loops: Loops::of(graph, dominators),
            liveness,
            webs,
            blocks: BitSet::new(graph.len()),
            marked_until: Map::filled(graph.len(), None),
            steps: 0,
            all_depend_on: 0,
            region: DivergentRegion {
                part: Map::filled(graph.len(), nothing),
                visits: Map::filled(graph.len(), 0),
                blocks: Vec::new(),
                queue: BinaryHeap::new(),
                repeated: Vec::new(),
            },
            part_of_web: Map::filled(webs.regs.len(), nothing),
            stamp: 0,
        }
    }

    /// Whether all branches were explored.
    pub(super) fn is_exact(&self) -> bool {
        self.steps < MAX_STEPS
    }

    /// The webs that lanes may hold different values of because they disagree at the end of a block. On which bits of the
    /// lane's number that depends does not matter, except that nothing is said twice of all webs.
    pub(super) fn spread(&mut self, branch: Block, bits: LaneBits) -> Vec<Web> {
        let ways = self.graph.successors(branch).len() + usize::from(self.graph.is_exit(branch));
        if ways < 2 {
            return Vec::new();
        }
        if !self.loops.is_reducible() || !self.is_exact() {
            return self.everything(bits);
        }
        let end = self.post_dominators.immediate(branch);
        if self.has_one_part(branch, end) {
            self.mark(branch, end);
            return if self.is_exact() { Vec::new() } else { self.everything(bits) };
        }
        let end = self.explore(branch, end);
        self.blocks.extend(self.region.blocks.iter().copied());
        let affected = self.written_and_needed_elsewhere(end);
        if self.is_exact() { affected } else { self.everything(bits) }
    }

    /// All webs between blocks: there is no order of iterations in loops with several entries.
    fn everything(&mut self, bits: LaneBits) -> Vec<Web> {
        if self.all_depend_on & bits == bits {
            return Vec::new();
        }
        self.all_depend_on |= bits;
        self.blocks.extend(self.graph.blocks());
        let mut webs = self.webs.merged_writes.items().to_vec();
        webs.extend_from_slice(self.webs.single_writes.items());
        webs
    }

    /// Whether the lanes that do not enter the only part of the region need nothing any more, as after `if (…) return;`
    fn has_one_part(&self, branch: Block, end: Option<Block>) -> bool {
        let heads = self.graph.successors(branch).iter().filter(|&&head| Some(head) != end).count();
        let loops_around = std::iter::successors(self.loops.innermost(branch), |&id| self.loops.parent(id));
        let is_in_loop_of_branch = |end| loops_around.clone().any(|id| self.loops.contains(id, end));
        heads <= 1
            && end.is_none_or(|end| {
                !is_in_loop_of_branch(end)
                    && !self.liveness.is_carry_live_in(end)
                    && self.liveness.live_in(end).next().is_none()
            })
    }

    /// Puts everything between a branch and `end` into `blocks`.
    fn mark(&mut self, branch: Block, end: Option<Block>) {
        let mut stack = self.graph.successors(branch).to_vec();
        while let Some(block) = stack.pop().filter(|_| self.is_exact()) {
            if Some(block) == end || self.marked_until[block].replace(end) == Some(end) {
                continue;
            }
            self.blocks.insert(block);
            stack.extend_from_slice(self.graph.successors(block));
            self.steps += 1;
        }
    }

    /// Finds the parts of a region, and where it really ends.
    fn explore(&mut self, branch: Block, mut end: Option<Block>) -> Option<Block> {
        self.stamp += 1;
        self.region.blocks.clear();
        self.region.repeated.clear();
        self.follow(branch, branch, end);
        loop {
            while let Some(Reverse((_, block))) = self.region.queue.pop() {
                self.visit(branch, block, end);
                if !self.is_exact() {
                    return end;
                }
            }
            // Lanes that come to `end` in different iterations do not meet there, but at the head of the loop.
            let is_too_early = |end: Block| {
                let repeats = |&id: &LoopId| self.loops.contains(id, end) && self.loops.header(id) != end;
                self.region.repeated.iter().any(repeats)
            };
            let Some(early) = end.filter(|&end| is_too_early(end)) else { return end };
            end = self.post_dominators.immediate(early);
            self.enqueue(branch, early, end);
        }
    }

    fn enqueue(&mut self, branch: Block, block: Block, end: Option<Block>) {
        if Some(block) == end {
            return;
        }
        // What comes before the branch in the text is reached around a loop, after everything else.
        let place = |block| self.graph.position(block).expect("what follows a reachable block is reachable");
        let (own, start) = (place(block), place(branch));
        let rank = if own > start { own - start } else { own + self.graph.len() - start };
        self.region.queue.push(Reverse((rank, block)));
    }

    fn visit(&mut self, branch: Block, block: Block, end: Option<Block>) {
        self.steps += 1 + self.graph.predecessors(block).len();
        let (stamp, before) = self.region.part[block];
        let is_new = stamp != self.stamp;
        if is_new {
            self.region.visits[block] = 0;
            self.region.blocks.push(block);
        }
        self.region.visits[block] += 1;
        let part = self.part_from_predecessors(branch, block, end);
        if !is_new && part == before {
            return;
        }
        self.region.part[block] = (self.stamp, part);
        if block != branch {
            self.follow(branch, block, end);
        }
    }

    /// Enqueues what follows a block.
    fn follow(&mut self, branch: Block, block: Block, end: Option<Block>) {
        for &next in self.graph.successors(block) {
            if let Some(id) = self.loops.headed_by(next)
                && self.loops.contains(id, block)
            {
                if !self.loops.contains(id, branch) {
                    // Within a loop of the region the part does not change: it was entered through its head.
                    continue;
                }
                if !self.region.repeated.contains(&id) {
                    self.region.repeated.push(id);
                }
            }
            self.enqueue(branch, next, end);
        }
    }

    /// The head of the part from which all ways come to a block, or the block itself.
    fn part_from_predecessors(&self, branch: Block, block: Block, end: Option<Block>) -> Block {
        if self.region.visits[block] > MAX_VISITS {
            return block;
        }
        let own_loop = self.loops.headed_by(block).filter(|&id| !self.loops.contains(id, branch));
        let mut part = None;
        for &before in self.graph.predecessors(block) {
            if before == branch {
                return block;
            }
            let (stamp, head) = self.region.part[before];
            let is_back_edge = own_loop.is_some_and(|id| self.loops.contains(id, before));
            if stamp != self.stamp || Some(before) == end || head == block || is_back_edge {
                continue;
            }
            if part.is_some_and(|part| part != head) {
                return block;
            }
            part = Some(head);
        }
        part.unwrap_or(block)
    }

    fn written_and_needed_elsewhere(&mut self, end: Option<Block>) -> Vec<Web> {
        let Self { region, webs, liveness, part_of_web, stamp, .. } = self;
        let part = |block: Block| region.part[block].1;
        let mut heads: Vec<Block> = region.blocks.iter().copied().filter(|&block| part(block) == block).collect();
        heads.extend(end);
        // A single write comes before all reads. If no loop is repeated, all lanes that read it went through it.
        let lists = [&webs.merged_writes, &webs.single_writes];
        let lists = if region.repeated.is_empty() { &lists[..1] } else { &lists[..] };
        let mut affected = Vec::new();
        for list in lists {
            for &block in &region.blocks {
                for &web in &list[block] {
                    let (seen, other) = part_of_web[web];
                    if seen != *stamp {
                        part_of_web[web] = (*stamp, part(block));
                        self.steps += heads.len();
                        if self.steps >= MAX_STEPS {
                            return affected;
                        }
                        let is_needed =
                            |&head: &Block| head != part(block) && liveness.is_live_in(head, webs.regs[web]);
                        if heads.iter().any(is_needed) {
                            affected.push(web);
                        }
                    } else if other != part(block) {
                        // Without a join there, two parts write the same web only where webs are whole registers.
                        affected.push(web);
                    }
                }
            }
        }
        affected
    }
}
