//! Objects of the program that graphs keep alive.

use std::ffi::{c_uint, c_void};

use super::export_runtime;
use crate::abi::runtime::*;
use crate::ffi::user_object;

export_runtime! {
    fn cudaUserObjectCreate(
        object_out: *mut cudaUserObject_t,
        ptr: *mut c_void,
        destroy: cudaHostFn_t,
        initialRefcount: c_uint,
        flags: c_uint,
    ) {
        // SAFETY: the caller promises that `object_out` is null or valid to write, and `destroy` is null or a function
        // that may be called with `ptr`, later and on any thread.
        unsafe { user_object::create(object_out, ptr, destroy, initialRefcount, flags) }
    }

    fn cudaUserObjectRetain(object: cudaUserObject_t, count: c_uint) {
        user_object::retain(object, count)
    }

    fn cudaUserObjectRelease(object: cudaUserObject_t, count: c_uint) {
        user_object::release(object, count)
    }

    fn cudaGraphRetainUserObject(graph: cudaGraph_t, object: cudaUserObject_t, count: c_uint, flags: c_uint) {
        user_object::keep(graph, object, count, flags)
    }

    fn cudaGraphReleaseUserObject(graph: cudaGraph_t, object: cudaUserObject_t, count: c_uint) {
        user_object::give_up(graph, object, count)
    }
}
