//! Programs that Valgrind runs: `warpgrind memcheck valgrind ./app`.
//!
//! Valgrind reads the symbols of a file when it is mapped for the first time, and replaces `malloc` and others there; a file
//! that is mapped again is not looked at. An auditing library has a namespace of its own, with a C library of its own, which is
//! mapped first: so the one of the program would be missed. Under Valgrind the auditing library is therefore a copy, beside
//! which is a copy of the C library for it alone (`$ORIGIN/for-audit`, see `build.rs` of `start`).

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use settings::Settings;

/// The memory of the device, if the user says nothing: Valgrind keeps books about all of it.
const DEVICE_MEMORY: u64 = 1 << 30;

/// Makes a command work that starts Valgrind: copies libraries into a directory.
pub(super) fn prepare(command: &mut Command, settings: &mut Settings, directory: &Path) -> Result<()> {
    let name = Path::new(command.get_program()).file_name().unwrap_or_default();
    if !matches!(name.as_bytes(), b"valgrind" | b"valgrind.bin") {
        return Ok(());
    }
    settings.device.memory.get_or_insert(DEVICE_MEMORY);
    let audit = command.get_envs().find(|(name, _)| *name == "LD_AUDIT").and_then(|(_, value)| value);
    let audit = audit.unwrap_or_default().as_bytes();
    let (start, others) = audit.split_at(audit.iter().position(|&byte| byte == b':').unwrap_or(audit.len()));
    let start = PathBuf::from(OsString::from_vec(start.to_vec()));
    let copies = directory.join("valgrind");
    let of_audit = copies.join("for-audit");
    fs::create_dir_all(&of_audit).with_context(|| format!("making {}", of_audit.display()))?;
    let copy = copies.join(start.file_name().unwrap_or_default());
    let libraries = own_libraries()?.into_iter().map(|library| {
        let name = library.file_name().unwrap_or_default().to_owned();
        (library, of_audit.join(name))
    });
    for (from, to) in libraries.chain([(start, copy.clone())]) {
        fs::copy(&from, &to).with_context(|| format!("copying {} to {}", from.display(), to.display()))?;
    }
    let mut audit = copy.into_os_string().into_vec();
    audit.extend_from_slice(others);
    command.env("LD_AUDIT", OsString::from_vec(audit));
    // When the process ends, Valgrind has the C library free what it holds. Some of it is from before Valgrind's `malloc` was
    // there, because of the auditing library.
    let mut options = std::env::var_os("VALGRIND_OPTS").unwrap_or_default();
    options.push(" --run-libc-freeres=no");
    command.env("VALGRIND_OPTS", options);
    Ok(())
}

/// What this process has of the libraries that the auditing library needs.
fn own_libraries() -> Result<Vec<PathBuf>> {
    let maps = fs::read_to_string("/proc/self/maps").context("reading /proc/self/maps")?;
    let paths = maps.lines().filter_map(|line| line.split_once('/').map(|(_, path)| PathBuf::from(format!("/{path}"))));
    let is_needed = |path: &PathBuf| {
        path.file_name().is_some_and(|name| matches!(name.as_bytes(), b"libc.so.6" | b"libgcc_s.so.1"))
    };
    let mut found: Vec<PathBuf> = paths.filter(is_needed).collect();
    found.sort();
    found.dedup();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_is_found() {
        let found = own_libraries().unwrap();
        assert!(found.iter().any(|path| path.ends_with("libc.so.6") && path.is_file()), "{found:?}");
    }
}
