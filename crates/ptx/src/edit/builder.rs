//! Inserting statements at a place.

use super::editor::Editor;
use super::origin::origin_of;
use crate::diagnostic::Position;
use crate::ir::{FuncId, Global, Guard, Label, Operand, Origin, Reg, SourceLocation, Stmt, StmtId, Symbol, TagId, Var};
use crate::special::Special;
use crate::types::Type;

/// A place between statements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Point {
    /// Before a statement. What is inserted executes before it, and has its source location.
    Before(StmtId),
    /// After a statement.
    After(StmtId),
    /// After the last statement.
    End,
}

/// Inserts statements at a place, one after the other.
///
/// They have the source location that is in force there, since `.loc` holds for what follows it, and the origin of the
/// statement beside which they are inserted, with the tag of the tool.
#[derive(Debug)]
pub struct Builder<'e, 'm> {
    editor: &'e mut Editor<'m>,
    point: Point,
    origin: Origin,
    at: Position,
    tag: TagId,
}

impl<'m> Editor<'m> {
    /// Inserts before a statement.
    pub fn before(&mut self, id: StmtId, tag: TagId) -> Builder<'_, 'm> {
        self.at(Point::Before(id), tag)
    }

    /// Inserts after a statement. After a branch that is always taken, nothing executes.
    pub fn after(&mut self, id: StmtId, tag: TagId) -> Builder<'_, 'm> {
        self.at(Point::After(id), tag)
    }

    /// Inserts where the function begins to execute: after the declarations at its top, and before its first label,
    /// so that no branch comes back there.
    pub fn at_entry(&mut self, tag: TagId) -> Builder<'_, 'm> {
        let point = match (self.leading_declarations().last(), self.body().first()) {
            (Some(last), _) => Point::After(last),
            (None, Some(first)) => Point::Before(first),
            (None, None) => Point::End,
        };
        self.at(point, tag)
    }

    /// Inserts after the last statement.
    pub fn at_end(&mut self, tag: TagId) -> Builder<'_, 'm> {
        self.at(Point::End, tag)
    }

    /// Inserts at a place. Among declarations it is taken to be after them: they do not execute, and what is inserted
    /// may need them.
    pub fn at(&mut self, point: Point, tag: TagId) -> Builder<'_, 'm> {
        let point = self.behind_declarations(point);
        let anchor = match point {
            Point::Before(id) | Point::After(id) => Some(id),
            Point::End => self.body().last(),
        };
        let origin = anchor.and_then(|id| origin_of(self.body(), id)).unwrap_or(self.module.no_origin());
        let at = anchor.map_or(Position::NONE, |id| self.body().position(id));
        Builder { editor: self, point, origin: origin.tagged(tag), at, tag }
    }

    fn behind_declarations(&self, mut point: Point) -> Point {
        let next = |point| match point {
            Point::Before(id) => Some(id),
            Point::After(id) => self.body().next(id),
            Point::End => None,
        };
        while let Some(id) = next(point).filter(|&id| matches!(self.body().stmt(id), Stmt::Regs(_) | Stmt::Var(_))) {
            point = Point::After(id);
        }
        point
    }
}

impl<'e, 'm> Builder<'e, 'm> {
    /// The same place, but what is inserted is there for another instruction of the user.
    pub fn for_origin(mut self, origin: Origin) -> Self {
        self.origin = origin.tagged(self.tag);
        self
    }

    /// The editor, for what is not inserted here.
    pub fn editor(&mut self) -> &mut Editor<'m> {
        self.editor
    }

    /// Inserts an instruction: `inst("add.s32", &[d.into(), a.into(), 4.into()])`.
    pub fn inst(&mut self, spelling: &str, operands: &[Operand]) -> StmtId {
        self.inst_if(None, spelling, operands)
    }

    /// Inserts an instruction that is executed where the guard holds.
    pub fn guarded(&mut self, guard: Guard, spelling: &str, operands: &[Operand]) -> StmtId {
        self.inst_if(Some(guard), spelling, operands)
    }

    /// Inserts an instruction with or without a guard.
    pub fn inst_if(&mut self, guard: Option<Guard>, spelling: &str, operands: &[Operand]) -> StmtId {
        let form = self.editor.form(spelling);
        let inst = self.editor.body_mut().make_inst(guard, form, operands);
        self.stmt(Stmt::Inst(inst))
    }

    /// Compares where the guard holds: the predicate, or each of a pair, is false elsewhere.
    pub fn setp(
        &mut self,
        to: Operand,
        relation: &str,
        ty: &str,
        [a, b]: [Operand; 2],
        guard: Option<Guard>,
    ) -> StmtId {
        match guard {
            None => self.inst(&format!("setp.{relation}.{ty}"), &[to, a, b]),
            Some(Guard { reg, negated }) => {
                let holds = if negated { Operand::Not(reg) } else { Operand::Reg(reg) };
                self.inst(&format!("setp.{relation}.and.{ty}"), &[to, a, b, holds])
            }
        }
    }

    /// Inserts a call that passes registers and constants. A guarded call cannot have a call sequence of `.param`
    /// variables, because their loads and stores must not be guarded (ptxas says so).
    pub fn call(&mut self, guard: Option<Guard>, callee: FuncId, results: &[Operand], arguments: &[Operand]) -> StmtId {
        let mut operands = Vec::with_capacity(3);
        if !results.is_empty() {
            operands.push(Operand::Arguments(self.editor.body_mut().list(results)));
        }
        operands.push(callee.into());
        if !arguments.is_empty() {
            operands.push(Operand::Arguments(self.editor.body_mut().list(arguments)));
        }
        self.inst_if(guard, "call", &operands)
    }

    /// Inserts a branch.
    pub fn branch(&mut self, guard: Option<Guard>, target: Label) -> StmtId {
        self.inst_if(guard, "bra", &[target.into()])
    }

    /// Inserts a label. Every label stands at one place.
    pub fn place(&mut self, label: Label) -> StmtId {
        self.stmt(Stmt::Label(label))
    }

    /// Changes the source location of what follows.
    pub fn location(&mut self, location: SourceLocation) -> StmtId {
        self.stmt(Stmt::Loc(Box::new(location)))
    }

    /// Inserts any statement.
    pub fn stmt(&mut self, stmt: Stmt) -> StmtId {
        self.stmt_from(stmt, self.at, self.origin)
    }

    /// Inserts a statement that comes from elsewhere.
    pub(super) fn stmt_from(&mut self, stmt: Stmt, at: Position, origin: Origin) -> StmtId {
        if matches!(stmt, Stmt::Open | Stmt::Close | Stmt::Regs(_) | Stmt::Var(_)) {
            self.editor.is_flat = false;
        }
        let body = self.editor.body_mut();
        let id = match self.point {
            Point::Before(id) => return body.insert_before(id, stmt, at, origin),
            Point::After(id) => body.insert_after(id, stmt, at, origin),
            Point::End => body.push(stmt, at, origin),
        };
        self.point = Point::After(id);
        id
    }

    /// A fresh register of a type.
    pub fn reg(&mut self, ty: Type) -> Reg {
        self.editor.reg(self.tag, ty)
    }

    /// A fresh label, to be placed with [`Builder::place`].
    pub fn label(&mut self, purpose: &str) -> Label {
        let tool = self.editor.module.text(self.editor.module.tags[self.tag].tool).to_owned();
        self.editor.label(&format!("${tool}_{purpose}"))
    }

    /// `{%r1, %r2}`
    pub fn vector(&mut self, elements: &[Operand]) -> Operand {
        Operand::Vector(self.editor.body_mut().list(elements))
    }

    /// `[%rd1, {%r1, %r2}]`
    pub fn tuple_address(&mut self, parts: &[Operand]) -> Operand {
        Operand::TupleAddress(self.editor.body_mut().list(parts))
    }
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Self {
        Self::Reg(reg)
    }
}

impl From<i64> for Operand {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<Special> for Operand {
    fn from(special: Special) -> Self {
        Self::Special(special)
    }
}

impl From<Symbol> for Operand {
    fn from(symbol: Symbol) -> Self {
        Self::Symbol(symbol, 0)
    }
}

impl From<FuncId> for Operand {
    fn from(func: FuncId) -> Self {
        Symbol::Func(func).into()
    }
}

impl From<Global> for Operand {
    fn from(global: Global) -> Self {
        Symbol::Global(global).into()
    }
}

impl From<Var> for Operand {
    fn from(var: Var) -> Self {
        Symbol::Var(var).into()
    }
}

impl From<Label> for Operand {
    fn from(label: Label) -> Self {
        Symbol::Label(label).into()
    }
}

impl Guard {
    /// `@%p`
    pub fn when(reg: Reg) -> Self {
        Self { reg, negated: false }
    }

    /// `@!%p`
    pub fn unless(reg: Reg) -> Self {
        Self { reg, negated: true }
    }

    /// The opposite condition.
    pub fn inverted(self) -> Self {
        Self { negated: !self.negated, ..self }
    }
}
