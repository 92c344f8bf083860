//! Launches whose blocks run again where copies differ.
//!
//! What differs never reaches memory. So a block of a launch that reads nothing it writes, and does nothing that counts, can run
//! again as it is; of other launches, what they may write is saved before, and all of it runs again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use report::{Finding, Note, Place, Severity};
use rewrite::context::{RECORDS_PER_SITE, Record};
use rustc_hash::FxHashMap;
use toolkit::{Evidence, Failure, Host, HostStack, Outcome, Plan, RunStep, Step};

use super::TOOL;
use super::findings;

/// How often something runs again.
const MOST_ATTEMPTS: u32 = 3;
/// With more records than this, some may have found no room.
const MOST_RECORDS: u64 = 1000;

/// What is known of copies that differed.
#[derive(Debug, Default)]
pub(super) struct Mismatches {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What the last run found. While a launch has a plan, no other one runs.
    last: Found,
    /// What is to be told of each place, by the kernel, the site and what differed: records say it once.
    findings: FxHashMap<(String, u32, u32), Finding>,
    /// How many records a site has written, of which there is a limit.
    records: FxHashMap<(String, u32), u64>,
}

/// What a run found.
#[derive(Debug, Default)]
struct Found {
    blocks: BTreeSet<[u32; 3]>,
    places: BTreeSet<(u32, u32)>,
    /// How many records there are of each site.
    records: BTreeMap<u32, u64>,
}

impl Mismatches {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what is to be told of a record, if it has to be.
    pub(super) fn keep(&self, record: &Record, evidence: &Evidence<'_>) {
        let key = (evidence.place.kernel.clone(), record.site, record.what);
        self.lock().findings.insert(key, findings::of_twins(record, evidence));
    }

    /// A record of the run that has just ended.
    pub(super) fn add(&self, record: &Record) {
        let last = &mut self.lock().last;
        last.blocks.insert(record.block);
        last.places.insert((record.site, record.what));
        *last.records.entry(record.site).or_default() += 1;
    }

    /// What the last run of a kernel found: what is to be told, and the blocks; nothing of these if some may be missing.
    fn take(&self, kernel: &str) -> (Vec<Finding>, Option<BTreeSet<[u32; 3]>>) {
        let mut state = self.lock();
        let Found { blocks, places, records } = std::mem::take(&mut state.last);
        for (site, count) in &records {
            *state.records.entry((kernel.to_owned(), *site)).or_default() += count;
        }
        let is_full = state.records.iter().any(|((of, _), records)| of == kernel && *records >= RECORDS_PER_SITE);
        let is_complete = !is_full && records.values().sum::<u64>() < MOST_RECORDS && !blocks.is_empty();
        let findings =
            places.iter().filter_map(|(site, what)| state.findings.get(&(kernel.to_owned(), *site, *what)).cloned());
        (findings.collect(), is_complete.then_some(blocks))
    }
}

/// A launch that runs again where copies differ.
#[derive(Debug)]
pub(super) struct RecoverPlan {
    pub(super) host: Arc<dyn Host>,
    pub(super) mismatches: Arc<Mismatches>,
    pub(super) kernel: String,
    pub(super) stack: HostStack,
    pub(super) version: usize,
    pub(super) grid: [u32; 3],
    /// Whether blocks cannot run again without what they may write being as it was.
    pub(super) needs_snapshot: bool,
    /// Whether the device runs single blocks of a grid: a GPU does not.
    pub(super) runs_single_blocks: bool,
    pub(super) stops_on_error: bool,
    pub(super) progress: Progress,
    pub(super) attempts: u32,
    /// What was found until now.
    pub(super) found: Vec<Finding>,
}

/// How far a launch is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    Begins,
    IsSaved,
    HasRun,
}

impl Plan for RecoverPlan {
    fn next(&mut self, last: &Outcome) -> Step {
        match self.progress {
            Progress::Begins if self.needs_snapshot => {
                self.progress = Progress::IsSaved;
                Step::Save
            }
            Progress::Begins | Progress::IsSaved => self.run(None),
            Progress::HasRun if *last == Outcome::Recorded => self.again(),
            Progress::HasRun => {
                if self.attempts > 0 {
                    self.host.found(self.recovered());
                }
                Step::Done
            }
        }
    }
}

impl RecoverPlan {
    fn run(&mut self, blocks: Option<Vec<u64>>) -> Step {
        // What an earlier run has left that ended with a fault is not of this one.
        self.mismatches.lock().last = Found::default();
        self.progress = Progress::HasRun;
        Step::Run(RunStep { blocks, ..RunStep::version(self.version) })
    }

    /// Copies differ in what has run.
    fn again(&mut self) -> Step {
        let (findings, blocks) = self.mismatches.take(&self.kernel);
        if self.attempts == MOST_ATTEMPTS {
            for mut finding in findings {
                let message = format!("what ran again differed {MOST_ATTEMPTS} times");
                finding.notes.push(Note { message, stack: None });
                self.host.found(finding);
            }
            return if self.stops_on_error { Step::Fail(Failure::Uncorrectable) } else { Step::Done };
        }
        self.attempts += 1;
        self.found.extend(findings);
        if self.needs_snapshot {
            self.progress = Progress::IsSaved;
            return Step::Restore;
        }
        let [width, height, _] = self.grid.map(u64::from);
        let number = |[x, y, z]: [u32; 3]| u64::from(x) + width * (u64::from(y) + height * u64::from(z));
        let blocks = blocks.filter(|_| self.runs_single_blocks);
        self.run(blocks.map(|blocks| blocks.into_iter().map(number).collect()))
    }

    /// What is told of a launch that came to its end all the same.
    fn recovered(&self) -> Finding {
        let times = if self.attempts == 1 { "once".to_owned() } else { format!("{} times", self.attempts) };
        let is_whole = self.needs_snapshot || !self.runs_single_blocks;
        let what = if is_whole { "the launch" } else { "their blocks" };
        let mut notes: Vec<Note> = self.found.iter().take(1).flat_map(|finding| finding.notes.clone()).collect();
        notes.push(Note { message: format!("copies agreed after {what} had run again {times}"), stack: None });
        let first = self.found.first();
        Finding {
            place: first.and_then(|first| first.place.clone()).or_else(|| Some(Place::of_kernel(&self.kernel))),
            first: first.and_then(|first| first.first.clone()),
            notes,
            stack: Some(self.stack.frames()),
            ..Finding::new(TOOL, "recovered", Severity::Warning, "copies of a thread differed, and were recovered")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::listener::Listener;
    use super::*;

    fn record(site: u32, block: [u32; 3]) -> Record {
        Record { block, thread: [0; 3], site, what: findings::GUARD, address: 0, other: 0 }
    }

    fn plan(needs_snapshot: bool) -> (Arc<Listener>, Arc<Mismatches>, RecoverPlan) {
        let (host, mismatches) = (Arc::<Listener>::default(), Arc::<Mismatches>::default());
        let plan = RecoverPlan {
            host: host.clone(),
            mismatches: mismatches.clone(),
            kernel: "k".to_owned(),
            stack: HostStack::default(),
            version: 2,
            grid: [4, 3, 2],
            needs_snapshot,
            runs_single_blocks: true,
            stops_on_error: true,
            progress: Progress::Begins,
            attempts: 0,
            found: Vec::new(),
        };
        (host, mismatches, plan)
    }

    fn run(blocks: Option<Vec<u64>>) -> Step {
        Step::Run(RunStep { blocks, ..RunStep::version(2) })
    }

    /// Only blocks run again in which something was found, by their numbers.
    #[test]
    fn blocks_that_differ_run_again() {
        let (host, mismatches, mut plan) = plan(false);
        assert_eq!(plan.next(&Outcome::Begins), run(None));
        for (site, block) in [(0, [3, 2, 1]), (1, [1, 0, 0]), (1, [3, 2, 1])] {
            mismatches.add(&record(site, block));
        }
        assert_eq!(plan.next(&Outcome::Recorded), run(Some(vec![1, 3 + 4 * (2 + 3)])));
        assert_eq!(plan.next(&Outcome::Done), Step::Done);
        let codes: Vec<String> = host.found.lock().unwrap().iter().map(|finding| finding.code.clone()).collect();
        assert_eq!(codes, ["recovered"]);
    }

    /// A GPU has no single blocks of a grid, so all run again.
    #[test]
    fn all_blocks_run_again_on_a_gpu() {
        let (host, mismatches, plan) = plan(false);
        let mut plan = RecoverPlan { runs_single_blocks: false, ..plan };
        plan.next(&Outcome::Begins);
        mismatches.add(&record(0, [3, 2, 1]));
        assert_eq!(plan.next(&Outcome::Recorded), run(None));
        assert_eq!(plan.next(&Outcome::Done), Step::Done);
        let found = host.found.lock().unwrap();
        assert!(found[0].notes.iter().any(|note| note.message.contains("the launch had run again once")));
    }

    /// Where a site has written all records that it may, more blocks may differ than are known.
    #[test]
    fn all_blocks_run_again_if_some_may_not_be_known() {
        let (_, mismatches, mut plan) = plan(false);
        mismatches.add(&record(5, [9, 9, 9]));
        plan.next(&Outcome::Begins);
        for x in 0..RECORDS_PER_SITE {
            mismatches.add(&record(5, [x as u32 % 4, 0, 0]));
        }
        assert_eq!(plan.next(&Outcome::Recorded), run(None));
        // It writes no more, and something has differed.
        assert_eq!(plan.next(&Outcome::Recorded), run(None));
    }

    #[test]
    fn what_cannot_run_twice_is_restored_and_given_up_after_three_attempts() {
        let (_, mismatches, mut plan) = plan(true);
        assert_eq!(plan.next(&Outcome::Begins), Step::Save);
        assert_eq!(plan.next(&Outcome::Done), run(None));
        for _ in 0..MOST_ATTEMPTS {
            mismatches.add(&record(0, [0; 3]));
            assert_eq!(plan.next(&Outcome::Recorded), Step::Restore);
            assert_eq!(plan.next(&Outcome::Done), run(None));
        }
        mismatches.add(&record(0, [0; 3]));
        assert_eq!(plan.next(&Outcome::Recorded), Step::Fail(Failure::Uncorrectable));
    }

    #[test]
    fn a_launch_without_differences_is_over_at_once() {
        let (host, _, mut plan) = plan(false);
        plan.next(&Outcome::Begins);
        assert_eq!(plan.next(&Outcome::Done), Step::Done);
        assert!(host.found.lock().unwrap().is_empty());
    }
}
