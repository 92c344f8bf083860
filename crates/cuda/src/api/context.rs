//! Contexts, and which one a thread works in.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::allocation::{self, Home};
use super::reach::Reach;
use super::stream::{STREAMS, Streams};
use crate::driver;
use crate::error::{CudaError, Result};
use crate::handle::{Handle, Handles};

/// A context.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) handle: Handle<Context>,
    pub(crate) is_primary: bool,
    pub(crate) flags: AtomicU32,
    is_destroyed: AtomicBool,
    /// Its device, and those whose memory its launches may access.
    pub(crate) reach: Arc<Reach>,
    pub(super) streams: Arc<Streams>,
    /// What programs set by `cuCtxSetLimit`, by number.
    pub(crate) limits: Mutex<[u64; LIMITS]>,
}

/// How many limits there are.
pub(crate) const LIMITS: usize = 8;
/// Stack of a thread, buffer of `printf`, device heap, depth and number of launches from kernels, size of fetches, the rest.
const DEFAULT_LIMITS: [u64; LIMITS] = [1024, 1 << 20, 8 << 20, 2, 2048, 128, 0, 0];

/// All contexts.
pub(crate) static CONTEXTS: Handles<Context> = Handles::new("a context");

thread_local! {
    /// The contexts of this thread; the last is the one it works in. Never dropped: programs call CUDA from destructors
    /// and at exit, after those of thread-local values.
    static STACK: RefCell<ManuallyDrop<Vec<Arc<Context>>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
    /// The device that the runtime uses in this thread while it has no context.
    static DEVICE: Cell<usize> = const { Cell::new(0) };
}

/// The device that the runtime uses in this thread while it has no context.
pub(super) fn chosen_device() -> usize {
    DEVICE.get()
}

/// The runtime uses this device in this thread from now on.
pub(super) fn choose_device(device: usize) {
    DEVICE.set(device);
}

impl Context {
    pub(super) fn new(device: usize, is_primary: bool, flags: u32) -> Arc<Self> {
        let handle = Handle::new();
        let reach = Arc::new(Reach::new(device));
        let context = Arc::new(Self {
            streams: Streams::new(handle.number(), &reach),
            reach,
            handle,
            is_primary,
            flags: AtomicU32::new(flags),
            is_destroyed: AtomicBool::new(false),
            limits: Mutex::new(DEFAULT_LIMITS),
        });
        CONTEXTS.insert(&context.handle, Arc::clone(&context));
        if crate::tooling::get().is_some() {
            // Tools see all work, also what the program has not waited for.
            crate::process::life::before_the_end(settle_all);
        }
        context
    }

    /// The number of its device.
    pub(crate) fn device(&self) -> usize {
        self.reach.device
    }

    /// Whose memory is that it allocates.
    pub(crate) fn home(&self) -> Home {
        Home { context: self.handle.number(), device: self.device() }
    }

    /// Waits for all work in all streams.
    pub(crate) fn synchronize(&self) -> Result<()> {
        for stream in self.streams.all() {
            if let Some(ticket) = stream.last() {
                ticket.wait();
            }
        }
        driver::check()
    }

    /// Waits until all streams have done what they were asked for, or for some time; whether they have.
    fn settle(&self, deadline: Instant) -> bool {
        self.streams.all().iter().filter_map(|stream| stream.last()).all(|ticket| ticket.wait_until(deadline))
    }

    pub(super) fn is_destroyed(&self) -> bool {
        self.is_destroyed.load(Ordering::Relaxed)
    }

    /// Ends its work, and frees what goes with it.
    pub(super) fn end(&self) {
        // Other threads get no more work in while we wait.
        self.is_destroyed.store(true, Ordering::Relaxed);
        for stream in self.streams.all() {
            // Programs have no such handle of default streams.
            let _ = STREAMS.remove(stream.handle.number());
        }
        let _ = self.synchronize();
        allocation::free_all_of(self.handle.number());
        let _ = CONTEXTS.remove(self.handle.number());
        if self.is_primary {
            // What others had access to is gone, and with it the access.
            for other in CONTEXTS.all() {
                let _ = other.reach.disable(self.device());
            }
        }
    }
}

/// Waits until all work has ended that was asked for so far, or for some time; whether it has.
pub(crate) fn settle_all(deadline: Instant) -> bool {
    CONTEXTS.all().iter().all(|context| context.settle(deadline))
}

/// The context that this thread works in.
pub(crate) fn current() -> Option<Arc<Context>> {
    STACK.with_borrow(|stack| stack.last().cloned())
}

/// Whose memory is what this thread allocates.
pub(super) fn current_home() -> Home {
    STACK.with_borrow(|stack| {
        stack.last().map_or(Home { context: 0, device: chosen_device() }, |context| context.home())
    })
}

/// The device that this thread works on: that of its context, or the one that it would have a context on.
pub(crate) fn current_device() -> usize {
    let device = STACK.with_borrow(|stack| stack.last().map(|context| context.device()));
    device.unwrap_or_else(chosen_device)
}

/// Waits for all work on some devices, but for that of a context.
pub(super) fn synchronize_devices(devices: &[usize], but: usize) -> Result<()> {
    let contexts = CONTEXTS.all();
    let mut meant = contexts.iter().filter(|other| devices.contains(&other.device()) && other.handle.number() != but);
    meant.try_for_each(|context| context.synchronize())
}

/// The context that this thread works in; an error if there is none, or if nothing works any more.
pub(crate) fn require() -> Result<Arc<Context>> {
    driver::check()?;
    let context = current().ok_or(CudaError::INVALID_CONTEXT)?;
    if context.is_destroyed() { Err(CudaError::CONTEXT_IS_DESTROYED) } else { Ok(context) }
}

/// Makes a context and works in it.
pub(crate) fn create(device: usize, flags: u32) -> Result<Arc<Context>> {
    driver::check()?;
    let context = Context::new(device, false, flags);
    push(Arc::clone(&context));
    Ok(context)
}

/// Ends a context that a program made.
pub(crate) fn destroy(number: usize) -> Result<()> {
    let context = CONTEXTS.get(number)?;
    if context.is_primary {
        return Err(CudaError::INVALID_CONTEXT);
    }
    context.end();
    STACK.with_borrow_mut(|stack| {
        if stack.last().is_some_and(|last| Arc::ptr_eq(last, &context)) {
            stack.pop();
        }
    });
    Ok(())
}

/// Works in a context no more, wherever this thread would have come back to it.
pub(super) fn leave(context: &Arc<Context>) {
    STACK.with_borrow_mut(|stack| stack.retain(|other| !Arc::ptr_eq(other, context)));
}

/// Works in a context until it is popped.
pub(crate) fn push(context: Arc<Context>) {
    STACK.with_borrow_mut(|stack| stack.push(context));
}

/// Goes back to the context before.
pub(crate) fn pop() -> Result<Arc<Context>> {
    STACK.with_borrow_mut(|stack| stack.pop()).ok_or(CudaError::INVALID_CONTEXT)
}

/// Works in a context instead of the present one; in none if there is none.
pub(crate) fn set_current(context: Option<Arc<Context>>) {
    STACK.with_borrow_mut(|stack| {
        stack.pop();
        stack.extend(context);
    });
}
