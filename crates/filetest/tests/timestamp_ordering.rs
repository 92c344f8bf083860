//! The check of `repair` in all interleavings of two and three threads (`crates/tools/src/repair/README.md`, "The check").
//!
//! Threads have up to three accesses to two cells. Every interleaving is followed until an access is late; then the launch runs
//! again, and what it has done does not matter. One in which none is late must leave behind what threads do that run one after
//! another: all of memory, and all that they have read.
//!
//! Each comparison is left out in turn, which must be noticed in some interleaving.

/// What a thread does to a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    Read(usize),
    /// Writes what follows from all that the thread has read.
    Write(usize),
    /// Writes what all others do that write in this way.
    WriteSame(usize),
    /// A reduction: adds to the cell, and reads nothing.
    Add(usize),
    /// Sets the cell if it is [`UNSET`]: a read, and a step later a write.
    Set(usize),
    /// Reads whether the cell has a value.
    Test(usize, u32),
}

const CELLS: usize = 2;
const UNSET: u32 = 0;
const SET: u32 = 1;
/// What [`Op::WriteSame`] writes.
const SAME: u32 = 1 << 20;

/// A comparison, or what stands for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Comparison {
    ReadAfterWrite,
    ReadAfterReduction,
    WriteAfterRead,
    WriteAfterWrite,
    WriteAfterReduction,
    ReductionAfterRead,
    ReductionAfterWrite,
    /// Only a write of the same is not late because of another.
    SameValue,
    SetAfterWrite,
    SetAfterRead,
    TestAfterWrite,
    /// A test that a cell passes before it is set, and not after, or the other way round.
    SetChangesTest,
}

use Comparison::*;

/// The largest turns that have accessed a cell; a set and a test count as reductions, because they have no order among each
/// other.
#[derive(Clone, Copy, Default)]
struct Records {
    written: usize,
    read: usize,
    reduced: usize,
}

#[derive(Clone, Copy, Default)]
struct Thread {
    /// Steps that are done: an operation, and whether a set has read.
    next: usize,
    is_half_done: bool,
    /// What it has read, as a number.
    seen: u32,
}

#[derive(Clone, Copy)]
struct State {
    cells: [u32; CELLS],
    records: [Records; CELLS],
    threads: [Thread; 3],
}

impl State {
    fn new() -> Self {
        Self { cells: [UNSET; CELLS], records: Default::default(), threads: Default::default() }
    }

    /// What is left behind.
    fn left(&self) -> ([u32; CELLS], [u32; 3]) {
        (self.cells, self.threads.map(|thread| thread.seen))
    }
}

/// The programs of the threads, and what is left out of the check.
struct Model<'a> {
    programs: &'a [&'a [Op]],
    without: Option<Comparison>,
    /// The values that are tested.
    tested: &'a [u32],
}

impl Model<'_> {
    /// The next step of a thread; nothing if it is late.
    fn step(&self, mut state: State, number: usize) -> Option<State> {
        let own = number + 1;
        let thread = &mut state.threads[number];
        let op = self.programs[number][thread.next];
        let (Op::Read(cell)
        | Op::Write(cell)
        | Op::WriteSame(cell)
        | Op::Add(cell)
        | Op::Set(cell)
        | Op::Test(cell, _)) = op;
        let (records, memory) = (&mut state.records[cell], &mut state.cells[cell]);
        let is_late = |comparison, other: usize| other > own && self.without != Some(comparison);
        let mut see = |value: u32| thread.seen = thread.seen.wrapping_mul(31).wrapping_add(value + 1);
        match op {
            Op::Read(_) => {
                if is_late(ReadAfterWrite, records.written) || is_late(ReadAfterReduction, records.reduced) {
                    return None;
                }
                records.read = records.read.max(own);
                see(*memory);
            }
            Op::Write(_) | Op::WriteSame(_) => {
                let value =
                    if op == Op::WriteSame(cell) { SAME } else { 2 + thread.seen.wrapping_mul(4) + number as u32 };
                if is_late(WriteAfterRead, records.read) || is_late(WriteAfterReduction, records.reduced) {
                    return None;
                }
                let is_same = *memory == value || self.without == Some(SameValue);
                if is_late(WriteAfterWrite, records.written) && !is_same {
                    return None;
                }
                records.written = records.written.max(own);
                *memory = value;
            }
            Op::Add(_) => {
                if is_late(ReductionAfterRead, records.read) || is_late(ReductionAfterWrite, records.written) {
                    return None;
                }
                records.reduced = records.reduced.max(own);
                *memory = memory.wrapping_add(3 + number as u32);
            }
            Op::Test(_, value) => {
                if is_late(TestAfterWrite, records.written) {
                    return None;
                }
                records.reduced = records.reduced.max(own);
                see(u32::from(*memory == value));
            }
            // Also where it will not write: before the read that came too early it would have.
            Op::Set(_) if !thread.is_half_done => {
                if is_late(SetAfterWrite, records.written) || is_late(SetAfterRead, records.read) {
                    return None;
                }
                records.reduced = records.reduced.max(own);
                if *memory == UNSET {
                    thread.is_half_done = true;
                    return Some(state);
                }
            }
            Op::Set(_) => {
                if is_late(SetAfterWrite, records.written) || is_late(SetAfterRead, records.read) {
                    return None;
                }
                let changes = self.tested.iter().any(|&value| (*memory == value) != (SET == value));
                if changes && self.without != Some(SetChangesTest) {
                    // It is a write like any other.
                    if records.reduced > own {
                        return None;
                    }
                    records.written = records.written.max(own);
                }
                *memory = SET;
                thread.is_half_done = false;
            }
        }
        thread.next += 1;
        Some(state)
    }

    fn is_done(&self, state: &State, thread: usize) -> bool {
        state.threads[thread].next == self.programs[thread].len()
    }

    /// Whether all interleavings without a late access leave behind what the serial order does; counts these.
    fn holds(&self, count: &mut u64) -> bool {
        let mut serial = State::new();
        for thread in 0..self.programs.len() {
            while !self.is_done(&serial, thread) {
                serial = self.step(serial, thread).expect("no access is late in the serial order");
            }
        }
        self.explore(State::new(), &serial.left(), count)
    }

    fn explore(&self, state: State, wanted: &([u32; CELLS], [u32; 3]), count: &mut u64) -> bool {
        let (mut is_over, mut holds) = (true, true);
        for thread in (0..self.programs.len()).filter(|&thread| !self.is_done(&state, thread)) {
            is_over = false;
            if let Some(next) = self.step(state, thread) {
                holds &= self.explore(next, wanted, count);
            }
        }
        *count += u64::from(is_over);
        holds && (!is_over || state.left() == *wanted)
    }
}

/// All programs of one to so many operations.
fn programs(ops: &[Op], most: usize) -> Vec<Vec<Op>> {
    let mut all: Vec<Vec<Op>> = Vec::new();
    let mut last = vec![Vec::new()];
    for _ in 0..most {
        last = last.iter().flat_map(|program| ops.iter().map(|&op| [&program[..], &[op]].concat())).collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// The operations on both cells.
fn on_both(ops: &[fn(usize) -> Op]) -> Vec<Op> {
    (0..CELLS).flat_map(|cell| ops.iter().map(move |op| op(cell))).collect()
}

/// Some threads, and all programs of so many operations that they may have.
struct Case {
    threads: usize,
    ops: Vec<Op>,
    most: usize,
}

impl Case {
    /// How many interleavings are as the serial order; nothing if one has no late access and is not.
    fn check(&self, without: Option<Comparison>) -> Option<u64> {
        let programs = programs(&self.ops, self.most);
        let tested: Vec<u32> =
            self.ops.iter().filter_map(|op| if let Op::Test(_, value) = op { Some(*value) } else { None }).collect();
        let mut count = 0;
        let combinations = programs.len().pow(self.threads as u32);
        for number in 0..combinations {
            let chosen: Vec<&[Op]> = (0..self.threads as u32)
                .map(|thread| &programs[number / programs.len().pow(thread) % programs.len()][..])
                .collect();
            // Cells have no names: the first access is to the first one.
            let (Op::Read(cell)
            | Op::Write(cell)
            | Op::WriteSame(cell)
            | Op::Add(cell)
            | Op::Set(cell)
            | Op::Test(cell, _)) = chosen[0][0];
            if cell == 0 && !(Model { programs: &chosen, without, tested: &tested }).holds(&mut count) {
                return None;
            }
        }
        Some(count)
    }
}

/// Reads, writes, writes of the same, and reductions.
fn all_kinds() -> Case {
    Case { threads: 2, ops: on_both(&[Op::Read, Op::Write, Op::WriteSame, Op::Add]), most: 3 }
}

fn three_threads() -> Case {
    Case { threads: 3, ops: on_both(&[Op::Read, Op::Write]), most: 3 }
}

/// Places that are set if they are not, beside tests, of which none notices, or one.
fn sets(tested: u32) -> Vec<Case> {
    let ops = |cells: usize| -> Vec<Op> {
        let of = |cell| [Op::Read(cell), Op::Write(cell), Op::Set(cell), Op::Test(cell, tested)];
        (0..cells).flat_map(of).collect()
    };
    vec![Case { threads: 2, ops: ops(2), most: 3 }, Case { threads: 3, ops: ops(1), most: 2 }]
}

#[test]
fn two_threads_with_all_kinds_of_accesses() {
    assert!(all_kinds().check(None).expect("an interleaving is not as the serial order") > 500_000);
}

#[test]
fn three_threads_that_read_and_write() {
    assert!(three_threads().check(None).expect("an interleaving is not as the serial order") > 1_000_000);
}

#[test]
fn places_that_are_tested_and_set() {
    for tested in [UNSET, SET, 7] {
        for case in sets(tested) {
            assert!(case.check(None).expect("an interleaving is not as the serial order") > 10_000);
        }
    }
}

#[test]
fn every_comparison_is_needed() {
    let small = |ops: &[fn(usize) -> Op]| Case { threads: 2, ops: on_both(ops), most: 2 };
    for comparison in [ReadAfterWrite, WriteAfterRead, WriteAfterWrite, SameValue] {
        assert_eq!(small(&[Op::Read, Op::Write]).check(Some(comparison)), None, "{comparison:?}");
    }
    for comparison in [ReadAfterReduction, WriteAfterReduction, ReductionAfterRead, ReductionAfterWrite] {
        assert_eq!(small(&[Op::Read, Op::Write, Op::Add]).check(Some(comparison)), None, "{comparison:?}");
    }
    for comparison in [SetAfterWrite, SetAfterRead, TestAfterWrite, SetChangesTest] {
        let found = sets(SET).iter().any(|case| case.check(Some(comparison)).is_none());
        assert!(found, "{comparison:?}");
    }
}
