//! Launches on several workers: each has records of global memory of its own, which are compared when all are done.
//!
//! What one worker's blocks do is checked as if nobody else were there, without locks. Blocks of two workers are never ordered,
//! because kernels that order blocks through memory run on one; so records of two workers conflict if both are of the launch, one
//! of them is of a write, and not both are strong operations of the scope of the device.
//!
//! Which values were written, and what came first, is not known any more then. So nothing is reported: memory is restored, and
//! the launch runs again on one worker, which reports. What is found does not depend on how many workers there are.
//!
//! To save what a launch may write, to compare records, and to give their memory back takes about half a millisecond and more, so
//! only kernels whose last launch took a hundred times as long are shared.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use toolkit::{FlagValue, Outcome, Plan, Plane, RunStep, Step};

use super::record::{CELL, KIND, KINDS, RECORD, STRONG_DEVICE, WEAKER};

/// The run of a launch on several workers.
#[derive(Debug, Default)]
pub(super) struct Parallel {
    is_running: AtomicBool,
    /// Conflicts, of accesses on one worker and of records of two. Kernels add to it.
    conflicts: AtomicU64,
}

impl Parallel {
    pub(super) fn is_running(&self) -> bool {
        self.is_running.load(Ordering::Relaxed)
    }

    /// Where kernels count conflicts, instead of recording them.
    pub(super) fn conflicts(&self) -> &AtomicU64 {
        &self.conflicts
    }
}

/// Whether users can ask for it.
pub(super) fn check_share(name: &str) -> Result<(), String> {
    FlagValue::one_of(name, &["auto", "always", "never"])
}

/// How a launch runs that is shared by several workers.
#[derive(Debug)]
pub(super) struct ParallelPlan {
    pub(super) parallel: Arc<Parallel>,
    pub(super) version: usize,
    pub(super) workers: u32,
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

impl ParallelPlan {
    fn run(&self, workers: u32) -> Step {
        Step::Run(RunStep { workers: Some(workers), ..RunStep::version(self.version) })
    }
}

impl Plan for ParallelPlan {
    fn next(&mut self, last: &Outcome) -> Step {
        let Parallel { is_running, conflicts } = &*self.parallel;
        match self.progress {
            Progress::Begins => {
                self.progress = Progress::Saved;
                Step::Save
            }
            Progress::Saved => {
                self.progress = Progress::Ran;
                conflicts.store(0, Ordering::Relaxed);
                is_running.store(true, Ordering::Relaxed);
                self.run(self.workers)
            }
            Progress::Ran => {
                is_running.store(false, Ordering::Relaxed);
                if *last != Outcome::Faulted && conflicts.load(Ordering::Relaxed) == 0 {
                    return Step::Done;
                }
                self.progress = Progress::Restored;
                Step::Restore
            }
            Progress::Restored => {
                self.progress = Progress::RanAgain;
                self.run(1)
            }
            Progress::RanAgain => Step::Done,
        }
    }

    /// On one worker it faults again, where it can be told what led to it.
    fn survives_faults(&self) -> bool {
        self.progress == Progress::Ran
    }
}

impl Drop for ParallelPlan {
    fn drop(&mut self) {
        self.parallel.is_running.store(false, Ordering::Relaxed);
    }
}

/// What the records of a granule of one kind say: nothing of this launch, only strong operations of the scope of the device, or
/// others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
enum Seen {
    #[default]
    Nothing,
    Strong,
    Weak,
}

impl Seen {
    /// Of a record, where those of the launch are not below a number.
    fn of(record: u64, launch: u64) -> Self {
        let kind = (record >> KIND) as u32 & KINDS;
        match () {
            () if record < launch => Self::Nothing,
            () if kind == STRONG_DEVICE && record & WEAKER == 0 => Self::Strong,
            () => Self::Weak,
        }
    }

    /// Whether a write and another access are unordered, if these are what two workers did.
    fn conflicts(self, other: Self) -> bool {
        self.min(other) != Self::Nothing && self.max(other) == Self::Weak
    }
}

/// Words that are compared together.
const PIECE: u64 = 512;

/// The records of several workers for granules of one size: of the first, which stay, and of the others.
pub(super) struct Workers<'a> {
    pub(super) first: &'a dyn Plane,
    pub(super) others: &'a [Box<dyn Plane>],
    /// How far the records of reads are from those of writes.
    pub(super) reads: u64,
    /// Records of the launch are not below this.
    pub(super) launch: u64,
}

impl Workers<'_> {
    /// Whether records of two workers conflict, among those of some granules; those of all but the first worker are forgotten.
    pub(super) fn conflict(&self, granules: Range<u64>) -> bool {
        let (first, count) = (granules.start, granules.end - granules.start);
        let touched = |plane: &dyn Plane| [0, self.reads].map(|half| (half, plane.touched_words(first + half, count)));
        let of_others: Vec<_> = self.others.iter().map(|plane| touched(&**plane)).collect();
        let mut pieces: Vec<u64> = Vec::new();
        for (half, words) in of_others.iter().flatten() {
            let granules = words.iter().map(|words| words.start.max(first + half) - half..words.end - half);
            pieces.extend(granules.flat_map(|granules| granules.start / PIECE..granules.end.div_ceil(PIECE)));
        }
        pieces.sort_unstable();
        pieces.dedup();
        let conflicts = pieces.iter().any(|piece| self.conflict_in(piece * PIECE));
        for (plane, touched) in self.others.iter().zip(&of_others) {
            touched.iter().flat_map(|(_, words)| words).for_each(|words| plane.forget_words(words));
        }
        conflicts
    }

    /// Whether records conflict in a piece, whatever else is in it.
    fn conflict_in(&self, first: u64) -> bool {
        let mut before = [[Seen::Nothing; 2]; PIECE as usize];
        let (mut written, mut read) = ([[0; 8]; PIECE as usize], [[0; 8]; PIECE as usize]);
        let cell = |word: u64| word * RECORD / CELL;
        let planes = std::iter::once(self.first).chain(self.others.iter().map(|plane| &**plane));
        planes.into_iter().any(|plane| {
            // What is beyond the last write is a read, of other granules.
            let count = self.reads.saturating_sub(first).min(PIECE) as usize;
            plane.read(cell(first), written[..count].as_flattened_mut());
            plane.read(cell(first + self.reads), read.as_flattened_mut());
            let mut conflicts = false;
            for ((before, &written), &read) in before.iter_mut().zip(&written).zip(&read) {
                let [wrote, has_read] = [written, read].map(|record| Seen::of(u64::from_le_bytes(record), self.launch));
                conflicts |= wrote.conflicts(before[0]) | wrote.conflicts(before[1]) | has_read.conflicts(before[0]);
                *before = [before[0].max(wrote), before[1].max(has_read)];
            }
            conflicts
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::super::record::{EPOCH, STRONG_BLOCK, VOLATILE};
    use super::*;

    /// Words in a list, of which the first half is of writes.
    #[derive(Debug)]
    struct Words(Mutex<Vec<u64>>);

    impl Plane for Words {
        fn address(&self) -> u64 {
            0
        }
        fn fill(&self, _: u64, _: u64, _: u8) {}
        fn first_set(&self, _: u64, _: u64) -> Option<u64> {
            None
        }
        fn copy(&self, _: u64, _: u64, _: u64) {}
        fn find_word(&self, _: u64, _: u64, _: &dyn Fn(u64) -> bool) -> Option<(u64, u64)> {
            None
        }
        fn raise_words(&self, _: u64, _: u64, _: u64) {}
        fn change(&self, _: u64, _: u8, _: u8) {}
        fn write(&self, _: u64, _: &[u8]) {}
        fn read(&self, first: u64, bytes: &mut [u8]) {
            let words = self.0.lock().unwrap();
            for (into, number) in bytes.as_chunks_mut().0.iter_mut().zip(first * CELL / RECORD..) {
                *into = words.get(number as usize).copied().unwrap_or_default().to_le_bytes();
            }
        }
        fn touched_words(&self, first: u64, count: u64) -> Vec<Range<u64>> {
            let words = self.0.lock().unwrap();
            let touched = (first..first + count).filter(|number| words[*number as usize] != 0);
            touched.map(|number| number..number + 1).collect()
        }
        fn forget_words(&self, words: &Range<u64>) {
            self.0.lock().unwrap()[words.start as usize..words.end as usize].fill(0);
        }
    }

    const GRANULES: u64 = 1000;
    const LAUNCH: u64 = 5 << EPOCH;

    /// Whether it conflicts if workers have some records: of a write or read, of a granule.
    fn conflict(workers: &[&[(bool, u64, u64)]]) -> bool {
        let planes: Vec<Box<dyn Plane>> = workers
            .iter()
            .map(|records| {
                let mut words = vec![0; 2 * GRANULES as usize];
                for &(reads, granule, record) in *records {
                    words[(granule + if reads { GRANULES } else { 0 }) as usize] = record;
                }
                Box::new(Words(Mutex::new(words))) as Box<dyn Plane>
            })
            .collect();
        let (first, others) = planes.split_first().unwrap();
        let workers = Workers { first: &**first, others, reads: GRANULES, launch: LAUNCH };
        let conflicts = workers.conflict(0..GRANULES);
        assert!(!workers.conflict(0..GRANULES), "what others have recorded is forgotten");
        conflicts
    }

    /// All pairs of accesses on all pairs of three workers, against the definition.
    #[test]
    fn accesses_of_two_workers_conflict_as_those_of_two_blocks_do() {
        let kinds = [0, VOLATILE, STRONG_BLOCK, STRONG_DEVICE];
        let all = || [true, false].into_iter().flat_map(move |reads| kinds.map(move |kind| (reads, kind)));
        for place in [0, 511, 512, GRANULES - 1] {
            for (one, other) in all().flat_map(|one| all().map(move |other| (one, other))) {
                let record =
                    |(reads, kind): (bool, u32)| (reads, place, (LAUNCH + (1 << EPOCH)) | u64::from(kind) << KIND);
                let both_read = one.0 && other.0;
                let both_are_strong = one.1.min(other.1) == STRONG_DEVICE;
                let races = !(both_read || both_are_strong);
                let (one, other) = (&[record(one)][..], &[record(other)][..]);
                assert_eq!(conflict(&[one, other, &[]]), races);
                assert_eq!(conflict(&[one, &[], other]), races);
                assert_eq!(conflict(&[&[], one, other]), races);
            }
        }
    }

    #[test]
    fn records_of_one_worker_or_of_earlier_launches_do_not_conflict() {
        let (now, before) = (LAUNCH + 7, LAUNCH - 1);
        assert!(!conflict(&[&[(true, 3, now), (false, 3, now)], &[(false, 4, now)], &[]]));
        assert!(!conflict(&[&[(false, 3, before)], &[(false, 3, now)], &[(true, 3, before)]]));
        assert!(conflict(&[&[(false, 3, before)], &[(false, 3, now)], &[(true, 3, now)]]));
        // A weaker access of the block came before.
        let [strong, weaker] = [0, WEAKER].map(|weaker| now | u64::from(STRONG_DEVICE) << KIND | weaker);
        assert!(!conflict(&[&[(false, 3, strong)], &[(false, 3, strong)]]));
        assert!(conflict(&[&[(false, 3, strong)], &[(false, 3, weaker)]]));
    }

    #[test]
    fn what_conflicts_runs_again_on_one_worker() {
        let steps = |conflicts: u64, outcome: Outcome| {
            let parallel = Arc::new(Parallel::default());
            let mut plan =
                ParallelPlan { parallel: Arc::clone(&parallel), version: 0, workers: 8, progress: Progress::Begins };
            let mut steps = vec![plan.next(&Outcome::Begins), plan.next(&Outcome::Done)];
            assert!(parallel.is_running());
            parallel.conflicts().store(conflicts, Ordering::Relaxed);
            let mut last = outcome;
            while steps.last() != Some(&Step::Done) {
                steps.push(plan.next(&last));
                last = Outcome::Done;
                assert!(!parallel.is_running());
            }
            steps
        };
        let run = |workers| Step::Run(RunStep { workers: Some(workers), ..RunStep::version(0) });
        let again = [Step::Save, run(8), Step::Restore, run(1), Step::Done];
        assert_eq!(steps(0, Outcome::Done), [Step::Save, run(8), Step::Done]);
        assert_eq!(steps(1, Outcome::Done), again);
        assert_eq!(steps(0, Outcome::Faulted), again);
    }
}
