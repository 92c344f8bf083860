//! The protocol of racecheck where warps run at the same time (`crates/tools/src/racecheck/device/concurrent.ptx`), in all
//! interleavings of two and three threads.
//!
//! Threads read and write a place, and order each other by a flag: a store that releases, and a load that acquires what it
//! finds. Each of these takes several steps, as on a GPU. Nothing may be reported in an execution without a race. Without a flag,
//! every execution that has one is reported, and with one, some execution of a program that has racy ones: what is
//! released is known a moment too early.
//!
//! Each part of the protocol is left out in turn, which must be noticed.

use std::collections::HashSet;

const THREADS: usize = 3;
type Clock = [u8; THREADS];

/// What a thread does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Op {
    Read,
    Write,
    Release,
    Acquire,
}

/// What is left out of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Without {
    Nothing,
    /// Accesses are recorded after the thread has looked at what others have recorded.
    PublishFirst,
    /// A record is loaded and stored, and not compared and swapped.
    CompareAndSwap,
    /// What is released is known after the store, instead of before.
    ReleaseFirst,
    /// A store keeps what was released by the flag before: others may not yet have seen it.
    KeepReleased,
}

use Without::*;

/// The record of the reads, or of the writes, of a place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
enum Record {
    #[default]
    Nobody,
    /// A thread, and its clock.
    One(usize, u8),
    /// Several, of which some are not ordered.
    Many,
}

impl Record {
    /// Whether a thread does not know that what was recorded came before. Of several, some are others.
    fn conflicts(self, thread: &Thread, number: usize) -> bool {
        match self {
            Self::Nobody => false,
            Self::One(other, clock) => other != number && thread.known[other] < clock,
            // Which ones it knows of is not recorded: if it has acquired anything, that is not decided.
            Self::Many => thread.known == Clock::default(),
        }
    }

    fn is_undecided(self, thread: &Thread) -> bool {
        self == Self::Many && thread.known != Clock::default()
    }

    fn merged(self, thread: &Thread, number: usize) -> Self {
        let own = Self::One(number, thread.clock);
        match self {
            Self::Many => self,
            _ if self.conflicts(thread, number) => Self::Many,
            _ => own,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Thread {
    op: usize,
    step: usize,
    clock: u8,
    /// What racecheck takes to be known of other threads, and what is.
    known: Clock,
    ordered: Clock,
    /// What it has found before its own record, or is about to acquire.
    before: Record,
    seen: Clock,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    threads: [Thread; THREADS],
    written: Record,
    read: Record,
    /// What is released by the flag, in the tables of racecheck.
    released: Clock,
    /// What its last store has released.
    flag: Clock,
    /// Who has accessed the place, when, and whether it wrote.
    accesses: Vec<(usize, u8, bool)>,
    is_racy: bool,
    is_reported: bool,
    is_undecided: bool,
}

impl State {
    fn new() -> Self {
        let none = Clock::default();
        let thread =
            Thread { op: 0, step: 0, clock: 1, known: none, ordered: none, before: Record::Nobody, seen: none };
        Self {
            threads: std::array::from_fn(|_| thread.clone()),
            written: Record::Nobody,
            read: Record::Nobody,
            released: none,
            flag: none,
            accesses: Vec::new(),
            is_racy: false,
            is_reported: false,
            is_undecided: false,
        }
    }

    /// A thread goes one step on.
    fn step(&mut self, number: usize, op: Op, without: Without) {
        let step = self.threads[number].step;
        let is_last = match (op, step) {
            (Op::Read | Op::Write, _) => {
                let publishes = if without == PublishFirst { [2, 3] } else { [0, 1] };
                match step {
                    4 => self.perform(number, op == Op::Write),
                    _ if step == publishes[0] => self.load_record(number, op, without),
                    _ if step == publishes[1] => self.store_record(number, op, without),
                    0 | 2 => self.look(number, op),
                    _ => {}
                }
                step == 4
            }
            (Op::Release, 0) if without != ReleaseFirst => {
                self.register(number, without);
                false
            }
            (Op::Release, 1) => {
                self.flag = join(self.threads[number].ordered, own(&self.threads[number], number));
                false
            }
            (Op::Release, 2) if without == ReleaseFirst => {
                self.register(number, without);
                false
            }
            (Op::Release, step) => {
                if step == 3 {
                    self.threads[number].clock += 1;
                }
                step == 3
            }
            (Op::Acquire, 0) => {
                self.threads[number].seen = self.flag;
                false
            }
            (Op::Acquire, _) => {
                let thread = &mut self.threads[number];
                thread.known = join(thread.known, self.released);
                thread.ordered = join(thread.ordered, thread.seen);
                (thread.known[number], thread.ordered[number]) = (0, 0);
                true
            }
        };
        let thread = &mut self.threads[number];
        if is_last {
            *thread = Thread { op: thread.op + 1, step: 0, before: Record::Nobody, seen: Clock::default(), ..*thread };
        } else {
            thread.step += 1;
        }
    }

    fn register(&mut self, number: usize, without: Without) {
        let thread = &self.threads[number];
        let released = join(thread.known, own(thread, number));
        self.released = if without == KeepReleased { released } else { join(self.released, released) };
    }

    fn record(&mut self, op: Op) -> &mut Record {
        if op == Op::Write { &mut self.written } else { &mut self.read }
    }

    fn load_record(&mut self, number: usize, op: Op, without: Without) {
        self.threads[number].before = *self.record(op);
        if without != CompareAndSwap {
            self.publish(number, op);
        }
    }

    fn store_record(&mut self, number: usize, op: Op, without: Without) {
        if without == CompareAndSwap {
            self.publish(number, op);
        }
    }

    /// A write takes the place of another; reads are merged.
    fn publish(&mut self, number: usize, op: Op) {
        let thread = self.threads[number].clone();
        let merged = thread.before.merged(&thread, number);
        *self.record(op) = if op == Op::Write { Record::One(number, thread.clock) } else { merged };
    }

    fn look(&mut self, number: usize, op: Op) {
        let thread = &self.threads[number];
        // If it looks first, it sees what it is about to replace.
        let before = if thread.step == 0 { self.written } else { thread.before };
        let looked: &[Record] = match op {
            Op::Write => &[self.read, before],
            _ => &[self.written],
        };
        let (thread, looked) = (thread.clone(), looked.to_vec());
        self.is_reported |= looked.iter().any(|record| record.conflicts(&thread, number));
        self.is_undecided |= looked.iter().any(|record| record.is_undecided(&thread));
    }

    fn perform(&mut self, number: usize, writes: bool) {
        let thread = &self.threads[number];
        self.is_racy |= self
            .accesses
            .iter()
            .any(|&(other, clock, wrote)| other != number && (writes || wrote) && thread.ordered[other] < clock);
        let access = (number, thread.clock, writes);
        if !self.accesses.contains(&access) {
            self.accesses.push(access);
            self.accesses.sort_unstable();
        }
    }
}

fn join(one: Clock, other: Clock) -> Clock {
    std::array::from_fn(|thread| one[thread].max(other[thread]))
}

fn own(thread: &Thread, number: usize) -> Clock {
    let mut clock = Clock::default();
    clock[number] = thread.clock;
    clock
}

/// What there is to say of all executions of a program.
#[derive(Default, Debug)]
struct Verdicts {
    has_false_alarm: bool,
    has_miss: bool,
    is_racy: bool,
    is_found: bool,
}

fn run(program: &[Vec<Op>], without: Without) -> Verdicts {
    let (mut verdicts, mut seen, mut left) = (Verdicts::default(), HashSet::new(), vec![State::new()]);
    while let Some(state) = left.pop() {
        let mut has_ended = true;
        for (number, ops) in program.iter().enumerate() {
            let Some(&op) = ops.get(state.threads[number].op) else { continue };
            has_ended = false;
            let mut next = state.clone();
            next.step(number, op, without);
            if seen.insert(next.clone()) {
                left.push(next);
            }
        }
        if has_ended {
            verdicts.has_false_alarm |= state.is_reported && !state.is_racy;
            verdicts.has_miss |= state.is_racy && !(state.is_reported || state.is_undecided);
            verdicts.is_racy |= state.is_racy;
            verdicts.is_found |= state.is_reported || state.is_undecided;
        }
    }
    verdicts
}

/// All sequences of so many operations at most, but for none.
fn sequences(most: usize) -> Vec<Vec<Op>> {
    let mut all = vec![Vec::new()];
    let mut first = 0;
    for _ in 0..most {
        let end = all.len();
        for index in first..end {
            for op in [Op::Read, Op::Write, Op::Release, Op::Acquire] {
                all.push([&all[index][..], &[op]].concat());
            }
        }
        first = end;
    }
    all.split_off(1)
}

/// Programs of two threads, and of three; which thread does what does not matter.
fn programs() -> Vec<Vec<Vec<Op>>> {
    let (short, long) = (sequences(2), sequences(3));
    let mut programs = Vec::new();
    for (first, one) in long.iter().enumerate() {
        programs.extend(long[first..].iter().map(|other| vec![one.clone(), other.clone()]));
    }
    for (first, one) in short.iter().enumerate() {
        for (second, two) in short.iter().enumerate().skip(first) {
            programs.extend(short[second..].iter().map(|three| vec![one.clone(), two.clone(), three.clone()]));
        }
    }
    // What never accesses the place twice, or never writes it, has no race to find.
    programs.retain(|program| {
        let ops: Vec<Op> = program.iter().flatten().copied().collect();
        ops.contains(&Op::Write) && ops.iter().filter(|op| matches!(op, Op::Read | Op::Write)).count() > 1
    });
    programs
}

fn is_ordered_by_flag(program: &[Vec<Op>]) -> bool {
    program.iter().flatten().any(|op| *op == Op::Acquire)
}

#[test]
fn races_are_found_and_nothing_else_is_reported() {
    let programs = programs();
    let (mut racy, mut ordered) = (0, 0);
    for program in &programs {
        let verdicts = run(program, Nothing);
        assert!(!verdicts.has_false_alarm, "{program:?}");
        assert!(!verdicts.has_miss || is_ordered_by_flag(program), "{program:?}");
        assert_eq!(verdicts.is_racy, verdicts.is_found, "{program:?}");
        racy += usize::from(verdicts.is_racy);
        ordered += usize::from(!verdicts.is_racy);
    }
    assert!(racy > 1000 && ordered > 10, "{racy} racy programs, {ordered} others");
}

#[test]
fn each_part_of_the_protocol_is_needed() {
    let programs = programs();
    let some = |without, fails: fn(&Verdicts, bool) -> bool| {
        programs.iter().any(|program| fails(&run(program, without), is_ordered_by_flag(program)))
    };
    for without in [PublishFirst, CompareAndSwap] {
        assert!(some(without, |verdicts, is_ordered| verdicts.has_miss && !is_ordered), "{without:?}");
    }
    for without in [ReleaseFirst, KeepReleased] {
        assert!(some(without, |verdicts, _| verdicts.has_false_alarm), "{without:?}");
    }
}
