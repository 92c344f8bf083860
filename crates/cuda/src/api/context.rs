//! Contexts, and which one a thread works in.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use super::queue::Ticket;
use super::stream::{Kind, STREAMS, Stream};
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
    streams: Mutex<Streams>,
    /// What programs set by `cuCtxSetLimit`, by number.
    pub(crate) limits: Mutex<[u64; LIMITS]>,
}

/// How many limits there are.
pub(crate) const LIMITS: usize = 8;
/// Stack of a thread, buffer of `printf`, device heap, depth and number of launches from kernels, size of fetches, the rest.
const DEFAULT_LIMITS: [u64; LIMITS] = [1024, 1 << 20, 8 << 20, 2, 2048, 128, 0, 0];

/// The streams of a context.
#[derive(Debug)]
pub(crate) struct Streams {
    legacy: Arc<Stream>,
    others: Vec<Weak<Stream>>,
    /// Streams that the program has destroyed and that still have work.
    retired: Vec<Arc<Stream>>,
}

/// All contexts.
pub(crate) static CONTEXTS: Handles<Context> = Handles::new();

/// The primary context and how often it was retained.
static PRIMARY: Mutex<Option<(Arc<Context>, usize)>> = Mutex::new(None);
/// The flags that the primary context has, or will have.
static PRIMARY_FLAGS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The contexts of this thread; the last is the one it works in. Never dropped: programs call CUDA from destructors
    /// and at exit, after those of thread-local values.
    static STACK: RefCell<ManuallyDrop<Vec<Arc<Context>>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

impl Streams {
    /// Work in other streams that has to end before new work in this one starts.
    pub(crate) fn before(&self, stream: &Stream) -> impl Iterator<Item = Arc<Ticket>> {
        let legacy = (stream.kind == Kind::Blocking).then(|| Arc::clone(&self.legacy));
        let others = if stream.kind == Kind::Legacy { self.alive() } else { Vec::new() };
        let blocking = others.into_iter().filter(|other| other.kind == Kind::Blocking);
        legacy.into_iter().chain(blocking).filter_map(|other| other.pending())
    }

    fn alive(&self) -> Vec<Arc<Stream>> {
        self.others.iter().filter_map(Weak::upgrade).chain(self.retired.iter().cloned()).collect()
    }
}

impl Context {
    fn new(is_primary: bool, flags: u32) -> Arc<Self> {
        let context = Arc::new_cyclic(|weak| Self {
            handle: Handle::new(),
            is_primary,
            flags: AtomicU32::new(flags),
            is_destroyed: AtomicBool::new(false),
            streams: Mutex::new(Streams {
                legacy: Stream::new(weak, Kind::Legacy, 0),
                others: Vec::new(),
                retired: Vec::new(),
            }),
            limits: Mutex::new(DEFAULT_LIMITS),
        });
        CONTEXTS.insert(&context.handle, Arc::clone(&context));
        context
    }

    pub(crate) fn streams(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn legacy(&self) -> Arc<Stream> {
        Arc::clone(&self.streams().legacy)
    }

    pub(crate) fn add_stream(self: &Arc<Self>, kind: Kind, priority: i32) -> Arc<Stream> {
        let stream = Stream::new(&Arc::downgrade(self), kind, priority);
        let mut streams = self.streams();
        streams.others.retain(|other| other.strong_count() != 0);
        streams.others.push(Arc::downgrade(&stream));
        stream
    }

    /// Keeps a stream that the program has no handle of any more, until its work is done.
    pub(crate) fn retire_stream(&self, stream: Arc<Stream>) {
        let mut streams = self.streams();
        streams.retired.retain(|stream| stream.pending().is_some());
        streams.others.retain(|other| Weak::as_ptr(other) != Arc::as_ptr(&stream));
        streams.retired.push(stream);
    }

    /// Waits for all work in all streams.
    pub(crate) fn synchronize(&self) -> Result<()> {
        let all: Vec<_> = {
            let streams = self.streams();
            streams.alive().into_iter().chain([Arc::clone(&streams.legacy)]).collect()
        };
        for stream in all {
            if let Some(ticket) = stream.pending() {
                ticket.wait();
            }
        }
        driver::check()
    }

    /// Waits until all streams have done what they were asked for, or for some time; whether they have.
    fn settle(&self, deadline: Instant) -> bool {
        let all: Vec<_> = {
            let streams = self.streams();
            streams.alive().into_iter().chain([Arc::clone(&streams.legacy)]).collect()
        };
        all.iter().filter_map(|stream| stream.pending()).all(|ticket| ticket.wait_until(deadline))
    }

    fn end(&self) {
        let _ = self.synchronize();
        self.is_destroyed.store(true, Ordering::Relaxed);
        for stream in self.streams().alive() {
            let _ = STREAMS.remove(stream.handle.number());
        }
        super::memory::free_all_of(self.handle.number());
        if self.is_primary {
            super::registry::reset_variables();
        }
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

/// The context that this thread works in; an error if there is none, or if nothing works any more.
pub(crate) fn require() -> Result<Arc<Context>> {
    driver::check()?;
    let context = current().ok_or(CudaError::INVALID_CONTEXT)?;
    if context.is_destroyed.load(Ordering::Relaxed) { Err(CudaError::CONTEXT_IS_DESTROYED) } else { Ok(context) }
}

/// The context of the runtime: the primary one, unless the thread has chosen another.
pub(crate) fn require_or_primary() -> Result<Arc<Context>> {
    if current().is_none_or(|context| context.is_destroyed.load(Ordering::Relaxed)) {
        driver::start()?;
        let context = primary_of_runtime();
        set_current(Some(context));
    }
    require()
}

/// The primary context, which the runtime keeps until the device is reset.
fn primary_of_runtime() -> Arc<Context> {
    let mut primary = PRIMARY.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(&primary.get_or_insert_with(|| (new_primary(), 1)).0)
}

fn new_primary() -> Arc<Context> {
    Context::new(true, PRIMARY_FLAGS.load(Ordering::Relaxed))
}

/// The flags of the primary context, also of one that is not there yet.
pub(crate) fn primary_flags() -> u32 {
    primary().map_or_else(|| PRIMARY_FLAGS.load(Ordering::Relaxed), |context| context.flags.load(Ordering::Relaxed))
}

/// Sets the flags of the primary context, also of one that is not there yet.
pub(crate) fn set_primary_flags(flags: u32) {
    PRIMARY_FLAGS.store(flags, Ordering::Relaxed);
    if let Some(context) = primary() {
        context.flags.store(flags, Ordering::Relaxed);
    }
}

/// Retains the primary context.
pub(crate) fn retain_primary() -> Result<Arc<Context>> {
    driver::check()?;
    let mut primary = PRIMARY.lock().unwrap_or_else(PoisonError::into_inner);
    let (context, count) = primary.get_or_insert_with(|| (new_primary(), 0));
    *count += 1;
    Ok(Arc::clone(context))
}

/// Releases the primary context; it ends with the last who retained it.
pub(crate) fn release_primary() -> Result<()> {
    let mut primary = PRIMARY.lock().unwrap_or_else(PoisonError::into_inner);
    let (context, count) = primary.as_mut().ok_or(CudaError::INVALID_CONTEXT)?;
    *count = count.saturating_sub(1);
    if *count == 0 {
        let context = Arc::clone(context);
        *primary = None;
        drop(primary);
        context.end();
    }
    Ok(())
}

/// Ends the primary context, whoever retained it.
pub(crate) fn reset_primary() {
    let ended = PRIMARY.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some((context, _)) = ended {
        context.end();
        STACK.with_borrow_mut(|stack| stack.retain(|other| !Arc::ptr_eq(other, &context)));
    }
}

/// The primary context if there is one.
pub(crate) fn primary() -> Option<Arc<Context>> {
    PRIMARY.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|(context, _)| Arc::clone(context))
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
