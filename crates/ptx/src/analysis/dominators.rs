//! Dominators and post-dominators.
//!
//! By the simple version of T. Lengauer and R. E. Tarjan, A fast algorithm for finding dominators in a flowgraph, TOPLAS
//! 1979. The iterative algorithm of Cooper, Harvey and Kennedy is shorter, but takes quadratic time where many blocks
//! of a long chain jump to one place, as the early exits of generated code do.

use super::components::Components;
use super::graph::{Block, Graph};
use super::lists::Lists;
use crate::entity::{Id, Map};

/// The tree of dominators, or of post-dominators.
///
/// A block dominates another if every path from the entry to the other goes through it. A block post-dominates another
/// if every path from the other to where control leaves goes through it. A block does both to itself.
/// Both are defined among the reachable blocks only: [`DominatorTree::dominates`] is false for others, even of
/// themselves.
///
/// Where control never leaves again (an endless loop), post-dominators would not be defined. There, of each set of
/// blocks that control cannot leave and in which it can go from each to each, the last in
/// [`Graph::reverse_post_order`] counts as a place where control leaves. For `while (true) { … }` that is the end of
/// the body, so that post-dominators inside of the body are what one expects.
#[derive(Clone, Debug)]
pub struct DominatorTree {
    immediate: Map<Block, Option<Block>>,
    children: Lists<Block, Block>,
    /// Blocks without an immediate dominator: the entry, or several for post-dominators.
    roots: Vec<Block>,
    preorder: Vec<Block>,
    /// Places in `preorder`: of the block itself, and after the last block that it dominates.
    first: Map<Block, u32>,
    end: Map<Block, u32>,
}

impl DominatorTree {
    /// The dominators.
    pub fn dominators(graph: &Graph) -> Self {
        let immediate = immediate_dominators(graph.entry(), graph.successor_lists(), graph.predecessor_lists());
        Self::from_immediate(immediate, &[graph.entry()])
    }

    /// The post-dominators.
    pub fn post_dominators(graph: &Graph) -> Self {
        // Edges are turned around, and a block is added to which control goes where it leaves.
        let outside = Block::new(graph.len());
        let leaving = where_control_ends(graph);
        let mut edges = Vec::new();
        for &block in graph.reverse_post_order() {
            edges.extend(graph.successors(block).iter().map(|&successor| (successor, block)));
        }
        edges.extend(leaving.iter().map(|&block| (outside, block)));
        let successors = Lists::from_pairs(graph.len() + 1, &edges);
        for (from, to) in &mut edges {
            std::mem::swap(from, to);
        }
        let predecessors = Lists::from_pairs(graph.len() + 1, &edges);
        let with_outside = immediate_dominators(outside, &successors, &predecessors);

        let mut immediate = Map::filled(graph.len(), None);
        let mut roots = Vec::new();
        for &block in graph.reverse_post_order() {
            match with_outside[block] {
                Some(parent) if parent == outside => roots.push(block),
                parent => immediate[block] = parent,
            }
        }
        Self::from_immediate(immediate, &roots)
    }

    fn from_immediate(immediate: Map<Block, Option<Block>>, roots: &[Block]) -> Self {
        let edges: Vec<_> = immediate.iter().filter_map(|(block, parent)| Some(((*parent)?, block))).collect();
        let children = Lists::from_pairs(immediate.len(), &edges);
        let mut preorder = Vec::with_capacity(edges.len() + roots.len());
        let mut first = Map::filled(immediate.len(), u32::MAX);
        let mut end = Map::filled(immediate.len(), 0);
        let mut stack: Vec<Block> = roots.iter().rev().copied().collect();
        while let Some(block) = stack.pop() {
            first[block] = preorder.len() as u32;
            preorder.push(block);
            stack.extend(children[block].iter().rev());
        }
        // A block comes before all it dominates, so backwards its children are complete before it.
        for &block in preorder.iter().rev() {
            end[block] = children[block].last().map_or(first[block] + 1, |&last| end[last]);
        }
        Self { immediate, children, roots: roots.to_vec(), preorder, first, end }
    }

    /// Whether `above` dominates `below`; also if they are the same reachable block.
    pub fn dominates(&self, above: Block, below: Block) -> bool {
        // Unreachable blocks have an empty range, and a place that is in none.
        (self.first[above]..self.end[above]).contains(&self.first[below])
    }

    /// Whether `above` dominates `below` and is another block.
    pub fn strictly_dominates(&self, above: Block, below: Block) -> bool {
        above != below && self.dominates(above, below)
    }

    /// The nearest other block that dominates the block. Nothing for the entry and unreachable blocks; nothing for
    /// blocks that only leaving the function post-dominates.
    pub fn immediate(&self, block: Block) -> Option<Block> {
        self.immediate[block]
    }

    /// The blocks that the block dominates immediately.
    pub fn children(&self, block: Block) -> &[Block] {
        &self.children[block]
    }

    /// The reachable blocks without an immediate dominator.
    pub fn roots(&self) -> &[Block] {
        &self.roots
    }

    /// The reachable blocks, each before those that it dominates, which follow it in one piece.
    pub fn preorder(&self) -> &[Block] {
        &self.preorder
    }

    /// The blocks that a block dominates, itself first.
    pub fn dominated_by(&self, block: Block) -> &[Block] {
        match self.first[block] {
            u32::MAX => &[],
            first => &self.preorder[first as usize..self.end[block] as usize],
        }
    }

    /// The nearest block that dominates both.
    pub fn common(&self, one: Block, other: Block) -> Option<Block> {
        let mut above = Some(one);
        while let Some(block) = above {
            if self.dominates(block, other) {
                return above;
            }
            above = self.immediate(block);
        }
        None
    }
}

/// The reachable blocks from which control leaves, and one of each part of the graph that it never leaves.
fn where_control_ends(graph: &Graph) -> Vec<Block> {
    let mut ends: Vec<Block> = graph.exits().filter(|&block| graph.is_reachable(block)).collect();
    let components = Components::of(graph.successor_lists(), |_, _| true);
    for component in components.iter() {
        let members = components.members(component);
        let can_leave = |&block: &Block| {
            let goes_on = |&next: &Block| components.component(next) != component;
            graph.is_exit(block) || graph.successors(block).iter().any(goes_on)
        };
        if !members.iter().any(can_leave) {
            // Unreachable blocks have no position.
            ends.extend(
                members.iter().filter_map(|&block| Some((graph.position(block)?, block))).max().map(|end| end.1),
            );
        }
    }
    ends
}

/// The immediate dominator of each block that can be reached from `root`, by Lengauer and Tarjan.
///
/// All the vectors are indexed by the number of a block in depth-first preorder.
fn immediate_dominators(
    root: Block,
    successors: &Lists<Block, Block>,
    predecessors: &Lists<Block, Block>,
) -> Map<Block, Option<Block>> {
    let DepthFirst { vertex, number, parent } = DepthFirst::of(root, successors);
    let count = vertex.len();
    let mut forest = Forest::new(count);
    let mut dominator = vec![0_u32; count];
    // Lists of the blocks that have a given semidominator: the first of each list, and the next after each block.
    let mut bucket = vec![NONE; count];
    let mut next_in_bucket = vec![NONE; count];
    for block in (1..count).rev() {
        for &before in &predecessors[vertex[block]] {
            if number[before] != NONE {
                let best = forest.evaluate(number[before]);
                forest.semi[block] = forest.semi[block].min(forest.semi[best as usize]);
            }
        }
        let semi = forest.semi[block] as usize;
        next_in_bucket[block] = std::mem::replace(&mut bucket[semi], block as u32);
        let above = parent[block];
        forest.ancestor[block] = above;
        let mut waiting = std::mem::replace(&mut bucket[above as usize], NONE);
        while waiting != NONE {
            let best = forest.evaluate(waiting);
            let is_below = forest.semi[best as usize] < forest.semi[waiting as usize];
            dominator[waiting as usize] = if is_below { best } else { above };
            waiting = next_in_bucket[waiting as usize];
        }
    }
    let mut immediate = Map::filled(successors.len(), None);
    for block in 1..count {
        if dominator[block] != forest.semi[block] {
            dominator[block] = dominator[dominator[block] as usize];
        }
        immediate[vertex[block]] = Some(vertex[dominator[block] as usize]);
    }
    immediate
}

const NONE: u32 = u32::MAX;

/// A depth-first spanning tree, in preorder.
struct DepthFirst {
    vertex: Vec<Block>,
    number: Map<Block, u32>,
    parent: Vec<u32>,
}

impl DepthFirst {
    fn of(root: Block, successors: &Lists<Block, Block>) -> Self {
        let mut tree = Self { vertex: vec![root], number: Map::filled(successors.len(), NONE), parent: vec![NONE] };
        tree.number[root] = 0;
        let mut path = vec![(root, successors[root].iter())];
        while let Some((block, rest)) = path.last_mut() {
            let Some(&next) = rest.next() else {
                path.pop();
                continue;
            };
            if tree.number[next] == NONE {
                tree.number[next] = tree.vertex.len() as u32;
                tree.vertex.push(next);
                tree.parent.push(tree.number[*block]);
                path.push((next, successors[next].iter()));
            }
        }
        tree
    }
}

/// The forest of Lengauer and Tarjan, in which paths get shorter as they are used.
struct Forest {
    ancestor: Vec<u32>,
    semi: Vec<u32>,
    /// The block with the least semidominator on the path that was cut out above each block.
    label: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    fn new(count: usize) -> Self {
        let own = || (0..count as u32).collect();
        Self { ancestor: vec![NONE; count], semi: own(), label: own(), path: Vec::new() }
    }

    /// The block with the least semidominator between `block` and the root of its tree, the root excluded.
    fn evaluate(&mut self, block: u32) -> u32 {
        let mut below = block;
        while self.above(below).is_some_and(|above| self.above(above).is_some()) {
            self.path.push(below);
            below = self.ancestor[below as usize];
        }
        while let Some(below) = self.path.pop() {
            let above = self.ancestor[below as usize] as usize;
            let (label_above, label) = (self.label[above], self.label[below as usize]);
            if self.semi[label_above as usize] < self.semi[label as usize] {
                self.label[below as usize] = label_above;
            }
            self.ancestor[below as usize] = self.ancestor[above];
        }
        self.label[block as usize]
    }

    fn above(&self, block: u32) -> Option<u32> {
        let above = self.ancestor[block as usize];
        (above != NONE).then_some(above)
    }
}
