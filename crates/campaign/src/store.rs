//! The directory of a campaign: its manifest, and the parts that shards leave there.
//!
//! ```text
//! manifest.json                      the manifest
//! parts/part-00000042-HASH.parquet   a part, and the hash of what is in the file
//! parts/.part-00000042-HOST-PID      what a writer has not finished
//! again/HOST-PID                     the numbers of parts that a writer found there, with the same rows, when it had them, too
//! ```
//!
//! Writers need no locks, which file systems of clusters do not always have: each writes privately, syncs, and renames. Who writes
//! the same rows writes the same bytes under the same name, so that a shard may run twice at once; who writes others writes them
//! beside, and [`check`](crate::check()) finds both.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::hash::hash_bytes;
use crate::manifest::{Manifest, ManifestError};

/// A directory.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
}

/// A file of the directory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stored {
    /// A part, by its number and the hash in its name.
    Part {
        /// Which part.
        number: u64,
        /// The beginning of the hash of what was written.
        hash: String,
        /// The file.
        path: PathBuf,
    },
    /// Another file of Parquet: somebody put it there.
    Other(PathBuf),
    /// What a writer has not finished, or left behind.
    Unfinished(PathBuf),
}

/// What became of a part that was to be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// It is there.
    New,
    /// Another writer had been there in the meantime, with the same rows.
    Again,
}

/// Why the directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Something cannot be read or written.
    #[error("{}: {error}{}", path.display(), remedy(error))]
    Io {
        /// What.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// There is no manifest.
    #[error("{} is not the directory of a campaign: it has no manifest.json; `warpgrind campaign run` makes it", .0.display())]
    NoManifest(PathBuf),
    /// The manifest is none.
    #[error("{}: {error}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// Why.
        error: ManifestError,
    },
    /// It is of another campaign.
    #[error("{} has another campaign: choose another directory with --out", .0.display())]
    OtherCampaign(PathBuf),
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            ": make room, and run the shard again; what it has finished is kept"
        }
        _ => "",
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    |error| StoreError::Io { path, error }
}

const MANIFEST: &str = "manifest.json";
const PREFIX: &str = "part-";
const SUFFIX: &str = ".parquet";
/// How many letters of the hash are in the name of a part.
const LETTERS: usize = 32;
/// Larger lists of parts that were written again are not read.
const MOST_AGAIN: u64 = 16 << 20;

/// Reads a file of at most so many bytes.
pub(crate) fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Store {
    /// The directory of a campaign, which is made if it is not there.
    pub fn create(directory: &Path, manifest: &Manifest) -> Result<Self, StoreError> {
        let store = Self { directory: directory.to_owned() };
        let parts = store.parts_directory();
        fs::create_dir_all(&parts).map_err(failed(&parts))?;
        let path = directory.join(MANIFEST);
        if !path.exists() {
            // Of several shards that begin at once, all write the same.
            let private = directory.join(format!(".manifest-{}", writer()));
            write_synced(&private, manifest.to_json().as_bytes(), &path)?;
        }
        match store.manifest()?.id() == manifest.id() {
            true => Ok(store),
            false => Err(StoreError::OtherCampaign(directory.to_owned())),
        }
    }

    /// The directory of a campaign, and its manifest.
    pub fn open(directory: &Path) -> Result<(Self, Manifest), StoreError> {
        let store = Self { directory: directory.to_owned() };
        let manifest = store.manifest()?;
        Ok((store, manifest))
    }

    fn manifest(&self) -> Result<Manifest, StoreError> {
        let path = self.directory.join(MANIFEST);
        let bytes = match read_at_most(&path, Manifest::MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StoreError::NoManifest(self.directory.clone()));
            }
            Err(error) => return Err(failed(&path)(error)),
        };
        Manifest::parse(&bytes).map_err(|error| StoreError::Manifest { path, error })
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn parts_directory(&self) -> PathBuf {
        self.directory.join("parts")
    }

    /// All parts, and other files beside them, in the order of their names.
    pub fn list(&self) -> Result<Vec<Stored>, StoreError> {
        let parts = self.parts_directory();
        let mut all = Vec::new();
        let entries = match fs::read_dir(&parts) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(all),
            Err(error) => return Err(failed(&parts)(error)),
        };
        for entry in entries {
            let path = entry.map_err(failed(&parts))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            all.push(match part_of_name(&name) {
                Some((number, hash)) => Stored::Part { number, hash, path },
                None if name.starts_with('.') => Stored::Unfinished(path),
                None => Stored::Other(path),
            });
        }
        all.sort();
        Ok(all)
    }

    /// Which parts of these are there, and as they were written. Those that are not are given to `damaged`.
    pub fn finished(
        &self,
        parts: std::ops::Range<u64>,
        mut damaged: impl FnMut(&Path),
    ) -> Result<BTreeMap<u64, PathBuf>, StoreError> {
        let mut finished = BTreeMap::new();
        for stored in self.list()? {
            let Stored::Part { number, hash, path } = stored else { continue };
            if !parts.contains(&number) {
                continue;
            }
            let bytes = fs::read(&path).map_err(failed(&path))?;
            match hash_bytes(&bytes).starts_with(&hash) {
                true => drop(finished.insert(number, path)),
                false => damaged(&path),
            }
        }
        Ok(finished)
    }

    /// Writes a part.
    pub fn write(&self, number: u64, bytes: &[u8]) -> Result<Written, StoreError> {
        let parts = self.parts_directory();
        let hash = hash_bytes(bytes);
        let path = parts.join(format!("{PREFIX}{number:08}-{}{SUFFIX}", &hash[..LETTERS]));
        let written = if path.exists() { Written::Again } else { Written::New };
        // What is there may be damaged: it is replaced.
        write_synced(&parts.join(format!(".{PREFIX}{number:08}-{}", writer())), bytes, &path)?;
        if written == Written::Again {
            self.write_down_again(number)?;
        }
        Ok(written)
    }

    fn write_down_again(&self, number: u64) -> Result<(), StoreError> {
        let directory = self.directory.join("again");
        fs::create_dir_all(&directory).map_err(failed(&directory))?;
        let path = directory.join(writer());
        let mut file = File::options().create(true).append(true).open(&path).map_err(failed(&path))?;
        writeln!(file, "{number}").map_err(failed(&path))
    }

    /// Who wrote parts that were there already, with the same rows, and which.
    pub fn again(&self) -> Result<Vec<(String, Vec<u64>)>, StoreError> {
        let directory = self.directory.join("again");
        let Ok(entries) = fs::read_dir(&directory) else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for entry in entries {
            let path = entry.map_err(failed(&directory))?.path();
            let bytes = read_at_most(&path, MOST_AGAIN).map_err(failed(&path))?;
            let numbers = String::from_utf8_lossy(&bytes).lines().filter_map(|line| line.parse().ok()).collect();
            all.push((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), numbers));
        }
        all.sort();
        Ok(all)
    }

    /// Removes what a writer on this host has left behind that does not run any more.
    pub fn remove_left_behind(&self) -> Result<(), StoreError> {
        let host = host();
        for stored in self.list()? {
            let Stored::Unfinished(path) = stored else { continue };
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let process = name.rsplit_once('-').filter(|(rest, _)| rest.ends_with(&format!("-{host}")));
            let process = process.and_then(|(_, process)| process.parse::<u32>().ok());
            if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
                // Another shard may have been faster.
                let _ = fs::remove_file(&path);
            }
        }
        Ok(())
    }
}

/// `part-00000042-HASH.parquet`.
fn part_of_name(name: &str) -> Option<(u64, String)> {
    let (number, hash) = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.split_once('-')?;
    let is_hash = hash.len() == LETTERS && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_number = number.len() >= 8 && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_hash && is_number).then(|| Some((number.parse().ok()?, hash.to_owned())))?
}

fn host() -> String {
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy();
    name.chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '_' })
        .take(64)
        .collect()
}

/// The host and the process.
fn writer() -> String {
    format!("{}-{}", host(), std::process::id())
}

/// Writes a file privately, and gives it its name when all of it is on the disk.
fn write_synced(private: &Path, bytes: &[u8], path: &Path) -> Result<(), StoreError> {
    let write = || {
        let mut file = File::create(private)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().and_then(|()| fs::rename(private, path)).map_err(|error| {
        // What is not whole is of no use.
        let _ = fs::remove_file(private);
        failed(path)(error)
    })?;
    let directory = path.parent().expect("a file is in a directory");
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(failed(directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_parts_are_read() {
        let hash = "0123456789abcdef0123456789abcdef";
        assert_eq!(part_of_name(&format!("part-00000042-{hash}.parquet")), Some((42, hash.to_owned())));
        for wrong in ["part-42-x.parquet", "copy.parquet", "part-00000042.parquet", ".part-00000042-host-1"] {
            assert_eq!(part_of_name(wrong), None, "{wrong}");
        }
        assert_eq!(part_of_name(&format!("part-99999999999999999999999-{hash}.parquet")), None);
    }
}
