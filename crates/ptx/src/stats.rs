//! Figures about a module.

use std::collections::BTreeMap;

use crate::analysis::{Cfg, Complexity};
use crate::entity::Id;
use crate::ir::{Body, FuncId, Module, Stmt};
use crate::ops::{Effect, Mod, Op};
use crate::view::View;

/// Figures about a module.
#[derive(Clone, Debug, Default)]
pub struct ModuleStats {
    /// For each function with a body.
    pub functions: Vec<FunctionStats>,
}

/// Figures about a function.
#[derive(Clone, Debug)]
pub struct FunctionStats {
    /// Which function.
    pub id: FuncId,
    /// How often each opcode with its modifiers occurs.
    pub forms: BTreeMap<String, usize>,
    /// How many instructions there are.
    pub instructions: usize,
    /// How often each unknown instruction occurs.
    pub unknown: BTreeMap<String, usize>,
    /// Branches, by whether the threads of a warp can part there.
    pub branches: BranchCounts,
    /// Decisions, selections and guarded instructions.
    pub complexity: Complexity,
}

/// Branches of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BranchCounts {
    /// Not guarded, and to one place.
    pub unconditional: usize,
    /// All threads of a warp take the same way.
    pub uniform: usize,
    /// The threads of a warp may take different ways.
    pub divergent: usize,
}

impl ModuleStats {
    /// Counts.
    pub fn of(module: &Module) -> Self {
        let functions = module.functions.iter().filter(|(_, function)| function.body.is_some());
        Self { functions: functions.map(|(id, _)| FunctionStats::of(module, id)).collect() }
    }

    /// How many instructions there are.
    pub fn instructions(&self) -> usize {
        self.functions.iter().map(|function| function.instructions).sum()
    }

    /// How many of them are unknown.
    pub fn unknown(&self) -> usize {
        self.functions.iter().flat_map(|function| function.unknown.values()).sum()
    }
}

impl FunctionStats {
    fn of(module: &Module, id: FuncId) -> Self {
        let function = &module.functions[id];
        let empty = Body::new();
        let body = function.body.as_ref().unwrap_or(&empty);
        let mut unknown = BTreeMap::<String, usize>::new();
        let mut counts = vec![0_usize; module.forms.len()];
        let mut instructions = 0;
        for id in body.iter() {
            match body.stmt(id) {
                Stmt::Inst(inst) => counts[inst.form.index()] += 1,
                Stmt::Unknown(text) => {
                    let word = module.text(*text).split_whitespace().next().unwrap_or_default().to_owned();
                    *unknown.entry(word).or_default() += 1;
                }
                _ => continue,
            }
            instructions += 1;
        }
        let mut forms = BTreeMap::new();
        for ((_, form), count) in module.forms.iter().zip(counts).filter(|(_, count)| *count > 0) {
            let map = if form.is_known() { &mut forms } else { &mut unknown };
            *map.entry(form.spelling().to_owned()).or_default() += count;
        }
        let cfg = Cfg::of(&module.forms, function);
        let branches = BranchCounts::of(module, body);
        let complexity = Complexity::of(&module.forms, function, &cfg);
        Self { id, forms, instructions, unknown, branches, complexity }
    }
}

impl BranchCounts {
    fn of(module: &Module, body: &Body) -> Self {
        let mut counts = Self::default();
        for (id, inst) in body.insts() {
            let view = View::of(&module.forms, body, id).expect("the statement is an instruction");
            if view.effect() != Some(Effect::Branch) {
                continue;
            }
            if inst.guard.is_none() && view.op() == Some(Op::Bra) {
                counts.unconditional += 1;
            } else if view.form.has(Mod::Uni) {
                counts.uniform += 1;
            } else {
                counts.divergent += 1;
            }
        }
        counts
    }
}
