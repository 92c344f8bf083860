//! Figures about a module.

use std::collections::BTreeMap;

use crate::analysis::{AddressPattern, AddressShape, BranchUniformity, Cfg, Complexity, LaunchFacts, Uniformity};
use crate::entity::Id;
use crate::ir::{Body, FuncId, Module, Stmt};
use crate::ops::Op;
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
    /// Accesses to memory, by how the addresses of a warp differ.
    pub accesses: AccessCounts,
    /// Decisions, selections and guarded instructions.
    pub complexity: Complexity,
}

/// Branches of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BranchCounts {
    /// Not guarded, and to one place.
    pub unconditional: usize,
    /// All threads of a warp take the same way. Guarded returns and exits are counted too.
    pub uniform: usize,
    /// The program states by `.uni` that all take the same way, and it could not be proven.
    pub stated_uniform: usize,
    /// The threads of a warp may take different ways.
    pub divergent: usize,
}

/// Accesses to memory, by how the addresses of a warp differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AccessCounts {
    /// All threads access the same address.
    pub uniform: usize,
    /// Each thread accesses what follows what the thread before it accesses.
    pub contiguous: usize,
    /// Addresses rise by another constant, or only within groups of threads.
    pub strided: usize,
    /// Addresses of which nothing is known.
    pub scattered: usize,
}

impl ModuleStats {
    /// Counts. The size of blocks, where it is known, tells more about what the threads of a warp have in common.
    pub fn of(module: &Module, block: Option<[u32; 3]>) -> Self {
        let functions = module.functions.iter().filter(|(_, function)| function.body.is_some());
        Self { functions: functions.map(|(id, _)| FunctionStats::of(module, id, block)).collect() }
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
    fn of(module: &Module, id: FuncId, block: Option<[u32; 3]>) -> Self {
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
        let mut facts = LaunchFacts::of(&module.names, function);
        if let Some(block) = block {
            facts = facts.with_block(block);
        }
        let uniformity = Uniformity::of(module, function, &cfg, &facts);
        let branches = BranchCounts::of(module, body, &uniformity);
        let accesses = AccessCounts::of(module, body, &uniformity);
        let complexity = Complexity::of(&module.forms, function, &cfg);
        Self { id, forms, instructions, unknown, branches, accesses, complexity }
    }
}

impl BranchCounts {
    fn of(module: &Module, body: &Body, uniformity: &Uniformity) -> Self {
        let mut counts = Self::default();
        for (id, inst) in body.insts() {
            let view = View::of(&module.forms, body, id).expect("the statement is an instruction");
            counts.unconditional += usize::from(inst.guard.is_none() && view.op() == Some(Op::Bra));
        }
        for (_, branch) in uniformity.branches() {
            match branch.uniformity {
                BranchUniformity::Uniform => counts.uniform += 1,
                BranchUniformity::Stated => counts.stated_uniform += 1,
                BranchUniformity::Divergent => counts.divergent += 1,
            }
        }
        counts
    }
}

impl AccessCounts {
    fn of(module: &Module, body: &Body, uniformity: &Uniformity) -> Self {
        let mut counts = Self::default();
        for (id, _) in body.insts() {
            let view = View::of(&module.forms, body, id).expect("the statement is an instruction");
            for access in view.accesses() {
                let Some(pattern) = AddressPattern::of(uniformity, id, &view, &access) else { continue };
                match pattern.shape {
                    AddressShape::Uniform => counts.uniform += 1,
                    AddressShape::Contiguous => counts.contiguous += 1,
                    AddressShape::Strided { .. } | AddressShape::Grouped { .. } => counts.strided += 1,
                    AddressShape::Scattered => counts.scattered += 1,
                }
            }
        }
        counts
    }
}
