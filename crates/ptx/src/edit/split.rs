//! Cutting blocks, and sending branches elsewhere.

use super::builder::Point;
use super::copy::replace_symbols;
use super::editor::Editor;
use super::error::EditError;
use crate::ir::{Label, Stmt, StmtId, Symbol, TagId};

impl Editor<'_> {
    /// Cuts a block before a statement: from now on a label stands there, to which any branch of the function can go.
    /// Control still falls through into it.
    pub fn split_before(&mut self, id: StmtId, tag: TagId) -> Result<Label, EditError> {
        let point = self.flatten_around(Point::Before(id))?;
        let mut builder = self.at(point, tag);
        let label = builder.label("split");
        builder.place(label);
        Ok(label)
    }

    /// Cuts a block before a statement, and the first part ends with a branch to the second.
    pub fn split_with_branch(&mut self, id: StmtId, tag: TagId) -> Result<Label, EditError> {
        let point = self.flatten_around(Point::Before(id))?;
        let mut builder = self.at(point, tag);
        let label = builder.label("split");
        builder.branch(None, label);
        builder.place(label);
        Ok(label)
    }

    /// Sends all branches that go to one label, and the entries of branch tables, to another one. Returns how many.
    pub fn redirect(&mut self, from: Label, to: Label) -> usize {
        let ids = self.body().ids();
        self.redirect_in(&ids, from, to)
    }

    /// Sends those branches to another label that are among the statements.
    pub fn redirect_in(&mut self, statements: &[StmtId], from: Label, to: Label) -> usize {
        let mut count = 0;
        for &id in statements {
            let list = match self.body().stmt(id) {
                Stmt::Inst(inst) => inst.operands,
                Stmt::BranchTargets(_, list) => *list,
                _ => continue,
            };
            let mut map = |symbol| (symbol == Symbol::Label(from)).then_some(Symbol::Label(to));
            count += replace_symbols(self.body_mut(), list, &mut map);
        }
        count
    }
}
