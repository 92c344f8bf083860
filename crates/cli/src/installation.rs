//! Where the files are that belong to the command.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The directories in which they may be: beside the command, as cargo builds them, or `../lib/warpgrind`, as they are
/// installed.
pub(crate) fn directories() -> Result<[PathBuf; 2]> {
    let beside = beside()?;
    let installed = beside.join("../lib/warpgrind");
    Ok([beside, installed])
}

/// The directory of the command.
pub(crate) fn beside() -> Result<PathBuf> {
    let command = std::env::current_exe().context("the path of this command is not known")?;
    Ok(command.parent().unwrap_or(Path::new("/")).to_owned())
}

/// A file by its name.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    directories().ok()?.into_iter().map(|directory| directory.join(name)).find(|path| path.is_file())
}
