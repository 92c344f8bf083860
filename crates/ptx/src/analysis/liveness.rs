//! Live registers: those whose value may still be read.

use super::bitset::{BitSet, bits};
use super::cfg::Cfg;
use super::dataflow::{Direction, MAX_BITS, Propagation};
use super::defuse::DefUse;
use super::graph::Block;
use super::lists::Lists;
use crate::entity::{Id, Map};
use crate::ir::{Reg, StmtId};

/// The registers that are live between blocks.
///
/// Most registers of a kernel are written and read in one block only; a bit for each block is kept of the others. For
/// 5,000 blocks and 30,000 registers that all live across blocks this is 19 MB.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// The registers that are live at the start of some block, and the place of each among them.
    crossing: Vec<Reg>,
    place: Map<Reg, Option<u32>>,
    words_per_block: usize,
    /// A row for each block; one row for all of them if the answer is conservative.
    live_in: Vec<u64>,
    is_exact: bool,
    /// Read behind the last statement of this block.
    results_at: Option<Block>,
    carry: Reg,
}

impl Liveness {
    /// The live registers of a function.
    pub fn of(cfg: &Cfg, def_use: &DefUse) -> Self {
        Self::with_limit(cfg, def_use, MAX_BITS)
    }

    fn with_limit(cfg: &Cfg, def_use: &DefUse, max_bits: usize) -> Self {
        let Exposed { crossing, place, reads, kills } = Exposed::of(cfg, def_use);
        let words_per_block = crossing.len().div_ceil(64);
        let is_exact = words_per_block.saturating_mul(64).saturating_mul(cfg.len()) <= max_bits;
        let rows = if is_exact { cfg.len() } else { 1 };
        let mut live_in = vec![0; words_per_block * rows];
        if is_exact {
            let mut propagation = Propagation::new(cfg.graph(), Direction::Backward);
            for (word, regs) in crossing.chunks(64).enumerate() {
                propagation.reset();
                for (bit, &reg) in regs.iter().enumerate() {
                    for &block in &kills[reg] {
                        propagation.kills[block] |= 1 << bit;
                    }
                }
                for (bit, &reg) in regs.iter().enumerate() {
                    for &block in &reads[reg] {
                        propagation.start(block, 1 << bit);
                    }
                }
                propagation.run();
                for (block, &facts) in propagation.facts.iter() {
                    live_in[block.index() * words_per_block + word] = facts;
                }
            }
        } else {
            for place in 0..crossing.len() {
                live_in[place / 64] |= 1 << (place % 64);
            }
        }
        let results_at = cfg.falls_off_end();
        Self { crossing, place, words_per_block, live_in, is_exact, results_at, carry: def_use.carry() }
    }

    /// Whether the sets are exact. In a function so large that they would take more than 256 MiB, every register that
    /// is live somewhere between blocks is said to be live everywhere between blocks.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Whether a register is live at the start of a block.
    pub fn is_live_in(&self, block: Block, reg: Reg) -> bool {
        self.place[reg].is_some_and(|place| self.row(block)[place as usize / 64] & 1 << (place % 64) != 0)
    }

    /// Whether the carry flag is live at the start of a block.
    pub fn is_carry_live_in(&self, block: Block) -> bool {
        self.is_live_in(block, self.carry)
    }

    /// The registers that are live at the start of a block, in no particular order.
    pub fn live_in(&self, block: Block) -> impl Iterator<Item = Reg> {
        self.raw_live_in(block).filter(|&reg| reg != self.carry)
    }

    /// What is live at the end of a block.
    pub fn live_out(&self, cfg: &Cfg, def_use: &DefUse, block: Block) -> LiveSet {
        let mut live = LiveSet { set: BitSet::new(def_use.registers()), carry: self.carry };
        self.add_live_out(cfg, def_use, block, &mut live.set);
        live
    }

    /// Goes through a block from its last statement to its first, with what is live behind each.
    pub fn walk<'a>(&'a self, cfg: &'a Cfg, def_use: &'a DefUse, block: Block) -> LiveWalk<'a> {
        let live = self.live_out(cfg, def_use, block);
        LiveWalk { liveness: self, cfg, def_use, rest: cfg.statements(block), last: None, live }
    }

    /// The registers that are live at the start of some block, the carry flag among them.
    pub(super) fn crossing(&self) -> &[Reg] {
        &self.crossing
    }

    fn add_live_out(&self, cfg: &Cfg, def_use: &DefUse, block: Block, set: &mut BitSet<Reg>) {
        for &successor in cfg.successors(block) {
            set.extend(self.raw_live_in(successor));
        }
        if self.results_at == Some(block) {
            set.extend(def_use.results().iter().copied());
        }
    }

    fn raw_live_in(&self, block: Block) -> impl Iterator<Item = Reg> {
        let words = self.row(block).iter().enumerate();
        words.flat_map(move |(index, &word)| bits(word).map(move |bit| self.crossing[index * 64 + bit]))
    }

    fn row(&self, block: Block) -> &[u64] {
        let row = if self.is_exact { block.index() } else { 0 };
        &self.live_in[row * self.words_per_block..][..self.words_per_block]
    }
}

/// The registers that are live at one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LiveSet {
    set: BitSet<Reg>,
    carry: Reg,
}

impl LiveSet {
    /// Whether a register is live.
    pub fn contains(&self, reg: Reg) -> bool {
        self.set.contains(reg)
    }

    /// Whether the carry flag is live.
    pub fn contains_carry(&self) -> bool {
        self.set.contains(self.carry)
    }

    /// The live registers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Reg> {
        self.set.iter().filter(|&reg| reg != self.carry)
    }
}

/// A walk through a block from its end; see [`Liveness::walk`].
#[derive(Clone, Debug)]
pub struct LiveWalk<'a> {
    liveness: &'a Liveness,
    cfg: &'a Cfg,
    def_use: &'a DefUse,
    rest: &'a [StmtId],
    /// The statement that was shown last, whose effect is still to be undone.
    last: Option<StmtId>,
    live: LiveSet,
}

impl<'a> LiveWalk<'a> {
    /// The statement before the last one, and what is live behind it. It is no `Iterator` because the set is lent.
    ///
    /// ```ignore
    /// let mut walk = liveness.walk(&cfg, &def_use, block);
    /// while let Some((statement, live_after)) = walk.previous() { … }
    /// ```
    pub fn previous(&mut self) -> Option<(StmtId, &LiveSet)> {
        self.pass_last();
        let (&statement, rest) = self.rest.split_last()?;
        self.rest = rest;
        self.last = Some(statement);
        Some((statement, &self.live))
    }

    /// What is live before the statement that was shown last; at the start of the block when all were shown.
    pub fn live_before(&mut self) -> &LiveSet {
        self.pass_last();
        &self.live
    }

    /// Starts again at the end of another block, in the same memory.
    pub fn restart(&mut self, block: Block) {
        self.live.set.clear();
        self.liveness.add_live_out(self.cfg, self.def_use, block, &mut self.live.set);
        self.rest = self.cfg.statements(block);
        self.last = None;
    }

    fn pass_last(&mut self) {
        if let Some(statement) = self.last.take() {
            for &reg in self.def_use.kills(statement) {
                self.live.set.remove(reg);
            }
            self.live.set.extend(self.def_use.reads(statement).iter().copied());
        }
    }
}

/// What blocks do to the registers that live across them.
struct Exposed {
    crossing: Vec<Reg>,
    place: Map<Reg, Option<u32>>,
    /// The blocks that read a register before they kill it.
    reads: Lists<Reg, Block>,
    /// The blocks that kill a register.
    kills: Lists<Reg, Block>,
}

impl Exposed {
    fn of(cfg: &Cfg, def_use: &DefUse) -> Self {
        let mut crossing = Vec::new();
        let mut place = Map::filled(def_use.registers(), None);
        let (mut reads, mut kills) = (Vec::new(), Vec::new());
        // The last block in which each register was read first, and killed.
        let mut read_in = Map::<Reg, _>::filled(def_use.registers(), None);
        let mut killed_in = Map::<Reg, _>::filled(def_use.registers(), None);
        for block in cfg.blocks() {
            let mut read = |reg, killed_in: &Map<Reg, Option<Block>>| {
                if killed_in[reg] != Some(block) && read_in[reg].replace(block) != Some(block) {
                    if place[reg].is_none() {
                        place[reg] = Some(crossing.len() as u32);
                        crossing.push(reg);
                    }
                    reads.push((reg, block));
                }
            };
            for &statement in cfg.statements(block) {
                for &reg in def_use.reads(statement) {
                    read(reg, &killed_in);
                }
                for &reg in def_use.kills(statement) {
                    if killed_in[reg].replace(block) != Some(block) {
                        kills.push((reg, block));
                    }
                }
            }
            if cfg.falls_off_end() == Some(block) {
                for &reg in def_use.results() {
                    read(reg, &killed_in);
                }
            }
        }
        // Nobody asks who kills the others.
        kills.retain(|&(reg, _)| place[reg].is_some());
        let registers = def_use.registers();
        let (reads, kills) = (Lists::from_pairs(registers, &reads), Lists::from_pairs(registers, &kills));
        Self { crossing, place, reads, kills }
    }
}
