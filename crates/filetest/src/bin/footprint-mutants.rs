//! Breaks the kernels of the benchmarks, one mistake at a time, and looks whether what was proved still is.
//!
//! ```text
//! footprint-mutants SMALL-LAUNCHES DIRECTORY-OF-PTX [BENCHMARK …]
//! ```
//!
//! A broken kernel of which everything is proved that was proved before is run in the interpreter: it must be harmless.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "this is a command")]

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use filetest::footprint::{Mistake, benchmarks, check, mutants, prove};

/// What became of the mutants of a kind.
#[derive(Clone, Copy, Default)]
struct Count {
    refused: u32,
    harmless: u32,
    wrong: u32,
}

fn main() -> Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [launches, directory, only @ ..] = &args[..] else {
        bail!("footprint-mutants SMALL-LAUNCHES DIRECTORY-OF-PTX [BENCHMARK …]");
    };
    let all = benchmarks(&std::fs::read_to_string(launches).with_context(|| launches.clone())?)?;
    let mut total = [Count::default(); 2];
    for benchmark in all.iter().filter(|benchmark| only.is_empty() || only.contains(&benchmark.name)) {
        let path = Path::new(directory).join(&benchmark.source).with_extension("ptx");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let module = ptx::parse(&text).module;
        let mut kernels: Vec<&str> = benchmark.launches.iter().map(|it| it.launches[0].kernel.as_str()).collect();
        kernels.sort_unstable();
        kernels.dedup();
        for kernel in kernels {
            let scenarios: Vec<_> = benchmark.launches.iter().filter(|it| it.launches[0].kernel == kernel).collect();
            let id = module.function(kernel).context("the kernel is there")?;
            let before: Vec<_> = scenarios.iter().map(|it| prove(&module, it)).collect::<Result<_>>()?;
            let mut own = [Count::default(); 2];
            for mutant in mutants(&module, id) {
                let (mut is_refused, mut is_judged, mut wrong) = (false, false, None);
                for (scenario, before) in scenarios.iter().zip(&before) {
                    let was = [before.bounds.is_proved(), before.races.is_proved()];
                    // A barrier says nothing about bounds.
                    let counts = was[1] || was[0] && mutant.mistake == Mistake::NextElement;
                    if !counts {
                        continue;
                    }
                    is_judged = true;
                    let now = prove(&mutant.module, scenario)?;
                    if was[0] && !now.bounds.is_proved() || was[1] && !now.races.is_proved() {
                        is_refused = true;
                        continue;
                    }
                    for seed in 0..2 {
                        let checked = check(&mutant.module, scenario, seed)?;
                        wrong = wrong.or(checked.wrong_claim());
                    }
                }
                if !is_judged {
                    continue;
                }
                let count = &mut own[usize::from(mutant.mistake == Mistake::NextElement)];
                match wrong {
                    Some(claim) => {
                        count.wrong += 1;
                        println!("{} line {}: {:?}: {claim}", benchmark.source, mutant.line, mutant.mistake);
                    }
                    None if is_refused => count.refused += 1,
                    None => {
                        count.harmless += 1;
                        println!("{} line {}: {:?} is harmless", benchmark.source, mutant.line, mutant.mistake);
                    }
                }
            }
            for (total, own) in total.iter_mut().zip(own) {
                total.refused += own.refused;
                total.harmless += own.harmless;
                total.wrong += own.wrong;
            }
        }
    }
    for (count, name) in total.iter().zip(["without a barrier", "with an access an element further"]) {
        let Count { refused, harmless, wrong } = count;
        println!(
            "{} kernels {name}: {refused} refused, {harmless} harmless, {wrong} wrong",
            refused + harmless + wrong
        );
    }
    Ok(if total.iter().all(|count| count.wrong == 0) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
