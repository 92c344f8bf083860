//! `warpgrind config`: where the files are that programs are built with.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::{CommandStatus, installation, output};

/// Arguments of `warpgrind config`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Prints the directory for the compiler's -I: `#include <warpgrind/tx.cuh>`.
    #[arg(long, required = true)]
    include_dir: bool,
}

/// Prints what was asked for.
pub(crate) fn run(_: &Args) -> Result<CommandStatus> {
    output::print(&format!("{}\n", include_directory()?.display()))?;
    Ok(CommandStatus::Success)
}

/// The directory of our headers: `../include`, as they are installed, or that of the sources that this command was built
/// from.
fn include_directory() -> Result<PathBuf> {
    let sources = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let installed = installation::beside()?.join("../include");
    let found = [&installed, &sources].into_iter().find(|directory| directory.join("warpgrind/tx.cuh").is_file());
    let found = found
        .with_context(|| format!("there is no warpgrind/tx.cuh in {} or {}", installed.display(), sources.display()))?;
    found.canonicalize().with_context(|| format!("finding {}", found.display()))
}
