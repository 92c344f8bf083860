//! Faults of the processor: an access to memory that is not there, or a stack that is used up.
//!
//! While compiled code runs, a fault is the fault of a kernel. The handler changes the interrupted context so that, when
//! it returns, the worker goes on elsewhere, on a stack of its own, where it ends the launch. The fibre is not gone on
//! with. All other faults go to whoever handled them before, and so do signals that somebody sends: they end the program if
//! they did so without us.
//!
//! The same way leads out of a kernel that does not end: a watchdog sends a signal to its thread. Nobody else's signal of
//! that kind is taken for it, and there is no handler as long as there is no watchdog.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};
use std::time::{Duration, Instant};

use super::fibre::Stack;

/// The signals that processors raise.
const FAULTS: [libc::c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];
/// Sent to a thread whose kernel takes too long. Ignored by default, and used by nearly nobody.
const WATCHDOG: libc::c_int = libc::SIGURG;

/// What a thread must know when a signal comes. Lives in the worker.
#[derive(Debug)]
pub(crate) struct Landing {
    /// Where the thread goes on after a fault: a function, and its stack.
    land: extern "C" fn() -> !,
    stack: Stack,
    /// Where signals are handled: the stack of a fibre may be used up.
    signal_stack: Stack,
    activity: Cell<Activity>,
    caught: Cell<Option<Caught>>,
}

/// What led to a landing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Caught {
    /// The kernel takes too long.
    Watchdog,
    /// A fault of the processor, at an address.
    Fault { address: usize },
}

/// What a thread does that runs a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Activity {
    /// Our own code, in which a fault would be our bug.
    Runtime,
    /// Our own code, reading memory at addresses that the kernel gave.
    Reading,
    /// The code of the kernel.
    Kernel,
}

/// Stacks for handling signals: the registers of a processor alone take several kilobytes.
const SIGNAL_STACK: usize = 64 << 10;

thread_local! {
    /// Whether the watchdog of this thread has sent a signal; null if there is none.
    static IS_OVERDUE: Cell<*const AtomicBool> = const { Cell::new(ptr::null()) };
    /// Who wants to know first of faults that are not those of a kernel.
    static ON_FAULT: Cell<Option<fn()>> = const { Cell::new(None) };
    static LANDING: Cell<*const Landing> = const { Cell::new(ptr::null()) };
}

impl Landing {
    pub(crate) fn new(land: extern "C" fn() -> !) -> std::io::Result<Self> {
        install();
        Ok(Self {
            land,
            stack: Stack::new(SIGNAL_STACK)?,
            signal_stack: Stack::new(SIGNAL_STACK)?,
            activity: Cell::new(Activity::Runtime),
            caught: Cell::new(None),
        })
    }

    /// Whether a signal that comes now is the kernel's fault. Code of ours is only left for a fault: it may hold a lock
    /// at any other moment.
    fn may_land(&self, signal: libc::c_int) -> bool {
        match self.activity.get() {
            Activity::Runtime => false,
            Activity::Reading => signal != WATCHDOG,
            Activity::Kernel => true,
        }
    }

    /// What led to the landing that has just happened.
    pub(crate) fn take_caught(&self) -> Caught {
        self.caught.take().expect("the handler took it down")
    }

    /// The thread does something else from now on.
    pub(crate) fn is_in(&self, activity: Activity) {
        self.activity.set(activity);
    }

    /// Does something else for a while.
    pub(crate) fn during<T>(&self, activity: Activity, run: impl FnOnce() -> T) -> T {
        let before = self.activity.replace(activity);
        let result = run();
        self.activity.set(before);
        result
    }

    /// Runs something on this thread with signals handled.
    pub(crate) fn guard<T>(&self, run: impl FnOnce() -> T) -> T {
        let before = LANDING.replace(ptr::from_ref(self));
        let mut old = MaybeUninit::<libc::stack_t>::uninit();
        let new = libc::stack_t { ss_sp: self.signal_stack.bottom().cast(), ss_flags: 0, ss_size: SIGNAL_STACK };
        // SAFETY: the stack lives as long as `self`, and the old one is put back below.
        let changed = unsafe { libc::sigaltstack(&raw const new, old.as_mut_ptr()) } == 0;
        let result = run();
        if changed {
            // SAFETY: `old` was filled in, and is what the thread had before.
            unsafe { libc::sigaltstack(old.as_ptr(), ptr::null_mut()) };
        }
        LANDING.set(before);
        result
    }
}

/// An access of the program's own code, or of ours, that the processor refused.
#[derive(Clone, Copy, Debug)]
pub struct ProgramFault {
    /// The address that was accessed.
    pub address: usize,
    /// The instruction that accessed it.
    pub instruction: usize,
    /// Whether it was written to.
    pub is_write: bool,
    /// The protection key that the thread may not use, if that was the reason.
    pub protection_key: Option<u32>,
}

/// Who wants to know of accesses that are not those of a kernel.
static ON_PROGRAM_FAULT: OnceLock<fn(&ProgramFault)> = OnceLock::new();

/// Calls something when an access to memory is refused that is not one of a kernel, before whoever handled it without us.
/// It may be called on any thread and at any moment. The first one who says so is heard.
pub fn on_program_fault(call: fn(&ProgramFault)) {
    let _ = ON_PROGRAM_FAULT.set(call);
    install();
}

static mut PREVIOUS: [MaybeUninit<libc::sigaction>; 65] = [const { MaybeUninit::uninit() }; 65];

/// Calls something when this thread raises a fault that is not one of a kernel, before whoever handled it without us. It may
/// be called at any moment.
pub(crate) fn on_fault(call: Option<fn()>) {
    install();
    ON_FAULT.set(call);
}

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in FAULTS {
            handle_from_now_on(signal, libc::SA_NODEFER);
        }
    });
}

fn handle_from_now_on(signal: libc::c_int, flags: libc::c_int) {
    // SAFETY: the handler is a function with the signature that SA_SIGINFO demands; what was there before is kept in a place of
    // its own, which is only read after it was written here, before the handler is there.
    unsafe {
        let previous = (&raw mut PREVIOUS[signal as usize]).cast::<libc::sigaction>();
        libc::sigaction(signal, ptr::null(), previous);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART | flags;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, ptr::null_mut());
    }
}

/// Runs something on this thread, and sends it a signal from the deadline on, until it has ended.
pub(crate) fn watched<T>(deadline: Instant, run: impl FnOnce() -> T) -> T {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| handle_from_now_on(WATCHDOG, 0));
    // SAFETY: a thread can always ask for itself.
    let thread = unsafe { libc::pthread_self() };
    let is_overdue = AtomicBool::new(false);
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    let before = IS_OVERDUE.replace(&raw const is_overdue);
    let mut mask = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is filled before it is used, and there is room for the old one.
    unsafe {
        let mut own = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(own.as_mut_ptr());
        libc::sigaddset(own.as_mut_ptr(), WATCHDOG);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, own.as_ptr(), mask.as_mut_ptr());
    }
    let result = std::thread::scope(|scope| {
        let is_overdue = &is_overdue;
        scope.spawn(move || {
            let mut wait = deadline.saturating_duration_since(Instant::now());
            while is_done.recv_timeout(wait) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                is_overdue.store(true, Ordering::Release);
                // SAFETY: the thread is alive: it waits for this one at the end of the scope.
                unsafe { libc::pthread_kill(thread, WATCHDOG) };
                wait = Duration::from_millis(20);
            }
        });
        let result = run();
        drop(done);
        result
    });
    // SAFETY: it is what the thread had before.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask.as_ptr(), ptr::null_mut()) };
    IS_OVERDUE.set(before);
    result
}

/// Whether the watchdog of this thread has sent a signal.
fn is_overdue() -> bool {
    // SAFETY: `watched` sets the pointer only while the value is there.
    unsafe { IS_OVERDUE.get().as_ref() }.is_some_and(|is_overdue| is_overdue.load(Ordering::Acquire))
}

/// Keeps signals that are meant for the program away from the thread that calls, and from those that it starts: the
/// handlers of the program expect a thread of the program. Faults still come.
pub fn leave_signals_to_the_program() {
    // SAFETY: the set is filled before it is used, and blocking signals of one's own thread is always possible.
    unsafe {
        let mut all = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigfillset(all.as_mut_ptr());
        for signal in FAULTS {
            libc::sigdelset(all.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), ptr::null_mut());
    }
}

/// Only touches thread-local cells and the interrupted context, so that it may run at any moment.
extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system passes it, filled in. Codes of what somebody has sent are not positive.
    let is_sent = unsafe { (*info).si_code } <= 0;
    let is_ours = if signal == WATCHDOG { is_overdue() } else { !is_sent };
    let landing = LANDING.get();
    // SAFETY: `guard` sets the pointer only while the landing is alive, for this thread.
    if let Some(landing) = unsafe { landing.as_ref() }
        && is_ours
        && landing.may_land(signal)
    {
        // SAFETY: the system passes both, filled in.
        unsafe {
            let caught = match signal {
                WATCHDOG => Caught::Watchdog,
                _ => Caught::Fault { address: (*info).si_addr() as usize },
            };
            landing.activity.set(Activity::Runtime);
            landing.caught.set(Some(caught));
            let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
            registers[libc::REG_RSP as usize] = landing.stack.prepare(landing.land) as i64 + 6 * 8 + 8;
            registers[libc::REG_RIP as usize] = landing.land as *const () as i64;
            // The direction of string instructions is forwards wherever a function starts.
            registers[libc::REG_EFL as usize] &= !0x400;
        }
        return;
    }
    if signal == WATCHDOG && is_ours {
        // It comes again.
        return;
    }
    if let Some(observe) = ON_FAULT.get().filter(|_| !is_sent) {
        observe();
    }
    if let Some(observe) = ON_PROGRAM_FAULT.get().filter(|_| !is_sent && signal == libc::SIGSEGV) {
        // SAFETY: the system passes both, filled in.
        observe(&unsafe { program_fault(info, context) });
    }
    chain(signal, info, context, is_sent);
}

/// # Safety
/// The system has passed both to a handler of `SIGSEGV`.
unsafe fn program_fault(info: *mut libc::siginfo_t, context: *mut libc::c_void) -> ProgramFault {
    const SEGV_PKUERR: libc::c_int = 4;
    /// Where `siginfo_t` has the key, in bytes.
    const KEY: usize = 32;
    /// The bit of the processor's error code for writes.
    const WRITE: i64 = 2;
    // SAFETY: the caller promises it. The structure has 128 bytes.
    unsafe {
        let registers = &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        ProgramFault {
            address: (*info).si_addr() as usize,
            instruction: registers[libc::REG_RIP as usize] as usize,
            is_write: registers[libc::REG_ERR as usize] & WRITE != 0,
            protection_key: ((*info).si_code == SEGV_PKUERR).then(|| info.byte_add(KEY).cast::<u32>().read()),
        }
    }
}

/// Hands a signal on to whoever handled it before.
fn chain(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void, is_sent: bool) {
    // SAFETY: `install` filled the place in before the handler could run. A handler that the program had installed gets
    // what it would have got.
    unsafe {
        let previous = (&raw const PREVIOUS[signal as usize]).cast::<libc::sigaction>().read();
        match previous.sa_sigaction {
            libc::SIG_DFL if signal == WATCHDOG => {}
            libc::SIG_IGN if is_sent => {}
            libc::SIG_DFL if is_sent => {
                // Nothing is tried again that would end the program.
                libc::sigaction(signal, &raw const previous, ptr::null_mut());
                libc::raise(signal);
            }
            libc::SIG_DFL | libc::SIG_IGN => {
                // The access is tried again, and ends the program as it would have without us.
                libc::sigaction(signal, &raw const previous, ptr::null_mut());
            }
            handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
                type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
                std::mem::transmute::<usize, Handler>(handler)(signal, info, context);
            }
            handler => std::mem::transmute::<usize, extern "C" fn(libc::c_int)>(handler)(signal),
        }
    }
}
