//! Accesses of the program's own code to device memory, which [`device_access`] keeps it from.
//!
//! They are signals, and go on as such when they were told: on a machine with a GPU the program would have ended, too.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::aside::Aside;
use super::device_access;
use crate::devices::cpu_device::{ProgramFault, on_program_fault};

/// An access of the program's own code to device memory.
#[derive(Debug)]
pub(crate) struct HostAccess {
    pub(crate) address: u64,
    pub(crate) is_write: bool,
    /// Where the calls of the thread return to, from the innermost on.
    pub(crate) calls: Box<[usize]>,
}

static ASIDE: Aside = Aside::new();
/// Where device memory begins and ends.
static ARENA: OnceLock<(u64, u64)> = OnceLock::new();
/// Whether somebody writes or has written what follows, and nobody has read it.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);
static ADDRESS: AtomicU64 = AtomicU64::new(0);
static IS_WRITE: AtomicBool = AtomicBool::new(false);
static CALLS: [AtomicUsize; MOST_CALLS] = [const { AtomicUsize::new(0) }; MOST_CALLS];
static COUNT: AtomicUsize = AtomicUsize::new(0);

const MOST_CALLS: usize = 64;

/// Calls `tell`, on a thread of its own, for accesses of the program's own code to device memory, which begins at an address
/// and has so many bytes.
pub(crate) fn watch((start, bytes): (u64, u64), mut tell: impl FnMut(&HostAccess) + Send + 'static) {
    let started = ASIDE.start(move || {
        let calls = CALLS[..COUNT.load(Ordering::Acquire)].iter().map(|call| call.load(Ordering::Relaxed));
        tell(&HostAccess {
            address: ADDRESS.load(Ordering::Relaxed),
            is_write: IS_WRITE.load(Ordering::Relaxed),
            calls: calls.collect(),
        });
    });
    if started.is_ok() && ARENA.set((start, start + bytes)).is_ok() {
        on_program_fault(on_fault);
    }
}

/// Runs in handlers of signals.
fn on_fault(fault: &ProgramFault) {
    let address = fault.address as u64;
    let is_in_arena = ARENA.get().is_some_and(|&(start, end)| (start..end).contains(&address));
    let has_key = fault.protection_key.is_some() && fault.protection_key == device_access::key();
    if !is_in_arena && !has_key || !take() {
        return;
    }
    ADDRESS.store(address, Ordering::Relaxed);
    IS_WRITE.store(fault.is_write, Ordering::Relaxed);
    COUNT.store(take_calls(fault.instruction), Ordering::Release);
    ASIDE.ask();
    IS_TAKEN.store(false, Ordering::Release);
}

/// Waits until nobody else tells of an access, but not for ever.
fn take() -> bool {
    /// Milliseconds.
    const PATIENCE: u32 = 2000;
    (0..PATIENCE).any(|_| {
        let is_free = !IS_TAKEN.swap(true, Ordering::Acquire);
        if !is_free {
            // SAFETY: sleeping is allowed in handlers of signals.
            unsafe { libc::usleep(1000) };
        }
        is_free
    })
}

/// Writes the calls down that this thread is in, from an instruction on that a signal has interrupted; how many.
fn take_calls(instruction: usize) -> usize {
    // Calls return to after where they are; the access is where it is.
    CALLS[0].store(instruction + 1, Ordering::Relaxed);
    let mut count = 0;
    // SAFETY: on Linux it is nothing but the unwinder, which any number of threads may call, also in handlers.
    unsafe {
        backtrace::trace_unsynchronized(|frame| {
            let address = frame.ip() as usize;
            if count > 0 {
                CALLS[count].store(address, Ordering::Relaxed);
                count += 1;
            } else if address == instruction {
                // What came before are handlers.
                count = 1;
            }
            count < MOST_CALLS
        });
    }
    count.max(1)
}
