//! Files of the cache.
//!
//! `key` has 32 random bytes. An entry has the name of its [`Id`] in hexadecimal digits; its contents are after 32 bytes
//! that authenticate the name and the contents. Files appear under their name only when they are whole. When a file was
//! last written to is when it was last used.

use std::fs::File;
use std::io::{self, Read, Write};
use std::time::{Duration, SystemTime};

use descriptor::Kept;
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, Timespec, Timestamps, UTIME_NOW};
use rustix::fs::{fchmod, flock, fstat, futimens, linkat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::{Id, Usage};

const KEY: &str = "key";
/// Files that are being written.
const UNFINISHED: &str = "new-";
/// After this time nobody writes to an unfinished file any more.
const ABANDONED: Duration = Duration::from_secs(60 * 60);
/// No entry is larger.
const LARGEST: u64 = 1 << 30;
/// Bytes in front of the contents.
const TAG: usize = 32;

/// The name of an entry's file.
pub(crate) fn name(id: &Id) -> String {
    blake3::Hash::from_bytes(id.0).to_hex().to_string()
}

fn is_entry(name: &[u8]) -> bool {
    name.len() == 64 && name.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// What shows that contents were written under a name by somebody who has the key.
fn tag(key: &[u8; 32], id: &Id, contents: &[u8]) -> blake3::Hash {
    blake3::Hasher::new_keyed(key).update(&id.0).update(contents).finalize()
}

/// The contents of an entry. One that is not right is removed.
pub(crate) fn read(directory: &Kept, key: &[u8; 32], id: &Id) -> Option<Vec<u8>> {
    let name = name(id);
    let mut file = match open_private(directory, &name) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(_) => {
            remove(directory, &name);
            return None;
        }
    };
    let mut bytes = Vec::new();
    let is_read = read_whole(&mut file, &mut bytes).is_ok();
    let (written, contents) = bytes.split_at_checked(TAG).unwrap_or_default();
    // Takes the same time wherever the difference is.
    if !is_read || tag(key, id, contents) != blake3::Hash::from_slice(written).unwrap_or_else(|_| [0; 32].into()) {
        remove(directory, &name);
        return None;
    }
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let _ = futimens(&file, &Timestamps { last_access: now, last_modification: now });
    bytes.drain(..TAG);
    Some(bytes)
}

pub(crate) fn exists(directory: &Kept, id: &Id) -> bool {
    directory.get().is_ok_and(|directory| statat(directory, name(id), AtFlags::SYMLINK_NOFOLLOW).is_ok())
}

fn read_whole(file: &mut File, bytes: &mut Vec<u8>) -> io::Result<()> {
    let size = file.metadata()?.len();
    if size > LARGEST {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    bytes.try_reserve_exact(size as usize)?;
    file.take(LARGEST).read_to_end(bytes)?;
    Ok(())
}

/// Opens a file that only the user can have written to.
fn open_private(directory: &Kept, name: &str) -> io::Result<File> {
    // A pipe would otherwise be waited for.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(directory.get()?, name, flags, Mode::empty())?;
    let status = fstat(&file)?;
    let is_private = FileType::from_raw_mode(status.st_mode) == FileType::RegularFile
        && status.st_uid == rustix::process::geteuid().as_raw()
        && status.st_mode & 0o077 == 0;
    if is_private { Ok(file.into()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

/// Writes an entry.
pub(crate) fn write(directory: &Kept, key: &[u8; 32], id: &Id, contents: &[u8]) -> io::Result<()> {
    let unfinished = Unfinished::write(directory, &[tag(key, id, contents).as_bytes(), contents])?;
    renameat(directory.get()?, &unfinished.name, directory.get()?, name(id))?;
    std::mem::forget(unfinished);
    Ok(())
}

/// A file that has no name of its own yet. Goes if it is not given one.
struct Unfinished<'d> {
    directory: &'d Kept,
    name: String,
}

impl<'d> Unfinished<'d> {
    fn write(directory: &'d Kept, parts: &[&[u8]]) -> io::Result<Self> {
        let number = u128::from_le_bytes(random()?);
        let name = format!("{UNFINISHED}{number:032x}");
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(directory.get()?, &name, flags, Mode::RUSR | Mode::WUSR)?);
        let unfinished = Self { directory, name };
        // Whatever the umask takes away.
        fchmod(&file, Mode::RUSR | Mode::WUSR)?;
        for part in parts {
            file.write_all(part)?;
        }
        Ok(unfinished)
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        remove(self.directory, &self.name);
    }
}

/// Removes a file. Somebody else may have done so before.
pub(crate) fn remove(directory: &Kept, name: &str) {
    if let Ok(directory) = directory.get() {
        let _ = unlinkat(directory, name, AtFlags::empty());
    }
}

/// The key of the user, made if there is none.
pub(crate) fn key(directory: &Kept) -> io::Result<[u8; 32]> {
    for _ in 0..8 {
        let file = match open_private(directory, KEY) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let unfinished = Unfinished::write(directory, &[&random::<32>()?])?;
                // Of several processes, the first one's key counts.
                match linkat(directory.get()?, &unfinished.name, directory.get()?, KEY, AtFlags::empty()) {
                    Ok(()) | Err(Errno::EXIST) => continue,
                    Err(error) => return Err(error.into()),
                }
            }
            Err(_) => {
                // Somebody else may know it.
                unlinkat(directory.get()?, KEY, AtFlags::empty())?;
                continue;
            }
        };
        let mut bytes = Vec::new();
        file.take(33).read_to_end(&mut bytes)?;
        match bytes.try_into() {
            Ok(key) => return Ok(key),
            Err(_) => unlinkat(directory.get()?, KEY, AtFlags::empty())?,
        }
    }
    Err(io::Error::other("other processes remove it again and again"))
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

/// A file in the directory.
struct Found {
    name: String,
    bytes: u64,
    used: SystemTime,
}

/// All files of ours, with those that are being written.
fn files(directory: &Kept) -> io::Result<Vec<Found>> {
    let mut files = Vec::new();
    for entry in Dir::read_from(directory.get()?)? {
        let Ok(name) = entry?.file_name().to_owned().into_string() else { continue };
        if !is_entry(name.as_bytes()) && !name.starts_with(UNFINISHED) {
            continue;
        }
        // It may be gone by now.
        let Ok(status) = statat(directory.get()?, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let used = SystemTime::UNIX_EPOCH
            + Duration::new(status.st_mtime.max(0) as u64, status.st_mtime_nsec as u32 % 1_000_000_000);
        files.push(Found { name, bytes: status.st_size as u64, used });
    }
    Ok(files)
}

/// Removes entries that were not used for the longest time until a quarter of the room is free, if there are more bytes
/// than allowed; and what was never finished. Returns the bytes that are left.
pub(crate) fn evict(directory: &Kept, limit: u64) -> u64 {
    let Ok(mut files) = files(directory) else { return 0 };
    let mut total: u64 = files.iter().map(|file| file.bytes).sum();
    let is_abandoned = |file: &Found| file.used.elapsed().is_ok_and(|age| age > ABANDONED);
    for file in files.extract_if(.., |file| file.name.starts_with(UNFINISHED)) {
        if is_abandoned(&file) {
            remove(directory, &file.name);
            total -= file.bytes;
        }
    }
    if total <= limit {
        return total;
    }
    // Two processes that do this at once would remove twice as much.
    let lock = |operation| directory.get().map_err(|_| Errno::BADF).and_then(|directory| flock(directory, operation));
    if lock(FlockOperation::NonBlockingLockExclusive).is_err() {
        return total;
    }
    files.sort_by_key(|file| file.used);
    for file in files {
        if total <= limit / 4 * 3 {
            break;
        }
        remove(directory, &file.name);
        total -= file.bytes;
    }
    let _ = lock(FlockOperation::Unlock);
    total
}

pub(crate) fn usage(directory: &Kept) -> Usage {
    let files = files(directory).unwrap_or_default();
    let mut usage = Usage::default();
    for file in files.iter().filter(|file| is_entry(file.name.as_bytes())) {
        usage.entries += 1;
        usage.bytes += file.bytes;
        usage.oldest_use = Some(usage.oldest_use.map_or(file.used, |oldest| oldest.min(file.used)));
    }
    usage
}

/// Removes everything.
pub(crate) fn clear(directory: &Kept) -> io::Result<()> {
    let names = files(directory)?.into_iter().map(|file| file.name).chain([KEY.to_owned()]);
    for name in names {
        match unlinkat(directory.get()?, &name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
