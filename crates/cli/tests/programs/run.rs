//! Runs a program under `warpgrind run`, and compares what comes of it with what its header says.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{self, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail, ensure};

use crate::build::{Built, newest};
use crate::gpu::StandIn;
use crate::header::Header;

/// Seconds after which a program is ended.
const TIMEOUT: &str = "300";

/// How programs are run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    /// `warpgrind run`
    Run,
    /// A tool, with more tools: the program must do the same, and nothing may be found.
    Tool(&'static [&'static str]),
    /// `warpgrind run`, or a tool, on the GPU device.
    OnGpu(&'static [&'static str]),
}

/// Runs a program; an error says what is not as it must be.
pub(crate) fn run(built: &Built, header: &Header, command: Command) -> Result<()> {
    if header.seeds == 0 {
        return run_once(built, header, command, &[]).map(drop);
    }
    let mut outcomes = BTreeSet::new();
    for seed in 0..header.seeds {
        let flags = ["--seed".to_owned(), seed.to_string()];
        let stdout = run_once(built, header, command, &flags)?;
        ensure!(stdout == run_once(built, header, command, &flags)?, "it does not repeat with seed {seed}: {stdout}");
        outcomes.insert(stdout);
    }
    ensure!(outcomes.len() >= header.outcomes, "{} outcomes of {} seeds: {outcomes:?}", outcomes.len(), header.seeds);
    Ok(())
}

/// Runs a program with more options of the command, and gives what it printed.
fn run_once(built: &Built, header: &Header, command: Command, flags: &[String]) -> Result<String> {
    let installation = Installation::make()?;
    let stand_in = match command {
        Command::OnGpu(_) => Some(StandIn::new(crate::toolchain()?, &installation.path)?),
        _ => None,
    };
    let mut process = timeout(&installation);
    process.args(match command {
        Command::Run => &["run"],
        Command::Tool(arguments) | Command::OnGpu(arguments) => arguments,
    });
    if let Some(stand_in) = &stand_in {
        process.args(stand_in.flags());
        stand_in.set(&mut process);
    }
    let output = process
        .args(&header.run)
        .args(flags)
        .arg(&built.program)
        .args(&built.libraries)
        .args(&header.args)
        .envs(header.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&installation.path)
        .output()
        .context("starting `timeout`")?;
    let mut header = header.clone();
    if !matches!(command, Command::Run | Command::OnGpu(["run"])) {
        // There is a summary.
        header.stderr.push("0 errors".to_owned());
    }
    let mut wrong = complaints(&output, &header);
    wrong.extend(stand_in.and_then(|stand_in| stand_in.check().err()).map(|error| error.to_string()));
    if wrong.is_empty() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    bail!(
        "{}: {}\n---- stdout\n{}---- stderr\n{}",
        built.program.display(),
        wrong.join("\n"),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Warpgrind, with a limit of time. All processes of the program end with it, so that pipes to them are closed.
pub(crate) fn timeout(installation: &Installation) -> process::Command {
    limited(installation, TIMEOUT)
}

/// Warpgrind, without what the harness itself was started with besides standard input and output: a program is not forked if it
/// has pipes open.
pub(crate) fn without_descriptors(installation: &Installation) -> process::Command {
    const CLOSE: &str =
        r#"for fd in /proc/self/fd/*; do fd=${fd##*/}; if ((fd > 2)); then eval "exec $fd>&-"; fi; done; exec "$@""#;
    let limited = timeout(installation);
    let mut command = process::Command::new("bash");
    command.args(["-c", CLOSE, "bash"]).arg(limited.get_program()).args(limited.get_args());
    command
}

/// Warpgrind, with so many seconds.
pub(crate) fn limited(installation: &Installation, seconds: &str) -> process::Command {
    let mut command = process::Command::new("timeout");
    command.args(["--signal=KILL", seconds]).arg(installation.path.join("bin/warpgrind"));
    command
}

fn complaints(output: &Output, header: &Header) -> Vec<String> {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let mut wrong = Vec::new();
    match output.status.signal() {
        Some(9) => wrong.push(format!("did not end in {TIMEOUT} seconds")),
        Some(signal) => wrong.push(format!("ended by signal {signal}")),
        None => {}
    }
    if let Some(code) = output.status.code().filter(|code| *code != header.exit) {
        wrong.push(format!("the exit code is {code} instead of {}", header.exit));
    }
    match &header.stdout {
        Some(lines) if !stdout.lines().eq(lines) => {
            wrong.push(format!("the output must be:\n{}\n", lines.join("\n")));
        }
        None if header.outcomes == 0 && !stdout.lines().any(|line| line == "PASS") => {
            wrong.push("it does not say PASS".to_owned())
        }
        _ => {}
    }
    for part in header.stderr.iter().filter(|part| !stderr.contains(part.as_str())) {
        wrong.push(format!("not on standard error: {part}"));
    }
    if header.stderr.is_empty() && !stderr.is_empty() {
        wrong.push("there must be nothing on standard error".to_owned());
    }
    wrong
}

/// The command and the libraries that cargo built, in one place as when they are installed.
pub(crate) struct Installation {
    path: PathBuf,
}

impl Installation {
    /// A file in it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn make() -> Result<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("programs-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let installation = Self { path };
        let libraries = installation.path.join("lib/warpgrind");
        fs::create_dir_all(installation.path.join("bin"))?;
        fs::create_dir_all(&libraries)?;
        let command = Path::new(env!("CARGO_BIN_EXE_warpgrind"));
        fs::hard_link(command, installation.path.join("bin/warpgrind"))?;
        for name in ["libwarpgrind_start.so", "libwarpgrind_cuda.so"] {
            fs::hard_link(newest(command, name)?, libraries.join(name))?;
        }
        Ok(installation)
    }
}

impl Drop for Installation {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
