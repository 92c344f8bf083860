//! Live registers: those whose value may still be read.

use super::bitset::bits;
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
    /// All registers: first those that are live at the start of some block, and how many these are.
    regs: Vec<Reg>,
    crossing: usize,
    /// The place of each register in `regs`, which is its bit in sets.
    place: Map<Reg, u32>,
    /// A row of bits for each block; one row for all of them if the answer is conservative.
    live_in: Vec<u64>,
    is_exact: bool,
    carry: Reg,
}

impl Liveness {
    /// The live registers of a function.
    pub fn of(cfg: &Cfg, def_use: &DefUse) -> Self {
        Self::with_limit(cfg, def_use, MAX_BITS)
    }

    pub(super) fn with_limit(cfg: &Cfg, def_use: &DefUse, max_bits: usize) -> Self {
        let Exposed { crossing, reads, kills } = Exposed::of(cfg, def_use);
        let words_per_block = crossing.len().div_ceil(64);
        let is_exact = words_per_block.saturating_mul(64).saturating_mul(cfg.len()) <= max_bits;
        let mut live_in = vec![0; words_per_block * if is_exact { cfg.len() } else { 1 }];
        if is_exact {
            let mut propagation = Propagation::new(cfg.graph(), Direction::Backward);
            for (word, regs) in crossing.chunks(64).enumerate() {
                propagation.reset();
                for (bit, &reg) in regs.iter().enumerate() {
                    for &block in &kills[reg] {
                        propagation.kills[block] |= 1 << bit;
                    }
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
        Self::with_rows(crossing, live_in, is_exact, def_use)
    }

    /// Numbers the registers that do not cross blocks after those that do.
    fn with_rows(crossing: Vec<Reg>, live_in: Vec<u64>, is_exact: bool, def_use: &DefUse) -> Self {
        const NONE: u32 = u32::MAX;
        let mut place = Map::filled(def_use.registers(), NONE);
        let mut regs = crossing;
        let crossing = regs.len();
        for (index, &reg) in regs.iter().enumerate() {
            place[reg] = index as u32;
        }
        for reg in place.ids() {
            if place[reg] == NONE {
                place[reg] = regs.len() as u32;
                regs.push(reg);
            }
        }
        Self { regs, crossing, place, live_in, is_exact, carry: def_use.carry() }
    }

    /// Whether the sets are exact. In a function so large that they would take more than 256 MiB, every register that
    /// is live somewhere between blocks is said to be live everywhere between blocks.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Whether a register is live at the start of a block.
    pub fn is_live_in(&self, block: Block, reg: Reg) -> bool {
        let place = self.place[reg] as usize;
        place < self.crossing && self.row(block)[place / 64] & 1 << (place % 64) != 0
    }

    /// Whether the carry flag is live at the start of a block.
    pub fn is_carry_live_in(&self, block: Block) -> bool {
        self.is_live_in(block, self.carry)
    }

    /// The registers that are live at the start of a block, in no particular order.
    pub fn live_in(&self, block: Block) -> impl Iterator<Item = Reg> {
        self.regs_of(self.row(block))
    }

    /// What is live at the end of a block.
    pub fn live_out<'a>(&'a self, cfg: &Cfg, def_use: &DefUse, block: Block) -> LiveSet<'a> {
        let mut live = LiveSet { liveness: self, words: vec![0; self.regs.len().div_ceil(64)] };
        live.set_to_end(cfg, def_use, block);
        live
    }

    /// Goes through a block from its last statement to its first, with what is live after each.
    pub fn walk<'a>(&'a self, cfg: &'a Cfg, def_use: &'a DefUse, block: Block) -> LiveWalk<'a> {
        let live = self.live_out(cfg, def_use, block);
        LiveWalk { cfg, def_use, rest: cfg.statements(block), last: None, live }
    }

    /// The registers that are live at the start of some block, the carry flag among them.
    pub(super) fn crossing(&self) -> &[Reg] {
        &self.regs[..self.crossing]
    }

    /// The registers of a set of places, without the carry flag.
    fn regs_of(&self, words: &[u64]) -> impl Iterator<Item = Reg> {
        let places = words.iter().enumerate().flat_map(|(index, &word)| bits(word).map(move |bit| index * 64 + bit));
        places.map(|place| self.regs[place]).filter(|&reg| reg != self.carry)
    }

    fn row(&self, block: Block) -> &[u64] {
        let words_per_block = self.crossing.div_ceil(64);
        let row = if self.is_exact { block.index() } else { 0 };
        &self.live_in[row * words_per_block..][..words_per_block]
    }
}

/// The registers that are live at one place of a function.
#[derive(Clone, Debug)]
pub struct LiveSet<'a> {
    liveness: &'a Liveness,
    words: Vec<u64>,
}

impl LiveSet<'_> {
    /// Whether a register is live.
    pub fn contains(&self, reg: Reg) -> bool {
        let place = self.liveness.place[reg] as usize;
        self.words[place / 64] & 1 << (place % 64) != 0
    }

    /// Whether the carry flag is live.
    pub fn contains_carry(&self) -> bool {
        self.contains(self.liveness.carry)
    }

    /// The live registers, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = Reg> {
        self.liveness.regs_of(&self.words)
    }

    fn insert(&mut self, reg: Reg) {
        let place = self.liveness.place[reg] as usize;
        self.words[place / 64] |= 1 << (place % 64);
    }

    fn remove(&mut self, reg: Reg) {
        let place = self.liveness.place[reg] as usize;
        self.words[place / 64] &= !(1 << (place % 64));
    }

    fn set_to_end(&mut self, cfg: &Cfg, def_use: &DefUse, block: Block) {
        self.words.fill(0);
        for &successor in cfg.successors(block) {
            for (word, row) in self.words.iter_mut().zip(self.liveness.row(successor)) {
                *word |= row;
            }
        }
        if cfg.falls_off_end() == Some(block) {
            for &reg in def_use.results() {
                self.insert(reg);
            }
        }
    }
}

/// A walk through a block from its end; see [`Liveness::walk`].
#[derive(Clone, Debug)]
pub struct LiveWalk<'a> {
    cfg: &'a Cfg,
    def_use: &'a DefUse,
    rest: &'a [StmtId],
    /// The statement that was shown last, whose effect is still to be undone.
    last: Option<StmtId>,
    live: LiveSet<'a>,
}

impl<'a> LiveWalk<'a> {
    /// The statement before the last one, and what is live after it. It is no `Iterator` because the set is lent:
    ///
    /// ```text
    /// let mut walk = liveness.walk(&cfg, &def_use, block);
    /// while let Some((statement, live_after)) = walk.previous() { … }
    /// ```
    pub fn previous(&mut self) -> Option<(StmtId, &LiveSet<'a>)> {
        self.pass_last();
        let (&statement, rest) = self.rest.split_last()?;
        self.rest = rest;
        self.last = Some(statement);
        Some((statement, &self.live))
    }

    /// What is live before the statement that was shown last; at the start of the block when all were shown.
    pub fn live_before(&mut self) -> &LiveSet<'a> {
        self.pass_last();
        &self.live
    }

    /// Starts again at the end of another block, in the same memory.
    pub fn restart(&mut self, block: Block) {
        self.live.set_to_end(self.cfg, self.def_use, block);
        self.rest = self.cfg.statements(block);
        self.last = None;
    }

    fn pass_last(&mut self) {
        if let Some(statement) = self.last.take() {
            for &reg in self.def_use.kills(statement) {
                self.live.remove(reg);
            }
            for &reg in self.def_use.reads(statement) {
                self.live.insert(reg);
            }
        }
    }
}

/// What blocks do to the registers that live across them.
struct Exposed {
    /// The registers that some block reads before it kills them, in the order in which they are met: those that are
    /// live in the same blocks are often neighbours.
    crossing: Vec<Reg>,
    /// The blocks that read a register before they kill it.
    reads: Lists<Reg, Block>,
    /// The blocks that kill a crossing register.
    kills: Lists<Reg, Block>,
}

impl Exposed {
    fn of(cfg: &Cfg, def_use: &DefUse) -> Self {
        let registers = def_use.registers();
        let mut crossing = Vec::new();
        let (mut reads, mut kills) = (Vec::new(), Vec::new());
        // The last block in which each register was read first, and killed.
        let mut read_in = Map::<Reg, Option<Block>>::filled(registers, None);
        let mut killed_in = read_in.clone();
        for block in cfg.blocks() {
            let mut read = |reg, killed_in: &Map<Reg, Option<Block>>| {
                if killed_in[reg] == Some(block) {
                    return;
                }
                let before = read_in[reg].replace(block);
                if before.is_none() {
                    crossing.push(reg);
                }
                if before != Some(block) {
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
        kills.retain(|&(reg, _)| read_in[reg].is_some());
        Self { crossing, reads: Lists::from_pairs(registers, &reads), kills: Lists::from_pairs(registers, &kills) }
    }
}
