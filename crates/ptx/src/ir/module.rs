//! Modules: what one PTX text declares.

use rustc_hash::FxHashMap;

use super::debug::{FileEntry, Section};
use super::entities::{FuncId, Global};
use super::function::Function;
use super::origin::{InsertedBy, Origin, TagId};
use super::variable::{Directive, Variable};
use crate::diagnostic::{Lines, Position};
use crate::entity::Map;
use crate::form::Forms;
use crate::name::{Name, Names};

/// A PTX module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// `.version 9.0`
    pub version: Option<(u32, u32)>,
    /// `.target sm_90a, debug`: architecture and options, as written.
    pub target: Vec<Name>,
    /// `.address_size 64`
    pub address_size: Option<u32>,
    /// Everything else, in the order of the text.
    pub items: Vec<Item>,
    /// Kernels, device functions and their declarations.
    pub functions: Map<FuncId, Function>,
    /// Variables.
    pub globals: Map<Global, Variable>,
    /// Files that `.loc` refers to.
    pub files: Vec<FileEntry>,
    /// Opcodes with modifiers that occur.
    pub forms: Forms,
    /// All names.
    pub names: Names,
    /// Who inserted instructions.
    pub tags: Map<TagId, InsertedBy>,
    tag_ids: FxHashMap<InsertedBy, TagId>,
    /// Where the lines of the text start.
    pub lines: Lines,
    /// How many instructions the text had: the next free [`OriginId`](super::OriginId).
    pub origins: u32,
}

/// Something that a module declares.
#[derive(Clone, PartialEq, Debug)]
pub enum Item {
    /// A function, or a declaration of one.
    Function(FuncId),
    /// A variable.
    Variable(Global),
    /// The n-th of [`Module::files`].
    File(usize),
    /// A DWARF section.
    Section(Name, Box<Section>),
    /// `.alias f, g;`
    Alias(AliasDirective),
    /// `.pragma "…";`
    Directive(Directive),
    /// A directive that nobody knows, as written.
    Unknown(UnknownDirective),
}

/// `.alias f, g;`: calls of `f` go to `g`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AliasDirective {
    /// The new name.
    pub alias: FuncId,
    /// The function that it stands for.
    pub target: FuncId,
}

/// A module-level directive that this crate does not know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownDirective {
    /// The text with its dot, up to the semicolon or the end of the line.
    pub text: Name,
    /// Where it stands.
    pub at: Position,
}

impl Module {
    /// An empty module.
    pub fn new() -> Self {
        Self::default()
    }

    /// The kernel or function with a body (or else the declaration) with this name.
    pub fn function(&self, name: &str) -> Option<FuncId> {
        let name = self.names.find(name)?;
        let named = || self.functions.iter().filter(|(_, function)| function.name == name);
        named().find(|(_, function)| function.body.is_some()).or_else(|| named().next()).map(|(id, _)| id)
    }

    /// A copy of which only some functions have their bodies. All functions and variables have the ids that they have here.
    pub fn with_bodies_of(&self, is_kept: impl Fn(FuncId) -> bool) -> Self {
        let function = |(id, function): (FuncId, &Function)| {
            if is_kept(id) { function.clone() } else { function.declaration() }
        };
        Self {
            version: self.version,
            target: self.target.clone(),
            address_size: self.address_size,
            items: self.items.clone(),
            functions: self.functions.iter().map(function).collect(),
            globals: self.globals.clone(),
            files: self.files.clone(),
            forms: self.forms.clone(),
            names: self.names.clone(),
            tags: self.tags.clone(),
            tag_ids: self.tag_ids.clone(),
            lines: self.lines.clone(),
            origins: self.origins,
        }
    }

    /// The string after a name.
    pub fn text(&self, name: Name) -> &str {
        self.names.text(name)
    }

    /// Whether an instruction is one that a tool inserted.
    pub fn is_inserted_by(&self, tool: &str, origin: Origin) -> bool {
        origin.tag.is_some_and(|tag| self.text(self.tags[tag].tool) == tool)
    }

    /// The tag for instructions that a tool inserts, made if there is none yet.
    pub fn tag(&mut self, inserted_by: InsertedBy) -> TagId {
        *self.tag_ids.entry(inserted_by).or_insert_with(|| self.tags.push(inserted_by))
    }

    /// The architecture of `.target`: `sm_90a`.
    pub fn architecture(&self) -> Option<&str> {
        self.target.iter().map(|&name| self.text(name)).find(|name| name.starts_with("sm_"))
    }

    /// Its number: 90.
    pub fn architecture_number(&self) -> Option<u32> {
        self.architecture()?.trim_start_matches("sm_").trim_end_matches(char::is_alphabetic).parse().ok()
    }
}
