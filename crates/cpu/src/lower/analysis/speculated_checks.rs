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
use crate::lower::pragma::{COLD, INTENDED, has_pragma};

/// The comparisons of a function that are speculated to be false for all lanes.
#[derive(Debug, Default)]
pub(crate) struct SpeculatedChecks {
    /// Each with whether it is a misspeculation if it holds; else somebody wanted it so.
    comparisons: FxHashMap<StmtId, bool>,
    /// The calls that vector code does not have.
    calls: FxHashSet<StmtId>,
}

impl SpeculatedChecks {
    /// All checks of a kernel; none if to deoptimize a warp at them would be much code.
    pub(crate) fn of(module: &Module, graph: &CallGraph, body: &Body, cfg: &Cfg, liveness: &Liveness) -> Self {
        let mut checks = Self::default();
        for block in cfg.blocks() {
            checks.add_block(module, graph, body, cfg.statements(block));
        }
        let is_worth_it = is_worth_speculating(cfg, liveness, checks.comparisons.keys().copied());
        if is_worth_it { checks } else { Self::default() }
    }

    fn add_block(&mut self, module: &Module, graph: &CallGraph, body: &Body, statements: &[StmtId]) {
        let mut compared: FxHashMap<Reg, StmtId> = FxHashMap::default();
        for &statement in statements {
            let Some(view) = View::of(&module.forms, body, statement) else { continue };
            if let Some(guard) = view.inst.guard.filter(|guard| !guard.negated)
                && let Some(&comparison) = compared.get(&guard.reg)
                && let Some(is_intended) = cold_call(module, graph, &view)
            {
                *self.comparisons.entry(comparison).or_default() |= !is_intended;
                self.calls.insert(statement);
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
        self.comparisons.contains_key(&statement)
    }

    /// Whether it is a misspeculation if a comparison holds.
    pub(crate) fn is_misspeculation(&self, statement: StmtId) -> bool {
        self.comparisons.get(&statement).is_none_or(|&is_misspeculation| is_misspeculation)
    }

    /// Whether vector code has no call here.
    pub(crate) fn is_speculated_call(&self, statement: StmtId) -> bool {
        self.calls.contains(&statement)
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

/// Whether a call is of a function that is rarely called, and then on purpose; nothing for other calls.
fn cold_call(module: &Module, graph: &CallGraph, view: &View<'_>) -> Option<bool> {
    let Some(Callee::Direct(func)) = view.callee() else { return None };
    let body = module.functions[graph.resolve(func)].body.as_ref()?;
    has_pragma(module, body, COLD).then(|| has_pragma(module, body, INTENDED))
}
