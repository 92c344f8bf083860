//! `warpgrind ptx …`: one file per subcommand.

mod cat;
mod cfg;
mod drawing;
mod effects;
mod link;
mod rewrite;
mod stats;
mod svg;
mod verify;

use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;
use ptx::diagnostic::Severity;

use crate::input::{self, Source};
use crate::{CommandStatus, output};

/// Arguments of `warpgrind ptx`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

/// A file or directory, and how to print.
#[derive(clap::Args, Debug)]
struct Common {
    /// A PTX file, a directory that is searched for `.ptx` files, or `-` for standard input.
    path: PathBuf,
    /// Print JSON, one object per line.
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Parses and prints again: comments go, the layout becomes ours.
    Cat(Common),
    /// Checks names, operands and types, and names unknown instructions.
    ///
    /// Exits with 1 if there is an error; unknown instructions are warnings.
    Verify(Common),
    /// Says of each instruction which registers it reads and writes, what memory it accesses, and what else it does.
    Effects(Common),
    /// Makes one module of several that were compiled apart (nvcc -rdc=true), and prints it.
    ///
    /// Exits with 1 if something is missing, defined twice, or declared differently.
    Link(link::Args),
    /// Prints what tools make of a module.
    Rewrite(rewrite::Args),
    /// Draws the control flow of each function.
    Cfg(cfg::Args),
    /// Counts instructions, branches, and ways through each function.
    Stats(stats::Args),
}

/// Runs a subcommand.
pub(crate) fn run(args: &Args) -> Result<CommandStatus> {
    match &args.command {
        Command::Cat(common) => cat::run(common),
        Command::Verify(common) => verify::run(common),
        Command::Effects(common) => effects::run(common),
        Command::Link(args) => link::run(args),
        Command::Rewrite(args) => rewrite::run(args),
        Command::Cfg(args) => cfg::run(args),
        Command::Stats(args) => stats::run(args),
    }
}

/// Calls `each` with every source; errors of parsing are shown and make the verdict.
fn for_each_source(path: &std::path::Path, mut each: impl FnMut(&Source) -> Result<()>) -> Result<CommandStatus> {
    let mut verdict = CommandStatus::Success;
    for path in input::find(path)? {
        let source = input::read(&path)?;
        output::show(&source, &source.parsed.diagnostics);
        if source.parsed.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            verdict = CommandStatus::Failure;
        }
        each(&source)?;
    }
    Ok(verdict)
}
