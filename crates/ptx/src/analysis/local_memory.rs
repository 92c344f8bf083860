//! Local memory across a point of a function: which `.local` variables hold something that may still be read.

use rustc_hash::FxHashMap;

use super::bitset::bits;
use super::cfg::Cfg;
use super::dataflow::{Direction, Propagation};
use super::graph::Block;
use super::lists::Lists;
use crate::ir::{FuncId, Module, Operand, StmtId, Symbol};
use crate::types::Space;
use crate::view::{AccessKind, AccessSpace, View};

/// How the instructions of a function use its `.local` variables.
///
/// Addresses are not followed. A variable whose address goes into a register is taken to be written from there on, and
/// read by every later load through a register from local memory or from an unknown space, every call, and every
/// unknown instruction. So of `mov.u64 %SPL, __local_depot0;` at the start of a kernel follows that the depot is alive
/// until the last such load.
#[derive(Clone, Debug)]
pub(super) struct LocalMemory {
    /// The variables that some instruction names.
    variables: Vec<Symbol>,
    /// For each block the place in it, the variable, and what is done with it.
    uses: Lists<Block, (u32, u32, Use)>,
    /// For each block the places in it that may read any variable whose address is known.
    indirect_reads: Lists<Block, u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    Read,
    Write,
    /// The address is taken, or the instruction both reads and writes.
    Any,
}

impl LocalMemory {
    pub(super) fn of(module: &Module, function: FuncId, cfg: &Cfg) -> Self {
        let mut variables = Vec::new();
        let mut number = FxHashMap::default();
        let (mut uses, mut indirect_reads) = (Vec::new(), Vec::new());
        let function = &module.functions[function];
        let is_local = |symbol| match symbol {
            Symbol::Var(var) => function.vars[var].space == Space::Local,
            Symbol::Global(global) => module.globals[global].space == Space::Local,
            _ => false,
        };
        for (block, place, id) in places(cfg) {
            let Some(view) = function.body.as_ref().and_then(|body| View::of(&module.forms, body, id)) else {
                continue;
            };
            for_each_symbol(&view, &mut |symbol, usage| {
                if is_local(symbol) {
                    let variable = *number.entry(symbol).or_insert_with(|| {
                        variables.push(symbol);
                        variables.len() as u32 - 1
                    });
                    uses.push((block, (place, variable, usage)));
                }
            });
            if reads_indirectly(&view) {
                indirect_reads.push((block, place));
            }
        }
        Self {
            variables,
            uses: Lists::from_pairs(cfg.len(), &uses),
            indirect_reads: Lists::from_pairs(cfg.len(), &indirect_reads),
        }
    }

    /// The variables that some instruction names.
    pub(super) fn variables(&self) -> &[Symbol] {
        &self.variables
    }

    /// How often the instructions of a block name a variable.
    pub(super) fn uses_in(&self, block: Block) -> usize {
        self.uses[block].len()
    }

    /// Calls `each` with the variables that may have been written before each point and may be read after it, and the
    /// number of the point. A point is a place in a block.
    pub(super) fn alive_at(&self, cfg: &Cfg, points: &[(Block, usize)], mut each: impl FnMut(usize, Symbol)) {
        if self.variables.is_empty() {
            return;
        }
        let read_later = self.is_read_indirectly_after(cfg, points);
        let mut named = Propagation::new(cfg.graph(), Direction::Backward);
        let mut written = Propagation::new(cfg.graph(), Direction::Forward);
        let mut taken = Propagation::new(cfg.graph(), Direction::Forward);
        for (chunk, variables) in self.variables.chunks(64).enumerate() {
            // The bit of a use, if its variable is of this chunk.
            let bit = |variable: u32| if variable as usize / 64 == chunk { 1_u64 << (variable % 64) } else { 0 };
            for propagation in [&mut named, &mut written, &mut taken] {
                propagation.reset();
            }
            for &block in cfg.graph().reverse_post_order() {
                for &(_, variable, usage) in &self.uses[block] {
                    named.start(block, bit(variable));
                    written.start(block, if usage == Use::Read { 0 } else { bit(variable) });
                    taken.start(block, if usage == Use::Any { bit(variable) } else { 0 });
                }
            }
            for propagation in [&mut named, &mut written, &mut taken] {
                propagation.run();
            }
            for (index, &(block, place)) in points.iter().enumerate() {
                let mut later = cfg.successors(block).iter().fold(0, |word, &next| word | named.facts[next]);
                let before = cfg.predecessors(block).iter();
                let mut earlier = before.clone().fold(0, |word, &before| word | written.facts[before]);
                let mut escaped = before.fold(0, |word, &before| word | taken.facts[before]);
                for &(at, variable, usage) in &self.uses[block] {
                    if at as usize > place {
                        later |= bit(variable);
                    } else if (at as usize) < place && usage != Use::Read {
                        earlier |= bit(variable);
                        escaped |= if usage == Use::Any { bit(variable) } else { 0 };
                    }
                }
                let may_be_read = later | if read_later[index] { escaped } else { 0 };
                for bit in bits(earlier & may_be_read) {
                    each(index, variables[bit]);
                }
            }
        }
    }

    fn is_read_indirectly_after(&self, cfg: &Cfg, points: &[(Block, usize)]) -> Vec<bool> {
        let mut reads = Propagation::new(cfg.graph(), Direction::Backward);
        for block in cfg.blocks().filter(|&block| !self.indirect_reads[block].is_empty()) {
            reads.start(block, 1);
        }
        reads.run();
        let is_read = |&(block, place): &(Block, usize)| {
            self.indirect_reads[block].last().is_some_and(|&last| last as usize > place)
                || cfg.successors(block).iter().any(|&next| reads.facts[next] != 0)
        };
        points.iter().map(is_read).collect()
    }
}

/// All statements with their block and place.
fn places(cfg: &Cfg) -> impl Iterator<Item = (Block, u32, StmtId)> {
    cfg.blocks()
        .flat_map(|block| cfg.statements(block).iter().enumerate().map(move |(place, &id)| (block, place as u32, id)))
}

/// Calls `each` with every variable that an instruction names.
fn for_each_symbol(view: &View<'_>, each: &mut impl FnMut(Symbol, Use)) {
    let accesses = view.accesses();
    for (index, operand) in view.operands().iter().enumerate() {
        let kinds = accesses.iter().filter(|access| access.address == index).map(|access| match access.kind {
            AccessKind::Read => Use::Read,
            AccessKind::Write => Use::Write,
            AccessKind::ReadWrite => Use::Any,
        });
        // An operand that is no address of an access of its own is computed with.
        let usage = kinds.reduce(|one, other| if one == other { one } else { Use::Any }).unwrap_or(Use::Any);
        symbols_in(view, operand, usage, each);
    }
}

fn symbols_in(view: &View<'_>, operand: &Operand, usage: Use, each: &mut impl FnMut(Symbol, Use)) {
    match *operand {
        Operand::SymbolAddress(symbol, _) | Operand::Element(symbol, _) => each(symbol, usage),
        Operand::Symbol(symbol, _) => each(symbol, Use::Any),
        Operand::Vector(list)
        | Operand::VectorPair(list, _)
        | Operand::TupleAddress(list)
        | Operand::Arguments(list) => {
            for operand in view.body.operands(list) {
                symbols_in(view, operand, Use::Any, each);
            }
        }
        _ => {}
    }
}

/// Whether an instruction may read local memory through an address that is in a register.
fn reads_indirectly(view: &View<'_>) -> bool {
    if view.callee().is_some() || view.matched_operands().is_none() {
        return true;
    }
    view.accesses().iter().any(|access| {
        let is_symbol = matches!(view.operands()[access.address], Operand::SymbolAddress(..) | Operand::Element(..));
        let may_be_local = match access.space {
            AccessSpace::Generic => true,
            AccessSpace::State(space) => space == Space::Local,
            AccessSpace::Tensor | AccessSpace::TensorMemory | AccessSpace::Texture => false,
        };
        may_be_local && !is_symbol && access.kind != AccessKind::Write
    })
}
