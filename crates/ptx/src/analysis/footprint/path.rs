//! What is known where the execution is: comparisons that held on the way, and the ranges that follow for symbols.

use std::rc::Rc;

use smallvec::SmallVec;

use super::linear::{Linear, Range, Symbol, Symbols};

/// A comparison.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Fact {
    /// The expression is at least zero.
    AtLeastZero(Rc<Linear>),
    /// The expression is not zero.
    NotZero(Rc<Linear>),
}

impl Fact {
    pub(super) fn linear(&self) -> &Rc<Linear> {
        match self {
            Self::AtLeastZero(linear) | Self::NotZero(linear) => linear,
        }
    }
}

/// Comparisons that hold for the threads that come here, with the narrower ranges that follow.
#[derive(Clone, Default, Debug)]
pub(super) struct Path {
    pub facts: Vec<Fact>,
    /// Where narrower than those of [`Symbols`].
    pub ranges: SmallVec<[(Symbol, i64, i64); 8]>,
    /// Whether facts were forgotten.
    pub is_cut: bool,
}

/// More facts are forgotten: what is not known is not used.
const MOST_FACTS: usize = 24;
/// How many facts are combined to find how large an expression can be.
const DEPTH: u32 = 4;

impl Path {
    pub(super) fn range_of(&self, symbols: &Symbols, symbol: Symbol) -> (i64, i64) {
        match self.ranges.iter().find(|range| range.0 == symbol) {
            Some(&(_, least, most)) => (least, most),
            None => symbols.bounds(symbol),
        }
    }

    /// The range from those of symbols alone.
    pub(super) fn range(&self, symbols: &Symbols, linear: &Linear) -> Range {
        linear.range(|symbol| self.range_of(symbols, symbol))
    }

    /// The range, with comparisons combined.
    pub(super) fn tight_range(&self, symbols: &Symbols, linear: &Linear) -> Range {
        let upper = self.upper(symbols, linear);
        let lower = linear.times(-1).map_or(i128::MIN, |negated| -self.upper(symbols, &negated));
        (lower, upper)
    }

    /// A number that the expression does not exceed.
    pub(super) fn upper(&self, symbols: &Symbols, linear: &Linear) -> i128 {
        let mut facts: SmallVec<[&Rc<Linear>; 16]> = SmallVec::new();
        facts.extend(self.facts.iter().filter_map(|fact| match fact {
            Fact::AtLeastZero(linear) => Some(linear),
            Fact::NotZero(_) => None,
        }));
        definitions(symbols, linear, &mut facts);
        if facts.is_empty() {
            return self.range(symbols, linear).1;
        }
        let mut place = 0;
        while place < facts.len() && facts.len() < MOST_FACTS {
            definitions(symbols, facts[place], &mut facts);
            place += 1;
        }
        symbols.work().add(2 + facts.len() as u64);
        let mut budget = 40;
        self.upper_with(symbols, linear, &facts, 0, DEPTH, &mut budget)
    }

    /// Adds multiples of facts, which are at least zero, such that a symbol goes away.
    fn upper_with(
        &self,
        symbols: &Symbols,
        linear: &Linear,
        facts: &[&Rc<Linear>],
        used: u64,
        depth: u32,
        budget: &mut u32,
    ) -> i128 {
        let mut best = self.range(symbols, linear).1;
        if depth == 0 {
            return best;
        }
        for (place, fact) in facts.iter().enumerate().take(64) {
            if used & 1 << place != 0 {
                continue;
            }
            // The symbol of the fact that matters most, if the fact bounds the expression from above in it.
            let share = |&&(symbol, coefficient): &&(Symbol, i64)| {
                let (least, most) = self.range_of(symbols, symbol);
                (i128::from(most) - i128::from(least)).saturating_mul(i128::from(coefficient.unsigned_abs()))
            };
            let opposed = fact.terms.iter().filter(|term| {
                let own = linear.coefficient(term.0);
                own != 0 && (own > 0) != (term.1 > 0)
            });
            let Some(&(symbol, coefficient)) = opposed.max_by_key(share) else { continue };
            if *budget == 0 || symbols.work().is_over() {
                return best;
            }
            *budget -= 1;
            symbols.work().add(2 + facts.len() as u64 / 2);
            let own = linear.coefficient(symbol);
            let divisor = gcd(own.unsigned_abs(), coefficient.unsigned_abs());
            let (Ok(scale), Ok(factor)) =
                (i64::try_from(coefficient.unsigned_abs() / divisor), i64::try_from(own.unsigned_abs() / divisor))
            else {
                continue;
            };
            let Some(sum) = linear.times(scale).and_then(|scaled| scaled.plus(fact, factor)) else { continue };
            let upper = self.upper_with(symbols, &sum, facts, used | 1 << place, depth - 1, budget);
            best = best.min(upper.div_euclid(i128::from(scale)));
        }
        best
    }

    /// Adds what holds from here on; false if it cannot hold.
    pub(super) fn assume(&mut self, symbols: &Symbols, facts: &[Fact]) -> bool {
        for fact in facts {
            match (fact.linear().as_constant(), fact) {
                (Some(constant), Fact::AtLeastZero(_)) if constant < 0 => return false,
                (Some(0), Fact::NotZero(_)) => return false,
                (Some(_), _) => {}
                (None, _) if self.facts.contains(fact) => {}
                (None, _) => {
                    self.facts.push(fact.clone());
                    // What defines its symbols, so that ranges follow for what these were made of.
                    let mut defining = SmallVec::new();
                    definitions(symbols, fact.linear(), &mut defining);
                    for definition in defining.into_iter().take(8) {
                        let definition = Fact::AtLeastZero(Rc::clone(definition));
                        if self.facts.len() < MOST_FACTS / 2 && !self.facts.contains(&definition) {
                            self.facts.push(definition);
                        }
                    }
                }
            }
        }
        if !self.narrow(symbols) {
            return false;
        }
        // What is settled says nothing more, and what is too much has narrowed ranges.
        let Self { facts, ranges, .. } = self;
        let is_fixed = |symbol: Symbol| match ranges.iter().find(|range| range.0 == symbol) {
            Some(&(_, least, most)) => least == most,
            None => false,
        };
        facts.retain(|fact| fact.linear().terms.iter().any(|&(symbol, _)| !is_fixed(symbol)));
        self.is_cut |= facts.len() > MOST_FACTS;
        facts.truncate(MOST_FACTS);
        true
    }

    /// What holds on both of two paths.
    pub(super) fn common(&self, other: &Self) -> Self {
        let facts = self.facts.iter().filter(|fact| other.facts.contains(fact)).cloned().collect();
        let ranges = self.ranges.iter().filter_map(|&(symbol, least, most)| {
            let &(_, low, high) = other.ranges.iter().find(|range| range.0 == symbol)?;
            Some((symbol, least.min(low), most.max(high)))
        });
        Self { facts, ranges: ranges.collect(), is_cut: self.is_cut || other.is_cut }
    }

    /// Narrows ranges by the facts; false if nothing is left of one.
    fn narrow(&mut self, symbols: &Symbols) -> bool {
        for _ in 0..3 {
            symbols.work().add(2 + self.facts.len() as u64);
            let mut changed = false;
            for place in 0..self.facts.len() {
                let fact = self.facts[place].clone();
                match fact {
                    Fact::AtLeastZero(linear) => {
                        let most = self.range(symbols, &linear).1;
                        if most < 0 {
                            return false;
                        }
                        for &(symbol, coefficient) in &linear.terms {
                            let (least, greatest) = self.range_of(symbols, symbol);
                            let magnitude = i128::from(coefficient.unsigned_abs());
                            // How far the symbol can go from its best end before the sum is less than zero.
                            let slack = most / magnitude;
                            let width = i128::from(greatest) - i128::from(least);
                            if slack >= width {
                                continue;
                            }
                            changed = true;
                            if coefficient > 0 {
                                self.set_range(symbol, (i128::from(greatest) - slack) as i64, greatest);
                            } else {
                                self.set_range(symbol, least, (i128::from(least) + slack) as i64);
                            }
                        }
                    }
                    Fact::NotZero(linear) => {
                        if self.range(symbols, &linear) == (0, 0) {
                            return false;
                        }
                        if let [(symbol, coefficient)] = linear.terms[..]
                            && linear.constant.checked_rem(coefficient) == Some(0)
                            && let Some(value) = linear.constant.checked_div(coefficient).and_then(i64::checked_neg)
                        {
                            let (least, most) = self.range_of(symbols, symbol);
                            if value == least && least < most {
                                self.set_range(symbol, least + 1, most);
                                changed = true;
                            } else if value == most && least < most {
                                self.set_range(symbol, least, most - 1);
                                changed = true;
                            }
                        }
                    }
                }
            }
            if !changed {
                break;
            }
        }
        true
    }

    fn set_range(&mut self, symbol: Symbol, least: i64, most: i64) {
        match self.ranges.iter_mut().find(|range| range.0 == symbol) {
            Some(range) => *range = (symbol, least, most),
            None => self.ranges.push((symbol, least, most)),
        }
    }
}

/// Adds the facts of the symbols of an expression.
pub(super) fn definitions<'a>(symbols: &'a Symbols, linear: &Linear, facts: &mut SmallVec<[&'a Rc<Linear>; 16]>) {
    for &(symbol, _) in &linear.terms {
        for fact in &symbols[symbol].facts {
            if !facts.iter().any(|known| Rc::ptr_eq(known, fact)) {
                facts.push(fact);
            }
        }
    }
}

pub(super) fn gcd(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one.max(1)
}
