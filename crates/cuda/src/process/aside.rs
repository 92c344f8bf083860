//! What a signal handler has done aside, by another thread.
//!
//! A signal may come at any moment, when locks are held and memory is being allocated. So a handler only wakes a thread
//! that was started for this, and waits a moment for it.

use std::cell::UnsafeCell;
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};

/// A thread that waits for a handler of signals.
pub(super) struct Aside {
    /// Where the thread is woken. No pipe: the program could close it, and use its number for a file of its own.
    wake: UnsafeCell<MaybeUninit<libc::sem_t>>,
    /// The process that has the thread. A child after `fork` has none.
    owner: AtomicU32,
    /// How often the thread has served.
    served: AtomicU32,
}

// SAFETY: after the semaphore was set up, it is only given to functions that any number of threads may call.
unsafe impl Sync for Aside {}

impl Aside {
    pub(super) const fn new() -> Self {
        Self { wake: UnsafeCell::new(MaybeUninit::uninit()), owner: AtomicU32::new(0), served: AtomicU32::new(0) }
    }

    fn semaphore(&self) -> *mut libc::sem_t {
        self.wake.get().cast()
    }

    /// Starts the thread, which calls `serve` each time it is asked. Called once.
    pub(super) fn start(&'static self, mut serve: impl FnMut() + Send + 'static) -> io::Result<()> {
        // SAFETY: this happens once, before anybody waits.
        if unsafe { libc::sem_init(self.semaphore(), 0, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
        std::thread::Builder::new().name("warpgrind".to_owned()).spawn(move || {
            let _quiet = valgrind::quiet();
            crate::devices::cpu_device::leave_signals_to_the_program();
            loop {
                // SAFETY: it was set up before this thread started.
                while unsafe { libc::sem_wait(self.semaphore()) } != 0 {}
                serve();
                self.served.fetch_add(1, Ordering::AcqRel);
            }
        })?;
        self.owner.store(std::process::id(), Ordering::Release);
        Ok(())
    }

    /// Whether the thread is there, in this process.
    pub(super) fn is_there(&self) -> bool {
        self.owner.load(Ordering::Acquire) == std::process::id()
    }

    /// Has the thread serve, if it is there, and waits for it, but not for ever. One at a time asks. It may be called in
    /// handlers of signals.
    pub(super) fn ask(&self) {
        /// Milliseconds.
        const PATIENCE: u32 = 2000;
        if !self.is_there() {
            return;
        }
        let served = self.served.load(Ordering::Acquire);
        // SAFETY: posting and sleeping are allowed in handlers; the semaphore was set up before the thread was there.
        unsafe {
            libc::sem_post(self.semaphore());
            for _ in 0..PATIENCE {
                if self.served.load(Ordering::Acquire) != served {
                    break;
                }
                libc::usleep(1000);
            }
        }
    }
}
