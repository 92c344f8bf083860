//! What is done when a signal ends the process.
//!
//! A signal may come at any moment, when locks are held and memory is being allocated. So the handler only wakes a thread
//! that was started for this, waits a moment for it, and lets the signal do what it does.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

/// Signals that end a process unless it says otherwise.
const SIGNALS: [i32; 9] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGABRT,
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
];

/// Where the thread is woken. No pipe: the program could close it, and use its number for a file of its own.
static WAKE: Wake = Wake(UnsafeCell::new(MaybeUninit::uninit()));
/// The process that has the thread. A child after `fork` has none.
static OWNER: AtomicU32 = AtomicU32::new(0);
static IS_DYING: AtomicBool = AtomicBool::new(false);
/// The signal.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
static IS_DONE: AtomicBool = AtomicBool::new(false);

/// A semaphore.
struct Wake(UnsafeCell<MaybeUninit<libc::sem_t>>);

// SAFETY: after it was set up, it is only given to functions that any number of threads may call.
unsafe impl Sync for Wake {}

impl Wake {
    fn semaphore(&self) -> *mut libc::sem_t {
        self.0.get().cast()
    }
}

/// Calls `last_words` with the signal, on a thread of its own, when one is about to end the process. Signals for which the program has
/// handlers are left to these.
pub(crate) fn watch(last_words: impl FnOnce(i32) + Send + 'static) {
    // SAFETY: this happens once, before anybody waits.
    if unsafe { libc::sem_init(WAKE.semaphore(), 0, 0) } != 0 {
        return;
    }
    let thread = std::thread::Builder::new().name("warpgrind".to_owned()).spawn(move || {
        crate::devices::cpu_device::leave_signals_to_the_program();
        // SAFETY: it was set up before this thread started.
        while unsafe { libc::sem_wait(WAKE.semaphore()) } != 0 {}
        last_words(SIGNAL.load(Ordering::Acquire));
        IS_DONE.store(true, Ordering::Release);
    });
    if thread.is_err() {
        return;
    }
    OWNER.store(std::process::id(), Ordering::Release);
    for signal in SIGNALS {
        // SAFETY: the handler does nothing that must not be done in one.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &raw mut before) != 0 || before.sa_sigaction != libc::SIG_DFL {
                continue;
            }
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as *const () as usize;
            action.sa_flags = libc::SA_ONSTACK;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

extern "C" fn on_signal(signal: i32) {
    /// Milliseconds.
    const PATIENCE: u32 = 2000;
    if OWNER.load(Ordering::Acquire) == std::process::id() && !IS_DYING.swap(true, Ordering::AcqRel) {
        SIGNAL.store(signal, Ordering::Release);
        // SAFETY: posting and sleeping are allowed in handlers; there is no handler before the semaphore was set up.
        unsafe {
            libc::sem_post(WAKE.semaphore());
            for _ in 0..PATIENCE {
                if IS_DONE.load(Ordering::Acquire) {
                    break;
                }
                libc::usleep(1000);
            }
        }
    }
    // SAFETY: both may be called in a handler. The signal comes again when the handler returns.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}
