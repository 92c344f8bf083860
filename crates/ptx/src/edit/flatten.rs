//! Removing inner scopes.
//!
//! A copy of a statement may come to stand where the names in it mean something else or nothing, and a label inside
//! braces cannot be reached from outside. So before statements are copied or cut, the function is made flat: braces
//! go, what was declared between them is declared at the top, and what had the same name gets another one. The
//! function computes what it did, though ptxas may allocate its registers in another way.

use super::builder::Point;
use super::declared::Declared;
use super::editor::Editor;
use super::error::EditError;
use super::names::UsedNames;
use crate::entity::Map;
use crate::ir::{Param, Stmt, StmtId};

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
                let named = self.named(declared);
                used.add_named(&mut self.module.names, named);
            }
            self.set_names(used);
            for declared in moved {
                self.give_free_name(declared);
            }
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

    /// Makes the function flat, and returns the same place in it by a statement that is still there.
    pub(super) fn flatten_around(&mut self, point: Point) -> Result<Point, EditError> {
        let goes = |id: StmtId| {
            matches!(self.body().stmt(id), Stmt::Open | Stmt::Close | Stmt::Regs(_) | Stmt::Var(_)).then_some(id)
        };
        let mut going = match point {
            Point::Before(id) | Point::After(id) => goes(id),
            Point::End => None,
        };
        let mut stable = point;
        // Nothing happens between braces and declarations, so the place is before whatever comes after them.
        while let Some(id) = going {
            let next = self.body().next(id);
            stable = next.map_or(Point::End, Point::Before);
            going = next.and_then(goes);
        }
        self.flatten()?;
        Ok(stable)
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
}
