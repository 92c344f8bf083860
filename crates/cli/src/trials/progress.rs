//! How far trials are: a line on the terminal, or a line now and then.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use ptx::diagnostic::printable;
use report::{Row, Session};

use super::{TOOL, Trial};
use crate::check::Observer;
use crate::output;

/// How often rows are read, and the line on a terminal changes.
const INTERVAL: Duration = Duration::from_millis(500);
/// How often there is a line where there is no terminal.
const SELDOM: Duration = Duration::from_secs(30);

/// What is known of trials so far.
#[derive(Debug)]
pub(crate) struct Progress {
    is_wanted: bool,
    is_terminal: bool,
    total: u64,
    done: u64,
    /// When the first of them were seen, and how many: what came before trials is no part of their rate.
    since: Option<(Instant, u64)>,
    outcomes: BTreeMap<String, u64>,
    /// Rows that were looked at.
    seen: usize,
    shown: Option<Instant>,
}

impl Progress {
    /// Of so many trials.
    pub(crate) fn new(is_wanted: bool, total: u64) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let outcomes = BTreeMap::new();
        Self { is_wanted, is_terminal, total, done: 0, since: None, outcomes, seen: 0, shown: None }
    }

    /// Trials are followed to the end of the program, so many: what came of them is counted anew.
    pub(crate) fn follow(&mut self, total: u64) {
        self.clear();
        (self.total, self.since, self.done) = (total, None, 0);
        self.outcomes.clear();
    }

    /// One more trial has ended.
    pub(crate) fn count(&mut self, outcome: &str) {
        self.done += 1;
        *self.outcomes.entry(outcome.to_owned()).or_default() += 1;
    }

    /// Shows it, if it is time.
    pub(crate) fn tell(&mut self) {
        if !self.is_wanted || self.done == 0 {
            return;
        }
        let (since, first) = *self.since.get_or_insert_with(|| (Instant::now(), self.done));
        let interval = if self.is_terminal { INTERVAL } else { SELDOM };
        if self.shown.unwrap_or(since).elapsed() < interval {
            return;
        }
        let line = self.line(self.done - first, since.elapsed());
        match self.is_terminal {
            // Without a terminal there is nobody to tell.
            true => drop(std::io::stderr().lock().write_all(format!("\r\x1b[Kwarpgrind: {line}").as_bytes())),
            false => output::complain(&line, ""),
        }
        self.shown = Some(Instant::now());
    }

    /// So many trials took so long.
    fn line(&self, trials: u64, elapsed: Duration) -> String {
        let per_second = trials as f64 / elapsed.as_secs_f64().max(0.001);
        let outcomes: Vec<String> =
            self.outcomes.iter().map(|(name, count)| format!("{count} {}", printable(name))).collect();
        let left = self.total.saturating_sub(self.done) as f64 / per_second.max(0.001);
        let left = Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX).as_secs();
        let time = match per_second > 0.0 {
            true => format!(", {}:{:02} left", left / 60, left % 60),
            false => String::new(),
        };
        format!("{} of {} trials, {per_second:.0} per second: {}{time}", self.done, self.total, outcomes.join(", "))
    }
}

impl Observer for Progress {
    fn interval(&self) -> Option<Duration> {
        self.is_wanted.then_some(INTERVAL)
    }

    fn show(&mut self, session: &Session, _waiting_for: Option<usize>) {
        let rows = session.rows();
        let is_trial = |row: &&Row| row.tool == TOOL && row.table == "trials";
        for row in rows[self.seen.min(rows.len())..].iter().filter(is_trial) {
            self.count(Trial::of(row).last_outcome());
        }
        self.seen = rows.len();
        self.tell();
    }

    fn clear(&mut self) {
        if self.shown.take().is_some() && self.is_terminal {
            let _ = std::io::stderr().lock().write_all(b"\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_outcomes_and_the_time_that_is_left() {
        let mut progress = Progress::new(true, 1000);
        for trial in 0..101 {
            progress.count(if trial % 4 == 0 { "sdc" } else { "masked" });
        }
        let line = progress.line(100, Duration::from_secs(10));
        assert_eq!(line, "101 of 1000 trials, 10 per second: 75 masked, 26 sdc, 1:29 left");
        progress.follow(26);
        progress.count("due\x1b[2J");
        let line = progress.line(0, Duration::from_secs(10));
        assert!(line.starts_with("1 of 26 trials, 0 per second: 1 due") && !line.contains('\x1b'), "{line}");
    }
}
