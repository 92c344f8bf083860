//! Shadow planes in the memory of a device that the process cannot access by its addresses.
//!
//! Unsafe: it copies between cells and memory of its own.
#![allow(unsafe_code, reason = "it copies memory by its address")]

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use device::{Device, RemoteError, RemoteMemory};
use toolkit::{Host, Plane, PlaneLayout};

/// A plane.
#[derive(Debug)]
pub(super) struct DevicePlane {
    device: Arc<dyn Device>,
    address: u64,
    cells: u64,
    cell: u64,
    /// A cell is read, changed and written by one thread at a time.
    changes: Mutex<()>,
}

/// How many bytes are looked at together.
const SEARCHED: u64 = 1 << 20;

impl DevicePlane {
    /// For so many bytes of memory.
    pub(super) fn new(device: &Arc<dyn Device>, bytes: u64, layout: PlaneLayout) -> io::Result<Self> {
        let cells = bytes.div_ceil(layout.granule.max(1));
        let remote = device.memory().remote().ok_or_else(|| io::Error::other("the memory is the process's"))?;
        // The cells of the last access may be loaded in one piece, which ends after them.
        let address = remote.reserve_zeros(cells * layout.cell + 64).map_err(io::Error::other)?;
        Ok(Self { device: Arc::clone(device), address, cells, cell: layout.cell, changes: Mutex::default() })
    }

    fn remote(&self) -> &dyn RemoteMemory {
        self.device.memory().remote().expect("it was asked for when the plane was made")
    }

    /// Words, by their numbers, in pieces: the first of each, and its words as bytes. Ends where the device refuses to read.
    fn pieces(&self, first: u64, count: u64) -> impl Iterator<Item = (u64, Vec<[u8; 8]>)> {
        let end = first.saturating_add(count).min(self.cells * self.cell / 8);
        (first..end).step_by(SEARCHED as usize / 8).map_while(move |first| {
            let mut words = vec![[0; 8]; (SEARCHED / 8).min(end - first) as usize];
            self.read_at(first * 8, words.as_flattened_mut()).then_some((first, words))
        })
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> bool {
        // SAFETY: from cells to a slice.
        let result =
            unsafe { self.remote().copy(self.address + offset, bytes.as_mut_ptr() as u64, bytes.len() as u64) };
        tell(result)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> bool {
        // SAFETY: from a slice to cells.
        let result = unsafe { self.remote().copy(bytes.as_ptr() as u64, self.address + offset, bytes.len() as u64) };
        tell(result)
    }
}

/// What the device refuses to write is missing in the shadow, so nothing that is found, or not found, means anything any more.
fn tell(result: Result<(), RemoteError>) -> bool {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    if let Err(error) = &result
        && !IS_TOLD.swap(true, Ordering::Relaxed)
    {
        let reason = format!("the shadow of memory cannot be accessed, so findings may be wrong: {error}");
        crate::log::say(&reason);
        if let Some(tool_host) = super::get() {
            tool_host.services.not_checked(&reason);
        }
    }
    result.is_ok()
}

impl Plane for DevicePlane {
    fn address(&self) -> u64 {
        self.address
    }

    fn fill(&self, first: u64, count: u64, value: u8) {
        let end = first.saturating_add(count).min(self.cells);
        if first < end {
            let (start, bytes) = (self.address + first * self.cell, (end - first) * self.cell);
            tell(self.remote().fill(start, &[value], bytes));
        }
    }

    fn first_set(&self, first: u64, count: u64) -> Option<u64> {
        let end = first.saturating_add(count).min(self.cells);
        let (mut at, end) = (first * self.cell, end * self.cell);
        let mut cells = vec![0; SEARCHED.min(end.saturating_sub(at)) as usize];
        while at < end {
            let piece = (end - at).min(SEARCHED) as usize;
            if !self.read_at(at, &mut cells[..piece]) {
                return None;
            }
            if let Some(within) = cells[..piece].iter().position(|byte| *byte != 0) {
                return Some((at + within as u64) / self.cell);
            }
            at += piece as u64;
        }
        None
    }

    fn find_word(&self, first: u64, count: u64, holds: &dyn Fn(u64) -> bool) -> Option<(u64, u64)> {
        self.pieces(first, count).find_map(|(first, words)| {
            let mut numbered = (first..).zip(words.iter().map(|word| u64::from_le_bytes(*word)));
            numbered.find(|(_, word)| holds(*word))
        })
    }

    fn raise_words(&self, first: u64, count: u64, least: u64) {
        for (first, mut words) in self.pieces(first, count) {
            for word in &mut words {
                *word = u64::from_le_bytes(*word).max(least).to_le_bytes();
            }
            self.write_at(first * 8, words.as_flattened());
        }
    }

    fn touched_words(&self, first: u64, count: u64) -> Vec<Range<u64>> {
        let end = first.saturating_add(count).min(self.cells * self.cell / 8);
        std::iter::once(first..end.max(first)).collect()
    }

    fn forget_words(&self, words: &Range<u64>) {
        tell(self.remote().fill(self.address + words.start * 8, &[0], (words.end - words.start) * 8));
    }

    fn copy(&self, from: u64, to: u64, count: u64) {
        let is_inside = |first: u64| first.checked_add(count).is_some_and(|end| end <= self.cells);
        if is_inside(from) && is_inside(to) {
            // They may overlap.
            let mut cells = vec![0; (count * self.cell) as usize];
            let _ = self.read_at(from * self.cell, &mut cells) && self.write_at(to * self.cell, &cells);
        }
    }

    fn read(&self, first: u64, bytes: &mut [u8]) {
        let all = self.cells * self.cell;
        let start = (first * self.cell).min(all);
        let (inside, beyond) = bytes.split_at_mut((bytes.len() as u64).min(all - start) as usize);
        self.read_at(start, inside);
        beyond.fill(0);
    }

    fn write(&self, first: u64, bytes: &[u8]) {
        let start = first * self.cell;
        if start.checked_add(bytes.len() as u64).is_some_and(|end| end <= self.cells * self.cell) {
            self.write_at(start, bytes);
        }
    }

    fn change(&self, cell: u64, clear: u8, set: u8) {
        if cell >= self.cells {
            return;
        }
        let _alone = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut byte = [0];
        if self.read_at(cell * self.cell, &mut byte) {
            self.write_at(cell * self.cell, &[byte[0] & !clear | set]);
        }
    }
}
