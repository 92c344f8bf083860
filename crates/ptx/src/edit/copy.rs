//! Copying statements with other registers, labels and variables.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::modify::map_member;
use crate::ir::{Body, Inst, Label, List, Operand, Reg, Stmt, Symbol, Var};

/// What the registers, labels and variables of copied statements become. What is not listed stays what it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Renaming {
    pub(super) regs: FxHashMap<Reg, Reg>,
    pub(super) labels: FxHashMap<Label, Label>,
    pub(super) vars: FxHashMap<Var, Var>,
}

impl Renaming {
    /// The statement for the body `into`; its operands are in `from`, or in `into` itself if there is none. Nothing for
    /// what a copy does not have: declarations, which are at the top of the function, and braces.
    pub(super) fn stmt(&self, from: Option<&Body>, into: &mut Body, stmt: &Stmt) -> Option<Stmt> {
        Some(match stmt {
            Stmt::Open | Stmt::Close | Stmt::Regs(_) | Stmt::Var(_) => return None,
            Stmt::Inst(inst) => Stmt::Inst(self.inst(from, into, *inst)),
            Stmt::Label(label) => Stmt::Label(self.label(*label)),
            Stmt::BranchTargets(label, list) => Stmt::BranchTargets(self.label(*label), self.list(from, into, *list)),
            Stmt::CallTargets(label, list) => Stmt::CallTargets(self.label(*label), self.list(from, into, *list)),
            Stmt::CallPrototype(label, prototype) => Stmt::CallPrototype(self.label(*label), prototype.clone()),
            Stmt::Unknown(_) | Stmt::Loc(_) | Stmt::Directive(_) => stmt.clone(),
        })
    }

    fn inst(&self, from: Option<&Body>, into: &mut Body, mut inst: Inst) -> Inst {
        if let Some(guard) = &mut inst.guard {
            guard.reg = self.reg(guard.reg);
        }
        Inst { operands: self.list(from, into, inst.operands), ..inst }
    }

    fn list(&self, from: Option<&Body>, into: &mut Body, list: List) -> List {
        let mut operands: SmallVec<[Operand; 8]> = from.unwrap_or(into).operands(list).into();
        for operand in &mut operands {
            *operand = self.operand(from, into, *operand);
        }
        into.list(&operands)
    }

    fn operand(&self, from: Option<&Body>, into: &mut Body, operand: Operand) -> Operand {
        match operand {
            Operand::Reg(reg) => Operand::Reg(self.reg(reg)),
            Operand::Not(reg) => Operand::Not(self.reg(reg)),
            Operand::Neg(reg) => Operand::Neg(self.reg(reg)),
            Operand::Part(reg, part) => Operand::Part(self.reg(reg), part),
            Operand::RegAddress(reg, offset) => Operand::RegAddress(self.reg(reg), offset),
            Operand::Pair(first, second) => {
                let mut map = |reg| self.reg(reg);
                Operand::Pair(map_member(first, &mut map), map_member(second, &mut map))
            }
            Operand::VectorPair(list, second) => {
                Operand::VectorPair(self.list(from, into, list), map_member(second, &mut |reg| self.reg(reg)))
            }
            Operand::Vector(list) => Operand::Vector(self.list(from, into, list)),
            Operand::TupleAddress(list) => Operand::TupleAddress(self.list(from, into, list)),
            Operand::Arguments(list) => Operand::Arguments(self.list(from, into, list)),
            Operand::Symbol(symbol, offset) => Operand::Symbol(self.symbol(symbol), offset),
            Operand::SymbolAddress(symbol, offset) => Operand::SymbolAddress(self.symbol(symbol), offset),
            Operand::Element(symbol, index) => Operand::Element(self.symbol(symbol), index),
            Operand::Special(_)
            | Operand::Int(_)
            | Operand::Hex(_)
            | Operand::F32(_)
            | Operand::F64(_)
            | Operand::WarpSize
            | Operand::IntAddress(_)
            | Operand::Sink => operand,
        }
    }

    pub(super) fn reg(&self, reg: Reg) -> Reg {
        self.regs.get(&reg).copied().unwrap_or(reg)
    }

    fn label(&self, label: Label) -> Label {
        self.labels.get(&label).copied().unwrap_or(label)
    }

    fn symbol(&self, symbol: Symbol) -> Symbol {
        match symbol {
            Symbol::Label(label) => Symbol::Label(self.label(label)),
            Symbol::Var(var) => Symbol::Var(self.vars.get(&var).copied().unwrap_or(var)),
            Symbol::Global(_) | Symbol::Func(_) | Symbol::Undeclared(_) => symbol,
        }
    }
}

/// Exchanges symbols in all operands of a list and of the lists in it. Returns how many were exchanged.
pub(super) fn replace_symbols(body: &mut Body, list: List, map: &mut impl FnMut(Symbol) -> Option<Symbol>) -> usize {
    let mut count = 0;
    for index in 0..list.len() {
        match &mut body.operands_mut(list)[index] {
            Operand::Symbol(symbol, _) | Operand::SymbolAddress(symbol, _) | Operand::Element(symbol, _) => {
                if let Some(new) = map(*symbol) {
                    *symbol = new;
                    count += 1;
                }
            }
            Operand::Vector(inner)
            | Operand::TupleAddress(inner)
            | Operand::Arguments(inner)
            | Operand::VectorPair(inner, _) => {
                let inner = *inner;
                count += replace_symbols(body, inner, map);
            }
            _ => {}
        }
    }
    count
}
