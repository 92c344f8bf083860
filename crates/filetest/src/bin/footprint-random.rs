//! Compares what is proved of random kernels with every access that they make in the interpreter.
//!
//! `cargo run --release -p filetest --bin footprint-random -- 0..20000`
//!
//! Prints kernels of which something wrong was claimed, and what share of the claims that seem true was proved.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "this is a command")]

use std::process::ExitCode;

use anyhow::{Context, Result};
use filetest::footprint::check;
use filetest::random_kernel::{generate_addresses, generate_comparisons};
use filetest::scenario::Scenario;

fn main() -> Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (first, last) = args.first().and_then(|range| range.split_once("..")).context("expected FIRST..END")?;
    let should_print = args.iter().any(|arg| arg == "--print");
    let (first, last): (u64, u64) = (first.parse()?, last.parse()?);
    // Of kernels that were seen to the end: how many did it, and of how many it was proved.
    let (mut in_bounds, mut race_free) = ([0_u32; 2], [0_u32; 2]);
    let (mut wrong, mut slowest, mut total, mut late) = (0, (0.0_f64, 0), 0.0, 0);
    let mut accesses_seen = 0;
    // Of kernels that race only on a condition: how many there were, and how many met it.
    let mut conditional = [0_u32; 2];
    for seed in first..last {
        let kernel = if seed % 2 == 0 { generate_addresses(seed) } else { generate_comparisons(seed) };
        if should_print {
            println!("{}", kernel.text);
        }
        let parsed = ptx::parse(&kernel.text);
        let scenario = Scenario::parse(&kernel.text)?;
        let checked = check(&parsed.module, &scenario, seed).with_context(|| format!("seed {seed}"))?;
        if should_print {
            println!("{:#?}", checked);
        }
        if let Some(claim) = checked.wrong_claim() {
            wrong += 1;
            println!("seed {seed}: {claim}");
        }
        total += checked.milliseconds;
        late += u32::from(checked.milliseconds > 5.0);
        if checked.milliseconds > slowest.0 {
            slowest = (checked.milliseconds, seed);
        }
        accesses_seen += 1;
        let observed = &checked.observed;
        conditional[0] += u32::from(checked.footprint.condition.is_some());
        conditional[1] += u32::from(observed.met_condition);
        if observed.fault.is_none() && !observed.is_partial {
            in_bounds[0] += 1;
            in_bounds[1] += u32::from(checked.footprint.bounds.is_proved());
            if observed.race.is_none() {
                race_free[0] += 1;
                race_free[1] += u32::from(checked.footprint.races.is_proved());
            }
        }
    }
    println!("{accesses_seen} kernels, {wrong} wrong claims");
    println!("{} stayed in bounds, of which {} were proved", in_bounds[0], in_bounds[1]);
    println!("{} of these had no race, of which {} were proved", race_free[0], race_free[1]);
    println!("{} race only on a condition, which {} met", conditional[0], conditional[1]);
    println!(
        "an answer took {:.3} ms, the slowest {:.2} ms (seed {}), {late} more than 5 ms",
        total / (last - first).max(1) as f64,
        slowest.0,
        slowest.1
    );
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
