//! Can no two threads conflict?
//!
//! Two accesses conflict if they share a byte, one of them writes, they are not both strong operations whose scopes
//! include the other thread, and nothing orders them: they are of different blocks, or of one block between the same
//! two barriers.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::MOST_REASONS;
use super::execute::Execution;
use super::linear::{Linear, Symbol, SymbolKind};
use super::path::{Fact, definitions};
use super::reason::{Cause, Reason};
use super::record::Record;
use super::solve::{Row, Solution, System};
use super::value::ObjectId;
use crate::types::Space;
use crate::view::{AccessKind, Scope};

/// Accesses that may conflict, for all that is known.
#[derive(Clone, Debug)]
pub(super) struct Unproved<'a> {
    pub one: &'a Record,
    /// Nothing if it is whatever `one` may point to.
    pub other: Option<&'a Record>,
    pub cause: Cause,
}

/// More are not looked for.
pub(super) const MOST_UNPROVED: usize = 16;

impl Execution<'_> {
    /// Which accesses of two threads may conflict; nothing if none can.
    pub(super) fn races(&self) -> Vec<Unproved<'_>> {
        let mut unproved: Vec<Unproved<'_>> = Vec::new();
        let is_shared_by_threads = |record: &&Record| match &record.address {
            Some((object, _)) => matches!(self.objects[*object].space, Space::Global | Space::Shared),
            None => record.access.space.is_none_or(|space| matches!(space, Space::Global | Space::Shared)),
        };
        let records: Vec<&Record> = self.records.iter().filter(is_shared_by_threads).collect();
        let writes = |record: &Record| record.access.kind != AccessKind::Read;
        let threads: u64 = self.launch.block.iter().map(|&extent| u64::from(extent)).product();
        let blocks: u64 = self.launch.grid.iter().map(|&extent| u64::from(extent)).product();
        if threads * blocks <= 1 {
            return unproved;
        }
        // A pointer that may point anywhere conflicts with whatever is written, or if it writes.
        let any_write = records.iter().any(|record| writes(record));
        for record in records.iter().filter(|record| record.address.is_none()) {
            if any_write && unproved.len() < MOST_UNPROVED {
                unproved.push(Unproved { one: record, other: None, cause: Cause::UnknownPointer });
            }
        }
        let mut by_object: FxHashMap<ObjectId, Vec<&Record>> = FxHashMap::default();
        for &record in records.iter().filter(|record| record.address.is_some()) {
            let (object, _) = record.address.as_ref().expect("only those with one are left");
            by_object.entry(*object).or_default().push(record);
        }
        let mut objects: Vec<ObjectId> = by_object.keys().copied().collect();
        objects.sort_unstable();
        for (place, &one) in objects.iter().enumerate() {
            for &other in &objects[place..] {
                if one == other || self.objects.may_alias(one, other) {
                    self.conflicts(one, &by_object[&one], other, &by_object[&other], &mut unproved);
                }
            }
        }
        unproved
    }

    /// The same in words, each once.
    pub(super) fn reasons(&self, unproved: &[Unproved<'_>]) -> Vec<Reason> {
        let mut reasons: Vec<Reason> = Vec::new();
        for Unproved { one, other, cause } in unproved {
            let site = |record: &Record| self.code.sites[record.site].clone();
            let reason = Reason { site: site(one), other: other.map(site), cause: cause.clone() };
            if reasons.len() < MOST_REASONS && !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        reasons
    }

    fn conflicts<'r>(
        &self,
        one: ObjectId,
        ones: &[&'r Record],
        other: ObjectId,
        others: &[&'r Record],
        unproved: &mut Vec<Unproved<'r>>,
    ) {
        let is_global = self.objects[one].space == Space::Global;
        let blocks: u64 = self.launch.grid.iter().map(|&extent| u64::from(extent)).product();
        let threads: u64 = self.launch.block.iter().map(|&extent| u64::from(extent)).product();
        // Between blocks, and within one: in any interval, or in the same one.
        if is_global && blocks > 1 {
            let (ones, others) = (distinct(ones, false), distinct(others, false));
            self.pairs(one, &ones, other, &others, true, unproved);
        }
        if threads > 1 {
            // Intervals that hold the same accesses are looked at once. Those of summarised loops are not fixed.
            let mut by_interval: FxHashMap<i64, (Vec<&'r Record>, Vec<&'r Record>)> = FxHashMap::default();
            let is_fixed = |record: &&&Record| record.interval.as_constant().is_some();
            for record in ones.iter().filter(is_fixed) {
                by_interval.entry(record.interval.constant).or_default().0.push(record);
            }
            for record in others.iter().filter(is_fixed) {
                by_interval.entry(record.interval.constant).or_default().1.push(record);
            }
            let moving = |records: &[&'_ Record]| records.iter().any(|record| record.interval.as_constant().is_none());
            if moving(ones) || moving(others) {
                let (ones, others) = (distinct(ones, true), distinct(others, true));
                self.pairs(one, &ones, other, &others, false, unproved);
                return;
            }
            let mut seen = FxHashSet::default();
            let mut intervals: Vec<i64> = by_interval.keys().copied().collect();
            intervals.sort_unstable();
            for interval in intervals {
                let (ones, others) = &by_interval[&interval];
                let (ones, others) = (distinct(ones, true), distinct(others, true));
                let key =
                    |records: &[&Record]| -> Vec<_> { records.iter().map(|record| content(record, false)).collect() };
                if seen.insert((key(&ones), key(&others))) {
                    self.pairs(one, &ones, other, &others, false, unproved);
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "two sides of a pair")]
    fn pairs<'r>(
        &self,
        one: ObjectId,
        ones: &[&'r Record],
        other: ObjectId,
        others: &[&'r Record],
        is_between_blocks: bool,
        unproved: &mut Vec<Unproved<'r>>,
    ) {
        for (place, left) in ones.iter().enumerate() {
            for (second, right) in others.iter().enumerate() {
                // Pairs of one object come in both orders.
                if one == other && second < place {
                    continue;
                }
                if unproved.len() >= MOST_UNPROVED || !may_conflict(left, right, is_between_blocks) {
                    continue;
                }
                let object = self.objects[one].name.clone();
                let is_over = self.arithmetic.symbols.work().is_over();
                let overlap = if is_over { Solution::NotSettled } else { self.overlap(left, right, is_between_blocks) };
                let cause = match overlap {
                    Solution::None => continue,
                    Solution::Found(_) => Cause::Conflict { object, is_between_blocks },
                    Solution::NotSettled => Cause::NotSettled { object },
                };
                unproved.push(Unproved { one: left, other: Some(right), cause });
                if is_over {
                    return;
                }
            }
        }
    }

    /// Whether two threads, one at each access, may touch the same byte. Variables are the symbols of the first thread
    /// and how much larger each is than that of the second.
    fn overlap(&self, left: &Record, right: &Record, is_between_blocks: bool) -> Solution {
        let symbols = &self.arithmetic.symbols;
        symbols.work().add(20);
        let ((one, offset), (other, also)) = match (&left.address, &right.address) {
            (Some((one, offset)), Some((other, also))) => ((*one, offset), (*other, also)),
            _ => return Solution::NotSettled,
        };
        let apart = if one == other {
            0
        } else {
            match (self.objects[one].start, self.objects[other].start) {
                (Some(start), Some(also)) => i128::from(start) - i128::from(also),
                _ => return Solution::NotSettled,
            }
        };
        let mut pair = Pair {
            execution: self,
            left,
            right,
            is_between_blocks,
            known: Vec::new(),
            system: System::default(),
            second: Vec::new(),
        };
        // Bytes are shared if the distance is less than the size of the one in front.
        let constant = i128::from(offset.constant) - i128::from(also.constant) + apart;
        let least = -i128::from(left.access.bytes) + 1 - constant;
        let most = i128::from(right.access.bytes) - 1 - constant;
        let terms = pair.difference(offset, also);
        pair.system.rows.push(Row { terms, least, most });
        if !is_between_blocks {
            let constant = i128::from(right.interval.constant) - i128::from(left.interval.constant);
            let terms = pair.difference(&left.interval, &right.interval);
            if terms.is_empty() && constant != 0 {
                return Solution::None;
            }
            if !terms.is_empty() {
                pair.system.rows.push(Row { terms, least: constant, most: constant });
            }
        }
        // All digits matter, also those that no row names.
        let mut distinct = Vec::new();
        for symbol in symbols.ids() {
            let wanted = match symbols[symbol].kind {
                SymbolKind::Thread(_) => !is_between_blocks,
                SymbolKind::Block(_) => is_between_blocks,
                SymbolKind::Other => break,
            };
            if wanted {
                let place = pair.variable(symbol);
                distinct.push(place + 1);
            }
        }
        pair.system.not_all_zero = Some(distinct);
        // Most pairs are apart by their addresses alone.
        let quick = pair.system.clone().solve(symbols.work());
        if quick == Solution::None {
            return Solution::None;
        }
        pair.facts();
        let second = std::mem::take(&mut pair.second);
        pair.system.rows.extend(second);
        pair.system.solve(symbols.work())
    }
}

/// Two accesses of two threads, as a system.
struct Pair<'a> {
    execution: &'a Execution<'a>,
    left: &'a Record,
    right: &'a Record,
    is_between_blocks: bool,
    /// Symbols that have variables: the one of the first thread, then how much larger it is.
    known: Vec<Symbol>,
    system: System,
    /// The ranges of symbols of the second thread.
    second: Vec<Row>,
}

impl Pair<'_> {
    /// The variable of a symbol; the next one is the difference.
    fn variable(&mut self, symbol: Symbol) -> u32 {
        if let Some(place) = self.known.iter().position(|&known| known == symbol) {
            return 2 * place as u32;
        }
        let symbols = &self.execution.arithmetic.symbols;
        let one = self.left.path.range_of(symbols, symbol);
        let other = self.right.path.range_of(symbols, symbol);
        // Threads of one block have the same block index.
        let is_same = matches!(symbols[symbol].kind, SymbolKind::Block(_)) && !self.is_between_blocks;
        let difference = if is_same { (0, 0) } else { (one.0.saturating_sub(other.1), one.1.saturating_sub(other.0)) };
        let one = if is_same { (one.0.max(other.0), one.1.min(other.1)) } else { one };
        self.known.push(symbol);
        self.system.ranges.push(one);
        self.system.ranges.push(difference);
        let place = 2 * (self.known.len() as u32 - 1);
        // The symbol of the second thread has a range too.
        self.second.push(Row {
            terms: SmallVec::from_slice(&[(place, 1), (place + 1, -1)]),
            least: other.0.into(),
            most: other.1.into(),
        });
        place
    }

    /// `one` of the first thread minus `other` of the second, without constants.
    fn difference(&mut self, one: &Linear, other: &Linear) -> SmallVec<[(u32, i64); 6]> {
        let mut terms: SmallVec<[(u32, i64); 6]> = SmallVec::new();
        let mut all: SmallVec<[Symbol; 8]> = one.terms.iter().chain(&other.terms).map(|term| term.0).collect();
        all.sort_unstable();
        all.dedup();
        for symbol in all {
            let (left, right) = (one.coefficient(symbol), other.coefficient(symbol));
            let place = self.variable(symbol);
            // left × x - right × (x - difference)
            if let Some(rest) = left.checked_sub(right).filter(|&rest| rest != 0) {
                terms.push((place, rest));
            }
            if right != 0 {
                terms.push((place + 1, right));
            }
        }
        terms
    }

    /// Adds what is known of both threads, as far as it has to do with the variables that there are: what data alone decides
    /// says nothing of where threads meet, and takes long to solve.
    fn facts(&mut self) {
        let symbols = &self.execution.arithmetic.symbols;
        let mut open: Vec<(Rc<Linear>, bool)> = Vec::new();
        for (record, is_left) in [(self.left, true), (self.right, false)] {
            let mut facts: SmallVec<[&Rc<Linear>; 16]> = record
                .path
                .facts
                .iter()
                .filter_map(|fact| if let Fact::AtLeastZero(linear) = fact { Some(linear) } else { None })
                .collect();
            if let Some((_, offset)) = &record.address {
                definitions(symbols, offset, &mut facts);
            }
            definitions(symbols, &record.interval, &mut facts);
            let mut place = 0;
            while place < facts.len() && facts.len() < 40 {
                let fact = facts[place];
                definitions(symbols, fact, &mut facts);
                place += 1;
            }
            open.extend(facts.into_iter().map(|fact| (Rc::clone(fact), is_left)));
        }
        loop {
            symbols.work().add(open.len() as u64);
            let is_about_known =
                |(fact, _): &(Rc<Linear>, bool)| fact.terms.iter().any(|(symbol, _)| self.known.contains(symbol));
            let (known, others): (Vec<_>, Vec<_>) = open.into_iter().partition(is_about_known);
            if known.is_empty() {
                return;
            }
            known.iter().for_each(|(fact, is_left)| self.fact(fact, *is_left));
            open = others;
        }
    }

    /// Adds a fact of one of the threads.
    fn fact(&mut self, fact: &Linear, is_left: bool) {
        let mut terms: SmallVec<[(u32, i64); 6]> = SmallVec::new();
        for &(symbol, coefficient) in &fact.terms {
            let place = self.variable(symbol);
            terms.push((place, coefficient));
            if !is_left {
                terms.push((place + 1, -coefficient));
            }
        }
        self.system.rows.push(Row { terms, least: -i128::from(fact.constant), most: i128::MAX / 4 });
    }
}

/// Whether two accesses are of kinds that can conflict at all.
fn may_conflict(one: &Record, other: &Record, is_between_blocks: bool) -> bool {
    let (one, other) = (&one.access, &other.access);
    if one.kind == AccessKind::Read && other.kind == AccessKind::Read {
        return false;
    }
    let (Some(scope), Some(also)) = (one.strong, other.strong) else { return true };
    // Strong operations are of elements: those of different sizes may share only a part.
    let is_same_size = one.bytes / one.vector == other.bytes / other.vector;
    let reaches = |scope: Scope| scope >= Scope::Device || !is_between_blocks;
    !(is_same_size && reaches(scope) && reaches(also))
}

/// What decides whether two accesses conflict.
fn content(record: &Record, with_interval: bool) -> impl Eq + std::hash::Hash + use<> {
    let address = record.address.clone();
    let facts: Vec<Rc<Linear>> = record.path.facts.iter().map(|fact| Rc::clone(fact.linear())).collect();
    let kind = record.access.kind as u8;
    let interval = with_interval.then(|| Rc::clone(&record.interval));
    let ranges = record.path.ranges.clone();
    (
        ranges,
        address,
        record.access.bytes,
        kind,
        record.access.strong.map(|scope| scope as u8),
        facts,
        interval,
        record.site,
    )
}

/// Accesses without repetitions.
fn distinct<'a>(records: &[&'a Record], with_interval: bool) -> Vec<&'a Record> {
    let mut seen = FxHashSet::default();
    let all = records.iter().copied();
    all.filter(|record| seen.insert(content(record, with_interval))).collect()
}
