//! Measures the front end on a directory of PTX files: parsing, printing and all analyses, and how parsing grows with
//! the size of a module.
//!
//! `cargo run --release -p filetest --bin ptx-bench -- DIR`

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "this is a command")]

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Parser;
use filetest::files::find_files;

#[derive(Parser, Debug)]
#[command(about = "Measures parsing, printing and analyses of PTX files on one core")]
struct Args {
    /// Files, or directories to search for `.ptx` files.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// How often to repeat each file; its best time counts, because machines are shared.
    #[arg(long, default_value_t = 10)]
    repeat: usize,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut texts = Vec::new();
    for path in find_files(&args.paths, "ptx")? {
        let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        texts.push((path, text));
    }
    let bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
    println!("{} files, {:.1} MB", texts.len(), bytes as f64 / 1e6);

    // The best time of each file, summed: on a shared machine a whole pass is always disturbed somewhere.
    let parse = texts.iter().map(|(_, text)| best(args.repeat, || ptx::parse(text).module.items.len())).sum();
    rate("parse", bytes, parse);
    let modules: Vec<_> = texts.iter().map(|(_, text)| ptx::parse(text).module).collect();
    rate("print", bytes, modules.iter().map(|module| best(args.repeat, || ptx::print(module).len())).sum());
    rate("verify", bytes, modules.iter().map(|module| best(args.repeat, || ptx::verify(module).len())).sum());

    if let Some((path, text)) = texts.iter().max_by_key(|(_, text)| text.len()) {
        println!("the largest file, {} ({:.1} MB):", path.display(), text.len() as f64 / 1e6);
        let started = Instant::now();
        let module = ptx::parse(text).module;
        println!("  parse         {:8.1} ms", milliseconds(started));
        let started = Instant::now();
        ptx::print(&module);
        println!("  print         {:8.1} ms", milliseconds(started));
        let started = Instant::now();
        filetest::oracle::check_analyses(&module);
        println!("  all analyses  {:8.1} ms", milliseconds(started));
    }

    println!("one module of growing size:");
    for megabytes in [1, 5, 10, 50] {
        let text = large_module(megabytes * 1_000_000);
        let time = best(3, || ptx::parse(&text).module.functions.len());
        println!("  {megabytes:3} MB  {:8.1} ms  {:6.1} MB/s", time * 1e3, text.len() as f64 / 1e6 / time);
    }
    if let Some(peak) = peak_memory() {
        println!("peak memory {peak}");
    }
    Ok(())
}

/// Kernels of 2,000 instructions with loops, up to a size.
fn large_module(bytes: usize) -> String {
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
    for kernel in 0.. {
        if text.len() >= bytes {
            break;
        }
        text += &format!(".visible .entry kernel{kernel}(.param .u64 kernel{kernel}_param_0)\n{{\n");
        text += "\t.reg .pred \t%p<100>;\n\t.reg .b32 \t%r<2000>;\n\t.reg .b64 \t%rd<2000>;\n";
        for line in 0..400 {
            text += &format!("$L__BB{kernel}_{line}:\n");
            text += &format!("\tmul.wide.s32 \t%rd{}, %r{}, 4;\n", line + 1, line + 2);
            text +=
                &format!("\tld.global.v2.u32 \t{{%r{}, %r{}}}, [%rd{}+{}];\n", line + 3, line + 4, line + 1, line * 8);
            text += &format!("\tmad.lo.s32 \t%r{}, %r{}, %r{}, 0x{line:X};\n", line + 5, line + 3, line + 4);
            text += &format!("\tsetp.ne.s32 \t%p{}, %r{}, 0;\n", line % 100, line + 5);
            text += &format!("\t@%p{} bra \t$L__BB{kernel}_{};\n", line % 100, line / 2);
        }
        text += "\tret;\n}\n";
    }
    text
}

fn best(repeat: usize, mut run: impl FnMut() -> usize) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..repeat {
        let started = Instant::now();
        std::hint::black_box(run());
        best = best.min(started.elapsed().as_secs_f64());
    }
    best
}

fn rate(what: &str, bytes: usize, seconds: f64) {
    println!("{what:8} {:8.1} MB/s", bytes as f64 / 1e6 / seconds);
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// The high-water mark of this process, as Linux tells it.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().to_owned())
}
