//! Loops.

use super::components::Components;
use super::dominators::DominatorTree;
use super::graph::{Block, Graph};
use super::lists::Lists;
use crate::entity::{Id, Map, define_id};

define_id! {
    /// A natural loop of a function.
    LoopId "loop"
}

/// The natural loops of a function, and the cycles that are none.
///
/// A *back edge* is one to a block that dominates its source, the *header*. The natural loop of a header has the blocks
/// from which a back edge to it can be reached without going through it. Loops with one header are one loop; others
/// are disjoint or nested. Loops are numbered so that outer ones come first and inner ones follow in one piece.
///
/// A cycle that can be entered at several blocks, none of which dominates the others, has no header: it is
/// *irreducible*. What is left of cycles when back edges are taken away is such.
///
/// Everything takes memory in proportion to the graph, however deep loops are nested.
#[derive(Clone, Debug)]
pub struct Loops {
    loops: Map<LoopId, Loop>,
    latches: Lists<LoopId, Block>,
    innermost: Map<Block, Option<LoopId>>,
    /// The blocks in loops, ordered by their innermost loop, so that a loop with its inner loops is one piece.
    members: Vec<Block>,
    irreducible: Vec<Vec<Block>>,
    irreducible_edges: Vec<(Block, Block)>,
}

#[derive(Clone, Debug)]
struct Loop {
    header: Block,
    parent: Option<LoopId>,
    depth: u32,
    /// After the last loop that is nested in this one.
    end: LoopId,
    /// Where its members start and end.
    members: (u32, u32),
}

impl Loops {
    /// The loops of a graph with its dominators.
    pub fn of(graph: &Graph, dominators: &DominatorTree) -> Self {
        let mut latches = Vec::new();
        let mut irreducible_edges = Vec::new();
        for &block in graph.reverse_post_order() {
            for &target in graph.successors(block) {
                if dominators.dominates(target, block) {
                    latches.push((target, block));
                } else if graph.is_retreating(block, target) {
                    irreducible_edges.push((block, target));
                }
            }
        }
        let latches = Lists::from_pairs(graph.len(), &latches);
        let nest = Nest::of(graph, &latches);
        let irreducible = if irreducible_edges.is_empty() {
            Vec::new()
        } else {
            let is_forward = |from, to| graph.is_reachable(from) && !dominators.dominates(to, from);
            let cycles = Components::of(graph.successor_lists(), is_forward);
            let members = cycles.iter().map(|cycle| cycles.members(cycle)).filter(|members| members.len() > 1);
            members.map(<[Block]>::to_vec).collect()
        };
        Self { irreducible, irreducible_edges, ..nest.into_loops(graph, &latches) }
    }

    /// Number of natural loops.
    pub fn len(&self) -> usize {
        self.loops.len()
    }

    /// Whether there is no natural loop.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// All loops, outer ones before those in them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = LoopId> + ExactSizeIterator + use<> {
        self.loops.ids()
    }

    /// The block through which control enters a loop.
    pub fn header(&self, id: LoopId) -> Block {
        self.loops[id].header
    }

    /// The blocks of a loop from which an edge goes back to its header.
    pub fn latches(&self, id: LoopId) -> &[Block] {
        &self.latches[id]
    }

    /// The loop around a loop.
    pub fn parent(&self, id: LoopId) -> Option<LoopId> {
        self.loops[id].parent
    }

    /// How many loops a loop is in, itself included.
    pub fn loop_depth(&self, id: LoopId) -> u32 {
        self.loops[id].depth
    }

    /// The blocks of a loop, those of inner loops included.
    pub fn members(&self, id: LoopId) -> &[Block] {
        let (start, end) = self.loops[id].members;
        &self.members[start as usize..end as usize]
    }

    /// Whether a block is in a loop, perhaps in an inner one.
    pub fn contains(&self, id: LoopId, block: Block) -> bool {
        self.innermost(block).is_some_and(|inner| (id..self.loops[id].end).contains(&inner))
    }

    /// The edges from a loop to blocks outside. Control may also leave the function from inside a loop.
    pub fn exits<'a>(&'a self, graph: &'a Graph, id: LoopId) -> impl Iterator<Item = (Block, Block)> + 'a {
        let edges = |&from: &Block| graph.successors(from).iter().map(move |&to| (from, to));
        self.members(id).iter().flat_map(edges).filter(move |&(_, to)| !self.contains(id, to))
    }

    /// The innermost loop that a block is in.
    pub fn innermost(&self, block: Block) -> Option<LoopId> {
        self.innermost[block]
    }

    /// The loop of which a block is the header.
    pub fn headed_by(&self, block: Block) -> Option<LoopId> {
        self.innermost(block).filter(|&id| self.header(id) == block)
    }

    /// How many natural loops a block is in.
    pub fn depth(&self, block: Block) -> u32 {
        self.innermost(block).map_or(0, |id| self.loop_depth(id))
    }

    /// Whether every cycle belongs to a natural loop.
    pub fn is_reducible(&self) -> bool {
        self.irreducible_edges.is_empty()
    }

    /// The irreducible parts: sets of blocks that lie on common cycles without back edges.
    pub fn irreducible_regions(&self) -> &[Vec<Block>] {
        &self.irreducible
    }

    /// The edges that go back in [`Graph::reverse_post_order`] to a block that does not dominate their source. Together
    /// with the edges from latches to headers they cut every cycle.
    pub fn irreducible_edges(&self) -> &[(Block, Block)] {
        &self.irreducible_edges
    }
}

/// Loops while they are found; each is named by its header.
struct Nest {
    /// The header of the innermost loop of each block; of a header, its own.
    header: Map<Block, Option<Block>>,
    /// The header of the loop around the loop of each header.
    parent: Map<Block, Option<Block>>,
}

impl Nest {
    /// Headers are taken inner ones first, and each walks back from its latches. A loop that was found before is
    /// crossed in one step, from any block of it to what comes before its header.
    fn of(graph: &Graph, latches: &Lists<Block, Block>) -> Self {
        let mut nest = Self { header: Map::filled(graph.len(), None), parent: Map::filled(graph.len(), None) };
        // A union-find forest over headers: where to look for the outermost loop that is known so far.
        let mut outer = Map::<Block, Block>::from_iter(graph.blocks());
        let mut stack = Vec::new();
        // A header comes after the headers that dominate it in reverse post-order.
        for header in graph.post_order() {
            if latches[header].is_empty() {
                continue;
            }
            nest.header[header] = Some(header);
            stack.extend_from_slice(&latches[header]);
            while let Some(block) = stack.pop() {
                if !graph.is_reachable(block) {
                    continue;
                }
                let found = match nest.header[block] {
                    None => {
                        nest.header[block] = Some(header);
                        block
                    }
                    Some(inner) => {
                        let inner = outermost(&mut outer, inner);
                        if inner == header {
                            continue;
                        }
                        nest.parent[inner] = Some(header);
                        outer[inner] = header;
                        inner
                    }
                };
                stack.extend_from_slice(graph.predecessors(found));
            }
        }
        nest
    }

    /// Numbers loops in preorder, and sorts blocks by the number of their innermost loop.
    fn into_loops(self, graph: &Graph, latches: &Lists<Block, Block>) -> Loops {
        let headers = || graph.reverse_post_order().iter().copied().filter(|&block| self.header[block] == Some(block));
        let nested: Vec<_> = headers().filter_map(|header| Some((self.parent[header]?, header))).collect();
        let nested = Lists::from_pairs(graph.len(), &nested);
        let mut loops = Map::<LoopId, Loop>::new();
        let mut id_of = Map::<Block, Option<LoopId>>::filled(graph.len(), None);
        let mut latch_lists = Lists::new();
        let outermost = headers().filter(|&header| self.parent[header].is_none());
        let mut stack: Vec<Block> = outermost.collect();
        stack.reverse();
        while let Some(header) = stack.pop() {
            let parent = self.parent[header].and_then(|parent| id_of[parent]);
            let depth = parent.map_or(1, |parent| loops[parent].depth + 1);
            let end = LoopId::new(loops.len() + 1);
            id_of[header] = Some(loops.push(Loop { header, parent, depth, end, members: (0, 0) }));
            latch_lists.push(latches[header].iter().copied());
            stack.extend(nested[header].iter().rev());
        }
        for id in loops.ids().rev() {
            if let Some(parent) = loops[id].parent {
                loops[parent].end = loops[parent].end.max(loops[id].end);
            }
        }
        let innermost: Map<Block, _> =
            graph.blocks().map(|block| self.header[block].and_then(|at| id_of[at])).collect();
        let pairs: Vec<_> = graph.reverse_post_order().iter().filter_map(|&at| Some((innermost[at]?, at))).collect();
        let members = Lists::from_pairs(loops.len(), &pairs);
        for id in loops.ids() {
            let last = LoopId::new(loops[id].end.index() - 1);
            loops[id].members = (members.range(id).start as u32, members.range(last).end as u32);
        }
        Loops {
            loops,
            latches: latch_lists,
            innermost,
            members: members.items().to_vec(),
            irreducible: Vec::new(),
            irreducible_edges: Vec::new(),
        }
    }
}

/// The root of a header in the union-find forest. Paths are halved on the way.
fn outermost(outer: &mut Map<Block, Block>, mut header: Block) -> Block {
    while outer[header] != header {
        outer[header] = outer[outer[header]];
        header = outer[header];
    }
    header
}
