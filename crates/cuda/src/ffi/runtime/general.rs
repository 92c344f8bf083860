//! Versions and errors.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr;

use super::{LAST, export_runtime};
use crate::abi::errors::error_text;
use crate::abi::runtime::*;
use crate::api::stream_handle::DefaultStream;
use crate::driver;
use crate::error::{CudaError, Result};
use crate::ffi::driver::general::VERSION;
use crate::ffi::exports::{Lookup, driver_function};
use crate::ffi::{put, put_if, text};

/// The last version of CUDA 11, whose functions programs of that version mean.
const VERSION_11: c_uint = 11_080;

/// Finds a function of the driver. One that is not there is an error only to those who do not ask for the status.
///
/// # Safety
/// `symbol` must be null or a string that ends with zero, and `out` and `status` must be null or valid to write.
unsafe fn entry_point(
    symbol: *const c_char,
    out: *mut *mut c_void,
    version: c_uint,
    (flags, default): (c_ulonglong, DefaultStream),
    status: *mut cudaDriverEntryPointQueryResult,
) -> Result<()> {
    // SAFETY: the caller promises that `symbol` is null or a string that ends with zero.
    let name = unsafe { text(symbol) }?;
    let is_per_thread = match u32::try_from(flags) {
        Ok(cudaEnableDefault) => default == DefaultStream::PerThread,
        Ok(cudaEnableLegacyStream) => false,
        Ok(cudaEnablePerThreadDefaultStream) => true,
        _ => return Err(CudaError::INVALID_VALUE),
    };
    let (address, said) = match driver_function(name, version, is_per_thread) {
        Lookup::Found(address) => (address, cudaDriverEntryPointSuccess),
        Lookup::Later => (ptr::null(), cudaDriverEntryPointVersionNotSufficent),
        Lookup::Unknown => (ptr::null(), cudaDriverEntryPointSymbolNotFound),
    };
    // SAFETY: the caller promises that `out` and `status` are null or valid to write.
    unsafe {
        put(out, address.cast_mut().cast())?;
        put_if(status, said);
    }
    if address.is_null() && status.is_null() { Err(CudaError::NOT_FOUND) } else { Ok(()) }
}

export_runtime! {
    fn cudaDriverGetVersion(driverVersion: *mut c_int) {
        // SAFETY: the caller promises that `driverVersion` is null or valid to write.
        unsafe { put(driverVersion, VERSION) }
    }

    fn cudaRuntimeGetVersion(runtimeVersion: *mut c_int) {
        // SAFETY: the caller promises that `runtimeVersion` is null or valid to write.
        unsafe { put(runtimeVersion, VERSION) }
    }

    fn cudaProfilerStart() {
        Ok(())
    }

    fn cudaProfilerStop() {
        Ok(())
    }

    fn cudaGetDriverEntryPoint_11, cudaGetDriverEntryPoint_ptsz_11(
        default;
        symbol: *const c_char,
        funcPtr: *mut *mut c_void,
        flags: c_ulonglong,
    ) {
        // SAFETY: the caller promises that `symbol` is null or a string that ends with zero, and `funcPtr` is null or
        // valid to write.
        unsafe { entry_point(symbol, funcPtr, VERSION_11, (flags, default), ptr::null_mut()) }
    }

    fn cudaGetDriverEntryPoint, cudaGetDriverEntryPoint_ptsz(
        default;
        symbol: *const c_char,
        funcPtr: *mut *mut c_void,
        flags: c_ulonglong,
        driverStatus: *mut cudaDriverEntryPointQueryResult,
    ) {
        // SAFETY: the caller promises that `symbol` is null or a string that ends with zero, and `funcPtr` and
        // `driverStatus` are null or valid to write.
        unsafe { entry_point(symbol, funcPtr, VERSION.cast_unsigned(), (flags, default), driverStatus) }
    }

    fn cudaGetDriverEntryPointByVersion, cudaGetDriverEntryPointByVersion_ptsz(
        default;
        symbol: *const c_char,
        funcPtr: *mut *mut c_void,
        cudaVersion: c_uint,
        flags: c_ulonglong,
        driverStatus: *mut cudaDriverEntryPointQueryResult,
    ) {
        // SAFETY: the caller promises that `symbol` is null or a string that ends with zero, and `funcPtr` and
        // `driverStatus` are null or valid to write.
        unsafe { entry_point(symbol, funcPtr, cudaVersion, (flags, default), driverStatus) }
    }
}

/// The last error, which a fault leaves after for ever.
fn last() -> u32 {
    driver::fault().map_or_else(|| LAST.get(), CudaError::code)
}

/// Gives the last error of the thread, and forgets it.
pub extern "C" fn cudaGetLastError() -> cudaError_t {
    let error = last();
    LAST.set(0);
    error
}

/// Gives the last error of the thread.
pub extern "C" fn cudaPeekAtLastError() -> cudaError_t {
    last()
}

/// The name of an error.
pub extern "C" fn cudaGetErrorName(error: cudaError_t) -> *const c_char {
    error_text(error).and_then(|text| text.runtime).unwrap_or(c"unrecognized error code").as_ptr()
}

/// What an error means.
pub extern "C" fn cudaGetErrorString(error: cudaError_t) -> *const c_char {
    error_text(error).map_or(c"unrecognized error code", |text| text.meaning).as_ptr()
}
