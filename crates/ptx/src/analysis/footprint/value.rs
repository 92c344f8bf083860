//! What a register holds: a number, a pointer into an object, a predicate, or nobody knows.

#![allow(unreachable_pub, reason = "ids are made by a macro, which makes them public")]

use std::rc::Rc;

use smallvec::SmallVec;

use super::linear::{Linear, Symbols};
use super::path::{Fact, Path};
use crate::entity::define_id;

define_id! {
    /// Memory that a kernel may access: a variable, its parameters, or what a parameter points into.
    ObjectId "object"
}

/// The value of a register.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// An integer. The register holds it modulo two to the power of its width; it is in the range of the signed or of
    /// the unsigned integers of that width.
    Number(Rc<Linear>),
    /// An address: of an object, and how far from its beginning.
    Pointer(ObjectId, Rc<Linear>),
    /// A predicate.
    Predicate(Rc<Predicate>),
    /// Anything.
    Unknown,
}

impl Value {
    pub(super) fn constant(constant: i64) -> Self {
        Self::Number(Rc::new(Linear::constant(constant)))
    }

    pub(super) fn number(linear: Linear) -> Self {
        Self::Number(Rc::new(linear))
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one == other,
            (Self::Pointer(object, one), Self::Pointer(also, other)) => object == also && one == other,
            (Self::Predicate(one), Self::Predicate(other)) => Rc::ptr_eq(one, other),
            _ => false,
        }
    }
}

/// What follows if a predicate holds, and if it does not.
#[derive(Clone, Debug, Default)]
pub(super) struct Predicate {
    pub when_true: SmallVec<[Fact; 2]>,
    pub when_false: SmallVec<[Fact; 2]>,
    /// Whether it holds wherever `when_true` does, and fails wherever `when_false` does.
    pub is_exact: [bool; 2],
    /// Whether all threads of a block have the same.
    pub is_uniform: bool,
}

impl Predicate {
    pub(super) fn known(value: bool) -> Self {
        let never: SmallVec<[Fact; 2]> = SmallVec::from_iter([Fact::AtLeastZero(Rc::new(Linear::constant(-1)))]);
        let (when_true, when_false) = if value { (SmallVec::new(), never) } else { (never, SmallVec::new()) };
        Self { when_true, when_false, is_exact: [true; 2], is_uniform: true }
    }

    pub(super) fn negated(&self) -> Self {
        let [holds, fails] = self.is_exact;
        Self {
            when_true: self.when_false.clone(),
            when_false: self.when_true.clone(),
            is_exact: [fails, holds],
            is_uniform: self.is_uniform,
        }
    }

    pub(super) fn and(&self, other: &Self, path: &Path, symbols: &Symbols) -> Self {
        match (self.decide(path, symbols), other.decide(path, symbols)) {
            (Some(false), _) | (_, Some(false)) => Self::known(false),
            (Some(true), _) => other.clone(),
            (_, Some(true)) => self.clone(),
            (None, None) => {
                let when_true = self.when_true.iter().chain(&other.when_true).cloned().collect();
                let is_uniform = self.is_uniform && other.is_uniform;
                let is_exact = [self.is_exact[0] && other.is_exact[0], false];
                Self { when_true, when_false: SmallVec::new(), is_exact, is_uniform }
            }
        }
    }

    /// Whether it holds for all threads that come here, or for none.
    pub(super) fn decide(&self, path: &Path, symbols: &Symbols) -> Option<bool> {
        let cannot_hold = |fact: &Fact| match fact {
            Fact::AtLeastZero(linear) => {
                path.range(symbols, linear).1 < 0 || !linear.terms.is_empty() && path.upper(symbols, linear) < 0
            }
            Fact::NotZero(linear) => path.range(symbols, linear) == (0, 0),
        };
        if self.when_true.iter().any(cannot_hold) {
            Some(false)
        } else if self.when_false.iter().any(cannot_hold) {
            Some(true)
        } else {
            None
        }
    }
}
