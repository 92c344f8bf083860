//! Barrier regions: the code between one barrier of the block and the next.
//!
//! Between two barriers the threads of a block run in any order, so a region is what can be checked, repaired and run
//! again as a whole: `repair` runs a region again from its start, for which it must know what has to be saved there.

use super::bitset::BitSet;
use super::callgraph::CallGraph;
use super::cfg::Cfg;
use super::defuse::DefUse;
use super::graph::Block;
use super::liveness::Liveness;
use super::region_facts::FactFinder;
use super::region_walk::{Marks, Piece, RegionWalk};
use crate::entity::{Id, Map, define_id};
use crate::ir::{FuncId, Module, Reg, StmtId, Symbol};
use crate::ops::{Effect, Op};
use crate::view::View;

define_id! {
    /// A barrier region of a function, or the point at which it starts.
    Region "region"
}

/// The barrier regions of a function.
///
/// A region starts when control enters the function, or after a reachable instruction that waits for the threads of
/// the block (`bar.sync`, `barrier.sync`, `bar.red`, `barrier.red`, whatever the number of the barrier and of threads).
/// It goes on along all paths up to the next such instruction, or to where control leaves the function. Control also
/// goes on after a *guarded* barrier without starting a new region, because the guard may not hold.
///
/// Regions may overlap: two of them may meet before they come to the next barrier. Whether all threads of a block come
/// to the same barrier is not asked here. Barriers in functions that are called are not followed, but noted in
/// [`RegionFacts::calls_barrier`].
#[derive(Clone, Debug)]
pub struct BarrierRegions {
    starts: Map<Region, RegionStart>,
    /// The facts of each region; one for all of them if the answer is conservative.
    facts: Vec<RegionFacts>,
    marks: Marks,
    region_at: Map<StmtId, Option<Region>>,
    is_exact: bool,
}

/// Where a region starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegionStart {
    /// Where control enters the function.
    Entry,
    /// After a barrier.
    Barrier(StmtId),
}

impl RegionStart {
    /// The block and place at which the code of the region begins.
    pub(super) fn place(self, cfg: &Cfg) -> (Block, usize) {
        match self {
            Self::Entry => (cfg.entry(), 0),
            Self::Barrier(statement) => {
                let (block, place) = cfg.place_of(statement).expect("barriers come from the graph");
                (block, place + 1)
            }
        }
    }
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
    /// The registers other than predicates that are live at the start, in no particular order.
    pub live: Vec<Reg>,
    /// The predicates that are live at the start, in no particular order.
    pub predicates: Vec<Reg>,
    /// Whether the carry flag is live at the start.
    pub carry: bool,
    /// The `.local` variables that may have been written before the start and may be read after it.
    pub locals: Vec<Symbol>,
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

/// More visits of blocks and barriers than this, or registers in all regions together, are not made (16 Mi).
const MAX_WORK: usize = 1 << 24;

impl BarrierRegions {
    /// The regions of a kernel or function.
    pub fn of(module: &Module, function: FuncId, inputs: RegionInputs<'_>) -> Self {
        Self::with_limit(module, function, inputs, MAX_WORK)
    }

    pub(super) fn with_limit(module: &Module, function: FuncId, inputs: RegionInputs<'_>, max_work: usize) -> Self {
        let cfg = inputs.cfg;
        let marks = Marks::of(module, function, inputs);
        let mut starts = Map::new();
        let mut region_at = Map::filled(marks.statements(), None);
        starts.push(RegionStart::Entry);
        for &block in cfg.graph().reverse_post_order() {
            for barrier in marks.waits(cfg, block) {
                region_at[barrier] = Some(starts.push(RegionStart::Barrier(barrier)));
            }
        }
        let finder = FactFinder { module, function, inputs, marks: &marks, starts: &starts, region_at: &region_at };
        let exact = finder.exact(max_work);
        let is_exact = exact.is_some();
        let facts = exact.unwrap_or_else(|| vec![finder.conservative()]);
        Self { starts, facts, marks, region_at, is_exact }
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
        self.marks.allocates_stack()
    }

    /// Whether the facts are exact. In a function with so many barriers and blocks that they would take too long to
    /// find, all regions have the same facts: those of all code, registers and local variables of the function.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The code of a region, in no particular order and without repetitions. Control may come back to the block in
    /// which the region starts, which then has two pieces.
    pub fn pieces(&self, cfg: &Cfg, region: Region) -> Vec<Piece> {
        let mut pieces = Vec::new();
        RegionWalk::new(cfg, &self.marks).run(self.start(region).place(cfg), |piece, _| pieces.push(piece));
        pieces
    }
}
