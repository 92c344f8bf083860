//! `warpgrind inject`: runs a program with faults in its kernels, and tells what comes of them.
//!
//! The program runs once to count the places at which faults can strike, and once for all trials: those of a launch run one
//! after another in the program's process, from the memory that the launch found. What a fault does to the rest of the program
//! is found by a process of its own.

mod bounds;
mod nvbitfi;
mod process;
mod table;
mod trial;
mod verdict;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use report::{Exit, KernelFilter};
use settings::ToolFlag;

use self::process::{Ran, Runner};
use self::table::Table;
use self::trial::Trial;
use self::verdict::{Expected, Verdict};
use crate::check::NOT_CHECKED;
use crate::output;
use crate::target::Target;

/// The tool in the program's process.
const TOOL: &str = "inject";

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
    /// A thread that executes so many times as many instructions as it should, or a program that takes so many times as long,
    /// hangs.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..))]
    patience: u64,

    /// Strike only kernels whose name has this part; `kne=NAME` is the whole name, `regex=EXPR` a regular expression. Several
    /// may be given.
    #[arg(long, value_name = "NAME", value_parser = parse_kernel_name, help_heading = "Where faults strike")]
    kernel_name: Vec<KernelFilter>,
    /// Leave the first launches of these kernels out.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Where faults strike")]
    launch_skip: usize,
    /// Strike only so many launches of these kernels.
    #[arg(long, value_name = "N", help_heading = "Where faults strike")]
    launch_count: Option<usize>,

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
    /// Write sites and results to a file, as NVBitFI does.
    #[arg(long, value_name = "FILE", help_heading = "The report")]
    nvbitfi: Option<PathBuf>,

    #[command(flatten)]
    target: Target,
}

/// How far a fault is followed.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Follow {
    /// To the end of its launch: is memory, and what was printed, as it should be?
    Launch,
    /// To the end of the program, if memory is not: a process for each such trial.
    Program,
}

fn parse_kernel_name(text: &str) -> Result<KernelFilter, String> {
    KernelFilter::parse(text).map_err(|error| error.to_string())
}

impl Args {
    fn first(&self) -> u64 {
        self.trial.unwrap_or(self.first)
    }

    fn count(&self) -> u64 {
        if self.trial.is_some() { 1 } else { self.trials }
    }

    /// The tool that protects, and its variant.
    fn protection(&self) -> Result<Option<(&str, Option<&str>)>> {
        let Some(with) = &self.with else { return Ok(None) };
        let (name, variant) =
            with.split_once(':').map_or((with.as_str(), None), |(name, variant)| (name, Some(variant)));
        let Some(tool) = tools::tool(name).filter(|tool| tool.name() != TOOL) else {
            bail!("there is no tool `{name}` that could protect kernels: `--with rmt` is one")
        };
        if let Some(variant) = variant {
            let flag = tool.flags().iter().find(|flag| flag.name == "variant").and_then(|flag| flag.value);
            let Some(flag) = flag else { bail!("{name} has no variants: write `--with {name}`") };
            (flag.check)(variant).map_err(anyhow::Error::msg)?;
        }
        Ok(Some((tool.name(), variant)))
    }
}

/// Runs trials and tells what came of them.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    args.target.check_flags().unwrap_or_else(|error| error.exit());
    let protection = args.protection()?;
    let runner = match Runner::new(&args.target) {
        Ok(runner) => runner,
        Err(code) => return Ok(ExitCode::from(code)),
    };
    let seed = runner.seed();
    let flag = |name: &str, value: String| ToolFlag { tool: TOOL.to_owned(), name: name.to_owned(), value };
    let mut flags = vec![flag("model", args.model.clone()), flag("fault-seed", seed.to_string())];
    flags.push(flag("patience", args.patience.to_string()));
    let started = Instant::now();
    let golden = match runner.run(&[TOOL], flags.clone(), None)? {
        Ok(golden) => golden,
        Err(code) => return Ok(ExitCode::from(code)),
    };
    let expected = Expected::of(&golden, started.elapsed(), &args.output_file)?;
    let launches = launches(args, &golden)?;
    flags.push(flag("places", places(&launches)?));
    let mut names = vec![TOOL];
    if let Some((name, variant)) = protection {
        names.insert(0, name);
        flags.push(flag("protected", toolkit::Flag::SET.to_owned()));
        let variant = variant.map(|value| ToolFlag {
            tool: name.to_owned(),
            name: "variant".to_owned(),
            value: value.to_owned(),
        });
        flags.extend(variant);
    }
    let with_trials = |first: u64, count: u64, stays: bool| {
        let mut flags = flags.clone();
        flags.extend([flag("first", first.to_string()), flag("trials", count.to_string())]);
        flags.extend(stays.then(|| flag("stays", toolkit::Flag::SET.to_owned())));
        flags
    };
    let started = Instant::now();
    let stays = args.trial.is_some();
    let ran = match runner.run(&names, with_trials(args.first(), args.count(), stays), None)? {
        Ok(ran) => ran,
        Err(code) => return Ok(ExitCode::from(code)),
    };
    let took = started.elapsed();
    let mut trials: Vec<Trial> = ran.rows("trials").map(Trial::of).collect();
    trials.sort_by_key(|trial| trial.number);
    for gap in &ran.unchecked {
        output::complain(gap, "");
    }
    if stays {
        let verdict = Verdict::of(&ran, &expected, args.check.as_deref(), &args.output_file)?;
        trials.iter_mut().for_each(|trial| trial.program = Some(verdict.clone()));
    } else if args.verdict == Follow::Program {
        let limit = (expected.took * u32::try_from(args.patience).unwrap_or(u32::MAX)).max(Duration::from_secs(10));
        for trial in trials.iter_mut() {
            if !trial.is_followed() {
                trial.program = trial.is_valid().then_some(Verdict::Masked);
                continue;
            }
            let ran = match runner.run(&names, with_trials(trial.number, 1, true), Some(limit))? {
                Ok(ran) => ran,
                Err(code) => return Ok(ExitCode::from(code)),
            };
            trial.program = Some(Verdict::of(&ran, &expected, args.check.as_deref(), &args.output_file)?);
        }
    }
    if let Some(file) = &args.nvbitfi {
        let text = nvbitfi::lines(&args.model, &trials);
        std::fs::write(file, text).with_context(|| format!("writing {}", file.display()))?;
    }
    show(args, &trials, seed, took)?;
    // Trials leave nothing behind.
    if !stays && ran.exit != golden.exit {
        output::complain("the program did not go on as it should", " after the trials: none of them counts");
        return Ok(ExitCode::from(NOT_CHECKED));
    }
    let expected_trials = if launches.iter().all(|launch| launch.places == 0) { 0 } else { args.count() };
    if trials.len() as u64 != expected_trials || trials.is_empty() || trials.iter().any(|trial| !trial.is_valid()) {
        let valid = trials.iter().filter(|trial| trial.is_valid()).count();
        output::complain("not all trials took place", &format!(": {valid} of {} did", args.count()));
        return Ok(ExitCode::from(NOT_CHECKED));
    }
    Ok(ExitCode::SUCCESS)
}

/// A launch, and how many places it has that can be struck.
struct Launch {
    number: u64,
    places: u64,
}

/// The launches of the program, those that are left out without places.
fn launches(args: &Args, golden: &Ran) -> Result<Vec<Launch>> {
    if golden.processes > 1 {
        bail!("the program uses CUDA in {} processes: trials of one process are what there is", golden.processes);
    }
    if let Exit::Signal(signal) = golden.exit {
        bail!("the program ends by signal {signal} without any fault");
    }
    if let Exit::Code(code) = golden.exit
        && code != 0
    {
        output::complain("without any fault", &format!(", the program ends with exit code {code}"));
    }
    let mut launches: Vec<(u64, String, u64)> = golden
        .rows("launches")
        .map(|row| (row.number("launch"), row.text("kernel").to_owned(), row.number("places")))
        .collect();
    launches.sort();
    if launches.is_empty() {
        bail!(
            "the program has launched no kernel that faults could strike{}",
            golden.unchecked.first().map_or(String::new(), |gap| format!(": {gap}"))
        );
    }
    let mut matching = 0;
    let mut all = Vec::new();
    for (number, kernel, places) in launches {
        let is_meant = args.kernel_name.is_empty() || args.kernel_name.iter().any(|filter| filter.matches(&kernel));
        let is_in_range =
            matching >= args.launch_skip && args.launch_count.is_none_or(|count| matching - args.launch_skip < count);
        matching += usize::from(is_meant);
        all.push(Launch { number, places: if is_meant && is_in_range { places } else { 0 } });
    }
    if all.iter().all(|launch| launch.places == 0) {
        bail!("there is no place at which `{}` could strike", args.model);
    }
    Ok(all)
}

/// How many places each launch has, as the tool reads it.
fn places(launches: &[Launch]) -> Result<String> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    let mut next = 1;
    for launch in launches {
        // Those that could not be looked at have none.
        let skipped = launch.number.saturating_sub(next);
        for (places, count) in [(0, skipped), (launch.places, 1)] {
            match runs.last_mut() {
                _ if count == 0 => {}
                Some((last, more)) if *last == places => *more += count,
                _ => runs.push((places, count)),
            }
        }
        next = launch.number + 1;
    }
    let text = runs.iter().map(|(places, count)| format!("{places}x{count}")).collect::<Vec<_>>().join(",");
    if text.len() > settings::MAX_BYTES / 2 {
        bail!("the program has too many launches that differ: choose some with --kernel-name and --launch-count");
    }
    Ok(text)
}

fn show(args: &Args, trials: &[Trial], seed: u64, took: Duration) -> Result<()> {
    let table = Table::of(trials, args.with.as_deref());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_with_as_many_places_are_told_together() {
        let launch = |(number, places)| Launch { number, places };
        let launches: Vec<Launch> = [(2, 5), (3, 5), (4, 0), (5, 5), (9, 1)].map(launch).into();
        assert_eq!(places(&launches).unwrap(), "0x1,5x2,0x1,5x1,0x3,1x1");
    }
}
