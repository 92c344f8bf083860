//! What a kernel may write, saved: the objects of the program, wherever they lie.
//!
//! Memory that the program registered, or mapped itself, is part of it: it is read and written by its address, as the
//! kernel does. Buffers are kept from launch to launch, because most of the time of a copy into new memory is the system's.
//!
//! Unsafe: it copies memory by its address. The objects are there as long as the program does not free them, which it may
//! not while a kernel that it launched has not ended.
#![allow(unsafe_code, reason = "it copies memory by its address")]

use std::sync::{Mutex, PoisonError};

use device::Program;
use toolkit::{Accessed, LaunchView, Objects, Reach, Touched};

use crate::device_memory;

/// Objects with what was in them.
#[derive(Debug)]
pub(super) struct Snapshot {
    objects: Vec<Saved>,
}

/// An object that was saved.
#[derive(Debug)]
struct Saved {
    start: u64,
    /// In words.
    name: String,
    buffer: Vec<u8>,
    /// Where in the buffer it begins.
    skipped: usize,
}

/// What was saved is as aligned as the object, up to this: a kernel may run in it.
const ALIGN: usize = 256;

impl Saved {
    fn new((start, length, name): (u64, u64, String), buffers: &SnapshotBuffers) -> Self {
        let mut buffer = buffers.take(length as usize + ALIGN);
        let skipped = (start as usize).wrapping_sub(buffer.as_ptr() as usize) % ALIGN;
        buffer.clear();
        if device_memory::remote().is_some() {
            buffer.resize(skipped + length as usize, 0);
            // SAFETY: the object has so many bytes, and is there.
            give_up(unsafe { device_memory::read(start, &mut buffer[skipped..]) });
            return Self { start, name, buffer, skipped };
        }
        buffer.resize(skipped, 0);
        // SAFETY: the object has so many bytes, and is there. What other threads of the program write meanwhile may be torn, as
        // for any copy of theirs.
        buffer.extend_from_slice(unsafe { std::slice::from_raw_parts(start as *const u8, length as usize) });
        Self { start, name, buffer, skipped }
    }

    /// Where a kernel finds it that is to work in it.
    fn address(&mut self) -> u64 {
        self.buffer.as_mut_ptr().wrapping_add(self.skipped) as u64
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[self.skipped..]
    }
}

/// A device that does not read or write its memory has failed: the copy has said so, and the next launch fails, too.
fn give_up(result: crate::error::Result<()>) {
    let _ = result;
}

/// Buffers that nobody uses.
#[derive(Debug, Default)]
pub(super) struct SnapshotBuffers {
    free: Mutex<Vec<Vec<u8>>>,
}

/// Buffers that are kept have no more bytes together.
const MOST_KEPT: usize = 1 << 30;

impl SnapshotBuffers {
    fn take(&self, bytes: usize) -> Vec<u8> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        // The smallest that is large enough.
        let fits = free.iter().enumerate().filter(|(_, buffer)| buffer.capacity() >= bytes);
        let best = fits.min_by_key(|(_, buffer)| buffer.capacity()).map(|(index, _)| index);
        best.map_or_else(|| Vec::with_capacity(bytes), |index| free.swap_remove(index))
    }

    /// Takes the buffers of a snapshot back.
    pub(super) fn give_back(&self, snapshot: Snapshot) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept: usize = free.iter().map(Vec::capacity).sum();
        for Saved { buffer, .. } in snapshot.objects {
            kept += buffer.capacity();
            if kept <= MOST_KEPT {
                free.push(buffer);
            }
        }
    }
}

/// Whether a pointer may be one into an object. To its end, too: who computes backwards begins there.
fn is_into(pointer: u64, start: u64, bytes: u64) -> bool {
    pointer >= start && pointer - start <= bytes
}

/// The objects that a launch may write: where each begins, its size, and what it is.
pub(super) fn written_objects(
    objects: &Objects,
    writes: &Touched,
    launch: &LaunchView<'_>,
    program: &dyn Program,
) -> Vec<(u64, u64, String)> {
    let all = objects.all();
    let Touched::Only(written) = writes else { return all };
    let is_written = |(start, bytes, _): &(u64, u64, String)| {
        written.iter().any(|place| match place {
            Accessed::Param { param, offset } => {
                launch.pointer(*param, *offset).is_some_and(|pointer| is_into(pointer, *start, *bytes))
            }
            Accessed::Variable(name) => program.variable(name).is_some_and(|(address, _)| address == *start),
        })
    };
    all.into_iter().filter(is_written).collect()
}

impl Snapshot {
    /// Saves objects.
    pub(super) fn save(objects: Vec<(u64, u64, String)>, buffers: &SnapshotBuffers) -> Self {
        Self { objects: objects.into_iter().map(|object| Saved::new(object, buffers)).collect() }
    }

    /// What a launch gets instead of pointers among its parameters to work in what was saved: where each is, and its value.
    /// Nothing if the kernel may get to the objects in another way.
    pub(super) fn redirected(
        &mut self,
        reach: &Reach,
        launch: &LaunchView<'_>,
        program: &dyn Program,
    ) -> Option<Vec<(usize, u64)>> {
        // What is saved is memory of the process.
        if device_memory::remote().is_some() {
            return None;
        }
        let Reach::Only(accessed) = reach else { return None };
        let mut redirected = Vec::new();
        for place in accessed {
            let address = match place {
                Accessed::Param { param, offset } => launch.pointer(*param, *offset)?,
                Accessed::Variable(name) => program.variable(name)?.0,
            };
            let mut saved =
                self.objects.iter_mut().filter(|saved| is_into(address, saved.start, saved.bytes().len() as u64));
            match (place, saved.next(), saved.next()) {
                (_, None, _) => {}
                (Accessed::Param { param, offset }, Some(saved), None) => {
                    let at = launch.layout.get(*param)?.0 as usize + *offset as usize;
                    redirected.push((at, address - saved.start + saved.address()));
                }
                // The end of one and the start of another, or a variable, whose address is part of the kernel.
                _ => return None,
            }
        }
        Some(redirected)
    }

    /// Touched back what was saved.
    pub(super) fn restore(&self) {
        for saved in &self.objects {
            let bytes = saved.bytes();
            // SAFETY: as in `Saved::new`, the other way round.
            give_up(unsafe { device_memory::write(bytes, saved.start) });
        }
    }

    /// Touched back what was saved, and saves what was there, piece by piece, so that each is in the cache for both.
    pub(super) fn exchange(&mut self) {
        const PIECE: usize = 16 << 10;
        /// Of a device that is far away.
        const REMOTE_PIECE: usize = 16 << 20;
        let size = if device_memory::remote().is_some() { REMOTE_PIECE } else { PIECE };
        let mut piece = Vec::new();
        for Saved { start, buffer, skipped, .. } in &mut self.objects {
            for (number, saved) in buffer[*skipped..].chunks_mut(size).enumerate() {
                let at = *start + (number * size) as u64;
                piece.resize(saved.len(), 0);
                // SAFETY: as in `Saved::new`: the pieces are within the object.
                unsafe {
                    give_up(device_memory::read(at, &mut piece));
                    give_up(device_memory::write(saved, at));
                }
                saved.copy_from_slice(&piece);
            }
        }
    }

    /// The first byte that is not as it was saved: the object, where in it, what is there, and what was saved.
    pub(super) fn difference(&self) -> Option<(String, u64, [u8; 2])> {
        self.objects.iter().find_map(|saved @ Saved { start, name, .. }| {
            let bytes = saved.bytes();
            let mut copied = Vec::new();
            let now = match device_memory::remote() {
                Some(_) => {
                    copied.resize(bytes.len(), 0);
                    // SAFETY: as in `Saved::new`.
                    give_up(unsafe { device_memory::read(*start, &mut copied) });
                    &copied[..]
                }
                // SAFETY: as in `Saved::new`; a byte that another thread of the program writes meanwhile is one or the other.
                None => unsafe { std::slice::from_raw_parts(*start as *const u8, bytes.len()) },
            };
            if now == bytes {
                return None;
            }
            let offset = now.iter().zip(bytes).position(|(now, saved)| now != saved)?;
            Some((name.clone(), offset as u64, [now[offset], bytes[offset]]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_comes_back() {
        let buffers = SnapshotBuffers::default();
        let mut memory = vec![1_u8; 100_000];
        let object = (memory.as_mut_ptr() as u64, memory.len() as u64, "an allocation".to_owned());
        let mut snapshot = Snapshot::save(vec![object.clone()], &buffers);
        assert_eq!(snapshot.difference(), None);
        memory[70_000] = 5;
        assert_eq!(snapshot.difference(), Some(("an allocation".to_owned(), 70_000, [5, 1])));
        snapshot.exchange();
        assert_eq!(memory, [1; 100_000]);
        snapshot.exchange();
        assert_eq!((memory[70_000], memory[69_999]), (5, 1));
        memory.fill(9);
        snapshot.restore();
        assert_eq!((memory[0], memory[70_000]), (1, 1));
        buffers.give_back(snapshot);
        assert_eq!(buffers.free.lock().unwrap().len(), 1);
        let again = Snapshot::save(vec![object], &buffers);
        assert!(buffers.free.lock().unwrap().is_empty(), "the buffer is used again");
        buffers.give_back(again);
    }
}
