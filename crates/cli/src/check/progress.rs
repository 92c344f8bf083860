//! A line on the terminal for runs that take long.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use report::{Session, plural};

/// For so long, nothing is shown.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often the line changes.
const INTERVAL: Duration = Duration::from_secs(1);

/// Who is shown how far a program is while it runs.
pub(crate) trait Observer {
    /// How often; nothing for never.
    fn interval(&self) -> Option<Duration>;

    /// What its processes have written so far, and how many of them are waited for if it has ended itself.
    fn show(&mut self, session: &Session, waiting_for: Option<usize>);

    /// Makes room for the report.
    fn clear(&mut self);
}

/// The line.
#[derive(Debug)]
pub(crate) struct Progress {
    since: Instant,
    shown: Option<Instant>,
    is_wanted: bool,
}

impl Progress {
    /// A line, if standard error is a terminal.
    pub(crate) fn new(is_wanted: bool) -> Self {
        Self { since: Instant::now(), shown: None, is_wanted: is_wanted && std::io::stderr().is_terminal() }
    }

    fn write(&self, text: &str) {
        // Without a terminal there is nobody to tell.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}

impl Observer for Progress {
    fn interval(&self) -> Option<Duration> {
        self.is_wanted.then_some(INTERVAL)
    }

    fn show(&mut self, session: &Session, waiting_for: Option<usize>) {
        let is_due = self.shown.map_or(self.since.elapsed() >= PATIENCE, |shown| shown.elapsed() >= INTERVAL / 2);
        if !self.is_wanted || !(is_due || (waiting_for.is_some() && self.shown.is_none())) {
            return;
        }
        let seconds = self.since.elapsed().as_secs();
        let time = format!("{}:{:02}", seconds / 60, seconds % 60);
        let report::Progress { launches, findings, .. } = session.progress();
        let [launches, findings] =
            [(launches, "launch"), (findings as u64, "finding")].map(|(count, noun)| plural(count, noun));
        let waiting = match waiting_for {
            None => String::new(),
            Some(count) => format!(", waiting for {count} more to end (Ctrl-C for the report)"),
        };
        self.write(&format!("\r\x1b[Kwarpgrind: {time}, {launches}, {findings}{waiting}"));
        self.shown = Some(Instant::now());
    }

    fn clear(&mut self) {
        if self.shown.take().is_some() {
            self.write("\r\x1b[K");
        }
    }
}
