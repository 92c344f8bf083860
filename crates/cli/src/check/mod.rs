//! `warpgrind memcheck` and the commands of the other tools: runs a program, and reports what the tools found in it.
//!
//! The tools run inside the program's processes, in our CUDA library, and write down what they find in a private
//! directory. This process watches, and makes the report when the program has ended, in whatever way.
//!
//! Unlike `run`, the command stays beside the program: a report must come out although the program crashes, calls
//! `_exit` or is killed. It is in the program's process group and acts on no signal: what the terminal sends reaches
//! both, what is sent to the command alone it hands on, as `sudo` does, and what was ignored stays ignored.

mod flags;
mod output_files;
mod path;
mod progress;
mod session;
mod sweep;
mod tool_flags;
mod valgrind;
mod watch;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use report::{Baseline, Exit, LARGEST_BASELINE, Report, Run, Session, Suppressions, Symbols, Verdict};
use rewrite::Rewriter;
use settings::{Settings, ToolFlag};
use toolkit::Tool;

pub(crate) use self::flags::Args;
use self::flags::Level;
pub(crate) use self::path::FilePattern;
pub(crate) use self::progress::{Observer, Progress};
pub(crate) use self::session::Directory;
pub(crate) use self::tool_flags::{add_flags_of_tool, flags_of_tool};
use self::watch::{Watcher, user_of_cuda};
use crate::output;
use crate::target::{self, Answer, Target};

/// The exit code if what was asked for makes no sense, as clap has it.
const WRONG_USE: u8 = 2;
/// The exit code if something was found.
pub(crate) const FINDINGS: u8 = 86;
/// The exit code if the tool did not run, or could not check something.
pub(crate) const NOT_CHECKED: u8 = 87;
/// A program that is ended by a signal has this and the signal as its exit code, as in a shell.
const SIGNALLED: i32 = 128;
/// Larger files are not suppressions.
const LARGEST_SUPPRESSIONS: u64 = 4 << 20;

/// Runs the program and reports.
pub(crate) fn run(tool: &dyn Tool, mut args: Args, flags: Vec<ToolFlag>) -> ExitCode {
    args.target.check_flags().unwrap_or_else(|error| error.exit());
    args.settle();
    let tools: Vec<_> = args.tools(tool).iter().filter_map(|name| tools::tool(name)).collect();
    let instrumentation: Vec<_> = tools.iter().map(|tool| tool.instrumentation()).collect();
    if let Err(error) = Rewriter::new(&instrumentation) {
        output::error(&error.into());
        return ExitCode::from(WRONG_USE);
    }
    let targets = match targets(&args) {
        Ok(targets) => targets,
        Err(error) => {
            output::complain("--sweep: ", &error);
            return ExitCode::from(WRONG_USE);
        }
    };
    let mut planned = Vec::new();
    for (name, target) in targets {
        match target.command() {
            Ok((command, settings)) => planned.push(PlannedRun { name, target, command, settings }),
            Err(code) => return ExitCode::from(code),
        }
    }
    match check(tool, &args, &flags, planned) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            output::error(&error);
            ExitCode::from(NOT_CHECKED)
        }
    }
}

/// A run of the program that is about to begin.
struct PlannedRun {
    /// Which of a sweep it is.
    name: String,
    target: Target,
    command: Command,
    settings: Settings,
}

/// What is run: the program once, or once for each value of a sweep, whose run has a name.
fn targets(args: &Args) -> Result<Vec<(String, Target)>, String> {
    let Some(sweep) = &args.sweep else { return Ok(vec![(String::new(), args.target.clone())]) };
    let runs = sweep.runs(args.target.program())?;
    Ok(runs.into_iter().map(|(name, program)| (name, args.target.with_program(program))).collect())
}

fn check(tool: &dyn Tool, args: &Args, flags: &[ToolFlag], planned: Vec<PlannedRun>) -> Result<u8> {
    let mut suppressions = read_suppressions(&args.suppressions)?;
    let baseline = args.baseline.as_deref().map(read_baseline).transpose()?;
    let tools = args.tools(tool);
    let (mut reports, mut ended) = (Vec::new(), None);
    for planned in planned {
        let name = planned.name.clone();
        if !name.is_empty() {
            output::complain(&name, "");
        }
        let ProgramRun { process, exit, mut report } = match run_program(args, &tools, flags, planned)? {
            Ok(run) => run,
            Err(code) => return Ok(code),
        };
        Symbols::default().resolve(&mut report);
        report.identify(&mut output_files::sources(args));
        reports.push((name, report));
        // Of several runs, the first that fails.
        if ended.is_none_or(|(_, exit)| exit == Exit::Code(0)) {
            ended = Some((process, exit));
        }
    }
    let (process, exit) = ended.expect("there is a run");
    let mut report = match args.sweep {
        Some(_) => Report::of_sweep(reports),
        None => reports.remove(0).1,
    };
    let words = args.target.program().iter().map(|word| word.to_string_lossy().into_owned());
    let run = Run {
        tools,
        command: words.collect(),
        exit,
        requires_cuda: args.require_cuda_init == Answer::Yes,
        requires_kernels: args.ci,
        warnings_count: args.fail_on == Level::Warning,
    };
    suppressions.apply(&mut report);
    if let Some(baseline) = baseline {
        baseline.apply(&mut report);
    }
    let is_written = output_files::show(args, &report, &run, process);
    Ok(exit_code(args, &report, &run, is_written))
}

/// Runs a program under the tools to its end; or the exit code if it cannot be run.
fn run_program(
    args: &Args,
    tools: &[String],
    flags: &[ToolFlag],
    planned: PlannedRun,
) -> Result<Result<ProgramRun, u8>> {
    let PlannedRun { target, mut command, mut settings, .. } = planned;
    let directory = Directory::create(args.keep_session)?;
    settings.tools = settings::Tools { flags: flags.to_vec(), ..args.tool_settings(directory.path(), tools) };
    valgrind::prepare(&mut command, &mut settings, directory.path())?;
    target::set(&mut command, &settings);
    if args.nvtx == Answer::Yes {
        target.set_nvtx(&mut command, &settings);
    }
    let has_progress = args.progress == Answer::Yes && !args.ci;
    let mut progress = Progress::new(has_progress);
    let run = watch(command, &directory, &mut progress, Duration::from_secs(args.wait))?;
    if args.keep_session {
        output::complain("the session is kept", &format!(" in {}", directory.path().display()));
    }
    Ok(run.map_err(|error| target.refused(error)))
}

/// A program that has run.
pub(crate) struct ProgramRun {
    /// Its process.
    process: u32,
    pub(crate) exit: Exit,
    pub(crate) report: Report,
}

/// Runs a program to its end, and reads what its processes wrote into the directory; nothing if it does not start.
pub(crate) fn watch(
    mut command: Command,
    directory: &Directory,
    progress: &mut dyn Observer,
    patience: Duration,
) -> Result<std::io::Result<ProgramRun>> {
    let watcher = Watcher::new().context("signals cannot be caught")?;
    let watching = match watcher.start(&mut command) {
        Ok(watching) => watching,
        Err(error) => return Ok(Err(error)),
    };
    let process = watching.id();
    let mut session = Session::new(directory.path());
    let watched = watching.wait(directory.path(), &mut session, patience, progress);
    let watched = watched.context("waiting for the program")?;
    session.poll().with_context(|| format!("reading {}", directory.path().display()))?;
    let left_running = watched.running.iter().filter(|&&id| !session.knows(id)).filter_map(|&id| user_of_cuda(id));
    let left_running = left_running.collect();
    let mut report = session.finish(|id| watched.running.contains(&id));
    report.left_running = left_running;
    Ok(Ok(ProgramRun { process, exit: watched.exit, report }))
}

/// The files of suppressions, which must be right before the program starts.
fn read_suppressions(files: &[PathBuf]) -> Result<Suppressions> {
    let mut suppressions = Suppressions::of_libraries();
    for path in files {
        let mut text = String::new();
        let file = File::open(path).with_context(|| format!("reading {}", path.display()))?;
        file.take(LARGEST_SUPPRESSIONS + 1)
            .read_to_string(&mut text)
            .with_context(|| format!("reading {}", path.display()))?;
        suppressions.add(&path.display().to_string(), &text)?;
    }
    Ok(suppressions)
}

/// The report of an earlier run, which must be right before the program starts.
fn read_baseline(path: &Path) -> Result<Baseline> {
    let mut text = String::new();
    let file = File::open(path).with_context(|| format!("reading the baseline {}", path.display()))?;
    let read = file.take(LARGEST_BASELINE + 1).read_to_string(&mut text);
    read.with_context(|| format!("reading the baseline {}", path.display()))?;
    if text.len() as u64 > LARGEST_BASELINE {
        bail!("the baseline {} has more than {} MiB", path.display(), LARGEST_BASELINE >> 20);
    }
    Baseline::parse(&text).with_context(|| format!("the baseline {}", path.display()))
}

/// A report that is not where it was asked for may be taken for one without findings.
fn exit_code(args: &Args, report: &Report, run: &Run, is_written: bool) -> u8 {
    match (report.verdict(run), run.exit) {
        (Verdict::Findings, _) => args.error_exitcode,
        _ if !is_written => NOT_CHECKED,
        (Verdict::NotChecked, _) => NOT_CHECKED,
        // Both are below 256 as the system has them.
        (Verdict::EndedBySignal | Verdict::Clean, Exit::Signal(signal)) => (SIGNALLED + signal) as u8,
        (_, Exit::Code(_)) if args.check_exit_code == Answer::No => 0,
        (_, Exit::Code(code)) => code as u8,
    }
}
