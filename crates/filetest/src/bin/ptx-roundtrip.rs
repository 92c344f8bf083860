//! Checks a directory of PTX files: each is parsed without errors and unknown instructions, verified without
//! complaints, and assembles to the same cubin after printing and after edits that change nothing.
//!
//! `cargo run --release -p filetest --bin ptx-roundtrip -- --ptxas PATH DIR…`

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is a command")]

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Parser;
use filetest::cubin::{Assembled, Ptxas, difference};
use filetest::files::find_files;
use filetest::nop_edits::edit_without_effect;

#[derive(Parser, Debug)]
#[command(about = "Checks that PTX files survive parsing, verifying, printing and editing")]
struct Args {
    /// Files, or directories to search for `.ptx` files.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The assembler; by default `WARPGRIND_PTXAS` or the one on the PATH.
    #[arg(long)]
    ptxas: Option<PathBuf>,
    /// Only parse, verify and print: quick, and needs no assembler.
    #[arg(long)]
    no_ptxas: bool,
    /// Assemble only every n-th file.
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// How many files at a time.
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    jobs: usize,
}

#[derive(Default)]
struct Tally {
    files: AtomicUsize,
    bytes: AtomicUsize,
    instructions: AtomicUsize,
    unknown: AtomicUsize,
    parse_errors: AtomicUsize,
    complaints: AtomicUsize,
    refused: AtomicUsize,
    identical: AtomicUsize,
    different: AtomicUsize,
    problems: Mutex<Vec<String>>,
}

impl Tally {
    fn problem(&self, text: String) {
        self.problems.lock().expect("no thread panics while it holds the lock").push(text);
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    let ptxas = match (&args.ptxas, args.no_ptxas) {
        (_, true) => None,
        (Some(path), false) => Some(Ptxas::new(path)),
        (None, false) => match Ptxas::find() {
            Some(ptxas) => Some(ptxas),
            None => {
                bail!("no ptxas; give --ptxas PATH (see scripts/cuda-toolchain), or --no-ptxas")
            }
        },
    };
    let files = find_files(&args.paths, "ptx")?;
    let tally = Tally::default();
    let next = AtomicUsize::new(0);
    let started = Instant::now();
    let scratch = std::env::temp_dir().join(format!("ptx-roundtrip-{}", std::process::id()));
    std::thread::scope(|scope| {
        for job in 0..args.jobs {
            let scratch = scratch.join(job.to_string());
            let (files, tally, next, ptxas) = (&files, &tally, &next, &ptxas);
            scope.spawn(move || {
                std::fs::create_dir_all(&scratch).expect("the temporary directory is writable");
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = files.get(index) else { return };
                    let ptxas = ptxas.as_ref().filter(|_| index % args.every == 0);
                    if let Err(error) = check(path, ptxas, &scratch, tally) {
                        tally.problem(format!("{}: {error:#}", path.display()));
                    }
                    if index % 50 == 49 {
                        eprintln!("{} of {} files, {:.0} s", index + 1, files.len(), started.elapsed().as_secs_f64());
                    }
                }
            });
        }
    });
    std::fs::remove_dir_all(&scratch).ok();
    let mut problems = tally.problems.into_inner().expect("all threads have ended");
    problems.sort();
    for problem in &problems {
        println!("{problem}");
    }
    println!(
        "{} files, {:.1} MB, {} instructions, {} unknown, {} parse errors, {} complaints of the verifier",
        tally.files.into_inner(),
        tally.bytes.into_inner() as f64 / 1e6,
        tally.instructions.into_inner(),
        tally.unknown.into_inner(),
        tally.parse_errors.into_inner(),
        tally.complaints.into_inner(),
    );
    println!(
        "{} cubins identical after printing and after edits, {} different, {} files refused by ptxas",
        tally.identical.into_inner(),
        tally.different.into_inner(),
        tally.refused.into_inner(),
    );
    if !problems.is_empty() {
        bail!("{} problems", problems.len());
    }
    Ok(())
}

fn check(path: &Path, ptxas: Option<&Ptxas>, scratch: &Path, tally: &Tally) -> Result<()> {
    let bytes = std::fs::read(path).context("reading the file")?;
    let (text, parsed) = ptx::parse_bytes(&bytes);
    let module = parsed.module;
    let name = path.display().to_string();
    tally.files.fetch_add(1, Ordering::Relaxed);
    tally.bytes.fetch_add(bytes.len(), Ordering::Relaxed);
    tally.parse_errors.fetch_add(parsed.diagnostics.len(), Ordering::Relaxed);
    let complaints = ptx::verify(&module);
    tally.complaints.fetch_add(complaints.len(), Ordering::Relaxed);
    for diagnostic in parsed.diagnostics.iter().chain(&complaints).take(5) {
        tally.problem(diagnostic.render(&name, &text, &module.lines, false));
    }
    let stats = ptx::stats::ModuleStats::of(&module, None);
    tally.instructions.fetch_add(stats.instructions(), Ordering::Relaxed);
    tally.unknown.fetch_add(stats.unknown(), Ordering::Relaxed);

    let printed = ptx::print(&module);
    let mut edited_module = module.clone();
    edit_without_effect(&mut edited_module);
    // The same text is the same cubin: it need not be assembled again.
    if ptx::print(&edited_module) != printed {
        bail!("edits that change nothing change the text");
    }
    let reprinted = ptx::print(&ptx::parse(&printed).module);
    if reprinted != printed {
        bail!("printing, parsing and printing again gives another text");
    }
    let Some(ptxas) = ptxas else { return Ok(()) };
    let original = match ptxas.assemble(&text, &module, scratch)? {
        Assembled::Cubin(cubin) => cubin,
        Assembled::Refused(_) => {
            tally.refused.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
    };
    let reason = match ptxas.assemble(&printed, &module, scratch)? {
        Assembled::Cubin(cubin) => difference(&original, &cubin)?,
        Assembled::Refused(message) => Some(format!("ptxas refuses it: {message}")),
    };
    if let Some(reason) = reason {
        tally.different.fetch_add(1, Ordering::Relaxed);
        bail!("not the same after printing: {reason}");
    }
    tally.identical.fetch_add(1, Ordering::Relaxed);
    Ok(())
}
