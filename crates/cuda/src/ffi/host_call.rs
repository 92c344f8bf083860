//! Functions of the program that we call: what is the same for driver and runtime.

use std::ffi::c_void;

use crate::abi::driver::*;
use crate::api::stream::Stream;
use crate::api::work::{HostCall, Work};
use crate::error::{CudaError, Result};

/// A call of a function of the program.
///
/// # Safety
/// `function` must be null or a function that may be called with `data`, later and on any thread.
pub(crate) unsafe fn host_call(function: CUhostFn, data: *mut c_void) -> Result<HostCall> {
    let function = function.ok_or(CudaError::INVALID_VALUE)?;
    let held = UserData(data);
    // SAFETY: the caller promises that the function may be called with this, later and on any thread.
    Ok(HostCall::new(function as usize, data as usize, move || unsafe { function(held.pointer()) }))
}

/// Calls a function of the program in a stream.
///
/// # Safety
/// `function` must be null or a function that may be called with `data`, later and on any thread.
pub(crate) unsafe fn call_host(stream: &Stream, function: CUhostFn, data: *mut c_void) -> Result<()> {
    // SAFETY: the caller promises that `function` is null or a function that may be called with `data`, later and on
    // any thread.
    stream.push(Work::Call(unsafe { host_call(function, data) }?))
}

/// Calls a function of the program in a stream, with the state that the stream is in.
///
/// # Safety
/// `callback` must be null or a function that may be called with `data`, later and on any thread.
pub(crate) unsafe fn add_callback(
    stream: &Stream,
    handle: CUstream,
    callback: CUstreamCallback,
    data: *mut c_void,
) -> Result<()> {
    let callback = callback.ok_or(CudaError::INVALID_VALUE)?;
    stream.refuse_capture()?;
    let (held, handle) = (UserData(data), handle as usize);
    let call = move || {
        let status = crate::driver::fault().map_or(0, CudaError::code);
        // SAFETY: the caller promises that the function may be called with this, later and on any thread.
        unsafe { callback(handle as CUstream, status, held.pointer()) };
    };
    stream.push(Work::Call(HostCall::new(callback as usize, data as usize, call)))
}

/// What the program gave to be called with. It may be called on another thread: that is what it is for.
struct UserData(*mut c_void);
// SAFETY: it is only handed to the function that it came with, which may be called on any thread.
unsafe impl Send for UserData {}
// SAFETY: it is only handed to the function that it came with, which may be called on any thread.
unsafe impl Sync for UserData {}

impl UserData {
    fn pointer(&self) -> *mut c_void {
        self.0
    }
}
