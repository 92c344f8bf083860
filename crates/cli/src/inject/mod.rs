//! `warpgrind inject`: runs a program with faults in its kernels, and tells what comes of them.
//!
//! The program runs once to count the places at which faults can strike, and once for all trials: those of a launch run one
//! after another in the program's process, from the memory that the launch found. What a fault does to the rest of the program
//! is found by a copy of the process, which is forked at the launch, or else by a process of its own. On a GPU each trial has a
//! process (`trials/on_gpu.rs`).

mod nvbitfi;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::builder::PossibleValuesParser;
use clap::{ValueEnum, ValueHint};
use report::Sources;

use self::table::Table;
use crate::check::{NOT_CHECKED, Observer};
use crate::output;
use crate::target::{Answer, Target};
use crate::trials::{
    Expected, Faults, Followed, How, LaunchFlags, Progress, Protection, Ran, Runner, Strikes, TOOL, Trial, Verdict,
    Which, launches, text_of,
};

/// Arguments of `warpgrind inject`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What goes wrong.
    #[arg(long, value_name = "MODEL", default_value = "single-bit", value_parser = PossibleValuesParser::new(tools::inject::models()))]
    model: String,
    /// How many trials, from --first on.
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "trial")]
    trials: u64,
    /// The number of the first trial.
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "trial")]
    first: u64,
    /// Only this trial: says what was struck, and what came of it in the launch and in the program, which goes on with it.
    #[arg(long, value_name = "N")]
    trial: Option<u64>,
    /// A tool that protects kernels, such as rmt, or a variant of it, such as rmt:pair: faults that corrupt something without it
    /// strike what it makes of the kernel, too.
    #[arg(long, value_name = "TOOL[:VARIANT]")]
    with: Option<String>,
    /// How far a fault is followed.
    #[arg(long, value_enum, default_value_t = Follow::Launch)]
    verdict: Follow,
    /// Whether faults are followed to the end of the program in copies of its process, which are forked at the launch. Where that
    /// cannot be, as on a GPU, and with `no`, each is followed in a process that runs from the beginning.
    #[arg(long, value_enum, value_name = "YES|NO", default_value_t = Answer::Yes, hide_possible_values = true)]
    fork: Answer,
    /// A thread that executes so many times as many instructions as it should, or a program that takes so many times as long,
    /// hangs; and so does a launch on a GPU that takes so many times as long.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..))]
    patience: u64,

    #[command(flatten)]
    launches: LaunchFlags,

    /// A file that the program writes, and that must be as without faults. Several may be given.
    #[arg(long, value_name = "FILE", help_heading = "The verdict on the program")]
    output_file: Vec<PathBuf>,
    /// A command of the shell that says by its exit code whether the program's output is good enough: what the program wrote to
    /// standard output is its input, and in the file WARPGRIND_EXPECTED is what it should have been.
    #[arg(long, value_name = "COMMAND", help_heading = "The verdict on the program")]
    check: Option<String>,

    /// Print JSON lines: an object for each trial, and one for each kernel.
    #[arg(long, help_heading = "The report")]
    json: bool,
    /// Write one page for a browser to a file, with a chart for each kernel.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "The report")]
    html: Option<PathBuf>,
    /// Write sites and results to a file, as NVBitFI does.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "The report")]
    nvbitfi: Option<PathBuf>,

    #[command(flatten)]
    target: Target,
}

/// How far a fault is followed.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Follow {
    /// To the end of its launch: is memory, and what was printed, as it should be?
    Launch,
    /// To the end of the program, if memory is not.
    Program,
}

impl Args {
    fn first(&self) -> u64 {
        self.trial.unwrap_or(self.first)
    }

    fn count(&self) -> u64 {
        if self.trial.is_some() { 1 } else { self.trials }
    }

    /// Whether faults strike the kernel as it is, and then what protects it.
    fn is_tried_twice(&self) -> bool {
        self.with.is_some() && !tools::inject::needs_protection(&self.model)
    }
}

/// Runs trials and tells what came of them.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    args.target.check_flags_of_trials().unwrap_or_else(|error| error.exit());
    let protection = args.with.as_deref().map(Protection::parse).transpose()?;
    if protection.is_none() && tools::inject::needs_protection(&args.model) {
        bail!("{} strikes what another tool inserts into kernels: say which, such as `--with rmt`", args.model);
    }
    let runner = match Runner::new(&args.target) {
        Ok(runner) => runner,
        Err(code) => return Ok(ExitCode::from(code)),
    };
    let seed = runner.seed();
    let faults =
        Faults { runner, model: &args.model, patience: args.patience, protection, strikes: Strikes::Effective };
    let started = Instant::now();
    let golden = match faults.count_places()? {
        Ok(golden) => golden,
        Err(code) => return Ok(ExitCode::from(code)),
    };
    let expected = Expected::of(&golden, started.elapsed(), &args.output_file)?;
    let places = places(args, &golden)?;
    let started = Instant::now();
    let stays = args.trial.is_some();
    let mut limit = (expected.took * u32::try_from(args.patience).unwrap_or(u32::MAX)).max(Duration::from_secs(10));
    if args.target.is_on_gpu() {
        // A launch that hangs is noticed by the process itself, twice if the kernel is protected.
        limit *= 3;
    }
    let is_followed = !stays && args.verdict == Follow::Program;
    // A GPU knows nothing of a copy of the process.
    let is_forked = is_followed && args.fork == Answer::Yes && !args.target.is_on_gpu();
    let all = Which { first: args.first(), count: args.count(), stays, follows: is_forked.then_some(limit) };
    let judged =
        |ran: &Ran, kept: &[PathBuf]| Verdict::of(ran, &expected, args.check.as_deref(), &args.output_file, kept);
    let mut verdicts = BTreeMap::new();
    let mut judge = |followed: &Followed| {
        verdicts.insert(followed.trial, judged(&followed.ran, &followed.files)?);
        Ok(())
    };
    let mut progress = Progress::new(!stays, args.count());
    let how = How {
        observer: Some(&mut progress),
        files: if is_forked { &args.output_file } else { &[] },
        judge: is_forked.then_some(&mut judge),
        exit: (!stays).then_some(golden.exit),
        ..How::default()
    };
    let ran = match faults.run(&places, all, how)? {
        Ok(ran) => ran,
        Err(code) => return Ok(ExitCode::from(code)),
    };
    let mut trials: Vec<Trial> = ran.rows("trials").map(Trial::of).collect();
    trials.sort_by_key(|trial| trial.number);
    let gaps: BTreeSet<&String> = golden.unchecked.iter().chain(&ran.unchecked).collect();
    for gap in gaps {
        output::complain(gap, "");
    }
    if let Some(end) = ran.rows("ends").find(|end| end.text("how") == "refused") {
        let reason = end.text("reason");
        output::complain(&format!("faults are followed in a process each, because {reason}"), "");
    }
    if stays {
        let verdict = judged(&ran, &args.output_file)?;
        trials.iter_mut().for_each(|trial| trial.program = Some(verdict.clone()));
    } else if is_followed {
        for trial in &mut trials {
            trial.program = match trial.is_followed() {
                true => verdicts.remove(&trial.number),
                false => trial.is_valid().then_some(Verdict::Masked),
            };
        }
        let is_left = |trial: &&mut Trial| trial.is_followed() && trial.program.is_none();
        let left: Vec<&mut Trial> = trials.iter_mut().filter(is_left).collect();
        progress.follow(left.len() as u64);
        for trial in left {
            let alone = Which { first: trial.number, count: 1, stays: true, follows: None };
            let ran = match faults.run(&places, alone, How { limit: Some(limit), ..How::default() })? {
                Ok(ran) => ran,
                Err(code) => return Ok(ExitCode::from(code)),
            };
            let verdict = judged(&ran, &args.output_file)?;
            progress.count(verdict.name());
            progress.tell();
            trial.program = Some(verdict);
        }
        progress.clear();
    }
    let took = started.elapsed();
    if let Some(file) = &args.nvbitfi {
        let text = nvbitfi::lines(&args.model, &trials);
        std::fs::write(file, text).with_context(|| format!("writing {}", file.display()))?;
    }
    if let Some(file) = &args.html {
        let table = Table::of(&trials, args.is_tried_twice());
        let words: Vec<_> = args.target.program().iter().map(|word| word.to_string_lossy()).collect();
        let facts = format!("{} trials of {}, seed {seed}", trials.len(), args.model);
        let page = report::html_of_tables(TOOL, &words.join(" "), &facts, &table.outcomes(), &mut Sources::default());
        std::fs::write(file, page).with_context(|| format!("writing {}", file.display()))?;
    }
    show(args, &trials, seed, took)?;
    // Trials leave nothing behind.
    if !stays && !ran.is_of_many && ran.exit != golden.exit {
        output::complain("the program did not go on as it should", " after the trials: none of them counts");
        return Ok(ExitCode::from(NOT_CHECKED));
    }
    if trials.len() as u64 != args.count() || trials.is_empty() || trials.iter().any(|trial| !trial.is_valid()) {
        let valid = trials.iter().filter(|trial| trial.is_valid()).count();
        output::complain("not all trials took place", &format!(": {valid} of {} did", args.count()));
        return Ok(ExitCode::from(NOT_CHECKED));
    }
    Ok(ExitCode::SUCCESS)
}

/// How many places the launches have that are meant.
fn places(args: &Args, golden: &Ran) -> Result<String> {
    let launches = launches(golden)?;
    let chosen = args.launches.chosen(&launches);
    if launches.iter().zip(&chosen).all(|(launch, is_chosen)| launch.places == 0 || !is_chosen) {
        bail!("there is no place at which `{}` could strike", args.model);
    }
    text_of(&launches, |index, _| chosen[index])
}

fn show(args: &Args, trials: &[Trial], seed: u64, took: Duration) -> Result<()> {
    let table = Table::of(trials, args.is_tried_twice());
    if args.json {
        for trial in trials {
            output::print_json(&trial.json(&args.model, seed, args.with.as_deref()))?;
        }
        for row in &table.rows {
            output::print_json(&row.json(&args.model, args.with.as_deref()))?;
        }
        return Ok(());
    }
    if let (Some(_), [trial]) = (args.trial, trials) {
        return output::print(&trial.sentences(&args.model, seed, args.with.as_deref()));
    }
    output::print(&table.text(&args.model))?;
    let per_second = trials.len() as f64 / took.as_secs_f64();
    output::complain(
        &format!("{} trials of {}, seed {seed}", trials.len(), args.model),
        &format!(", {:.1} s, {per_second:.0} per second", took.as_secs_f64()),
    );
    Ok(())
}
