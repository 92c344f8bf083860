//! Handles: what programs hold of our objects.
//!
//! A handle is a number that looks like a pointer and is none: what a program hands back is looked up, so that an old,
//! forged or mistaken handle is an error and never a memory access. Numbers are not used twice, so tools can be told of a
//! handle that is used after what it stood for was destroyed.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use toolkit::{HostEvent, HostStack};

use crate::error::{CudaError, Result};
use crate::tooling;

/// All objects of a kind, by their handles.
#[derive(Debug)]
pub(crate) struct Handles<T> {
    objects: RwLock<FxHashMap<usize, Arc<T>>>,
    destroyed: Destroyed,
}

/// Handles that the program has destroyed, and where, if there are tools.
#[derive(Debug)]
pub(crate) struct Destroyed {
    /// What they stood for.
    what: &'static str,
    handles: Mutex<BTreeMap<u64, HostStack>>,
}

/// Of more, the oldest are forgotten.
const MOST_DESTROYED: usize = 4096;

impl Destroyed {
    /// Of handles of something: "a stream".
    pub(crate) const fn new(what: &'static str) -> Self {
        Self { what, handles: Mutex::new(BTreeMap::new()) }
    }

    /// The program has destroyed one.
    pub(crate) fn add(&self, handle: u64) {
        if tooling::get().is_none() {
            return;
        }
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        handles.insert(handle, tooling::stack_here());
        if handles.len() > MOST_DESTROYED {
            handles.pop_first();
        }
    }

    /// A number is used again.
    pub(crate) fn remove(&self, handle: u64) {
        if tooling::get().is_some() {
            self.handles.lock().unwrap_or_else(PoisonError::into_inner).remove(&handle);
        }
    }

    /// The program uses a handle that stands for nothing: tools are told if it was destroyed.
    #[cold]
    pub(crate) fn report(&self, handle: u64) {
        let Some(tool_host) = tooling::get() else { return };
        let stack = self.handles.lock().unwrap_or_else(PoisonError::into_inner).get(&handle).cloned();
        if let Some(stack) = stack {
            tool_host.on_event(&HostEvent::DestroyedHandle { what: self.what, stack: &stack });
        }
    }
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
    /// Of something: "a stream".
    pub(crate) const fn new(what: &'static str) -> Self {
        Self {
            objects: RwLock::new(FxHashMap::with_hasher(rustc_hash::FxBuildHasher)),
            destroyed: Destroyed::new(what),
        }
    }

    /// Makes an object known under its handle.
    pub(crate) fn insert(&self, handle: &Handle<T>, object: Arc<T>) {
        self.objects.write().unwrap_or_else(PoisonError::into_inner).insert(handle.number, object);
    }

    /// The object of a handle.
    pub(crate) fn get(&self, number: usize) -> Result<Arc<T>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        let found = objects.get(&number).cloned();
        drop(objects);
        if found.is_none() {
            self.destroyed.report(number as u64);
        }
        found.ok_or(CudaError::INVALID_HANDLE)
    }

    /// All objects.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// The program destroys what a handle stands for.
    pub(crate) fn destroy(&self, number: usize) -> Result<Arc<T>> {
        let found = self.remove(number);
        match found {
            Ok(_) => self.destroyed.add(number as u64),
            Err(_) => self.destroyed.report(number as u64),
        }
        found
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
        let handles = Handles::new("a number");
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
