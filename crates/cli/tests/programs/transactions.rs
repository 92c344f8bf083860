//! Runs the programs in `tests/stm`, in which threads race unless `warpgrind stm` makes transactions of what they mark.
//!
//! Without the tool a program ends with 1 in some schedule; under it, in the same schedules, with 0, and memcheck and racecheck have
//! nothing to say of what it became. `//@ refused: CODE …` is for programs of which every kernel is refused, and which are right as
//! they are; `//@ stops: ERROR …` for one whose launch ends with one of these errors. With `FIXED` all of them are right.

use std::path::Path;
use std::process::Output;

use anyhow::{Context, Result, ensure};

use crate::build::Toolchain;
use crate::gpu::StandIn;
use crate::header::{Header, Variant};
use crate::run::{Installation, timeout};

/// Each access may be followed by those of another thread.
const SCHEDULE: [&str; 5] = ["--width", "1", "--schedule", "random", "--preempt"];

/// How many seeds are tried.
const SEEDS: u32 = 5;

/// Runs a program that marks transactions.
pub(crate) fn check(toolchain: &Toolchain, source: &Path, variant: Variant) -> Result<()> {
    let text = std::fs::read_to_string(source)?;
    let program = build(toolchain, source, variant, false)?;
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    if let Some(codes) = after(&text, "//@ refused: ") {
        let output = run(&program, &["stm", "--format", "json"])?;
        ensure!(output.status.code() == Some(87), "the exit is {}: {}", output.status, said(&output));
        let report = said(&output);
        for code in codes.split_whitespace() {
            ensure!(report.contains(&format!("(stm: {code})")), "nothing is refused as {code}: {report}");
        }
        return Ok(());
    }
    if let Some(errors) = after(&text, "//@ stops: ") {
        let output = run(&program, &["stm"])?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let is_stopped = errors.split_whitespace().any(|error| printed.trim() == error);
        ensure!(
            is_stopped && output.status.code() == Some(86),
            "the exit is {}: {printed}{}",
            output.status,
            said(&output)
        );
        return Ok(());
    }
    let seeds: Vec<String> = (1..=SEEDS).map(|seed| seed.to_string()).collect();
    let with_seed = |command: &[&str], seed: &str| {
        run(&program, &[command, &SCHEDULE, &["--seed", seed]].concat()).map(|output| (output.status.code(), output))
    };
    let mut is_racy = false;
    for seed in &seeds {
        is_racy |= with_seed(&["run"], seed)?.0 == Some(1);
        let (exit, output) = with_seed(&["stm"], seed)?;
        ensure!(exit == Some(0), "seed {seed}: {exit:?}: {}", said(&output));
    }
    ensure!(is_racy, "it is right without transactions in all schedules");
    for command in [&["stm"][..], &["stm", "--tool", "memcheck"], &["stm", "--tool", "racecheck"]] {
        let output = run(&program, command)?;
        ensure!(output.status.code() == Some(0), "{command:?}: {}: {}", output.status, said(&output));
    }
    Ok(())
}

/// Runs a program on the GPU device: under the tool it is right there, too, and what is refused is refused.
pub(crate) fn on_gpu(toolchain: &Toolchain, source: &Path) -> Result<()> {
    let text = std::fs::read_to_string(source)?;
    let program = build(toolchain, source, Variant::Lines, false)?;
    for command in [&["stm"][..], &["stm", "--tool", "memcheck"]] {
        let installation = Installation::make()?;
        let stand_in = StandIn::new(toolchain, &installation.file(""))?;
        let mut process = timeout(&installation);
        stand_in.set(&mut process);
        let refused = after(&text, "//@ refused: ");
        process.args(command).args(stand_in.flags()).args(refused.map_or(&[][..], |_| &["--format", "json"]));
        let output = process.arg(&program).output().context("starting `timeout`")?;
        stand_in.check()?;
        let (exit, said) = (output.status.code(), String::from_utf8_lossy(&output.stderr));
        match (refused, after(&text, "//@ stops: ")) {
            (Some(codes), _) => {
                ensure!(exit == Some(87), "{command:?}: {exit:?}: {said}");
                for code in codes.split_whitespace() {
                    ensure!(said.contains(&format!("(stm: {code})")), "nothing is refused as {code}: {said}");
                }
            }
            (None, Some(_)) => ensure!(exit == Some(86), "{command:?}: {exit:?}: {said}"),
            (None, None) => ensure!(exit == Some(0), "{command:?}: {exit:?}: {said}"),
        }
    }
    Ok(())
}

/// Runs a program as it should have been.
pub(crate) fn repaired(toolchain: &Toolchain, source: &Path) -> Result<()> {
    let program = build(toolchain, source, Variant::Lines, true)?;
    for command in [&["run"][..], &["stm"]] {
        let output = run(&program, &[command, &SCHEDULE, &["--seed", "1"]].concat())?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.code() == Some(0), "{command:?}: {}: {said}", output.status);
    }
    Ok(())
}

fn build(toolchain: &Toolchain, source: &Path, variant: Variant, is_fixed: bool) -> Result<std::path::PathBuf> {
    let mut header = Header::parse("")?;
    header.build.extend(is_fixed.then(|| "-DFIXED".to_owned()));
    Ok(toolchain.build(source, &header, variant).context("building the program")?.program)
}

fn run(program: &Path, arguments: &[&str]) -> Result<Output> {
    let installation = Installation::make()?;
    timeout(&installation).args(arguments).arg(program).output().context("starting `timeout`")
}

fn after<'a>(text: &'a str, mark: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(mark))
}
