//! Whether racecheck finds the races of all small programs: every program of up to three accesses to one place, and with
//! `--ignored` of four, in every order of time that its barriers allow.
//!
//! An access is one of six operations (weak and volatile reads and writes, atomic operations of the scope of the block and of the
//! device) by one of four threads (one, a lane of its warp, one of another warp, one of another block); between two of them is
//! nothing, `__syncthreads` or `__syncwarp` (`definition.rs`, which says what races, too). Programs do not say in which order
//! their threads come, so each is executed in all orders: a later access may be made before an earlier one, unless a barrier
//! orders them or they are of one thread (`walk.rs`).
//!
//! racecheck keeps two records of a place. What it says of an access, and what it keeps after it, depends on nothing but these,
//! who makes the access, and how many barriers that thread has passed: so a place is an automaton. Its transitions come from the
//! code that runs in programs. A kernel under racecheck, for which the tool's own instance sets the words of the launch, makes
//! accesses to places that have the records of a state; afterwards the test reads these, and asks the instance what it makes of
//! what was recorded (`kernel.rs`, `transitions.rs`, `process.rs`). Each is asked for once, and all ways of running the kernel
//! must agree: both widths, and with four accesses both tiers and the interpreter. Programs of four accesses come to some ten
//! thousand states, so that a walk over a hundred million executions takes seconds.
//!
//! All of this in global memory and in shared memory, where blocks have memory of their own or one has what another one had before
//! it; by instructions that name the space, which have checks in straight-line code, and by generic ones, which only have the
//! helper; and in kernels with barriers of either kind, of both and of none, in which accesses are looked at in different ways.
//!
//! What is not covered: instructions that are executed several times, values that are the same, sizes that differ, order through
//! memory, barriers of some lanes or warps, and the version for GPUs; `scripts/racecheck-oracle` and `race_protocol.rs` have those.

#![allow(clippy::print_stderr, reason = "what was executed is for docs/racecheck-measurements.md")]

mod definition;
mod kernel;
mod known;
mod process;
mod transitions;
mod walk;

use std::collections::BTreeMap;

use definition::Space;
use kernel::{Addressing, Barriers, Setting};
use transitions::Ways;
use walk::{Automaton, Cells, Counts};

/// Executes all programs of up to so many accesses in a space.
fn run(space: Space, addressing: Addressing, ways: Ways, most: usize) {
    let cells: &[Cells] = match space {
        Space::Global => &[Cells::Same],
        Space::Shared => &[Cells::Apart, Cells::OneAfterTheOther],
    };
    let mut differing = BTreeMap::new();
    for barriers in Barriers::ALL {
        let setting = Setting { space, addressing, barriers };
        let mut automaton = Automaton::new(setting, ways);
        for (accesses, &cells) in (1..=most).flat_map(|accesses| cells.iter().map(move |cells| (accesses, cells))) {
            let mut counts = Counts::default();
            automaton.walk(cells, accesses, &mut counts, &mut |execution| {
                assert!(known::is_known(space, execution), "{execution:?}, {cells:?}, {setting:?}");
            });
            let (states, transitions) = automaton.size();
            eprintln!(
                "{setting:?}, {cells:?}, {accesses} accesses: {} programs, executions {:?}, {states} states, {transitions} transitions",
                counts.programs, counts.executions
            );
            if accesses == most {
                for (verdicts, count) in counts.executions.into_iter().filter(|((wanted, found), _)| wanted != found) {
                    *differing.entry(verdicts).or_default() += count;
                }
            }
        }
    }
    assert_eq!(differing, known::executions(space, most), "what differs is known, but not how often");
}

#[test]
fn three_accesses_to_global_memory() {
    run(Space::Global, Addressing::Direct, Ways::Widths, 3);
}

#[test]
fn three_generic_accesses_to_global_memory() {
    run(Space::Global, Addressing::Generic, Ways::Widths, 3);
}

#[test]
fn three_accesses_to_shared_memory() {
    run(Space::Shared, Addressing::Direct, Ways::Widths, 3);
}

#[test]
fn three_generic_accesses_to_shared_memory() {
    run(Space::Shared, Addressing::Generic, Ways::Widths, 3);
}

#[test]
#[ignore = "takes minutes"]
fn four_accesses_to_global_memory() {
    run(Space::Global, Addressing::Direct, Ways::All, 4);
}

#[test]
#[ignore = "takes minutes"]
fn four_generic_accesses_to_global_memory() {
    run(Space::Global, Addressing::Generic, Ways::All, 4);
}

#[test]
#[ignore = "takes minutes"]
fn four_accesses_to_shared_memory() {
    run(Space::Shared, Addressing::Direct, Ways::All, 4);
}

#[test]
#[ignore = "takes minutes"]
fn four_generic_accesses_to_shared_memory() {
    run(Space::Shared, Addressing::Generic, Ways::All, 4);
}
