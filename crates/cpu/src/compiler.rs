//! A thread of its own for each compilation.
//!
//! LLVM recurses deeply on large functions, so the thread has a large stack. And LLVM ends the process when it meets
//! something that it cannot do. Here that only ends the thread, or rather stops it: it is never gone on with, what it
//! holds is lost, and the kernel is refused with LLVM's words.

use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use llvm_sys::error_handling::LLVMInstallFatalErrorHandler;

use crate::runtime::signals::on_fault;

/// The stack of the thread. Memory is only used as far as the stack grows.
const STACK: usize = 512 << 20;

/// What became of a compilation, besides its result.
#[derive(Debug, Default)]
pub(crate) struct Fate {
    state: AtomicU32,
    message: Mutex<String>,
}

/// The thread goes on.
const RUNNING: u32 = 0;
/// LLVM gave up, and said why.
const FATAL: u32 = 1;
/// The processor stopped LLVM.
const CRASHED: u32 = 2;

thread_local! {
    static FATE: Cell<*const Fate> = const { Cell::new(std::ptr::null()) };
}

/// Compilations that are under way, and whether there may be new ones.
static UNDER_WAY: Mutex<UnderWay> = Mutex::new(UnderWay { count: 0, is_over: false });
static HAS_ENDED: Condvar = Condvar::new();

#[derive(Debug)]
struct UnderWay {
    count: usize,
    is_over: bool,
}

/// One compilation that is under way.
struct Entered;

impl Entered {
    /// Nothing if there may be none any more.
    fn new() -> Option<Self> {
        let mut under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        if under_way.is_over {
            return None;
        }
        under_way.count += 1;
        Some(Self)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).count -= 1;
        HAS_ENDED.notify_all();
    }
}

/// How long the end of the process waits for a compilation: one that LLVM's own destructors have taken something from may never
/// end. In test builds, where LLVM is a library of its own, that happens.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Whether the process has begun to end. Its work goes on to be compiled until it is [over](stop_compiling).
static ENDS: AtomicBool = AtomicBool::new(false);

/// The process begins to end.
pub fn begin_to_end() {
    ENDS.store(true, Ordering::Relaxed);
}

/// Whether the process ends, or begins to in a moment, for when a kernel could not be compiled: where LLVM is a library of its
/// own, as in test builds, its destructors may come first at the end, and take away what others compile with.
pub fn ends_soon() -> bool {
    const MOMENT: Duration = Duration::from_millis(500);
    let begun = Instant::now();
    loop {
        let ends = ENDS.load(Ordering::Relaxed);
        if ends || begun.elapsed() > MOMENT {
            return ends;
        }
        std::thread::sleep(MOMENT / 50);
    }
}

/// The process ends: nothing is compiled any more. Waits for what is under way, because LLVM's own destructors come next, but
/// not for ever.
pub fn stop_compiling() {
    let mut under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    under_way.is_over = true;
    let _ = HAS_ENDED.wait_timeout_while(under_way, PATIENCE, |under_way| under_way.count > 0);
}

/// Runs a compilation. An error is what LLVM said before it gave up.
pub(crate) fn run<T: Send + 'static>(compile: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    static ONCE: Once = Once::new();
    let Some(entered) = Entered::new() else {
        return Err("the process ends, so nothing is compiled any more".to_owned());
    };
    // SAFETY: the handler never returns on threads that compile, which is what LLVM asks for.
    ONCE.call_once(|| unsafe { LLVMInstallFatalErrorHandler(Some(give_up)) });
    let fate = Arc::new(Fate::default());
    let (sender, receiver) = mpsc::sync_channel(1);
    let of_thread = Arc::clone(&fate);
    let thread = std::thread::Builder::new().name("compile".to_owned()).stack_size(STACK).spawn(move || {
        let _quiet = valgrind::quiet();
        FATE.set(Arc::as_ptr(&of_thread));
        on_fault(Some(stop_if_compiling));
        // Where nobody waits any more, the result is not needed.
        let _ = sender.send(compile());
        FATE.set(std::ptr::null());
        drop(entered);
    });
    let thread = match thread {
        Ok(thread) => thread,
        Err(error) => return Err(format!("no thread could be started to compile the kernel: {error}")),
    };
    loop {
        match receiver.recv_timeout(Duration::from_millis(50)) {
            Ok(result) => {
                // Only threads on which LLVM gave up are left behind.
                let _ = thread.join();
                return Ok(result);
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err("the compiler stopped because of a bug of ours".to_owned());
            }
            Err(RecvTimeoutError::Timeout) => {
                let error = match fate.state.load(Ordering::Acquire) {
                    RUNNING => continue,
                    FATAL => fate.message.lock().unwrap_or_else(PoisonError::into_inner).clone(),
                    _ => "LLVM crashed on the kernel".to_owned(),
                };
                // The thread is never gone on with, so nobody waits for it.
                drop(Entered);
                return Err(error);
            }
        }
    }
}

/// What LLVM calls when it cannot go on.
extern "C" fn give_up(reason: *const c_char) {
    let fate = FATE.get();
    // SAFETY: LLVM passes a string; the fate is alive as long as its thread runs the compilation.
    unsafe {
        let Some(fate) = fate.as_ref() else { return };
        let text = CStr::from_ptr(reason).to_string_lossy().into_owned();
        *fate.message.lock().unwrap_or_else(PoisonError::into_inner) = text;
        fate.state.store(FATAL, Ordering::Release);
    }
    stop()
}

/// Called when the processor raised a fault: does not return if this thread compiles.
fn stop_if_compiling() {
    let fate = FATE.get();
    // SAFETY: as in `give_up`. Only an atomic is written, because a signal may come at any moment.
    if let Some(fate) = unsafe { fate.as_ref() } {
        fate.state.store(CRASHED, Ordering::Release);
        stop()
    }
}

fn stop() -> ! {
    loop {
        // SAFETY: waits for a signal, for ever.
        unsafe { libc::pause() };
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_crash_of_the_compiler_is_an_error() {
        // SAFETY: this is the crash that is wanted.
        let result = super::run(|| unsafe { std::ptr::without_provenance::<u32>(64).read_volatile() });
        assert_eq!(result, Err("LLVM crashed on the kernel".to_owned()));
    }

    #[test]
    fn a_fatal_error_of_llvm_is_an_error() {
        let result = super::run(|| super::give_up(c"no such thing".as_ptr()));
        assert_eq!(result, Err("no such thing".to_owned()));
    }

    #[test]
    fn results_come_back() {
        assert_eq!(super::run(|| 7), Ok(7));
    }
}
