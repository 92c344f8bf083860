//! Removing inner scopes.
//!
//! A copy of a statement may come to stand where the names in it mean something else or nothing, and a label inside
//! braces cannot be reached from outside. So before statements are copied or cut, the function is made flat: braces
//! go, what was declared between them is declared at the top, and what had the same name gets another one. The
//! function computes what it did, though ptxas may allocate its registers in another way.

use super::editor::Editor;
use super::error::EditError;
use super::names::UsedNames;
use crate::entity::Map;
use crate::ir::{GroupId, Label, Param, Stmt, StmtId, Var};

/// Something with a name that a statement introduces.
#[derive(Clone, Copy)]
enum Declared {
    Group(GroupId),
    Var(Var),
    Label(Label),
}

impl Declared {
    fn by(stmt: &Stmt) -> Option<Self> {
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

/// What has to change.
#[derive(Default)]
struct Scoped {
    braces: Vec<StmtId>,
    /// Declarations of registers and variables that are not at the top, those outside all braces first.
    late: Vec<StmtId>,
    /// Names that stay.
    kept: Vec<Declared>,
    /// Names that change if they are taken, in the order of the text, but those outside all braces first.
    moved: Vec<Declared>,
}

impl Editor<'_> {
    /// Makes the function flat: no inner scopes, and all declarations at the top.
    ///
    /// Refused if there is a statement between braces that the parser could not read.
    pub fn flatten(&mut self) -> Result<(), EditError> {
        if self.is_flat {
            return Ok(());
        }
        let Scoped { braces, late, kept, moved } = self.find_scoped()?;
        if !braces.is_empty() || !late.is_empty() {
            let mut used = UsedNames::of_module(self.module);
            for declared in kept {
                self.take_name(&mut used, declared);
            }
            for declared in moved {
                self.take_free_name(&mut used, declared);
            }
            self.set_names(used);
            for id in late {
                let stmt = self.body().stmt(id).clone();
                self.remove(id);
                self.declare(stmt);
            }
            for id in braces {
                self.remove(id);
            }
        }
        self.is_flat = true;
        Ok(())
    }

    fn find_scoped(&self) -> Result<Scoped, EditError> {
        let mut found = Scoped::default();
        let (mut inner, mut inner_late) = (Vec::new(), Vec::new());
        let function = self.function();
        for param in function.params.iter().chain(&function.returns) {
            found.kept.push(match *param {
                Param::Var(var) => Declared::Var(var),
                Param::Reg(group) => Declared::Group(group),
            });
        }
        let leading = self.leading_declarations().count();
        let mut is_placed = Map::filled(function.labels.len(), false);
        let mut depth = 0;
        for (index, id) in self.body().iter().enumerate() {
            let stmt = self.body().stmt(id);
            match stmt {
                Stmt::Open => depth += 1,
                Stmt::Close => depth -= 1,
                Stmt::Unknown(text) if depth > 0 => {
                    return Err(EditError::Unreadable { text: self.module.text(*text).to_owned() });
                }
                _ => {}
            }
            if matches!(stmt, Stmt::Open | Stmt::Close) {
                found.braces.push(id);
            }
            let is_late = index >= leading && matches!(stmt, Stmt::Regs(_) | Stmt::Var(_));
            let Some(declared) = Declared::by(stmt) else { continue };
            if let Declared::Label(label) = declared {
                is_placed[label] = true;
            }
            match (depth, is_late) {
                (0, false) => found.kept.push(declared),
                (0, true) => found.moved.push(declared),
                _ => inner.push(declared),
            }
            if is_late {
                (if depth == 0 { &mut found.late } else { &mut inner_late }).push(id);
            }
        }
        // Fresh labels keep their names too, although they are not placed yet.
        let unplaced = function.labels.ids().filter(|&label| !is_placed[label]);
        found.kept.extend(unplaced.map(Declared::Label));
        found.moved.append(&mut inner);
        found.late.append(&mut inner_late);
        Ok(found)
    }

    fn take_name(&mut self, used: &mut UsedNames, declared: Declared) {
        let crate::ir::Module { names, functions, .. } = &mut *self.module;
        let function = &functions[self.func];
        match declared {
            Declared::Group(group) => {
                let group = &function.groups[group];
                used.add_reg_group(names, group.name, group.count.is_some());
            }
            Declared::Var(var) => used.add(names, function.vars[var].name),
            Declared::Label(label) => used.add(names, function.labels[label].name),
        }
    }

    fn take_free_name(&mut self, used: &mut UsedNames, declared: Declared) {
        let crate::ir::Module { names, functions, .. } = &mut *self.module;
        let function = &mut functions[self.func];
        let (name, is_group) = match declared {
            Declared::Group(group) => {
                let group = &mut function.groups[group];
                (&mut group.name, group.count.is_some())
            }
            Declared::Var(var) => (&mut function.vars[var].name, false),
            Declared::Label(label) => (&mut function.labels[label].name, false),
        };
        let base = names.text(*name).to_owned();
        *name = if is_group { used.fresh_group(names, &base) } else { used.fresh(names, &base) };
    }
}
