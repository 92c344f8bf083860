//! How much work an answer takes, counted so that it does not depend on the machine.

use std::cell::Cell;

/// Units of work, less than a tenth of a microsecond each.
#[derive(Clone, Debug, Default)]
pub(super) struct Work(Cell<u64>);

/// What an answer may take.
pub(super) const MOST_WORK: u64 = 44_000;

impl Work {
    pub(super) fn done(&self) -> u64 {
        self.0.get()
    }

    pub(super) fn add(&self, units: u64) {
        self.0.set(self.0.get() + units);
    }

    /// Whether it is used up.
    pub(super) fn is_over(&self) -> bool {
        self.0.get() > MOST_WORK
    }
}
