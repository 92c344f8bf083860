//! What is found out about a function before it is lowered. Nothing here emits code, and nothing changes later.
//!
//! | file | holds |
//! |---|---|
//! | `layout`, `reconvergence` | in which order blocks run, and where lanes wait meanwhile |
//! | `divergent_branch` | where lanes go different ways |
//! | `subwarp_affine` | registers that have one number for each row of a warp |
//! | `inactive_lanes` | registers that are right in all lanes, also in those that are not active |
//! | `computed` | registers that depend on nothing in memory |
//! | `spin` | loops that wait for memory |
//! | `wrap_checks` | numbers that are speculated not to wrap |
//! | `speculated_checks` | checks of tools that are speculated to pass |
//! | `resume_points` | where threads of a warp that is deoptimized can go on |
//! | `region_plan` | kernels that run all warps of a block from barrier to barrier |

mod computed;
mod divergent_branch;
mod inactive_lanes;
mod layout;
mod reconvergence;
mod region_plan;
mod resume_points;
mod speculated_checks;
mod spin;
mod subwarp_affine;
mod wrap_checks;

pub(crate) use self::divergent_branch::DivergentBranch;
pub(crate) use self::inactive_lanes::InactiveLanes;
pub(crate) use self::layout::{Layout, Step};
pub(crate) use self::region_plan::{Kept, RegionPlan};
pub(crate) use self::resume_points::{ResumePoint, is_rendezvous, is_whole_barrier};
pub(crate) use self::speculated_checks::{SpeculatedChecks, predicates};
pub(crate) use self::spin::{spinning_blocks, watches_any_memory};

use std::cell::OnceCell;
use std::rc::Rc;

use ptx::analysis::{BitSet, Block, CallGraph, Cfg, DefUse, Given, LaneValue, LaunchFacts, Liveness, Uniformity, Web};
use ptx::ir::{Body, FuncId, Function, Guard, Module, Reg, StmtId, Symbol};
use ptx::types::Space;
use ptx::view::View;
use rustc_hash::{FxHashMap, FxHashSet};

use self::computed::computed_registers;
use self::wrap_checks::WrapChecks;
use super::memory_map::MemoryMap;
use crate::options::{Options, Width};

/// A function, and what is known of it.
#[derive(Debug)]
pub(crate) struct Analyses<'a> {
    pub(crate) module: &'a Module,
    pub(crate) options: &'a Options,
    graph: &'a CallGraph,
    pub(crate) func: FuncId,
    pub(crate) function: &'a Function,
    pub(crate) body: &'a Body,
    pub(crate) cfg: Cfg,
    pub(crate) layout: Layout,
    pub(crate) liveness: Liveness,
    pub(crate) def_use: DefUse,
    /// Nothing at width 1, where there is nothing to be found out.
    pub(crate) uniformity: Option<Uniformity>,
    /// The checks of registers that may wrap. Where there are some, registers are speculated not to wrap.
    pub(crate) wrap_checks: WrapChecks,
    pub(crate) speculated_checks: SpeculatedChecks,
    /// Registers that depend on nothing in memory but parameters.
    pub(crate) computed: FxHashSet<Reg>,
    /// Webs that have one number for each group of lanes, and how many groups there are.
    pub(crate) subwarp_affine: FxHashMap<Web, u32>,
    /// Blocks to which control goes back in loops that wait for memory.
    pub(crate) spinning: BitSet<Block>,
    /// The webs of the registers that are live at the start of each block, once somebody has asked.
    entry_webs: OnceCell<FxHashMap<(Block, Reg), Web>>,
    /// Where registers are read or written in each block.
    uses: OnceCell<FxHashMap<(Block, Reg), Vec<u32>>>,
}

/// What the analyses of a function start from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inputs<'a> {
    pub(crate) module: &'a Module,
    pub(crate) options: &'a Options,
    pub(crate) graph: &'a CallGraph,
    pub(crate) map: &'a MemoryMap,
}

/// For which of the lanes that come to it a statement is executed.
pub(crate) enum Execution {
    /// For all.
    Always,
    /// For none.
    Never,
    /// For those for which its guard holds.
    Where(Guard),
}

impl<'a> Analyses<'a> {
    /// Nothing for a function without statements.
    pub(crate) fn of(inputs: Inputs<'a>, func: FuncId) -> Option<Self> {
        let Inputs { module, options, graph, map } = inputs;
        let function = &module.functions[func];
        let body = function.body.as_ref()?;
        body.first()?;
        let cfg = Cfg::of(&module.forms, function);
        let def_use = DefUse::of(&module.forms, function);
        let liveness = Liveness::of(&cfg, &def_use);
        let is_warp = options.width == Width::Warp;
        // Threads of a warp that was deoptimized go on where the checks of the warp were.
        let speculates = options.speculate && function.is_entry() && (is_warp || options.resumable);
        let speculated_checks = match speculates {
            true => SpeculatedChecks::of(module, graph, body, &cfg, &liveness),
            false => SpeculatedChecks::default(),
        };
        let uniformity =
            (is_warp || speculates).then(|| uniformity(module, func, &cfg, &options.facts, map, &speculated_checks));
        let wrap_checks = match &uniformity {
            Some(uniformity) if speculates => WrapChecks::of(uniformity, &cfg, &liveness),
            _ => WrapChecks::default(),
        };
        let uniformity = uniformity.filter(|_| is_warp);
        let computed = match uniformity {
            Some(_) => computed_registers(module, body, &def_use),
            None => FxHashSet::default(),
        };
        let layout = Layout::of(&cfg, uniformity.as_ref());
        let spinning = spinning_blocks(module, body, &cfg, &layout.order);
        let mut analyses = Self {
            module,
            options,
            graph,
            func,
            function,
            body,
            cfg,
            layout,
            liveness,
            def_use,
            uniformity,
            wrap_checks,
            speculated_checks,
            computed,
            subwarp_affine: FxHashMap::default(),
            spinning,
            entry_webs: OnceCell::new(),
            uses: OnceCell::new(),
        };
        analyses.subwarp_affine = analyses.find_subwarp_affine();
        Some(analyses)
    }

    pub(crate) fn view(&self, statement: StmtId) -> Option<View<'a>> {
        View::of(&self.module.forms, self.body, statement)
    }

    /// Bits of a register; a predicate has one, and a vector those of its elements.
    pub(crate) fn register_bits(&self, reg: Reg) -> u32 {
        let group = &self.function.groups[self.function.regs[reg].group];
        group.ty.bits() * u32::from(group.vector)
    }

    /// How many threads a block has, if that is known.
    pub(crate) fn threads_of_block(&self) -> Option<u64> {
        let sizes = self.options.facts.block;
        sizes.iter().try_fold(1_u64, |product, size| size.map(|size| product.saturating_mul(size.into())))
    }

    /// For which lanes a statement is executed. What tools check is often known to be right beforehand.
    pub(crate) fn execution(&self, statement: StmtId, view: &View<'_>) -> Execution {
        let Some(guard) = view.inst.guard else { return Execution::Always };
        match self.known_value(statement, guard.reg).and_then(|value| value.constant()) {
            None => Execution::Where(guard),
            Some(value) if (value != 0) != guard.negated => Execution::Always,
            Some(_) => Execution::Never,
        }
    }

    /// What is known, or speculated, of a register that a statement reads.
    pub(crate) fn known_value(&self, statement: StmtId, reg: Reg) -> Option<&LaneValue> {
        let uniformity = self.uniformity.as_ref()?;
        Some(uniformity.value(uniformity.read(statement, reg)?)).filter(|value| self.is_known_or_speculated(value))
    }

    /// Whether what is said of a value holds, or is speculated.
    fn is_known_or_speculated(&self, value: &LaneValue) -> bool {
        !value.needs_guard() || !self.wrap_checks.is_empty()
    }

    /// Whether a register of so many bits with such a value is kept as one number for the warp.
    pub(crate) fn is_affine(&self, value: &LaneValue, bits: u32) -> bool {
        value.has_one_base() && self.is_known_or_speculated(value) && bits <= 64
    }

    /// Whether a web is kept as one number for the warp.
    fn is_affine_web(&self, web: Web) -> bool {
        self.uniformity
            .as_ref()
            .is_some_and(|uniformity| self.is_affine(uniformity.value(web), self.register_bits(uniformity.reg_of(web))))
    }

    /// Whether lanes that come to a block may be fewer than those that entered the function.
    pub(crate) fn is_divergent(&self, block: Block) -> bool {
        self.uniformity.as_ref().is_some_and(|uniformity| uniformity.is_divergent(block))
    }

    /// The registers that lanes elsewhere may still need while a block runs; nothing if no lane is elsewhere.
    pub(crate) fn kept_registers(&self, block: Block) -> Option<Rc<BitSet<Reg>>> {
        self.layout.kept_registers(&self.liveness, self.function.regs.len(), block)
    }

    /// Whether a register may be read before it is written.
    ///
    /// Where it may not, its place needs no value at the start, which saves LLVM from bringing that value to all places
    /// where it seems to be needed. A read in a warp is one of lanes that have all written the register.
    pub(crate) fn starts_as_zero(&self, reg: Reg) -> bool {
        // Results are read where a function ends, whether it wrote them or not.
        !self.function.is_entry() || self.liveness.is_live_in(self.cfg.entry(), reg)
    }
}

/// Which registers of a function are the same, or affine, in all lanes, if some checks are speculated to pass.
fn uniformity(
    module: &Module,
    func: FuncId,
    cfg: &Cfg,
    facts: &LaunchFacts,
    map: &MemoryMap,
    checks: &SpeculatedChecks,
) -> Uniformity {
    let function = &module.functions[func];
    let is_entry = function.is_entry();
    // Offsets in their space: where the variables of a call are in local memory depends on who calls.
    let address = |symbol: Symbol| match symbol {
        Symbol::Global(global) => map.shared_offset(global),
        Symbol::Var(var) => match function.vars[var].space {
            Space::Shared => map.frame(func).offset(var),
            Space::Local if is_entry => map.frame(func).offset(var),
            _ => None,
        },
        _ => None,
    };
    let is_false = |statement| checks.contains(statement);
    Uniformity::given(module, function, cfg, Given { facts, addresses: &address, is_false: &is_false })
}
