//! Runs a sequence in a process of its own, and says what came of it.

use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::execute::{BEGUN, FAILED, FORKED_CHILD, SUCCEEDED};
use crate::sequence::Sequence;

/// Where and how sequences run.
#[derive(Clone, Debug)]
pub(crate) struct Runner {
    /// Nothing, or a command that the process runs under.
    pub(crate) under: Vec<String>,
    /// The library that has the functions.
    pub(crate) library: PathBuf,
    /// Without any progress for so long, it hangs.
    pub(crate) patience: Duration,
    /// A directory for files of this runner.
    pub(crate) directory: PathBuf,
}

/// What came of a sequence.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) failure: Option<Failure>,
    /// A byte for each call.
    pub(crate) progress: Vec<u8>,
}

/// What must not be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    Signal(i32),
    Hang,
    /// With the place in the sources, if there is one.
    Panic(String),
    ForkedChild,
    /// The process could not even begin.
    NotStarted(String),
}

impl Failure {
    /// Whether two are probably the same bug.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Panic(one), Self::Panic(two)) => one == two,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// The exit code of a shell, and of `warpgrind`, for a program that was ended by a signal.
const SIGNALLED: i32 = 128;

impl Runner {
    pub(crate) fn run(&self, sequence: &Sequence) -> Result<Outcome> {
        fs::create_dir_all(&self.directory)?;
        let path = |name: &str| self.directory.join(name);
        fs::write(path("sequence"), sequence.to_string())?;
        fs::write(path("progress"), vec![0; sequence.calls.len()])?;
        let errors = File::create(path("errors"))?;
        let this = std::env::current_exe()?;
        let mut words: Vec<std::ffi::OsString> = self.under.iter().map(Into::into).collect();
        words.push(this.into());
        words.extend(["replay".into(), "--library".into(), self.library.clone().into()]);
        words.extend(["--progress".into(), path("progress").into(), path("sequence").into()]);
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            // Functions write to paths that they are given.
            .current_dir(&self.directory)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors)
            .process_group(0)
            .spawn()
            .with_context(|| format!("starting {}", words[0].display()))?;
        let progress = || fs::read(path("progress")).unwrap_or_default();
        let made = |progress: &[u8]| progress.iter().map(|byte| u64::from(*byte)).sum::<u64>();
        let (mut seen, mut since, mut pause) = (0, Instant::now(), Duration::from_millis(2));
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if since.elapsed() > self.patience {
                let now = made(&progress());
                if now == seen {
                    // All that it started is in its group.
                    let group = format!("-{}", child.id());
                    let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
                    child.wait()?;
                    break None;
                }
                (seen, since) = (now, Instant::now());
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        };
        let errors = String::from_utf8_lossy(&fs::read(path("errors"))?).into_owned();
        let progress = progress();
        let code = status.and_then(|status| status.code()).unwrap_or(0);
        let signal = status.and_then(|status| status.signal()).or((code > SIGNALLED).then_some(code - SIGNALLED));
        let failure = if status.is_none() {
            Some(Failure::Hang)
        } else if let Some(place) = panicked(&errors) {
            Some(Failure::Panic(place))
        } else if let Some(signal) = signal {
            Some(Failure::Signal(signal))
        } else if errors.contains(FORKED_CHILD) {
            Some(Failure::ForkedChild)
        } else if !progress.is_empty() && progress[0] == 0 {
            Some(Failure::NotStarted(errors))
        } else {
            None
        };
        Ok(Outcome { failure, progress })
    }
}

/// Where a panic was, if there was one.
fn panicked(errors: &str) -> Option<String> {
    let line = errors.lines().find(|line| line.contains("panicked at ") || line.contains("bug of Warpgrind's own"))?;
    let place = line.split_once("panicked at ").map_or(line, |(_, place)| place);
    Some(place.trim_end_matches(':').to_owned())
}

impl Outcome {
    /// Calls that returned, and how many of them without an error.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let count = |wanted: u8| self.progress.iter().filter(|byte| **byte == wanted).count() as u64;
        (count(SUCCEEDED) + count(FAILED), count(SUCCEEDED))
    }

    /// Calls that were going on at the end.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = usize> {
        self.progress.iter().enumerate().filter(|(_, byte)| **byte == BEGUN).map(|(index, _)| index)
    }
}
