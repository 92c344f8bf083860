//! Checks of tools that are speculated to pass.
//!
//! What a tool inserts is a comparison, and a call of a function that is rarely called, under the predicate that the
//! comparison gave; then what the program does, where the answer allows it. In a correct program no lane is ever caught. So
//! vector code speculates that none is: it looks whether the comparison holds for any lane, and if not, the predicates are
//! known, the call is not there, and the program's accesses are as they were before the tool came. Where a lane is caught,
//! the warp is deoptimized: each thread compares for itself.

use ptx::analysis::{Cfg, Liveness};
use ptx::ir::{Operand, Reg, StmtId};
use ptx::ops::{Mod, Op};
use ptx::types::Type;
use ptx::view::{Callee, View};
use rustc_hash::{FxHashMap, FxHashSet};

use super::deopt::is_worth_speculating;
use super::function::Lowering;
use super::unit::{COLD, Unit, has_pragma};
use crate::emit::Sign;

/// The comparisons of a function that are speculated to be false for all lanes.
#[derive(Debug, Default)]
pub(crate) struct SpeculatedChecks {
    comparisons: FxHashSet<StmtId>,
}

impl SpeculatedChecks {
    /// All checks of a kernel; none if to deoptimize a warp at them would be much code.
    pub(crate) fn of(unit: &Unit<'_, '_>, body: &ptx::ir::Body, cfg: &Cfg, liveness: &Liveness) -> Self {
        let mut checks = Self::default();
        for block in cfg.blocks() {
            checks.add_block(unit, body, cfg.statements(block));
        }
        let is_worth_it = is_worth_speculating(cfg, liveness, checks.comparisons.iter().copied());
        if is_worth_it { checks } else { Self::default() }
    }

    fn add_block(&mut self, unit: &Unit<'_, '_>, body: &ptx::ir::Body, statements: &[StmtId]) {
        let mut compared: FxHashMap<Reg, StmtId> = FxHashMap::default();
        for &statement in statements {
            let Some(view) = View::of(&unit.module.forms, body, statement) else { continue };
            if let Some(guard) = view.inst.guard.filter(|guard| !guard.negated)
                && let Some(&comparison) = compared.get(&guard.reg)
                && is_rare_call(unit, &view)
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

fn is_rare_call(unit: &Unit<'_, '_>, view: &View<'_>) -> bool {
    let Some(Callee::Direct(func)) = view.callee() else { return false };
    let body = unit.definition(func).and_then(|func| unit.module.functions[func].body.as_ref());
    body.is_some_and(|body| has_pragma(unit.module, body, COLD))
}

impl<'a, 'c> Lowering<'_, 'a, 'c> {
    /// Deoptimizes the warp if the comparison at hand holds for a lane that executes it, and writes what is known if not.
    /// Tells whether it knows the comparison.
    pub(crate) fn speculate_none(&mut self, view: &View<'a>, ty: Type) -> bool {
        let operands = view.operands();
        let is_uniform = operands[1..].iter().all(|operand| self.is_uniform(operand));
        let emit = if is_uniform { self.scalar() } else { self.vector() };
        let builder = self.unit.builder;
        // Mostly, a look at the largest is enough.
        let after = match self.may_be_above(view.form, ty, &operands[1], &operands[2]) {
            Some(may_be_above) if !is_uniform => {
                let (some, after) = (self.new_block("some"), self.new_block("compared"));
                builder.branch_if(may_be_above, some, after);
                builder.position_at_end(some);
                Some(after)
            }
            _ => None,
        };
        let (a, b) = (self.read_as(&operands[1], ty, emit), self.read_as(&operands[2], ty, emit));
        let Some(mut caught) = self.compared(view.form, ty, a, b, emit) else { return false };
        if let Some(condition) = operands.get(3) {
            caught = emit.and(caught, self.read(condition, 1, emit));
        }
        if !is_uniform {
            caught = self.any(emit.and(caught, self.mask));
        }
        self.deoptimize_when(caught);
        if let Some(after) = after {
            builder.branch(after);
            builder.position_at_end(after);
        }
        let none = self.scalar().bool().zero();
        let (first, second) = predicates(&operands[0]);
        if let Some(reg) = first {
            self.write_reg(reg, none, Sign::Unsigned);
        }
        if let Some(reg) = second {
            let rest = match operands.get(3) {
                Some(condition) => self.read(condition, 1, emit),
                None => self.scalar().not(none),
            };
            self.write_reg(reg, rest, Sign::Unsigned);
        }
        true
    }
}
