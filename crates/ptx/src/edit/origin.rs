//! The user's instructions that statements stand for.

use crate::entity::Id;
use crate::ir::{Body, InsertedBy, Module, Origin, OriginId, Stmt, StmtId};

/// The origin of the instruction, or of the one that a label, brace or other statement belongs to: the next one, and
/// at the end of the body the last one. Nothing in a body without instructions.
pub fn origin_of(body: &Body, id: StmtId) -> Option<Origin> {
    let is_inst = |id: &StmtId| matches!(body.stmt(*id), Stmt::Inst(_) | Stmt::Unknown(_));
    let next = std::iter::successors(Some(id), |&id| body.next(id)).find(is_inst);
    let found = next.or_else(|| std::iter::successors(body.previous(id), |&id| body.previous(id)).find(is_inst))?;
    Some(body.origin(found))
}

/// One instruction of a module, by what stays the same when the module is printed and parsed again.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TracedOrigin {
    /// The function that the instruction is in now.
    pub function: String,
    /// The user's instruction that it is, or is there for.
    pub id: OriginId,
    /// Who put it there, as printed (`memcheck.check#2`); nothing for the user's instruction itself.
    pub tag: Option<String>,
}

/// The origins of all instructions of a module, in the order of the text.
pub fn origins(module: &Module) -> Vec<TracedOrigin> {
    let mut traced = Vec::new();
    for item in &module.items {
        let crate::ir::Item::Function(func) = *item else { continue };
        let function = &module.functions[func];
        let Some(body) = &function.body else { continue };
        for id in body.iter().filter(|&id| matches!(body.stmt(id), Stmt::Inst(_) | Stmt::Unknown(_))) {
            let Origin { id, tag } = body.origin(id);
            let tag = tag.map(|tag| {
                let InsertedBy { tool, role, copy } = module.tags[tag];
                let copy = if copy == 0 { String::new() } else { format!("#{copy}") };
                format!("{}.{}{copy}", module.text(tool), module.text(role))
            });
            traced.push(TracedOrigin { function: module.text(function.name).to_owned(), id, tag });
        }
    }
    traced
}

impl Module {
    /// The origin for an instruction that is there for no instruction of the user: the first id that is not taken.
    pub(super) fn no_origin(&self) -> Origin {
        Origin::original(OriginId::new(self.origins as usize))
    }

    /// The origin of a copy: an instruction of the user gets the tag; what a tool inserted stays that tool's, in the
    /// role that it has, as the copy with the number that the tag says.
    pub(super) fn copied_origin(&mut self, origin: Origin, tag: crate::ir::TagId) -> Origin {
        match origin.tag {
            None => origin.tagged(tag),
            Some(old) => {
                let copied = InsertedBy { copy: self.tags[tag].copy, ..self.tags[old] };
                origin.tagged(self.tag(copied))
            }
        }
    }
}
