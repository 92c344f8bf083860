//! Functions of the program that we call: what is the same for driver and runtime.

use std::ffi::c_void;

use crate::abi::driver::*;
use crate::api::stream::Stream;
use crate::api::work::{HostCall, Work};
use crate::error::{CudaError, Result};

/// A call of a function of the program.
pub(crate) fn host_call(function: CUhostFn, data: *mut c_void) -> Result<HostCall> {
    let function = function.ok_or(CudaError::INVALID_VALUE)?;
    let held = UserData(data);
    // SAFETY: the program gave the function to be called with this.
    Ok(HostCall::new(function as usize, data as usize, move || unsafe { function(held.pointer()) }))
}

/// Calls a function of the program in a stream.
pub(crate) fn call_host(stream: &Stream, function: CUhostFn, data: *mut c_void) -> Result<()> {
    stream.push(Work::Call(host_call(function, data)?))
}

/// Calls a function of the program in a stream, with the state that the stream is in.
pub(crate) fn add_callback(
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
        // SAFETY: the program gave the function to be called with this.
        unsafe { callback(handle as CUstream, status, held.pointer()) };
    };
    stream.push(Work::Call(HostCall::new(callback as usize, data as usize, call)))
}

/// What the program gave to be called with. It may be called on another thread: that is what it is for.
struct UserData(*mut c_void);
// SAFETY: the program hands it over for that.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl UserData {
    fn pointer(&self) -> *mut c_void {
        self.0
    }
}
