//! Barrier regions: the code between one barrier of the block and the next.
//!
//! Between two barriers the threads of a block run in any order, so a region is what can be checked, repaired and run
//! again as a whole: `repair` runs a region again from its start, for which it must know what has to be saved there.

use super::bitset::BitSet;
use super::callgraph::{CallGraph, CallKind};
use super::cfg::Cfg;
use super::defuse::DefUse;
use super::graph::Block;
use super::lists::Lists;
use super::liveness::Liveness;
use super::local_memory::{LocalMemory, Point};
use crate::entity::{Id, Map, define_id};
use crate::ir::{FuncId, Function, Module, Reg, StmtId, Symbol};
use crate::ops::{Effect, Op};
use crate::types::Type;
use crate::view::View;

define_id! {
    /// A barrier region of a function, or the point at which it starts.
    Region "region"
}

/// The barrier regions of a function.
///
/// A region starts when control enters the function, or behind a reachable instruction that waits for the threads of
/// the block (`bar.sync`, `barrier.sync`, `bar.red`, `barrier.red`, whatever the number of the barrier and of threads).
/// It goes on along all paths up to the next such instruction, or to where control leaves the function. Control also
/// goes on behind a *guarded* barrier without starting a new region, because the guard may not hold.
///
/// Regions may overlap: two of them may meet before they come to the next barrier. Whether all threads of a block come
/// to the same barrier is not asked here. Barriers in functions that are called are not followed, but noted in
/// [`RegionFacts::calls_barrier`].
#[derive(Clone, Debug)]
pub struct BarrierRegions {
    starts: Map<Region, RegionStart>,
    /// The facts of each region; one for all of them if the answer is conservative.
    facts: Vec<RegionFacts>,
    marks: Lists<Block, Mark>,
    region_at: Map<StmtId, Option<Region>>,
    allocates_stack: bool,
    is_exact: bool,
}

/// Where a region starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegionStart {
    /// Where control enters the function.
    Entry,
    /// Behind a barrier.
    Barrier(StmtId),
}

/// What is known of a region.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RegionFacts {
    /// The regions that start at the barriers to which control may come next.
    pub next: Vec<Region>,
    /// Whether control may leave the function without coming to another barrier.
    pub may_leave: bool,
    /// Whether a call in the region may wait at a barrier of the block, so that it is not one region really.
    pub calls_barrier: bool,
    /// Instructions in the region that arrive at a barrier of the block without waiting.
    pub arrivals: Vec<StmtId>,
    /// Instructions in the region that arrive, or wait, at the barrier of the cluster.
    pub cluster_barriers: Vec<StmtId>,
    /// The registers other than predicates that are live at the start, in ascending order.
    pub live: Vec<Reg>,
    /// The predicates that are live at the start, in ascending order.
    pub predicates: Vec<Reg>,
    /// Whether the carry flag is live at the start.
    pub carry: bool,
    /// The `.local` variables that may have been written before the start and may be read behind it.
    pub locals: Vec<Symbol>,
}

/// A run of statements of one block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Piece {
    /// The block.
    pub block: Block,
    /// The place of the first statement in the block.
    pub start: usize,
    /// The place behind the last statement: behind the barrier, if one ends it.
    pub end: usize,
}

/// What a barrier instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BarrierKind {
    /// Waits for the threads of the block.
    Wait,
    /// Arrives at a barrier of the block, and does not wait.
    Arrive,
    /// Arrives, or waits, at the barrier of the cluster.
    Cluster,
}

impl BarrierKind {
    /// The kind of barrier that an instruction is, if it is one. Barriers of a warp and barrier objects are none.
    pub fn of(view: &View<'_>) -> Option<Self> {
        if view.effect() != Some(Effect::Barrier) {
            return None;
        }
        Some(match view.op()? {
            Op::BarArrive | Op::BarrierArrive => Self::Arrive,
            Op::BarrierClusterArrive | Op::BarrierClusterWait => Self::Cluster,
            _ => Self::Wait,
        })
    }
}

/// The functions that may wait at a barrier of the block, themselves or in a function that they call. Functions that
/// the module does not define may, except those of the CUDA runtime that every module may call.
pub fn functions_with_barriers(module: &Module, calls: &CallGraph) -> BitSet<FuncId> {
    const WITHOUT_BARRIER: &[&str] = &["vprintf", "malloc", "free", "__assertfail"];
    calls.callers_of(|id| {
        let Some(function) = id.map(|id| &module.functions[id]) else { return true };
        let Some(body) = &function.body else { return !WITHOUT_BARRIER.contains(&module.text(function.name)) };
        let views = body.iter().filter_map(|id| View::of(&module.forms, body, id));
        views.into_iter().any(|view| BarrierKind::of(&view) == Some(BarrierKind::Wait))
    })
}

/// The analyses that barrier regions rest on.
#[derive(Clone, Copy, Debug)]
pub struct RegionInputs<'a> {
    /// The control-flow graph of the function.
    pub cfg: &'a Cfg,
    /// Reads and writes of the function.
    pub def_use: &'a DefUse,
    /// Live registers of the function.
    pub liveness: &'a Liveness,
    /// The calls of the module.
    pub calls: &'a CallGraph,
    /// The functions of the module that may wait: [`functions_with_barriers`].
    pub with_barriers: &'a BitSet<FuncId>,
}

/// More visits of blocks than this, or registers and variables in all regions together, are not made (64 Mi).
const MAX_WORK: usize = 1 << 26;

impl BarrierRegions {
    /// The regions of a kernel or function.
    pub fn of(module: &Module, function: FuncId, inputs: RegionInputs<'_>) -> Self {
        Self::with_limit(module, function, inputs, MAX_WORK)
    }

    fn with_limit(module: &Module, function: FuncId, inputs: RegionInputs<'_>, max_work: usize) -> Self {
        let cfg = inputs.cfg;
        let marks = Marks::of(module, function, inputs);
        let mut regions = Self {
            starts: Map::new(),
            facts: Vec::new(),
            region_at: Map::filled(marks.statements, None),
            marks: marks.at,
            allocates_stack: marks.allocates_stack,
            is_exact: true,
        };
        regions.starts.push(RegionStart::Entry);
        for &block in cfg.graph().reverse_post_order() {
            for mark in regions.marks[block].iter().filter(|mark| mark.is_wait()) {
                let barrier = cfg.statements(block)[mark.place as usize];
                regions.region_at[barrier] = Some(regions.starts.push(RegionStart::Barrier(barrier)));
            }
        }
        let locals = LocalMemory::of(module, function, cfg);
        let function = &module.functions[function];
        match regions.exact_facts(function, inputs, &locals, max_work) {
            Some(facts) => regions.facts = facts,
            None => {
                regions.facts = vec![regions.conservative_facts(function, inputs, &locals)];
                regions.is_exact = false;
            }
        }
        regions
    }

    /// Number of regions.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is no region, which never is: control always enters.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// All regions. The first starts where control enters.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Region> + ExactSizeIterator + use<> {
        self.starts.ids()
    }

    /// Where a region starts.
    pub fn start(&self, region: Region) -> RegionStart {
        self.starts[region]
    }

    /// The region that starts at a barrier; nothing if the statement is none, or cannot be reached.
    pub fn at_barrier(&self, statement: StmtId) -> Option<Region> {
        self.region_at.get(statement).copied().flatten()
    }

    /// What is known of a region.
    pub fn facts(&self, region: Region) -> &RegionFacts {
        &self.facts[if self.is_exact { region.index() } else { 0 }]
    }

    /// Whether the function takes memory from the stack (`alloca`), which lives across regions too.
    pub fn allocates_stack(&self) -> bool {
        self.allocates_stack
    }

    /// Whether the facts are exact. In a function with so many barriers and blocks that they would take too long to
    /// find, all regions have the same facts: those of all code, registers and local variables of the function.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The code of a region, in no particular order. The piece that a region starts and ends with may be of one block.
    pub fn pieces(&self, cfg: &Cfg, region: Region) -> Vec<Piece> {
        let mut walk = RegionWalk::new(cfg, &self.marks);
        let mut pieces = Vec::new();
        walk.run(self.start_of(cfg, region), |piece, _| pieces.push(piece));
        pieces
    }

    /// The block and place at which the code of a region begins.
    fn start_of(&self, cfg: &Cfg, region: Region) -> (Block, usize) {
        match self.starts[region] {
            RegionStart::Entry => (cfg.entry(), 0),
            RegionStart::Barrier(statement) => {
                let (block, place) = cfg.place_of(statement).expect("barriers come from the graph");
                (block, place + 1)
            }
        }
    }
}
