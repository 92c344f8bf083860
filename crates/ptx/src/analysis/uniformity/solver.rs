//! Computes what is known of each web, until nothing changes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::divergence::Divergence;
use super::transfer::Transfer;
use super::value::{ALL_BITS, LaneBits, LaneValue};
use super::webs::{Web, Webs};
use super::{Branch, BranchUniformity, WrapGuard};
use crate::analysis::bitset::BitSet;
use crate::analysis::cfg::Cfg;
use crate::analysis::graph::Block;
use crate::analysis::lists::Lists;
use crate::entity::Map;
use crate::ir::{Body, Operand, Reg, Stmt, StmtId};
use crate::ops::{Mod, Op};
use crate::view::View;

/// Computes the values of webs until nothing changes.
///
/// All values start as nothing, and only get less precise: a value that was computed is joined with the ones before.
/// Statements are looked at in reverse post-order, and again when a value changed that they read.
pub(super) struct Solver<'a> {
    cfg: &'a Cfg,
    body: &'a Body,
    transfer: Transfer<'a>,
    divergence: Divergence<'a>,
    webs: &'a Webs,
    state: State,
}

/// What was found.
pub(super) struct Solution {
    pub(super) values: Map<Web, LaneValue>,
    pub(super) branches: Lists<Block, Branch>,
    pub(super) divergent_blocks: BitSet<Block>,
    pub(super) guards: Vec<WrapGuard>,
    pub(super) symbols: Vec<((StmtId, usize), LaneValue)>,
    pub(super) is_exact: bool,
}

impl<'a> Solver<'a> {
    pub(super) fn new(
        cfg: &'a Cfg,
        body: &'a Body,
        webs: &'a Webs,
        transfer: Transfer<'a>,
        divergence: Divergence<'a>,
    ) -> Self {
        Self { cfg, body, transfer, divergence, webs, state: State::new(cfg, webs) }
    }

    pub(super) fn solve(mut self) -> Solution {
        self.start();
        self.run();
        // What is left depends only on itself, such as a register that is counted up from nothing.
        let unset: Vec<Web> =
            self.state.values.iter().filter_map(|(web, value)| value.is_none().then_some(web)).collect();
        for web in unset {
            self.state.set(web, self.anything(web));
        }
        self.run();
        self.settle_guards();
        self.finish()
    }

    fn start(&mut self) {
        for web in self.webs.regs.ids() {
            if self.webs.is_from_outside[web] {
                self.state.set(web, self.anything(web));
            }
        }
        // A statement that nobody can read may write any register and go anywhere.
        let is_readable = self.cfg.unknown_targets() == 0
            && self.body.iter().all(|statement| !matches!(self.body.stmt(statement), Stmt::Unknown(_)));
        if !is_readable {
            for web in self.webs.regs.ids() {
                self.state.set(web, self.anything(web));
            }
            self.divergence.blocks.extend(self.cfg.blocks());
        }
        for place in 0..self.state.order.len() {
            self.state.enqueue(place as Place);
        }
    }

    fn anything(&self, web: Web) -> LaneValue {
        LaneValue::vector(self.transfer.reg_bits(self.webs.regs[web]))
    }

    fn run(&mut self) {
        while let Some((block, statement)) = self.state.next() {
            let Some(view) = View::of(&self.transfer.module.forms, self.body, statement) else { continue };
            self.update_writes(statement, &view);
            if self.cfg.terminator(block) == Some(statement) {
                self.update_branch(block, statement, &view);
            }
        }
    }

    fn update_writes(&mut self, statement: StmtId, view: &View<'_>) {
        let webs = self.webs;
        if webs.writes[statement].is_empty() {
            return;
        }
        let values = &self.state.values;
        if self.transfer.is_never_executed(values, statement, view) != Some(false) {
            return;
        }
        let Some(guard) = self.transfer.guard(values, statement, view) else { return };
        let Some(outcome) = self.transfer.outcome(values, statement, view) else { return };
        for &(reg, web) in &webs.writes[statement] {
            let value = outcome.value(reg, self.transfer.reg_bits(reg));
            let value = if self.transfer.is_vector_register(reg) { value.forget_form() } else { value };
            // Lanes in which the guard does not hold keep what they had.
            self.state.taints[web] |= guard;
            self.state.join(web, value);
        }
    }

    fn update_branch(&mut self, block: Block, statement: StmtId, view: &View<'_>) {
        let Some(bits) = self.transfer.disagreement(&self.state.values, statement, view) else { return };
        if bits & !self.state.disagreement[block] == 0 {
            return;
        }
        self.state.disagreement[block] |= bits;
        for web in self.divergence.spread(block, bits) {
            self.state.taint(web, bits);
        }
    }

    /// Finds anew which values depend on guards. On the way to the solution, values may have depended on checks of which
    /// nothing is left, because what was to be checked turned out not to be regular at all.
    fn settle_guards(&mut self) {
        let is_marked = |value: &Option<LaneValue>| value.is_some_and(|value| value.needs_guard());
        if !self.state.values.values().any(is_marked) {
            return;
        }
        for value in self.state.values.values_mut().flatten() {
            value.needs_guard = false;
        }
        for place in 0..self.state.order.len() {
            self.state.enqueue(place as Place);
        }
        while let Some((_, statement)) = self.state.next() {
            let Some(view) = View::of(&self.transfer.module.forms, self.body, statement) else { continue };
            let Some(outcome) = self.transfer.outcome(&self.state.values, statement, &view) else { continue };
            for &(reg, web) in &self.webs.writes[statement] {
                let needs_guard = outcome.value(reg, self.transfer.reg_bits(reg)).needs_guard();
                let value = self.state.values[web].expect("all values are set");
                let needs_guard = (value.needs_guard || needs_guard) && value.free != ALL_BITS;
                self.state.set(web, LaneValue { needs_guard, ..value });
            }
        }
    }

    fn finish(self) -> Solution {
        let forms = &self.transfer.module.forms;
        let (mut branches, mut guards, mut symbols) = (Vec::new(), Vec::new(), Vec::new());
        for &(block, statement) in &self.state.order {
            let Some(view) = View::of(forms, self.body, statement) else { continue };
            if self.cfg.terminator(block) == Some(statement) && is_conditional(&view) {
                let uniformity = match self.state.disagreement[block] {
                    0 => BranchUniformity::Uniform,
                    _ if view.form.has(Mod::Uni) => BranchUniformity::Stated,
                    _ => BranchUniformity::Divergent,
                };
                branches.push((block, Branch { statement, uniformity }));
            }
            let needs_guard = |&(_, web): &(Reg, Web)| self.state.values[web].is_some_and(|value| value.needs_guard());
            if self.webs.writes[statement].iter().any(needs_guard)
                && let Some(outcome) = self.transfer.outcome(&self.state.values, statement, &view)
            {
                guards.extend(outcome.checks.iter().map(|&(reg, check)| WrapGuard { statement, reg, check }));
            }
            for (index, operand) in view.operands().iter().enumerate() {
                if let Operand::SymbolAddress(symbol, offset) = *operand {
                    let address = self.transfer.address_in_space(symbol, offset.into(), 64);
                    symbols.push(((statement, index), address));
                }
            }
        }
        symbols.sort_unstable_by_key(|&(key, _)| key);
        Solution {
            values: self.state.values.values().map(|value| value.expect("all values are set")).collect(),
            branches: Lists::from_pairs(self.cfg.len(), &branches),
            is_exact: self.divergence.is_exact(),
            divergent_blocks: self.divergence.blocks,
            guards,
            symbols,
        }
    }
}

/// Whether control may go on in several ways after a statement that ends a block.
fn is_conditional(view: &View<'_>) -> bool {
    view.inst.guard.is_some() || view.op() == Some(Op::BrxIdx)
}

/// The place of a statement in the order in which statements are looked at.
type Place = u32;

/// The values while they are computed.
struct State {
    /// The reachable statements in reverse post-order of their blocks.
    order: Vec<(Block, StmtId)>,
    readers: Lists<Web, Place>,
    values: Map<Web, Option<LaneValue>>,
    /// See [`Webs::begins_unwritten`].
    begins_unwritten: Map<Web, bool>,
    /// Bits of the lane's number on which a web depends because of control flow.
    taints: Map<Web, LaneBits>,
    /// How often the range of a web grew.
    growth: Map<Web, u8>,
    /// Bits of the lane's number on which it depends how control goes on after a block.
    disagreement: Map<Block, LaneBits>,
    queue: BinaryHeap<Reverse<Place>>,
    is_queued: Vec<bool>,
}

/// A range that grew more often is given up: loops would go on for as long as they count.
const MAX_GROWTH: u8 = 3;

impl State {
    fn new(cfg: &Cfg, webs: &Webs) -> Self {
        let mut order = Vec::new();
        let mut readers = Vec::new();
        for &block in cfg.graph().reverse_post_order() {
            for &statement in cfg.statements(block) {
                let place = order.len() as Place;
                order.push((block, statement));
                readers.extend(webs.reads[statement].iter().map(|&(_, web)| (web, place)));
            }
        }
        let count = webs.regs.len();
        Self {
            readers: Lists::from_pairs(count, &readers),
            values: Map::filled(count, None),
            begins_unwritten: webs.begins_unwritten.clone(),
            taints: Map::filled(count, 0),
            growth: Map::filled(count, 0),
            disagreement: Map::filled(cfg.len(), 0),
            queue: BinaryHeap::new(),
            is_queued: vec![false; order.len()],
            order,
        }
    }

    fn enqueue(&mut self, place: Place) {
        if !std::mem::replace(&mut self.is_queued[place as usize], true) {
            self.queue.push(Reverse(place));
        }
    }

    /// Takes the first statement that has to be looked at.
    fn next(&mut self) -> Option<(Block, StmtId)> {
        let Reverse(place) = self.queue.pop()?;
        self.is_queued[place as usize] = false;
        Some(self.order[place as usize])
    }

    fn set(&mut self, web: Web, value: LaneValue) {
        if self.values[web] == Some(value) {
            return;
        }
        self.values[web] = Some(value);
        for index in self.readers.range(web) {
            self.enqueue(self.readers.items()[index]);
        }
    }

    fn join(&mut self, web: Web, value: LaneValue) {
        let joined = match self.values[web] {
            None => value,
            Some(before) => {
                let joined = before.join(value);
                let has_grown = joined.range() != before.range() || joined.signed_range() != before.signed_range();
                self.growth[web] = self.growth[web].saturating_add(has_grown.into());
                if has_grown && self.growth[web] > MAX_GROWTH { joined.widened() } else { joined }
            }
        };
        self.set(web, self.forget(web, joined, self.taints[web]));
    }

    fn taint(&mut self, web: Web, bits: LaneBits) {
        self.taints[web] |= bits;
        if let Some(value) = self.values[web] {
            self.set(web, self.forget(web, value, bits));
        }
    }

    /// What is left of a value if some bits of the number of a lane decide which way it came. If it came none of the ways on which
    /// the register is written, it has what it had when the function began.
    fn forget(&self, web: Web, value: LaneValue, bits: LaneBits) -> LaneValue {
        if self.begins_unwritten[web] { value.forget_also_of_constants(bits) } else { value.forget(bits) }
    }
}
