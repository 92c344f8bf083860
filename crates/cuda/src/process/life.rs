//! Whether the process is one that CUDA can be used in: it is not about to end, and no copy of one that has used it.
//!
//! While a process ends, other threads go on, and may call CUDA while the destructors of the libraries run that we need. They
//! get an error, as from NVIDIA's runtime. The thread that ends the process is served to the end: destructors of programs
//! free memory.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Once, OnceLock};
use std::time::{Duration, Instant};

use crate::devices::cpu_device;
use crate::error::{CudaError, Result};

const USABLE: u8 = 0;
/// Somebody has called `exit`, or returned from `main`.
const ENDING: u8 = 1;
/// It is the child of `fork`: none of our threads is here.
const FORKED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(USABLE);
/// The process that uses CUDA.
static PROCESS: AtomicU32 = AtomicU32::new(0);
static FORKS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static ENDS_PROCESS: Cell<bool> = const { Cell::new(false) };
}

/// Functions that need nothing of the process.
const ALWAYS: [&str; 6] = [
    "cuGetErrorName",
    "cuGetErrorString",
    "cuDriverGetVersion",
    "cudaDriverGetVersion",
    "cudaRuntimeGetVersion",
    "cuGetProcAddress_v2",
];

// The static variables of C++ register their destructors by this function, at their first use, so that they would run before
// `on_exit` while other threads still compile kernels. In release builds LLVM and the library of C++ are a part of this
// library: theirs never run, because the process ends anyway. Nobody else sees the function.
std::arch::global_asm!(
    ".globl __cxa_atexit",
    ".hidden __cxa_atexit",
    ".type __cxa_atexit, @function",
    "__cxa_atexit:",
    "xor eax, eax",
    "ret",
);

unsafe extern "C" {
    /// Not `atexit`, which is made of the function above.
    #[link_name = "on_exit"]
    fn libc_on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// Watches the process from now on. The libraries that we need have been loaded: their destructors come after our
/// function.
pub(crate) fn watch() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        PROCESS.store(std::process::id(), Ordering::Relaxed);
        // SAFETY: both functions only set values. They stay: the library is never unloaded.
        unsafe {
            libc_on_exit(on_exit, std::ptr::null_mut());
            libc::pthread_atfork(None, None, Some(on_fork));
        }
    });
}

/// What is done before the process ends, within some time: waits for work that the program has not waited for itself.
static BEFORE_THE_END: OnceLock<fn(Instant) -> bool> = OnceLock::new();

/// Has something done before the process ends.
pub(crate) fn before_the_end(action: fn(Instant) -> bool) {
    let _ = BEFORE_THE_END.set(action);
}

/// An error if a function cannot be called, or not on this thread.
pub(crate) fn check(function: &str) -> Result<()> {
    match STATE.load(Ordering::Relaxed) {
        USABLE => Ok(()),
        _ if ALWAYS.contains(&function) => Ok(()),
        FORKED => Err(CudaError::NOT_INITIALIZED),
        _ if ENDS_PROCESS.get() => Ok(()),
        _ => Err(CudaError::DEINITIALIZED),
    }
}

/// Waits for work that the program has not waited for itself, until some time; whether it has ended. Nothing is known of it
/// without tools.
pub(crate) fn settle(deadline: Instant) -> bool {
    BEFORE_THE_END.get().is_some_and(|settle| settle(deadline))
}

/// This is the child of a fork of ours, and uses CUDA as its parent did. No thread was at work.
pub(super) fn take_over() {
    STATE.store(USABLE, Ordering::Relaxed);
    PROCESS.store(std::process::id(), Ordering::Relaxed);
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Whether CUDA was started in another process, of which this one is a copy.
pub(crate) fn is_copy() -> bool {
    PROCESS.load(Ordering::Relaxed) != std::process::id()
}

/// How many forks of ours lie between the process in which CUDA was started and this one, which has none of its threads.
pub(crate) fn forks() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// Ends the process, with nothing of what comes at the end of one: it would wait for work that does not end.
pub(crate) fn leave() -> ! {
    // SAFETY: nobody is there any more who could notice.
    unsafe { libc::_exit(0) }
}

/// How long that may take.
const PATIENCE: Duration = Duration::from_secs(60);

extern "C" fn on_exit(_: c_int, _: *mut c_void) {
    ENDS_PROCESS.set(true);
    cpu_device::begin_to_end();
    if let Some(&before_the_end) = BEFORE_THE_END.get()
        && STATE.load(Ordering::Relaxed) == USABLE
    {
        before_the_end(Instant::now() + PATIENCE);
    }
    let was = STATE.compare_exchange(USABLE, ENDING, Ordering::Relaxed, Ordering::Relaxed);
    if was.is_ok() {
        cpu_device::stop_compiling();
    }
}

unsafe extern "C" fn on_fork() {
    STATE.store(FORKED, Ordering::Relaxed);
}
