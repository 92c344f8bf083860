//! Fibres: stacks that compiled code runs on, and the switch between them.
//!
//! A switch saves the registers that a function must preserve, changes the stack and restores: some twenty
//! instructions. Fibres never change their OS thread.

use std::arch::naked_asm;
use std::io;

/// A stack with a guard page below it.
#[derive(Debug)]
pub(crate) struct Stack {
    base: *mut u8,
    bytes: usize,
}

/// What lies below a stack, so that running out of it is a fault and no corruption.
const GUARD: usize = 64 << 10;

impl Stack {
    /// Memory is only used as far as the stack grows.
    pub(crate) fn new(bytes: usize) -> io::Result<Self> {
        let bytes = bytes.next_multiple_of(4096) + GUARD;
        // SAFETY: a new private mapping at an address that the system chooses.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let stack = Self { base: base.cast(), bytes };
        // SAFETY: the lowest pages of the mapping just made.
        if unsafe { libc::mprotect(base, GUARD, libc::PROT_NONE) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(stack)
    }

    /// The lowest address that can be used.
    pub(crate) fn bottom(&self) -> *mut u8 {
        // SAFETY: within the mapping, above the guard.
        unsafe { self.base.add(GUARD) }
    }

    /// Whether an address is in the guard below the stack.
    pub(crate) fn is_overflow(&self, address: usize) -> bool {
        (self.base as usize..self.base as usize + GUARD).contains(&address)
    }

    /// A saved stack pointer from which [`switch`] starts `entry`, which must never return.
    pub(crate) fn prepare(&self, entry: extern "C" fn() -> !) -> *mut u8 {
        // SAFETY: all words written are within the mapping, below its end and far above the guard.
        unsafe {
            let mut top = self.base.add(self.bytes).cast::<usize>();
            // As behind a call: the stack is aligned before the return address is pushed.
            top = top.sub(1);
            *top = 0;
            top = top.sub(1);
            *top = entry as usize;
            for _ in 0..6 {
                top = top.sub(1);
                *top = 0;
            }
            top.cast()
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody runs on a stack that is dropped.
        unsafe { libc::munmap(self.base.cast(), self.bytes) };
    }
}

/// Saves the running stack in `save` and goes on with `to`.
///
/// # Safety
/// `to` was saved by `switch`, or made by [`Stack::prepare`], and has not been gone on with since; `save` can be written.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn switch(save: *mut *mut u8, to: *mut u8) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}
