//! Contexts, and which one a thread works in.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::allocation;
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
    pub(super) streams: Arc<Streams>,
    /// What programs set by `cuCtxSetLimit`, by number.
    pub(crate) limits: Mutex<[u64; LIMITS]>,
}

/// How many limits there are.
pub(crate) const LIMITS: usize = 8;
/// Stack of a thread, buffer of `printf`, device heap, depth and number of launches from kernels, size of fetches, the rest.
const DEFAULT_LIMITS: [u64; LIMITS] = [1024, 1 << 20, 8 << 20, 2, 2048, 128, 0, 0];

/// All contexts.
pub(crate) static CONTEXTS: Handles<Context> = Handles::new();

thread_local! {
    /// The contexts of this thread; the last is the one it works in. Never dropped: programs call CUDA from destructors
    /// and at exit, after those of thread-local values.
    static STACK: RefCell<ManuallyDrop<Vec<Arc<Context>>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

impl Context {
    pub(super) fn new(is_primary: bool, flags: u32) -> Arc<Self> {
        let handle = Handle::new();
        let context = Arc::new(Self {
            streams: Streams::new(handle.number()),
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

/// The handle of the context that this thread works in; 0 if there is none.
pub(super) fn current_handle() -> usize {
    STACK.with_borrow(|stack| stack.last().map_or(0, |context| context.handle.number()))
}

/// The context that this thread works in; an error if there is none, or if nothing works any more.
pub(crate) fn require() -> Result<Arc<Context>> {
    driver::check()?;
    let context = current().ok_or(CudaError::INVALID_CONTEXT)?;
    if context.is_destroyed() { Err(CudaError::CONTEXT_IS_DESTROYED) } else { Ok(context) }
}

/// Makes a context and works in it.
pub(crate) fn create(flags: u32) -> Result<Arc<Context>> {
    driver::check()?;
    let context = Context::new(false, flags);
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
