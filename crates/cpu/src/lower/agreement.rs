//! What threads of different warps agree on.
//!
//! `Uniformity` knows on what the lanes of a warp agree. Warps of a block differ in more: in what they load, and in what
//! they computed from the numbers of their threads. What all threads agree on depends on nothing but the launch, the block
//! and constants: the counter of a loop that all threads run equally often, for instance. What each lane of a warp has in
//! common with the same lane of other warps may depend on the lane as well: the column of a thread, in a block of which
//! each warp has whole rows.

use ptx::analysis::{BitSet, Block, Cfg, DefUse, DominatorTree};
use ptx::ir::{Body, Function, Module, Operand, Param, Reg, StmtId, Symbol};
use ptx::ops::{Effect, Mod};
use ptx::special::Special;
use ptx::types::Space;
use ptx::view::{AccessSpace, View};
use rustc_hash::FxHashSet;

/// What threads differ in.
#[derive(Debug)]
pub(crate) struct Agreement {
    /// Registers that may differ.
    differing: FxHashSet<Reg>,
    /// Blocks at whose end threads may go different ways.
    parting: BitSet<Block>,
    post_dominators: DominatorTree,
}

impl Agreement {
    /// For threads that have the same in the special registers that `is_same` says, and that is nothing but the threads of a
    /// block, or the same lanes of its warps.
    pub(crate) fn of(
        module: &Module,
        function: &Function,
        body: &Body,
        cfg: &Cfg,
        def_use: &DefUse,
        is_same: impl Fn(Special) -> bool,
    ) -> Self {
        let post_dominators = DominatorTree::post_dominators(cfg.graph());
        let mut found = Self { differing: FxHashSet::default(), parting: BitSet::new(cfg.len()), post_dominators };
        // Blocks that threads come to by different ways, or not equally often.
        let mut dependent = BitSet::new(cfg.len());
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for block in cfg.blocks() {
                for &statement in cfg.statements(block) {
                    let Some(view) = View::of(&module.forms, body, statement) else { continue };
                    let reads_the_same = || def_use.reads(statement).iter().all(|reg| !found.differing.contains(reg));
                    if dependent.contains(block) || !computes_the_same(function, &view, &is_same) || !reads_the_same() {
                        for &reg in def_use.writes(statement) {
                            has_changed |= found.differing.insert(reg);
                        }
                    }
                }
                let reads =
                    |statement: StmtId| def_use.reads(statement).iter().any(|reg| found.differing.contains(reg));
                let is_parting = cfg.terminator(block).is_some_and(reads);
                if is_parting && found.parting.insert(block) {
                    has_changed = true;
                    for_each_before_meeting(cfg, &found.post_dominators, block, |other| {
                        dependent.insert(other);
                    });
                }
            }
        }
        found
    }

    /// Whether the threads have the same in a register wherever they read it.
    pub(crate) fn is_agreed(&self, reg: Reg) -> bool {
        !self.differing.contains(&reg)
    }

    /// Whether the threads come to barriers in the same order: where they may go different ways, none stands
    /// before these meet again.
    pub(crate) fn is_on_barriers(&self, cfg: &Cfg, has_barrier: impl Fn(Block) -> bool) -> bool {
        cfg.blocks().filter(|&block| self.parting.contains(block)).all(|block| {
            let mut is_free = true;
            for_each_before_meeting(cfg, &self.post_dominators, block, |other| is_free &= !has_barrier(other));
            is_free
        })
    }
}

/// The blocks that threads may come to before those that part at the end of a block meet again.
fn for_each_before_meeting(cfg: &Cfg, post_dominators: &DominatorTree, parting: Block, mut visit: impl FnMut(Block)) {
    let meeting = post_dominators.immediate(parting);
    let mut is_visited = BitSet::new(cfg.len());
    let mut left = cfg.successors(parting).to_vec();
    while let Some(block) = left.pop() {
        if Some(block) != meeting && is_visited.insert(block) {
            visit(block);
            left.extend(cfg.successors(block));
        }
    }
}

/// Whether threads that read the same registers compute the same.
fn computes_the_same(function: &Function, view: &View<'_>, is_same: impl Fn(Special) -> bool) -> bool {
    let mut has_same_operands = true;
    view.body.for_each_operand(view.inst.operands, &mut |operand| {
        if let Operand::Special(special) = operand {
            has_same_operands &= is_same(special);
        }
    });
    match view.effect() {
        // Generic addresses of local memory are those of one thread.
        Some(Effect::Pure) => has_same_operands && !view.form.has(Mod::Local),
        Some(Effect::Load) => view.accesses().iter().all(|access| match access.space {
            AccessSpace::State(Space::Const) => true,
            AccessSpace::State(Space::Param) => is_param_of(function, &view.operands()[access.address]),
            _ => false,
        }),
        _ => false,
    }
}

/// Whether an address is in a parameter of the function, and not in one that is passed to another.
fn is_param_of(function: &Function, address: &Operand) -> bool {
    let Operand::SymbolAddress(Symbol::Var(var), _) = address else { return false };
    function.params.contains(&Param::Var(*var))
}

/// Whether a special register says something of the block or the launch, for blocks of a size.
pub(crate) fn is_of_block(special: Special, block: [Option<u32>; 3]) -> bool {
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
pub(crate) fn is_of_lane(special: Special, block: [Option<u32>; 3]) -> bool {
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
