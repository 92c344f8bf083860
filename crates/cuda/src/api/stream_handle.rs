//! Which stream a program means.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use super::context::{self, Context};
use super::stream::{STREAMS, Stream};
use super::stream_id::Kind;
use crate::driver;
use crate::error::Result;

/// Which stream is meant where a program names none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DefaultStream {
    /// One for all threads.
    Legacy,
    /// One for each thread.
    PerThread,
}

/// `CU_STREAM_LEGACY`
const LEGACY: usize = 1;
/// `CU_STREAM_PER_THREAD`
const PER_THREAD: usize = 2;

thread_local! {
    /// The default streams of this thread, one for each context.
    static OWN: RefCell<Vec<OwnStream>> = const { RefCell::new(Vec::new()) };
}

/// The default stream of a thread in a context. Its work is done also when the thread has ended.
struct OwnStream {
    context: Weak<Context>,
    stream: Arc<Stream>,
}

impl Drop for OwnStream {
    fn drop(&mut self) {
        self.stream.leave();
    }
}

/// The stream that a program means by a handle.
pub(crate) fn resolve(number: usize, default: DefaultStream) -> Result<Arc<Stream>> {
    match number {
        LEGACY => Ok(context::require()?.streams.legacy()),
        PER_THREAD => per_thread(),
        0 if default == DefaultStream::PerThread => per_thread(),
        0 => Ok(context::require()?.streams.legacy()),
        _ => {
            driver::check()?;
            STREAMS.get(number)
        }
    }
}

fn per_thread() -> Result<Arc<Stream>> {
    let context = context::require()?;
    let own = OWN.try_with(|streams| {
        let mut streams = streams.borrow_mut();
        streams.retain(|own| own.context.strong_count() != 0);
        let found = streams.iter().find(|own| Weak::as_ptr(&own.context) == Arc::as_ptr(&context));
        if let Some(own) = found {
            return Arc::clone(&own.stream);
        }
        let stream = context.streams.add(Kind::Blocking, 0);
        streams.push(OwnStream { context: Arc::downgrade(&context), stream: Arc::clone(&stream) });
        stream
    });
    // A thread that ends has no stream of its own any more.
    Ok(own.unwrap_or_else(|_| context.streams.legacy()))
}

/// Makes a stream.
pub(crate) fn create(kind: Kind, priority: i32) -> Result<Arc<Stream>> {
    let stream = context::require()?.streams.add(kind, priority);
    STREAMS.insert(&stream.handle, Arc::clone(&stream));
    Ok(stream)
}
