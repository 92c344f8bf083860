//! `warpgrind completions`: what makes a shell complete commands and flags, from the definitions that they are parsed with.

use anyhow::Result;
use clap::ValueEnum;

use crate::{CommandStatus, output};

/// Arguments of `warpgrind completions`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Prints the script.
pub(crate) fn run(args: &Args, mut command: clap::Command) -> Result<CommandStatus> {
    let shell = match args.shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "warpgrind", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(CommandStatus::Success)
}
