//! Runs many programs under a command, and says which of them did what.
//!
//! `cargo run --release -p filetest --bin run-programs -- --manifest FILE -- target/release/warpgrind run --`
//!
//! The manifest is JSON: a list of `{"name", "directory", "command": [...], "pass", "fail"}`, where `pass` is a text that
//! the program prints if its own check succeeded, and `fail` one that it prints if not (both may be missing). Directories
//! are relative to the manifest.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is a command")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Parser;
use filetest::programs::{self, Outcome, Program, Report};

#[derive(Parser, Debug)]
#[command(about = "Runs many programs under a command, and says which of them did what")]
struct Args {
    /// The programs.
    #[arg(long)]
    manifest: PathBuf,
    /// How many run at once.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Seconds after which a program is ended.
    #[arg(long, default_value_t = 60)]
    timeout: u64,
    /// Only programs whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// Where the results go, as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// The results of an earlier run: what changed is shown.
    #[arg(long)]
    compare: Option<PathBuf>,
    /// The command that the programs run under; nothing to run them as they are.
    #[arg(last = true)]
    under: Vec<String>,
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let before = args.compare.as_deref().map(programs::read_reports).transpose()?;
    let mut all = programs::read_manifest(&args.manifest)?;
    all.retain(|program| program.name.contains(&args.only));
    if all.is_empty() {
        bail!("no program of {} has `{}` in its name", args.manifest.display(), args.only);
    }
    let reports = run_all(&all, &args)?;
    if let Some(path) = &args.json {
        programs::write_reports(path, &reports).with_context(|| format!("writing {}", path.display()))?;
    }
    print!("{}", programs::table(&reports));
    if let Some(before) = before {
        print!("{}", programs::changes(&before, &reports));
    }
    let is_good = reports.iter().all(|report| matches!(report.outcome, Outcome::Passed | Outcome::Ended));
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs all programs, several at once; the reports are in the order of the manifest.
fn run_all(all: &[Program], args: &Args) -> Result<Vec<Report>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..args.jobs.max(1) {
            scope.spawn(|| {
                while let Some((index, program)) = take(all, &next) {
                    let report = programs::run(program, &args.under, Duration::from_secs(args.timeout));
                    let mut done = done.lock().expect("no thread panics with it");
                    eprintln!(
                        "[{}/{}] {:<10} {:>7.1} s  {}",
                        done.len() + 1,
                        all.len(),
                        report.outcome.word(),
                        report.seconds,
                        report.name
                    );
                    done.push((index, report));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panics with it");
    done.sort_by_key(|&(index, _)| index);
    Ok(done.into_iter().map(|(_, report)| report).collect())
}

fn take<'a>(all: &'a [Program], next: &AtomicUsize) -> Option<(usize, &'a Program)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    all.get(index).map(|program| (index, program))
}
