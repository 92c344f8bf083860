//! The steps of a launch: it runs, and if that was not as in the serial order, memory is restored and it runs again.

use std::sync::Arc;

use rewrite::Refusal;
use toolkit::{Outcome, Plan, RunStep, Step};

use super::ledger::{Entry, Ledger};
use super::unit::Unit;
use super::{CONFLICTS, LOCKSTEP, LOST, TOOL};

/// A launch that runs one thread after another, at once.
#[derive(Debug)]
pub(super) struct SerialPlan {
    unit: Unit,
    has_run: bool,
}

impl SerialPlan {
    pub(super) fn new(unit: Unit) -> Self {
        Self { unit, has_run: false }
    }
}

impl Plan for SerialPlan {
    fn next(&mut self, _: &Outcome) -> Step {
        if std::mem::replace(&mut self.has_run, true) { Step::Done } else { self.unit.serial_run() }
    }
}

/// A launch that is checked.
#[derive(Debug)]
pub(super) struct CheckedPlan {
    pub(super) ledger: Arc<Ledger>,
    pub(super) entry: Entry,
    pub(super) version: usize,
    /// Whether memory is restored where threads conflict.
    pub(super) repairs: bool,
    pub(super) unit: Unit,
    /// Whether a launch that is not repaired counts as one that was.
    pub(super) allows_unrepaired: bool,
    pub(super) progress: Progress,
}

/// What was done last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    Begins,
    Saved,
    Ran,
    Restored,
    RanAgain,
}

impl CheckedPlan {
    fn run(&mut self) -> Step {
        self.ledger.counts.reset();
        self.progress = Progress::Ran;
        Step::Run(RunStep::version(self.version))
    }

    /// What is done after the launch has run in parallel.
    fn after_run(&mut self, last: &Outcome) -> Step {
        let [conflicts, lockstep, lost] = [CONFLICTS, LOCKSTEP, LOST].map(|place| self.ledger.counts.get(place));
        let has_faulted = *last == Outcome::Faulted;
        let relies_on_lockstep = lockstep > 0 && self.unit == Unit::Auto && !has_faulted;
        let is_serial = conflicts == 0 && lost == 0 && !has_faulted;
        let again = self.repairs && !is_serial && !relies_on_lockstep;
        self.ledger.add(&self.entry, again, conflicts);
        if again {
            self.progress = Progress::Restored;
            return Step::Restore;
        }
        if self.allows_unrepaired {
            return Step::Done;
        }
        if relies_on_lockstep && self.repairs {
            return Step::Refuse(Refusal::new(TOOL, "relies-on-warp-synchrony", RELIES_ON_LOCKSTEP));
        }
        if lost > 0 {
            return Step::Refuse(Refusal::new(
                TOOL,
                "too-many-barriers",
                "its threads had more turns than are told apart",
            ));
        }
        Step::Done
    }
}

const RELIES_ON_LOCKSTEP: &str = "lanes of a warp read what later lanes have written, without __syncwarp between: that works \
     in lockstep only, and not one thread after another; put __syncwarp there, or choose --unit warp or --unit thread";

impl Plan for CheckedPlan {
    fn next(&mut self, last: &Outcome) -> Step {
        match self.progress {
            Progress::Begins if self.repairs => {
                self.progress = Progress::Saved;
                Step::Save
            }
            Progress::Begins | Progress::Saved => self.run(),
            Progress::Ran => self.after_run(last),
            Progress::Restored => {
                self.progress = Progress::RanAgain;
                self.unit.serial_run()
            }
            Progress::RanAgain => Step::Done,
        }
    }

    /// Threads that conflict may compute addresses that none has in the serial order.
    fn survives_faults(&self) -> bool {
        self.repairs && self.progress == Progress::Ran
    }
}
