//! Compares the CPU device with the interpreter on random kernels.
//!
//! `cargo run --release -p filetest --bin cpu-random -- --seeds 0..2000 --keep DIR`
//!
//! Seeds are run by child processes, a chunk at a time, so that a crash or a hang belongs to its seed and the run goes on. A
//! kernel on which engines differ is made smaller and kept as a test file.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is a command")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Parser;
use filetest::differential::{Comparison, judge, read};
use filetest::engine::{Engine, engines};
use filetest::random_kernel::generate;

#[derive(Parser, Debug)]
#[command(about = "Compares the CPU device with the interpreter on random kernels")]
struct Args {
    /// The seeds to run: `0..2000`.
    #[arg(long, value_parser = range, default_value = "0..2000")]
    seeds: Range<u64>,
    /// How many processes at a time.
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    jobs: usize,
    /// Where to put kernels on which engines differ.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// A file with the next seed, from which an earlier run is continued.
    #[arg(long)]
    resume: Option<PathBuf>,
    /// After so many seconds a kernel counts as hanging.
    #[arg(long, default_value_t = 120)]
    timeout: u64,
    /// For so many seconds each kernel that is kept is made smaller; 0 keeps it as it is.
    #[arg(long, default_value_t = 90)]
    shrink: u64,
    /// Stop after so many kernels on which engines differ.
    #[arg(long)]
    stop_after: Option<usize>,
    /// Print the kernel of the first seed, and do nothing else.
    #[arg(long)]
    print: bool,
    /// Make the kernel of a file smaller in place as long as engines differ, and do nothing else.
    #[arg(long)]
    shrink_file: Option<PathBuf>,
    /// Judge the kernel of a file, and do nothing else.
    #[arg(long)]
    judge: Option<PathBuf>,
    /// Leave out engines of the CPU device whose name does not begin so.
    #[arg(long, default_value = "")]
    engine: String,
    /// Leave out the engine of this name.
    #[arg(long, default_value = "")]
    without: String,
    /// Run the seeds in this process, and report line by line.
    #[arg(long, hide = true)]
    worker: bool,
}

fn range(text: &str) -> Result<Range<u64>, String> {
    let (start, end) = text.split_once("..").ok_or("expected START..END")?;
    let number = |text: &str| text.parse::<u64>().map_err(|error| error.to_string());
    Ok(number(start)?..number(end)?)
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    if args.print {
        print!("{}", generate(args.seeds.start).text);
    } else if args.worker {
        work(&args)?;
    } else if let Some(path) = &args.judge {
        return judge_file(&args, path);
    } else if let Some(path) = &args.shrink_file {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let smaller = Shrinker::new(&args, path.clone()).shrink(text);
        std::fs::write(path, smaller)?;
    } else {
        return supervise(&args);
    }
    Ok(ExitCode::SUCCESS)
}

/// The engines to compare: the interpreter in all its schedules, and what is wanted of the CPU device.
fn wanted_engines(args: &Args) -> Vec<Box<dyn Engine>> {
    let is_wanted =
        |name: &str| name.starts_with("interpreter") || name.starts_with(&args.engine) && name != args.without;
    engines().into_iter().filter(|engine| is_wanted(&engine.name())).collect()
}

// The child.

/// Runs seeds and reports a line before and after each.
fn work(args: &Args) -> Result<()> {
    let engines = wanted_engines(args);
    let mut out = std::io::stdout().lock();
    for seed in args.seeds.clone() {
        writeln!(out, "start {seed}")?;
        out.flush()?;
        let kernel = generate(seed);
        let (word, what) = describe(&judge(&kernel.text, &engines));
        writeln!(out, "{word} {} {}", kernel.instructions, what.replace('\n', "\\n"))?;
        out.flush()?;
    }
    Ok(())
}

fn describe(comparison: &Comparison) -> (&'static str, String) {
    match comparison {
        Comparison::Agree => ("agree", String::new()),
        Comparison::Unfit(why) => ("unfit", why.clone()),
        Comparison::Differ(all) => {
            let all: Vec<String> = all.iter().map(|(engine, what)| format!("{engine}: {what}")).collect();
            ("differ", all.join("; "))
        }
    }
}

fn judge_file(args: &Args, path: &Path) -> Result<ExitCode> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let comparison = judge(&text, &wanted_engines(args));
    let (word, what) = describe(&comparison);
    println!("{word} {what}");
    Ok(match comparison {
        Comparison::Agree => ExitCode::SUCCESS,
        Comparison::Differ(_) => ExitCode::from(1),
        Comparison::Unfit(_) => ExitCode::from(3),
    })
}

// The parent.

#[derive(Default)]
struct Tally {
    /// First seeds of the chunks that are under way.
    running: BTreeSet<u64>,
    next: u64,
    kernels: u64,
    instructions: u64,
    unfit: u64,
    /// Seeds on which engines differ, with what they say.
    differing: Vec<(u64, String)>,
    last_line: Option<Instant>,
}

const CHUNK: u64 = 50;

fn supervise(args: &Args) -> Result<ExitCode> {
    let mut start = args.seeds.start;
    if let Some(text) = args.resume.as_ref().and_then(|path| std::fs::read_to_string(path).ok()) {
        start = text.trim().parse().context("the file to resume from holds no seed")?;
    }
    if let Some(directory) = &args.keep {
        std::fs::create_dir_all(directory).with_context(|| directory.display().to_string())?;
    }
    let started = Instant::now();
    let tally = Mutex::new(Tally { next: start, ..Tally::default() });
    let failure = std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..args.jobs.max(1)).map(|_| scope.spawn(|| job(args, &tally, started))).collect();
        jobs.into_iter().find_map(|job| job.join().expect("no job panics").err())
    });
    if let Some(error) = failure {
        return Err(error);
    }
    let tally = tally.into_inner().expect("no job panics");
    for (seed, what) in &tally.differing {
        println!("seed {seed}: {what}");
    }
    println!(
        "{} kernels with {} instructions in {:.0} s: {} differ, {} unfit",
        tally.kernels,
        tally.instructions,
        started.elapsed().as_secs_f64(),
        tally.differing.len(),
        tally.unfit
    );
    Ok(if tally.differing.is_empty() && tally.unfit == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn lock<'a>(tally: &'a Mutex<Tally>) -> MutexGuard<'a, Tally> {
    tally.lock().expect("no job panics")
}

/// Runs chunks until there are none left.
fn job(args: &Args, tally: &Mutex<Tally>, started: Instant) -> Result<()> {
    loop {
        let chunk = {
            let mut tally = lock(tally);
            let enough = args.stop_after.is_some_and(|enough| tally.differing.len() >= enough);
            if tally.next >= args.seeds.end || enough {
                return Ok(());
            }
            let first = tally.next;
            tally.next = (first + CHUNK).min(args.seeds.end);
            tally.running.insert(first);
            first..tally.next
        };
        let mut rest = chunk.clone();
        while !rest.is_empty() {
            rest = run_seeds(args, tally, started, rest)?;
        }
        let mut tally = lock(tally);
        tally.running.remove(&chunk.start);
        if let Some(path) = &args.resume {
            let next = tally.running.first().copied().unwrap_or(tally.next);
            std::fs::write(path, format!("{next}\n")).with_context(|| path.display().to_string())?;
        }
    }
}

/// Runs seeds in a child, up to the first that ends or hangs the child; returns what is left to do.
fn run_seeds(args: &Args, tally: &Mutex<Tally>, started: Instant, seeds: Range<u64>) -> Result<Range<u64>> {
    let mut child = Command::new(std::env::current_exe()?)
        .args([
            "--worker",
            "--engine",
            &args.engine,
            "--without",
            &args.without,
            "--seeds",
            &format!("{}..{}", seeds.start, seeds.end),
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("starting a child")?;
    let lines = lines_of(&mut child);
    let mut current = None;
    loop {
        match lines.recv_timeout(Duration::from_secs(args.timeout)) {
            Ok(line) => {
                let mut words = line.splitn(3, ' ');
                match (words.next(), words.next(), words.next(), current) {
                    (Some("start"), Some(seed), ..) => current = Some(seed.parse::<u64>()?),
                    (Some(word), Some(instructions), what, Some(seed)) => {
                        finish(args, tally, started, seed, word, instructions.parse()?, what.unwrap_or(""))?;
                        current = None;
                    }
                    _ => bail!("the child says `{line}`"),
                }
            }
            Err(error) => {
                let what = if error == RecvTimeoutError::Timeout {
                    child.kill().ok();
                    child.wait()?;
                    "hangs".to_owned()
                } else {
                    let status = child.wait()?;
                    if status.success() && current.is_none() {
                        return Ok(seeds.end..seeds.end);
                    }
                    format!("ends the process ({status})")
                };
                let seed = current.context("the child ended before its first seed")?;
                finish(args, tally, started, seed, "differ", 0, &what)?;
                return Ok(seed + 1..seeds.end);
            }
        }
    }
}

/// The lines that a child writes.
fn lines_of(child: &mut Child) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    let stdout = child.stdout.take().expect("it is piped");
    let mut stderr = child.stderr.take().expect("it is piped");
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
    receiver
}

/// Counts a seed; keeps its kernel if engines differ.
fn finish(
    args: &Args,
    tally: &Mutex<Tally>,
    started: Instant,
    seed: u64,
    word: &str,
    instructions: u64,
    what: &str,
) -> Result<()> {
    {
        let mut tally = lock(tally);
        tally.kernels += 1;
        tally.instructions += instructions;
        match word {
            "unfit" => tally.unfit += 1,
            "differ" => tally.differing.push((seed, what.to_owned())),
            _ => {}
        }
        if tally.last_line.is_none_or(|last| last.elapsed() > Duration::from_secs(10)) {
            tally.last_line = Some(Instant::now());
            eprintln!(
                "{} kernels, {} differ, {} unfit, {:.0} s",
                tally.kernels,
                tally.differing.len(),
                tally.unfit,
                started.elapsed().as_secs_f64()
            );
        }
    }
    if word == "agree" {
        return Ok(());
    }
    eprintln!("seed {seed} {word}: {}", what.replace("\\n", "\n"));
    let Some(directory) = &args.keep else { return Ok(()) };
    let path = directory.join(format!("{word}_{seed}.ptx"));
    let text = generate(seed).text;
    std::fs::write(&path, &text).with_context(|| path.display().to_string())?;
    if word == "differ" && args.shrink > 0 {
        let smaller = directory.join(format!("differ_{seed}_small.ptx"));
        let text = Shrinker::new(args, smaller.clone()).shrink(text);
        std::fs::write(&smaller, text).with_context(|| smaller.display().to_string())?;
    }
    Ok(())
}

// Making kernels smaller.

/// Removes lines as long as engines differ in the same way.
struct Shrinker {
    path: PathBuf,
    engine: String,
    deadline: Instant,
    timeout: u64,
}

impl Shrinker {
    fn new(args: &Args, path: PathBuf) -> Self {
        let deadline = Instant::now() + Duration::from_secs(args.shrink);
        Self { path: path.with_extension("trying"), engine: args.engine.clone(), deadline, timeout: 10 }
    }

    fn shrink(&mut self, text: String) -> String {
        let Some(what) = self.complaint(&text) else { return text };
        // One engine is enough, and the simplest of those that differ comes first.
        if let Some((engine, _)) = what.split_once(':').filter(|(engine, _)| !engine.contains(' ') || what.len() > 1) {
            self.engine = engine.trim_start_matches("differ ").to_owned();
        }
        let Some(what) = self.complaint(&text) else { return text };
        let kind = kind_of(&what);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for replacement in ["grid=1x1x1", "block=32x1x1", "block=2x1x1"] {
            let kept = with_extent(&lines, replacement);
            self.keep_if_as_bad(&mut lines, kept, kind);
        }
        let mut chunk = lines.len() / 2;
        while chunk > 0 && Instant::now() < self.deadline {
            // What is used is written before it is used, so that the end goes first.
            let mut end = lines.len();
            let mut has_changed = false;
            while end > 0 && Instant::now() < self.deadline {
                let at = end.saturating_sub(chunk);
                let is_kept = |(index, line): &(usize, &String)| !(at..end).contains(index) || !is_removable(line);
                let kept: Vec<String> =
                    lines.iter().enumerate().filter(is_kept).map(|(_, line)| line.clone()).collect();
                has_changed |= kept.len() < lines.len() && self.keep_if_as_bad(&mut lines, kept, kind);
                end = at.min(lines.len());
            }
            if !has_changed || chunk > 1 {
                chunk /= 2;
            }
        }
        std::fs::remove_file(&self.path).ok();
        lines.join("\n") + "\n"
    }

    /// Takes over lines on which engines still differ in the same way.
    fn keep_if_as_bad(&self, lines: &mut Vec<String>, kept: Vec<String>, kind: &str) -> bool {
        let text = kept.join("\n") + "\n";
        // Most that is wrong is seen without running it.
        if read(&text).is_err() || self.complaint(&text).is_none_or(|what| kind_of(&what) != kind) {
            return false;
        }
        *lines = kept;
        true
    }

    /// What a child says about a kernel on which engines differ.
    fn complaint(&self, text: &str) -> Option<String> {
        std::fs::write(&self.path, text).ok()?;
        let mut child = Command::new(std::env::current_exe().ok()?)
            .args(["--engine", &self.engine, "--judge"])
            .arg(&self.path)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .ok()?;
        let lines = lines_of(&mut child);
        let line = lines.recv_timeout(Duration::from_secs(self.timeout));
        if line == Err(RecvTimeoutError::Timeout) {
            child.kill().ok();
            child.wait().ok()?;
            return Some("differ : hangs".to_owned());
        }
        let status = child.wait().ok()?;
        match (line, status.code()) {
            (Ok(line), Some(1)) => Some(line),
            (_, Some(0 | 3)) => None,
            _ => Some(format!("differ : ends the process ({status})")),
        }
    }
}

/// Memory that differs is not the same as a fault; the rest of the words may change.
fn kind_of(what: &str) -> &'static str {
    for kind in [
        "hangs",
        "does not dominate",
        "terminator",
        "ends the process",
        "Deadlock",
        "Fault",
        "is not supported",
        "Budget",
        "Refused",
    ] {
        if what.contains(kind) {
            return kind;
        }
    }
    "memory"
}

/// Lines of a file where the launch has another grid or block.
fn with_extent(lines: &[String], replacement: &str) -> Vec<String> {
    let (name, _) = replacement.split_once('=').expect("a setting");
    let replaced = |word: &str| if word.starts_with(name) { replacement.to_owned() } else { word.to_owned() };
    lines
        .iter()
        .map(|line| match line.starts_with("//@ run ") {
            true => line.split(' ').map(replaced).collect::<Vec<_>>().join(" "),
            false => line.clone(),
        })
        .collect()
}

fn is_removable(line: &str) -> bool {
    let line = line.trim();
    // Without these, threads would write memory of others.
    let is_address =
        ["%own,", "%slot,", "%slice,", "%warp_slot,"].iter().any(|own| line.split(' ').nth(1) == Some(own));
    if is_address {
        return false;
    }
    let is_declaration = line.starts_with(".reg") || line.starts_with(".local") || line.starts_with(".const");
    (!line.starts_with('.') || is_declaration) && !line.starts_with("//@") && !matches!(line, "{" | "}" | "")
}
