//! Control flow as it is drawn: what pictures, Graphviz and JSON show of a function.

use ptx::analysis::{Block, Cfg, DominatorTree, EdgeKind, Loops};
use ptx::entity::Id;
use ptx::ir::{Body, Function, Module, Stmt};
use serde::Serialize;

use crate::input::Source;

/// The control flow of a function, as it is drawn.
#[derive(Serialize)]
pub(super) struct Drawing {
    file: String,
    pub(super) function: String,
    pub(super) blocks: Vec<DrawnBlock>,
}

/// A block.
#[derive(Serialize)]
pub(super) struct DrawnBlock {
    pub(super) id: usize,
    pub(super) label: Option<String>,
    /// The line of the first instruction.
    pub(super) line: u32,
    pub(super) reachable: bool,
    pub(super) loop_depth: u32,
    pub(super) instructions: Vec<String>,
    pub(super) edges: Vec<DrawnEdge>,
}

/// An edge to another block.
#[derive(Serialize)]
pub(super) struct DrawnEdge {
    pub(super) target: usize,
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) index: Option<u32>,
}

impl DrawnBlock {
    /// What stands at the head of the block.
    pub(super) fn title(&self) -> String {
        let mut title = format!("block {}", self.id);
        if let Some(label) = &self.label {
            title += &format!("  {label}");
        }
        if self.line > 0 {
            title += &format!("  line {}", self.line);
        }
        if self.loop_depth > 0 {
            title += &format!("  loop depth {}", self.loop_depth);
        }
        if !self.reachable {
            title += "  unreachable";
        }
        title
    }
}

/// The functions of a source that have a body, or the one that is wanted.
pub(super) fn drawings(source: &Source, wanted: Option<&str>) -> Vec<Drawing> {
    let module = &source.parsed.module;
    let mut drawings = Vec::new();
    for function in module.functions.values() {
        let name = module.text(function.name);
        if let Some(body) = &function.body
            && wanted.is_none_or(|wanted| wanted == name)
        {
            let blocks = blocks(module, function, body);
            drawings.push(Drawing { file: source.name.clone(), function: name.to_owned(), blocks });
        }
    }
    drawings
}

fn blocks(module: &Module, function: &Function, body: &Body) -> Vec<DrawnBlock> {
    let cfg = Cfg::of(&module.forms, function);
    let dominators = DominatorTree::dominators(cfg.graph());
    let loops = Loops::of(cfg.graph(), &dominators);
    let draw = |block: Block| {
        let label = cfg.statements(block).iter().find_map(|&id| match body.stmt(id) {
            Stmt::Label(label) => Some(module.text(function.labels[*label].name).to_owned()),
            _ => None,
        });
        let first = cfg.insts(body, block).next();
        DrawnBlock {
            id: block.index(),
            label,
            line: first.map_or(0, |(id, _)| module.lines.line(body.position(id))),
            reachable: cfg.is_reachable(block),
            loop_depth: loops.depth(block),
            instructions: cfg
                .insts(body, block)
                .map(|(id, _)| ptx::print_stmt(module, function, body, id).replace('\t', ""))
                .collect(),
            edges: cfg
                .edges(block)
                .iter()
                .map(|edge| {
                    let (kind, index) = match edge.kind {
                        EdgeKind::FallThrough => ("fall-through", None),
                        EdgeKind::Taken => ("taken", None),
                        EdgeKind::Table(index) => ("table", Some(index)),
                    };
                    DrawnEdge { target: edge.target.index(), kind, index }
                })
                .collect(),
        }
    };
    cfg.blocks().map(draw).collect()
}
