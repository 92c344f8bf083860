//! Uniformity: which registers hold the same, or regularly spaced, values in all lanes of a warp; and which hold the same
//! in all threads of a block ([`BlockUniformity`]).
//!
//! A device that runs a warp in vector registers keeps a value that is the same in all lanes in a scalar, and so it does
//! with one that rises by a constant from lane to lane; it branches without masks where all lanes go the same way, and
//! loads 32 consecutive words with one instruction. On a prototype, finding those was worth a factor of two to nine.
//!
//! ```
//! use ptx::analysis::{Cfg, Class, LaunchFacts, Uniformity};
//!
//! let text = ".version 8.0\n.target sm_80\n.address_size 64\n\
//!     .visible .entry k() { .reg .b32 %r; .reg .b64 %a;\n\
//!     mov.u32 %r, %tid.x; mul.wide.u32 %a, %r, 4; ret; }";
//! let module = ptx::parse(text).module;
//! let function = &module.functions[module.function("k").unwrap()];
//! let cfg = Cfg::of(&module.forms, function);
//! let facts = LaunchFacts::of(&module.names, function).with_block([256, 1, 1]);
//! let uniformity = Uniformity::of(&module, function, &cfg, &facts);
//! let address = uniformity.reg(function.regs.ids().nth(1).unwrap()).unwrap();
//! assert_eq!(address.class(), Class::Affine { stride: 4 });
//! ```
//!
//! **What is claimed.** [`Uniformity::value`] says how the values of a register are related in the lanes that execute
//! an instruction together (see [`LaneValue`]). Registers are split into [`Web`]s: values of different webs never meet.
//! The claim is strong enough to store a web with one base for each setting of its free bits, and to let each write
//! replace the bases of the lanes that are active: no lane that is elsewhere still needs what is overwritten. Two webs of
//! one register need two places.
//!
//! **What is presumed.** Lanes that part at a branch meet again as early as control flow allows, and loops are run in
//! step. To be exact: a block is run for all lanes that come to it in an iteration of the loops around it at once, when
//! no other lane can still come to it in that iteration; the next iteration starts when no lane is left in the one
//! before. Running blocks in the order of the text, with masks of lanes that wait, does so where the text has loops in
//! one piece and branches back only from their ends, and where lanes that continue a loop early wait for the end of it.
//! In loops with several entries, where iterations are not defined, nothing is claimed of values that cross blocks once
//! lanes disagree on a branch anywhere in the function.
//!
//! Registers that are read before they are written may hold anything, so they are taken to hold what fits. A `.uni` that
//! the program states is reported but not believed. Functions that are called return in all lanes that called them.
//!
//! **Guards.** PTX computes indices in 32 bits and addresses in 64. Whether `base + lane` can be extended as one number
//! depends on whether it wraps. It does not if the base is known to be a multiple of 32, as it is where threads are
//! numbered `blockIdx * blockDim + threadIdx`; otherwise the extended value is claimed to be regular on condition that a
//! comparison of the base holds at run time ([`Uniformity::guards`]). Values that depend on such conditions are marked
//! ([`LaneValue::needs_guard`]); whoever does not want to check treats them as anything. No claim about control flow
//! depends on one.
//!
//! **What is missed.** Multiples of a number that is the same in all lanes but not known (`tid * pitch`) are anything,
//! although they rise by the same amount from lane to lane. Ranges come from types, special registers and arithmetic, not
//! from branches (`if (i < n)`). Values that pass through memory are only known to be the same if the address is.

mod arithmetic;
mod block;
mod divergence;
mod launch;
mod solver;
mod transfer;
mod value;
mod webs;

pub use arithmetic::WrapCheck;
pub use block::{BlockScope, BlockUniformity};
pub use launch::LaunchFacts;
pub use value::{Class, LANES, LaneValue, NoWrap, Signedness};
pub use webs::Web;

use self::divergence::Divergence;
use self::solver::{Solution, Solver};
use self::transfer::Transfer;
use self::webs::Webs;
use super::bitset::BitSet;
use super::cfg::Cfg;
use super::defuse::DefUse;
use super::dominators::DominatorTree;
use super::graph::Block;
use super::lists::Lists;
use super::liveness::Liveness;
use super::reaching::Reaching;
use crate::entity::Map;
use crate::ir::{Body, Function, Module, Reg, StmtId, Symbol};

/// Which registers of a function hold the same, or regularly spaced, values in all lanes of a warp.
#[derive(Clone, Debug)]
pub struct Uniformity {
    webs: Webs,
    values: Map<Web, LaneValue>,
    regs: Map<Reg, Option<LaneValue>>,
    branches: Lists<Block, Branch>,
    divergent_blocks: BitSet<Block>,
    guards: Vec<WrapGuard>,
    /// The addresses of the variables that operands of statements name, by statement and operand.
    symbols: Vec<((StmtId, usize), LaneValue)>,
    is_exact: bool,
}

/// A place where control may go on in several ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Branch {
    /// The branch, `ret`, `exit` or `trap`.
    pub statement: StmtId,
    /// Whether lanes may disagree.
    pub uniformity: BranchUniformity,
}

/// Whether lanes agree on a branch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BranchUniformity {
    /// All active lanes go the same way.
    Uniform,
    /// The program states by `.uni` that all active lanes go the same way; it could not be proven.
    Stated,
    /// Lanes may go different ways.
    Divergent,
}

/// A condition on which the claims about values depend that are marked with [`LaneValue::needs_guard`].
///
/// Before the statement is executed, the base of the register that it reads is looked at once for each group of lanes
/// with one base. If the check does not hold, the statement and all that depends on it must be computed lane by lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WrapGuard {
    /// The statement whose result depends on it.
    pub statement: StmtId,
    /// A register that it reads.
    pub reg: Reg,
    /// What must hold for the base of the register.
    pub check: WrapCheck,
}

/// What is known of a function besides its text.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// How it is launched.
    pub facts: &'a LaunchFacts,
    /// Where variables are in their state space, as far as that was decided.
    pub addresses: &'a dyn Fn(Symbol) -> Option<u64>,
    /// Comparisons (`setp`) that are false for all lanes, because who runs the function makes sure of it.
    pub is_false: &'a dyn Fn(StmtId) -> bool,
}

impl std::fmt::Debug for Given<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Given").field("facts", self.facts).finish_non_exhaustive()
    }
}

impl<'a> Given<'a> {
    /// Only how it is launched.
    pub fn launch(facts: &'a LaunchFacts) -> Self {
        Self { facts, addresses: &|_| None, is_false: &|_| false }
    }
}

impl Uniformity {
    /// Analyses a function. The module tells the alignment of variables.
    pub fn of(module: &Module, function: &Function, cfg: &Cfg, facts: &LaunchFacts) -> Self {
        Self::given(module, function, cfg, Given::launch(facts))
    }

    /// The same for whoever knows more.
    pub fn given(module: &Module, function: &Function, cfg: &Cfg, given: Given<'_>) -> Self {
        let empty = Body::new();
        let body = function.body.as_ref().unwrap_or(&empty);
        let def_use = DefUse::of(&module.forms, function);
        let dominators = DominatorTree::dominators(cfg.graph());
        let liveness = Liveness::of(cfg, &def_use);
        let reaching = Reaching::of(cfg, &def_use, &dominators, &liveness);
        let webs = Webs::of(cfg, &def_use, &reaching);
        let transfer = Transfer::new(module, function, given, &webs);
        let divergence = Divergence::new(cfg.graph(), &dominators, &liveness, &webs);
        let solution = Solver::new(cfg, body, &webs, transfer, divergence).solve();
        let values = solution.values;
        let mut regs = Map::filled(def_use.registers(), None);
        for (web, &reg) in webs.regs.iter() {
            let joined = regs[reg].map_or(values[web], |other: LaneValue| other.join(values[web]));
            regs[reg] = Some(joined);
        }
        let Solution { branches, divergent_blocks, guards, symbols, is_exact, .. } = solution;
        Self { webs, values, regs, branches, divergent_blocks, guards, symbols, is_exact }
    }

    /// What is known of a web.
    pub fn value(&self, web: Web) -> &LaneValue {
        &self.values[web]
    }

    /// All webs.
    pub fn webs(&self) -> impl ExactSizeIterator<Item = Web> + use<> {
        self.values.ids()
    }

    /// The register that a web is a part of.
    pub fn reg_of(&self, web: Web) -> Reg {
        self.webs.regs[web]
    }

    /// The web of a register that a statement reads. Nothing if it does not read the register, or cannot be reached.
    pub fn read(&self, statement: StmtId, reg: Reg) -> Option<Web> {
        self.webs.read(statement, reg)
    }

    /// The web of a register that a statement writes. Nothing if it does not write the register, or cannot be reached.
    pub fn written(&self, statement: StmtId, reg: Reg) -> Option<Web> {
        self.webs.written(statement, reg)
    }

    /// What is known of a register wherever it is used: what holds for all of its webs. Nothing if no code that can be
    /// reached uses it.
    ///
    /// This does not mean that one place is enough for all webs of a register: lanes on different ways may hold
    /// different ones at the same time.
    pub fn reg(&self, reg: Reg) -> Option<&LaneValue> {
        self.regs.get(reg)?.as_ref()
    }

    /// Whether lanes agree on how control goes on at the end of a block; nothing if there is only one way.
    pub fn branch(&self, block: Block) -> Option<Branch> {
        self.branches[block].first().copied()
    }

    /// All places where control may go on in several ways.
    pub fn branches(&self) -> impl Iterator<Item = (Block, Branch)> {
        self.branches.ids().flat_map(|block| self.branches[block].iter().map(move |&branch| (block, branch)))
    }

    /// Whether a block may be run for fewer lanes than the function was entered with.
    pub fn is_divergent(&self, block: Block) -> bool {
        self.divergent_blocks.contains(block)
    }

    /// The blocks that may be run for fewer lanes than the function was entered with.
    pub fn divergent_blocks(&self) -> impl Iterator<Item = Block> {
        self.divergent_blocks.iter()
    }

    /// The conditions on which claims depend, in the order of reverse post-order.
    pub fn guards(&self) -> &[WrapGuard] {
        &self.guards
    }

    /// Whether all branches could be looked at one by one. In a function in which that would take minutes, any
    /// disagreement of lanes affects all registers.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The address that an operand of a statement gives by the name of a variable.
    pub(super) fn symbol_address(&self, statement: StmtId, operand: usize) -> Option<&LaneValue> {
        let place = self.symbols.binary_search_by_key(&(statement, operand), |&(key, _)| key).ok()?;
        Some(&self.symbols[place].1)
    }
}
