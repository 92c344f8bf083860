//! Block uniformity: which registers hold the same in all threads of a block, or in the same lane of all of its warps.
//!
//! This is an analysis beside that of a warp, and not that with another scope, because it rests on less. Lanes of a warp
//! run in step, so what they load from one address at one time is the same, and where they meet again is known. Warps run
//! in any order: between the loads of two warps a third may write, votes and shuffles give each warp its own answer, and
//! nothing is known of who is where. So what all threads of a block hold depends on nothing but the launch, the block
//! and constants: the counter of a loop that all threads run equally often, for instance. It needs no webs, ranges or
//! strides either, because nobody keeps the registers of several warps in one.

use super::launch::LaunchFacts;
use crate::analysis::bitset::BitSet;
use crate::analysis::cfg::Cfg;
use crate::analysis::defuse::DefUse;
use crate::analysis::dominators::DominatorTree;
use crate::analysis::graph::Block;
use crate::analysis::lists::Lists;
use crate::entity::Map;
use crate::ir::{Function, Module, Operand, Param, Reg, StmtId, Symbol};
use crate::ops::{Effect, Mod};
use crate::special::Special;
use crate::types::Space;
use crate::view::{AccessSpace, View};

/// After so many steps through blocks, the answer is that everything may differ. Branches may lie in one another, so a
/// function of a million blocks could otherwise take hours.
const MAX_STEPS: usize = 1 << 23;

/// Which registers of a function hold the same in threads of different warps, and which blocks all of them come to.
///
/// ```
/// use ptx::analysis::{BlockScope, BlockUniformity, Cfg, DefUse, LaunchFacts};
///
/// let text = ".version 8.0\n.target sm_80\n.address_size 64\n\
///     .visible .entry k() { .reg .b32 %r<2>; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; ret; }";
/// let module = ptx::parse(text).module;
/// let function = &module.functions[module.function("k").unwrap()];
/// let cfg = Cfg::of(&module.forms, function);
/// let def_use = DefUse::of(&module.forms, function);
/// let facts = LaunchFacts::default().with_block([16, 16, 1]);
/// let of = |scope| BlockUniformity::of(&module, function, &cfg, &def_use, &facts, scope);
/// let [number_of_block, number_in_row] = [0, 1].map(|nth| function.regs.ids().nth(nth).unwrap());
/// assert!(of(BlockScope::Threads).is_block_uniform(number_of_block));
/// assert!(!of(BlockScope::Threads).is_block_uniform(number_in_row));
/// // A warp has two rows of 16, so the lanes of every warp have the same numbers.
/// assert!(of(BlockScope::Lanes).is_block_uniform(number_in_row));
/// ```
///
/// **What is claimed.** Whenever two threads of the scope have executed the same statements equally often, they hold the
/// same in a register of which it is claimed. Nothing is claimed of registers that are written where threads may have come
/// by different ways. Registers that are read before they are written are taken to hold the same.
///
/// **What is missed.** What passes through memory that can be written; arguments of a function that is called; what a
/// branch that depends on the thread leaves the same by chance.
#[derive(Clone, Debug)]
pub struct BlockUniformity {
    differing: BitSet<Reg>,
    divergent_blocks: BitSet<Block>,
    is_exact: bool,
}

/// The threads that are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlockScope {
    /// All threads of a block.
    Threads,
    /// The same lane of each warp of a block. What they hold may depend on the lane: the column of a thread, in a block
    /// of which each warp has whole rows.
    Lanes,
}

impl BlockUniformity {
    /// Analyses a function.
    pub fn of(
        module: &Module,
        function: &Function,
        cfg: &Cfg,
        def_use: &DefUse,
        facts: &LaunchFacts,
        scope: BlockScope,
    ) -> Self {
        let mut solver = Solver {
            cfg,
            def_use,
            readers: readers(cfg, def_use),
            post_dominators: DominatorTree::post_dominators(cfg.graph()),
            differing: BitSet::new(def_use.registers()),
            divergent_blocks: BitSet::new(cfg.len()),
            divergent_branches: BitSet::new(cfg.len()),
            marked_until: Map::filled(cfg.len(), None),
            queue: Vec::new(),
            steps: 0,
        };
        if !function.is_entry() {
            // Callers pass what they like.
            def_use.parameters().iter().for_each(|&reg| solver.differ(reg));
        }
        for block in cfg.blocks() {
            for &statement in cfg.statements(block) {
                let view = function.body.as_ref().and_then(|body| View::of(&module.forms, body, statement));
                if view.is_some_and(|view| !computes_the_same(function, &view, facts, scope)) {
                    solver.writes_differ(statement);
                }
            }
        }
        solver.solve();
        let is_exact = solver.is_exact();
        Self { differing: solver.differing, divergent_blocks: solver.divergent_blocks, is_exact }
    }

    /// Whether all threads of the scope hold the same in a register, wherever they read it.
    pub fn is_block_uniform(&self, reg: Reg) -> bool {
        self.is_exact && !self.differing.contains(reg)
    }

    /// Whether threads of the scope may come to a block by different ways, or not equally often. A barrier that stands
    /// elsewhere is one that all of them come to, in the same order.
    pub fn is_divergent(&self, block: Block) -> bool {
        !self.is_exact || self.divergent_blocks.contains(block)
    }

    /// Whether all branches could be looked at. If that would take minutes, everything may differ.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }
}

/// Follows what differs from register to register, and through branches.
struct Solver<'a> {
    cfg: &'a Cfg,
    def_use: &'a DefUse,
    readers: Lists<Reg, StmtId>,
    post_dominators: DominatorTree,
    differing: BitSet<Reg>,
    divergent_blocks: BitSet<Block>,
    /// Blocks at whose end threads may go different ways.
    divergent_branches: BitSet<Block>,
    /// The point of reconvergence up to which everything after a block is divergent already.
    marked_until: Map<Block, Option<Option<Block>>>,
    /// Registers whose readers were not looked at since they differ.
    queue: Vec<Reg>,
    steps: usize,
}

impl Solver<'_> {
    fn is_exact(&self) -> bool {
        self.steps < MAX_STEPS
    }

    fn differ(&mut self, reg: Reg) {
        if self.differing.insert(reg) {
            self.queue.push(reg);
        }
    }

    fn writes_differ(&mut self, statement: StmtId) {
        let def_use = self.def_use;
        def_use.writes(statement).iter().for_each(|&reg| self.differ(reg));
    }

    fn solve(&mut self) {
        while let Some(reg) = self.queue.pop().filter(|_| self.is_exact()) {
            for reader in self.readers.range(reg) {
                let statement = self.readers.items()[reader];
                self.writes_differ(statement);
                let block = self.cfg.block_of(statement).expect("readers are in blocks");
                if self.cfg.terminator(block) == Some(statement) && self.divergent_branches.insert(block) {
                    self.diverge(block);
                }
            }
        }
    }

    /// Threads go different ways from the end of a block: until they meet again, nothing that they write is the same.
    fn diverge(&mut self, branch: Block) {
        let reconvergence = self.post_dominators.immediate(branch);
        let mut left = self.cfg.successors(branch).to_vec();
        while let Some(block) = left.pop().filter(|_| self.is_exact()) {
            self.steps += 1;
            if Some(block) == reconvergence || self.marked_until[block].replace(reconvergence) == Some(reconvergence) {
                continue;
            }
            if self.divergent_blocks.insert(block) {
                let cfg = self.cfg;
                cfg.statements(block).iter().for_each(|&statement| self.writes_differ(statement));
            }
            left.extend(self.cfg.successors(block));
        }
    }
}

/// The statements that read each register.
fn readers(cfg: &Cfg, def_use: &DefUse) -> Lists<Reg, StmtId> {
    let mut readers = Vec::new();
    for block in cfg.blocks() {
        for &statement in cfg.statements(block) {
            readers.extend(def_use.reads(statement).iter().map(|&reg| (reg, statement)));
        }
    }
    Lists::from_pairs(def_use.registers(), &readers)
}

/// Whether threads that read the same registers compute the same.
fn computes_the_same(function: &Function, view: &View<'_>, facts: &LaunchFacts, scope: BlockScope) -> bool {
    let mut has_same_operands = true;
    // Special registers may stand in braces, too: `mov.b64 %rd1, {%tid.x, %r1}`.
    view.body.for_each_operand(view.inst.operands, &mut |operand| {
        if let Operand::Special(special) = operand {
            has_same_operands &= match scope {
                BlockScope::Threads => is_of_block(special, facts.block),
                BlockScope::Lanes => is_of_lane(special, facts.block),
            };
        }
    });
    match view.effect() {
        // Generic addresses of local memory are those of one thread.
        Some(Effect::Pure) => has_same_operands && !view.form.has(Mod::Local),
        Some(Effect::Load) => view.accesses().iter().all(|access| match access.space {
            AccessSpace::State(Space::Const) => true,
            AccessSpace::State(Space::Param) => is_param_of_kernel(function, &view.operands()[access.address]),
            _ => false,
        }),
        _ => false,
    }
}

/// Whether an address is in a parameter of the kernel, and not in one that is passed to a function.
fn is_param_of_kernel(function: &Function, address: &Operand) -> bool {
    let Operand::SymbolAddress(Symbol::Var(var), _) = address else { return false };
    function.is_entry() && function.params.contains(&Param::Var(*var))
}

/// Whether a special register says something of the block or the launch, for blocks of a size.
fn is_of_block(special: Special, block: [Option<u32>; 3]) -> bool {
    use Special::*;
    match special {
        NtidX | NtidY | NtidZ | CtaidX | CtaidY | CtaidZ | NctaidX | NctaidY | NctaidZ => true,
        DynamicSmemSize | TotalSmemSize => true,
        TidX => block[0] == Some(1),
        TidY => block[1] == Some(1),
        TidZ => block[2] == Some(1),
        _ => false,
    }
}

/// Whether a special register is the same for the same lanes of all warps of a block.
fn is_of_lane(special: Special, block: [Option<u32>; 3]) -> bool {
    use Special::*;
    // Numbers repeat from warp to warp if a warp has a whole number of rows, or of planes.
    let repeats_after = |sizes: &[Option<u32>]| {
        let threads = sizes.iter().try_fold(1_u32, |product, size| product.checked_mul((*size)?));
        threads.is_some_and(|threads| threads != 0 && 32 % threads == 0)
    };
    match special {
        Laneid | LanemaskEq | LanemaskLe | LanemaskLt | LanemaskGe | LanemaskGt => true,
        TidX => repeats_after(&block[..1]),
        TidY => repeats_after(&block[..2]),
        TidZ => repeats_after(&block),
        _ => is_of_block(special, block),
    }
}
