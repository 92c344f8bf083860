//! Reaching definitions: where the value that an instruction reads may come from.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::cfg::Cfg;
use super::defuse::DefUse;
use super::dominators::DominatorTree;
use super::frontiers::Frontiers;
use super::graph::Block;
use super::lists::Lists;
use super::liveness::Liveness;
use crate::entity::{Id, Map, define_id};
use crate::ir::{Reg, StmtId};

define_id! {
    /// A version of a register, as in SSA form: what one write or one join of control flow makes of it.
    Version "version"
}

/// Where the value of a register may come from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Definition {
    /// The register was not written since control entered the function, and is no parameter.
    Uninitialised,
    /// The register is a parameter that was not written since control entered.
    Parameter,
    /// A statement wrote it.
    Statement(StmtId),
}

/// Where a version of a register comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VersionOrigin {
    /// Nowhere: the use is unreachable.
    Nothing,
    /// What the register holds when control enters.
    Entry(Reg),
    /// A statement that writes the register.
    Write {
        /// The statement.
        statement: StmtId,
        /// The register.
        reg: Reg,
        /// The version before, which may still be the one, because the statement is guarded or unknown.
        before: Option<Version>,
    },
    /// The start of a block where several versions meet: those of [`Reaching::merged`].
    Merge {
        /// The block.
        block: Block,
        /// The register.
        reg: Reg,
    },
    /// All writes of a register together, where the answer is not exact.
    Any(Reg),
}

/// The definitions that reach each use of a register.
///
/// Sets of definitions would take memory in the square of the function's length. Instead, registers get versions as in
/// SSA form: a write makes one, and so does a block where several versions meet while the register is live
/// (R. Cytron et al., Efficiently computing static single assignment form, TOPLAS 1991). Each use has one version, and
/// the definitions are found from it when somebody asks. A guarded write makes a version that includes the one before.
#[derive(Clone, Debug)]
pub struct Reaching {
    /// The version of each item of [`DefUse::reads`], statement by statement.
    uses: Vec<Version>,
    versions: Map<Version, VersionOrigin>,
    merged: Lists<Version, Version>,
    is_parameter: Map<Reg, bool>,
    is_exact: bool,
}

/// More entries than this (16 Mi, about 200 MiB) are not made in any list, and conservative answers are given instead.
const MAX_ENTRIES: usize = 1 << 24;

impl Reaching {
    /// The definitions that reach the uses of a function.
    pub fn of(cfg: &Cfg, def_use: &DefUse, dominators: &DominatorTree, liveness: &Liveness) -> Self {
        Self::with_limit(cfg, def_use, dominators, liveness, MAX_ENTRIES)
    }

    pub(super) fn with_limit(
        cfg: &Cfg,
        def_use: &DefUse,
        dominators: &DominatorTree,
        liveness: &Liveness,
        max_entries: usize,
    ) -> Self {
        match Joins::of(cfg, def_use, dominators, liveness, max_entries) {
            Some(joins) => Renaming::new(cfg, def_use, &joins).run(dominators),
            None => Self::conservative(def_use),
        }
    }

    /// Whether the answer is exact. In a function in which more than 16 million versions would meet, every
    /// definition of a register is said to reach all of its uses.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The definitions of a register that may reach a statement that reads it, in ascending order. Nothing if the
    /// statement does not read the register, or cannot be reached.
    ///
    /// A definition reaches along a path on which no other statement surely writes the register. Whether control can
    /// really take the path, and whether a guard holds, is not asked.
    pub fn definitions(&self, def_use: &DefUse, statement: StmtId, reg: Reg) -> SmallVec<[Definition; 4]> {
        let mut definitions = SmallVec::new();
        let mut stack: SmallVec<[Version; 8]> = self.version(def_use, statement, reg).into_iter().collect();
        let mut seen = FxHashSet::default();
        while let Some(version) = stack.pop() {
            match self.versions[version] {
                VersionOrigin::Nothing => {}
                VersionOrigin::Entry(reg) if self.is_parameter[reg] => definitions.push(Definition::Parameter),
                VersionOrigin::Entry(_) => definitions.push(Definition::Uninitialised),
                VersionOrigin::Write { statement, before, .. } => {
                    definitions.push(Definition::Statement(statement));
                    stack.extend(before.filter(|&before| seen.insert(before)));
                }
                VersionOrigin::Merge { .. } | VersionOrigin::Any(_) => {
                    stack.extend(self.merged(version).iter().copied().filter(|&one| seen.insert(one)));
                }
            }
        }
        definitions.sort_unstable();
        definitions.dedup();
        definitions
    }

    /// Whether a statement may read a register that was not written before. The statement need not be executed.
    pub fn may_be_uninitialised(&self, def_use: &DefUse, statement: StmtId, reg: Reg) -> bool {
        self.definitions(def_use, statement, reg).first() == Some(&Definition::Uninitialised)
    }

    /// The version of a register that a statement reads; nothing if it does not read the register.
    pub fn version(&self, def_use: &DefUse, statement: StmtId, reg: Reg) -> Option<Version> {
        let read = def_use.reads(statement).iter().position(|&read| read == reg)?;
        Some(self.uses[def_use.read_lists().range(statement).start + read])
    }

    /// All versions of all registers.
    pub fn versions(&self) -> impl ExactSizeIterator<Item = Version> + use<> {
        self.versions.ids()
    }

    /// Where a version comes from.
    pub fn origin(&self, version: Version) -> VersionOrigin {
        self.versions[version]
    }

    /// The versions that meet in a version: none unless it is a merge.
    pub fn merged(&self, version: Version) -> &[Version] {
        &self.merged[version]
    }

    fn conservative(def_use: &DefUse) -> Self {
        let mut versions = Map::new();
        let mut merged = Vec::new();
        let mut all_of = Map::<Reg, Version>::new();
        for reg in (0..def_use.registers()).map(Reg::new) {
            let all = versions.push(VersionOrigin::Any(reg));
            all_of.push(all);
            merged.push((all, versions.push(VersionOrigin::Entry(reg))));
            for &statement in def_use.writers(reg) {
                let write = VersionOrigin::Write { statement, reg, before: None };
                merged.push((all, versions.push(write)));
            }
        }
        let uses = def_use.read_lists().items().iter().map(|&reg| all_of[reg]).collect();
        let merged = Lists::from_pairs(versions.len(), &merged);
        Self { uses, versions, merged, is_parameter: parameters(def_use), is_exact: false }
    }
}

fn parameters(def_use: &DefUse) -> Map<Reg, bool> {
    let mut is_parameter = Map::filled(def_use.registers(), false);
    for &reg in def_use.parameters() {
        is_parameter[reg] = true;
    }
    is_parameter
}

/// The registers of which versions meet at the start of each block.
struct Joins {
    at: Lists<Block, Reg>,
}

impl Joins {
    /// Nothing if there would be too many.
    fn of(
        cfg: &Cfg,
        def_use: &DefUse,
        dominators: &DominatorTree,
        liveness: &Liveness,
        max_entries: usize,
    ) -> Option<Self> {
        let frontiers = Frontiers::dominance(cfg.graph(), dominators, max_entries)?;
        let mut joins = Vec::new();
        let mut inputs = 0_usize;
        let mut joined_for = Map::<Block, _>::filled(cfg.len(), None);
        let mut stack = Vec::new();
        for &reg in liveness.crossing() {
            let writers = def_use.writers(reg).iter();
            stack.extend(writers.filter_map(|&writer| cfg.block_of(writer)).filter(|&block| cfg.is_reachable(block)));
            // Many writes in one block are one.
            stack.dedup();
            while let Some(block) = stack.pop() {
                for &join in frontiers.of_block(block) {
                    if liveness.is_live_in(join, reg) && joined_for[join].replace(reg) != Some(reg) {
                        joins.push((join, reg));
                        inputs += cfg.predecessors(join).len();
                        stack.push(join);
                    }
                }
                if inputs > max_entries {
                    return None;
                }
            }
        }
        Some(Self { at: Lists::from_pairs(cfg.len(), &joins) })
    }
}

/// Gives every use its version, in a walk down the tree of dominators.
struct Renaming<'a> {
    cfg: &'a Cfg,
    def_use: &'a DefUse,
    joins: &'a Joins,
    versions: Map<Version, VersionOrigin>,
    /// The versions that the joins of a block make, in the order of its list.
    join_versions: Map<Block, Version>,
    merged: Vec<(Version, Version)>,
    uses: Vec<Version>,
    current: Map<Reg, Version>,
    /// What `current` was before, to be restored when the walk goes up again.
    changed: Vec<(Reg, Version)>,
}

impl<'a> Renaming<'a> {
    fn new(cfg: &'a Cfg, def_use: &'a DefUse, joins: &'a Joins) -> Self {
        let mut versions = Map::new();
        let nothing = versions.push(VersionOrigin::Nothing);
        let mut join_versions = Map::filled(cfg.len(), nothing);
        for block in cfg.blocks() {
            join_versions[block] = versions.next_id();
            for &reg in &joins.at[block] {
                versions.push(VersionOrigin::Merge { block, reg });
            }
        }
        let current =
            (0..def_use.registers()).map(|index| versions.push(VersionOrigin::Entry(Reg::new(index)))).collect();
        let uses = vec![nothing; def_use.read_lists().items().len()];
        Self { cfg, def_use, joins, versions, join_versions, merged: Vec::new(), uses, current, changed: Vec::new() }
    }

    fn run(mut self, dominators: &DominatorTree) -> Reaching {
        // Each block with how much had changed when the walk came to it, and how many of its children were visited.
        let mut path = vec![(self.cfg.entry(), 0, 0)];
        self.rename_block(self.cfg.entry());
        while let Some((block, changed, visited)) = path.last_mut() {
            if let Some(&child) = dominators.children(*block).get(*visited) {
                *visited += 1;
                path.push((child, self.changed.len(), 0));
                self.rename_block(child);
            } else {
                for (reg, version) in self.changed.drain(*changed..).rev() {
                    self.current[reg] = version;
                }
                path.pop();
            }
        }
        let Self { versions, merged, uses, .. } = self;
        let merged = Lists::from_pairs(versions.len(), &merged);
        Reaching { uses, versions, merged, is_parameter: parameters(self.def_use), is_exact: true }
    }

    fn rename_block(&mut self, block: Block) {
        let joins = self.joins;
        for (index, &reg) in joins.at[block].iter().enumerate() {
            self.set(reg, Version::new(self.join_versions[block].index() + index));
        }
        for &statement in self.cfg.statements(block) {
            let first = self.def_use.read_lists().range(statement).start;
            for (index, &reg) in self.def_use.reads(statement).iter().enumerate() {
                self.uses[first + index] = self.current[reg];
            }
            let is_certain = !self.def_use.kills(statement).is_empty();
            for &reg in self.def_use.writes(statement) {
                let before = (!is_certain).then_some(self.current[reg]);
                let version = self.versions.push(VersionOrigin::Write { statement, reg, before });
                self.set(reg, version);
            }
        }
        for &successor in self.cfg.successors(block) {
            for (index, &reg) in joins.at[successor].iter().enumerate() {
                let version = Version::new(self.join_versions[successor].index() + index);
                self.merged.push((version, self.current[reg]));
            }
        }
    }

    fn set(&mut self, reg: Reg, version: Version) {
        let before = std::mem::replace(&mut self.current[reg], version);
        self.changed.push((reg, before));
    }
}
