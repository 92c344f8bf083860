//! Versions and errors.

use std::ffi::{c_char, c_int};

use super::{LAST, export_runtime};
use crate::abi::errors::error_text;
use crate::abi::runtime::cudaError_t;
use crate::driver;
use crate::error::CudaError;
use crate::ffi::driver::general::VERSION;
use crate::ffi::put;

export_runtime! {
    fn cudaDriverGetVersion(driverVersion: *mut c_int) {
        // SAFETY: as the manual says.
        unsafe { put(driverVersion, VERSION) }
    }

    fn cudaRuntimeGetVersion(runtimeVersion: *mut c_int) {
        // SAFETY: as the manual says.
        unsafe { put(runtimeVersion, VERSION) }
    }

    fn cudaProfilerStart() {
        Ok(())
    }

    fn cudaProfilerStop() {
        Ok(())
    }
}

/// The last error, which a fault leaves behind for ever.
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
