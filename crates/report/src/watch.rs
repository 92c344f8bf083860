//! Whether somebody still watches a session. Who does holds a lock, which goes with its process, however that ends.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Held by the process that will make the report and remove the session.
#[derive(Debug)]
pub struct Watch {
    _file: File,
}

fn path(session: &Path) -> PathBuf {
    session.join("watched")
}

impl Watch {
    /// Watches a session until the value goes.
    pub fn begin(session: &Path) -> io::Result<Self> {
        let file = File::create_new(path(session))?;
        file.lock()?;
        Ok(Self { _file: file })
    }
}

/// Whether somebody watches, or nobody was ever to.
fn is_watched(session: &Path) -> bool {
    match File::open(path(session)) {
        Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(_) => true,
    }
}

/// Removes files of a process from a session that nobody watches any more; the last process removes the session.
pub(crate) fn clear_if_unwatched(session: &Path, own: &[PathBuf]) {
    if is_watched(session) {
        return;
    }
    for file in own {
        let _ = fs::remove_file(file);
    }
    // Others may be about to do the same, or still write.
    let is_lock = |entry: io::Result<fs::DirEntry>| entry.is_ok_and(|entry| entry.path() == path(session));
    if fs::read_dir(session).is_ok_and(|mut entries| entries.all(is_lock)) {
        let _ = fs::remove_file(path(session));
        let _ = fs::remove_dir(session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_goes_with_the_last_process_that_nobody_watches() {
        let session = std::env::temp_dir().join(format!("warpgrind-watch-{}", std::process::id()));
        fs::create_dir(&session).expect("the directory of temporary files can be written to");
        let files = ["1.journal", "2.journal"].map(|name| session.join(name));
        for file in &files {
            fs::write(file, "").expect("it is ours");
        }
        let watch = Watch::begin(&session).expect("it is ours");
        clear_if_unwatched(&session, &files[..1]);
        assert!(files[0].exists(), "somebody watches");
        drop(watch);
        clear_if_unwatched(&session, &files[..1]);
        assert!(!files[0].exists() && files[1].exists());
        clear_if_unwatched(&session, &files[1..]);
        assert!(!session.exists());
    }
}
