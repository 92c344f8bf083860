//! Control flow and data flow of PTX functions.
//!
//! Everything starts with the [`Cfg`] of a function and its [`DefUse`]; the rest is made from those two:
//!
//! | question | answer |
//! |---|---|
//! | Where does control go? | [`Cfg`], and the bare [`Graph`] in it |
//! | What must have run before, what will run after? | [`DominatorTree`], [`Frontiers`] |
//! | What repeats? | [`Loops`] |
//! | How many ways lead through? | [`Complexity`] |
//! | Which registers are still needed? | [`Liveness`] |
//! | Where does a value come from? | [`Reaching`] |
//! | Which object does a pointer point into? | [`Provenance`] |
//! | Who calls whom? | [`CallGraph`] |
//! | What lies between two barriers? | [`BarrierRegions`] |
//! | Which values are the same, or regular, in all lanes of a warp? | [`Uniformity`], [`AddressPattern`] |
//! | Which values are the same in all threads of a block? | [`BlockUniformity`] |
//! | What does a launch touch, and can it race? | [`footprint`] |
//!
//! ```
//! use ptx::analysis::{Cfg, DefUse, Liveness};
//!
//! let text = ".version 8.0\n.target sm_80\n.address_size 64\n\
//!     .visible .entry k() { .reg .pred %p; .reg .b32 %r;\n\
//!     mov.u32 %r, 8;\n\
//!     again: sub.u32 %r, %r, 1; setp.ne.u32 %p, %r, 0; @%p bra again;\n\
//!     ret; }";
//! let module = ptx::parse(text).module;
//! let function = &module.functions[module.function("k").unwrap()];
//! let cfg = Cfg::of(&module.forms, function);
//! let def_use = DefUse::of(&module.forms, function);
//! let liveness = Liveness::of(&cfg, &def_use);
//! let head = cfg.block_of_label(function.labels.ids().next().unwrap()).unwrap();
//! assert_eq!(cfg.successors(head).len(), 2);
//! assert_eq!(liveness.live_in(head).count(), 1);
//! ```
//!
//! Analyses describe a function as it was when they were made; an edit makes them stale. All take time and memory
//! nearly in proportion to the function, and use no recursion, because kernels have tens of thousands of instructions
//! and hostile ones millions. Where an exact answer could take memory in the square of that, there is a limit beyond
//! which the answer errs on the safe side, and says so (`is_exact`).

mod address;
mod barrier;
mod barrier_regions;
mod bitset;
mod callgraph;
mod cfg;
mod complexity;
mod components;
mod dataflow;
mod defuse;
mod dominators;
pub mod footprint;
mod frontiers;
mod graph;
mod lists;
mod liveness;
mod local_memory;
mod loops;
mod provenance;
mod reaching;
mod region_facts;
mod region_walk;
mod uniformity;

pub use address::{AddressBase, AddressPattern, AddressShape};
pub use barrier::{BarrierKind, functions_with_barriers};
pub use barrier_regions::BarrierRegions;
pub use bitset::BitSet;
pub use callgraph::{CallGraph, CallKind, CallSite, TargetList};
pub use cfg::{Cfg, Edge, EdgeKind};
pub use complexity::Complexity;
pub use components::{Component, Components};
pub use defuse::DefUse;
pub use dominators::DominatorTree;
pub use frontiers::Frontiers;
pub use graph::{Block, Graph};
pub use lists::Lists;
pub use liveness::{LiveSet, LiveWalk, Liveness};
pub use loops::{LoopId, Loops};
pub use provenance::{PointerValue, Provenance, Root};
pub use reaching::{Definition, Reaching, Version, VersionOrigin};
pub use region_facts::{Region, RegionFacts, RegionInputs, RegionStart};
pub use region_walk::Piece;
pub use uniformity::{BlockScope, BlockUniformity};
pub use uniformity::{Branch, BranchUniformity, Class, Given, LANES, LaneValue, LaunchFacts, NoWrap, Signedness};
pub use uniformity::{Uniformity, Web, WrapCheck, WrapGuard};

#[cfg(test)]
mod tests;
