//! Runs the programs in `tests/inject` under `warpgrind inject`: lines `//@ trials: FLAGS => WHAT` say what must come of trials.
//!
//! `outcomes.sdc=64` is a number of the JSON that the command prints for kernels, added up, and `exit=87` its exit code, 0 if
//! nothing is said; `with: ARGUMENTS` at the end of a line are arguments of the program. All trials are repeated, which must give
//! the same to the byte, and one of them alone, which must strike the same place with the same outcome.
//!
//! Where faults are followed to the end of the program, that must give the same in processes that are forked as in processes that
//! run from the beginning; `//@ not-forked: REASON` says that the program cannot be forked, and why.

use std::path::Path;
use std::process::Output;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::build::Toolchain;
use crate::header::{Header, Variant};
use crate::run::{Installation, without_descriptors};

/// Runs the trials that a program asks for.
pub(crate) fn check(toolchain: &Toolchain, source: &Path) -> Result<()> {
    let text = std::fs::read_to_string(source)?;
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("//@ trials: ")).collect();
    ensure!(!lines.is_empty(), "no line says which trials there are");
    let mut header = Header::parse("")?;
    header.build.push("-g".to_owned());
    let program = toolchain.build(source, &header, Variant::Lines).context("building the program")?.program;
    let not_forked = text.lines().find_map(|line| line.strip_prefix("//@ not-forked: "));
    for line in lines {
        check_line(&program, line, not_forked).with_context(|| format!("`{line}`"))?;
    }
    Ok(())
}

fn check_line(program: &Path, line: &str, not_forked: Option<&str>) -> Result<()> {
    let (flags, rest) = line.split_once("=>").context("after `=>` is what must come of the trials")?;
    let (wanted, arguments) = rest.split_once("with:").unwrap_or((rest, ""));
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    let run = |flags: &[&str]| run(program, flags, &arguments);
    let first = run(&flags)?;
    let rows = rows(&first)?;
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
        ensure!(holds, "{name} is {is}, not {condition}: {}", String::from_utf8_lossy(&first.stderr));
    }
    for row in &rows {
        is_documented(row)?;
    }
    let said = String::from_utf8_lossy(&first.stderr);
    ensure!(first.status.code() == Some(exit), "the exit is {}: {said}", first.status);
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
    for field in ["kernel", "launch", "thread", "place", "instruction", "bit", "before", "after", "outcome", "note"] {
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
