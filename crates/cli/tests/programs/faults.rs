//! Runs the programs in `tests/inject` under `warpgrind inject`: lines `//@ trials: FLAGS => WHAT` say what must come of trials.
//!
//! `outcomes.sdc=64` is a number of the JSON that the command prints for kernels, added up, and `exit=87` its exit code, 0 if
//! nothing is said; `with: ARGUMENTS` at the end of a line are arguments of the program. All trials are repeated, which must give
//! the same to the byte, and one of them alone, which must strike the same place with the same outcome.
//!
//! Where faults are followed to the end of the program, that must give the same in processes that are forked as in processes that
//! run from the beginning; `//@ not-forked: REASON` says that the program cannot be forked, and why.
//!
//! Lines `//@ gpu: FLAGS => WHAT` are of trials that are run on the GPU device, a process each, and on the CPU device: what was struck
//! must be the same, and what came of it, but for as many trials as `differ=` says: the devices have other addresses, and may do
//! something else where PTX leaves it open, as in a shuffle without the lane itself. Of the first line, one trial is repeated alone.
//! Lines `//@ not-on-gpu: FLAGS => WORDS` are of those that are refused there, and of what is said on standard error then.

use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::build::Toolchain;
use crate::gpu::StandIn;
use crate::header::{Header, Variant};
use crate::run::{Installation, timeout, without_descriptors};

/// What begins lines of the GPU device.
const ON_GPU: &str = "//@ gpu: ";
/// What begins lines of trials that it refuses.
const NOT_ON_GPU: &str = "//@ not-on-gpu: ";
/// Among flags there: NVIDIA's assembler says how many registers kernels have, which takes long.
const ASSEMBLED: &str = "--assembled";
/// What a trial says of what it strikes.
const STRUCK: [&str; 8] = ["kernel", "launch", "thread", "place", "instruction", "bit", "before", "after"];

/// Runs the trials that a program asks for.
pub(crate) fn check(toolchain: &Toolchain, source: &Path) -> Result<()> {
    let text = std::fs::read_to_string(source)?;
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("//@ trials: ")).collect();
    ensure!(!lines.is_empty(), "no line says which trials there are");
    let program = build(toolchain, source)?;
    let not_forked = text.lines().find_map(|line| line.strip_prefix("//@ not-forked: "));
    for line in lines {
        check_line(&program, line, not_forked).with_context(|| format!("`{line}`"))?;
    }
    Ok(())
}

fn build(toolchain: &Toolchain, source: &Path) -> Result<PathBuf> {
    let mut header = Header::parse("")?;
    header.build.push("-g".to_owned());
    Ok(toolchain.build(source, &header, Variant::Lines).context("building the program")?.program)
}

/// Whether a program asks for trials on the GPU device.
pub(crate) fn is_for_gpu(source: &Path) -> Result<bool> {
    let text = std::fs::read_to_string(source)?;
    Ok(text.lines().any(|line| line.starts_with(ON_GPU) || line.starts_with(NOT_ON_GPU)))
}

/// Runs the trials that a program asks for on the GPU device, and the same on the CPU device.
pub(crate) fn on_gpu(toolchain: &Toolchain, source: &Path) -> Result<()> {
    let text = std::fs::read_to_string(source)?;
    let program = build(toolchain, source)?;
    for (number, line) in text.lines().filter_map(|line| line.strip_prefix(ON_GPU)).enumerate() {
        check_line_on_gpu(toolchain, &program, line, number == 0).with_context(|| format!("`{line}`"))?;
    }
    for line in text.lines().filter_map(|line| line.strip_prefix(NOT_ON_GPU)) {
        let Line { flags, wanted, arguments } = Line::parse(line)?;
        let output = run_on_gpu(toolchain, &program, false, &flags, &arguments)?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(!output.status.success() && said.contains(wanted.trim()), "`{line}`: {}: {said}", output.status);
    }
    Ok(())
}

fn check_line_on_gpu(toolchain: &Toolchain, program: &Path, line: &str, is_first: bool) -> Result<()> {
    let Line { flags, wanted, arguments } = Line::parse(line)?;
    let wanted: Vec<&str> = wanted.split_whitespace().collect();
    let differ = wanted.iter().find_map(|word| word.strip_prefix("differ=")).map_or(Ok(0), str::parse::<usize>)?;
    let wanted: Vec<&str> = wanted.into_iter().filter(|word| !word.starts_with("differ=")).collect();
    let is_assembled = flags.contains(&ASSEMBLED);
    let flags: Vec<&str> = flags.into_iter().filter(|flag| *flag != ASSEMBLED).collect();
    let output = run_on_gpu(toolchain, program, is_assembled, &flags, &arguments)?;
    let rows = hold(&output, &wanted.join(" "))?;
    let on_cpu = self::rows(&run(program, &flags, &arguments)?)?;
    let of_trials = |rows: &[Value]| rows.iter().filter(|row| row["type"] == "trial").cloned().collect::<Vec<_>>();
    let (here, there) = (of_trials(&rows), of_trials(&on_cpu));
    ensure!(here.len() == there.len(), "{} trials were told, and {} on the CPU device", here.len(), there.len());
    let mut different = Vec::new();
    for (here, there) in here.iter().zip(&there) {
        for field in STRUCK {
            let is_same = here[field] == there[field] || is_address(field, here) && is_address(field, there);
            ensure!(is_same, "{field} of {here} is {} on the CPU device", there[field]);
        }
        if ["outcome", "protected", "program"].iter().any(|field| here[*field] != there[*field]) {
            different.push(format!("{here}\nand on the CPU device {there}"));
        }
    }
    ensure!(different.len() <= differ, "something else came of {}:\n{}", different.len(), different.join("\n"));
    match is_first {
        true => check_alone(&rows, &flags, |flags| run_on_gpu(toolchain, program, is_assembled, flags, &arguments)),
        false => Ok(()),
    }
}

/// Whether a field has an address in it, or a value that is one: memory begins at other addresses on the other device.
fn is_address(field: &str, trial: &Value) -> bool {
    const LEAST: u64 = 1 << 40;
    let text = trial[field].as_str().unwrap_or_default();
    let digits = text.rsplit_once("0x").map(|(_, digits)| u64::from_str_radix(digits, 16));
    // rmt compares addresses in halves.
    let is_half = matches!(field, "before" | "after") && trial["model"] == "inserted-bit";
    let is_there = matches!(field, "before" | "after") || field == "instruction" && trial["model"] == "memory-cell";
    is_half || is_there && matches!(digits, Some(Ok(address)) if address >= LEAST)
}

fn run_on_gpu(
    toolchain: &Toolchain,
    program: &Path,
    is_assembled: bool,
    flags: &[&str],
    arguments: &[&str],
) -> Result<Output> {
    let installation = Installation::make()?;
    let stand_in = StandIn::new(toolchain, &installation.file(""))?;
    let mut command = timeout(&installation);
    command.arg("inject").args(stand_in.flags()).args(["--seed", "1", "--json"]).args(flags);
    match is_assembled {
        true => stand_in.set(&mut command),
        false => stand_in.set_without_assembler(&mut command),
    }
    let output = command.arg(program).args(arguments).output().context("starting `timeout`")?;
    stand_in.check()?;
    Ok(output)
}

/// A line that says which trials there are, and what must come of them.
struct Line<'a> {
    flags: Vec<&'a str>,
    wanted: &'a str,
    arguments: Vec<&'a str>,
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Result<Self> {
        let (flags, rest) = line.split_once("=>").context("after `=>` is what must come of the trials")?;
        let (wanted, arguments) = rest.split_once("with:").unwrap_or((rest, ""));
        Ok(Self {
            flags: flags.split_whitespace().collect(),
            wanted,
            arguments: arguments.split_whitespace().collect(),
        })
    }
}

/// The rows of a run of which conditions must hold.
fn hold(output: &Output, wanted: &str) -> Result<Vec<Value>> {
    let rows = rows(output)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let mut exit = 0;
    for condition in wanted.split_whitespace() {
        let at = condition.find(['=', '>']).context("a condition is a comparison")?;
        let (name, number) = (&condition[..at], condition[at + 1..].parse::<u64>()?);
        if name == "exit" {
            exit = number as i32;
            continue;
        }
        let is = sum(&rows, name);
        let holds = if condition[at..].starts_with('=') { is == number } else { is > number };
        ensure!(holds, "{name} is {is}, not {condition}: {said}{}", String::from_utf8_lossy(&output.stdout));
    }
    for row in &rows {
        is_documented(row)?;
    }
    ensure!(output.status.code() == Some(exit), "the exit is {}: {said}", output.status);
    Ok(rows)
}

fn check_line(program: &Path, line: &str, not_forked: Option<&str>) -> Result<()> {
    let Line { flags, wanted, arguments } = Line::parse(line)?;
    let run = |flags: &[&str]| run(program, flags, &arguments);
    let first = run(&flags)?;
    let rows = hold(&first, wanted)?;
    let said = String::from_utf8_lossy(&first.stderr);
    let again = run(&flags)?;
    ensure!(first.stdout == again.stdout, "the same trials came to something else");
    if flags.contains(&"--verdict") {
        const REFUSED: &str = "faults are followed in a process each, because ";
        let why = said.lines().find_map(|line| line.split_once(REFUSED)).map(|(_, why)| why);
        let is_expected = match (why, not_forked) {
            (Some(why), Some(reason)) => why.contains(reason),
            (why, reason) => why.is_none() && reason.is_none(),
        };
        ensure!(is_expected, "whether the program was forked is not as it should be: {said}");
        let one_by_one = run(&[&flags[..], &["--fork", "no"]].concat())?;
        ensure!(first.stdout == one_by_one.stdout, "processes of their own came to something else");
    }
    // Alone, the fault stays, and a program that hangs does so for ever.
    if wanted.contains("program.hang=") {
        return Ok(());
    }
    check_alone(&rows, &flags, run)
}

/// Runs one of the trials alone, which must strike the same place with the same outcome.
fn check_alone(rows: &[Value], flags: &[&str], run: impl Fn(&[&str]) -> Result<Output>) -> Result<()> {
    let trials: Vec<&Value> = rows.iter().filter(|row| row["type"] == "trial" && row["outcome"] != "invalid").collect();
    let Some(one) = trials.get(trials.len() / 2) else { return Ok(()) };
    let number = one["trial"].to_string();
    let mut alone = vec!["--trial", &number];
    let kept = ["--trials", "--verdict"];
    for (place, flag) in flags.iter().enumerate() {
        let is_left_out = kept.contains(flag) || place > 0 && kept.contains(&flags[place - 1]);
        alone.extend((!is_left_out).then_some(*flag));
    }
    let alone = self::rows(&run(&alone)?)?;
    let Some(alone) = alone.iter().find(|row| row["type"] == "trial") else { bail!("trial {number} is nothing alone") };
    for field in STRUCK.into_iter().chain(["outcome", "note"]) {
        ensure!(one[field] == alone[field], "{field} of trial {number} is {}, and alone {}", one[field], alone[field]);
    }
    Ok(())
}

fn run(program: &Path, flags: &[&str], arguments: &[&str]) -> Result<Output> {
    let installation = Installation::make()?;
    let mut command = without_descriptors(&installation);
    command.args(["inject", "--seed", "1", "--json"]).args(flags).arg(program).args(arguments);
    command.output().context("starting `bash`")
}

fn rows(output: &Output) -> Result<Vec<Value>> {
    let text = std::str::from_utf8(&output.stdout)?;
    text.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}

/// A number of all kernels: `outcomes.sdc`.
fn sum(rows: &[Value], name: &str) -> u64 {
    let number = |row: &Value| name.split('.').fold(row, |value, part| &value[part]).as_u64().unwrap_or(0);
    rows.iter().filter(|row| row["type"] == "faults").map(number).sum()
}

/// Whether an object has just the fields that the document says.
fn is_documented(row: &Value) -> Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report-format.md");
    let text = std::fs::read_to_string(path).context(path)?;
    let title = format!("## {}\n", row["type"].as_str().context("an object has a type")?);
    let section = text.split_once(&title).with_context(|| format!("there is no `{title}`"))?.1;
    let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
    let mut fields: Vec<&str> =
        section.lines().filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0)).collect();
    let mut written: Vec<&str> = row.as_object().context("it is an object")?.keys().map(String::as_str).collect();
    fields.sort_unstable();
    written.sort_unstable();
    ensure!(fields == written, "{title} has other fields: {written:?}");
    Ok(())
}
