//! `warpgrind ptx link`

use std::path::PathBuf;

use anyhow::Result;
use ptx::diagnostic::Severity;
use ptx::link::Input;

use crate::{CommandStatus, input, output};

/// Arguments of `warpgrind ptx link`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// PTX files, in the order in which weak definitions win.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<CommandStatus> {
    let mut sources = Vec::new();
    let mut verdict = CommandStatus::Success;
    for path in &args.paths {
        let source = input::read(path)?;
        output::show(&source, &source.parsed.diagnostics);
        if source.parsed.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            verdict = CommandStatus::Failure;
        }
        sources.push(source);
    }
    if verdict == CommandStatus::Failure {
        return Ok(verdict);
    }
    let inputs: Vec<_> =
        sources.iter().map(|source| Input { name: &source.name, module: &source.parsed.module }).collect();
    match ptx::link::link(&inputs, ptx::link::is_provided) {
        Ok(linked) => {
            output::print(&ptx::print(&linked.module))?;
            Ok(CommandStatus::Success)
        }
        Err(errors) => {
            for error in errors {
                output::error(&error.into());
            }
            Ok(CommandStatus::Failure)
        }
    }
}
