//! Which stores to shared memory copy what was loaded from global memory.
//!
//! A store copies if what it stores is what loads have loaded, or a constant where there is nothing to load. It is followed through
//! moves between registers, and not through memory: kernels that are compiled for debugging have no copies.

use ptx::analysis::{Cfg, DefUse, Definition, DominatorTree, Liveness, Reaching};
use ptx::ir::{FuncId, Function, Module, Operand, Reg, StmtId};
use ptx::ops::Op;
use ptx::types::Space;
use ptx::view::{AccessKind, AccessSpace, View};
use rustc_hash::{FxHashMap, FxHashSet};

/// Moves are followed so far.
const MOST_MOVES: u32 = 16;

/// The copies of a function.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(in super::super) struct Copies {
    /// The function.
    pub(in super::super) func: Option<FuncId>,
    /// The loads that a store may have its value from.
    pub(in super::super) loads: FxHashMap<StmtId, Vec<StmtId>>,
    /// Loads of which something else uses what they have loaded.
    pub(in super::super) used_otherwise: FxHashSet<StmtId>,
}

/// Where a value may come from.
#[derive(Default)]
struct Sources {
    loads: Vec<StmtId>,
    /// Moves that it comes through, and where it is set to a constant.
    moves: Vec<StmtId>,
    is_computed: bool,
}

impl Copies {
    /// Those of a function.
    pub(in super::super) fn of(module: &Module, func: FuncId, cfg: &Cfg) -> Self {
        let function = &module.functions[func];
        let finder = Finder::new(module, function, cfg);
        let mut copies = Self { func: Some(func), ..Self::default() };
        // What belongs to a copy: the stores, and moves before them.
        let mut of_copies = FxHashSet::default();
        for stmt in finder.statements() {
            let Some(view) = finder.view(stmt) else { continue };
            if view.op() == Some(Op::CpAsync) {
                copies.loads.insert(stmt, vec![stmt]);
                continue;
            }
            let Some(values) = stored_in_shared(&view) else { continue };
            let mut sources = Sources::default();
            for value in values {
                finder.sources(stmt, value, MOST_MOVES, &mut sources);
            }
            sources.loads.sort_unstable();
            sources.loads.dedup();
            if !sources.is_computed && !sources.loads.is_empty() {
                copies.loads.insert(stmt, sources.loads);
                of_copies.insert(stmt);
                of_copies.extend(sources.moves);
            }
        }
        for stmt in finder.statements().filter(|stmt| !of_copies.contains(stmt)) {
            for &reg in finder.def_use.reads(stmt) {
                let definitions = finder.reaching.definitions(&finder.def_use, stmt, reg);
                copies.used_otherwise.extend(definitions.into_iter().filter_map(|definition| match definition {
                    Definition::Statement(from) => Some(from),
                    _ => None,
                }));
            }
        }
        copies
    }
}

/// The registers that a plain store to shared memory stores.
fn stored_in_shared(view: &View<'_>) -> Option<Vec<Reg>> {
    let accesses = view.accesses();
    let [access] = accesses.as_slice() else { return None };
    let is_store = access.kind == AccessKind::Write && access.space == AccessSpace::State(Space::Shared);
    if view.op() != Some(Op::St) || !is_store {
        return None;
    }
    let [_, stored] = view.operands() else { return None };
    match *stored {
        Operand::Reg(reg) => Some(vec![reg]),
        _ if access.vector > 1 => {
            let address = view.operands()[0];
            let of_address = |reg: &Reg| matches!(address, Operand::RegAddress(base, _) if base == *reg);
            Some(view.reads().into_iter().filter(|reg| !of_address(reg)).collect())
        }
        _ => None,
    }
}

struct Finder<'m> {
    module: &'m Module,
    function: &'m Function,
    def_use: DefUse,
    reaching: Reaching,
}

impl<'m> Finder<'m> {
    fn new(module: &'m Module, function: &'m Function, cfg: &Cfg) -> Self {
        let def_use = DefUse::of(&module.forms, function);
        let dominators = DominatorTree::dominators(cfg.graph());
        let liveness = Liveness::of(cfg, &def_use);
        let reaching = Reaching::of(cfg, &def_use, &dominators, &liveness);
        Self { module, function, def_use, reaching }
    }

    fn statements(&self) -> impl Iterator<Item = StmtId> + use<'m> {
        self.function.body.iter().flat_map(|body| body.iter())
    }

    fn view(&self, stmt: StmtId) -> Option<View<'m>> {
        View::of(&self.module.forms, self.function.body.as_ref()?, stmt)
    }

    /// Adds where the value of a register comes from that a statement reads.
    fn sources(&self, stmt: StmtId, reg: Reg, moves: u32, sources: &mut Sources) {
        for definition in self.reaching.definitions(&self.def_use, stmt, reg) {
            let from = match definition {
                Definition::Statement(from) if moves > 0 => from,
                _ => {
                    sources.is_computed = true;
                    return;
                }
            };
            let Some(view) = self.view(from) else { continue };
            match (view.op(), view.operands()) {
                (Some(Op::Ld), _) if is_global_load(&view) => sources.loads.push(from),
                (Some(Op::Mov), &[_, Operand::Reg(other)]) => {
                    sources.moves.push(from);
                    self.sources(from, other, moves - 1, sources);
                }
                (Some(Op::Mov), &[_, operand]) if is_constant(operand) => sources.moves.push(from),
                _ => sources.is_computed = true,
            }
        }
    }
}

fn is_global_load(view: &View<'_>) -> bool {
    let is_global = |space| space == AccessSpace::State(Space::Global);
    view.accesses().iter().all(|access| access.kind == AccessKind::Read && is_global(access.space))
}

fn is_constant(operand: Operand) -> bool {
    !matches!(operand, Operand::Reg(_) | Operand::Special(_) | Operand::Symbol(..))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many loads each store of a kernel copies from, and how many loads are used otherwise, too.
    fn copies(body: &str) -> (Vec<usize>, usize) {
        let text = format!(
            ".version 8.0 .target sm_80 .address_size 64
             .visible .entry k(.param .u64 p) {{
                .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .f32 %f<8>;
                .shared .align 4 .b8 tile[1024];
                ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
                {body}
                ret;
             }}"
        );
        let module = ptx::parse(&text).module;
        let (func, _) = module.functions.iter().next().unwrap();
        let copies = Copies::of(&module, func, &Cfg::of(&module.forms, &module.functions[func]));
        let mut loads: Vec<_> = copies.loads.values().map(Vec::len).collect();
        loads.sort_unstable();
        let feeding: FxHashSet<_> = copies.loads.values().flatten().copied().collect();
        (loads, feeding.intersection(&copies.used_otherwise).count())
    }

    #[test]
    fn what_is_loaded_and_stored_is_a_copy() {
        assert_eq!(copies("ld.global.f32 %f1, [%d1]; st.shared.f32 [tile], %f1;"), (vec![1], 0));
        assert_eq!(copies("ld.global.f32 %f1, [%d1]; mov.f32 %f2, %f1; st.shared.f32 [tile], %f2;"), (vec![1], 0));
    }

    #[test]
    fn constants_stand_for_what_is_not_there() {
        let body = "mov.f32 %f1, 0f00000000; @%p1 ld.global.f32 %f1, [%d1]; st.shared.f32 [tile], %f1;";
        assert_eq!(copies(body), (vec![1], 0));
    }

    const NONE: [usize; 0] = [];

    #[test]
    fn what_is_computed_is_no_copy() {
        assert_eq!(copies("ld.global.f32 %f1, [%d1]; add.f32 %f1, %f1, %f1; st.shared.f32 [tile], %f1;").0, NONE);
        assert_eq!(copies("mov.f32 %f1, 0f00000000; st.shared.f32 [tile], %f1;").0, NONE);
        assert_eq!(copies("ld.shared.f32 %f1, [tile+4]; st.shared.f32 [tile], %f1;").0, NONE);
    }

    #[test]
    fn loads_may_be_used_otherwise() {
        let body = "ld.global.f32 %f1, [%d1]; st.shared.f32 [tile], %f1; st.global.f32 [%d1], %f1;";
        assert_eq!(copies(body), (vec![1], 1));
    }
}
