//! Which stream it is, without what it does.

use std::sync::atomic::{AtomicU64, Ordering};

/// What tells a stream from all others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct StreamId {
    /// A number that no other stream has.
    pub(crate) number: u64,
    pub(crate) kind: Kind,
}

/// How a stream stands to the legacy default stream.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    /// It is that stream: its work waits for all blocking streams, and they for it.
    Legacy,
    /// One that waits for it.
    Blocking,
    /// One that does not.
    NonBlocking,
}

impl StreamId {
    /// A new one.
    pub(super) fn new(kind: Kind) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { number: NEXT.fetch_add(1, Ordering::Relaxed), kind }
    }
}
