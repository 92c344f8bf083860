//! `warpgrind run`: starts a program with our libraries in front of CUDA's.
//!
//! The command becomes the program, by `exec`: so the program has the process, the terminal, the signals and the exit
//! code to itself, as if `warpgrind run` had not been written in front of it.
//!
//! A parent that waits would have to imitate signals, job control and exit codes; nothing is more transparent than not
//! being there.

use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use crate::target::{self, Target};

/// Arguments of `warpgrind run`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    target: Target,
}

/// Becomes the program. Returns only if that fails, with the exit code that a shell would have.
pub(crate) fn run(args: &Args) -> ExitCode {
    args.target.check_flags().unwrap_or_else(|error| error.exit());
    let code = match args.target.command() {
        Ok((mut command, settings)) => {
            target::set(&mut command, &settings);
            args.target.refused(command.exec())
        }
        Err(code) => code,
    };
    ExitCode::from(code)
}
