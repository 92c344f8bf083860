//! The memory of this library, apart from the C library's.
//!
//! The loader calls us before the program's libraries are there. Under Valgrind, `malloc` of every C library in the process is
//! another one as soon as Valgrind's own library is loaded, and would be given back what the first one gave. So ours comes
//! from the kernel: pieces of a power of two from blocks of a megabyte, and what is larger by itself. Little is allocated, and
//! most of it once.

use std::alloc::{GlobalAlloc, Layout};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

/// All memory of this library.
struct Memory {
    is_held: AtomicBool,
    state: std::cell::UnsafeCell<State>,
}

struct State {
    /// What is left of the block that pieces are cut from.
    next: usize,
    end: usize,
    /// Pieces that were given back, of each size: each begins with the address of the next.
    free: [usize; CLASSES],
}

/// The smallest piece, and how many sizes there are.
const SMALLEST: usize = 16;
const CLASSES: usize = 12;
/// What is larger than the largest piece is mapped by itself.
const LARGEST: usize = SMALLEST << (CLASSES - 1);
const BLOCK: usize = 1 << 20;

#[global_allocator]
static MEMORY: Memory = Memory {
    is_held: AtomicBool::new(false),
    state: std::cell::UnsafeCell::new(State { next: 0, end: 0, free: [0; CLASSES] }),
};

// SAFETY: the state is touched only by whoever holds the lock.
unsafe impl Sync for Memory {}

impl Memory {
    fn with<R>(&self, act: impl FnOnce(&mut State) -> R) -> R {
        while self.is_held.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            std::hint::spin_loop();
        }
        // SAFETY: the lock is held.
        let result = act(unsafe { &mut *self.state.get() });
        self.is_held.store(false, Ordering::Release);
        result
    }
}

/// Which pieces an allocation is one of.
fn class(layout: &Layout) -> Option<usize> {
    let bytes = layout.size().max(layout.align()).max(SMALLEST).next_power_of_two();
    (bytes <= LARGEST).then(|| (bytes / SMALLEST).trailing_zeros() as usize)
}

/// Pages of the kernel; null if there are none.
fn map(bytes: usize) -> *mut u8 {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, which replaces no other.
    let pages = unsafe { libc::mmap(null_mut(), bytes, protection, flags, -1, 0) };
    if pages == libc::MAP_FAILED { null_mut() } else { pages.cast() }
}

// SAFETY: pieces are aligned to their size, as blocks are to pages, and no two overlap; pages are aligned to themselves.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(class) = class(&layout) else {
            // Nothing here is aligned to more than a page.
            return if layout.align() > 4096 { null_mut() } else { map(layout.size()) };
        };
        let bytes = SMALLEST << class;
        self.with(|state| {
            let piece = state.free[class];
            if piece != 0 {
                // SAFETY: a piece that was given back begins with the address of the next.
                state.free[class] = unsafe { *(piece as *const usize) };
                return piece as *mut u8;
            }
            let mut start = state.next.next_multiple_of(bytes);
            if state.next == 0 || start + bytes > state.end {
                let block = map(BLOCK).addr();
                if block == 0 {
                    return null_mut();
                }
                // Blocks begin at pages, which are smaller than the largest pieces.
                start = block.next_multiple_of(bytes);
                state.end = block + BLOCK;
            }
            state.next = start + bytes;
            start as *mut u8
        })
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        match class(&layout) {
            Some(class) => self.with(|state| {
                // SAFETY: nobody has the piece any more, and it has room for an address.
                unsafe { *address.cast::<usize>() = state.free[class] };
                state.free[class] = address.addr();
            }),
            // SAFETY: these pages were mapped for it alone.
            None => _ = unsafe { libc::munmap(address.cast(), layout.size()) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_overlap_and_are_used_again() {
        let memory = Memory {
            is_held: AtomicBool::new(false),
            state: std::cell::UnsafeCell::new(State { next: 0, end: 0, free: [0; CLASSES] }),
        };
        let mut taken = Vec::new();
        for nth in 0..4000_usize {
            let layout = Layout::from_size_align(1 + nth * 37 % 100_000, 1 << (nth % 5)).expect("it is small");
            // SAFETY: the layout is not empty.
            let start = unsafe { memory.alloc(layout) };
            assert!(!start.is_null() && start.addr().is_multiple_of(layout.align()));
            // SAFETY: it has that many bytes.
            unsafe { start.write_bytes(nth as u8, layout.size()) };
            taken.push((start, layout, nth as u8));
        }
        for (start, layout, byte) in taken {
            // SAFETY: it was written above, and is given back once.
            unsafe {
                assert!(std::slice::from_raw_parts(start, layout.size()).iter().all(|&found| found == byte));
                memory.dealloc(start, layout);
            }
        }
        let layout = Layout::from_size_align(100, 8).expect("it is small");
        // SAFETY: the layout is not empty, and what is taken is given back.
        unsafe {
            let first = memory.alloc(layout);
            memory.dealloc(first, layout);
            assert_eq!(memory.alloc(layout), first);
        }
    }
}
