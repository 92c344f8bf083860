//! Memory that is in use: it is not taken away while the host copies, and nothing is copied where it was taken away.
//!
//! A program whose threads copy memory that another one frees is wrong, but on a GPU it gets an error and not a signal.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static IN_USE: RwLock<()> = RwLock::new(());

/// Until this is dropped, no memory is taken away. Whoever has it must not wait for anything.
pub(super) fn keep_memory() -> RwLockReadGuard<'static, ()> {
    IN_USE.read().unwrap_or_else(PoisonError::into_inner)
}

/// Until this is dropped, nothing is copied, and memory can be taken away.
pub(super) fn stop_copies() -> RwLockWriteGuard<'static, ()> {
    IN_USE.write().unwrap_or_else(PoisonError::into_inner)
}
