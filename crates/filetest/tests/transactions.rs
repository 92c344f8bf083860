//! All interleavings of small transactions by the algorithm of `include/warpgrind/tx.cuh`, as `docs/stm.md` has it.
//!
//! A step is one access to shared memory. Where a transaction waits for some rounds and then fails, it fails at once here:
//! waiting longer is to be scheduled later. After a failure or two it becomes irrevocable, so that every interleaving comes
//! to an end, and a state in which nobody can go on is a deadlock.
//!
//! Ticks say in which order transactions take effect. At the end of an interleaving, what every attempt has read, whatever
//! became of it, must be what memory was at its snapshot; of a commit, also what it was just before its own tick; and memory
//! must be what all commits make of it in this order. That is opacity, with a witness.
//!
//! Each check of the algorithm is left out in turn, which must be noticed in some interleaving.

use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What a transaction does.
#[derive(Clone, Copy, Debug)]
enum Op {
    Read(usize),
    /// Writes what the read of this number has given, and more.
    WriteRead(usize, usize, i8),
    Write(usize, i8),
    GiveUp,
}

/// A check of the algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Check {
    LockedAfterRead,
    VersionAfterRead,
    NewerThanSnapshot,
    ExtendedVersions,
    ExtendedLocks,
    ClockBeforeExtension,
    LockedByOthers,
    Stolen,
    ValidatedVersions,
    ValidatedLocks,
    IrrevocableReadLocks,
    IrrevocableWaits,
    IrrevocableNewVersion,
    OneToken,
}

const CHECKS: [Check; 14] = [
    Check::LockedAfterRead,
    Check::VersionAfterRead,
    Check::NewerThanSnapshot,
    Check::ExtendedVersions,
    Check::ExtendedLocks,
    Check::ClockBeforeExtension,
    Check::LockedByOthers,
    Check::Stolen,
    Check::ValidatedVersions,
    Check::ValidatedLocks,
    Check::IrrevocableReadLocks,
    Check::IrrevocableWaits,
    Check::IrrevocableNewVersion,
    Check::OneToken,
];

const PLACES: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Owner {
    Free,
    Prelocked(usize),
    Locked(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Lock {
    version: u8,
    owner: Owner,
}

/// What a thread does next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Step {
    Begin,
    WaitForToken(u8),
    Body,
    Value(Lock),
    LockAgain(Lock, i8),
    ClockToExtend(i8),
    Extend { now: u8, value: i8, next: usize },
    Prelock { next: usize, seen: Option<Lock> },
    Lock(usize),
    Tick,
    Validate(usize),
    Store(usize),
    Release(usize),
    GiveBack { next: usize, locked: usize },
    IrrevocableValue,
    IrrevocableStore(i8),
    Undo,
    IrrevocableTick,
    IrrevocableRelease,
    GiveToken,
    Done,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Thread {
    step: Step,
    position: usize,
    snapshot: u8,
    /// The clock when the first attempt began.
    age: Option<u8>,
    tick: u8,
    failures: u8,
    is_irrevocable: bool,
    gives_up: bool,
    registers: Vec<i8>,
    /// Locks and versions that were read.
    reads: Vec<(usize, u8)>,
    /// What the body has seen of memory.
    seen: Vec<(usize, i8)>,
    writes: Vec<(usize, i8)>,
    /// Locks that it has, with their versions, and whether an irrevocable transaction has written under them.
    held: Vec<(usize, u8, bool)>,
    undo: Vec<(usize, i8)>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    memory: [i8; PLACES],
    locks: [Lock; PLACES],
    clock: u8,
    next_ticket: u8,
    now_serving: u8,
    threads: Vec<Thread>,
    /// What commits have written, by their ticks.
    commits: BTreeMap<u8, Vec<(usize, i8)>>,
    /// What memory must have been after a tick.
    must_have_been: BTreeSet<(u8, usize, i8)>,
}

struct Model<'a> {
    programs: &'a [&'a [Op]],
    /// Failures after which a transaction becomes irrevocable.
    most_failures: u8,
    without: Option<Check>,
}

impl Model<'_> {
    fn has(&self, check: Check) -> bool {
        self.without != Some(check)
    }

    fn start(&self) -> State {
        let thread = Thread {
            step: Step::Begin,
            position: 0,
            snapshot: 0,
            age: None,
            tick: 0,
            failures: 0,
            is_irrevocable: false,
            gives_up: false,
            registers: Vec::new(),
            reads: Vec::new(),
            seen: Vec::new(),
            writes: Vec::new(),
            held: Vec::new(),
            undo: Vec::new(),
        };
        State {
            memory: [0; PLACES],
            locks: [Lock { version: 0, owner: Owner::Free }; PLACES],
            clock: 0,
            next_ticket: 0,
            now_serving: 0,
            threads: vec![thread; self.programs.len()],
            commits: BTreeMap::new(),
            must_have_been: BTreeSet::new(),
        }
    }

    /// The state after a thread's next step; nothing if it waits or is done.
    fn next(&self, state: &State, id: usize) -> Option<State> {
        let mut next = state.clone();
        let State { memory, locks, clock, threads, commits, must_have_been, next_ticket, now_serving } = &mut next;
        let is_older = |other: usize| {
            let age = |id: usize| (!state.threads[id].is_irrevocable, state.threads[id].age, id);
            age(other) < age(id)
        };
        let me = &mut threads[id];
        let remember = |me: &Thread, tick: u8, must_have_been: &mut BTreeSet<(u8, usize, i8)>| {
            must_have_been.extend(me.seen.iter().map(|&(place, value)| (tick, place, value)));
        };
        match me.step {
            Step::Begin => {
                me.position = 0;
                for log in [&mut me.seen, &mut me.writes, &mut me.undo] {
                    log.clear();
                }
                me.registers.clear();
                me.reads.clear();
                me.held.clear();
                if me.failures >= self.most_failures {
                    me.step = Step::WaitForToken(*next_ticket);
                    *next_ticket += 1;
                } else {
                    me.snapshot = *clock;
                    me.age.get_or_insert(*clock);
                    me.step = Step::Body;
                }
            }
            Step::WaitForToken(ticket) => {
                if self.has(Check::OneToken) && *now_serving != ticket {
                    return None;
                }
                me.is_irrevocable = true;
                me.step = Step::Body;
            }
            Step::Body => match self.programs[id].get(me.position) {
                None if me.is_irrevocable => me.step = Step::IrrevocableTick,
                None if me.writes.is_empty() => me.end_with(must_have_been),
                None => me.step = Step::Prelock { next: 0, seen: None },
                Some(Op::GiveUp) if me.is_irrevocable => {
                    me.gives_up = true;
                    me.step = Step::Undo;
                }
                Some(Op::GiveUp) => me.end_with(must_have_been),
                Some(&Op::Read(place)) => {
                    if let Some(&(_, value)) = me.writes.iter().find(|write| write.0 == place) {
                        me.registers.push(value);
                        me.position += 1;
                    } else if me.is_irrevocable {
                        if self.has(Check::IrrevocableReadLocks)
                            && !self.take(&mut locks[place], id, place, &mut me.held)?
                        {
                            return Some(next);
                        }
                        me.step = Step::IrrevocableValue;
                    } else if matches!(locks[place].owner, Owner::Locked(_)) {
                        me.fail(must_have_been);
                    } else {
                        me.step = Step::Value(locks[place]);
                    }
                }
                Some(&(Op::Write(place, _) | Op::WriteRead(place, _, _))) => {
                    let value = match self.programs[id][me.position] {
                        Op::WriteRead(_, read, more) => me.registers[read] + more,
                        Op::Write(_, value) => value,
                        Op::Read(_) | Op::GiveUp => unreachable!("it writes"),
                    };
                    if me.is_irrevocable {
                        if !self.take(&mut locks[place], id, place, &mut me.held)? {
                            return Some(next);
                        }
                        me.step = Step::IrrevocableStore(value);
                    } else {
                        me.writes.retain(|write| write.0 != place);
                        me.writes.push((place, value));
                        me.position += 1;
                    }
                }
            },
            Step::Value(before) => me.step = Step::LockAgain(before, memory[me.place(self.programs[id])]),
            Step::LockAgain(before, value) => {
                let place = me.place(self.programs[id]);
                let is_locked = matches!(locks[place].owner, Owner::Locked(_));
                if (is_locked && self.has(Check::LockedAfterRead))
                    || (locks[place].version != before.version && self.has(Check::VersionAfterRead))
                {
                    me.fail(must_have_been);
                } else {
                    me.reads.push((place, before.version));
                    if before.version > me.snapshot && self.has(Check::NewerThanSnapshot) {
                        me.step = Step::ClockToExtend(value);
                    } else {
                        me.accept(place, value);
                    }
                }
            }
            Step::ClockToExtend(value) => me.step = Step::Extend { now: *clock, value, next: 0 },
            Step::Extend { now, value, next: at } => {
                if let Some(&(place, version)) = me.reads.get(at) {
                    let is_locked = matches!(locks[place].owner, Owner::Locked(_));
                    if (is_locked && self.has(Check::ExtendedLocks))
                        || (locks[place].version != version && self.has(Check::ExtendedVersions))
                    {
                        me.fail(must_have_been);
                    } else {
                        me.step = Step::Extend { now, value, next: at + 1 };
                    }
                } else {
                    me.snapshot = if self.has(Check::ClockBeforeExtension) { now } else { *clock };
                    let place = me.place(self.programs[id]);
                    me.accept(place, value);
                }
            }
            Step::Prelock { next: at, seen: None } => {
                let Some(&(place, _)) = me.writes.get(at) else {
                    me.step = Step::Lock(0);
                    return Some(next);
                };
                let seen = locks[place];
                match seen.owner {
                    Owner::Locked(_) if self.has(Check::LockedByOthers) => me.give_back(0),
                    Owner::Prelocked(other) if other != id && is_older(other) => me.give_back(0),
                    _ => me.step = Step::Prelock { next: at, seen: Some(seen) },
                }
            }
            Step::Prelock { next: at, seen: Some(seen) } => {
                let place = me.writes[at].0;
                if locks[place] == seen {
                    locks[place].owner = Owner::Prelocked(id);
                    me.held.push((place, seen.version, false));
                    me.step = Step::Prelock { next: at + 1, seen: None };
                } else {
                    me.step = Step::Prelock { next: at, seen: None };
                }
            }
            Step::Lock(at) => {
                let Some(&(place, version, _)) = me.held.get(at) else {
                    me.step = Step::Tick;
                    return Some(next);
                };
                if locks[place] == (Lock { version, owner: Owner::Prelocked(id) }) || !self.has(Check::Stolen) {
                    locks[place].owner = Owner::Locked(id);
                    me.step = Step::Lock(at + 1);
                } else {
                    me.give_back(at);
                }
            }
            Step::Tick => {
                *clock += 1;
                me.tick = *clock;
                me.step = Step::Validate(0);
            }
            Step::Validate(at) => {
                let Some(&(place, version)) = me.reads.get(at) else {
                    commits.insert(me.tick, me.writes.clone());
                    remember(me, me.tick - 1, must_have_been);
                    me.step = Step::Store(0);
                    return Some(next);
                };
                let is_locked = matches!(locks[place].owner, Owner::Locked(other) if other != id);
                if (is_locked && self.has(Check::ValidatedLocks))
                    || (locks[place].version != version && self.has(Check::ValidatedVersions))
                {
                    me.give_back(me.held.len());
                } else {
                    me.step = Step::Validate(at + 1);
                }
            }
            Step::Store(at) => match me.writes.get(at) {
                Some(&(place, value)) => {
                    memory[place] = value;
                    me.step = Step::Store(at + 1);
                }
                None => me.step = Step::Release(0),
            },
            Step::Release(at) => match me.held.get(at) {
                Some(&(place, _, _)) => {
                    locks[place] = Lock { version: me.tick, owner: Owner::Free };
                    me.step = Step::Release(at + 1);
                }
                None => me.end_with(must_have_been),
            },
            Step::GiveBack { next: at, locked } => match me.held.get(at) {
                Some(&(place, version, _)) => {
                    if at < locked {
                        locks[place] = Lock { version, owner: Owner::Free };
                    } else if locks[place] == (Lock { version, owner: Owner::Prelocked(id) }) {
                        locks[place].owner = Owner::Free;
                    }
                    me.step = Step::GiveBack { next: at + 1, locked };
                }
                None => me.fail(must_have_been),
            },
            Step::IrrevocableValue => {
                let place = me.place(self.programs[id]);
                let value = memory[place];
                if me.undo.iter().all(|undo| undo.0 != place) {
                    me.accept(place, value);
                } else {
                    // Its own.
                    me.registers.push(value);
                    me.position += 1;
                    me.step = Step::Body;
                }
            }
            Step::IrrevocableStore(value) => {
                let place = me.place(self.programs[id]);
                for held in me.held.iter_mut().filter(|held| held.0 == place) {
                    held.2 = true;
                }
                me.undo.push((place, memory[place]));
                memory[place] = value;
                me.position += 1;
                me.step = Step::Body;
            }
            Step::Undo => match me.undo.pop() {
                Some((place, value)) => memory[place] = value,
                None => me.step = Step::IrrevocableTick,
            },
            Step::IrrevocableTick => {
                *clock += 1;
                me.tick = *clock;
                let written = me.undo.iter().map(|&(place, _)| (place, memory[place])).collect();
                commits.insert(me.tick, written);
                remember(me, me.tick - 1, must_have_been);
                me.step = Step::IrrevocableRelease;
            }
            Step::IrrevocableRelease => match me.held.pop() {
                Some((place, version, has_written)) => {
                    let is_new = has_written && self.has(Check::IrrevocableNewVersion);
                    locks[place] = Lock { version: if is_new { me.tick } else { version }, owner: Owner::Free };
                }
                None => me.step = Step::GiveToken,
            },
            Step::GiveToken => {
                *now_serving += 1;
                me.seen.clear();
                me.end_with(must_have_been);
            }
            Step::Done => return None,
        }
        Some(next)
    }

    /// An irrevocable transaction takes a lock: whether it has it already. Nothing if it has to wait.
    fn take(&self, lock: &mut Lock, id: usize, place: usize, held: &mut Vec<(usize, u8, bool)>) -> Option<bool> {
        match lock.owner {
            Owner::Locked(owner) if owner == id => return Some(true),
            Owner::Locked(_) if self.has(Check::IrrevocableWaits) => return None,
            Owner::Locked(_) | Owner::Prelocked(_) | Owner::Free => {}
        }
        lock.owner = Owner::Locked(id);
        held.push((place, lock.version, false));
        Some(false)
    }

    /// Whether all that was read is of the moments that it must be of.
    fn is_right(&self, end: &State) -> bool {
        let mut memory = [0; PLACES];
        let mut moments = vec![memory];
        for tick in 1..=end.clock {
            for &(place, value) in end.commits.get(&tick).into_iter().flatten() {
                memory[place] = value;
            }
            moments.push(memory);
        }
        memory == end.memory
            && end.must_have_been.iter().all(|&(tick, place, value)| moments[usize::from(tick)][place] == value)
    }

    /// Goes through all interleavings.
    fn explore(&self) -> Explored {
        let mut explored = Explored::default();
        let mut known = HashSet::from([self.start()]);
        let mut open = vec![self.start()];
        while let Some(state) = open.pop() {
            explored.states += 1;
            let mut is_stuck = true;
            for id in 0..state.threads.len() {
                if let Some(next) = self.next(&state, id) {
                    is_stuck = false;
                    if known.insert(next.clone()) {
                        open.push(next);
                    }
                }
            }
            if !is_stuck {
                continue;
            }
            if state.threads.iter().any(|thread| thread.step != Step::Done) {
                explored.deadlocks += 1;
            } else {
                explored.ends += 1;
                explored.wrong += usize::from(!self.is_right(&state));
            }
        }
        explored
    }
}

impl Thread {
    /// The place that the operation at hand accesses.
    fn place(&self, program: &[Op]) -> usize {
        match program[self.position] {
            Op::Read(place) | Op::Write(place, _) | Op::WriteRead(place, _, _) => place,
            Op::GiveUp => unreachable!("it accesses nothing"),
        }
    }

    /// The body sees a value.
    fn accept(&mut self, place: usize, value: i8) {
        self.seen.push((place, value));
        self.registers.push(value);
        self.position += 1;
        self.step = Step::Body;
    }

    fn give_back(&mut self, locked: usize) {
        self.step = Step::GiveBack { next: 0, locked };
    }

    /// The attempt has failed; what it has seen was of its snapshot all the same.
    fn fail(&mut self, must_have_been: &mut BTreeSet<(u8, usize, i8)>) {
        must_have_been.extend(self.seen.iter().map(|&(place, value)| (self.snapshot, place, value)));
        self.failures += 1;
        self.step = Step::Begin;
    }

    /// The transaction is over. States that differ only in what no longer matters become one.
    fn end_with(&mut self, must_have_been: &mut BTreeSet<(u8, usize, i8)>) {
        must_have_been.extend(self.seen.iter().map(|&(place, value)| (self.snapshot, place, value)));
        self.step = Step::Done;
        self.is_irrevocable = false;
        for log in [&mut self.seen, &mut self.writes, &mut self.undo] {
            log.clear();
        }
        self.registers.clear();
        self.reads.clear();
        self.held.clear();
        (self.snapshot, self.tick, self.failures, self.position) = (0, 0, 0, 0);
    }
}

#[derive(Default, Debug)]
struct Explored {
    states: usize,
    ends: usize,
    wrong: usize,
    deadlocks: usize,
}

use Op::{GiveUp, Read, Write, WriteRead};

const INCREMENT: &[Op] = &[Read(0), WriteRead(0, 0, 1)];
const PAIR: &[Op] = &[Write(0, 1), Write(1, 1)];
const OTHER_PAIR: &[Op] = &[Write(1, 2), Write(0, 2)];
const READ_PAIR: &[Op] = &[Read(0), Read(1)];
const READ_PAIR_AND_WRITE: &[Op] = &[Read(0), Read(1), WriteRead(2, 0, 5)];
const TRANSFER: &[Op] = &[Read(0), Read(1), WriteRead(0, 0, -1), WriteRead(1, 1, 1)];
const TRANSFER_BACK: &[Op] = &[Read(1), Read(0), WriteRead(1, 0, -2), WriteRead(0, 1, 2)];
const PAIR_AND_GIVE_UP: &[Op] = &[Write(0, 1), Write(1, 2), GiveUp];
const READ_AROUND: &[Op] = &[Read(0), Read(2), Read(1)];

/// Programs, and failures after which their transactions become irrevocable.
const PROGRAMS: &[(&str, &[&[Op]], u8)] = &[
    ("two increments", &[INCREMENT, INCREMENT], 2),
    ("write skew", &[&[Read(0), WriteRead(1, 0, 10)], &[Read(1), WriteRead(0, 0, 20)]], 2),
    ("a pair and its reader", &[PAIR, READ_PAIR], 2),
    ("a pair and its reader, which writes", &[PAIR, READ_PAIR_AND_WRITE], 2),
    ("transfers to and fro", &[TRANSFER, TRANSFER_BACK], 3),
    ("two pairs in opposite orders", &[PAIR, OTHER_PAIR], 2),
    ("an irrevocable pair that is given up", &[PAIR_AND_GIVE_UP, READ_PAIR], 0),
    ("a pair that is given up", &[PAIR_AND_GIVE_UP, READ_PAIR], 1),
    ("two irrevocable transfers", &[TRANSFER, TRANSFER_BACK], 0),
    ("three increments", &[INCREMENT, INCREMENT, INCREMENT], 1),
    ("a pair, another word, and a reader of all", &[PAIR, &[Write(2, 1)], READ_AROUND], 1),
    ("a reader among irrevocable writers", &[TRANSFER, TRANSFER_BACK, READ_PAIR], 0),
    (
        "write skew of three",
        &[&[Read(0), WriteRead(1, 0, 1)], &[Read(1), WriteRead(2, 0, 2)], &[Read(2), WriteRead(0, 0, 4)]],
        1,
    ),
];

#[test]
fn all_interleavings_are_opaque_and_come_to_an_end() {
    for &(name, programs, most_failures) in PROGRAMS {
        let explored = Model { programs, most_failures, without: None }.explore();
        assert!(explored.ends > 0, "{name}");
        assert_eq!((explored.wrong, explored.deadlocks), (0, 0), "{name}: {explored:?}");
    }
}

#[test]
fn every_check_is_needed() {
    for check in CHECKS {
        let noticed = PROGRAMS.iter().find(|&&(_, programs, most_failures)| {
            let explored = Model { programs, most_failures, without: Some(check) }.explore();
            explored.wrong + explored.deadlocks > 0
        });
        assert!(noticed.is_some(), "{check:?} is not needed");
    }
}
