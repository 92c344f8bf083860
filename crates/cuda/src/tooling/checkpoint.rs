//! All objects of the program as they were before a launch, and as a run left them that went well: trials begin from the one
//! and are compared with the other.
//!
//! A launch that goes wrong may write anywhere, so all memory is looked at after each trial, in pieces: those that differ, and
//! those that the good run changed, are written back at once, while they are in the cache of the processor. Memory of a GPU is
//! copied by its driver, in large pieces.
//!
//! Unsafe: it copies memory by its address, as `snapshot` does, and for the same reasons.
#![allow(unsafe_code, reason = "it copies memory by its address")]

use std::borrow::Cow;

use crate::device_memory;
use crate::error::Result;

/// All objects.
#[derive(Debug)]
pub(super) struct Checkpoint {
    objects: Vec<Kept>,
    /// What the good run printed.
    printed: Vec<u8>,
    has_reference: bool,
    /// Whether memory is as it was before, because nothing ran since it was written back.
    is_rewound: bool,
    /// Whether a driver has done all copies: if not, nothing can be said of memory.
    copied: Result<()>,
}

/// An object.
#[derive(Debug)]
struct Kept {
    start: u64,
    /// In words.
    name: String,
    before: Vec<u8>,
    /// What the good run left; nothing if it changed nothing.
    reference: Option<Vec<u8>>,
    /// Pieces that the good run changed, of so many bytes.
    changed: Vec<bool>,
    piece: usize,
}

/// Bytes that are compared and written back together.
const PIECE: usize = 4096;
/// Of memory that a driver copies.
const REMOTE_PIECE: usize = 1 << 20;

/// What is in a part of an object: the memory itself, or a copy.
fn read<'a>(start: u64, bytes: usize) -> Result<Cow<'a, [u8]>> {
    if device_memory::remote().is_some() {
        let mut copy = vec![0; bytes];
        // SAFETY: the object is there, because the program may not free it while a kernel has not ended.
        unsafe { device_memory::read(start, &mut copy) }?;
        return Ok(Cow::Owned(copy));
    }
    // SAFETY: as above; nobody else runs on the device. What other threads of the program write meanwhile is one or the other.
    Ok(Cow::Borrowed(unsafe { std::slice::from_raw_parts(start as *const u8, bytes) }))
}

impl Kept {
    fn new(start: u64, bytes: u64, name: String) -> Result<Self> {
        let before = read(start, bytes as usize)?.into_owned();
        let piece = if device_memory::remote().is_some() { REMOTE_PIECE } else { PIECE };
        let changed = vec![false; before.len().div_ceil(piece)];
        Ok(Self { start, name, before, reference: None, changed, piece })
    }

    /// What the good run has left is as the object is now.
    fn set_reference(&mut self) -> Result<()> {
        let now = read(self.start, self.before.len())?;
        let pieces = now.chunks(self.piece).zip(self.before.chunks(self.piece));
        self.changed = pieces.map(|(now, before)| now != before).collect();
        self.reference = self.changed.contains(&true).then(|| now.into_owned());
        Ok(())
    }

    /// Compares the object with what it should be, and writes back what it was. Gives the first byte that differs.
    fn compare(&self) -> Result<Option<u64>> {
        // Nothing should have changed, and mostly nothing has.
        if self.reference.is_none() && self.piece == PIECE && *read(self.start, self.before.len())? == *self.before {
            return Ok(None);
        }
        let mut first = None;
        for (piece, wanted) in self.reference.as_ref().unwrap_or(&self.before).chunks(self.piece).enumerate() {
            let from = piece * self.piece;
            // Looked at anew for each piece: what is written back changes the object.
            let now = read(self.start + from as u64, wanted.len())?;
            let differs = *now != *wanted;
            if differs && first.is_none() {
                let at = now.iter().zip(wanted).position(|(now, wanted)| now != wanted).unwrap_or(0);
                first = Some((from + at) as u64);
            }
            drop(now);
            if differs || self.changed[piece] {
                self.write_back(piece)?;
            }
        }
        Ok(first)
    }

    /// Writes back the pieces that are not as they were.
    fn rewind(&self) -> Result<()> {
        for (piece, before) in self.before.chunks(self.piece).enumerate() {
            if *read(self.start + (piece * self.piece) as u64, before.len())? != *before {
                self.write_back(piece)?;
            }
        }
        Ok(())
    }

    fn write_back(&self, piece: usize) -> Result<()> {
        let from = piece * self.piece;
        let bytes = &self.before[from..self.before.len().min(from + self.piece)];
        // SAFETY: as in `read`, the other way round; the piece is within the object.
        unsafe { device_memory::write(bytes, self.start + from as u64) }
    }
}

impl Checkpoint {
    /// Saves objects: where each begins, its size, and what it is.
    pub(super) fn new(objects: Vec<(u64, u64, String)>) -> Self {
        let kept = objects.into_iter().map(|(start, bytes, name)| Kept::new(start, bytes, name));
        let (objects, copied) = match kept.collect() {
            Ok(objects) => (objects, Ok(())),
            Err(error) => (Vec::new(), Err(error)),
        };
        Self { objects, printed: Vec::new(), has_reference: false, is_rewound: false, copied }
    }

    /// Memory is now as it should be after the launch.
    pub(super) fn set_reference(&mut self, printed: Vec<u8>) {
        let referred = self.objects.iter_mut().try_for_each(Kept::set_reference);
        self.copied = self.copied.and(referred);
        self.printed = printed;
        (self.has_reference, self.is_rewound) = (true, false);
    }

    /// Where memory differs from what it should be: the object and the first byte; and whether something else was printed. Memory
    /// is then as it was before, if it is known what it should be. An error if a driver did not copy it.
    pub(super) fn compare(&mut self, printed: &[u8]) -> Result<(Option<(String, u64)>, bool)> {
        if !self.has_reference {
            self.is_rewound = false;
            return Ok((None, false));
        }
        self.copied?;
        let mut first = None;
        for kept in &self.objects {
            let offset = kept.compare().inspect_err(|&error| self.copied = Err(error))?;
            first = first.or(offset.map(|offset| (kept.name.clone(), offset)));
        }
        self.is_rewound = true;
        Ok((first, printed != self.printed))
    }

    /// Something runs that is not compared: any piece may change.
    pub(super) fn forget_comparison(&mut self) {
        self.is_rewound = false;
    }

    /// Memory is again as it was.
    pub(super) fn rewind(&mut self) {
        if !std::mem::replace(&mut self.is_rewound, true) {
            self.copied = self.copied.and(self.objects.iter().try_for_each(Kept::rewind));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_are_compared_and_undone() {
        let (mut written, mut other) = (vec![1_u8; 10_000], vec![2_u8; 5000]);
        let object =
            |memory: &mut Vec<u8>, name: &str| (memory.as_mut_ptr() as u64, memory.len() as u64, name.to_owned());
        let mut checkpoint = Checkpoint::new(vec![object(&mut written, "one"), object(&mut other, "other")]);
        written[9000] = 7;
        checkpoint.set_reference(b"hello".to_vec());
        checkpoint.rewind();
        assert_eq!(written, [1; 10_000]);
        // A trial that is right.
        written[9000] = 7;
        assert_eq!(checkpoint.compare(b"hello").unwrap(), (None, false));
        checkpoint.rewind();
        assert_eq!(written, [1; 10_000]);
        // One that writes where it should not, and not where it should.
        other[4999] = 3;
        assert_eq!(checkpoint.compare(b"hell").unwrap(), (Some(("one".to_owned(), 9000)), true));
        checkpoint.rewind();
        assert_eq!((&written[..], &other[..]), (&[1; 10_000][..], &[2; 5000][..]));
        // What is compared is undone at once.
        written[9000] = 8;
        assert_eq!(checkpoint.compare(b"hello").unwrap(), (Some(("one".to_owned(), 9000)), false));
        assert_eq!(written, [1; 10_000]);
        // One of which nothing is known.
        checkpoint.forget_comparison();
        (written[0], other[0]) = (9, 9);
        checkpoint.rewind();
        assert_eq!((&written[..], &other[..]), (&[1; 10_000][..], &[2; 5000][..]));
    }
}
