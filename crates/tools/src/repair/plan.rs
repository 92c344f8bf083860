//! The steps of a launch: it runs, and if that was not as in the serial order, memory is restored and it runs again.

use std::sync::Arc;

use rewrite::Refusal;
use toolkit::{Outcome, Plan, RunStep, Step};

use super::ledger::{Entry, Ledger};
use super::memory::LaunchMemory;
use super::unit::Unit;
use super::{CONFLICTS, LOST, MOST_CONFLICTS, ORIGINAL, TOOL};

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
    pub(super) memory: LaunchMemory,
}

/// What was done last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    Begins,
    Saved,
    Ran,
    Restored,
    RanAgain,
    /// Restored, to run as the program has it.
    RestoredToLeave,
    Left,
}

impl CheckedPlan {
    fn run(&mut self) -> Step {
        self.ledger.counts.reset();
        self.progress = Progress::Ran;
        Step::Run(RunStep::version(self.version))
    }

    /// What is done after the launch has run in parallel.
    fn after_run(&mut self, last: &Outcome) -> Step {
        let [conflicts, lost] = [CONFLICTS, LOST].map(|place| self.ledger.counts.get(place));
        let has_faulted = *last == Outcome::Faulted;
        // The run may have been ended because there were enough conflicts.
        let is_stopped = has_faulted && conflicts >= MOST_CONFLICTS;
        let tells_of_lockstep = self.ledger.counts.tell_of_lockstep() && self.unit == Unit::Auto;
        let relies_on_lockstep = tells_of_lockstep && (!has_faulted || is_stopped);
        let is_serial = conflicts == 0 && lost == 0 && !has_faulted;
        let again = self.repairs && !is_serial && !relies_on_lockstep;
        self.ledger.add(&self.entry, again, conflicts, self.memory);
        if again {
            self.progress = Progress::Restored;
            return Step::Restore;
        }
        if is_stopped {
            self.progress = Progress::RestoredToLeave;
            return Step::Restore;
        }
        if relies_on_lockstep && self.repairs {
            return self.leave();
        }
        if lost > 0 && !self.allows_unrepaired {
            return Step::Refuse(Refusal::new(
                TOOL,
                "too-many-barriers",
                "its threads had more turns than are told apart",
            ));
        }
        Step::Done
    }
}

impl CheckedPlan {
    /// The launch is over, and relies on lockstep.
    fn leave(&self) -> Step {
        match self.allows_unrepaired {
            true => Step::Done,
            false => Step::Refuse(Refusal::new(TOOL, "relies-on-warp-synchrony", RELIES_ON_LOCKSTEP)),
        }
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
            Progress::RestoredToLeave => {
                self.progress = Progress::Left;
                Step::Run(RunStep::version(ORIGINAL))
            }
            Progress::Left => self.leave(),
        }
    }

    /// Threads that conflict may compute addresses that none has in the serial order.
    fn survives_faults(&self) -> bool {
        self.repairs && self.progress == Progress::Ran
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(unit: Unit, repairs: bool) -> CheckedPlan {
        let entry = Entry { kernel: "k".to_owned(), how: "checked", why: String::new() };
        let ledger = Arc::default();
        let (progress, memory) = (Progress::Begins, LaunchMemory::default());
        CheckedPlan { ledger, entry, version: 1, repairs, unit, allows_unrepaired: false, progress, memory }
    }

    /// The steps of a launch whose checked run has some counts and an outcome.
    fn steps(plan: CheckedPlan, counts: &[(u64, u64)], outcome: &Outcome) -> Vec<Step> {
        steps_with(plan, counts, &[], outcome)
    }

    /// The same, with lanes of one warp that read or write some addresses too late.
    fn steps_with(mut plan: CheckedPlan, counts: &[(u64, u64)], notes: &[(u64, bool)], outcome: &Outcome) -> Vec<Step> {
        let (mut steps, mut last) = (Vec::new(), Outcome::Begins);
        loop {
            let step = plan.next(&last);
            let is_check = matches!(&step, Step::Run(run) if run.version == Some(1));
            last = if is_check { outcome.clone() } else { Outcome::Done };
            if is_check {
                assert_eq!(plan.survives_faults(), plan.repairs);
                counts.iter().for_each(|&(place, count)| plan.ledger.counts.set(place, count));
                notes.iter().for_each(|&(address, is_write)| plan.ledger.counts.note(address, is_write));
            }
            let is_over = matches!(step, Step::Done | Step::Refuse(_));
            steps.push(step);
            if is_over {
                return steps;
            }
        }
    }

    fn check() -> Step {
        Step::Run(RunStep::version(1))
    }

    #[test]
    fn a_launch_without_conflicts_runs_once() {
        assert_eq!(steps(plan(Unit::Auto, true), &[], &Outcome::Done), [Step::Save, check(), Step::Done]);
        assert_eq!(steps(plan(Unit::Auto, false), &[(CONFLICTS, 9)], &Outcome::Recorded), [check(), Step::Done]);
    }

    #[test]
    fn a_launch_with_conflicts_or_a_fault_runs_again() {
        let again = [Step::Save, check(), Step::Restore, Step::Run(RunStep::serial()), Step::Done];
        assert_eq!(steps(plan(Unit::Auto, true), &[(CONFLICTS, 1)], &Outcome::Recorded), again);
        assert_eq!(steps(plan(Unit::Auto, true), &[(LOST, 1)], &Outcome::Done), again);
        assert_eq!(steps(plan(Unit::Auto, true), &[], &Outcome::Faulted), again);
        // Lanes that read too late, and fault: not what lockstep code does.
        let (counts, read) = ([(CONFLICTS, 2)], [(64, false), (68, false)]);
        assert_eq!(steps_with(plan(Unit::Auto, true), &counts, &read, &Outcome::Faulted), again);
        assert_eq!(steps_with(plan(Unit::Thread, true), &counts, &read, &Outcome::Recorded), again);
        // A place that lanes both read and write too late.
        let both = [(64, false), (66, true)];
        assert_eq!(steps_with(plan(Unit::Auto, true), &counts, &both, &Outcome::Recorded), again);
        let mut by_warps = again;
        by_warps[3] = Step::Run(RunStep::by_warps());
        assert_eq!(steps(plan(Unit::Warp, true), &[(CONFLICTS, 1)], &Outcome::Recorded), by_warps);
    }

    #[test]
    fn lockstep_is_left_as_it_is() {
        let code = |steps: &[Step]| match steps.last() {
            Some(Step::Refuse(refusal)) => refusal.code,
            _ => "",
        };
        let left = |conflicts, notes: &[(u64, bool)], outcome: &Outcome| {
            steps_with(plan(Unit::Auto, true), &[(CONFLICTS, conflicts)], notes, outcome)
        };
        let read = [(64, false)];
        // Other places may be written too late: what is read was meant to be.
        for notes in [&read[..], &[(64, false), (68, true)]] {
            let left = left(5, notes, &Outcome::Recorded);
            assert_eq!((&left[..2], code(&left)), (&[Step::Save, check()][..], "relies-on-warp-synchrony"));
        }
        // A run that was ended is repeated as the program has it.
        let left = left(MOST_CONFLICTS, &read, &Outcome::Faulted);
        let original = Step::Run(RunStep::version(ORIGINAL));
        assert_eq!(left[..4], [Step::Save, check(), Step::Restore, original]);
        assert_eq!((left.len(), code(&left)), (5, "relies-on-warp-synchrony"));
    }
}
