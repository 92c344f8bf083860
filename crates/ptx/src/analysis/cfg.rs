//! The control-flow graph: the statements of a function cut into blocks, and where control goes from each.

use smallvec::SmallVec;

use super::graph::{Block, Graph};
use super::lists::Lists;
use crate::entity::{Id, Map};
use crate::form::Forms;
use crate::ir::{Body, Function, Inst, Label, List, Operand, Stmt, StmtId, Symbol};
use crate::ops::{Effect, Op};
use crate::view::View;

/// The control-flow graph of a function.
///
/// Blocks are numbered in the order of the text. A block begins at a label that some branch names (other labels, such
/// as those of debugging information, are inside blocks) or after an instruction that may leave the straight path:
/// a branch, `ret`, `exit` or `trap`, guarded or not. Calls and barriers are inside blocks. Statements that are no
/// instructions belong to a block too, and may come before its label or after its last instruction.
///
/// The first block is the entry and has no predecessors, even if it must be empty for that.
///
/// The graph describes the function as it was: an edit makes it stale.
#[derive(Clone, Debug)]
pub struct Cfg {
    graph: Graph,
    /// All statements in order; a block is a run of them.
    statements: Lists<Block, StmtId>,
    place_of_statement: Map<StmtId, Option<(Block, u32)>>,
    block_of_label: Map<Label, Option<Block>>,
    terminators: Map<Block, Option<StmtId>>,
    edges: Lists<Block, Edge>,
    falls_off_end: Option<Block>,
    unknown_targets: usize,
}

/// An edge to another block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Where it leads.
    pub target: Block,
    /// When control takes it.
    pub kind: EdgeKind,
}

/// When control takes an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EdgeKind {
    /// The block ends without a jump, or its guard does not hold.
    FallThrough,
    /// The direct branch is taken.
    Taken,
    /// The indexed branch is taken with this index.
    Table(u32),
}

impl Cfg {
    /// The graph of a function. A declaration without a body has one empty block, from which control leaves.
    pub fn of(forms: &Forms, function: &Function) -> Self {
        let empty = Body::new();
        Builder::new(forms, function, function.body.as_ref().unwrap_or(&empty)).build()
    }

    /// The blocks and edges alone, for algorithms that need no more.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.graph.len()
    }

    /// Whether there is no block, which never is: the entry always exists.
    pub fn is_empty(&self) -> bool {
        self.graph.is_empty()
    }

    /// All blocks, in the order of the text.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = Block> + ExactSizeIterator + use<> {
        self.graph.blocks()
    }

    /// Where control enters.
    pub fn entry(&self) -> Block {
        self.graph.entry()
    }

    /// The statements of a block, in order: labels, instructions, declarations, source locations.
    pub fn statements(&self, block: Block) -> &[StmtId] {
        &self.statements[block]
    }

    /// The instructions of a block, in order. `body` is the one that the graph was made of.
    pub fn insts<'a>(&'a self, body: &'a Body, block: Block) -> impl DoubleEndedIterator<Item = (StmtId, &'a Inst)> {
        self.statements(block).iter().filter_map(|&id| Some((id, body.inst(id)?)))
    }

    /// The block that a statement is in; nothing if it was removed before the graph was made, or inserted later.
    pub fn block_of(&self, statement: StmtId) -> Option<Block> {
        self.place_of(statement).map(|(block, _)| block)
    }

    /// The block that a statement is in, and its place among the [`Cfg::statements`] of it.
    pub fn place_of(&self, statement: StmtId) -> Option<(Block, usize)> {
        let (block, place) = self.place_of_statement.get(statement).copied().flatten()?;
        Some((block, place as usize))
    }

    /// The block that a label is in; nothing for a label that no statement defines.
    pub fn block_of_label(&self, label: Label) -> Option<Block> {
        self.block_of_label.get(label).copied().flatten()
    }

    /// The instruction that ends a block, if it is a branch, `ret`, `exit` or `trap`.
    pub fn terminator(&self, block: Block) -> Option<StmtId> {
        self.terminators[block]
    }

    /// Where control goes from a block and when. A block may occur several times; see [`Cfg::successors`] for once.
    pub fn edges(&self, block: Block) -> &[Edge] {
        &self.edges[block]
    }

    /// Where control goes from a block, without repetitions.
    pub fn successors(&self, block: Block) -> &[Block] {
        self.graph.successors(block)
    }

    /// From where control comes to a block, without repetitions, unreachable blocks included.
    pub fn predecessors(&self, block: Block) -> &[Block] {
        self.graph.predecessors(block)
    }

    /// Whether control can come to a block.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.graph.is_reachable(block)
    }

    /// The blocks that control cannot come to.
    pub fn unreachable_blocks(&self) -> impl Iterator<Item = Block> {
        self.blocks().filter(|&block| !self.is_reachable(block))
    }

    /// Whether control may leave the function from a block: by `ret`, `exit` or `trap`, guarded or not, after the last
    /// statement, or by a branch that leads nobody knows where.
    pub fn is_exit(&self, block: Block) -> bool {
        self.graph.is_exit(block)
    }

    /// The last block, if control may run past its end, which is the same as `ret`.
    pub fn falls_off_end(&self) -> Option<Block> {
        self.falls_off_end
    }

    /// How many branches name no label, or one that is not there, or a table that is one too many in a function with
    /// 16 million edges. They have no edge for it, so where this is not zero, control may go anywhere.
    pub fn unknown_targets(&self) -> usize {
        self.unknown_targets
    }
}

/// More edges than this (16 Mi) are not made: a text of a few megabytes can have a hundred thousand indexed branches
/// through one table of as many labels.
const MAX_EDGES: usize = 1 << 24;

/// Whether control may go elsewhere than to the next statement.
fn ends_block(view: &View<'_>) -> bool {
    match view.effect() {
        Some(Effect::Branch | Effect::Return | Effect::Exit) => true,
        // `brkpt` has the effect too, and goes on.
        Some(Effect::Trap) => view.op() == Some(Op::Trap),
        _ => false,
    }
}

struct Builder<'a> {
    forms: &'a Forms,
    body: &'a Body,
    /// Labels that some branch or table names.
    is_target: Map<Label, bool>,
    /// The `.branchtargets` list that a label names.
    tables: Map<Label, Option<List>>,
    cfg: Cfg,
    targets: Vec<(Block, Edge)>,
    exits: Vec<Block>,
}

impl<'a> Builder<'a> {
    fn new(forms: &'a Forms, function: &'a Function, body: &'a Body) -> Self {
        let labels = function.labels.len();
        let cfg = Cfg {
            graph: Graph::new(1, Block::new(0), &[], []),
            statements: Lists::new(),
            place_of_statement: Map::filled(body.capacity(), None),
            block_of_label: Map::filled(labels, None),
            terminators: Map::new(),
            edges: Lists::new(),
            falls_off_end: None,
            unknown_targets: 0,
        };
        Self {
            forms,
            body,
            is_target: Map::filled(labels, false),
            tables: Map::filled(labels, None),
            cfg,
            targets: Vec::new(),
            exits: Vec::new(),
        }
    }

    fn build(mut self) -> Cfg {
        self.find_targets();
        self.cut_into_blocks();
        for block in self.cfg.statements.ids() {
            self.connect(block);
        }
        let Self { mut cfg, targets, exits, .. } = self;
        let edges: Vec<_> = targets.iter().map(|&(from, edge)| (from, edge.target)).collect();
        let blocks = cfg.statements.len();
        cfg.graph = Graph::new(blocks, Block::new(0), &edges, exits);
        cfg.edges = Lists::from_pairs(blocks, &targets);
        cfg
    }

    fn find_targets(&mut self) {
        for id in self.body.iter() {
            match self.body.stmt(id) {
                Stmt::Inst(_) => {
                    let view = View::of(self.forms, self.body, id).expect("the statement is an instruction");
                    if let Some(label) = view.branch_target() {
                        self.is_target[label] = true;
                    }
                }
                Stmt::BranchTargets(table, list) => {
                    self.tables[*table] = Some(*list);
                    for label in labels(self.body.operands(*list)).flatten() {
                        self.is_target[label] = true;
                    }
                }
                _ => {}
            }
        }
    }

    fn cut_into_blocks(&mut self) {
        let mut statements = Vec::new();
        let mut has_inst = false;
        // The terminator of the block under construction, and how many of its statements come up to there. What is
        // after it belongs to the next block, if there is one.
        let mut terminator = None;
        let mut end = 0;
        for id in self.body.iter() {
            let stmt = self.body.stmt(id);
            let is_inst = matches!(stmt, Stmt::Inst(_));
            let is_target = matches!(stmt, Stmt::Label(label) if self.is_target[*label]);
            let is_entry = self.cfg.statements.is_empty();
            if terminator.is_some() && (is_inst || is_target) {
                self.finish_block(statements.drain(..end), terminator.take());
                has_inst = false;
            } else if is_target && (has_inst || is_entry) {
                self.finish_block(statements.drain(..), None);
                has_inst = false;
            }
            statements.push(id);
            has_inst |= is_inst;
            if View::of(self.forms, self.body, id).is_some_and(|view| ends_block(&view)) {
                terminator = Some(id);
                end = statements.len();
            }
        }
        self.finish_block(statements.drain(..), terminator);
    }

    fn finish_block(&mut self, statements: impl Iterator<Item = StmtId>, terminator: Option<StmtId>) {
        let block = self.cfg.statements.push(statements);
        self.cfg.terminators.push(terminator);
        for (place, &id) in self.cfg.statements[block].iter().enumerate() {
            self.cfg.place_of_statement[id] = Some((block, place as u32));
            if let Stmt::Label(label) = self.body.stmt(id) {
                self.cfg.block_of_label[*label] = Some(block);
            }
        }
    }

    /// Finds where control goes from a block.
    fn connect(&mut self, block: Block) {
        let terminator = self.cfg.terminators[block].and_then(|id| View::of(self.forms, self.body, id));
        if terminator.is_none_or(|view| !view.ends_flow()) {
            let next = Block::new(block.index() + 1);
            if next.index() < self.cfg.statements.len() {
                self.targets.push((block, Edge { target: next, kind: EdgeKind::FallThrough }));
            } else {
                self.cfg.falls_off_end = Some(block);
                self.exits.push(block);
            }
        }
        let Some(view) = terminator else { return };
        if view.effect() != Some(Effect::Branch) {
            self.exits.push(block);
            return;
        }
        let targets: SmallVec<[(EdgeKind, Option<Label>); 2]> = match view.branch_table() {
            Some(table) => match self.tables[table] {
                Some(list) if self.targets.len() + list.len() <= MAX_EDGES => {
                    let labels = labels(self.body.operands(list));
                    labels.enumerate().map(|(index, label)| (EdgeKind::Table(index as u32), label)).collect()
                }
                _ => SmallVec::from_iter([(EdgeKind::Taken, None)]),
            },
            None => SmallVec::from_iter([(EdgeKind::Taken, view.branch_target())]),
        };
        for (kind, label) in targets {
            match label.and_then(|label| self.cfg.block_of_label[label]) {
                Some(target) => self.targets.push((block, Edge { target, kind })),
                None => {
                    self.cfg.unknown_targets += 1;
                    self.exits.push(block);
                }
            }
        }
    }
}

/// The labels of a `.branchtargets` list; nothing for what is no label.
fn labels(operands: &[Operand]) -> impl Iterator<Item = Option<Label>> {
    operands.iter().map(|operand| match operand {
        Operand::Symbol(Symbol::Label(label), 0) => Some(*label),
        _ => None,
    })
}
