//! All objects of the program as they were before a launch, and as a run left them that went well: trials begin from the one
//! and are compared with the other.
//!
//! A launch that goes wrong may write anywhere, so all memory is looked at after each trial, in pieces: those that differ, and
//! those that the good run changed, are written back at once, while they are in the cache of the processor; or later, if a copy of
//! the process first goes on with them. Memory of a GPU is copied by its driver, in large pieces.
//!
//! Unsafe: it copies memory by its address, as `snapshot` does, and for the same reasons.
#![allow(unsafe_code, reason = "it copies memory by its address")]

use std::borrow::Cow;
use std::collections::BTreeSet;

use device::Memory;

use crate::device_memory;
use crate::error::Result;
use crate::process::large_pages;

/// All objects, and what kernels can access beside them.
#[derive(Debug)]
pub(super) struct Checkpoint {
    objects: Vec<Kept>,
    /// What the good run printed.
    printed: Vec<u8>,
    has_reference: bool,
    known: Known,
    /// How often the process was forked.
    forks: u32,
    /// Whether a driver has done all copies: if not, nothing can be said of memory.
    copied: Result<()>,
}

/// What is known of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    /// Nothing: any piece may have changed.
    Nothing,
    /// Which pieces are [stale](Kept::stale).
    Stale,
    /// It is as it was before, because nothing ran since it was written back.
    Rewound,
}

/// An object, or memory that is none.
#[derive(Debug)]
struct Kept {
    start: u64,
    /// In words. Nothing if it is no object: whatever a launch leaves there is undone, and makes no difference.
    name: Option<String>,
    bytes: usize,
    /// Nothing if there were zeros: memory that nobody ever wrote takes no room in the caches of the processor, if it has no copy.
    before: Option<Vec<u8>>,
    /// What the good run left; nothing if it changed nothing.
    reference: Option<Vec<u8>>,
    /// Pieces that the good run changed, of so many bytes.
    changed: Vec<bool>,
    /// Pieces that are to be written back.
    stale: Vec<bool>,
    piece: usize,
}

/// Bytes that are compared and written back together.
const PIECE: usize = 4096;
/// Of memory that a driver copies.
const REMOTE_PIECE: usize = 1 << 20;

static ZEROS: [u8; PIECE] = [0; PIECE];

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
    fn new(start: u64, bytes: u64, name: Option<String>) -> Result<Self> {
        let bytes = bytes as usize;
        let now = read(start, bytes)?;
        let is_zero = name.is_none() && now.chunks(PIECE).all(|piece| *piece == ZEROS[..piece.len()]);
        let before = (!is_zero).then(|| now.into_owned());
        let piece = if name.is_some() && device_memory::remote().is_some() { REMOTE_PIECE } else { PIECE };
        let changed = vec![false; bytes.div_ceil(piece)];
        Ok(Self { start, name, bytes, before, reference: None, stale: changed.clone(), changed, piece })
    }

    /// What the good run has left is as the object is now.
    fn set_reference(&mut self) -> Result<()> {
        if self.name.is_none() {
            return Ok(());
        }
        let now = read(self.start, self.bytes)?;
        self.changed = now.chunks(self.piece).enumerate().map(|(piece, now)| now != self.before(piece)).collect();
        self.reference = self.changed.contains(&true).then(|| now.into_owned());
        Ok(())
    }

    /// Compares it with what it should be, and writes back what it was, or notes what is to be written back. Gives the first byte that
    /// differs.
    fn compare(&mut self, is_kept: bool) -> Result<Option<u64>> {
        self.stale.fill(false);
        // Nothing should have changed, and mostly nothing has.
        if let (None, Some(before)) = (&self.reference, &self.before)
            && self.piece == PIECE
            && *read(self.start, self.bytes)? == **before
        {
            return Ok(None);
        }
        let mut first = None;
        for piece in 0..self.changed.len() {
            let from = piece * self.piece;
            let wanted = match &self.reference {
                Some(reference) => self.part(reference, piece),
                None => self.before(piece),
            };
            // Looked at anew for each piece: what is written back changes the object.
            let now = read(self.start + from as u64, wanted.len())?;
            let differs = *now != *wanted;
            if differs && first.is_none() {
                let at = now.iter().zip(wanted).position(|(now, wanted)| now != wanted).unwrap_or(0);
                first = Some((from + at) as u64);
            }
            drop(now);
            match differs || self.changed[piece] {
                true if is_kept => self.stale[piece] = true,
                true => self.write_back(piece)?,
                false => {}
            }
        }
        Ok(first)
    }

    /// Writes back the pieces that are not as they were: those that are stale, if that is known.
    fn rewind(&self, is_known: bool) -> Result<()> {
        for piece in 0..self.changed.len() {
            let before = self.before(piece);
            let is_stale = match is_known {
                true => self.stale[piece],
                false => *read(self.start + (piece * self.piece) as u64, before.len())? != *before,
            };
            if is_stale {
                self.write_back(piece)?;
            }
        }
        Ok(())
    }

    fn write_back(&self, piece: usize) -> Result<()> {
        // SAFETY: as in `read`, the other way round; the piece is within the object.
        unsafe { device_memory::write(self.before(piece), self.start + (piece * self.piece) as u64) }
    }

    /// What was in a piece.
    fn before(&self, piece: usize) -> &[u8] {
        match &self.before {
            Some(before) => self.part(before, piece),
            None => &ZEROS[..PIECE.min(self.bytes - piece * PIECE)],
        }
    }

    /// A piece of a copy.
    fn part<'a>(&self, copy: &'a [u8], piece: usize) -> &'a [u8] {
        let from = piece * self.piece;
        &copy[from..copy.len().min(from + self.piece)]
    }
}

impl Checkpoint {
    /// Saves objects: where each begins, its size, and what it is. A wrong address may as well be one beside them.
    pub(super) fn new(objects: Vec<(u64, u64, String)>, memory: &dyn Memory) -> Self {
        let beside = beside(&objects, memory).into_iter().map(|(start, bytes)| (start, bytes, None));
        let objects = objects.into_iter().map(|(start, bytes, name)| (start, bytes, Some(name)));
        let kept = objects.chain(beside).map(|(start, bytes, name)| Kept::new(start, bytes, name));
        let (objects, copied) = match kept.collect() {
            Ok(objects) => (objects, Ok(())),
            Err(error) => (Vec::new(), Err(error)),
        };
        Self { objects, printed: Vec::new(), has_reference: false, known: Known::Nothing, forks: 0, copied }
    }

    /// Memory is now as it should be after the launch.
    pub(super) fn set_reference(&mut self, printed: Vec<u8>) {
        let referred = self.objects.iter_mut().try_for_each(Kept::set_reference);
        self.copied = self.copied.and(referred);
        self.printed = printed;
        (self.has_reference, self.known) = (true, Known::Nothing);
    }

    /// Where memory differs from what it should be: the object and the first byte; and whether something else was printed. Memory
    /// is then as it was before, if it is known what it should be, unless it is kept. An error if a driver did not copy it.
    pub(super) fn compare(&mut self, printed: &[u8], is_kept: bool) -> Result<(Option<(String, u64)>, bool)> {
        self.known = Known::Nothing;
        if !self.has_reference {
            return Ok((None, false));
        }
        self.copied?;
        let mut first = None;
        for kept in &mut self.objects {
            let offset = kept.compare(is_kept).inspect_err(|&error| self.copied = Err(error))?;
            first = first.or(offset.and_then(|offset| Some((kept.name.clone()?, offset))));
        }
        self.known = if is_kept { Known::Stale } else { Known::Rewound };
        Ok((first, printed != self.printed))
    }

    /// Something runs that is not compared: any piece may change.
    pub(super) fn forget_comparison(&mut self) {
        self.known = Known::Nothing;
    }

    /// Memory is again as it was.
    pub(super) fn rewind(&mut self) {
        let known = std::mem::replace(&mut self.known, Known::Rewound);
        if known != Known::Rewound {
            let rewound = self.objects.iter().try_for_each(|kept| kept.rewind(known == Known::Stale));
            self.copied = self.copied.and(rewound);
        }
    }

    /// The process is about to be forked. When that happens again, and so may often, memory is worth large pages.
    pub(super) fn before_fork(&mut self) {
        self.forks += 1;
        if self.forks == 2 {
            large_pages::gather();
        }
    }
}

/// What kernels can access that is no object: what is not allocated, what allocations have besides objects, and what lies next to all
/// that, such as the constants of modules.
fn beside(objects: &[(u64, u64, String)], memory: &dyn Memory) -> Vec<(u64, u64)> {
    if memory.remote().is_some() {
        return Vec::new();
    }
    let mut ranges: BTreeSet<(u64, u64)> = memory.unallocated().into_iter().collect();
    ranges.extend(objects.iter().filter_map(|&(start, ..)| memory.allocation(start)));
    let mut new: Vec<(u64, u64)> = ranges.iter().copied().collect();
    while let Some((start, bytes)) = new.pop() {
        let neighbours = [start.wrapping_sub(1), start + bytes].into_iter().filter_map(|at| memory.allocation(at));
        new.extend(neighbours.filter(|&neighbour| ranges.insert(neighbour)));
    }
    let mut objects: Vec<(u64, u64)> = objects.iter().map(|&(start, bytes, _)| (start, start + bytes)).collect();
    objects.sort_unstable();
    let (mut beside, mut objects) = (Vec::new(), objects.into_iter().peekable());
    for (start, bytes) in ranges {
        let (mut at, end) = (start, start + bytes);
        while let Some((from, to)) = objects.next_if(|&(from, _)| from < end) {
            beside.extend((from > at).then(|| (at, from - at)));
            at = at.max(to);
        }
        beside.extend((end > at).then(|| (at, end - at)));
    }
    beside
}

#[cfg(test)]
mod tests {
    use cpu::Arena;

    use super::*;

    #[test]
    fn trials_are_compared_and_undone() {
        let (mut written, mut other) = (vec![1_u8; 10_000], vec![2_u8; 5000]);
        let object =
            |memory: &mut Vec<u8>, name: &str| (memory.as_mut_ptr() as u64, memory.len() as u64, name.to_owned());
        let arena = Arena::new(1 << 20).unwrap();
        let mut checkpoint = Checkpoint::new(vec![object(&mut written, "one"), object(&mut other, "other")], &arena);
        written[9000] = 7;
        checkpoint.set_reference(b"hello".to_vec());
        checkpoint.rewind();
        assert_eq!(written, [1; 10_000]);
        // A trial that is right.
        written[9000] = 7;
        assert_eq!(checkpoint.compare(b"hello", false).unwrap(), (None, false));
        checkpoint.rewind();
        assert_eq!(written, [1; 10_000]);
        // One that writes where it should not, and not where it should.
        other[4999] = 3;
        assert_eq!(checkpoint.compare(b"hell", false).unwrap(), (Some(("one".to_owned(), 9000)), true));
        checkpoint.rewind();
        assert_eq!((&written[..], &other[..]), (&[1; 10_000][..], &[2; 5000][..]));
        // What is compared is undone at once.
        written[9000] = 8;
        assert_eq!(checkpoint.compare(b"hello", false).unwrap(), (Some(("one".to_owned(), 9000)), false));
        assert_eq!(written, [1; 10_000]);
        // What is kept is undone later.
        (written[9000], other[2]) = (8, 9);
        assert_eq!(checkpoint.compare(b"hello", true).unwrap(), (Some(("one".to_owned(), 9000)), false));
        assert_eq!((written[9000], other[2]), (8, 9));
        checkpoint.before_fork();
        checkpoint.before_fork();
        checkpoint.rewind();
        assert_eq!((&written[..], &other[..]), (&[1; 10_000][..], &[2; 5000][..]));
        // One of which nothing is known.
        checkpoint.forget_comparison();
        (written[0], other[0]) = (9, 9);
        checkpoint.rewind();
        assert_eq!((&written[..], &other[..]), (&[1; 10_000][..], &[2; 5000][..]));
    }

    #[test]
    fn what_is_written_beside_objects_is_undone() {
        let arena = Arena::new(4 << 20).unwrap();
        let [first, constants, last] = [1000, 5000, 1000].map(|bytes| arena.allocate(bytes, 1).unwrap());
        let object = |start: u64, bytes: u64| (start, bytes, "an allocation".to_owned());
        let objects = vec![object(last, 1000), object(first, 300), object(first + 512, 100)];
        let expected = [(first + 300, 212), (first + 612, 412), (constants, 5120), (last + 1000, 24)];
        assert_eq!(beside(&objects, &arena)[..4], expected);
        let mut checkpoint = Checkpoint::new(objects, &arena);
        let read = |at: u64| {
            // SAFETY: it is in a part of the arena that is open.
            unsafe { (at as *const u8).read_volatile() }
        };
        let write = |at: u64| {
            // SAFETY: as above; nobody else accesses it.
            unsafe { (at as *mut u8).write_volatile(7) }
        };
        write(first);
        checkpoint.set_reference(Vec::new());
        let places = [first + 400, constants + 8, last + 1010, last + 500_000];
        assert!(checkpoint.objects.iter().any(|kept| kept.before.is_none()), "of zeros there is no copy");
        for is_kept in [false, true] {
            places.into_iter().for_each(write);
            assert_eq!(checkpoint.compare(b"", is_kept).unwrap(), (None, false), "they are no objects");
            checkpoint.rewind();
            assert_eq!((places.map(read), read(first)), ([0; 4], 0));
            write(first);
        }
    }
}
