//! Symbols and linear expressions over them: how values of registers are written down.
//!
//! A symbol stands for an integer that differs from thread to thread, or that nobody knows: a digit of a thread or
//! block index, how often a loop has gone around, what a load returned. Everything else is a sum of multiples of
//! symbols.

#![allow(unreachable_pub, reason = "ids are made by a macro, which makes them public")]

use std::rc::Rc;

use smallvec::SmallVec;

use super::work::Work;
use crate::entity::{Map, define_id};

define_id! {
    /// An integer of a thread.
    Symbol "s"
}

/// A sum of multiples of symbols, and a constant. It stands for an integer, not for one modulo a power of two.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Linear {
    /// Ascending by symbol, no coefficient is zero.
    pub terms: SmallVec<[(Symbol, i64); 4]>,
    pub constant: i64,
}

/// The least and the greatest value. Wide enough for sums of products of 64-bit numbers.
pub(super) type Range = (i128, i128);

/// Sums of so many products of coefficients and 64-bit numbers fit 128 bits.
const MOST_TERMS: usize = 32;
const MOST_COEFFICIENT: u64 = 1 << 56;

impl Linear {
    pub(super) fn constant(constant: i64) -> Self {
        Self { terms: SmallVec::new(), constant }
    }

    pub(super) fn symbol(symbol: Symbol) -> Self {
        Self { terms: SmallVec::from_slice(&[(symbol, 1)]), constant: 0 }
    }

    pub(super) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    pub(super) fn coefficient(&self, symbol: Symbol) -> i64 {
        match self.terms.binary_search_by_key(&symbol, |term| term.0) {
            Ok(place) => self.terms[place].1,
            Err(_) => 0,
        }
    }

    /// `self + factor × other`; nothing if that is too large to write down.
    pub(super) fn plus(&self, other: &Self, factor: i64) -> Option<Self> {
        let constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        let mut terms = SmallVec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let (symbol, coefficient) = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(&&(symbol, coefficient)), other) if other.is_none_or(|other| symbol < other.0) => {
                    left.next();
                    (symbol, coefficient)
                }
                (Some(&&(symbol, coefficient)), Some(&&(also, more))) if symbol == also => {
                    left.next();
                    right.next();
                    (symbol, coefficient.checked_add(more.checked_mul(factor)?)?)
                }
                (_, Some(&&(symbol, coefficient))) => {
                    right.next();
                    (symbol, coefficient.checked_mul(factor)?)
                }
                (Some(_), None) => unreachable!("the first arm takes what is left"),
            };
            if coefficient.unsigned_abs() > MOST_COEFFICIENT {
                return None;
            }
            if coefficient != 0 {
                terms.push((symbol, coefficient));
            }
        }
        (terms.len() <= MOST_TERMS).then_some(Self { terms, constant })
    }

    pub(super) fn times(&self, factor: i64) -> Option<Self> {
        Self::constant(0).plus(self, factor)
    }

    pub(super) fn plus_constant(&self, constant: i64) -> Option<Self> {
        Some(Self { terms: self.terms.clone(), constant: self.constant.checked_add(constant)? })
    }

    /// `-1 - self`: at least zero exactly where `self` is less.
    pub(super) fn negated_at_least_zero(&self) -> Option<Self> {
        Self::constant(-1).plus(self, -1)
    }

    /// The range, where `range_of` has those of symbols.
    pub(super) fn range(&self, mut range_of: impl FnMut(Symbol) -> (i64, i64)) -> Range {
        let mut range = (i128::from(self.constant), i128::from(self.constant));
        for &(symbol, coefficient) in &self.terms {
            let (least, most) = range_of(symbol);
            let (one, other) =
                (i128::from(coefficient) * i128::from(least), i128::from(coefficient) * i128::from(most));
            range.0 += one.min(other);
            range.1 += one.max(other);
        }
        range
    }
}

/// What a symbol stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SymbolKind {
    /// A digit of a thread index: threads of a block differ in one of them.
    Thread(Digit),
    /// A digit of a block index.
    Block(Digit),
    /// Something else, of one thread.
    Other,
}

/// A digit of an index, which is the sum of its digits times their weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Digit {
    /// x, y or z.
    pub dimension: u8,
    pub weight: u32,
}

/// What is known of a symbol.
#[derive(Clone, Debug)]
pub(super) struct SymbolInfo {
    pub kind: SymbolKind,
    pub least: i64,
    pub most: i64,
    /// Whether all threads of a block that come to where it is made have the same.
    pub is_uniform: bool,
    /// What is at least zero, for every thread that has the symbol. Names only this and earlier symbols.
    pub facts: SmallVec<[Rc<Linear>; 2]>,
}

/// All symbols of an execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Symbols {
    infos: Map<Symbol, SymbolInfo>,
    work: Work,
}

impl Symbols {
    /// The work of all who ask about symbols.
    pub(super) fn work(&self) -> &Work {
        &self.work
    }

    pub(super) fn push(&mut self, kind: SymbolKind, (least, most): (i64, i64), is_uniform: bool) -> Symbol {
        self.infos.push(SymbolInfo { kind, least, most, is_uniform, facts: SmallVec::new() })
    }

    /// The symbol that the next `push` makes.
    pub(super) fn next(&self) -> Symbol {
        self.infos.next_id()
    }

    pub(super) fn add_fact(&mut self, symbol: Symbol, fact: Linear) {
        self.infos[symbol].facts.push(Rc::new(fact));
    }

    pub(super) fn bounds(&self, symbol: Symbol) -> (i64, i64) {
        (self.infos[symbol].least, self.infos[symbol].most)
    }

    pub(super) fn is_uniform(&self, linear: &Linear) -> bool {
        linear.terms.iter().all(|&(symbol, _)| self.infos[symbol].is_uniform)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = Symbol> + use<> {
        self.infos.ids()
    }
}

impl std::ops::Index<Symbol> for Symbols {
    type Output = SymbolInfo;
    fn index(&self, symbol: Symbol) -> &SymbolInfo {
        &self.infos[symbol]
    }
}
