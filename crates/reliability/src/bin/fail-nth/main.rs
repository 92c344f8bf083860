//! Runs programs while one call of the system fails, of those that Warpgrind's libraries make: for each kind of call the first,
//! the second, and so on (`src/failures.rs`).
//!
//! ```text
//! fail-nth --warpgrind target/release/warpgrind tests/cuda/streams/order.cu tests/memcheck
//! ```
//!
//! Sources are built as the tests of the command build them; of a directory all are taken that are done in a short time. A
//! program must end as it does otherwise, or with an error: not by a signal, nor never, nor with exit code 0 if it did not
//! say `PASS`, nor with a clean report if there is something to be found.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is a command")]

#[allow(dead_code, reason = "the tests of the command use the rest")]
#[path = "../../../../cli/tests/programs/build.rs"]
mod build;
#[allow(dead_code, reason = "the tests of the command use the rest")]
#[path = "../../../../cli/tests/programs/header.rs"]
mod header;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use build::{Built, Toolchain};
use clap::Parser;
use header::{Header, Variant};

#[derive(Parser, Debug)]
#[command(about = "Runs programs while one call of the system fails")]
struct Args {
    /// Programs in CUDA C++, or directories of them.
    sources: Vec<PathBuf>,
    /// The command; the libraries are beside it.
    #[arg(long)]
    warpgrind: PathBuf,
    /// What programs run under.
    #[arg(long, value_delimiter = ',', default_value = "run,memcheck")]
    commands: Vec<String>,
    /// Which calls fail.
    #[arg(long, value_delimiter = ',', default_value = "malloc,mmap,open,write,pthread_create")]
    kinds: Vec<String>,
    /// The last call that fails.
    #[arg(long, default_value_t = 200)]
    most: usize,
    /// Only every so many-th call fails in a run of its own.
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// All calls after the one that fails do so, too.
    #[arg(long)]
    lasting: bool,
    /// Programs that take longer are left out.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
}

/// What came of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum End {
    /// As without the failure.
    Same,
    /// With an error.
    Error,
    /// Out of memory: it ended at once, and said why.
    OutOfMemory,
    /// By a signal.
    Signal(i32),
    Hang,
    /// It did not do all that it does, and nobody would know.
    FalselyGood,
}

/// What a run printed, and how it ended.
struct Run {
    /// Nothing if it hung.
    code: Option<i32>,
    output: String,
    errors: String,
    seconds: f64,
}

struct Program {
    name: String,
    built: Built,
    header: Header,
}

/// After so many seconds it hangs.
const PATIENCE: Duration = Duration::from_secs(30);
/// The exit code of a shell, and of `warpgrind`, for a program that was ended by a signal.
const SIGNALLED: i32 = 128;
const SIGABRT: i32 = 6;

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let library = std::env::current_exe()?.with_file_name("libwarpgrind_failures.so");
    ensure!(library.exists(), "{} was not built: cargo build -p reliability", library.display());
    let scratch = std::env::temp_dir().join(format!("fail-nth-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let mut counts: BTreeMap<(String, String), BTreeMap<End, usize>> = BTreeMap::new();
    let (mut programs, mut runs, mut bad) = (0, 0, 0);
    for source in sources(&args.sources)? {
        let program = match build(&source) {
            Ok(program) => program,
            Err(error) => {
                println!("{} is left out, because it cannot be built as others are: {error:#}", source.display());
                continue;
            }
        };
        let mut is_run = false;
        for command in &args.commands {
            let normal = run(&args, &program, command, &scratch, None)?;
            if normal.seconds > args.seconds || normal.code.is_none() {
                continue;
            }
            is_run = true;
            for kind in &args.kinds {
                let mut same = BTreeMap::new();
                for nth in (1..=args.most).step_by(args.every) {
                    let marker = scratch.join("failed");
                    let _ = fs::remove_file(&marker);
                    let lasting = if args.lasting { "+" } else { "" };
                    let failure =
                        [format!("{kind}:{nth}{lasting}"), library.display().to_string(), marker.display().to_string()];
                    let found = run(&args, &program, command, &scratch, Some(&failure))?;
                    // There are no more calls.
                    if !marker.exists() {
                        break;
                    }
                    let end = end(&normal, &found);
                    runs += 1;
                    *same.entry(end).or_insert(0) += 1;
                    if !matches!(end, End::Same | End::Error | End::OutOfMemory) {
                        bad += 1;
                        println!("{end:?}: {command} {}, {kind} {nth}{lasting}", program.name);
                        println!("    {}", found.errors.lines().last().unwrap_or_default());
                    }
                }
                let all = counts.entry((command.clone(), kind.clone())).or_default();
                same.into_iter().for_each(|(end, count)| *all.entry(end).or_default() += count);
            }
        }
        programs += usize::from(is_run);
        eprintln!("{}: {runs} runs, {bad} bad", program.name);
    }
    fs::remove_dir_all(&scratch)?;
    for ((command, kind), ends) in &counts {
        println!("{command} {kind}: {ends:?}");
    }
    println!("{programs} programs, {runs} runs with a failure, {bad} that ended badly");
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn end(normal: &Run, found: &Run) -> End {
    let has_passed = |run: &Run| run.output.lines().any(|line| line == "PASS");
    match found.code {
        None => End::Hang,
        Some(code) if code > SIGNALLED => {
            let is_said = found.errors.contains("memory allocation of") || found.errors.contains("out of memory");
            if code == SIGNALLED + SIGABRT && is_said { End::OutOfMemory } else { End::Signal(code - SIGNALLED) }
        }
        Some(0) if normal.code != Some(0) || has_passed(normal) && !has_passed(found) => End::FalselyGood,
        code if code == normal.code && (code != Some(0) || found.output == normal.output) => End::Same,
        Some(_) => End::Error,
    }
}

fn run(args: &Args, program: &Program, command: &str, scratch: &Path, failure: Option<&[String; 3]>) -> Result<Run> {
    let path = |name: &str| scratch.join(name);
    let start = Instant::now();
    let mut process = Command::new(&args.warpgrind);
    process
        .arg(command)
        .args(&program.header.run)
        .arg(&program.built.program)
        .args(&program.built.libraries)
        .args(&program.header.args)
        .envs(program.header.env.iter().map(|(name, value)| (name, value)))
        .current_dir(scratch)
        .stdin(Stdio::null())
        .stdout(File::create(path("output"))?)
        .stderr(File::create(path("errors"))?)
        .process_group(0);
    if let Some([what, library, marker]) = failure {
        process.env("LD_PRELOAD", library).env("WARPGRIND_FAIL", what).env("WARPGRIND_FAILED", marker);
    }
    let mut child = process.spawn().with_context(|| format!("starting {}", args.warpgrind.display()))?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() > PATIENCE {
            // All that it started is in its group.
            let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let text = |name: &str| -> Result<String> { Ok(String::from_utf8_lossy(&fs::read(path(name))?).into_owned()) };
    Ok(Run {
        code: status.map(|status| status.code().unwrap_or_else(|| SIGNALLED + status.signal().unwrap_or(0))),
        output: text("output")?,
        errors: text("errors")?,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// The sources, and all that are in directories.
fn sources(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            let mut inside: Vec<PathBuf> =
                fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
            inside.retain(|path| path.extension().is_some_and(|extension| extension == "cu"));
            inside.sort();
            found.append(&mut inside);
        } else {
            found.push(path.canonicalize().with_context(|| format!("there is no {}", path.display()))?);
        }
    }
    Ok(found)
}

fn build(source: &Path) -> Result<Program> {
    let source = source.canonicalize()?;
    let text = fs::read_to_string(&source)?;
    // Programs with bugs say which, in lines of their own.
    let known: Vec<&str> = text
        .lines()
        .filter(|line| {
            !["//@ finds", "//@ flags", "//@ headers", "//@ architecture", "//@ exit"]
                .iter()
                .any(|key| line.starts_with(key))
        })
        .collect();
    let header = Header::parse(&known.join("\n")).with_context(|| format!("in the header of {}", source.display()))?;
    let built = Toolchain::find()?.build(&source, &header, Variant::Shared)?;
    let name = source.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Program { name, built, header })
}
