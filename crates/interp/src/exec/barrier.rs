//! Barriers of a block.
//!
//! Threads arrive one by one. With a count, lanes of a warp that have exited or never existed arrive together with the
//! first lane of that warp, as the hardware counts warps; without one, everybody who has not exited is waited for.

use crate::code::{BarrierKind, Reduction};

/// One of the sixteen barriers of a block.
#[derive(Clone, Debug)]
pub(crate) struct BarrierState {
    /// Lanes of each warp that have arrived.
    arrived: Vec<u32>,
    count: Option<u32>,
    waiting: Vec<u32>,
    all: bool,
    any: bool,
    ones: u32,
}

/// What a thread learns when a barrier opens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Opened {
    all: bool,
    any: bool,
    ones: u32,
}

impl Opened {
    pub(crate) fn result(self, reduction: Reduction) -> u128 {
        match reduction {
            Reduction::Popc => self.ones.into(),
            Reduction::And => self.all.into(),
            Reduction::Or => self.any.into(),
        }
    }
}

impl BarrierState {
    pub(crate) fn new(warps: usize) -> Self {
        Self { arrived: vec![0; warps], count: None, waiting: Vec::new(), all: true, any: false, ones: 0 }
    }

    /// A thread comes to the barrier, with a predicate for reductions.
    pub(crate) fn arrive(&mut self, thread: u32, count: Option<u32>, kind: BarrierKind, predicate: bool) {
        self.arrived[thread as usize / 32] |= 1 << (thread % 32);
        self.count = count.or(self.count);
        if let BarrierKind::Reduce(_) = kind {
            self.all &= predicate;
            self.any |= predicate;
            self.ones += u32::from(predicate);
        }
        if kind != BarrierKind::Arrive {
            self.waiting.push(thread);
        }
    }

    /// The threads that may go on, if everybody has come. `live` has the lanes of each warp that have not exited.
    pub(crate) fn open(&mut self, live: &[u32]) -> Option<(Vec<u32>, Opened)> {
        let lanes = self.arrived.iter().zip(live);
        let is_open = match self.count {
            // A warp in which nobody has come does not count.
            Some(count) => {
                let here = |(&arrived, &live): (&u32, &u32)| match arrived {
                    0 => 0,
                    _ => (arrived | !live).count_ones(),
                };
                lanes.map(here).sum::<u32>() >= count
            }
            None => {
                !self.waiting.is_empty() && lanes.map(|(&arrived, &live)| live & !arrived).all(|missing| missing == 0)
            }
        };
        if !is_open {
            return None;
        }
        let opened = Opened { all: self.all, any: self.any, ones: self.ones };
        let waiting = std::mem::take(&mut self.waiting);
        *self = Self::new(self.arrived.len());
        Some((waiting, opened))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exited_lanes_are_not_waited_for() {
        let mut barrier = BarrierState::new(1);
        barrier.arrive(0, None, BarrierKind::Sync, false);
        assert_eq!(barrier.open(&[0b11]), None);
        assert!(barrier.open(&[0b01]).is_some());
        assert_eq!(barrier.open(&[0b01]), None);
    }

    #[test]
    fn exited_lanes_count_with_their_warp() {
        let mut barrier = BarrierState::new(2);
        barrier.arrive(0, Some(64), BarrierKind::Arrive, false);
        assert_eq!(barrier.open(&[1, u32::MAX]), None);
        for thread in 32..64 {
            barrier.arrive(thread, Some(64), BarrierKind::Sync, false);
        }
        let (waiting, _) = barrier.open(&[1, u32::MAX]).unwrap();
        assert_eq!(waiting.len(), 32);
    }

    #[test]
    fn predicates_are_combined() {
        let mut barrier = BarrierState::new(1);
        barrier.arrive(0, None, BarrierKind::Reduce(Reduction::Popc), true);
        barrier.arrive(1, None, BarrierKind::Reduce(Reduction::Popc), false);
        let (_, opened) = barrier.open(&[0b11]).unwrap();
        assert_eq!(opened.result(Reduction::Popc), 1);
        assert_eq!(opened.result(Reduction::And), 0);
        assert_eq!(opened.result(Reduction::Or), 1);
    }
}
