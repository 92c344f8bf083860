//! The `warpgrind` command.

#![forbid(unsafe_code)]

mod cache_command;
mod campaign_command;
mod check;
mod completions;
mod config;
mod doctor;
mod explain;
mod gpu_driver_file;
mod health_command;
mod help;
mod inject;
mod input;
mod installation;
mod man;
mod output;
mod prove;
mod ptx_command;
mod run;
mod sanitizer;
mod settings_file;
mod target;
mod trials;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, Args as _, CommandFactory, FromArgMatches, Parser, Subcommand};

use self::settings_file::SettingsFile;

/// What Valgrind is for CPUs, for CUDA kernels.
#[derive(Parser, Debug)]
#[command(version, about, max_term_width = 100)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Runs a CUDA program, unchanged, on the CPU device.
    Run(run::Args),
    /// Says, without running it, whether a CUDA program can run on the CPU device, and what to do if not.
    ///
    /// Exits with 1 if something needs to be cured.
    Doctor(doctor::Args),
    /// Compiled kernels that are kept on disk: how many, where, and how to get rid of them.
    Cache(cache_command::Args),
    /// Plans many trials of faults, runs them in shards, anywhere, and reports.
    Campaign(campaign_command::Args),
    /// Says where the headers are that programs are built with.
    Config(config::Args),
    /// Explains the code of a finding, such as memcheck::out-of-bounds.
    Explain(explain::Args),
    /// Says whether this machine computes right: bundled kernels, and a program of yours, run twice at once, with known results.
    ///
    /// Prints one line. Exits with 0 if all is well; --exit-style says what other codes mean. On the CPU device, only the
    /// processor is tested.
    Health(health_command::Args),
    /// The kernels of `health`, which it runs in a process of its own.
    #[command(name = health_command::KERNELS, hide = true)]
    HealthKernels(health_command::KernelArgs),
    /// Runs a CUDA program with faults in its kernels, and tells what comes of them.
    ///
    /// Exits with 0 if all trials took place, whatever came of them, and with 87 if not.
    Inject(inject::Args),
    /// Runs a CUDA program and says which of its launches are known to stay in bounds and to be free of races, whatever
    /// memory holds; or says it of one launch of a kernel in a PTX file, without running anything.
    ///
    /// Exits with 0 if what --require asks for is proved, with 1 if not, and with 87 if nothing was launched or a kernel
    /// could not be read.
    Prove(prove::Args),
    /// Looks at PTX: prints, verifies, describes, draws and counts.
    Ptx(ptx_command::Args),
    /// Prints a script that makes a shell complete commands and flags.
    Completions(completions::Args),
    /// Writes manual pages to a directory, one for each command.
    Man(man::Args),
}

/// Tools of NVIDIA's compute-sanitizer, for which nothing with a similar name stands in.
const TOOLS_OF_OTHERS: [&str; 2] = ["initcheck", "synccheck"];

/// What a command says about its input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CommandStatus {
    /// Nothing is wrong: exit code 0.
    Success,
    /// Something is wrong with the input: exit code 1.
    Failure,
}

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    // Wrong usage exits with 2, as clap does.
    let matches = command().try_get_matches_from(&words).unwrap_or_else(|error| {
        if let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
            && TOOLS_OF_OTHERS.contains(&name.as_str())
        {
            output::error(&anyhow::anyhow!("there is no {name} yet; `warpgrind help` lists the tools that there are"));
            std::process::exit(2);
        }
        error.exit()
    });
    let matches = with_settings(matches, words).unwrap_or_else(|error| {
        output::error(&error);
        std::process::exit(2);
    });
    if let Some((name, matches)) = matches.subcommand()
        && let Some(tool) = tools::tool(name).filter(|tool| !tool.has_own_command())
    {
        let args = check::Args::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
        return check::run(tool, args, check::flags_of_tool(tool, matches));
    }
    let args = Args::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let result = match args.command {
        Command::Run(args) => return run::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Cache(args) => cache_command::run(&args),
        Command::Campaign(args) => match campaign_command::run(&args) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Config(args) => config::run(&args),
        Command::Explain(args) => explain::run(&args, &tools::explanations()),
        Command::Health(args) => return health_command::run(&args),
        Command::HealthKernels(args) => health_command::run_kernels(&args).map(|()| CommandStatus::Success),
        Command::Inject(args) => match inject::run(&args) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Prove(args) => match prove::run(&args) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Ptx(args) => ptx_command::run(&args),
        Command::Completions(args) => completions::run(&args, command()),
        Command::Man(args) => man::run(&args, command()),
    };
    match result {
        Ok(CommandStatus::Success) => ExitCode::SUCCESS,
        Ok(CommandStatus::Failure) => ExitCode::from(1),
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::error(&error);
            ExitCode::from(2)
        }
    }
}

/// The command line with what `warpgrind.toml` adds to it.
fn with_settings(matches: ArgMatches, mut words: Vec<OsString>) -> Result<ArgMatches> {
    let Some((name, given)) = matches.subcommand() else { return Ok(matches) };
    let all = command();
    let is_meant = all.find_subcommand(name).is_some_and(settings_file::has_settings);
    if !is_meant || settings_file::is_switched_off(given) {
        return Ok(matches);
    }
    let Some(file) = SettingsFile::find()? else { return Ok(matches) };
    let added = file.arguments(&all, name, given)?;
    if added.is_empty() {
        return Ok(matches);
    }
    // After the name of the command, where flags begin.
    words.splice(2..2, added);
    all.try_get_matches_from(words).map_err(|error| {
        let message = error.to_string();
        let message = message.strip_prefix("error: ").unwrap_or(&message).trim_end().to_owned();
        anyhow::anyhow!("{}: {message}", file.path.display())
    })
}

/// The command line, with a command for each tool.
fn command() -> clap::Command {
    let with_command = tools::TOOLS.iter().filter(|tool| !tool.has_own_command());
    let command = with_command.fold(Args::command(), |command, tool| {
        let of_all = check::Args::augment_args(clap::Command::new(tool.name()));
        // What is said of the arguments is not what is said of the tool, so that comes last.
        let of_tool = check::add_flags_of_tool(of_all, *tool).about(tool.about()).long_about(tool.about());
        command.subcommand(of_tool.hide(tool.is_hidden()).display_order(0))
    });
    help::add(command)
}
