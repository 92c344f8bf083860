//! Shortens a sequence that fails, as long as it fails in the same way.

use anyhow::Result;

use crate::run::{Failure, Runner};
use crate::sequence::{End, Sequence};

/// A shorter sequence that fails in the same way. What several threads do differs from run to run: each sequence is tried
/// several times.
pub(crate) fn minimise(runner: &Runner, sequence: &Sequence, failure: &Failure) -> Result<Sequence> {
    let fails = |candidate: &Sequence| -> Result<bool> {
        let tries = if candidate.threads > 1 { 4 } else { 1 };
        for _ in 0..tries {
            if runner.run(candidate)?.failure.is_some_and(|found| found.is_like(failure)) {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let mut best = sequence.clone();
    let mut on_one_thread = Sequence { threads: 1, ..best.clone() };
    on_one_thread.calls.iter_mut().for_each(|call| call.thread = 0);
    for candidate in [Sequence { end: End::Return, ..best.clone() }, on_one_thread] {
        let candidate =
            Sequence { end: if candidate.threads < best.threads { best.end } else { candidate.end }, ..candidate };
        if candidate != best && fails(&candidate)? {
            best = candidate;
        }
    }
    let mut part = best.calls.len().div_ceil(2);
    while part > 0 {
        let mut start = 0;
        while start < best.calls.len() {
            let mut candidate = best.clone();
            candidate.calls.drain(start..(start + part).min(best.calls.len()));
            if fails(&candidate)? {
                best = candidate;
            } else {
                start += part;
            }
        }
        part = if part == 1 { 0 } else { part.div_ceil(2) };
    }
    Ok(best)
}
