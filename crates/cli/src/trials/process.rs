//! Running the program under the tool.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use report::{Exit, Session, demangled};
use settings::{Settings, ToolFlag};

use super::followed::{Judge, Judging, link_files};
use super::progress::Progress;
use super::ran::{Ran, read};
use crate::check::{self, Directory, Observer, ProgramRun, watch};
use crate::target::{self, Target};

/// How long processes are waited for that the program has left behind.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a program with a limit is looked at.
const INTERVAL: Duration = Duration::from_millis(2);

/// Runs the program any number of times.
pub(crate) struct Runner<'a> {
    target: &'a Target,
    has_progress: bool,
    /// Whether kernels run on one thread, in an order that depends on the seed only.
    is_seeded: bool,
}

/// How the program is run.
#[derive(Default)]
pub(crate) struct How<'a> {
    /// How long it may take.
    pub(crate) limit: Option<Duration>,
    /// Who is shown how far trials are; nothing for the line of all commands.
    pub(crate) observer: Option<&'a mut Progress>,
    /// Files that it writes, and copies of it.
    pub(crate) files: &'a [PathBuf],
    /// Who judges copies of the program that were forked, each.
    pub(crate) judge: Option<&'a mut Judge<'a>>,
    /// How the program must end after a trial, if it must go on as without. Looked at where each trial has a process of its own.
    pub(crate) exit: Option<Exit>,
}

impl<'a> Runner<'a> {
    /// For a program. If there is none, the user has been told why, and this is the exit code.
    pub(crate) fn new(target: &'a Target) -> Result<Self, u8> {
        target.command()?;
        Ok(Self { target, has_progress: true, is_seeded: true })
    }

    /// Without a line that says how far the program is.
    pub(crate) fn without_progress(self) -> Self {
        Self { has_progress: false, ..self }
    }

    /// With kernels on all processors, in whatever order.
    pub(crate) fn on_all_processors(self) -> Self {
        Self { is_seeded: false, ..self }
    }

    /// Whether a GPU runs the kernels.
    pub(crate) fn is_on_gpu(&self) -> bool {
        self.target.is_on_gpu()
    }

    /// The seed of faults and schedules.
    pub(crate) fn seed(&self) -> u64 {
        self.target.seed().unwrap_or(0)
    }

    /// Runs it with these tools. Its output is kept. If it cannot be started, the user has been told, and this is the exit code.
    pub(crate) fn run(&self, tools: &[&str], flags: Vec<ToolFlag>, how: How<'_>) -> Result<Result<Ran, u8>> {
        let (mut command, mut settings) = match self.target.command() {
            Ok(prepared) => prepared,
            Err(code) => return Ok(Err(code)),
        };
        let How { limit, observer, files, judge, exit: _ } = how;
        let directory = Directory::create(false)?;
        link_files(directory.path(), files)?;
        settings.device.seed = (self.is_seeded && !self.is_on_gpu()).then(|| self.seed());
        settings.tools = settings::Tools {
            names: tools.iter().map(|&tool| tool.to_owned()).collect(),
            session: Some(directory.path().to_owned()),
            flags,
            ..settings::Tools::default()
        };
        set(&mut command, &settings);
        let [stdout, stderr] = ["stdout", "stderr"].map(|name| directory.path().join(name));
        command.stdout(file(&stdout)?).stderr(file(&stderr)?).stdin(Stdio::null());
        let mut is_late = false;
        let (exit, report) = match limit {
            None => {
                let mut line = check::Progress::new(self.has_progress);
                let observer: &mut dyn Observer = match observer {
                    Some(observer) => observer,
                    None => &mut line,
                };
                let mut judging = Judging::new(observer, judge, directory.path(), files.len());
                match watch(command, &directory, &mut judging, PATIENCE)? {
                    Ok(ProgramRun { exit, report, .. }) => {
                        judging.finish(&report.rows)?;
                        (exit, report)
                    }
                    Err(error) => return Ok(Err(self.target.refused(error))),
                }
            }
            Some(limit) => {
                let mut child = match command.spawn() {
                    Ok(child) => child,
                    Err(error) => return Ok(Err(self.target.refused(error))),
                };
                let started = Instant::now();
                let status = loop {
                    if let Some(status) = child.try_wait().context("waiting for the program")? {
                        break status;
                    }
                    if started.elapsed() > limit {
                        is_late = true;
                        child.kill().context("ending the program")?;
                        break child.wait().context("waiting for the program")?;
                    }
                    std::thread::sleep(INTERVAL);
                };
                let mut session = Session::new(directory.path());
                session.poll().with_context(|| format!("reading {}", directory.path().display()))?;
                (exit_of(status), session.finish(|_| false))
            }
        };
        let gaps = report.processes.iter().flat_map(|checked| &checked.unchecked);
        let unchecked = gaps.map(|gap| match gap.kernel.is_empty() {
            true => gap.reason.clone(),
            false => format!("{}: {}", demangled(&gap.kernel), gap.reason),
        });
        Ok(Ok(Ran {
            exit,
            is_late,
            stdout: read(&stdout)?,
            stderr: read(&stderr)?,
            processes: report.processes.len(),
            unchecked: unchecked.collect(),
            has_findings: report.findings.iter().any(|found| !found.finding.is_told_to_program()),
            is_of_many: false,
            rows: report.rows,
        }))
    }
}

fn set(command: &mut Command, settings: &Settings) {
    target::set(command, settings);
}

fn exit_of(status: std::process::ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    status.code().map_or_else(|| Exit::Signal(status.signal().unwrap_or(0)), Exit::Code)
}

fn file(path: &Path) -> Result<File> {
    File::create_new(path).with_context(|| format!("making {}", path.display()))
}
