//! Where NVIDIA's driver is.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The name under which programs ask for it.
const NAME: &str = "libcuda.so.1";

/// Where distributions, containers and WSL have it.
const DIRECTORIES: [&str; 9] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/lib/wsl/lib",
    "/usr/local/nvidia/lib64",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",
    "/run/opengl-driver/lib",
    "/usr/lib64/nvidia",
    "/opt/nvidia/lib64",
];

/// The file that the user names, or the one that is installed, by its real path: under the name that programs ask for they get
/// Warpgrind's library.
pub(crate) fn find(named: Option<&Path>) -> Result<PathBuf> {
    if let Some(file) = named {
        let found = file.canonicalize().with_context(|| format!("cannot read the driver {}", file.display()))?;
        if !found.is_file() {
            bail!("the driver {} is not a file: name its libcuda.so.1", file.display());
        }
        return Ok(found);
    }
    let user = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let directories = std::env::split_paths(&user).chain(DIRECTORIES.iter().map(PathBuf::from));
    let mut files = directories.filter(|directory| directory.is_absolute()).map(|directory| directory.join(NAME));
    match files.find(|file| file.is_file()).and_then(|file| file.canonicalize().ok()) {
        Some(file) => Ok(file),
        None => bail!(
            "there is no {NAME} on this machine, so no NVIDIA driver: install it, name it with --driver, or run on the \
             processor with `--device cpu`"
        ),
    }
}
