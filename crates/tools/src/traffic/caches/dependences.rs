//! What the text of a kernel would be spared without some of its shared arrays: the decisions and instructions that only fill them.
//!
//! Without an array its stores are gone, and with them all that nothing else needs: loads that fill it, arithmetic for their
//! addresses, and the branches that decide whether there is something to fill. What is left is found as a compiler finds what is not
//! dead (R. Cytron et al., Efficiently computing static single assignment form and the control dependence graph, 1991, section 7.1):
//! what acts on memory is needed, what computes a value that is needed, and the branches that decide whether these are executed.
//!
//! What is read from the array is loaded from where it was copied from instead. That takes an instruction and an address as well, so
//! reads count as they are.

use ptx::analysis::{Cfg, DefUse, Definition, DominatorTree, Frontiers, Liveness, Reaching};
use ptx::ir::{FuncId, Module, StmtId};
use ptx::ops::Effect;
use ptx::types::Space;
use ptx::view::{AccessSpace, View};
use rustc_hash::{FxHashMap, FxHashSet};

/// Entries of frontiers, for each block, beyond which nothing is known.
const MOST_OF_FRONTIERS: usize = 64;

/// What instructions of a function need each other.
#[derive(Clone, Default, Debug)]
pub(in super::super) struct Dependences {
    func: Option<FuncId>,
    instructions: Vec<Instruction>,
    /// The branches at the ends of blocks with several ways out.
    decisions: Vec<Decision>,
    /// The number of an instruction.
    numbers: FxHashMap<StmtId, u32>,
}

#[derive(Clone, Debug)]
struct Instruction {
    stmt: StmtId,
    kind: Kind,
    /// Whether it may access shared memory.
    may_be_shared: bool,
    /// Those that compute what it reads.
    reads: Vec<u32>,
    /// The branches that decide whether it is executed.
    decided_by: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Computes or loads something.
    Value,
    /// Acts on something, and is needed for that.
    Action,
    /// Waits for other threads, or for copies.
    Wait,
}

#[derive(Clone, Copy, Debug)]
struct Decision {
    /// The number of the branch.
    branch: u32,
    /// How many ways there are, beyond one.
    more_ways: u64,
}

/// The size of a text.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct TextSize {
    /// McCabe's number: decisions, and one for each function.
    pub(super) complexity: u64,
    /// Instructions, without jumps that decide nothing.
    pub(super) instructions: u64,
}

impl TextSize {
    fn add(&mut self, other: Self) {
        self.complexity += other.complexity;
        self.instructions += other.instructions;
    }
}

impl Dependences {
    /// Those of a function; nothing where control flow is too intricate.
    pub(in super::super) fn of(module: &Module, func: FuncId, cfg: &Cfg) -> Option<Self> {
        let function = &module.functions[func];
        let body = function.body.as_ref()?;
        let after = DominatorTree::post_dominators(cfg.graph());
        let deciders = Frontiers::post_dominance(cfg.graph(), &after, MOST_OF_FRONTIERS * cfg.len())?;
        let def_use = DefUse::of(&module.forms, function);
        let liveness = Liveness::of(cfg, &def_use);
        let reaching = Reaching::of(cfg, &def_use, &DominatorTree::dominators(cfg.graph()), &liveness);
        let mut all = Self { func: Some(func), ..Self::default() };
        let blocks = cfg.graph().reverse_post_order();
        let counted = |stmt: StmtId| {
            let view = View::of(&module.forms, body, stmt)?;
            let leaves = matches!(view.effect(), Some(Effect::Branch | Effect::Return | Effect::Exit));
            (!leaves || view.inst.guard.is_some()).then_some(view)
        };
        for (stmt, _) in blocks.iter().flat_map(|&block| cfg.insts(body, block)) {
            if counted(stmt).is_some() {
                all.numbers.insert(stmt, all.numbers.len() as u32);
            }
        }
        for &block in blocks {
            let of_block = deciders.of_block(block).iter().filter_map(|&block| cfg.terminator(block));
            let decided_by: Vec<u32> = of_block.filter_map(|stmt| all.numbers.get(&stmt).copied()).collect();
            let ways = cfg.successors(block).len() + usize::from(cfg.is_exit(block));
            let terminator = cfg.terminator(block).filter(|_| ways > 1);
            for (stmt, _) in cfg.insts(body, block) {
                let Some(view) = counted(stmt) else { continue };
                let is_decision = terminator == Some(stmt);
                if is_decision {
                    all.decisions.push(Decision { branch: all.numbers[&stmt], more_ways: ways as u64 - 1 });
                }
                let definitions = def_use.reads(stmt).iter().flat_map(|&reg| reaching.definitions(&def_use, stmt, reg));
                let reads = definitions.filter_map(|definition| match definition {
                    Definition::Statement(from) => all.numbers.get(&from).copied(),
                    _ => None,
                });
                let reads = reads.collect();
                let kind = if is_decision { Kind::Value } else { kind(&view) };
                let may_be_shared = may_be_shared(&view);
                all.instructions.push(Instruction { stmt, kind, may_be_shared, reads, decided_by: decided_by.clone() });
            }
        }
        Some(all)
    }

    /// The size of what is needed, without some instructions, and without waiting if that is said.
    fn size(&self, without: &FxHashSet<(FuncId, StmtId)>, waits: bool) -> TextSize {
        let is_gone = |instruction: &Instruction| {
            let is_said = self.func.is_some_and(|func| without.contains(&(func, instruction.stmt)));
            is_said || (instruction.kind == Kind::Wait && !waits)
        };
        let is_root = |instruction: &Instruction| instruction.kind != Kind::Value && !is_gone(instruction);
        let roots = self.instructions.iter().enumerate().filter(|(_, instruction)| is_root(instruction));
        let mut left: Vec<u32> = roots.map(|(number, _)| number as u32).collect();
        let mut is_needed = vec![false; self.instructions.len()];
        while let Some(number) = left.pop() {
            if !std::mem::replace(&mut is_needed[number as usize], true) {
                let Instruction { reads, decided_by, .. } = &self.instructions[number as usize];
                left.extend(reads.iter().chain(decided_by));
            }
        }
        let needed = self.decisions.iter().filter(|decision| is_needed[decision.branch as usize]);
        TextSize {
            complexity: 1 + needed.map(|decision| decision.more_ways).sum::<u64>(),
            instructions: is_needed.iter().filter(|&&is_needed| is_needed).count() as u64,
        }
    }
}

/// What a kernel comes to, and the functions that it calls, with all its arrays and without some of them.
///
/// `of_arrays` are all accesses to those that would be gone, `fills` the ones that store something there. If nothing else is in shared
/// memory, threads wait for nobody.
pub(super) fn sizes(
    functions: &[Dependences],
    of_arrays: &FxHashSet<(FuncId, StmtId)>,
    fills: &FxHashSet<(FuncId, StmtId)>,
) -> (TextSize, TextSize) {
    let (mut with, mut without) = (TextSize::default(), TextSize::default());
    let waits = functions.iter().any(|function| function.has_other_shared_memory(of_arrays));
    for function in functions {
        with.add(function.size(&FxHashSet::default(), true));
        without.add(function.size(fills, waits));
    }
    (with, without)
}

impl Dependences {
    /// Whether it may access shared memory beside some arrays.
    fn has_other_shared_memory(&self, of_arrays: &FxHashSet<(FuncId, StmtId)>) -> bool {
        let is_of_arrays = |stmt| self.func.is_some_and(|func| of_arrays.contains(&(func, stmt)));
        self.instructions.iter().any(|instruction| instruction.may_be_shared && !is_of_arrays(instruction.stmt))
    }
}

fn may_be_shared(view: &View<'_>) -> bool {
    let is_shared = |space| matches!(space, AccessSpace::State(Space::Shared) | AccessSpace::Generic);
    view.accesses().iter().any(|access| is_shared(access.space))
}

fn kind(view: &View<'_>) -> Kind {
    match view.effect() {
        Some(Effect::Pure | Effect::Load | Effect::TextureLoad | Effect::TextureQuery) => Kind::Value,
        Some(Effect::Barrier | Effect::AsyncGroup) => Kind::Wait,
        _ => Kind::Action,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a kernel comes to with a tile and without it.
    fn sizes(body: &str) -> (TextSize, TextSize) {
        let text = format!(
            ".version 8.0 .target sm_80 .address_size 64
             .visible .entry k(.param .u64 p) {{
                .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .f32 %f<8>;
                .shared .align 4 .b8 tile[1024]; .shared .align 4 .b8 other[1024];
                {body}
                ret;
             }}"
        );
        let module = ptx::parse(&text).module;
        let (func, function) = module.functions.iter().next().unwrap();
        let dependences = Dependences::of(&module, func, &Cfg::of(&module.forms, function)).unwrap();
        let body = function.body.as_ref().unwrap();
        let of_tile = |stmt: &StmtId| ptx::print_stmt(&module, function, body, *stmt).contains("tile");
        let all: FxHashSet<_> = body.iter().filter(of_tile).map(|stmt| (func, stmt)).collect();
        let is_store =
            |stmt| View::of(&module.forms, body, stmt).is_some_and(|view| view.effect() == Some(Effect::Store));
        let fills = all.iter().copied().filter(|(_, stmt)| is_store(*stmt)).collect();
        super::sizes(&[dependences], &all, &fills)
    }

    fn size(complexity: u64, instructions: u64) -> TextSize {
        TextSize { complexity, instructions }
    }

    /// A load that fills the tile, and what becomes of it.
    const FILL: &str = "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra filled;
        ld.global.f32 %f1, [%d1]; st.shared.f32 [tile], %f1;
        filled: bar.sync 0; ld.shared.f32 %f2, [tile];";

    #[test]
    fn branches_that_only_fill_are_saved_and_so_is_the_barrier() {
        let (with, without) = sizes(&format!("{FILL} st.global.f32 [%d1], %f2;"));
        assert_eq!((with, without), (size(2, 9), size(1, 3)));
    }

    #[test]
    fn the_barrier_stays_for_another_array() {
        let (with, without) = sizes(&format!("{FILL} st.shared.f32 [other], %f2;"));
        assert_eq!((with, without), (size(2, 9), size(1, 3)));
        // What is stored in the other array is read from the tile.
        let (_, without) = sizes("st.shared.f32 [other], 0f00000000; bar.sync 0; st.shared.f32 [tile], 0f00000000;");
        assert_eq!(without, size(1, 2));
    }

    #[test]
    fn what_something_else_needs_stays() {
        let body = format!("{FILL} @%p1 st.global.f32 [%d1], %f2;");
        assert_eq!(sizes(&body).1, size(1, 5));
        let (with, without) = sizes(
            "mov.u32 %r1, 8; ld.param.u64 %d1, [p];
             again: ld.global.f32 %f1, [%d1]; st.shared.f32 [tile], %f1; st.global.f32 [%d1+4], %f1;
             sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;",
        );
        assert_eq!((with, without), (size(2, 8), size(2, 7)));
    }
}
