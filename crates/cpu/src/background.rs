//! Work that nobody waits for: one thing after another, on one thread.
//!
//! LLVM cannot be interrupted, and must not be at work when the process takes it down. So when the process ends, what waits
//! is dropped, and what is under way is waited for. That is never longer than the process has run: nothing is started
//! before its kernel has run for as long as it will take (`tiered_kernel`).
//!
//! LLVM has objects that it makes when it first needs them, and whose destructors come before whatever was to be done at the end
//! of the process by then. So that is said anew after each work, and the first one is not waited for without a limit. Libraries
//! that LLVM is a part of do not run its destructors.

use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::compiler::{self, PATIENCE};

type Work = Box<dyn FnOnce() + Send>;

struct Background {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    waiting: VecDeque<Work>,
    is_started: bool,
    is_busy: bool,
    is_closed: bool,
}

static BACKGROUND: Background = Background {
    state: Mutex::new(State { waiting: VecDeque::new(), is_started: false, is_busy: false, is_closed: false }),
    changed: Condvar::new(),
};

/// The process in which the thread runs. A child that was forked has none.
static PROCESS: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" {
    /// Not `atexit`, which is made of `__cxa_atexit`: libraries that LLVM is a part of may have one of their own, so that its
    /// destructors do not run.
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// Does something later. Nothing is done where no thread can be started.
pub(crate) fn start(work: impl FnOnce() + Send + 'static) {
    let mut state = BACKGROUND.state();
    if state.is_closed {
        return;
    }
    if !state.is_started {
        let named = std::thread::Builder::new().name("warpgrind-compiler".to_owned());
        if named
            .spawn(|| {
                let _quiet = valgrind::quiet();
                BACKGROUND.serve();
            })
            .is_err()
        {
            return;
        }
        close_at_exit();
        PROCESS.store(std::process::id(), Ordering::Relaxed);
        state.is_started = true;
    }
    state.waiting.push_back(Box::new(work));
    drop(state);
    BACKGROUND.changed.notify_all();
}

/// Waits at the end of the process, before what LLVM has to do there as far as it knows by now.
fn close_at_exit() {
    // SAFETY: the function may be called at the end of the process, and more than once.
    unsafe { on_exit(close, std::ptr::null_mut()) };
}

/// Called when the process ends.
extern "C" fn close(_: c_int, _: *mut c_void) {
    if PROCESS.load(Ordering::Relaxed) != std::process::id() {
        return;
    }
    compiler::begin_to_end();
    let mut state = BACKGROUND.state();
    // Once is enough, also if it was in vain.
    if std::mem::replace(&mut state.is_closed, true) {
        return;
    }
    // What work holds may have a way of its own to go; there is no need for it now.
    std::mem::forget(std::mem::take(&mut state.waiting));
    let _ended = BACKGROUND.changed.wait_timeout_while(state, PATIENCE, |state| state.is_busy);
}

impl Background {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self) {
        let mut state = self.state();
        loop {
            while state.waiting.is_empty() {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let Some(work) = state.waiting.pop_front() else { continue };
            state.is_busy = true;
            drop(state);
            // A panic has been reported; others may still want something.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            close_at_exit();
            state = self.state();
            state.is_busy = false;
            self.changed.notify_all();
        }
    }
}
