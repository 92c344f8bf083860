//! What is done when a signal ends the process.
//!
//! The handler has the last words written [aside](super::aside), and lets the signal do what it does.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use super::aside::Aside;

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

static ASIDE: Aside = Aside::new();
static IS_DYING: AtomicBool = AtomicBool::new(false);
/// The signal.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Calls `last_words` with the signal, on a thread of its own, when one is about to end the process. Signals for which the program has
/// handlers are left to these.
pub(crate) fn watch(last_words: impl FnOnce(i32) + Send + 'static) {
    let mut last_words = Some(last_words);
    let started = ASIDE.start(move || {
        if let Some(last_words) = last_words.take() {
            last_words(SIGNAL.load(Ordering::Acquire));
        }
    });
    if started.is_err() {
        return;
    }
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
    if ASIDE.is_there() && !IS_DYING.swap(true, Ordering::AcqRel) {
        SIGNAL.store(signal, Ordering::Release);
        ASIDE.ask();
    }
    // SAFETY: both may be called in a handler. The signal comes again when the handler returns.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}
