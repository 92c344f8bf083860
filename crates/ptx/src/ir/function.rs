//! Functions: a list of statements, and the tables of what they name.

use rustc_hash::FxHashSet;

use super::entities::{GroupId, Label, Reg, StmtId, Var};
use super::operand::{List, Operand, Symbol};
use super::origin::{Origin, OriginId, TagId};
use super::statement::{Guard, Inst, Stmt};
use super::variable::{Directive, Variable};
use crate::diagnostic::Position;
use crate::entity::{Id, Map};
use crate::form::FormId;
use crate::name::Name;
use crate::types::{Linkage, Type};

/// A kernel or a device function.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Kernel or device function.
    pub kind: FunctionKind,
    /// Its name.
    pub name: Name,
    /// `.visible`, `.extern`, `.weak`.
    pub linkage: Option<Linkage>,
    /// `.attribute(…)`, as written between the parentheses.
    pub attributes: Vec<Name>,
    /// Result parameters.
    pub returns: Vec<Param>,
    /// Parameters.
    pub params: Vec<Param>,
    /// `.maxntid`, `.reqntid`, `.noreturn` and the like, between the parameters and the body.
    pub directives: Vec<Directive>,
    /// Parameters and the variables declared in the body.
    pub vars: Map<Var, Variable>,
    /// Register declarations.
    pub groups: Map<GroupId, RegGroup>,
    /// The registers that are used.
    pub regs: Map<Reg, RegInfo>,
    /// Labels.
    pub labels: Map<Label, LabelInfo>,
    /// The statements; nothing for a declaration.
    pub body: Option<Body>,
    /// Where it is declared.
    pub at: Position,
}

/// Who can start a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionKind {
    /// `.entry`: a kernel.
    Entry,
    /// `.func`: a device function.
    Func,
}

/// A parameter of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Param {
    /// `.param .b32 x`
    Var(Var),
    /// `.reg .b32 x`
    Reg(GroupId),
}

/// `.reg .b32 %r<100>;` or one name of `.reg .pred p, q;`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegGroup {
    /// The name, or what comes before the number.
    pub name: Name,
    /// The type of each register.
    pub ty: Type,
    /// 2 or 4 for `.v2`, `.v4`; 1 otherwise.
    pub vector: u8,
    /// How many registers `%r<100>` declares; nothing for a single register.
    pub count: Option<u32>,
    /// Where it is declared.
    pub at: Position,
}

/// A register: the n-th of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegInfo {
    /// Its declaration.
    pub group: GroupId,
    /// Its number in the group; 0 for a single register.
    pub number: u32,
}

/// A label.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LabelInfo {
    /// Its name, which may occur again in another scope.
    pub name: Name,
    /// Where it is defined.
    pub at: Position,
}

/// The statements of a function, in a doubly linked list over an arena, so that an insertion costs the same anywhere
/// and a [`StmtId`] stays valid through all edits.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Body {
    nodes: Map<StmtId, Node>,
    first: Link,
    last: Link,
    pool: Vec<Operand>,
}

#[derive(Clone, PartialEq, Debug)]
struct Node {
    stmt: Stmt,
    at: Position,
    origin: Origin,
    previous: Link,
    next: Link,
}

/// An optional statement in four bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Link(u32);

impl Link {
    const NONE: Self = Self(u32::MAX);

    fn get(self) -> Option<StmtId> {
        (self != Self::NONE).then(|| StmtId::new(self.0 as usize))
    }
}

impl From<StmtId> for Link {
    fn from(id: StmtId) -> Self {
        Self(id.index() as u32)
    }
}

impl Default for Link {
    fn default() -> Self {
        Self::NONE
    }
}

impl Function {
    /// The type of a register.
    pub fn reg_type(&self, reg: Reg) -> Type {
        self.groups[self.regs[reg].group].ty
    }

    /// Whether this is a kernel.
    pub fn is_entry(&self) -> bool {
        self.kind == FunctionKind::Entry
    }

    /// The first directive with this name, such as the one for `.reqntid`.
    pub fn directive<'a>(&'a self, names: &crate::name::Names, name: &str) -> Option<&'a Directive> {
        let name = names.find(name)?;
        self.directives.iter().find(|directive| directive.name == name)
    }
}

impl Body {
    /// An empty body.
    pub fn new() -> Self {
        Self::default()
    }

    /// All statements in order. The list must not change meanwhile: collect the ids first to edit while walking.
    pub fn iter(&self) -> Statements<'_> {
        Statements { body: self, next: self.first }
    }

    /// All instructions in order.
    pub fn insts(&self) -> impl Iterator<Item = (StmtId, &Inst)> {
        self.iter().filter_map(|id| Some((id, self.inst(id)?)))
    }

    /// Ids of all statements in order, to walk while editing.
    pub fn ids(&self) -> Vec<StmtId> {
        self.iter().collect()
    }

    /// The statement.
    pub fn stmt(&self, id: StmtId) -> &Stmt {
        &self.nodes[id].stmt
    }

    /// The statement, to be changed.
    pub fn stmt_mut(&mut self, id: StmtId) -> &mut Stmt {
        &mut self.nodes[id].stmt
    }

    /// The instruction, if the statement is one.
    pub fn inst(&self, id: StmtId) -> Option<&Inst> {
        match &self.nodes[id].stmt {
            Stmt::Inst(inst) => Some(inst),
            _ => None,
        }
    }

    /// The instruction, if the statement is one, to be changed.
    pub fn inst_mut(&mut self, id: StmtId) -> Option<&mut Inst> {
        match &mut self.nodes[id].stmt {
            Stmt::Inst(inst) => Some(inst),
            _ => None,
        }
    }

    /// Where the statement stands in the text it was read from.
    pub fn position(&self, id: StmtId) -> Position {
        self.nodes[id].at
    }

    /// The user's instruction that this one is, or was inserted or cloned for.
    pub fn origin(&self, id: StmtId) -> Origin {
        self.nodes[id].origin
    }

    /// Changes what [`Body::origin`] says.
    pub fn set_origin(&mut self, id: StmtId, origin: Origin) {
        self.nodes[id].origin = origin;
    }

    /// Size of the arena: every id of this body, also of removed statements, has a smaller index. For side tables.
    pub fn capacity(&self) -> usize {
        self.nodes.len()
    }

    /// The first statement.
    pub fn first(&self) -> Option<StmtId> {
        self.first.get()
    }

    /// The last statement.
    pub fn last(&self) -> Option<StmtId> {
        self.last.get()
    }

    /// The statement after this one.
    pub fn next(&self, id: StmtId) -> Option<StmtId> {
        self.nodes[id].next.get()
    }

    /// The statement before this one.
    pub fn previous(&self, id: StmtId) -> Option<StmtId> {
        self.nodes[id].previous.get()
    }

    /// The operands of a list.
    pub fn operands(&self, list: List) -> &[Operand] {
        &self.pool[list.range()]
    }

    /// Calls `each` with every operand of a list and of the lists in it.
    pub fn for_each_operand(&self, list: List, each: &mut impl FnMut(Operand)) {
        for &operand in self.operands(list) {
            each(operand);
            if let Operand::Vector(inner)
            | Operand::TupleAddress(inner)
            | Operand::Arguments(inner)
            | Operand::VectorPair(inner, _) = operand
            {
                self.for_each_operand(inner, each);
            }
        }
    }

    /// The symbols that statements name.
    pub fn symbols(&self) -> FxHashSet<Symbol> {
        let mut symbols = FxHashSet::default();
        self.for_each_symbol(|symbol| {
            symbols.insert(symbol);
        });
        symbols
    }

    /// Calls `each` with every symbol that statements name, in the order of the text, as often as they name it.
    pub fn for_each_symbol(&self, mut each: impl FnMut(Symbol)) {
        for id in self.iter() {
            if let Stmt::Inst(Inst { operands: list, .. }) | Stmt::CallTargets(_, list) = *self.stmt(id) {
                self.for_each_operand(list, &mut |operand| {
                    if let Operand::Symbol(symbol, _)
                    | Operand::SymbolAddress(symbol, _)
                    | Operand::Element(symbol, _) = operand
                    {
                        each(symbol);
                    }
                });
            }
        }
    }

    /// Whether some instruction asks where the shared memory is that libraries for kernels keep for themselves.
    pub fn uses_reserved_shared(&self) -> bool {
        let mut uses = false;
        for id in self.iter() {
            if let Stmt::Inst(inst) = self.stmt(id) {
                self.for_each_operand(inst.operands, &mut |operand| {
                    uses |= matches!(operand, Operand::Special(special) if special.reserved_shared_offset().is_some());
                });
            }
        }
        uses
    }

    /// The operands of a list, to be changed in place.
    pub fn operands_mut(&mut self, list: List) -> &mut [Operand] {
        &mut self.pool[list.range()]
    }

    /// Stores operands in the pool.
    pub fn list(&mut self, operands: &[Operand]) -> List {
        let start = u32::try_from(self.pool.len()).expect("the parser refuses texts of 4 GiB and more");
        self.pool.extend_from_slice(operands);
        List { start, len: operands.len() as u32 }
    }

    /// Changes one operand of the pool.
    pub(crate) fn set_pooled(&mut self, index: u32, operand: Operand) {
        self.pool[index as usize] = operand;
    }

    /// Makes an instruction, to be put into this body.
    pub fn make_inst(&mut self, guard: Option<Guard>, form: FormId, operands: &[Operand]) -> Inst {
        Inst { guard, form, operands: self.list(operands), unified: false, zero_offsets: 0 }
    }

    /// Appends a statement.
    pub fn push(&mut self, stmt: Stmt, at: Position, origin: Origin) -> StmtId {
        let id = self.nodes.push(Node { stmt, at, origin, previous: self.last, next: Link::NONE });
        match self.last.get() {
            Some(last) => self.nodes[last].next = id.into(),
            None => self.first = id.into(),
        }
        self.last = id.into();
        id
    }

    /// Inserts a statement before another one.
    pub fn insert_before(&mut self, before: StmtId, stmt: Stmt, at: Position, origin: Origin) -> StmtId {
        let previous = self.nodes[before].previous;
        let id = self.nodes.push(Node { stmt, at, origin, previous, next: before.into() });
        match previous.get() {
            Some(previous) => self.nodes[previous].next = id.into(),
            None => self.first = id.into(),
        }
        self.nodes[before].previous = id.into();
        id
    }

    /// Inserts a statement after another one.
    pub fn insert_after(&mut self, after: StmtId, stmt: Stmt, at: Position, origin: Origin) -> StmtId {
        match self.next(after) {
            Some(next) => self.insert_before(next, stmt, at, origin),
            None => self.push(stmt, at, origin),
        }
    }

    /// Takes a statement out of the list. Its id stays valid for [`Body::stmt`], but must not be removed again.
    pub fn remove(&mut self, id: StmtId) {
        let Node { previous, next, .. } = self.nodes[id];
        match previous.get() {
            Some(previous) => self.nodes[previous].next = next,
            None => self.first = next,
        }
        match next.get() {
            Some(next) => self.nodes[next].previous = previous,
            None => self.last = previous,
        }
        self.nodes[id].previous = Link::NONE;
        self.nodes[id].next = Link::NONE;
    }
}

/// Iterator over the statements of a [`Body`].
#[derive(Clone, Debug)]
pub struct Statements<'a> {
    body: &'a Body,
    next: Link,
}

impl Iterator for Statements<'_> {
    type Item = StmtId;

    fn next(&mut self) -> Option<StmtId> {
        let id = self.next.get()?;
        self.next = self.body.nodes[id].next;
        Some(id)
    }
}

impl Origin {
    /// The origin of an instruction of the user.
    pub fn original(id: OriginId) -> Self {
        Self { id, tag: None }
    }

    /// The origin of an instruction that a tool made because of `self`.
    pub fn tagged(self, tag: TagId) -> Self {
        Self { tag: Some(tag), ..self }
    }
}
