//! Handles: what programs hold of our objects.
//!
//! A handle is a number that looks like a pointer and is none: what a program hands back is looked up, so that an old,
//! forged or mistaken handle is an error and never a memory access. Numbers are not used twice.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::error::{CudaError, Result};

/// All objects of a kind, by their handles.
#[derive(Debug)]
pub(crate) struct Handles<T> {
    objects: RwLock<FxHashMap<usize, Arc<T>>>,
}

/// A handle of an object of a kind.
#[derive(Debug)]
pub(crate) struct Handle<T> {
    number: usize,
    kind: PhantomData<fn() -> T>,
}

/// The next number. Far from small numbers, which have a meaning for streams, and from addresses in use.
static NEXT: AtomicUsize = AtomicUsize::new(0x5747_0000_0000);

impl<T> Handle<T> {
    /// A new one.
    pub(crate) fn new() -> Self {
        // Sixteen apart, like addresses: some programs keep flags in the low bits.
        Self { number: NEXT.fetch_add(16, Ordering::Relaxed), kind: PhantomData }
    }

    /// What the program gets.
    pub(crate) fn number(&self) -> usize {
        self.number
    }
}

impl<T> Handles<T> {
    pub(crate) const fn new() -> Self {
        Self { objects: RwLock::new(FxHashMap::with_hasher(rustc_hash::FxBuildHasher)) }
    }

    /// Makes an object known under its handle.
    pub(crate) fn insert(&self, handle: &Handle<T>, object: Arc<T>) {
        self.objects.write().unwrap_or_else(PoisonError::into_inner).insert(handle.number, object);
    }

    /// The object of a handle.
    pub(crate) fn get(&self, number: usize) -> Result<Arc<T>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.get(&number).cloned().ok_or(CudaError::INVALID_HANDLE)
    }

    /// All objects.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Forgets a handle; whoever has the object keeps it.
    pub(crate) fn remove(&self, number: usize) -> Result<Arc<T>> {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        objects.remove(&number).ok_or(CudaError::INVALID_HANDLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_destroyed_is_not_found() {
        let handles = Handles::new();
        let handle = Handle::new();
        handles.insert(&handle, Arc::new(7));
        assert_eq!(handles.get(handle.number()).map(|object| *object), Ok(7));
        assert_eq!(handles.all(), [Arc::new(7)]);
        assert!(handles.remove(handle.number()).is_ok());
        assert_eq!(handles.all(), []);
        assert_eq!(handles.get(handle.number()), Err(CudaError::INVALID_HANDLE));
        assert_eq!(handles.get(0x1234), Err(CudaError::INVALID_HANDLE));
    }
}
