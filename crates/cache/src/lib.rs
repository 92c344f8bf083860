//! Compiled code on disk.
//!
//! What is kept here is run as machine code later, so nothing is taken from a place that somebody else could have written
//! to. The directory and all files in it belong to the user and are closed to everybody else; each entry is authenticated
//! with a key that only the user can read, together with its name, before any byte of it is looked at. Whatever is not
//! right is a miss, and goes.
//!
//! ```no_run
//! let path = cache::directory(|name| std::env::var_os(name)).unwrap();
//! let cache = cache::Cache::open(&path, cache::DEFAULT_LIMIT).unwrap();
//! let id = cache::IdBuilder::new().add(b"what decides the contents").finish();
//! cache.put(&id, b"the contents");
//! assert_eq!(cache.get(&id).as_deref(), Some(&b"the contents"[..]));
//! ```
//!
//! Entries that were not used for the longest time go when there are more bytes than allowed. Several processes may use
//! the same directory; none waits for another. What they write between two counts of one process comes on top of the
//! allowed bytes.

#![forbid(unsafe_code)]

mod directory;
mod entry;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use descriptor::Kept;

pub use directory::{Refusal, directory};

/// How many bytes a cache may have if nobody says otherwise.
pub const DEFAULT_LIMIT: u64 = 1 << 30;

/// Compiled code on disk.
#[derive(Debug)]
pub struct Cache {
    directory: Kept,
    key: [u8; 32],
    limit: u64,
    counted: Mutex<Counted>,
}

/// What a process knows of the size of the cache.
#[derive(Debug, Default)]
struct Counted {
    /// Bytes, when they were last counted and with what we have written since.
    bytes: u64,
    /// What we may write before they are counted again.
    until_next: u64,
}

/// The name of an entry: everything that decides its contents, as a hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Id([u8; 32]);

/// Makes the name of an entry.
#[derive(Clone, Debug, Default)]
pub struct IdBuilder(blake3::Hasher);

/// What is in a cache.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Usage {
    /// Entries.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When the entry was used that was not used for the longest time.
    pub oldest_use: Option<SystemTime>,
}

impl Id {
    /// From 64 hexadecimal digits, as files are named.
    pub fn from_hex(digits: &str) -> Option<Self> {
        Some(Self(*blake3::Hash::from_hex(digits).ok()?.as_bytes()))
    }
}

impl IdBuilder {
    /// Nothing decides the contents yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Something that decides the contents. Where one thing ends and the next begins makes a difference.
    pub fn add(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// The name.
    pub fn finish(&self) -> Id {
        Id(*self.0.finalize().as_bytes())
    }
}

impl Cache {
    /// The cache in a directory, which is made if it is not there.
    pub fn open(path: &Path, limit: u64) -> Result<Self, Refusal> {
        let directory = directory::open(path, directory::IfMissing::Make)?;
        let key = entry::key(&directory).map_err(|source| Refusal::Key { path: path.to_owned(), source })?;
        Ok(Self { directory, key, limit, counted: Mutex::default() })
    }

    /// What is in an entry, if it is there and nobody has changed it.
    pub fn get(&self, id: &Id) -> Option<Vec<u8>> {
        entry::read(&self.directory, &self.key, id)
    }

    /// Whether there is an entry; it may still turn out not to be right.
    pub fn has(&self, id: &Id) -> bool {
        entry::exists(&self.directory, id)
    }

    /// Takes an entry out: for one that turned out to be of no use.
    pub fn remove(&self, id: &Id) {
        entry::remove(&self.directory, &entry::name(id));
    }

    /// Keeps an entry, if that is possible.
    pub fn put(&self, id: &Id, contents: &[u8]) {
        let bytes = contents.len() as u64;
        // One entry is not worth all others.
        if bytes > self.limit / 4 || entry::write(&self.directory, &self.key, id, contents).is_err() {
            return;
        }
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.bytes += bytes;
        if bytes > counted.until_next || counted.bytes > self.limit {
            // Others write as well.
            let left = entry::evict(&self.directory, self.limit);
            *counted = Counted { bytes: left, until_next: self.limit / 16 };
        } else {
            counted.until_next -= bytes;
        }
    }
}

/// What is in the cache of a directory; nothing is made if it is not there.
pub fn usage(path: &Path) -> Result<Usage, Refusal> {
    match directory::open(path, directory::IfMissing::Refuse) {
        Ok(directory) => Ok(entry::usage(&directory)),
        Err(Refusal::Missing { .. }) => Ok(Usage::default()),
        Err(error) => Err(error),
    }
}

/// Removes all entries and the key of the cache in a directory. Says what there was.
pub fn clear(path: &Path) -> Result<Usage, Refusal> {
    let directory = match directory::open(path, directory::IfMissing::Refuse) {
        Ok(directory) => directory,
        Err(Refusal::Missing { .. }) => return Ok(Usage::default()),
        Err(error) => return Err(error),
    };
    let usage = entry::usage(&directory);
    entry::clear(&directory).map_err(|source| Refusal::Clear { path: path.to_owned(), source })?;
    Ok(usage)
}

/// The directory of the user that is given by the environment of the process.
pub fn directory_of_user() -> Result<PathBuf, Refusal> {
    directory(|name: &str| -> Option<OsString> { std::env::var_os(name) })
}
