//! What a launch tells its armed threads, and what they tell: memory that both have.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use toolkit::{Host, SharedWords};

/// Where an arm has what, in words of 64 bits: how many places of its strata the thread has come to;
pub(super) const COUNT: usize = 0;
/// at which of them it is struck;
pub(super) const INDEX: usize = 1;
/// at which site these are, or at [any](ANY_SITE);
pub(super) const SITE: usize = 2;
/// the strata;
pub(super) const STRATA: usize = 3;
/// what happens;
pub(super) const OPERATION: usize = 4;
/// a number that the bit, or the value, is made of;
pub(super) const RANDOM: usize = 5;
/// whether it has happened;
pub(super) const FIRED: usize = 6;
/// where the sites of the places are written down;
pub(super) const TRACE: usize = 7;
/// of how many;
pub(super) const TRACED: usize = 8;
/// the register with a fault.
pub(super) const REGISTER: usize = 9;
const WORDS: usize = 16;
/// Bytes of an arm.
pub(super) const BYTES: u64 = 8 * WORDS as u64;

/// Places at any site count.
pub(super) const ANY_SITE: u64 = u64::MAX;
/// No register.
pub(super) const NO_REGISTER: u64 = u64::MAX;
/// As many threads as a warp has can be armed.
pub(super) const MOST_ARMED: usize = 32;

/// The arms of a launch, which is over before they are used again.
#[derive(Debug)]
pub(super) struct Arms {
    words: Arc<dyn SharedWords>,
    trace: Option<Arc<dyn SharedWords>>,
}

/// What is set of an arm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Arm {
    pub(super) index: u64,
    pub(super) site: u64,
    pub(super) strata: u32,
    pub(super) operation: u64,
    pub(super) random: u64,
    /// How many sites are written down.
    pub(super) traced: u64,
    /// The register with a fault, from the index on.
    pub(super) register: Option<u32>,
}

/// More places of a thread are not written down.
pub(super) const MOST_TRACED: u64 = 1 << 24;

impl Arms {
    /// For as many threads as are armed with this.
    pub(super) fn new(host: &dyn Host, arm: &Arm) -> io::Result<Self> {
        let words = host.words(WORDS * MOST_ARMED)?;
        let trace = match arm.traced {
            0 => None,
            sites => Some(host.words(sites.div_ceil(2) as usize)?),
        };
        for of_thread in words.words().chunks(WORDS) {
            for (word, value) in [
                (INDEX, arm.index),
                (SITE, arm.site),
                (STRATA, arm.strata.into()),
                (OPERATION, arm.operation),
                (RANDOM, arm.random),
                (TRACE, trace.as_ref().map_or(0, |trace| trace.address())),
                (TRACED, arm.traced),
                (REGISTER, arm.register.map_or(NO_REGISTER, u64::from)),
            ] {
                of_thread[word].store(value, Ordering::Relaxed);
            }
        }
        Ok(Self { words, trace })
    }

    /// Where they are.
    pub(super) fn address(&self) -> u64 {
        self.words.address()
    }

    /// In how many threads something has happened.
    pub(super) fn fired(&self) -> usize {
        self.words.words().chunks(WORDS).filter(|of_thread| of_thread[FIRED].load(Ordering::Relaxed) != 0).count()
    }

    /// The sites that the first armed thread came to, as far as they were written down.
    pub(super) fn sites(&self) -> Vec<u32> {
        let word = |at: usize| self.words.words()[at].load(Ordering::Relaxed) as usize;
        let all = self.trace.iter().flat_map(|trace| trace.words()).flat_map(|pair| {
            let pair = pair.load(Ordering::Relaxed);
            [pair as u32, (pair >> 32) as u32]
        });
        all.take(word(COUNT).min(word(TRACED))).collect()
    }
}

impl Arm {
    /// Struck once, at a place of some strata.
    pub(super) fn at(index: u64, strata: u32, operation: u64, random: u64) -> Self {
        Self { index, site: ANY_SITE, strata, operation, random, traced: 0, register: None }
    }
}
