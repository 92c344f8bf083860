//! Names: everything that is used is declared before it, in a scope that is still open; labels are defined once.

use super::Verifier;
use crate::entity::{Id, Map};
use crate::ir::{GroupId, Label, Operand, Param, Stmt, StmtId, Symbol, Var};

/// Where a declaration can be seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visible {
    NotYet,
    Now,
    NoMore,
}

/// The declarations of a function while its statements are walked.
struct Seen {
    groups: Map<GroupId, Visible>,
    vars: Map<Var, Visible>,
    /// What each open scope declared.
    declared: Vec<Vec<Declared>>,
}

enum Declared {
    Group(GroupId),
    Var(Var),
}

impl Verifier<'_> {
    pub(super) fn check_scopes(&mut self) {
        let label_scopes = self.label_scopes();
        let mut seen = Seen {
            groups: Map::filled(self.function.groups.len(), Visible::NotYet),
            vars: Map::filled(self.function.vars.len(), Visible::NotYet),
            declared: vec![Vec::new()],
        };
        for param in self.function.params.iter().chain(&self.function.returns) {
            match *param {
                Param::Var(var) => seen.vars[var] = Visible::Now,
                Param::Reg(group) => seen.groups[group] = Visible::Now,
            }
        }
        // The number of the innermost open scope, and those around it.
        let mut open = vec![0_u32];
        let mut scopes = 0;
        for id in self.body.iter() {
            match self.body.stmt(id) {
                Stmt::Open => {
                    scopes += 1;
                    open.push(scopes);
                    seen.declared.push(Vec::new());
                }
                Stmt::Close => {
                    if open.len() == 1 {
                        self.error(id, None, "this `}` closes nothing".to_owned());
                        return;
                    }
                    open.pop();
                    for declared in seen.declared.pop().expect("there is one for every scope") {
                        match declared {
                            Declared::Group(group) => seen.groups[group] = Visible::NoMore,
                            Declared::Var(var) => seen.vars[var] = Visible::NoMore,
                        }
                    }
                }
                Stmt::Regs(group) => {
                    seen.groups[*group] = Visible::Now;
                    seen.declared.last_mut().expect("a scope is open").push(Declared::Group(*group));
                }
                Stmt::Var(var) => {
                    seen.vars[*var] = Visible::Now;
                    seen.declared.last_mut().expect("a scope is open").push(Declared::Var(*var));
                }
                Stmt::Inst(inst) => {
                    if let Some(guard) = inst.guard {
                        self.check_operand(id, None, &Operand::Reg(guard.reg), &seen, &label_scopes, &open);
                    }
                    for (index, operand) in self.body.operands(inst.operands).iter().enumerate() {
                        self.check_operand(id, Some(index), operand, &seen, &label_scopes, &open);
                    }
                }
                Stmt::BranchTargets(_, list) | Stmt::CallTargets(_, list) => {
                    for operand in self.body.operands(*list) {
                        self.check_operand(id, None, operand, &seen, &label_scopes, &open);
                    }
                }
                _ => {}
            }
        }
        if open.len() > 1
            && let Some(last) = self.body.last()
        {
            self.error(last, None, format!("{} `{{` are not closed at the end of the function", open.len() - 1));
        }
    }

    /// The scope in which each label is defined, by the number of its `{`; nothing for a label that is not.
    fn label_scopes(&mut self) -> Map<Label, Option<u32>> {
        let mut found: Map<Label, Option<u32>> = Map::filled(self.function.labels.len(), None);
        let mut open = vec![0_u32];
        let mut scopes = 0;
        for id in self.body.iter() {
            match self.body.stmt(id) {
                Stmt::Open => {
                    scopes += 1;
                    open.push(scopes);
                }
                Stmt::Close if open.len() > 1 => {
                    open.pop();
                }
                Stmt::Label(label)
                | Stmt::BranchTargets(label, _)
                | Stmt::CallTargets(label, _)
                | Stmt::CallPrototype(label, _) => {
                    if found[*label].is_some() {
                        let name = self.module.text(self.function.labels[*label].name).to_owned();
                        self.error(id, None, format!("the label `{name}` is defined twice"));
                    }
                    found[*label] = open.last().copied();
                }
                _ => {}
            }
        }
        found
    }

    fn check_operand(
        &mut self,
        id: StmtId,
        index: Option<usize>,
        operand: &Operand,
        seen: &Seen,
        label_scopes: &Map<Label, Option<u32>>,
        open: &[u32],
    ) {
        match *operand {
            Operand::Reg(reg)
            | Operand::Not(reg)
            | Operand::Neg(reg)
            | Operand::Part(reg, _)
            | Operand::RegAddress(reg, _) => self.check_group(id, index, reg, seen),
            Operand::Pair(first, second) => {
                for reg in first.reg().into_iter().chain(second.reg()) {
                    self.check_group(id, index, reg, seen);
                }
            }
            Operand::Symbol(symbol, _) | Operand::SymbolAddress(symbol, _) | Operand::Element(symbol, _) => {
                self.check_symbol(id, index, symbol, seen, label_scopes, open);
            }
            Operand::Vector(list) | Operand::TupleAddress(list) | Operand::Arguments(list) => {
                for operand in self.body.operands(list) {
                    self.check_operand(id, index, operand, seen, label_scopes, open);
                }
            }
            Operand::VectorPair(list, second) => {
                self.check_operand(id, index, &Operand::Vector(list), seen, label_scopes, open);
                if let Some(reg) = second.reg() {
                    self.check_group(id, index, reg, seen);
                }
            }
            _ => {}
        }
    }

    fn check_group(&mut self, id: StmtId, index: Option<usize>, reg: crate::ir::Reg, seen: &Seen) {
        let problem = match seen.groups[self.function.regs[reg].group] {
            Visible::Now => return,
            Visible::NotYet => "is used before its declaration",
            Visible::NoMore => "is declared in a scope that has ended",
        };
        let name = self.reg_name(reg);
        self.error(id, index, format!("the register `{name}` {problem}"));
    }

    fn check_symbol(
        &mut self,
        id: StmtId,
        index: Option<usize>,
        symbol: Symbol,
        seen: &Seen,
        label_scopes: &Map<Label, Option<u32>>,
        open: &[u32],
    ) {
        let message = match symbol {
            Symbol::Undeclared(name) => format!("`{}` is not declared", self.module.text(name)),
            Symbol::Var(var) => {
                let name = self.module.text(self.function.vars[var].name);
                match seen.vars[var] {
                    Visible::Now => return,
                    Visible::NotYet => {
                        format!("the variable `{name}` is used before its declaration")
                    }
                    Visible::NoMore => {
                        format!("the variable `{name}` is declared in a scope that has ended")
                    }
                }
            }
            Symbol::Label(label) => {
                let name = self.module.text(self.function.labels[label].name);
                match label_scopes.get(label).copied().flatten() {
                    Some(scope) if open.contains(&scope) => return,
                    Some(_) => {
                        format!("the label `{name}` is defined in a scope that is not open here")
                    }
                    None => format!("the label `{name}` is not defined"),
                }
            }
            Symbol::Global(global) => {
                assert!(global.index() < self.module.globals.len(), "{global:?} belongs to another module");
                return;
            }
            Symbol::Func(func) => {
                assert!(func.index() < self.module.functions.len(), "{func:?} belongs to another module");
                return;
            }
        };
        self.error(id, index, message);
    }
}
