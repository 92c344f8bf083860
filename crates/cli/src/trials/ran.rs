//! What came of a run of the program.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};
use report::{Exit, Row};

use super::TOOL;

/// More output of the program is not compared.
const MOST_OUTPUT: u64 = 256 << 20;
/// So much of the end of it is told if the program launches nothing.
const MOST_LINES: usize = 5;
const MOST_TAIL: usize = 4096;

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: Exit,
    /// Whether it took longer than it may.
    pub(crate) is_late: bool,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) processes: usize,
    /// What was not done, and why.
    pub(crate) unchecked: Vec<String>,
    /// Whether a tool noticed something.
    pub(crate) has_findings: bool,
    /// Whether each trial had a process, so that how the program ended is that of one of them.
    pub(crate) is_of_many: bool,
    pub(super) rows: Vec<Row>,
}

impl Ran {
    /// A copy of the program; it has no exit if it took longer than it may.
    pub(super) fn of_copy(exit: Option<Exit>, stdout: Vec<u8>, stderr: Vec<u8>, has_findings: bool) -> Self {
        let (is_late, exit) = (exit.is_none(), exit.unwrap_or(Exit::Signal(signal_hook::consts::SIGKILL)));
        let (unchecked, rows) = (Vec::new(), Vec::new());
        Self { exit, is_late, stdout, stderr, processes: 1, unchecked, has_findings, is_of_many: false, rows }
    }

    /// The last that it wrote to standard error.
    pub(super) fn last_lines_of_stderr(&self) -> Vec<String> {
        let tail = &self.stderr[self.stderr.len().saturating_sub(MOST_TAIL)..];
        let lines: Vec<String> = String::from_utf8_lossy(tail).lines().map(str::to_owned).collect();
        lines[lines.len().saturating_sub(MOST_LINES)..].to_vec()
    }

    /// The rows of a table.
    pub(crate) fn rows(&self, table: &'static str) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.tool == TOOL && row.table == table)
    }
}

/// The beginning of a file, which is all of what programs print.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path).with_context(|| format!("reading {}", path.display()))?;
    file.take(MOST_OUTPUT).read_to_end(&mut bytes).with_context(|| format!("reading {}", path.display()))?;
    Ok(bytes)
}
