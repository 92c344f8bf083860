//! Descriptors of ours in the process of a program.
//!
//! A program may close any descriptor: daemons and launchers close all that they do not know. Its next file gets the number,
//! and what we write with it then is written to the file of the user. So our descriptors have numbers far from those that
//! programs are given, and before each use it is asked whether the file is still ours. What is not is never used again, and
//! never closed.

#![forbid(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd};

use rustix::io::{Errno, fcntl_dupfd_cloexec};

/// A descriptor that is checked before each use.
#[derive(Debug)]
pub struct Kept {
    /// Nothing only while it is dropped.
    descriptor: Option<OwnedFd>,
    identity: Identity,
}

/// Which file it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn of(descriptor: impl AsFd) -> io::Result<Self> {
        let status = rustix::fs::fstat(descriptor)?;
        Ok(Self { device: status.st_dev, inode: status.st_ino })
    }
}

/// From which number on ours are, the first that the limit of the process allows: above those of `select`, if possible.
const FIRST: [i32; 4] = [2000, 900, 400, 200];

impl Kept {
    /// Keeps a descriptor, under another number.
    pub fn new(descriptor: impl Into<OwnedFd>) -> io::Result<Self> {
        let descriptor = descriptor.into();
        let identity = Identity::of(&descriptor)?;
        let moved = FIRST.into_iter().find_map(|first| fcntl_dupfd_cloexec(&descriptor, first).ok());
        Ok(Self { descriptor: Some(moved.unwrap_or(descriptor)), identity })
    }

    /// The descriptor, if it is still that of our file.
    pub fn get(&self) -> io::Result<BorrowedFd<'_>> {
        let descriptor = self.descriptor.as_ref().ok_or(Errno::BADF)?;
        match Identity::of(descriptor) {
            Ok(identity) if identity == self.identity => Ok(descriptor.as_fd()),
            _ => Err(io::Error::other("the program has closed a descriptor of Warpgrind's")),
        }
    }

    /// Takes another descriptor of the same file. An error if it is of another one.
    pub fn replace(&mut self, descriptor: impl Into<OwnedFd>) -> io::Result<()> {
        let other = Self::new(descriptor)?;
        if other.identity != self.identity {
            return Err(io::Error::other("another file has taken the place of Warpgrind's"));
        }
        *self = other;
        Ok(())
    }

    /// Writes all of some bytes.
    pub fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::io::write(self.get()?, bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.get().is_err() {
            // The number is somebody else's.
            self.descriptor.take().map(OwnedFd::into_raw_fd);
        }
    }
}
