//! `warpgrind man`: manual pages, from the definitions that commands are parsed with.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::ValueHint;

use crate::CommandStatus;

/// Arguments of `warpgrind man`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Where the pages are written, such as ~/.local/share/man/man1.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: PathBuf,
}

/// Writes a page for each command.
pub(crate) fn run(args: &Args, command: clap::Command) -> Result<CommandStatus> {
    let directory = &args.directory;
    std::fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    clap_mangen::generate_to(command.disable_help_subcommand(true), directory)
        .with_context(|| format!("writing to {}", directory.display()))?;
    Ok(CommandStatus::Success)
}
