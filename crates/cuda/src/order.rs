//! The order that the program asks for among the work of its streams, for tools that want to know it.
//!
//! All threads of the host count as one: what one has waited for is before all that any of them asks for later. How they tell
//! each other nobody sees, and an order that is missed would be a race that is none.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use toolkit::{Clock, WorkId, WorkOrder};

static IS_TRACKED: AtomicBool = AtomicBool::new(false);
static NUMBERS: AtomicU64 = AtomicU64::new(1);
/// What the host has waited for.
static HOST: Mutex<Option<Clock>> = Mutex::new(None);

/// Streams that wait for the legacy stream, and that do not.
static BLOCKING: AtomicU64 = AtomicU64::new(0);
static INDEPENDENT: AtomicU64 = AtomicU64::new(0);

/// The program has made a stream.
pub(crate) fn on_stream(waits_for_legacy: bool) {
    if waits_for_legacy { &BLOCKING } else { &INDEPENDENT }.fetch_add(1, Ordering::Relaxed);
}

/// Whether work of two streams may be unordered: one that waits for the legacy stream is always ordered with that.
pub(crate) fn has_unordered_streams() -> bool {
    BLOCKING.load(Ordering::Relaxed) > 1 || INDEPENDENT.load(Ordering::Relaxed) > 0
}

/// Tracks the order from now on.
pub(crate) fn track() {
    IS_TRACKED.store(true, Ordering::Relaxed);
}

/// Whether some tool wants to know it.
pub(crate) fn is_tracked() -> bool {
    IS_TRACKED.load(Ordering::Relaxed)
}

/// The place of new work in a queue, after some other work; nothing if nobody wants to know.
pub(crate) fn place<'a>(queue: u64, after: impl Iterator<Item = &'a WorkOrder>) -> Option<Arc<WorkOrder>> {
    if !is_tracked() {
        return None;
    }
    let mut before = HOST.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default();
    for other in after {
        before.join(&other.before);
        before.add(other.id);
    }
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    Some(Arc::new(WorkOrder { id: WorkId { queue, number }, before, has_unordered_streams: has_unordered_streams() }))
}

/// The host knows that all before some work has ended, and the work itself.
pub(crate) fn on_host_wait(order: &WorkOrder) {
    HOST.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().join(&order.end());
}

/// The host knows that all before some work has ended: it is a function of the host.
pub(crate) fn on_host_function(order: &WorkOrder) {
    HOST.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().join(&order.before);
}
