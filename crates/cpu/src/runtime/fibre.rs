//! Fibres: stacks that compiled code runs on, and the switch between them.
//!
//! A switch saves the registers that a function must preserve, changes the stack and restores: some twenty
//! instructions. Fibres never change their OS thread.
//!
//! A switch ends with a jump, not with a return: processors predict returns from calls, which were on another stack.

use std::arch::naked_asm;
use std::cell::RefCell;
use std::io;

/// A stack with a guard page below it.
#[derive(Debug)]
pub(crate) struct Stack {
    /// There until it is dropped.
    pages: Option<Pages>,
}

/// The memory of a stack, guard included.
#[derive(Debug)]
struct Pages {
    base: *mut u8,
    bytes: usize,
    /// Under Valgrind, what it knows of the stack.
    _registered: Option<valgrind::Stack>,
}

/// What lies below a stack, so that running out of it is a fault and no corruption.
const GUARD: usize = 64 << 10;

/// How many stacks a thread keeps for the next launch, and how large these may be.
const KEPT_STACKS: usize = 128;
const LARGEST_KEPT: usize = GUARD + (1 << 20);

thread_local! {
    /// Stacks that nobody runs on. To make one takes longer than a small kernel.
    static KEPT: RefCell<Vec<Pages>> = const { RefCell::new(Vec::new()) };
}

impl Stack {
    /// Memory is only used as far as the stack grows.
    pub(crate) fn new(bytes: usize) -> io::Result<Self> {
        // In few sizes, so that kernels find the stacks of others.
        let bytes = bytes.next_power_of_two().max(4096) + GUARD;
        let kept = KEPT.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            let place = kept.iter().rposition(|pages| pages.bytes == bytes)?;
            Some(kept.swap_remove(place))
        });
        let pages = match kept {
            Ok(Some(pages)) => pages,
            _ => Pages::new(bytes)?,
        };
        Ok(Self { pages: Some(pages) })
    }

    fn pages(&self) -> &Pages {
        self.pages.as_ref().expect("the memory is there until the stack is dropped")
    }

    /// The lowest address that can be used.
    pub(crate) fn bottom(&self) -> *mut u8 {
        // SAFETY: within the mapping, above the guard.
        unsafe { self.pages().base.add(GUARD) }
    }

    /// Whether an address is in the guard below the stack.
    pub(crate) fn is_overflow(&self, address: usize) -> bool {
        let base = self.pages().base as usize;
        (base..base + GUARD).contains(&address)
    }

    /// A saved stack pointer from which [`switch`] starts `entry`, which must never return.
    pub(crate) fn prepare(&self, entry: extern "C" fn() -> !) -> *mut u8 {
        let Pages { base, bytes, .. } = *self.pages();
        // SAFETY: all words written are within the mapping, below its end and far above the guard.
        unsafe {
            let mut top = base.add(bytes).cast::<usize>();
            // As after a call: the stack is aligned before the return address is pushed.
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
        let pages = self.pages.take();
        // Where the thread is about to end, or has enough, they are given back.
        let _ = KEPT.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            if kept.len() < KEPT_STACKS {
                kept.extend(pages.filter(|pages| pages.bytes <= LARGEST_KEPT));
            }
        });
    }
}

impl Pages {
    fn new(bytes: usize) -> io::Result<Self> {
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
        let start = base as u64 + GUARD as u64;
        let registered = valgrind::register_stack(start, start + (bytes - GUARD) as u64);
        let pages = Self { base: base.cast(), bytes, _registered: registered };
        // SAFETY: the lowest pages of the mapping just made.
        if unsafe { libc::mprotect(base, GUARD, libc::PROT_NONE) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(pages)
    }
}

impl Drop for Pages {
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
        // Processors foresee where a `ret` leads from the calls before it, which were on another stack.
        "pop rcx",
        "jmp rcx",
    )
}
