//! The editor of one function.

use rustc_hash::FxHashMap;

use super::error::EditError;
use super::names::UsedNames;
use crate::form::FormId;
use crate::ir::{Body, FuncId, Function, GroupId, InsertedBy, Module, SourceLocation, Stmt, StmtId, TagId};
use crate::name::{Name, Names};
use crate::types::Type;
use crate::view::View;

/// Edits one function of a module.
///
/// It remembers which names are taken, so one editor for all edits of a function is faster than one for each. Entities
/// that are added to the function behind its back may get a name that it gives again.
#[derive(Debug)]
pub struct Editor<'m> {
    pub(super) module: &'m mut Module,
    pub(super) func: FuncId,
    /// Found when the first name is needed.
    used_names: Option<UsedNames>,
    /// The group that fresh registers of a tool, role, type and vector length come from.
    pub(super) fresh_groups: FxHashMap<(Name, Name, Type, u8), GroupId>,
    /// The last declaration that was put at the top.
    last_declared: Option<StmtId>,
    /// Whether the function is known to have no inner scopes.
    pub(super) is_flat: bool,
}

impl<'m> Editor<'m> {
    /// Opens a function that has a body.
    pub fn new(module: &'m mut Module, func: FuncId) -> Result<Self, EditError> {
        if module.functions[func].body.is_none() {
            return Err(EditError::NoBody { function: module.text(module.functions[func].name).to_owned() });
        }
        let fresh_groups = FxHashMap::default();
        Ok(Self { module, func, used_names: None, fresh_groups, last_declared: None, is_flat: false })
    }

    /// The module.
    pub fn module(&self) -> &Module {
        self.module
    }

    /// The module, to be changed elsewhere than in this function.
    pub fn module_mut(&mut self) -> &mut Module {
        self.module
    }

    /// Which function is edited.
    pub fn func(&self) -> FuncId {
        self.func
    }

    /// The function.
    pub fn function(&self) -> &Function {
        &self.module.functions[self.func]
    }

    pub(super) fn function_mut(&mut self) -> &mut Function {
        &mut self.module.functions[self.func]
    }

    /// The statements.
    pub fn body(&self) -> &Body {
        self.function().body.as_ref().expect("an editor is opened only on functions with a body")
    }

    /// The statements, to be changed.
    pub fn body_mut(&mut self) -> &mut Body {
        self.function_mut().body.as_mut().expect("an editor is opened only on functions with a body")
    }

    /// The meaning of a statement, if it is an instruction.
    pub fn view(&self, id: StmtId) -> Option<View<'_>> {
        View::of(&self.module.forms, self.body(), id)
    }

    /// The form that is spelled like this: `add.s32`.
    pub fn form(&mut self, spelling: &str) -> FormId {
        self.module.forms.intern(spelling)
    }

    /// The tag of what a tool inserts in a role: `memcheck`, `check`. See [`InsertedBy`] for the number of the copy.
    pub fn tag(&mut self, tool: &str, role: &str, copy: u32) -> TagId {
        self.module.tag_named(tool, role, copy)
    }

    /// The statements from the first to the last, both included. The last one must come after the first.
    pub fn range(&self, first: StmtId, last: StmtId) -> Vec<StmtId> {
        let following = |&id: &StmtId| if id == last { None } else { self.body().next(id) };
        let ids: Vec<StmtId> = std::iter::successors(Some(first), following).collect();
        assert_eq!(ids.last(), Some(&last), "{last:?} does not come after {first:?}");
        ids
    }

    /// The source location of a statement: the last `.loc` before it in the text.
    pub fn location(&self, id: StmtId) -> Option<&SourceLocation> {
        if self.module.files.is_empty() {
            return None;
        }
        std::iter::successors(Some(id), |&id| self.body().previous(id)).find_map(|id| match self.body().stmt(id) {
            Stmt::Loc(location) => Some(&**location),
            _ => None,
        })
    }

    /// The taken names, and the table to make new ones in.
    pub(super) fn names(&mut self) -> (&mut UsedNames, &mut Names) {
        let used = self.used_names.get_or_insert_with(|| UsedNames::of_function(self.module, self.func));
        used.add_new_of_module(self.module);
        (used, &mut self.module.names)
    }

    pub(super) fn set_names(&mut self, used: UsedNames) {
        self.used_names = Some(used);
    }

    /// Puts a declaration at the top of the body, after those that this editor put there before.
    pub(super) fn declare(&mut self, stmt: Stmt) -> StmtId {
        let origin = match self.body().first() {
            Some(first) => self.body().origin(first),
            None => self.module.no_origin(),
        };
        let at = crate::diagnostic::Position::NONE;
        let last = self.last_declared;
        let body = self.body_mut();
        let id = match (last, body.first()) {
            (Some(last), _) => body.insert_after(last, stmt, at, origin),
            (None, Some(first)) => body.insert_before(first, stmt, at, origin),
            (None, None) => body.push(stmt, at, origin),
        };
        self.last_declared = Some(id);
        id
    }

    /// The declarations at the start of the body, which are visible in all of it.
    pub(super) fn leading_declarations(&self) -> impl Iterator<Item = StmtId> {
        let is_leading = |id: &StmtId| matches!(self.body().stmt(*id), Stmt::Regs(_) | Stmt::Var(_) | Stmt::Loc(_));
        self.body().iter().take_while(is_leading)
    }

    /// Takes a statement out. Its id must not be used any more.
    pub fn remove(&mut self, id: StmtId) {
        if self.last_declared == Some(id) {
            self.last_declared = self.body().previous(id);
        }
        self.body_mut().remove(id);
    }
}

impl Module {
    /// The tag of what a tool inserts in a role; the number of the copy is 0 where there is only one.
    ///
    /// The names are printed into comments and read back from there, so they are words.
    pub fn tag_named(&mut self, tool: &str, role: &str, copy: u32) -> TagId {
        let is_word =
            |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
        assert!(is_word(tool) && is_word(role), "`{tool}` and `{role}` must be words");
        let inserted_by = InsertedBy { tool: self.names.intern(tool), role: self.names.intern(role), copy };
        self.tag(inserted_by)
    }
}
