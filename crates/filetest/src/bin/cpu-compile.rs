//! Compiles every kernel of a directory of PTX files for the CPU device, and says what is refused and how long it took.
//!
//! `cargo run --release -p filetest --bin cpu-compile -- [--width one|warp] [--tier baseline|optimised] [--kernel NAME] DIR`

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is a command")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use cpu::{CodeCache, Device, Mode, Options, Program, Tier, Unsupported, Width};
use device::{LaunchError, LaunchRequest};
use filetest::files::find_files;
use ptx::analysis::CallGraph;

#[derive(Parser, Debug)]
#[command(about = "Compiles every kernel of PTX files for the CPU device")]
struct Args {
    /// Files, or directories to search for `.ptx` files.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// How many lanes run at once.
    #[arg(long, value_enum, default_value_t = WidthArg::Warp)]
    width: WidthArg,
    /// How much time is spent.
    #[arg(long, value_enum, default_value_t = TierArg::Baseline)]
    tier: TierArg,
    /// Takes only every so-manieth file.
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// Takes only kernels with this in their name.
    #[arg(long, default_value = "")]
    kernel: String,
    /// Threads of a block.
    #[arg(long, default_value_t = 256)]
    block: u32,
    /// Keeps code in this directory, and takes what is there.
    #[arg(long)]
    cache: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum WidthArg {
    One,
    Warp,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TierArg {
    Baseline,
    Optimised,
}

#[derive(Default)]
struct Counts {
    compiled: usize,
    kept: u64,
    refused: usize,
    failed: usize,
    instructions: usize,
    milliseconds: f64,
    busy: f64,
    slowest: (f64, usize, String),
    reasons: BTreeMap<String, usize>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let width = match args.width {
        WidthArg::One => Width::Thread,
        WidthArg::Warp => Width::Warp,
    };
    let tier = match args.tier {
        TierArg::Baseline => Tier::Baseline,
        TierArg::Optimised => Tier::Optimised,
    };
    let mode = Mode { width, tier, ..Mode::default() };
    let files = find_files(&args.paths, "ptx")?;
    let mut counts = Counts::default();
    let total = files.len().div_ceil(args.every);
    for (number, path) in files.into_iter().step_by(args.every).enumerate() {
        let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let module = ptx::parse(&text).module;
        let kernels: Vec<_> = module
            .functions
            .values()
            .filter(|function| function.is_entry())
            .filter_map(|function| {
                Some((module.text(function.name).to_owned(), function.body.as_ref()?.insts().count()))
            })
            .filter(|(name, _)| name.contains(&args.kernel))
            .collect();
        let device = Device::new(1 << 30)?;
        if let Some(path) = &args.cache {
            device.keep_code(CodeCache::of(cache::Cache::open(path, cache::DEFAULT_LIMIT)?));
        }
        let program = match Program::load(&device, module) {
            Ok(program) => program,
            Err(error) => {
                *counts.reasons.entry(error.to_string()).or_default() += kernels.len();
                counts.refused += kernels.len();
                continue;
            }
        };
        for (name, instructions) in kernels {
            let kept_before = device.kept_kernels_used();
            let busy_before = busy_milliseconds();
            let started = Instant::now();
            let result =
                program.compile(&LaunchRequest { block: [args.block, 1, 1], ..LaunchRequest::of(&name, &[]) }, &mode);
            let time = started.elapsed().as_secs_f64() * 1e3;
            let busy = busy_milliseconds() - busy_before;
            match result {
                Ok(()) => {
                    counts.compiled += 1;
                    counts.kept += device.kept_kernels_used() - kept_before;
                    counts.instructions += instructions;
                    counts.milliseconds += time;
                    counts.busy += busy;
                    if time > counts.slowest.0 {
                        counts.slowest = (time, instructions, format!("{name} in {}", path.display()));
                    }
                }
                Err(LaunchError::Unsupported(_)) => {
                    counts.refused += 1;
                    let kernel = program.module().function(&name).expect("it is in the module");
                    let reasons = cpu::unsupported(
                        program.module(),
                        &CallGraph::of(program.module()),
                        kernel,
                        &Options::default(),
                    );
                    let mut words: Vec<String> = reasons.iter().map(reason).collect();
                    words.sort();
                    words.dedup();
                    for word in words {
                        *counts.reasons.entry(word).or_default() += 1;
                    }
                }
                Err(error) => {
                    counts.failed += 1;
                    println!("{}: {name}: {error}", path.display());
                }
            }
        }
        eprint!("\r{} of {total} files, {} kernels", number + 1, counts.compiled);
    }
    eprintln!();
    println!(
        "{} kernels compiled ({} of them before), {} refused, {} failed; {} instructions, {:.3} ms each, {:.3} ms of them busy",
        counts.compiled,
        counts.kept,
        counts.refused,
        counts.failed,
        counts.instructions,
        counts.milliseconds / counts.instructions.max(1) as f64,
        counts.busy / counts.instructions.max(1) as f64
    );
    let (time, instructions, name) = &counts.slowest;
    println!("slowest: {time:.0} ms for {instructions} instructions: {name}");
    let mut reasons: Vec<_> = counts.reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (reason, count) in reasons {
        println!("{count:6} kernels: {reason}");
    }
    Ok(())
}

/// The time of processors that the process has used, which says more than the clock where others use them as well.
fn busy_milliseconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// The instruction without its operands.
fn reason(reason: &Unsupported) -> String {
    match reason {
        Unsupported::Instruction { instruction, .. } | Unsupported::Unconfined { instruction, .. } => {
            let mut words = instruction.split_whitespace();
            let first = words.next().unwrap_or_default();
            let opcode = if first.starts_with('@') { words.next().unwrap_or_default() } else { first };
            opcode.trim_end_matches(';').to_owned()
        }
        Unsupported::Undefined { name, .. } => format!("call of `{name}`"),
        Unsupported::DeviceLaunch { .. } => "dynamic parallelism".to_owned(),
        Unsupported::TooLarge { what, .. } => format!("too large: {what}"),
    }
}
