//! Calls the functions of our CUDA libraries at random, in processes of their own: no call may end its process by a signal,
//! panic, or not return.
//!
//! ```text
//! api-fuzz campaign --seeds 0..1000 --threads 1,2,8 --library target/release/libwarpgrind_cuda.so
//! api-fuzz campaign --seeds 0..1000 --under "target/release/warpgrind memcheck"
//! api-fuzz check --library … tests/api/*
//! ```
//!
//! Functions and types come from the tables that the libraries are made from ([`functions`], [`types`]), so that new ones are
//! called without a word here. A seed makes a sequence of calls ([`generate`]), which is data ([`sequence`]): one that fails
//! is shortened ([`minimise`]) and written as a text that `replay` makes again. Those that were found and mended are in
//! `tests/api`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is a command")]

mod execute;
mod functions;
mod generate;
mod minimise;
mod random;
mod run;
mod sequence;
mod types;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand};
use functions::Function;
use run::{Failure, Runner};
use sequence::Sequence;

#[derive(Parser, Debug)]
#[command(about = "Calls the functions of our CUDA libraries at random")]
struct Args {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Subcommand, Debug)]
enum Subcommands {
    /// Makes the sequences of many seeds, and shortens those that fail.
    Campaign(Campaign),
    /// Makes the calls of sequences, each in a process of its own, and says which fail.
    Check(Check),
    /// Makes the calls of a sequence, in this process.
    Replay(Replay),
    /// Writes the sequence of a seed.
    Show(Show),
}

#[derive(Parser, Debug)]
struct Campaign {
    /// FIRST..END
    #[arg(long, value_parser = range)]
    seeds: Range<u64>,
    /// How many threads call; one after another for several numbers.
    #[arg(long, value_delimiter = ',', default_value = "1,2,8")]
    threads: Vec<usize>,
    /// Calls of a sequence.
    #[arg(long, default_value_t = 3000)]
    calls: usize,
    #[command(flatten)]
    how: How,
    /// How many processes run at once.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Ends after so many seconds, if seeds are left.
    #[arg(long)]
    seconds: Option<u64>,
    /// Where sequences that fail are written.
    #[arg(long, default_value = "target/api-fuzz")]
    save: PathBuf,
    /// Lists the functions that never succeeded.
    #[arg(long)]
    never: bool,
}

#[derive(Parser, Debug)]
struct Check {
    sequences: Vec<PathBuf>,
    #[command(flatten)]
    how: How,
}

/// How sequences run.
#[derive(Parser, Debug)]
struct How {
    /// The library that has the functions.
    #[arg(long, default_value = "libcuda.so.1")]
    library: PathBuf,
    /// A command that the processes run under, such as `warpgrind memcheck`.
    #[arg(long, default_value = "")]
    under: String,
    /// Seconds without progress after which a process hangs.
    #[arg(long, default_value_t = 15)]
    patience: u64,
}

#[derive(Parser, Debug)]
struct Replay {
    sequence: PathBuf,
    #[arg(long, default_value = "libcuda.so.1")]
    library: PathBuf,
    /// A file with a byte for each call.
    #[arg(long)]
    progress: Option<PathBuf>,
    /// Prints what each call returned.
    #[arg(long)]
    verbose: bool,
}

#[derive(Parser, Debug)]
struct Show {
    seed: u64,
    #[arg(long, default_value_t = 1)]
    threads: usize,
    #[arg(long, default_value_t = 3000)]
    calls: usize,
}

fn main() -> Result<ExitCode> {
    match Args::parse().command {
        Subcommands::Campaign(campaign) => campaign.run(),
        Subcommands::Check(check) => check.run(),
        Subcommands::Replay(replay) => {
            let sequence = read(&replay.sequence)?;
            execute::execute(&sequence, &replay.library, replay.progress.as_deref(), replay.verbose)?;
            Ok(ExitCode::SUCCESS)
        }
        Subcommands::Show(show) => {
            let types = types::Types::read();
            let functions = functions::functions(&types);
            print!("{}", generate::generate(&types, &functions, show.seed, show.threads, show.calls));
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn read(path: &Path) -> Result<Sequence> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    text.parse().with_context(|| format!("in {}", path.display()))
}

/// The words of a command. Processes run in directories of their own, so a path to it must not depend on where we are.
fn command(text: &str) -> Result<Vec<String>> {
    let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    if let Some(first) = words.first_mut().filter(|first| first.contains('/')) {
        let path = Path::new(first.as_str()).canonicalize().with_context(|| format!("looking for {first}"))?;
        *first = path.to_str().context("its path is not text")?.to_owned();
    }
    Ok(words)
}

impl How {
    /// A runner, of several at once.
    fn runner(&self, index: usize) -> Result<Runner> {
        Ok(Runner {
            under: command(&self.under)?,
            library: if self.library.exists() { self.library.canonicalize()? } else { self.library.clone() },
            patience: Duration::from_secs(self.patience),
            directory: std::env::temp_dir().join(format!("api-fuzz-{}-{index}", std::process::id())),
        })
    }
}

impl Check {
    fn run(&self) -> Result<ExitCode> {
        let runner = self.how.runner(0)?;
        let mut failures = 0;
        for path in &self.sequences {
            if let Some(failure) = runner.run(&read(path)?)?.failure {
                println!("{}: {failure:?}", path.display());
                failures += 1;
            }
        }
        std::fs::remove_dir_all(&runner.directory)?;
        println!("{} sequences, {failures} failures", self.sequences.len());
        Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// What came of all sequences so far.
#[derive(Default)]
struct Totals {
    sequences: u64,
    calls: u64,
    succeeded: u64,
    /// By function.
    successes: BTreeMap<String, u64>,
    failures: Vec<Failure>,
}

impl Campaign {
    fn run(&self) -> Result<ExitCode> {
        let types = types::Types::read();
        let functions = functions::functions(&types);
        let start = Instant::now();
        let next = Mutex::new(self.seeds.clone());
        let totals = Mutex::new(Totals::default());
        let work = |job: usize| -> Result<()> {
            let runner = self.how.runner(job)?;
            loop {
                if self.seconds.is_some_and(|seconds| start.elapsed().as_secs() >= seconds) {
                    break;
                }
                let Some(seed) = next.lock().expect("no thread panics with it").next() else { break };
                let threads = self.threads[seed as usize % self.threads.len()];
                let sequence = generate::generate(&types, &functions, seed, threads, self.calls);
                let outcome = runner.run(&sequence)?;
                let mut all = totals.lock().expect("no thread panics with it");
                let (calls, succeeded) = outcome.counts();
                all.sequences += 1;
                all.calls += calls;
                all.succeeded += succeeded;
                for (call, state) in sequence.calls.iter().zip(&outcome.progress) {
                    *all.successes.entry(call.function.clone()).or_default() += u64::from(*state == execute::SUCCEEDED);
                }
                if all.sequences.is_multiple_of(200) {
                    eprintln!("{} sequences, {} calls, {} failures", all.sequences, all.calls, all.failures.len());
                }
                let Some(failure) = outcome.failure.clone() else { continue };
                eprintln!("seed {seed}, {threads} threads: {failure:?}");
                for index in outcome.unfinished() {
                    eprintln!("    in {}", sequence.calls[index]);
                }
                if let Failure::NotStarted(errors) = failure {
                    bail!("the calls cannot be made: {errors}");
                }
                let is_known = all.failures.iter().filter(|known| known.is_like(&failure)).count() >= 3;
                all.failures.push(failure.clone());
                drop(all);
                std::fs::create_dir_all(&self.save)?;
                let shortened = if is_known { sequence } else { minimise::minimise(&runner, &sequence, &failure)? };
                let path = self.save.join(format!("seed-{seed}-{threads}"));
                std::fs::write(&path, format!("# {failure:?}\n{shortened}"))?;
                eprintln!("    {} calls in {}", shortened.calls.len(), path.display());
            }
            let _ = std::fs::remove_dir_all(&runner.directory);
            Ok(())
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.jobs.max(1))
                .map(|job| {
                    let work = &work;
                    scope.spawn(move || work(job))
                })
                .collect();
            workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
        })?;
        let totals = totals.into_inner().expect("no thread panics with it");
        let never: Vec<&Function> = functions
            .iter()
            .filter(|function| totals.successes.get(&function.name).is_none_or(|count| *count == 0))
            .collect();
        println!(
            "{} sequences, {} calls of {} functions, {} without an error, in {:.0} s; {} functions never succeeded; {} failures",
            totals.sequences,
            totals.calls,
            functions.len(),
            totals.succeeded,
            start.elapsed().as_secs_f64(),
            never.len(),
            totals.failures.len()
        );
        if self.never {
            never.iter().for_each(|function| println!("{}", function.name));
        }
        Ok(if totals.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn range(text: &str) -> Result<Range<u64>> {
    let (first, end) = text.split_once("..").context("FIRST..END expected")?;
    Ok(first.parse()?..end.parse()?)
}
