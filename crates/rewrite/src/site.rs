//! Places in a module that tools look at.

use ptx::ir::{FuncId, Guard, Module, StmtId, Symbol};
use ptx::name::Name;
use rustc_hash::FxHashMap;

use crate::error::Refusal;

/// The number of a site in its module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SiteId(pub u32);

/// An instruction of the program that a tool looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Site {
    /// The function that it is in.
    pub func: FuncId,
    /// The instruction, which is still in the rewritten module.
    pub stmt: StmtId,
    /// Which access of it.
    pub index: usize,
    /// The guard that it had.
    pub guard: Option<Guard>,
    /// The variable that the pointer was made from, if it was made from one.
    pub variable: Option<Symbol>,
    /// The tool.
    pub tool: &'static str,
    /// What helpers of the tool find in the table of sites.
    pub word: u64,
}

/// All sites of a module.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    sites: Vec<Site>,
    /// Functions that are copies, and the names of what they are copies of.
    copies: FxHashMap<FuncId, Name>,
    /// Functions that are called through pointers and could not be rewritten.
    refused: FxHashMap<FuncId, Refusal>,
}

impl Sites {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.sites.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// A site by its number. Numbers come from the device, so there may be none.
    pub fn get(&self, id: SiteId) -> Option<&Site> {
        self.sites.get(id.0 as usize)
    }

    /// All of them, with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (SiteId, &Site)> {
        self.sites.iter().enumerate().map(|(number, site)| (SiteId(number as u32), site))
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Site> {
        self.sites.iter()
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        self.sites.iter().map(|site| site.word)
    }

    /// The name that a function has in the program: copies have others.
    pub(crate) fn name_in_program(&self, module: &Module, func: FuncId) -> Name {
        self.copies.get(&func).copied().unwrap_or(module.functions[func].name)
    }

    /// Whether a function is one of the versions.
    pub(crate) fn has_copy(&self, func: FuncId) -> bool {
        self.copies.contains_key(&func)
    }

    pub(crate) fn is_copy(&mut self, copy: FuncId, of: Name) {
        self.copies.insert(copy, of);
    }

    pub(crate) fn refuse(&mut self, func: FuncId, why: Refusal) {
        self.refused.insert(func, why);
    }

    pub(crate) fn refusal(&self, func: FuncId) -> Option<&Refusal> {
        self.refused.get(&func)
    }

    pub(crate) fn add(&mut self, site: Site) -> SiteId {
        self.sites.push(site);
        SiteId((self.sites.len() - 1) as u32)
    }
}
