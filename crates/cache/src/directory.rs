//! Where the cache is, and whether it is safe there.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use descriptor::Kept;
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid, getgid, getuid};

/// Why there is no cache.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Nobody says where the user's files are.
    #[error("neither XDG_CACHE_HOME nor HOME names a directory")]
    NoHome,
    /// The process has rights that its user does not have.
    #[error("the process has other rights than the user who started it")]
    OtherRights,
    /// There is none yet.
    #[error("there is no {path}")]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// The directory cannot be made or opened.
    #[error("{path} cannot be used: {source}")]
    Unusable {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else owns the directory.
    #[error("{path} belongs to the user with the number {owner}, not to {user}")]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// Who owns it.
        owner: u32,
        /// Who we are.
        user: u32,
    },
    /// Others can get into the directory.
    #[error("{path} is open to others (mode {mode:03o}); `chmod {closed:o} {path}` closes it")]
    Open {
        /// The directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// What they should be.
        closed: u32,
    },
    /// The key cannot be read or made.
    #[error("the key in {path} cannot be read or made: {source}")]
    Key {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Entries cannot be removed.
    #[error("{path} cannot be cleared: {source}")]
    Clear {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What to do where there is no directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IfMissing {
    Make,
    Refuse,
}

/// Nobody else may do anything with the cache.
const CLOSED: Mode = Mode::RWXU;

/// The directory of a user, by the rules of XDG: `$XDG_CACHE_HOME/warpgrind/code`, or `~/.cache/warpgrind/code`. There is
/// none for a process that runs with other rights than those of its user, whose environment is not to be trusted.
pub fn directory(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Refusal> {
    if getuid() != geteuid() || getgid() != getegid() {
        return Err(Refusal::OtherRights);
    }
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    Ok(base.ok_or(Refusal::NoHome)?.join("warpgrind").join("code"))
}

/// Opens a directory that nobody else can get into, and the one above that nobody else can write to. What is above these
/// two is the user's affair, links included.
pub(crate) fn open(path: &Path, if_missing: IfMissing) -> Result<Kept, Refusal> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(unusable(path, Errno::INVAL));
    };
    if if_missing == IfMissing::Make && !above.exists() {
        if let Some(base) = above.parent() {
            std::fs::create_dir_all(base).map_err(|source| Refusal::Unusable { path: base.to_owned(), source })?;
        }
        make(openat_cwd(), above)?;
    }
    let outer = open_directory(openat_cwd(), above, above)?;
    check(&outer, above, Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH)?;
    if if_missing == IfMissing::Make {
        make(&outer, Path::new(name))?;
    }
    let inner = open_directory(&outer, Path::new(name), path)?;
    check(&inner, path, CLOSED)?;
    Kept::new(inner).map_err(|source| Refusal::Unusable { path: path.to_owned(), source })
}

fn openat_cwd() -> impl std::os::fd::AsFd {
    CWD
}

fn unusable(path: &Path, error: Errno) -> Refusal {
    match error {
        Errno::NOENT => Refusal::Missing { path: path.to_owned() },
        error => Refusal::Unusable { path: path.to_owned(), source: error.into() },
    }
}

/// Makes a directory, unless it is there.
fn make(at: impl std::os::fd::AsFd, path: &Path) -> Result<(), Refusal> {
    match mkdirat(at, path, CLOSED) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(Refusal::Unusable { path: path.to_owned(), source: error.into() }),
    }
}

/// Opens a directory that is no link. `named` is its name in messages.
fn open_directory(at: impl std::os::fd::AsFd, path: &Path, named: &Path) -> Result<OwnedFd, Refusal> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, path, flags, Mode::empty()).map_err(|error| unusable(named, error))
}

/// Whether a directory is the user's, and allows nobody else more than this.
fn check(directory: &OwnedFd, path: &Path, allowed: Mode) -> Result<(), Refusal> {
    let status = rustix::fs::fstat(directory).map_err(|error| unusable(path, error))?;
    let user = geteuid().as_raw();
    if status.st_uid != user {
        return Err(Refusal::Foreign { path: path.to_owned(), owner: status.st_uid, user });
    }
    let mode = Mode::from_raw_mode(status.st_mode);
    if !allowed.contains(mode) {
        return Err(Refusal::Open {
            path: path.to_owned(),
            mode: mode.as_raw_mode() & 0o7777,
            closed: (mode & allowed).as_raw_mode(),
        });
    }
    Ok(())
}
