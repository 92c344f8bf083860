//! `warpgrind memcheck` and the commands of the other tools: runs a program, and reports what the tools found in it.
//!
//! The tools run inside the program's processes, in our CUDA library, and write down what they find in a private
//! directory. This process watches, and makes the report when the program has ended, in whatever way.
//!
//! Unlike `run`, the command stays beside the program: a report must come out although the program crashes, calls
//! `_exit` or is killed. It is in the program's process group and acts on no signal: what the terminal sends reaches
//! both, what is sent to the command alone it hands on, as `sudo` does, and what was ignored stays ignored.

mod flags;
mod path;
mod progress;
mod session;
mod tool_flags;
mod watch;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result};
use report::{Exit, Look, Report, Run, Session, Sources, Suppressions, Symbols, Verdict};
use rewrite::Rewriter;
use settings::{Settings, ToolFlag};
use toolkit::Tool;

pub(crate) use self::flags::Args;
use self::flags::{Color, Format, Level};
use self::path::FilePattern;
use self::progress::Progress;
pub(crate) use self::session::Directory;
pub(crate) use self::tool_flags::{add_flags_of_tool, flags_of_tool};
use self::watch::{Watcher, user_of_cuda};
use crate::output;
use crate::target::{self, Answer};

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
    let (command, settings) = match args.target.command() {
        Ok(prepared) => prepared,
        Err(code) => return ExitCode::from(code),
    };
    match check(tool, &args, flags, command, settings) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            output::error(&error);
            ExitCode::from(NOT_CHECKED)
        }
    }
}

fn check(
    tool: &dyn Tool,
    args: &Args,
    flags: Vec<ToolFlag>,
    mut command: Command,
    mut settings: Settings,
) -> Result<u8> {
    let mut suppressions = read_suppressions(&args.suppressions)?;
    let tools = args.tools(tool);
    let directory = Directory::create(args.keep_session)?;
    settings.tools = settings::Tools { flags, ..args.tool_settings(directory.path(), &tools) };
    target::set(&mut command, &settings);
    if args.nvtx == Answer::Yes {
        args.target.set_nvtx(&mut command, &settings);
    }
    let watched = match watch(command, &directory, args.progress == Answer::Yes, Duration::from_secs(args.wait))? {
        Ok(watched) => watched,
        Err(error) => return Ok(args.target.refused(error)),
    };
    let ProgramRun { process, exit, mut report } = watched;
    let words = args.target.program().iter().map(|word| word.to_string_lossy().into_owned());
    let run = Run {
        tools,
        command: words.collect(),
        exit,
        requires_cuda: args.require_cuda_init == Answer::Yes,
        warnings_count: args.fail_on == Level::Warning,
    };
    Symbols::default().resolve(&mut report);
    suppressions.apply(&mut report);
    show(args, &report, &run, process);
    if args.keep_session {
        output::complain("the session is kept", &format!(" in {}", directory.path().display()));
    }
    Ok(exit_code(args, &report, &run))
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
    has_progress: bool,
    patience: Duration,
) -> Result<std::io::Result<ProgramRun>> {
    let watcher = Watcher::new().context("signals cannot be caught")?;
    let watching = match watcher.start(&mut command) {
        Ok(watching) => watching,
        Err(error) => return Ok(Err(error)),
    };
    let process = watching.id();
    let mut session = Session::new(directory.path());
    let mut progress = Progress::new(has_progress);
    let watched = watching.wait(directory.path(), &mut session, patience, &mut progress);
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
    use std::io::Read;
    let mut suppressions = Suppressions::of_libraries();
    for path in files {
        let mut text = String::new();
        let file = std::fs::File::open(path).with_context(|| format!("reading {}", path.display()))?;
        file.take(LARGEST_SUPPRESSIONS + 1)
            .read_to_string(&mut text)
            .with_context(|| format!("reading {}", path.display()))?;
        suppressions.add(&path.display().to_string(), &text)?;
    }
    Ok(suppressions)
}

/// Writes the report where it is wanted. What cannot be written to a file goes to standard error, so that no report is
/// lost.
fn show(args: &Args, report: &Report, run: &Run, process: u32) {
    let to_file = args.log_file.is_some();
    let text = render(args, report, run, to_file);
    let written = args.log_file.as_ref().map(|file| write(file, process, &text));
    match written {
        Some(Ok(path)) => {
            let found = report.findings.len();
            output::complain(&format!("{found} findings"), &format!("; the report is in {}", path.display()));
        }
        Some(Err(error)) => {
            output::error(&error);
            print(&render(args, report, run, false));
        }
        None => print(&text),
    }
    if let Some(file) = &args.summary
        && let Err(error) = write(file, process, &report::json::summary(report, run))
    {
        output::error(&error);
    }
    if let Some(file) = &args.svg
        && let Err(error) = write(file, process, &report::svg(report, &mut sources(args)))
    {
        output::error(&error);
    }
}

fn render(args: &Args, report: &Report, run: &Run, to_file: bool) -> String {
    if args.format == Format::Json {
        return report::json::lines(report, run);
    }
    let color = match args.color {
        Color::Always => true,
        Color::Never => false,
        // It knows of NO_COLOR, CLICOLOR_FORCE, and terminals without colours.
        Color::Auto => !to_file && anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never,
    };
    let look = Look {
        color,
        most_findings: if args.print_limit == 0 { usize::MAX } else { args.print_limit },
        most_callers: if args.num_callers_host == 0 { usize::MAX } else { args.num_callers_host },
        with_suppressions: args.gen_suppressions,
    };
    report::render(report, run, &look, &mut sources(args))
}

fn sources(args: &Args) -> Sources {
    let here = std::env::current_dir().ok();
    Sources::below(here.into_iter().chain(args.source_root.iter().cloned()))
}

fn write(file: &FilePattern, process: u32, text: &str) -> Result<PathBuf> {
    let path = file.path(process);
    std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    Ok(path)
}

fn print(text: &str) {
    // Nobody can be told that standard error is gone.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

fn exit_code(args: &Args, report: &Report, run: &Run) -> u8 {
    match (report.verdict(run), run.exit) {
        (Verdict::Findings, _) => args.error_exitcode,
        (Verdict::NotChecked, _) => NOT_CHECKED,
        // Both are below 256 as the system has them.
        (Verdict::EndedBySignal | Verdict::Clean, Exit::Signal(signal)) => (SIGNALLED + signal) as u8,
        (_, Exit::Code(_)) if args.check_exit_code == Answer::No => 0,
        (_, Exit::Code(code)) => code as u8,
    }
}
