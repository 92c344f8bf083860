//! Turns functions of a loaded object into jumps, before any of them has run.
//!
//! A function's first five bytes become a jump to a trampoline, which is within reach (2 GiB) of the object and jumps on to
//! anywhere. Memory is never writable and executable at once: the object's code is made writable, changed, and made
//! executable again, while nothing runs in it.
//!
//! nvcc links the runtime into the program by default. We do not play NVIDIA's driver for it: each of its functions,
//! found by name in the symbol table, becomes a jump to ours of the same version. Names must match exactly and the
//! runtime be whole, so that a `cudaCheck` of the user's is left alone. The set of functions tells the version, because
//! all of a runtime is linked or nothing.

use std::fmt;
use std::io::Error as IoError;

use program::Elf;
use program::elf::Segment;
use program::runtime::{FUNCTIONS, Place, StaticRuntime};

use crate::message;

/// `jmp` with a distance of 32 bits.
const JUMP_BYTES: usize = 5;
/// `jmp *0(%rip)` and the address after it, rounded up.
const TRAMPOLINE_BYTES: usize = 16;
/// `endbr64`, which stays in front: processors that check indirect calls want to find it.
const LANDING: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
const PAGE_BYTES: usize = 4096;
const EXECUTE: u32 = 1;
const WRITE: u32 = 2;

/// Why functions were left as they are.
#[derive(Debug)]
pub enum Failure {
    /// The loader has loaded something else than what is in the file now.
    Changed,
    /// There is no place for trampolines within reach.
    NoPlace,
    /// The code cannot be made writable.
    Protected(IoError),
    /// The file says something that cannot be.
    Damaged,
    /// The function has no room for a jump.
    TooSmall(&'static str),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed => f.write_str("the file was changed while it was loaded"),
            Self::NoPlace => f.write_str("there is no free memory near it; link with `-cudart shared`"),
            Self::Protected(error) => {
                write!(f, "its code cannot be changed ({error}); link with `-cudart shared`")
            }
            Self::Damaged => f.write_str("its symbols are damaged"),
            Self::TooSmall(name) => write!(f, "`{name}` is too small; link with `-cudart shared`"),
        }
    }
}

/// The memory with the jumps of one object; it is given back when the object goes.
#[derive(Debug)]
pub struct Trampolines(Mapping);

/// A function to be changed.
struct Patch {
    /// Where it is in the file.
    offset: u64,
    /// Where it is in memory.
    address: usize,
    /// How many bytes it has.
    size: usize,
    /// Where it is to lead to.
    target: usize,
}

/// Makes the functions of a runtime, in an object at `base`, jump to `target`. Nothing is changed if that fails.
pub fn redirect(
    elf: &Elf<'_>,
    base: usize,
    runtime: &StaticRuntime,
    target: impl Fn(usize) -> usize,
) -> Result<Option<Trampolines>, Failure> {
    let Some(segment) = runtime.functions.first().and_then(|place| segment_of(elf, place)) else {
        return Err(Failure::Damaged);
    };
    let mut patches = Vec::with_capacity(runtime.functions.len());
    for place in &runtime.functions {
        let function = FUNCTIONS[place.function];
        if (place.size as usize) < JUMP_BYTES + LANDING.len() {
            // Some functions that nobody calls do nothing but return an error.
            if function.is_documented {
                return Err(Failure::TooSmall(function.name));
            }
            continue;
        }
        if segment_of(elf, place) != Some(segment) {
            return Err(Failure::Damaged);
        }
        let offset = segment.offset + (place.address - segment.address);
        let address = base.checked_add(place.address as usize).ok_or(Failure::Damaged)?;
        patches.push(Patch { offset, address, size: place.size as usize, target: target(place.function) });
    }
    patches.sort_by_key(|patch| patch.address);
    // Functions that were folded into one cannot lead to different places.
    if patches.windows(2).any(|pair| pair[0].address + pair[0].size > pair[1].address) {
        return Err(Failure::Damaged);
    }
    let (Some(first), Some(last)) = (patches.first(), patches.last()) else { return Ok(None) };
    let (start, end) = (first.address, last.address + last.size);
    let code = elf.bytes_at(first.offset, (end - start) as u64).map_err(|_| Failure::Damaged)?;
    let trampolines = trampolines(&patches, start, end)?;
    apply(&patches, &code, start, &trampolines)?;
    Ok(Some(trampolines))
}

/// The part of memory that a function is in, if its code is there and cannot be written to.
fn segment_of(elf: &Elf<'_>, place: &Place) -> Option<Segment> {
    let end = place.address.checked_add(place.size)?;
    elf.segments.iter().copied().find(|segment| {
        place.address >= segment.address
            && segment.address.checked_add(segment.size).is_some_and(|segment_end| end <= segment_end)
            && segment.flags & (EXECUTE | WRITE) == EXECUTE
    })
}

/// Writes the trampolines.
fn trampolines(patches: &[Patch], start: usize, end: usize) -> Result<Trampolines, Failure> {
    let size = (patches.len() * TRAMPOLINE_BYTES).next_multiple_of(PAGE_BYTES);
    let mut mapping = Mapping::near(start, end, size).ok_or(Failure::NoPlace)?;
    for (patch, trampoline) in patches.iter().zip(mapping.bytes_mut().chunks_exact_mut(TRAMPOLINE_BYTES)) {
        trampoline[..6].copy_from_slice(&[0xff, 0x25, 0, 0, 0, 0]);
        trampoline[6..14].copy_from_slice(&patch.target.to_le_bytes());
    }
    protect(mapping.address, size, libc::PROT_READ | libc::PROT_EXEC).map_err(Failure::Protected)?;
    Ok(Trampolines(mapping))
}

/// Writes the jumps, if memory from `start` on has the functions that are in `code`, which is the same part of the file.
fn apply(patches: &[Patch], code: &[u8], start: usize, Trampolines(trampolines): &Trampolines) -> Result<(), Failure> {
    let first_page = start & !(PAGE_BYTES - 1);
    let size = (start + code.len()).next_multiple_of(PAGE_BYTES) - first_page;
    // This fails where there is no memory, which is thereby found out before it is read.
    protect(first_page, size, libc::PROT_READ | libc::PROT_WRITE).map_err(Failure::Protected)?;
    // SAFETY: these pages were just made readable and writable. They are code of an object that no thread runs yet, so that
    // nothing else refers to them.
    let memory = unsafe { std::slice::from_raw_parts_mut(start as *mut u8, code.len()) };
    let function = |patch: &Patch| patch.address - start..patch.address - start + patch.size;
    let is_as_expected = patches.iter().all(|patch| memory[function(patch)] == code[function(patch)]);
    if is_as_expected {
        for (index, patch) in patches.iter().enumerate() {
            let function = &mut memory[function(patch)];
            let skip = if function.starts_with(&LANDING) { LANDING.len() } else { 0 };
            let next = patch.address + skip + JUMP_BYTES;
            let distance = (trampolines.address + index * TRAMPOLINE_BYTES).wrapping_sub(next) as i32;
            function[skip] = 0xe9;
            function[skip + 1..skip + JUMP_BYTES].copy_from_slice(&distance.to_le_bytes());
        }
    }
    if let Err(error) = protect(first_page, size, libc::PROT_READ | libc::PROT_EXEC) {
        message::give_up(&[b"code cannot be made executable again: ", error.to_string().as_bytes()]);
    }
    if is_as_expected { Ok(()) } else { Err(Failure::Changed) }
}

fn protect(address: usize, size: usize, protection: i32) -> Result<(), IoError> {
    // SAFETY: the callers own these pages, or have made sure that nothing runs in them.
    match unsafe { libc::mprotect(address as *mut libc::c_void, size, protection) } {
        0 => Ok(()),
        _ => Err(IoError::last_os_error()),
    }
}

/// Memory of our own.
#[derive(Debug)]
struct Mapping {
    address: usize,
    size: usize,
}

impl Mapping {
    /// Writable memory from which, and to which, a jump reaches all of `start` to `end`. Below the object is better: above
    /// the program begins the heap.
    fn near(start: usize, end: usize, size: usize) -> Option<Self> {
        let distances = [0, 1 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30];
        let below = distances.iter().filter_map(|distance| {
            (start & !(PAGE_BYTES - 1)).checked_sub(size + distance).filter(|&address| address >= 1 << 16)
        });
        let above = distances.iter().filter_map(|distance| end.next_multiple_of(PAGE_BYTES).checked_add(*distance));
        below.chain(above).find_map(|hint| Self::at(hint, size).filter(|mapping| mapping.reaches(start, end)))
    }

    /// Writable memory, at this address if it is free.
    fn at(hint: usize, size: usize) -> Option<Self> {
        // SAFETY: a new mapping that replaces no other.
        let address = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            libc::mmap(hint as *mut libc::c_void, size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        (address != libc::MAP_FAILED).then(|| Self { address: address.addr(), size })
    }

    fn reaches(&self, start: usize, end: usize) -> bool {
        let lowest = self.address.min(start);
        let highest = (self.address + self.size).max(end);
        highest - lowest < i32::MAX as usize
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is ours, and writable until `protect` is called.
        unsafe { std::slice::from_raw_parts_mut(self.address as *mut u8, self.size) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and the object that jumped into it is gone or was never changed.
        unsafe { libc::munmap(self.address as *mut libc::c_void, self.size) };
    }
}
