//! All objects of the program as they were before a launch, and as a run left them that went well: trials begin from the one
//! and are compared with the other.
//!
//! A launch that goes wrong may write anywhere, so all memory is looked at after each trial, in pieces: those that differ, and
//! those that the good run changed, are written back at once, while they are in the cache of the processor.
//!
//! Unsafe: it copies memory by its address, as `snapshot` does, and for the same reasons.
#![allow(unsafe_code, reason = "it copies memory by its address")]

/// All objects.
#[derive(Debug)]
pub(super) struct Checkpoint {
    objects: Vec<Kept>,
    /// What the good run printed.
    printed: Vec<u8>,
    has_reference: bool,
    /// Whether memory is as it was before, because nothing ran since it was written back.
    is_rewound: bool,
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
    /// Pieces that the good run changed.
    changed: Vec<bool>,
}

/// Bytes that are compared and written back together.
const PIECE: usize = 4096;

impl Kept {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the object is there, because the program may not free it while a kernel has not ended; nobody else runs on the
        // device. What other threads of the program write meanwhile is one or the other.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, self.before.len()) }
    }

    /// Compares an object with what it should be, and writes back what it was.
    fn compare(&self, reference: &[u8], first: &mut Option<(String, u64)>) {
        for (piece, reference) in reference.chunks(PIECE).enumerate() {
            let from = piece * PIECE;
            // Made anew for each piece: what is written back changes the object.
            let now = &self.bytes()[from..from + reference.len()];
            let differs = now != reference;
            if differs && first.is_none() {
                let at = now.iter().zip(reference).position(|(now, reference)| now != reference).unwrap_or(0);
                *first = Some((self.name.clone(), (from + at) as u64));
            }
            if differs || self.changed[piece] {
                self.write_back(piece);
            }
        }
    }

    fn write_back(&self, piece: usize) {
        let from = piece * PIECE;
        let bytes = &self.before[from..self.before.len().min(from + PIECE)];
        // SAFETY: as in `bytes`, the other way round; the piece is within the object.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), (self.start as usize + from) as *mut u8, bytes.len()) };
    }
}

impl Checkpoint {
    /// Saves objects: where each begins, its size, and what it is.
    pub(super) fn new(objects: Vec<(u64, u64, String)>) -> Self {
        let kept = |(start, bytes, name): (u64, u64, String)| {
            // SAFETY: as in `Kept::bytes`.
            let before = unsafe { std::slice::from_raw_parts(start as *const u8, bytes as usize) }.to_vec();
            let pieces = before.len().div_ceil(PIECE);
            Kept { start, name, before, reference: None, changed: vec![false; pieces] }
        };
        let objects = objects.into_iter().map(kept).collect();
        Self { objects, printed: Vec::new(), has_reference: false, is_rewound: false }
    }

    /// Memory is now as it should be after the launch.
    pub(super) fn set_reference(&mut self, printed: Vec<u8>) {
        for kept in &mut self.objects {
            let now = kept.bytes();
            let changed: Vec<bool> =
                now.chunks(PIECE).zip(kept.before.chunks(PIECE)).map(|(now, before)| now != before).collect();
            let reference = changed.contains(&true).then(|| now.to_vec());
            (kept.changed, kept.reference) = (changed, reference);
        }
        self.printed = printed;
        (self.has_reference, self.is_rewound) = (true, false);
    }

    /// Where memory differs from what it should be: the object and the first byte; and whether something else was printed. Memory
    /// is then as it was before, if it is known what it should be.
    pub(super) fn compare(&mut self, printed: &[u8]) -> (Option<(String, u64)>, bool) {
        if !self.has_reference {
            self.is_rewound = false;
            return (None, false);
        }
        let mut first = None;
        for kept in &self.objects {
            let Some(reference) = &kept.reference else {
                // Nothing should have changed, and mostly nothing has.
                if kept.bytes() != kept.before {
                    kept.compare(&kept.before, &mut first);
                }
                continue;
            };
            kept.compare(reference, &mut first);
        }
        self.is_rewound = true;
        (first, printed != self.printed)
    }

    /// Something runs that is not compared: any piece may change.
    pub(super) fn forget_comparison(&mut self) {
        self.is_rewound = false;
    }

    /// Memory is again as it was.
    pub(super) fn rewind(&mut self) {
        if std::mem::replace(&mut self.is_rewound, true) {
            return;
        }
        for kept in &self.objects {
            for piece in 0..kept.changed.len() {
                let from = piece * PIECE;
                let end = kept.before.len().min(from + PIECE);
                if kept.bytes()[from..end] != kept.before[from..end] {
                    kept.write_back(piece);
                }
            }
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
        assert_eq!(checkpoint.compare(b"hello"), (None, false));
        checkpoint.rewind();
        assert_eq!(written, [1; 10_000]);
        // One that writes where it should not, and not where it should.
        other[4999] = 3;
        assert_eq!(checkpoint.compare(b"hell"), (Some(("one".to_owned(), 9000)), true));
        checkpoint.rewind();
        assert_eq!((&written[..], &other[..]), (&[1; 10_000][..], &[2; 5000][..]));
        // What is compared is undone at once.
        written[9000] = 8;
        assert_eq!(checkpoint.compare(b"hello"), (Some(("one".to_owned(), 9000)), false));
        assert_eq!(written, [1; 10_000]);
        // One of which nothing is known.
        checkpoint.forget_comparison();
        (written[0], other[0]) = (9, 9);
        checkpoint.rewind();
        assert_eq!((&written[..], &other[..]), (&[1; 10_000][..], &[2; 5000][..]));
    }
}
