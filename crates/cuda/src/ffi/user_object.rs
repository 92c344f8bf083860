//! Objects of the program that graphs keep alive: what is the same for driver and runtime.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use super::host_call::host_call;
use super::{graph, put};
use crate::abi::driver::*;
use crate::api::user_object::{self, References, USER_OBJECTS, UserObject};
use crate::error::{CudaError, Result};

/// # Safety
/// `out` must be null or valid to write, and `destroy` must be null or a function that may be called with `pointer`,
/// later and on any thread.
pub(crate) unsafe fn create(
    out: *mut CUuserObject,
    pointer: *mut c_void,
    destroy: CUhostFn,
    count: c_uint,
    flags: c_uint,
) -> Result<()> {
    if out.is_null() || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: the caller promises that `destroy` is null or a function that may be called with `pointer`, later and on
    // any thread.
    let object = user_object::create(unsafe { host_call(destroy, pointer) }?, count.into())?;
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, object.handle.number() as CUuserObject) }
}

fn of(object: CUuserObject, count: c_uint) -> Result<Arc<UserObject>> {
    if count == 0 { Err(CudaError::INVALID_VALUE) } else { USER_OBJECTS.get(object as usize) }
}

pub(crate) fn retain(object: CUuserObject, count: c_uint) -> Result<()> {
    of(object, count)?.retain(count.into());
    Ok(())
}

pub(crate) fn release(object: CUuserObject, count: c_uint) -> Result<()> {
    of(object, count)?.release(count.into());
    Ok(())
}

/// A graph keeps an object, by references of its own or by those that the program had.
pub(crate) fn keep(graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint) -> Result<()> {
    let (graph, object) = (graph::of(graph)?, of(object, count)?);
    if flags & CU_GRAPH_USER_OBJECT_MOVE == 0 {
        object.retain(count.into());
    }
    graph.keep(References { object, count: count.into() });
    Ok(())
}

pub(crate) fn give_up(graph: CUgraph, object: CUuserObject, count: c_uint) -> Result<()> {
    graph::of(graph)?.give_up(&of(object, count)?, count.into())
}
