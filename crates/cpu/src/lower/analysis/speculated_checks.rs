//! Checks of tools that are speculated to pass.
//!
//! What a tool inserts is a comparison, and a call of a function that is rarely called, under the predicate that the
//! comparison gave; then what the program does, where the answer allows it. In a correct program no lane is ever caught. So
//! vector code speculates that none is: it looks whether the comparison holds for any lane, and if not, the predicates are
//! known, the call is not there, and the program's accesses are as they were before the tool came. Where a lane is caught,
//! the warp is deoptimized: each thread compares for itself.

use ptx::analysis::{CallGraph, Cfg, Liveness};
use ptx::ir::{Body, Module, Operand, Reg, StmtId};
use ptx::ops::{Mod, Op};
use ptx::view::{Callee, View};
use rustc_hash::{FxHashMap, FxHashSet};

use super::resume_points::is_worth_speculating;
use crate::lower::pragma::{COLD, has_pragma};

/// The comparisons of a function that are speculated to be false for all lanes.
#[derive(Debug, Default)]
pub(crate) struct SpeculatedChecks {
    comparisons: FxHashSet<StmtId>,
}

impl SpeculatedChecks {
    /// All checks of a kernel; none if to deoptimize a warp at them would be much code.
    pub(crate) fn of(module: &Module, graph: &CallGraph, body: &Body, cfg: &Cfg, liveness: &Liveness) -> Self {
        let mut checks = Self::default();
        for block in cfg.blocks() {
            checks.add_block(module, graph, body, cfg.statements(block));
        }
        let is_worth_it = is_worth_speculating(cfg, liveness, checks.comparisons.iter().copied());
        if is_worth_it { checks } else { Self::default() }
    }

    fn add_block(&mut self, module: &Module, graph: &CallGraph, body: &Body, statements: &[StmtId]) {
        let mut compared: FxHashMap<Reg, StmtId> = FxHashMap::default();
        for &statement in statements {
            let Some(view) = View::of(&module.forms, body, statement) else { continue };
            if let Some(guard) = view.inst.guard.filter(|guard| !guard.negated)
                && let Some(&comparison) = compared.get(&guard.reg)
                && is_cold_call(module, graph, &view)
            {
                self.comparisons.insert(comparison);
            }
            view.for_each_write(|reg| {
                compared.remove(&reg);
            });
            if let Some(reg) = caught(&view) {
                compared.insert(reg, statement);
            }
        }
    }

    pub(crate) fn contains(&self, statement: StmtId) -> bool {
        self.comparisons.contains(&statement)
    }
}

/// The predicate of a comparison that says for which lanes it holds.
fn caught(view: &View<'_>) -> Option<Reg> {
    let is_plain = match view.operands().len() {
        3 => true,
        4 => view.form.has(Mod::And),
        _ => false,
    };
    if view.op() != Some(Op::Setp) || view.inst.guard.is_some() || !is_plain {
        return None;
    }
    predicates(&view.operands()[0]).0
}

/// The predicates that `setp` writes: the result, and its opposite.
pub(crate) fn predicates(written: &Operand) -> (Option<Reg>, Option<Reg>) {
    match *written {
        Operand::Pair(first, second) => (first.reg(), second.reg()),
        Operand::Reg(reg) => (Some(reg), None),
        _ => (None, None),
    }
}

fn is_cold_call(module: &Module, graph: &CallGraph, view: &View<'_>) -> bool {
    let Some(Callee::Direct(func)) = view.callee() else { return false };
    let body = module.functions[graph.resolve(func)].body.as_ref();
    body.is_some_and(|body| has_pragma(module, body, COLD))
}
