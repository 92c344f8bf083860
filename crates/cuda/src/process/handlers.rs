//! Handlers of signals that the program has installed.

use std::mem::MaybeUninit;

/// What the processor raises: it cannot wait.
const FAULTS: [libc::c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];

/// Runs something on a thread of the program while signals wait that the program handles: its handlers would run on the stacks of
/// a kernel. What nobody handles ends the process, as always.
pub(crate) fn without<T>(run: impl FnOnce() -> T) -> T {
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sets are filled before they are used, and blocking signals of one's own thread is always possible.
    unsafe {
        let mut handled = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(handled.as_mut_ptr());
        for signal in (1..=libc::SIGRTMAX()).filter(|signal| !FAULTS.contains(signal)) {
            let mut action: libc::sigaction = std::mem::zeroed();
            let is_known = libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0;
            if is_known && ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction) {
                libc::sigaddset(handled.as_mut_ptr(), signal);
            }
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, handled.as_ptr(), before.as_mut_ptr());
    }
    let result = run();
    // SAFETY: it is what the thread had before.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    result
}
