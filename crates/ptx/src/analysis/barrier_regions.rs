//! Barrier regions: the code between one barrier of the block and the next.
//!
//! Between two barriers the threads of a block run in any order, so a region is what can be checked, repaired and run
//! again as a whole: `repair` runs a region again from its start, for which it must know what has to be saved there.

use super::cfg::Cfg;
use super::region_facts::{FactFinder, Region, RegionFacts, RegionInputs, RegionStart};
use super::region_walk::{Marks, Piece, RegionWalk};
use crate::entity::{Id, Map};
use crate::ir::{FuncId, Module, StmtId};

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

/// More visits of blocks and barriers than this, or registers in all regions together, are not made (16 Mi).
const MAX_WORK: usize = 1 << 24;

impl BarrierRegions {
    /// The regions of a kernel or function.
    pub fn of(module: &Module, function: FuncId, inputs: RegionInputs<'_>) -> Self {
        Self::with_limit(module, function, inputs, MAX_WORK)
    }

    pub(super) fn with_limit(module: &Module, function: FuncId, inputs: RegionInputs<'_>, max_work: usize) -> Self {
        let cfg = inputs.cfg;
        let marks = Marks::of(module, function, cfg, inputs.calls, inputs.with_barriers);
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
