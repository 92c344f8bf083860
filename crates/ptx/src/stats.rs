//! Figures about a module.

use std::collections::BTreeMap;

use crate::ir::{FuncId, Module, Stmt};

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
}

impl ModuleStats {
    /// Counts.
    pub fn of(module: &Module) -> Self {
        let mut stats = Self::default();
        for (id, function) in module.functions.iter() {
            let Some(body) = &function.body else { continue };
            let mut counts = vec![0_usize; module.forms.len()];
            let mut function = FunctionStats { id, forms: BTreeMap::new(), instructions: 0, unknown: BTreeMap::new() };
            for id in body.iter() {
                match body.stmt(id) {
                    Stmt::Inst(inst) => {
                        counts[crate::entity::Id::index(inst.form)] += 1;
                        function.instructions += 1;
                    }
                    Stmt::Unknown(text) => {
                        let word = module.text(*text).split_whitespace().next().unwrap_or_default().to_owned();
                        *function.unknown.entry(word).or_default() += 1;
                        function.instructions += 1;
                    }
                    _ => {}
                }
            }
            for ((_, form), count) in module.forms.iter().zip(counts).filter(|(_, count)| *count > 0) {
                let map = if form.is_known() { &mut function.forms } else { &mut function.unknown };
                map.insert(form.spelling().to_owned(), count);
            }
            stats.functions.push(function);
        }
        stats
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
