//! Runs the programs in `tests/traffic/closed_forms` and `tests/traffic/caches` under traffic, and compares its tables with the numbers
//! that stand at the lines of the source.
//!
//! `//~ TRAFFIC global load requests=4 sectors=4*32; shared store requests=1 bank_passes=2` has what must be counted of the
//! accesses of a line, `//~ BRANCH executed=2 divergent=1 idle_lanes=14` of its branches; a number is a sum of products. Lines
//! without marks must have nothing. `//~ CACHES load sectors=4 l1_hits_low=4` has what caches must come to, on sm_80 or what the first
//! line says (`// arch: sm_61`). All of that must be the same with two workers, with threads on their own, and with any seed of a
//! random schedule.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::build::Toolchain;
use crate::gpu::StandIn;
use crate::header::{Header, Variant};
use crate::run::{Installation, timeout};

/// What is counted of a line: by the table, and what in it, the columns with their numbers.
type Counts = BTreeMap<(u64, String), BTreeMap<String, u64>>;

/// Ways to run a program that must not change what is counted.
const WAYS: [&[&str]; 4] = [
    &["--seed", "1"],
    &["--threads", "2"],
    &["--width", "1", "--seed", "1"],
    &["--arch", "sm_21,sm_90", "--seed", "1"],
];
/// The same for caches, of which architectures count otherwise. Threads on their own part where lanes of a warp do not.
const CACHE_WAYS: [&[&str]; 3] = [&["--seed", "1"], &["--threads", "2"], &["--threads", "1"]];
/// Seeds of random schedules.
const SEEDS: u64 = 20;

/// Runs a program, and compares what is counted.
pub(crate) fn check(toolchain: &Toolchain, source: &Path) -> Result<()> {
    check_ways(toolchain, source, &WAYS, SEEDS, &[])
}

/// The same for a program that says what caches come to.
pub(crate) fn check_caches(toolchain: &Toolchain, source: &Path) -> Result<()> {
    let text = std::fs::read_to_string(source)?;
    let arch = text.lines().next().and_then(|line| line.strip_prefix("// arch: ")).unwrap_or("sm_80");
    check_ways(toolchain, source, &CACHE_WAYS, SEEDS, &["--caches", "--arch", arch])
}

fn check_ways(toolchain: &Toolchain, source: &Path, ways: &[&[&str]], seeds: u64, flags: &[&str]) -> Result<()> {
    let has_caches = !flags.is_empty();
    let counted = |program: &Path, source: &Path, way: &[&str]| counted(program, source, &[flags, way].concat());
    let wanted = marks(&std::fs::read_to_string(source)?)?;
    ensure!(!wanted.is_empty(), "no line says what must be counted");
    let mut header = Header::parse("")?;
    header.build.push("-g".to_owned());
    let program = toolchain.build(source, &header, Variant::Lines).context("building the program")?.program;
    let first = counted(&program, source, ways[0])?;
    compare(&first, &wanted, has_caches)?;
    for way in &ways[1..] {
        ensure!(counted(&program, source, way)? == first, "{way:?} counts otherwise");
    }
    for seed in 0..seeds {
        let seed = seed.to_string();
        let way = ["--schedule", "random", "--preempt", "--seed", &seed];
        ensure!(counted(&program, source, &way)? == first, "{way:?} counts otherwise");
    }
    Ok(())
}

/// Runs a program on the GPU device, which has no workers that count for themselves: the same must be counted.
pub(crate) fn on_gpu(toolchain: &Toolchain, source: &Path) -> Result<()> {
    let mut header = Header::parse("")?;
    header.build.push("-g".to_owned());
    let program = toolchain.build(source, &header, Variant::Lines).context("building the program")?.program;
    let counts = counted_on(&program, source, &[], Some(toolchain))?;
    compare(&counts, &marks(&std::fs::read_to_string(source)?)?, false)
}

/// What is counted is what lines say.
fn compare(first: &Counts, wanted: &Counts, has_caches: bool) -> Result<()> {
    let wrong: Vec<String> = first
        .iter()
        // What is counted without caches has tests of its own.
        .filter(|((_, what), _)| !has_caches || what.starts_with("caches"))
        .filter(|(key, columns)| wanted.get(*key).is_none_or(|wanted| !has(columns, wanted)))
        .map(|(key, columns)| format!("{key:?}: counted {columns:?}, wanted {:?}", wanted.get(key)))
        .chain(wanted.keys().filter(|key| !first.contains_key(*key)).map(|key| format!("{key:?}: nothing is counted")))
        .collect();
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// Whether all columns that are wanted have their numbers.
fn has(columns: &BTreeMap<String, u64>, wanted: &BTreeMap<String, u64>) -> bool {
    wanted.iter().all(|(name, number)| columns.get(name) == Some(number))
}

/// What traffic counts of the lines of the source. If it is for several architectures, these count the same.
fn counted(program: &Path, source: &Path, flags: &[&str]) -> Result<Counts> {
    counted_on(program, source, flags, None)
}

/// The same, on the GPU device if a toolchain for it is given.
fn counted_on(program: &Path, source: &Path, flags: &[&str], gpu: Option<&Toolchain>) -> Result<Counts> {
    let installation = Installation::make()?;
    let report = installation.file("report.jsonl");
    let mut command = timeout(&installation);
    let stand_in = gpu.map(|toolchain| StandIn::new(toolchain, &installation.file(""))).transpose()?;
    command.args(["traffic", "--ptxas", "none"]).args(flags).args(["--format", "json", "--log-file"]).arg(&report);
    if let Some(stand_in) = &stand_in {
        command.args(stand_in.flags());
        stand_in.set(&mut command);
    }
    let output = command.arg(program).output().context("starting `timeout`")?;
    stand_in.map_or(Ok(()), |stand_in| stand_in.check())?;
    ensure!(output.status.success(), "the exit is {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    let mut counts = BTreeMap::<String, Counts>::new();
    for line in std::fs::read_to_string(&report)?.lines() {
        let row: Value = serde_json::from_str(line)?;
        let text = |name: &str| row[name].as_str().unwrap_or_default();
        let is_here = source.file_name().is_some_and(|name| Path::new(text("file")).file_name() == Some(name));
        if row["type"] != "row" || !is_here {
            continue;
        }
        let what = match text("table") {
            "lines" => format!("{} {}", text("space"), text("access")),
            "caches" => format!("caches {}", text("access")),
            other => other.to_owned(),
        };
        let key = (row["line"].as_u64().context("a row has a line")?, what);
        let of_arch = counts.entry(text("arch").to_owned()).or_default().entry(key).or_default();
        for (name, number) in row.as_object().into_iter().flatten() {
            let Some(number) = number.as_u64().filter(|_| name != "line") else { continue };
            let sum = of_arch.entry(name.clone()).or_default();
            // Several kernels may have accesses in a line.
            *sum = if name == "bank_ways_max" { number.max(*sum) } else { number + *sum };
        }
    }
    let mut all = counts.into_values();
    let first = all.next().unwrap_or_default();
    ensure!(all.all(|other| other == first), "architectures differ in what is counted");
    Ok(first)
}

/// What the lines of a source say.
fn marks(text: &str) -> Result<Counts> {
    let mut counts = Counts::new();
    for (index, line) in text.lines().enumerate() {
        let line_number = index as u64 + 1;
        for mark in line.split("//~ ").skip(1) {
            let (table, entries) = mark.split_once(' ').context("a mark has a table and numbers")?;
            for entry in entries.split(';') {
                let (columns, words): (Vec<&str>, Vec<&str>) =
                    entry.split_whitespace().partition(|word| word.contains('='));
                let what = match table {
                    "BRANCH" => "branches".to_owned(),
                    "CACHES" => format!("caches {}", words.join(" ")),
                    _ => words.join(" "),
                };
                let numbers = columns.iter().map(|column| {
                    let (name, number) = column.split_once('=').expect("these have one");
                    Ok((name.to_owned(), value(number)?))
                });
                counts.insert((line_number, what), numbers.collect::<Result<_>>()?);
            }
        }
    }
    Ok(counts)
}

/// A sum of products: `4*32+1`.
fn value(text: &str) -> Result<u64> {
    let mut sum = 0;
    for product in text.split('+') {
        let mut value = 1;
        for factor in product.split('*') {
            value *= factor.parse::<u64>().with_context(|| format!("`{text}` is no sum of products"))?;
        }
        sum += value;
    }
    Ok(sum)
}
