//! Streams.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::capture::{self, Capture, Status};
use super::context::Context;
use super::graph::Action;
use super::queue::{Queue, Ticket};
use super::work::Work;
use crate::error::{CudaError, Result};
use crate::handle::{Handle, Handles};

/// A stream: work in order.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) handle: Handle<Stream>,
    pub(crate) kind: Kind,
    pub(crate) priority: i32,
    /// A number that no other stream has.
    pub(crate) id: u64,
    context: Weak<Context>,
    queue: Arc<Queue>,
    /// What programs set of it, by number; hints, which they may ask for again.
    pub(crate) attributes: Mutex<BTreeMap<u32, [u64; 8]>>,
    /// The last capture that it took part in.
    capture: Mutex<Option<Arc<Capture>>>,
}

/// How a stream stands to the legacy default stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// It is that stream: its work waits for all blocking streams, and they for it.
    Legacy,
    /// One that waits for it.
    Blocking,
    /// One that does not.
    NonBlocking,
}

/// Which stream is meant where a program names none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DefaultStream {
    /// One for all threads.
    Legacy,
    /// One for each thread.
    PerThread,
}

/// Streams that programs made.
pub(crate) static STREAMS: Handles<Stream> = Handles::new();

/// `CU_STREAM_LEGACY`
const LEGACY: usize = 1;
/// `CU_STREAM_PER_THREAD`
const PER_THREAD: usize = 2;

thread_local! {
    /// The default streams of this thread, one for each context.
    static OWN: std::cell::RefCell<Vec<(Weak<Context>, Arc<Stream>)>> = const { std::cell::RefCell::new(Vec::new()) };
}

impl Stream {
    pub(crate) fn new(context: &Weak<Context>, kind: Kind, priority: i32) -> Arc<Self> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self {
            handle: Handle::new(),
            kind,
            priority,
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            context: context.clone(),
            queue: Arc::default(),
            attributes: Mutex::default(),
            capture: Mutex::default(),
        })
    }

    pub(crate) fn context(&self) -> Result<Arc<Context>> {
        self.context.upgrade().ok_or(CudaError::CONTEXT_IS_DESTROYED)
    }

    /// The last work, if it has not ended.
    pub(crate) fn pending(&self) -> Option<Arc<Ticket>> {
        self.queue.pending()
    }

    /// What the stream does one after another.
    pub(crate) fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// The capture that it takes part in.
    pub(crate) fn current_capture(&self) -> Option<Arc<Capture>> {
        let mut capture = self.capture.lock().unwrap_or_else(PoisonError::into_inner);
        if capture.as_ref().is_some_and(|capture| capture.status() == Status::Ended) {
            *capture = None;
        }
        capture.clone()
    }

    pub(crate) fn set_capture(&self, capture: &Arc<Capture>) {
        *self.capture.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(capture));
    }

    /// The capture that takes what the stream is asked for. An error if other captures are in the way.
    pub(crate) fn capture(&self) -> Result<Option<Arc<Capture>>> {
        if self.kind == Kind::Legacy {
            capture::refuse_legacy(&self.context()?)?;
        }
        Ok(self.current_capture())
    }

    /// Refuses what cannot be captured.
    pub(crate) fn refuse_capture(&self) -> Result<()> {
        match self.capture()? {
            Some(capture) => {
                capture.invalidate();
                Err(CudaError::STREAM_CAPTURE_UNSUPPORTED)
            }
            None => Ok(()),
        }
    }

    /// Does work after what it was asked for so far. If it is captured, the work becomes a node of a graph instead.
    pub(crate) fn push(&self, work: Work) -> Result<()> {
        match self.capture()? {
            Some(capture) => capture.add(self, Action::Work(work)),
            None => self.enqueue(work, Vec::new()).map(drop),
        }
    }

    /// Puts work into the queue, which also waits for other work.
    pub(crate) fn enqueue(&self, work: Work, mut after: Vec<Arc<Ticket>>) -> Result<Arc<Ticket>> {
        let context = self.context()?;
        // One thread at a time decides what comes after what: so there are no circles.
        let streams = context.streams();
        after.extend(streams.before(self));
        Ok(self.queue.push(work, after))
    }

    /// Does work and waits for its end.
    pub(crate) fn run(&self, work: Work) -> Result<()> {
        self.refuse_capture()?;
        let context = self.context()?;
        let before: Vec<_> = context.streams().before(self).collect();
        // Mostly nothing else is going on, and no other thread is needed.
        if let Err(work) = self.queue.run_if_idle(work, &before) {
            self.enqueue(work, Vec::new())?.wait();
        }
        Ok(())
    }

    /// Waits until all is done that was asked for so far.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.refuse_capture()?;
        let context = self.context()?;
        let before: Vec<_> = context.streams().before(self).collect();
        for ticket in before.iter().chain(&self.pending()) {
            ticket.wait();
        }
        crate::driver::check()
    }

    /// Whether all is done that was asked for so far.
    pub(crate) fn query(&self) -> Result<()> {
        crate::driver::check()?;
        self.refuse_capture()?;
        let context = self.context()?;
        let is_pending = self.pending().is_some() || context.streams().before(self).next().is_some();
        if is_pending { Err(CudaError::NOT_READY) } else { Ok(()) }
    }
}

/// The stream that a program means by a handle.
pub(crate) fn resolve(number: usize, default: DefaultStream) -> Result<Arc<Stream>> {
    match number {
        LEGACY => Ok(super::context::require()?.legacy()),
        PER_THREAD => per_thread(),
        0 if default == DefaultStream::PerThread => per_thread(),
        0 => Ok(super::context::require()?.legacy()),
        _ => {
            crate::driver::check()?;
            STREAMS.get(number)
        }
    }
}

fn per_thread() -> Result<Arc<Stream>> {
    let context = super::context::require()?;
    let own = OWN.try_with(|streams| {
        let mut streams = streams.borrow_mut();
        streams.retain(|(context, _)| context.strong_count() != 0);
        let found = streams.iter().find(|(other, _)| Weak::as_ptr(other) == Arc::as_ptr(&context));
        if let Some((_, stream)) = found {
            return Arc::clone(stream);
        }
        let stream = context.add_stream(Kind::Blocking, 0);
        streams.push((Arc::downgrade(&context), Arc::clone(&stream)));
        stream
    });
    // A thread that ends has no stream of its own any more.
    Ok(own.unwrap_or_else(|_| context.legacy()))
}

/// Makes a stream.
pub(crate) fn create(kind: Kind, priority: i32) -> Result<Arc<Stream>> {
    let stream = super::context::require()?.add_stream(kind, priority);
    STREAMS.insert(&stream.handle, Arc::clone(&stream));
    Ok(stream)
}

/// Forgets a stream; what it was asked for is still done.
pub(crate) fn destroy(number: usize) -> Result<()> {
    let stream = STREAMS.remove(number)?;
    capture::abandon(&stream);
    if let Ok(context) = stream.context() {
        context.retire_stream(stream);
    }
    Ok(())
}
