//! Webs: the parts of a register's life that have nothing to do with each other.

use crate::analysis::bitset::BitSet;
use crate::analysis::cfg::Cfg;
use crate::analysis::defuse::DefUse;
use crate::analysis::graph::Block;
use crate::analysis::lists::Lists;
use crate::analysis::reaching::{Reaching, Version, VersionOrigin};
use crate::entity::{Id, Map, define_id};
use crate::ir::{Reg, StmtId};

define_id! {
    /// A part of a register's life: writes and reads between which values go. Two webs of one register can be kept
    /// apart, as if they were two registers. The compilers of NVIDIA use a register for one web only; temporaries of
    /// code that was inserted or written by hand have many.
    Web "web"
}

/// The webs of a function, and which of them each statement reads and writes.
#[derive(Clone, Debug)]
pub(super) struct Webs {
    /// The register of each web.
    pub(super) regs: Map<Web, Reg>,
    /// Whether a web begins with a value that nothing in the function writes, or that a caller wrote.
    pub(super) is_from_outside: Map<Web, bool>,
    /// Whether some of its reads may come before all of its writes.
    pub(super) begins_unwritten: Map<Web, bool>,
    /// Registers and webs that each statement reads. Nothing for statements that cannot be reached.
    pub(super) reads: Lists<StmtId, (Reg, Web)>,
    /// Registers and webs that each statement writes, or may write. Nothing for statements that cannot be reached.
    pub(super) writes: Lists<StmtId, (Reg, Web)>,
    /// Webs with one write that comes before all reads, and that are read in another block, by the block of the write.
    pub(super) single_writes: Lists<Block, Web>,
    /// Webs with several versions that are read in another block, by the blocks of their writes.
    pub(super) merged_writes: Lists<Block, Web>,
}

/// Statements that read more registers than this are treated as if they read none that are known.
const MAX_READS: usize = 256;

impl Webs {
    pub(super) fn of(cfg: &Cfg, def_use: &DefUse, reaching: &Reaching) -> Self {
        let mut united = United::of(reaching);
        let statements = def_use.read_lists().len();
        let mut writes = Vec::new();
        for version in reaching.versions() {
            if let VersionOrigin::Write { statement, reg, .. } = reaching.origin(version) {
                writes.push((statement, (reg, united.web(version, reg))));
            }
        }
        let writes = Lists::from_pairs(statements, &writes);
        let mut reads = Vec::new();
        for &block in cfg.graph().reverse_post_order() {
            for &statement in cfg.statements(block) {
                let regs = def_use.reads(statement);
                for &reg in regs.iter().take(if regs.len() > MAX_READS { 0 } else { MAX_READS }) {
                    let version = reaching.version(def_use, statement, reg);
                    let version = version.filter(|&version| reaching.origin(version) != VersionOrigin::Nothing);
                    reads.extend(version.map(|version| (statement, (reg, united.web(version, reg)))));
                }
            }
        }
        let reads = Lists::from_pairs(statements, &reads);
        let mut is_parameter = BitSet::new(def_use.registers());
        is_parameter.extend(def_use.parameters().iter().copied());
        let mut is_from_outside = Map::filled(united.regs.len(), true);
        for &(_, web) in writes.items() {
            is_from_outside[web] = false;
        }
        let mut begins_unwritten = Map::filled(united.regs.len(), false);
        for version in reaching.versions() {
            if let VersionOrigin::Entry(reg) = reaching.origin(version)
                && let Some(web) = united.existing_web(version)
            {
                begins_unwritten[web] = true;
                is_from_outside[web] |= is_parameter.contains(reg);
            }
        }
        let (single_writes, merged_writes) = united.writes_for_other_blocks(cfg, &reads, &writes);
        Self { regs: united.regs, is_from_outside, begins_unwritten, reads, writes, single_writes, merged_writes }
    }

    /// The web of a register that a statement reads.
    pub(super) fn read(&self, statement: StmtId, reg: Reg) -> Option<Web> {
        find(&self.reads, statement, reg)
    }

    /// The web of a register that a statement writes.
    pub(super) fn written(&self, statement: StmtId, reg: Reg) -> Option<Web> {
        find(&self.writes, statement, reg)
    }
}

fn find(lists: &Lists<StmtId, (Reg, Web)>, statement: StmtId, reg: Reg) -> Option<Web> {
    if statement.index() >= lists.len() {
        return None;
    }
    lists[statement].iter().find(|(other, _)| *other == reg).map(|&(_, web)| web)
}

/// The versions of registers, united where they meet.
struct United {
    leader: Map<Version, Version>,
    /// How many versions a leader stands for.
    versions: Map<Version, u32>,
    of_leader: Map<Version, Option<Web>>,
    regs: Map<Web, Reg>,
    /// Whether a web has several versions.
    is_merged: Map<Web, bool>,
}

impl United {
    fn of(reaching: &Reaching) -> Self {
        let mut leader = Map::<Version, Version>::from_iter(reaching.versions());
        for version in reaching.versions() {
            let before = match reaching.origin(version) {
                VersionOrigin::Write { before, .. } => before,
                _ => None,
            };
            for &other in reaching.merged(version).iter().chain(&before) {
                if reaching.origin(other) != VersionOrigin::Nothing {
                    let (one, two) = (find_leader(&mut leader, version), find_leader(&mut leader, other));
                    leader[one.max(two)] = one.min(two);
                }
            }
        }
        let mut versions = Map::filled(leader.len(), 0);
        for version in reaching.versions() {
            versions[find_leader(&mut leader, version)] += 1;
        }
        let of_leader = Map::filled(leader.len(), None);
        Self { leader, versions, of_leader, regs: Map::new(), is_merged: Map::new() }
    }

    /// The web of a version that is read or written.
    fn web(&mut self, version: Version, reg: Reg) -> Web {
        let first = find_leader(&mut self.leader, version);
        let Self { of_leader, regs, is_merged, versions, .. } = self;
        *of_leader[first].get_or_insert_with(|| {
            is_merged.push(versions[first] > 1);
            regs.push(reg)
        })
    }

    /// The web of a version, if any version of it is read or written.
    fn existing_web(&mut self, version: Version) -> Option<Web> {
        let first = find_leader(&mut self.leader, version);
        self.of_leader[first]
    }

    /// The webs that are read in another block than they are written, by the blocks of their writes: those with one
    /// version, and those with several.
    fn writes_for_other_blocks(
        &self,
        cfg: &Cfg,
        reads: &Lists<StmtId, (Reg, Web)>,
        writes: &Lists<StmtId, (Reg, Web)>,
    ) -> (Lists<Block, Web>, Lists<Block, Web>) {
        let statements = || {
            let blocks = cfg.graph().reverse_post_order().iter();
            blocks.flat_map(|&block| cfg.statements(block).iter().map(move |&statement| (block, statement)))
        };
        let mut written_in = Map::<Web, Option<Block>>::filled(self.regs.len(), None);
        for (block, statement) in statements() {
            for &(_, web) in &writes[statement] {
                written_in[web] = Some(block);
            }
        }
        let mut crosses = self.is_merged.clone();
        for (block, statement) in statements() {
            for &(_, web) in &reads[statement] {
                crosses[web] |= written_in[web] != Some(block);
            }
        }
        let (mut single, mut merged) = (Vec::new(), Vec::new());
        for (block, statement) in statements() {
            for &(_, web) in writes[statement].iter().filter(|(_, web)| crosses[*web]) {
                if self.is_merged[web] { &mut merged } else { &mut single }.push((block, web));
            }
        }
        (Lists::from_pairs(cfg.len(), &single), Lists::from_pairs(cfg.len(), &merged))
    }
}

/// The root of a version in the union-find forest. Paths are halved on the way.
fn find_leader(leader: &mut Map<Version, Version>, mut version: Version) -> Version {
    while leader[version] != version {
        leader[version] = leader[leader[version]];
        version = leader[version];
    }
    version
}
