//! What came of a run.
//!
//! **What was not checked is not clean.** A run in which no process used CUDA, a kernel could not be checked, a process
//! still runs, or a line cannot be read has an exit code of its own. What the user did not want to have checked is
//! counted, and no failure.

use crate::finding::{Finding, Severity};
use crate::journal::{Coverage, Process};
use crate::plural::plural;
use crate::signal::signal_name;
use crate::table::Row;

/// What the processes of a run wrote down.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Report {
    /// Each finding once, in an order that does not depend on who was faster.
    pub findings: Vec<Found>,
    /// The processes that used CUDA.
    pub processes: Vec<Checked>,
    /// Processes that have not used CUDA, and may still do so: their numbers and programs.
    pub left_running: Vec<(u32, String)>,
    /// Files that could not be understood at all.
    pub unreadable_journals: u64,
    /// Findings that there was no room for, here or in the processes.
    pub lost: u64,
    /// What tools counted. Rows of a table are together.
    pub rows: Vec<Row>,
    /// Rows that there was no room for.
    pub lost_rows: u64,
    /// Findings that the user does not want to see.
    pub suppressed: Vec<Found>,
    /// Findings that the baseline has, which do not count.
    pub known: Vec<Found>,
    /// Suppressions that nothing fitted: their names, and where they stand.
    pub unused_suppressions: Vec<String>,
}

/// A finding, and who found it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// What was found.
    pub finding: Finding,
    /// The processes in which it was found.
    pub processes: Vec<u32>,
    /// The seed of the schedule under which it was found.
    pub seed: Option<u64>,
    /// The flags of the command that repeat it.
    pub repeat: Option<String>,
    /// What it is recognised by in other runs ([`Report::identify`]); empty before.
    pub fingerprint: String,
}

/// A process that was checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// What it is.
    pub process: Process,
    /// How much of it was checked.
    pub coverage: Coverage,
    /// What could not be checked.
    pub unchecked: Vec<Gap>,
    /// What was not to be checked.
    pub skipped: Vec<Gap>,
    /// It said that it ended. If it did not, it crashed, was killed, or still runs.
    pub has_ended: bool,
    /// The signal that ended it, if it could say so: of `SIGKILL` it knows nothing.
    pub signal: Option<i32>,
    /// It ended, and not in an orderly way, before a kernel that it had launched.
    pub ended_in_a_kernel: bool,
    /// All that it launched and wrote down is in its journal.
    pub is_accounted: bool,
    /// It was still running when the report was made.
    pub is_running: bool,
    /// Lines that could not be understood.
    pub unreadable_lines: u64,
}

impl Checked {
    /// How the process ended, if it was not done. Who asks a process to end that waits for work, as pools of workers do,
    /// does not interrupt it.
    fn ended_early(&self) -> Option<String> {
        let is_asked = |signal| matches!(signal, libc::SIGTERM | libc::SIGINT | libc::SIGHUP);
        let by = self.signal.map(|signal| format!("by {}", signal_name(signal)));
        match (by, self.ended_in_a_kernel) {
            (Some(by), true) => Some(format!("{by} in the middle of a kernel")),
            (None, true) => Some("in the middle of a kernel".to_owned()),
            (by, false) => by.filter(|_| !self.has_ended && !self.signal.is_some_and(is_asked)),
        }
    }
}

/// A kernel that was not checked.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Gap {
    /// The kernel, as the compiler names it; empty for all of a module.
    pub kernel: String,
    /// Why.
    pub reason: String,
}

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

/// What was asked for, and how the program ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The tools.
    pub tools: Vec<String>,
    /// The program with its arguments.
    pub command: Vec<String>,
    /// How it ended.
    pub exit: Exit,
    /// Whether a program that does not use CUDA counts as not checked.
    pub requires_cuda: bool,
    /// Whether it counts as not checked if no kernel was.
    pub requires_kernels: bool,
    /// Whether warnings count as errors.
    pub warnings_count: bool,
}

/// What a report comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// All was checked, and nothing is wrong.
    Clean,
    /// Something is wrong.
    Findings,
    /// Nothing is known to be wrong, but not all was checked.
    NotChecked,
    /// What was done is right and was checked, but a signal ended the program before it was done.
    EndedBySignal,
}

impl Verdict {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Findings => "findings",
            Self::NotChecked => "not-checked",
            Self::EndedBySignal => "ended-by-signal",
        }
    }
}

impl Run {
    /// Whether a finding changes the verdict.
    pub(crate) fn counts(&self, finding: &Finding) -> bool {
        self.warnings_count || finding.severity == Severity::Error
    }
}

impl Report {
    /// How many findings there was no room for, and how to see them; nothing if there was room for all.
    pub(crate) fn lost_findings(&self) -> Option<String> {
        let found = plural(self.lost, "more finding");
        (self.lost > 0).then(|| format!("{found} that there was no room for: repair what is shown, and run it again"))
    }

    /// What it comes to.
    pub fn verdict(&self, run: &Run) -> Verdict {
        if self.lost > 0 || self.findings.iter().any(|found| run.counts(&found.finding)) {
            Verdict::Findings
        } else if !self.incomplete(run).is_empty() {
            Verdict::NotChecked
        } else if let Exit::Signal(_) = run.exit {
            Verdict::EndedBySignal
        } else {
            Verdict::Clean
        }
    }

    /// What was asked for and not done, as sentences.
    pub fn incomplete(&self, run: &Run) -> Vec<String> {
        let mut sentences = Vec::new();
        if self.processes.is_empty() && run.requires_cuda {
            sentences.push(match self.unreadable_journals {
                0 => "the program did not use CUDA, so nothing was checked".to_owned(),
                _ => "nothing is known of the program, because what it wrote down cannot be read".to_owned(),
            });
        } else if self.unreadable_journals > 0 {
            sentences.push("what some processes wrote down cannot be read".to_owned());
        }
        if run.requires_kernels && self.processes.iter().all(|checked| checked.coverage.kernels == 0) {
            sentences.push(
                "no kernel was checked, which --ci does not accept: look whether the program launches any, and what \
                 --kernel-name and --launch-skip leave out"
                    .to_owned(),
            );
        }
        if self.lost_rows > 0 {
            sentences.push(format!("{} rows of tables were left out: there was no room for them", self.lost_rows));
        }
        for (id, program) in &self.left_running {
            sentences.push(format!(
                "process {id} ({program}) is still running; what it does with CUDA later is not checked"
            ));
        }
        for checked in &self.processes {
            let Process { id, program, tools, .. } = &checked.process;
            let missing: Vec<&str> =
                run.tools.iter().filter(|tool| !tools.contains(tool)).map(String::as_str).collect();
            if !missing.is_empty() {
                sentences.push(format!("{} did not run in process {id} ({program})", missing.join(", ")));
            }
            match checked.unchecked.len() {
                0 => {}
                _ => sentences.push(format!("not all of process {id} ({program}) could be checked")),
            }
            if checked.unreadable_lines > 0 {
                sentences.push(format!("some of what process {id} ({program}) wrote down cannot be read"));
            } else if !checked.is_accounted {
                sentences.push(format!("some of what process {id} ({program}) launched or found was lost"));
            }
            // Of a program that a signal ends, all processes may be ended by it: that is another verdict.
            if matches!(run.exit, Exit::Code(_))
                && let Some(how) = checked.ended_early()
            {
                sentences
                    .push(format!("process {id} ({program}) was ended {how}; what it had still to do was not checked"));
            }
            if checked.is_running {
                sentences.push(format!("process {id} ({program}) is still running; what it finds later is not here"));
            }
        }
        sentences
    }
}
