//! What a fault did to the program.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use report::Exit;

use super::ran::Ran;

/// What the program does without faults.
#[derive(Debug)]
pub(crate) struct Expected {
    exit: Exit,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    files: Vec<Option<Vec<u8>>>,
    /// How long it took, with places counted.
    pub(crate) took: Duration,
}

/// What a fault did to the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// All that it shows is as it should be.
    Masked,
    /// Standard output differs, and the check says that it matters, if there is one.
    Output { is_checked: bool },
    /// A file differs.
    File(PathBuf),
    /// It ended with another exit code.
    Exit(i32),
    /// A signal ended it.
    Signal(i32),
    /// It took too long.
    Late,
    /// Only standard error differs.
    StandardError,
    /// A tool noticed the fault.
    Detected,
}

impl Expected {
    pub(crate) fn of(golden: &Ran, took: Duration, files: &[PathBuf]) -> Result<Self> {
        let (stdout, stderr) = (golden.stdout.clone(), golden.stderr.clone());
        Ok(Self { exit: golden.exit, stdout, stderr, files: contents(files)?, took })
    }
}

fn contents(files: &[PathBuf]) -> Result<Vec<Option<Vec<u8>>>> {
    let read = |file: &PathBuf| match std::fs::read(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("reading {}", file.display())),
    };
    files.iter().map(read).collect()
}

impl Verdict {
    /// Of a run with a fault, which has left files behind somewhere.
    pub(crate) fn of(
        ran: &Ran,
        expected: &Expected,
        check: Option<&str>,
        files: &[PathBuf],
        kept: &[PathBuf],
    ) -> Result<Self> {
        if ran.has_findings {
            return Ok(Self::Detected);
        }
        if ran.is_late {
            return Ok(Self::Late);
        }
        match (ran.exit, expected.exit) {
            (Exit::Signal(signal), _) => return Ok(Self::Signal(signal)),
            (Exit::Code(code), expected) if Exit::Code(code) != expected => return Ok(Self::Exit(code)),
            _ => {}
        }
        let now = contents(kept)?;
        if let Some((file, _)) =
            files.iter().zip(now.iter().zip(&expected.files)).find(|(_, (now, expected))| now != expected)
        {
            return Ok(Self::File(file.clone()));
        }
        if ran.stdout != expected.stdout {
            match check {
                None => return Ok(Self::Output { is_checked: false }),
                Some(check) if !passes(check, &ran.stdout, &expected.stdout)? => {
                    return Ok(Self::Output { is_checked: true });
                }
                Some(_) => {}
            }
        }
        Ok(if ran.stderr == expected.stderr { Self::Masked } else { Self::StandardError })
    }

    /// Its name in tables.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Masked => "masked",
            Self::Output { .. } | Self::File(_) => "sdc",
            Self::Exit(_) | Self::Signal(_) => "due",
            Self::Late => "hang",
            Self::StandardError => "stderr",
            Self::Detected => "detected",
        }
    }

    /// In words.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Masked => "all that the program shows is as it should be".to_owned(),
            Self::Output { is_checked: false } => "standard output differs".to_owned(),
            Self::Output { is_checked: true } => "standard output differs, and --check says that it matters".to_owned(),
            Self::File(file) => format!("{} differs", file.display()),
            Self::Exit(code) => format!("the program ended with exit code {code}"),
            Self::Signal(signal) => format!("signal {signal} ended the program"),
            Self::Late => "the program took too long, and was ended".to_owned(),
            Self::StandardError => "only standard error differs".to_owned(),
            Self::Detected => "a tool noticed the fault".to_owned(),
        }
    }
}

/// Whether the user's command finds an output good enough.
fn passes(check: &str, stdout: &[u8], expected: &[u8]) -> Result<bool> {
    let directory = crate::check::Directory::create(false)?;
    let file = directory.path().join("expected");
    std::fs::write(&file, expected).with_context(|| format!("writing {}", file.display()))?;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", check]).env("WARPGRIND_EXPECTED", &file).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().context("running --check")?;
    if let Some(mut input) = child.stdin.take() {
        // A check that does not read all of it is no failure.
        let _ = input.write_all(stdout);
    }
    Ok(child.wait().context("running --check")?.success())
}
