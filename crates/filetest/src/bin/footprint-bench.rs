//! What is proved of the launches of the benchmarks, and how long that takes.
//!
//! ```text
//! footprint-bench LAUNCHES DIRECTORY-OF-PTX [BENCHMARK …]
//! ```

#![allow(clippy::print_stdout, reason = "this is a command")]

use std::path::Path;

use anyhow::{Context, Result, bail};
use filetest::footprint::{PlacedLaunch, benchmarks, thread_time};
use ptx::analysis::footprint::{Kernel, Verdict};

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [launches, directory, only @ ..] = &args[..] else {
        bail!("footprint-bench LAUNCHES DIRECTORY-OF-PTX [BENCHMARK …]");
    };
    let all = benchmarks(&std::fs::read_to_string(launches).with_context(|| launches.clone())?)?;
    let (mut in_bounds, mut race_free, mut count) = (0, 0, 0);
    let mut longest = 0.0_f64;
    for benchmark in all.iter().filter(|benchmark| only.is_empty() || only.contains(&benchmark.name)) {
        let path = Path::new(directory).join(&benchmark.source).with_extension("ptx");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let module = ptx::parse(&text).module;
        let (mut proved, mut slowest, mut steps) = ([true, true], 0.0_f64, 0);
        let mut reasons: Vec<String> = Vec::new();
        for scenario in &benchmark.launches {
            let line = &scenario.launches[0];
            let sizes: Vec<u64> = scenario.buffers.iter().map(|buffer| buffer.initial.len() as u64).collect();
            let placed = PlacedLaunch::new(&module, line, &sizes, None)?;
            let id = module.function(&line.kernel).context("the kernel is there")?;
            let kernel = Kernel::of(&module, id).context("the kernel has a body")?;
            let start = thread_time();
            let footprint = kernel.footprint(&placed.launch());
            slowest = slowest.max(thread_time() - start);
            steps = steps.max(footprint.steps);
            for (place, (name, verdict)) in
                [("bounds", &footprint.bounds), ("races", &footprint.races)].into_iter().enumerate()
            {
                if let Verdict::NotProved(why) = verdict {
                    proved[place] = false;
                    for reason in why {
                        let text = format!("    {name}: {reason}");
                        if reasons.len() < 12 && !reasons.contains(&text) {
                            reasons.push(text);
                        }
                    }
                }
            }
        }
        let word = |proved: bool| if proved { "proved" } else { "-" };
        println!(
            "{:28} bounds {:6}  races {:6}  {:4} launches  slowest {slowest:.2} ms  {steps} steps",
            benchmark.name,
            word(proved[0]),
            word(proved[1]),
            benchmark.launches.len(),
        );
        for reason in reasons {
            println!("{reason}");
        }
        longest = longest.max(slowest);
        count += 1;
        in_bounds += u32::from(proved[0]);
        race_free += u32::from(proved[1]);
    }
    println!("{count} benchmarks: {in_bounds} in bounds, {race_free} race-free, slowest answer {longest:.2} ms");
    Ok(())
}
