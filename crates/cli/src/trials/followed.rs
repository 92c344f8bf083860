//! Trials that the program was forked for: what its copy did with the fault.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use report::{Exit, Row, Session};

use super::TOOL;
use super::ran::{Ran, read};
use crate::check::Observer;

/// Links in the session to the files that the program writes: their contents are kept after each copy.
pub(super) fn link_files(session: &Path, files: &[PathBuf]) -> Result<()> {
    for (number, file) in files.iter().enumerate() {
        let target = std::path::absolute(file).with_context(|| format!("finding {}", file.display()))?;
        let link = session.join(format!("output-{number}"));
        std::os::unix::fs::symlink(target, &link).with_context(|| format!("making {}", link.display()))?;
    }
    Ok(())
}

/// What became of a copy of the program.
pub(crate) struct Followed {
    pub(crate) trial: u64,
    pub(crate) ran: Ran,
    /// The files that it left behind, in the order of those that were asked for.
    pub(crate) files: Vec<PathBuf>,
}

impl Followed {
    /// As the program's process told it; nothing if there was no copy. What the program had printed before is a part of what its
    /// copy printed.
    pub(super) fn of(row: &Row, session: &Path, files: usize) -> Result<Option<Self>> {
        let exit = match (row.text("how"), i32::try_from(row.number("number"))) {
            ("code", Ok(code)) => Some(Exit::Code(code)),
            ("signal", Ok(signal)) => Some(Exit::Signal(signal)),
            ("late", _) => None,
            _ => return Ok(None),
        };
        let trial = row.number("trial");
        let printed = |stream: &str| -> Result<Vec<u8>> {
            let mut bytes = read(&session.join(stream))?;
            bytes.truncate(usize::try_from(row.number(stream)).unwrap_or(usize::MAX));
            bytes.extend(read(&session.join(format!("trial-{trial}.{stream}")))?);
            Ok(bytes)
        };
        let ran = Ran::of_copy(exit, printed("stdout")?, printed("stderr")?, row.number("findings") > 0);
        let files = (0..files).map(|number| session.join(format!("trial-{trial}.output-{number}"))).collect();
        Ok(Some(Self { trial, ran, files }))
    }

    /// What was kept of it goes.
    pub(super) fn remove(&self, session: &Path) {
        let streams = ["stdout", "stderr"].map(|stream| session.join(format!("trial-{}.{stream}", self.trial)));
        for file in streams.iter().chain(&self.files) {
            // The session goes anyway.
            let _ = std::fs::remove_file(file);
        }
    }
}

/// Who judges a copy of the program.
pub(crate) type Judge<'a> = dyn FnMut(&Followed) -> Result<()> + 'a;

/// How often copies are judged while others run: what they printed is kept until then.
const INTERVAL: Duration = Duration::from_secs(1);

/// Has copies of the program judged while it runs.
pub(super) struct Judging<'a, 'j> {
    observer: &'a mut dyn Observer,
    judge: Option<&'j mut Judge<'j>>,
    session: &'a Path,
    files: usize,
    /// Rows that were looked at, and trials that were judged.
    seen: usize,
    judged: BTreeSet<u64>,
    failed: Option<anyhow::Error>,
}

impl<'a, 'j> Judging<'a, 'j> {
    pub(super) fn new(
        observer: &'a mut dyn Observer,
        judge: Option<&'j mut Judge<'j>>,
        session: &'a Path,
        files: usize,
    ) -> Self {
        Self { observer, judge, session, files, seen: 0, judged: BTreeSet::new(), failed: None }
    }

    fn judge(&mut self, rows: &[Row]) -> Result<()> {
        let Some(judge) = &mut self.judge else { return Ok(()) };
        for row in rows.iter().filter(|row| row.tool == TOOL && row.table == "ends") {
            // What was judged has gone.
            if !self.judged.insert(row.number("trial")) {
                continue;
            }
            if let Some(followed) = Followed::of(row, self.session, self.files)? {
                judge(&followed)?;
                followed.remove(self.session);
            }
        }
        Ok(())
    }

    /// The program has ended: what is left is judged.
    pub(super) fn finish(mut self, rows: &[Row]) -> Result<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.judge(rows),
        }
    }
}

impl Observer for Judging<'_, '_> {
    fn interval(&self) -> Option<Duration> {
        self.observer.interval().or_else(|| self.judge.is_some().then_some(INTERVAL))
    }

    fn show(&mut self, session: &Session, waiting_for: Option<usize>) {
        let rows = session.rows();
        let new = &rows[self.seen.min(rows.len())..];
        if self.failed.is_none()
            && let Err(error) = self.judge(new)
        {
            self.failed = Some(error);
        }
        self.seen = rows.len();
        self.observer.show(session, waiting_for);
    }

    fn clear(&mut self) {
        self.observer.clear();
    }
}
