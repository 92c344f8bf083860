//! Steps of trials, for a process that only listens.

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard};

use toolkit::{HostStack, Objects, Plane, PlaneLayout};

use super::*;
use crate::inject::random::Numbers;

/// A process that keeps what it is told.
#[derive(Debug, Default)]
struct Listener {
    rows: Mutex<Vec<Row>>,
}

#[derive(Debug)]
struct Words(Box<[AtomicU64]>);

impl SharedWords for Words {
    fn words(&self) -> &[AtomicU64] {
        &self.0
    }
}

impl Host for Listener {
    fn memory(&self) -> &dyn device::Memory {
        unreachable!("it is known where memory is")
    }

    fn shared_range(&self) -> Option<(u64, u64)> {
        None
    }

    fn most_shared(&self) -> u64 {
        0
    }

    fn objects(&self) -> MutexGuard<'_, Objects> {
        unreachable!("no bit of memory is struck")
    }

    fn plane(&self, _: PlaneLayout) -> std::io::Result<Box<dyn Plane>> {
        unreachable!("plans do not ask for one")
    }

    fn words(&self, count: usize) -> std::io::Result<Arc<dyn SharedWords>> {
        Ok(Arc::new(Words((0..count).map(|_| AtomicU64::new(0)).collect())))
    }

    fn has_memory_at(&self, _: u64) -> bool {
        false
    }

    fn stack(&self) -> HostStack {
        HostStack::default()
    }

    fn found(&self, _: report::Finding) {}

    fn row(&self, row: Row) {
        self.rows.lock().unwrap().push(row);
    }

    fn not_checked(&self, _: &str) {}

    fn say(&self, _: &str) {}

    fn is_in_stream(&self) -> bool {
        false
    }
}

/// What is asked of a plan.
#[derive(Clone, Copy, Default)]
struct Asked {
    is_on_gpu: bool,
    is_protected: bool,
    stays: bool,
    is_alone_known: bool,
    /// What a fork makes of the process, if faults are followed.
    forked: Option<ForkedInto>,
}

#[derive(Clone, Copy)]
enum ForkedInto {
    Child,
    Parent,
}

/// What came of the steps of a trial, of a fault that stays, whose strikes end as is said; and what was told.
fn steps(asked: Asked, strikes: &[Tried]) -> (Vec<Step>, Vec<Row>) {
    let Asked { is_on_gpu, is_protected, stays, is_alone_known, forked } = asked;
    let listener = Arc::new(Listener::default());
    let trial = |number| Trial { number, launch: 1, place: 0, numbers: Numbers::new(1, 0, number) };
    let campaign = Campaign {
        model: Model::StuckLane,
        is_protected,
        always: false,
        stays,
        follows: forked.map(|_| Duration::from_secs(1)),
        patience: 10,
        is_alone_known,
    };
    let profile = || {
        let counts = Words([1, 1, 1, 1].map(AtomicU64::new).into());
        Some(Profile::new(&counts, &Tried { took: Duration::from_secs(7), ..done() }, 10, is_protected))
    };
    let mut plan = TrialPlan {
        host: listener.clone(),
        shared: Arc::default(),
        campaign,
        kernel: "k".to_owned(),
        launch: 1,
        threads: 2,
        most_threads: 2,
        units: vec![0],
        is_on_gpu,
        is_lost: false,
        has_loops: [true; 2],
        trials: [trial(0), trial(1)].into(),
        tasks: [Task::Begin].into(),
        doing: Doing::Nothing,
        alone: profile(),
        protected: profile(),
        current: None,
        refusal: None,
    };
    let (mut steps, mut last, mut strikes) = (Vec::new(), StepOutcome::Begins, strikes.iter());
    loop {
        let step = plan.next(&last);
        last = match &step {
            Step::Launch(step) if step.is_trial => StepOutcome::Tried(strikes.next().cloned().unwrap_or(done())),
            Step::Fork(_) => StepOutcome::Forked(match forked {
                Some(ForkedInto::Child) => Forked::Child,
                _ => Forked::Ended(ChildEnd { exit: Some(Exit::Code(0)), findings: 0, written: [0; 2] }),
            }),
            _ => StepOutcome::Done,
        };
        let is_over = matches!(step, Step::Done | Step::Refuse(_) | Step::End | Step::Exit);
        steps.push(step);
        if is_over {
            let rows = std::mem::take(&mut *listener.rows.lock().unwrap());
            return (steps, rows);
        }
    }
}

/// A trial that nothing came of.
fn done() -> Tried {
    let (difference, took) = (None, Duration::ZERO);
    Tried { end: TrialEnd::Done, findings: 0, difference, prints_differ: false, instructions: 0, took, is_lost: false }
}

fn corrupted() -> Tried {
    Tried { difference: Some(("an allocation".to_owned(), 4)), ..done() }
}

/// One with which the device was lost.
fn lost(end: TrialEnd) -> Tried {
    Tried { end, is_lost: true, ..done() }
}

fn launches(steps: &[Step]) -> Vec<&LaunchStep> {
    steps.iter().filter_map(|step| if let Step::Launch(step) = step { Some(step) } else { None }).collect()
}

/// What was told of trials, and of the end of the process.
fn told(rows: &[Row]) -> Vec<(u64, &str, &str)> {
    rows.iter()
        .map(|row| match row.table.as_str() {
            "trials" => (row.number("trial"), row.text("outcome"), row.text("protected")),
            _ => (row.number("trial"), row.text("how"), ""),
        })
        .collect()
}

const GPU: Asked = Asked { is_on_gpu: true, is_protected: false, stays: false, is_alone_known: false, forked: None };

#[test]
fn runs_are_limited_by_what_the_device_can_do() {
    let (on_gpu, _) = steps(GPU, &[]);
    let (on_cpu, _) = steps(Asked::default(), &[]);
    let ([gpu, ..], [cpu, ..]) = (&launches(&on_gpu)[..], &launches(&on_cpu)[..]) else { panic!("there are trials") };
    assert_eq!((gpu.is_confined, gpu.budget, gpu.limit), (false, None, Some(Duration::from_secs(70))));
    assert!(cpu.is_confined && cpu.budget.is_some() && cpu.limit.is_none());
    // What takes a moment only may take longer: a GPU has other work.
    let counts = Words([1, 1].map(AtomicU64::new).into());
    assert_eq!(Profile::new(&counts, &done(), 10, false).limit, LEAST_LIMIT);
}

#[test]
fn the_process_ends_with_the_device() {
    let fault = lost(TrialEnd::Faulted("an illegal address".to_owned()));
    let (steps, rows) = steps(GPU, std::slice::from_ref(&fault));
    assert_eq!(steps.last(), Some(&Step::Exit));
    assert_eq!(launches(&steps).len(), 1, "nothing more is launched");
    // Trials after it did not take place.
    assert_eq!(told(&rows), [(0, "fault", ""), (1, "invalid", ""), (0, "left", "")]);
}

#[test]
fn a_program_that_goes_on_is_told_the_fault_and_not_a_hang() {
    let stays = Asked { stays: true, ..GPU };
    let (after_fault, rows) = steps(stays, &[lost(TrialEnd::Faulted(String::new()))]);
    assert_eq!((after_fault.last(), told(&rows)[0]), (Some(&Step::End), (0, "fault", "")));
    let (after_hang, rows) = steps(stays, &[lost(TrialEnd::Hung(String::new()))]);
    assert_eq!(after_hang.last(), Some(&Step::Exit));
    assert_eq!(told(&rows), [(0, "hang", ""), (1, "invalid", ""), (0, "late", "")]);
}

#[test]
fn a_device_that_fails_makes_the_trial_invalid() {
    let (steps, rows) = steps(GPU, &[lost(TrialEnd::NotRun("the driver has failed".to_owned()))]);
    assert_eq!((steps.last(), told(&rows)[0]), (Some(&Step::Exit), (0, "invalid", "")));
    assert_eq!(rows[0].text("note"), "the driver has failed");
}

#[test]
fn the_protected_kernel_is_struck_if_the_device_is_still_there() {
    let protected = Asked { is_protected: true, ..GPU };
    let stopped = lost(TrialEnd::Stopped);
    let (after_both, rows) = steps(protected, &[corrupted(), stopped.clone()]);
    let changed: Vec<bool> = launches(&after_both).iter().map(|step| step.is_changed).collect();
    assert_eq!((changed, told(&rows)[0]), (vec![false, true], (0, "sdc", "detected")));
    let fault = lost(TrialEnd::Faulted(String::new()));
    let (after_one, rows) = steps(Asked { stays: true, ..protected }, std::slice::from_ref(&fault));
    assert_eq!((launches(&after_one).len(), told(&rows)[0]), (1, (0, "fault", "")));
    // What it does to the kernel as it is, another process has found.
    let (again, rows) = steps(Asked { is_alone_known: true, ..protected }, &[stopped]);
    assert!(launches(&again)[0].is_changed);
    assert_eq!(told(&rows)[0].2, "detected");
}

#[test]
fn a_copy_goes_on_with_what_the_trial_left_behind() {
    let parent = Asked { forked: Some(ForkedInto::Parent), ..Asked::default() };
    let child = Asked { forked: Some(ForkedInto::Child), ..parent };
    let (of_parent, rows) = steps(parent, &[corrupted(), done()]);
    let [Step::Launch(first), Step::Fork(_), Step::Rewind, Step::Launch(second), Step::Rewind, ..] = &of_parent[..]
    else {
        panic!("memory is undone after the fork: {of_parent:?}")
    };
    assert!(first.is_kept && second.is_kept && first.is_trial);
    assert_eq!(told(&rows), [(0, "sdc", ""), (0, "code", ""), (1, "masked", "")]);
    let (of_child, _) = steps(child, &[corrupted()]);
    assert!(matches!(&of_child[..], [Step::Launch(_), Step::Fork(_), Step::End]), "{of_child:?}");
}

#[test]
fn a_copy_launches_the_kernel_again_if_tools_have_a_part_in_that() {
    let child = Asked { forked: Some(ForkedInto::Child), ..Asked::default() };
    let after_finding = steps(child, &[Tried { findings: 1, ..corrupted() }]).0;
    let protected = steps(Asked { is_protected: true, ..child }, &[corrupted(), corrupted()]).0;
    for steps in [after_finding, protected] {
        let Some([Step::Rewind, Step::Fork(_), Step::Launch(last), Step::Done]) = steps.last_chunk() else {
            panic!("memory is undone before the fork: {steps:?}")
        };
        assert!(!last.is_trial && !last.is_kept);
    }
}

#[test]
fn a_launch_whose_places_cannot_be_counted_takes_place_as_it_is() {
    let listener = Arc::new(Listener::default());
    let mut plan = ProfilePlan {
        host: listener.clone(),
        shared: Arc::default(),
        model: Model::SingleBit,
        kernel: "k".to_owned(),
        number: 1,
        threads: 2,
        counts: None,
        refusal: None,
        is_over: false,
    };
    assert!(!plan.survives_refusals());
    let Step::Launch(counting) = plan.next(&StepOutcome::Begins) else { panic!("it is launched") };
    assert!(counting.version == PROFILE && plan.survives_refusals());
    let reason = "the GPU has too few registers";
    assert_eq!(plan.next(&StepOutcome::NotRun(reason.to_owned())), Step::Launch(as_asked_for()));
    assert!(!plan.survives_refusals());
    let Step::Refuse(refusal) = plan.next(&StepOutcome::Done) else { panic!("it does not count") };
    assert_eq!(refusal.reason, reason);
    assert!(listener.rows.lock().unwrap().is_empty());
}
