//! `warpgrind health`: computes what is known, twice, and tells those who run fleets whether this machine is well.
//!
//! The kernels run in a process of their own, which is this command again, under `rmt`. On the CPU device they test the processor
//! and its memory, and nothing of a GPU.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use clap::ValueEnum;
use health::{ExitStyle, Golden, Kernel, Outcome};
use report::Exit;

use crate::output;
use crate::target::Target;
use crate::trials::{How, Runner};

/// Arguments of `warpgrind health`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// How long: before a job, after one that failed, or when a machine is examined.
    #[arg(long, value_enum, default_value_t = Time::Seconds)]
    time: Time,
    /// Whose exit codes are used.
    #[arg(long, value_enum, default_value_t = Style::Nagios)]
    exit_style: Style,
    /// Write metrics for the textfile collector of Prometheus' node exporter: a file in its directory that ends in .prom.
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,
    /// Write records of the Open Compute Project's test and validation output: JSON lines.
    #[arg(long, value_name = "FILE")]
    ocp: Option<PathBuf>,
    /// The hashes that results must have, also of a program of yours: lines of a name and a hash, as --write-golden writes them.
    #[arg(long, value_name = "FILE")]
    golden: Option<PathBuf>,
    /// Write the hashes of results, for --golden on other machines; from one that is known to be well.
    #[arg(long, value_name = "FILE")]
    write_golden: Option<PathBuf>,
    /// A program of yours, and its arguments: its kernels run under rmt, too, and what it prints must be the same each time.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    program: Vec<std::ffi::OsString>,
}

/// The levels of DCGM's diagnostics take about as long.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Time {
    #[value(name = "5s")]
    Seconds,
    #[value(name = "2m")]
    Minutes,
    #[value(name = "15m")]
    Quarter,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    /// 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
    Nagios,
    /// 0 OK, 1 NonOK, 2 Unknown: node-problem-detector.
    Npd,
}

/// Arguments of the process in which kernels run.
#[derive(clap::Args, Debug)]
pub(crate) struct KernelArgs {
    /// How long.
    milliseconds: u64,
}

/// The command that runs the kernels, in a process of its own.
pub(crate) const KERNELS: &str = "health-kernels";
/// The tool that computes twice.
const TOOL: &str = "rmt";
/// So much longer than it should take, the process is ended.
const PATIENCE: Duration = Duration::from_secs(60);
/// Larger files are no lists of hashes.
const LARGEST_GOLDEN: u64 = 1 << 20;

/// Checks the machine.
pub(crate) fn run(args: &Args) -> ExitCode {
    let since = Instant::now();
    let mut outcome = check(args).unwrap_or_else(|error| Outcome {
        kernels: Vec::new(),
        differences: 0,
        unchecked: Vec::new(),
        failure: Some(format!("{error:#}")),
        took: Duration::ZERO,
    });
    outcome.took = since.elapsed();
    if let Err(error) = write_files(args, &outcome) {
        output::error(&error);
        outcome.unchecked.push(format!("{error:#}"));
    }
    let style = match args.exit_style {
        Style::Nagios => ExitStyle::Nagios,
        Style::Npd => ExitStyle::NodeProblemDetector,
    };
    // The exit code tells it, too, if nobody reads this.
    let _ = output::print(&(outcome.line() + "\n"));
    ExitCode::from(outcome.exit_code(style))
}

/// Launches the kernels: in the process that [`run`] starts.
pub(crate) fn run_kernels(args: &KernelArgs) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    health::kernels::run(Duration::from_millis(args.milliseconds), &mut stdout).context("launching the kernels")
}

fn check(args: &Args) -> Result<Outcome> {
    let golden = match &args.golden {
        None => Golden::bundled(),
        Some(path) => Golden::bundled().with(read_golden(path)?),
    };
    let all = match args.time {
        Time::Seconds => Duration::from_secs(5),
        Time::Minutes => Duration::from_secs(120),
        Time::Quarter => Duration::from_secs(900),
    };
    // What starting and ending takes is part of it.
    let of_kernels = if args.program.is_empty() { all.mul_f64(0.8) } else { all.mul_f64(0.4) };
    let since = Instant::now();
    let mut outcome =
        Outcome { kernels: Vec::new(), differences: 0, unchecked: Vec::new(), failure: None, took: Duration::ZERO };
    let here = std::env::current_dir().context("where we are cannot be told")?;
    let command = std::env::current_exe().context("where this command is cannot be told")?;
    let words = [command.into_os_string(), KERNELS.into(), of_kernels.as_millis().to_string().into()];
    let target = Target::from_words(&[], words.into(), here.clone())?;
    if let Some(stdout) = run_once(&target, all + PATIENCE, &mut outcome)? {
        let stdout = String::from_utf8_lossy(&stdout);
        for (name, hash) in health::kernels::results(&stdout) {
            add(&mut outcome.kernels, name, hash, golden.get(name));
        }
    }
    if let Some(program) = args.program.first() {
        let name =
            Path::new(program).file_name().unwrap_or_default().to_string_lossy().replace(char::is_whitespace, "_");
        let target = Target::from_words(&[], args.program.clone(), here)?;
        let mut first: Option<String> = golden.get(&name).map(str::to_owned);
        let mut is_over = false;
        while !is_over && outcome.failure.is_none() && outcome.differences == 0 {
            if let Some(stdout) = run_once(&target, all + PATIENCE, &mut outcome)? {
                let hash = campaign::hash_bytes(&stdout);
                add(&mut outcome.kernels, &name, &hash, Some(first.get_or_insert(hash.clone())));
            }
            is_over = since.elapsed() >= all.mul_f64(0.9);
        }
    }
    outcome.unchecked.sort();
    outcome.unchecked.dedup();
    Ok(outcome)
}

/// Runs a program under rmt. What it printed, if that counts.
fn run_once(target: &Target, limit: Duration, outcome: &mut Outcome) -> Result<Option<Vec<u8>>> {
    let Ok(runner) = Runner::new(target) else {
        outcome.failure = Some("the program cannot be run".to_owned());
        return Ok(None);
    };
    let Ok(ran) = runner.without_progress().on_all_processors().run(
        &[TOOL],
        Vec::new(),
        How { limit: Some(limit), ..How::default() },
    )?
    else {
        outcome.failure = Some("the program cannot be run".to_owned());
        return Ok(None);
    };
    outcome.unchecked.extend(ran.unchecked);
    if ran.has_findings {
        outcome.differences += 1;
    } else if ran.is_late {
        outcome.failure = Some("the kernels did not end in time".to_owned());
    } else if ran.exit != Exit::Code(0) {
        let said = String::from_utf8_lossy(&ran.stderr);
        let said = said.lines().next().unwrap_or("").to_owned();
        outcome.failure = Some(format!("the kernels could not run: {said}"));
    } else if ran.processes == 0 {
        outcome.failure = Some("the program did not use CUDA".to_owned());
        return Ok(None);
    }
    Ok(Some(ran.stdout))
}

fn add(kernels: &mut Vec<Kernel>, name: &str, hash: &str, expected: Option<&str>) {
    let index = kernels.iter().position(|kernel| kernel.name == name).unwrap_or_else(|| {
        kernels.push(Kernel { name: name.to_owned(), passes: 0, mismatches: 0, hash: String::new() });
        kernels.len() - 1
    });
    let kernel = &mut kernels[index];
    kernel.passes += 1;
    kernel.mismatches += u64::from(expected.is_some_and(|expected| expected != hash));
    kernel.hash = hash.to_owned();
}

fn read_golden(path: &Path) -> Result<Golden> {
    use std::io::Read;
    let reading = || format!("reading {}", path.display());
    let mut text = String::new();
    let file = std::fs::File::open(path).with_context(reading)?;
    file.take(LARGEST_GOLDEN).read_to_string(&mut text).with_context(reading)?;
    Golden::parse(&text).with_context(reading)
}

fn write_files(args: &Args, outcome: &Outcome) -> Result<()> {
    let now = SystemTime::now();
    if let Some(path) = &args.metrics {
        replace(path, &health::metrics(outcome, now))?;
    }
    if let Some(path) = &args.ocp {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        replace(path, &health::records(outcome, env!("CARGO_PKG_VERSION"), &host, now))?;
    }
    if let Some(path) = &args.write_golden {
        let results = outcome.kernels.iter().filter(|kernel| kernel.passes > 0);
        replace(path, &Golden::of(results.map(|kernel| (kernel.name.as_str(), kernel.hash.as_str()))).text())?;
    }
    Ok(())
}

/// Whoever reads the file meets the old text or the new one, and never a part of it.
fn replace(path: &Path, text: &str) -> Result<()> {
    let writing = || format!("writing {}", path.display());
    let name = path.file_name().with_context(writing)?.to_string_lossy().into_owned();
    let private = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let write = || {
        let mut file = std::fs::File::create(&private)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&private, path)
    };
    write().with_context(writing).inspect_err(|_| drop(std::fs::remove_file(&private)))
}
