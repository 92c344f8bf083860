//! Objects of the program that graphs keep alive.

use std::ffi::{c_uint, c_void};

use crate::abi::driver::*;
use crate::ffi::{export, user_object};

export! {
    fn cuUserObjectCreate(
        object_out: *mut CUuserObject,
        ptr: *mut c_void,
        destroy: CUhostFn,
        initialRefcount: c_uint,
        flags: c_uint,
    ) {
        // SAFETY: the caller promises that `object_out` is null or valid to write, and `destroy` is null or a function
        // that may be called with `ptr`, later and on any thread.
        unsafe { user_object::create(object_out, ptr, destroy, initialRefcount, flags) }
    }

    fn cuUserObjectRetain(object: CUuserObject, count: c_uint) {
        user_object::retain(object, count)
    }

    fn cuUserObjectRelease(object: CUuserObject, count: c_uint) {
        user_object::release(object, count)
    }

    fn cuGraphRetainUserObject(graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint) {
        user_object::keep(graph, object, count, flags)
    }

    fn cuGraphReleaseUserObject(graph: CUgraph, object: CUuserObject, count: c_uint) {
        user_object::give_up(graph, object, count)
    }
}
