//! The graph algorithms against their definitions, on random graphs of up to 12 blocks: reducible or not, with blocks
//! that cannot be reached, and with loops that cannot be left.

use std::collections::BTreeSet;

use proptest::prelude::*;
use ptx::analysis::{Block, Components, DominatorTree, Frontiers, Graph, Lists, LoopId, Loops};
use ptx::entity::Id;

/// A graph as plain data, on which everything is decided by searching.
#[derive(Clone, Debug)]
struct Model {
    edges: Vec<BTreeSet<usize>>,
    exits: BTreeSet<usize>,
    entry: usize,
}

fn models() -> impl Strategy<Value = Model> {
    (1_usize..=12)
        .prop_flat_map(|blocks| {
            let edges = prop::collection::vec((0..blocks, 0..blocks), 0..=blocks * 2);
            let exits = prop::collection::btree_set(0..blocks, 0..=3);
            (Just(blocks), edges, exits, 0..blocks)
        })
        .prop_map(|(blocks, pairs, exits, entry)| {
            let mut edges = vec![BTreeSet::new(); blocks];
            for (from, to) in pairs {
                edges[from].insert(to);
            }
            Model { edges, exits, entry }
        })
}

impl Model {
    fn graph(&self) -> Graph {
        let pairs = self.edges.iter().enumerate().flat_map(|(from, to)| to.iter().map(move |&to| (from, to)));
        let edges: Vec<_> = pairs.map(|(from, to)| (Block::new(from), Block::new(to))).collect();
        Graph::new(self.edges.len(), Block::new(self.entry), &edges, self.exits.iter().map(|&exit| Block::new(exit)))
    }

    fn blocks(&self) -> std::ops::Range<usize> {
        0..self.edges.len()
    }

    /// What can be reached from `from` without going through a block for which `is_wall` holds, `from` included.
    fn reached(&self, from: usize, is_wall: impl Fn(usize) -> bool) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut stack = vec![from];
        while let Some(block) = stack.pop() {
            if !is_wall(block) && reached.insert(block) {
                stack.extend(&self.edges[block]);
            }
        }
        reached
    }

    fn reachable(&self) -> BTreeSet<usize> {
        self.reached(self.entry, |_| false)
    }

    /// Without `above`, `below` could not be reached.
    fn dominates(&self, above: usize, below: usize) -> bool {
        let reachable = self.reachable();
        reachable.contains(&above)
            && reachable.contains(&below)
            && !self.reached(self.entry, |block| block == above).contains(&below)
    }

    /// The exits, and the block with the highest position of each part that is never left.
    fn ends(&self, graph: &Graph) -> BTreeSet<usize> {
        let mut ends = self.exits.clone();
        for block in self.reachable() {
            let part = self.reached(block, |_| false);
            let is_closed = part.iter().all(|&other| self.reached(other, |_| false) == part);
            if is_closed && part.is_disjoint(&self.exits) {
                ends.extend(part.iter().copied().max_by_key(|&block| graph.position(Block::new(block))));
            }
        }
        ends
    }

    /// Without `above`, no end could be reached from `below`.
    fn post_dominates(&self, ends: &BTreeSet<usize>, above: usize, below: usize) -> bool {
        let reachable = self.reachable();
        reachable.contains(&above)
            && reachable.contains(&below)
            && self.reached(below, |block| block == above).is_disjoint(ends)
    }

    /// The natural loop of a header: the blocks that reach a back edge to it without going through it.
    fn natural_loop(&self, header: usize) -> Option<BTreeSet<usize>> {
        let latches: BTreeSet<_> = self.blocks().filter(|&from| self.is_back_edge(from, header)).collect();
        let in_loop =
            |&block: &usize| block == header || !self.reached(block, |block| block == header).is_disjoint(&latches);
        (!latches.is_empty()).then(|| self.reachable().into_iter().filter(in_loop).collect())
    }

    fn is_back_edge(&self, from: usize, to: usize) -> bool {
        self.edges[from].contains(&to) && self.dominates(to, from)
    }

    fn without(&self, is_removed: impl Fn(usize, usize) -> bool) -> Model {
        let mut model = self.clone();
        for (from, targets) in model.edges.iter_mut().enumerate() {
            targets.retain(|&to| !is_removed(from, to));
        }
        model
    }

    fn is_on_cycle(&self, block: usize) -> bool {
        self.edges[block].iter().any(|&next| self.reached(next, |_| false).contains(&block))
    }
}

fn indices<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> BTreeSet<usize> {
    blocks.into_iter().map(|block| block.index()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Fails if a reachable block is left out, an unreachable one is taken in, or a cycle lacks a retreating edge: then
    /// walks in this order would miss what comes around the cycle.
    #[test]
    fn reverse_post_order_has_each_reachable_block_once_and_cuts_all_cycles(model in models()) {
        let graph = model.graph();
        prop_assert_eq!(indices(graph.reverse_post_order()), model.reachable());
        prop_assert_eq!(graph.reverse_post_order().len(), model.reachable().len());
        prop_assert_eq!(graph.reverse_post_order()[0].index(), model.entry);
        let acyclic = model.without(|from, to| graph.is_retreating(Block::new(from), Block::new(to)));
        for block in model.reachable() {
            prop_assert!(!acyclic.is_on_cycle(block));
            let targets: BTreeSet<_> = indices(graph.successors(Block::new(block)));
            prop_assert_eq!(&targets, &model.edges[block]);
            for target in targets {
                prop_assert!(graph.predecessors(Block::new(target)).contains(&Block::new(block)));
            }
        }
    }

    /// Fails on a wrong semidominator, a wrong bucket, or a wrong interval of the tree: any pair of blocks would tell.
    #[test]
    fn dominators_are_the_blocks_without_which_a_block_is_unreachable(model in models()) {
        let tree = DominatorTree::dominators(&model.graph());
        check_tree(&model, &tree, |above, below| model.dominates(above, below))?;
    }

    /// Fails as above, and if an endless loop has other post-dominators than documented.
    #[test]
    fn post_dominators_are_the_blocks_without_which_no_end_is_reachable(model in models()) {
        let graph = model.graph();
        let tree = DominatorTree::post_dominators(&graph);
        let ends = model.ends(&graph);
        check_tree(&model, &tree, |above, below| model.post_dominates(&ends, above, below))?;
    }

    /// Fails if a join is missing (then a version of a register would be) or is there without need, or if a branch on
    /// which a block depends is missing.
    #[test]
    fn frontiers_are_where_dominance_ends(model in models()) {
        let graph = model.graph();
        let frontiers = Frontiers::dominance(&graph, &DominatorTree::dominators(&graph), usize::MAX).unwrap();
        let post_dominators = DominatorTree::post_dominators(&graph);
        let post_frontiers = Frontiers::post_dominance(&graph, &post_dominators, usize::MAX).unwrap();
        let ends = model.ends(&graph);
        for block in model.blocks() {
            let is_join = |&join: &usize| {
                let dominates_predecessor =
                    model.blocks().any(|from| model.edges[from].contains(&join) && model.dominates(block, from));
                dominates_predecessor && !(block != join && model.dominates(block, join))
            };
            let expected: BTreeSet<_> = model.reachable().into_iter().filter(is_join).collect();
            let found = frontiers.of_block(Block::new(block));
            prop_assert_eq!(indices(found), expected, "of {}", block);
            prop_assert_eq!(found.len(), indices(found).len());

            let decides = |&branch: &usize| {
                let post_dominates = |below| model.post_dominates(&ends, block, below);
                let next = &model.edges[branch];
                next.iter().any(|&next| post_dominates(next)) && !(block != branch && post_dominates(branch))
            };
            let expected: BTreeSet<_> = model.reachable().into_iter().filter(decides).collect();
            let found = post_frontiers.of_block(Block::new(block));
            prop_assert_eq!(indices(found), expected, "post-dominance, of {}", block);
            prop_assert_eq!(found.len(), indices(found).len());
        }
    }

    /// Fails if a loop lacks a block or has one too many, is nested wrongly, or if its members are not in one piece.
    #[test]
    fn loops_are_what_reaches_a_back_edge_without_the_header(model in models()) {
        let graph = model.graph();
        let loops = Loops::of(&graph, &DominatorTree::dominators(&graph));
        let natural: Vec<_> =
            model.blocks().filter_map(|header| Some((header, model.natural_loop(header)?))).collect();
        prop_assert_eq!(loops.len(), natural.len());
        for (header, members) in &natural {
            let id = loops.headed_by(Block::new(*header));
            prop_assert!(id.is_some(), "no loop with header {}", header);
            let id = id.unwrap();
            prop_assert_eq!(&indices(loops.members(id)), members);
            prop_assert_eq!(loops.members(id).len(), members.len());
            let latches: BTreeSet<_> = model.blocks().filter(|&from| model.is_back_edge(from, *header)).collect();
            prop_assert_eq!(indices(loops.latches(id)), latches);
            let outer = natural.iter().filter(|(_, outer)| outer != members && outer.is_superset(members));
            prop_assert_eq!(loops.loop_depth(id) as usize, outer.clone().count() + 1);
            let parent = outer.min_by_key(|(_, outer)| outer.len()).map(|(header, _)| *header);
            prop_assert_eq!(loops.parent(id).map(|parent| loops.header(parent).index()), parent);
            let leaves = |&(from, to): &(usize, usize)| members.contains(&from) && !members.contains(&to);
            let all = model.blocks().flat_map(|from| model.edges[from].iter().map(move |&to| (from, to)));
            let exits: BTreeSet<_> = loops.exits(&graph, id).map(|(from, to)| (from.index(), to.index())).collect();
            prop_assert_eq!(exits, all.filter(leaves).collect::<BTreeSet<_>>());
        }
        for block in model.blocks() {
            let around: Vec<_> = natural.iter().filter(|(_, members)| members.contains(&block)).collect();
            prop_assert_eq!(loops.depth(Block::new(block)) as usize, around.len());
            let innermost = around.iter().min_by_key(|(_, members)| members.len()).map(|(header, _)| *header);
            let found: Option<LoopId> = loops.innermost(Block::new(block));
            prop_assert_eq!(found.map(|id| loops.header(id).index()), innermost);
        }
    }

    /// Fails if a cycle that no header dominates goes unnoticed, or if a natural loop is taken for one.
    #[test]
    fn irreducible_regions_are_the_cycles_without_back_edges(model in models()) {
        let graph = model.graph();
        let loops = Loops::of(&graph, &DominatorTree::dominators(&graph));
        let forward = model.without(|from, to| model.is_back_edge(from, to));
        let on_cycle: BTreeSet<_> =
            model.reachable().into_iter().filter(|&block| forward.is_on_cycle(block)).collect();
        let regions = loops.irreducible_regions();
        prop_assert_eq!(indices(regions.iter().flatten()), on_cycle.clone());
        prop_assert_eq!(regions.iter().flatten().count(), on_cycle.len());
        prop_assert_eq!(loops.is_reducible(), on_cycle.is_empty());
        for region in regions {
            let mutual = |&other: &usize| {
                let first = region[0].index();
                let reached = |from: usize| forward.reached(from, |_| false);
                reached(first).contains(&other) && reached(other).contains(&first)
            };
            prop_assert_eq!(indices(region), on_cycle.iter().copied().filter(mutual).collect::<BTreeSet<_>>());
        }
        // What is documented of the edges: with them and the back edges gone, nothing repeats.
        let cut = indices_of_edges(loops.irreducible_edges());
        let acyclic = forward.without(|from, to| cut.contains(&(from, to)));
        prop_assert!(model.reachable().into_iter().all(|block| !acyclic.is_on_cycle(block)));
    }

    /// Fails if two blocks that reach each other are apart, two that do not are together, or callers come too early.
    #[test]
    fn components_reach_each_other_and_come_before_those_that_lead_to_them(model in models()) {
        let graph = model.graph();
        let mut lists = Lists::<Block, Block>::new();
        for block in graph.blocks() {
            lists.push(graph.successors(block).iter().copied());
        }
        let components = Components::of(&lists, |_, _| true);
        let reached: Vec<_> = model.blocks().map(|block| model.reached(block, |_| false)).collect();
        for one in model.blocks() {
            for other in model.blocks() {
                let (first, second) = (components.component(Block::new(one)), components.component(Block::new(other)));
                let mutual = reached[one].contains(&other) && reached[other].contains(&one);
                prop_assert_eq!(first == second, mutual);
                if reached[one].contains(&other) {
                    prop_assert!(second <= first);
                }
            }
        }
        prop_assert_eq!(components.iter().map(|id| components.members(id).len()).sum::<usize>(), graph.len());
    }
}

fn indices_of_edges(edges: &[(Block, Block)]) -> BTreeSet<(usize, usize)> {
    edges.iter().map(|(from, to)| (from.index(), to.index())).collect()
}

/// Compares all that a tree says with the relation that it stands for.
fn check_tree(
    model: &Model,
    tree: &DominatorTree,
    dominates: impl Fn(usize, usize) -> bool,
) -> Result<(), TestCaseError> {
    for below in model.blocks() {
        let above: Vec<_> = model.blocks().filter(|&above| dominates(above, below)).collect();
        let found: Vec<_> =
            model.blocks().filter(|&above| tree.dominates(Block::new(above), Block::new(below))).collect();
        prop_assert_eq!(&found, &above, "dominators of {}", below);
        // The nearest strict dominator is the one that all others dominate.
        let strict: Vec<_> = above.iter().copied().filter(|&one| one != below).collect();
        let nearest = strict.iter().copied().find(|&one| strict.iter().all(|&other| dominates(other, one)));
        prop_assert_eq!(tree.immediate(Block::new(below)).map(Block::index), nearest);
        prop_assert_eq!(tree.roots().contains(&Block::new(below)), !above.is_empty() && strict.is_empty());
        let dominated: BTreeSet<_> = model.blocks().filter(|&other| dominates(below, other)).collect();
        prop_assert_eq!(indices(tree.dominated_by(Block::new(below))), dominated);
        for other in model.blocks() {
            let both = |&one: &usize| dominates(one, below) && dominates(one, other);
            let common: Vec<_> = model.blocks().filter(both).collect();
            let nearest = common.iter().copied().find(|&one| common.iter().all(|&above| dominates(above, one)));
            prop_assert_eq!(tree.common(Block::new(below), Block::new(other)).map(Block::index), nearest);
        }
    }
    prop_assert_eq!(tree.preorder().len(), model.reachable().len());
    Ok(())
}

/// Fails if the documented choice changes: of an endless loop, its end counts as the place where control leaves.
#[test]
fn the_end_of_an_endless_loop_post_dominates_its_body() {
    let block = Block::new;
    // 0 -> 1; 1 -> 2 or 3; 2 and 3 -> 4; 4 -> 1.
    let edges = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 1)].map(|(from, to)| (block(from), block(to)));
    let tree = DominatorTree::post_dominators(&Graph::new(5, block(0), &edges, []));
    assert_eq!(tree.roots(), [block(4)]);
    assert_eq!(tree.immediate(block(1)), Some(block(4)));
    assert_eq!(tree.immediate(block(0)), Some(block(1)));
}
