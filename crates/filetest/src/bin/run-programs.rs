//! Runs many programs under a command, and says which of them did what.
//!
//! `cargo run --release -p filetest --bin run-programs -- --manifest FILE -- target/release/warpgrind run --`
//!
//! The manifest is JSON: a list of `{"name", "directory", "command": [...], "pass", "fail", "timeout"}`, where `pass` is a
//! text that the program prints if its own check succeeded, `fail` one that it prints if not, and `timeout` its limit in
//! seconds (these three may be missing). Directories are relative to the manifest.
//!
//! On a busy machine, processor time is the better limit: `-- prlimit --cpu=60:70 target/release/warpgrind run --`.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is a command")]

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Parser;
use filetest::programs::{self, Outcome};

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
    /// Where the results go, as JSON: written anew after each program.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Goes on with a run that was cut short: what has a result there is not run again.
    #[arg(long, requires = "json")]
    resume: bool,
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
    let order: HashMap<String, usize> = all.iter().map(|program| program.name.clone()).zip(0..).collect();
    let mut reports = match &args.json {
        Some(path) if args.resume => programs::resume(path, &mut all)?,
        _ => Vec::new(),
    };
    programs::run_all(&all, &args.under, args.jobs, Duration::from_secs(args.timeout), |report| {
        eprintln!(
            "[{}/{}] {:<10} {:>7.1} s  {}",
            reports.len() + 1,
            order.len(),
            report.outcome.word(),
            report.seconds,
            report.name
        );
        reports.push(report);
        reports.sort_by_key(|report| order[&report.name]);
        args.json.as_deref().map_or(Ok(()), |path| programs::write_reports(path, &reports))
    })?;
    print!("{}", programs::table(&reports));
    if let Some(before) = before {
        print!("{}", programs::changes(&before, &reports));
    }
    let is_good = reports.iter().all(|report| matches!(report.outcome, Outcome::Passed | Outcome::Ended));
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
