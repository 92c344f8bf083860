//! How far a shard is, on a terminal.

use std::io::{IsTerminal, Write};
use std::time::Instant;

const CELLS: u64 = 24;

/// A line that is written again and again.
pub(super) struct Bar {
    title: String,
    all: u64,
    done: u64,
    /// What was there before this run.
    before: u64,
    since: Instant,
    is_shown: bool,
}

impl Bar {
    /// Of so many trials, of which so many are there.
    pub(super) fn new(title: String, all: u64, before: u64) -> Self {
        let bar =
            Self { title, all, done: before, before, since: Instant::now(), is_shown: std::io::stderr().is_terminal() };
        bar.show();
        bar
    }

    /// So many more are there.
    pub(super) fn add(&mut self, trials: u64) {
        self.done += trials;
        self.show();
    }

    /// How many trials ran in a second.
    pub(super) fn pace(&self) -> f64 {
        (self.done - self.before) as f64 / self.since.elapsed().as_secs_f64().max(1e-3)
    }

    fn show(&self) {
        if !self.is_shown {
            return;
        }
        let filled = (self.done * CELLS).checked_div(self.all).unwrap_or(CELLS).min(CELLS) as usize;
        let bar = "#".repeat(filled) + &"-".repeat(CELLS as usize - filled);
        let pace = self.pace();
        let left = if pace > 0.0 { (self.all - self.done) as f64 / pace } else { 0.0 };
        let (done, all) = (self.done, self.all);
        let _ = write!(
            std::io::stderr().lock(),
            "\r\x1b[K{} [{bar}] {done}/{all} trials, {pace:.0}/s, {left:.0} s left",
            self.title
        );
    }

    /// Takes the line away.
    pub(super) fn clear(&self) {
        if self.is_shown {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}
