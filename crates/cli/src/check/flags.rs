//! The flags of all tools. Names are those of compute-sanitizer and Valgrind where they mean the same.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{ValueEnum, ValueHint};
use report::KernelFilter;
use toolkit::Tool;

use super::FINDINGS;
use super::path::FilePattern;
use super::sweep::Sweep;
use crate::target::{Answer, Target};

/// Arguments of a tool's command.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Further tools that run at the same time.
    #[arg(long = "tool", value_name = "TOOL", value_delimiter = ',', value_parser = names(), hide_possible_values = true)]
    more_tools: Vec<String>,

    /// Also tell what was computed exactly, as a GPU does, and what approximately: another word for --tool fidelity.
    #[arg(long)]
    fidelity: bool,

    /// The exit code if there are errors.
    #[arg(long, value_name = "N", default_value_t = FINDINGS)]
    pub(super) error_exitcode: u8,
    /// From which severity on a finding changes the exit code.
    #[arg(long, value_enum, default_value_t = Level::Error)]
    pub(super) fail_on: Level,
    /// Whether the exit code of a clean run is the program's; 0 if not.
    #[arg(long, value_enum, value_name = "YES|NO", default_value_t = Answer::Yes, hide_possible_values = true)]
    pub(super) check_exit_code: Answer,
    /// Whether it is a failure (exit code 87) if the program does not use CUDA.
    #[arg(long, value_enum, value_name = "YES|NO", default_value_t = Answer::Yes, hide_possible_values = true)]
    pub(super) require_cuda_init: Answer,
    /// It is a failure (exit code 87) if no kernel was checked, and there is no line that shows how far the run is.
    #[arg(long)]
    pub(super) ci: bool,

    /// Check only kernels whose name has this part; `kne=NAME` is the whole name, `regex=EXPR` a regular expression.
    /// Several may be given.
    #[arg(long, value_name = "NAME", value_parser = parse_kernel_name, help_heading = "What is checked")]
    kernel_name: Vec<String>,
    /// Do not check kernels with this name, in the same way.
    #[arg(long, value_name = "NAME", value_parser = parse_kernel_name, help_heading = "What is checked")]
    kernel_name_exclude: Vec<String>,
    /// Do not check the first launches.
    #[arg(long, value_name = "N", help_heading = "What is checked")]
    launch_skip: Option<u64>,
    /// Check only so many launches.
    #[arg(long, value_name = "N", help_heading = "What is checked")]
    launch_count: Option<u64>,
    /// Whether memory that is never freed is reported.
    #[arg(long, value_enum, default_value_t = LeakCheck::No, help_heading = "What is checked")]
    leak_check: LeakCheck,
    /// Which errors that CUDA functions return are reported.
    #[arg(long, value_enum, default_value_t = ApiErrors::Explicit, help_heading = "What is checked")]
    report_api_errors: ApiErrors,
    /// Whether it is heeded what the program says through NVTX of its own heaps and of its memory.
    #[arg(long, value_enum, value_name = "YES|NO", default_value_t = Answer::Yes, hide_possible_values = true, help_heading = "What is checked")]
    pub(super) nvtx: Answer,
    /// What a launch returns in which an error was found. Bad accesses are left out in any case.
    #[arg(long, value_enum, default_value_t = OnError::Stop, help_heading = "What is checked")]
    on_error: OnError,
    /// Which processes are checked; another word for --trace-children.
    #[arg(long, value_enum, conflicts_with = "trace_children", help_heading = "What is checked")]
    target_processes: Option<TargetProcesses>,
    /// How many seconds processes that use CUDA are waited for after the program has ended.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, help_heading = "What is checked")]
    pub(super) wait: u64,

    /// Run the program once for each value, with it in the place of `{NAME}` in its arguments, and report the runs side by side;
    /// `--svg` draws them.
    #[arg(long, value_name = "NAME=A,B,…", value_parser = Sweep::parse, help_heading = "The report")]
    pub(super) sweep: Option<Sweep>,
    /// How the report is written.
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "The report")]
    pub(super) format: Format,
    /// Write the report to a file; `%p` is the number of the program's process, `%q{NAME}` a variable.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "The report")]
    pub(super) log_file: Option<FilePattern>,
    /// Write a summary as JSON to a file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "The report")]
    pub(super) summary: Option<FilePattern>,
    /// Write one page for a browser to a file: findings with their source and pictures, and what tools counted by line.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "The report")]
    pub(super) html: Option<FilePattern>,
    /// Write SARIF 2.1.0 to a file, for code scanning and editors.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "The report")]
    pub(super) sarif: Option<FilePattern>,
    /// Write JUnit's XML to a file: a failure for each error, and an error for what was not checked.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "The report")]
    pub(super) junit: Option<FilePattern>,
    /// Draw the two accesses of each race to a file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "The report")]
    pub(super) svg: Option<FilePattern>,
    /// Do not report what this file lists. Several may be given.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "The report")]
    pub(super) suppressions: Vec<PathBuf>,
    /// Do not count what is in this report of an earlier run, which `--format json --log-file FILE` or `--sarif FILE` wrote.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "The report")]
    pub(super) baseline: Option<PathBuf>,
    /// Print, after each finding, the entry for a file of suppressions.
    #[arg(long, help_heading = "The report")]
    pub(super) gen_suppressions: bool,
    /// Show so many findings; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "The report")]
    pub(super) print_limit: usize,
    /// Show so many calls of the host, up to 100; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 12, help_heading = "The report")]
    pub(super) num_callers_host: usize,
    /// Look for source files below this directory, too, if they are not where they were compiled. Several may be given.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "The report")]
    pub(super) source_root: Vec<PathBuf>,
    /// Whether the report has colours.
    #[arg(long, value_enum, default_value_t = Color::Auto, help_heading = "The report")]
    pub(super) color: Color,
    /// Whether a terminal shows how far a long run is.
    #[arg(long, value_enum, value_name = "YES|NO", default_value_t = Answer::Yes, hide_possible_values = true, help_heading = "The report")]
    pub(super) progress: Answer,
    /// Keep what the processes wrote down, and say where.
    #[arg(long, help_heading = "The report")]
    pub(super) keep_session: bool,

    #[command(flatten)]
    pub(super) target: Target,
}

/// How bad a finding is.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Level {
    /// Errors only.
    Error,
    /// Warnings, too.
    Warning,
}

/// How a report is written.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    /// For people.
    Text,
    /// JSON lines, for programs.
    Json,
    /// For the log of GitHub Actions: text, and an annotation for each of the first ten errors and warnings.
    Github,
}

/// Whether there are colours.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Color {
    /// On terminals, if NO_COLOR is not set.
    Auto,
    Always,
    Never,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum LeakCheck {
    /// It is.
    Full,
    /// It is not.
    No,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum ApiErrors {
    /// Those of all calls, also of those that NVIDIA's libraries make.
    All,
    /// Those of calls that the program makes.
    Explicit,
    /// None.
    No,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum OnError {
    /// An error, as on a GPU.
    Stop,
    /// Success, so that the program goes on.
    Continue,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum TargetProcesses {
    /// The program and what it starts.
    All,
    /// The program alone.
    ApplicationOnly,
}

impl Args {
    /// Brings words that mean the same together.
    pub(super) fn settle(&mut self) {
        match self.target_processes {
            Some(TargetProcesses::All) => self.target.trace_children(Answer::Yes),
            Some(TargetProcesses::ApplicationOnly) => self.target.trace_children(Answer::No),
            None => {}
        }
    }

    /// All tools that are to run, each once.
    pub(super) fn tools(&self, first: &dyn Tool) -> Vec<String> {
        let mut tools = vec![first.name().to_owned()];
        let fidelity = self.fidelity.then(|| "fidelity".to_owned());
        for tool in self.more_tools.iter().chain(&fidelity) {
            if !tools.contains(tool) {
                tools.push(tool.clone());
            }
        }
        tools
    }

    /// What the flags ask of these tools.
    pub(super) fn tool_settings(&self, session: &Path, tools: &[String]) -> settings::Tools {
        settings::Tools {
            names: tools.to_vec(),
            session: Some(session.to_owned()),
            kernel_names: self.kernel_name.clone(),
            excluded_kernel_names: self.kernel_name_exclude.clone(),
            launch_skip: self.launch_skip.unwrap_or(0),
            launch_count: self.launch_count,
            leak_check: self.leak_check == LeakCheck::Full,
            api_errors: match self.report_api_errors {
                ApiErrors::All => settings::ApiErrors::All,
                ApiErrors::Explicit => settings::ApiErrors::Explicit,
                ApiErrors::No => settings::ApiErrors::No,
            },
            stop_on_error: self.on_error == OnError::Stop,
            host_callers: match self.num_callers_host {
                0 => settings::Tools::MOST_HOST_CALLERS,
                callers => callers as u64,
            },
            flags: Vec::new(),
        }
    }
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(tools::TOOLS.iter().filter(|tool| !tool.has_own_command()).map(|tool| tool.name()))
}

fn parse_kernel_name(text: &str) -> Result<String, String> {
    if text.contains('\n') {
        return Err("a name is one line".to_owned());
    }
    KernelFilter::parse(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}
