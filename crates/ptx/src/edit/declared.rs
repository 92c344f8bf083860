//! The names that a function gives, and giving others.

use rustc_hash::FxHashSet;

use super::editor::Editor;
use super::names::{Named, before_number};
use crate::ir::{GroupId, Label, Stmt, Symbol, Var};
use crate::name::Name;

/// Something with a name in a function.
#[derive(Clone, Copy, Debug)]
pub(super) enum Declared {
    Group(GroupId),
    Var(Var),
    Label(Label),
}

impl Declared {
    /// What the statement declares.
    pub(super) fn by(stmt: &Stmt) -> Option<Self> {
        match *stmt {
            Stmt::Regs(group) => Some(Self::Group(group)),
            Stmt::Var(var) => Some(Self::Var(var)),
            Stmt::Label(label)
            | Stmt::BranchTargets(label, _)
            | Stmt::CallTargets(label, _)
            | Stmt::CallPrototype(label, _) => Some(Self::Label(label)),
            _ => None,
        }
    }
}

impl Editor<'_> {
    /// Gives other names to what hides variables and functions of the module in this function, in whatever scope, so
    /// that statements which name these can be put anywhere in it. Symbols of the function itself do not matter.
    pub fn unshadow(&mut self, symbols: impl IntoIterator<Item = Symbol>) {
        let names: FxHashSet<Name> = symbols
            .into_iter()
            .filter_map(|symbol| match symbol {
                Symbol::Global(global) => Some(self.module.globals[global].name),
                Symbol::Func(func) => Some(self.module.functions[func].name),
                Symbol::Var(_) | Symbol::Label(_) | Symbol::Undeclared(_) => None,
            })
            .collect();
        if names.is_empty() {
            return;
        }
        let prefixes: FxHashSet<Name> =
            names.iter().filter_map(|&name| self.module.names.find(before_number(self.module.text(name))?)).collect();
        let function = self.function();
        let all = function.groups.ids().map(Declared::Group);
        let all = all.chain(function.vars.ids().map(Declared::Var)).chain(function.labels.ids().map(Declared::Label));
        let hides = |declared: &Declared| {
            let Named { name, is_numbered } = self.named(*declared);
            names.contains(&name) || (is_numbered && prefixes.contains(&name))
        };
        for declared in all.filter(hides).collect::<Vec<_>>() {
            self.give_free_name(declared);
        }
    }

    pub(super) fn named(&self, declared: Declared) -> Named {
        let function = self.function();
        match declared {
            Declared::Group(group) => {
                let group = &function.groups[group];
                Named { name: group.name, is_numbered: group.count.is_some() }
            }
            Declared::Var(var) => Named { name: function.vars[var].name, is_numbered: false },
            Declared::Label(label) => Named { name: function.labels[label].name, is_numbered: false },
        }
    }

    /// Gives something its own name if that is free, or else one like it.
    pub(super) fn give_free_name(&mut self, declared: Declared) {
        let Named { name, is_numbered } = self.named(declared);
        let base = self.module.text(name).to_owned();
        let (used, names) = self.names();
        let fresh = if is_numbered { used.fresh_group(names, &base) } else { used.fresh(names, &base) };
        let function = self.function_mut();
        match declared {
            Declared::Group(group) => function.groups[group].name = fresh,
            Declared::Var(var) => function.vars[var].name = fresh,
            Declared::Label(label) => function.labels[label].name = fresh,
        }
    }
}
