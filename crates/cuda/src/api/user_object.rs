//! Objects of the program that graphs keep alive.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::work::HostCall;
use crate::error::{CudaError, Result};
use crate::handle::{Handle, Handles};

/// An object of the program, which counts who needs it.
#[derive(Debug)]
pub(crate) struct UserObject {
    pub(crate) handle: Handle<UserObject>,
    destroy: HostCall,
    references: AtomicU64,
}

/// Some of the references of an object.
#[derive(Debug)]
pub(crate) struct References {
    pub(crate) object: Arc<UserObject>,
    pub(crate) count: u64,
}

/// Objects that programs made and still need.
pub(crate) static USER_OBJECTS: Handles<UserObject> = Handles::new("a user object");

/// Makes an object with so many references; with the last of them it is destroyed.
pub(crate) fn create(destroy: HostCall, references: u64) -> Result<Arc<UserObject>> {
    if references == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let object = Arc::new(UserObject { handle: Handle::new(), destroy, references: AtomicU64::new(references) });
    USER_OBJECTS.insert(&object.handle, Arc::clone(&object));
    Ok(object)
}

impl UserObject {
    pub(crate) fn retain(&self, count: u64) {
        self.references.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn release(&self, count: u64) {
        let before = self.references.fetch_sub(count, Ordering::AcqRel);
        if before <= count && USER_OBJECTS.remove(self.handle.number()).is_ok() {
            self.destroy.run();
        }
    }
}

impl Clone for References {
    fn clone(&self) -> Self {
        self.object.retain(self.count);
        Self { object: Arc::clone(&self.object), count: self.count }
    }
}

impl Drop for References {
    fn drop(&mut self) {
        self.object.release(self.count);
    }
}
