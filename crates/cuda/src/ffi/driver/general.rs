//! Start, versions, errors.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

use crate::abi::driver::*;
use crate::abi::errors::error_text;
use crate::driver;
use crate::error::{CudaError, Result};
use crate::ffi::exports::{Lookup, driver_function};
use crate::ffi::{export, put, put_if, text};

/// The version of CUDA that we say we are.
pub(crate) const VERSION: c_int = 13_040;

export! {
    fn cuInit(Flags: c_uint) {
        if Flags != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        driver::start().map(drop)
    }

    fn cuDriverGetVersion(driverVersion: *mut c_int) {
        // SAFETY: as the manual says.
        unsafe { put(driverVersion, VERSION) }
    }

    fn cuGetErrorName(error: CUresult, pStr: *mut *const c_char) {
        put_error_text(pStr, error_text(error).and_then(|text| text.driver))
    }

    fn cuGetErrorString(error: CUresult, pStr: *mut *const c_char) {
        put_error_text(pStr, error_text(error).map(|text| text.meaning))
    }

    fn cuGetProcAddress(symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: c_int, flags: cuuint64_t) {
        // SAFETY: as the manual says.
        unsafe { find(symbol, pfn, cudaVersion, flags, ptr::null_mut()) }
    }

    fn cuGetProcAddress_v2(
        symbol: *const c_char,
        pfn: *mut *mut c_void,
        cudaVersion: c_int,
        flags: cuuint64_t,
        symbolStatus: *mut CUdriverProcAddressQueryResult,
    ) {
        // SAFETY: as the manual says.
        unsafe { find(symbol, pfn, cudaVersion, flags, symbolStatus) }
    }

    fn cuGetExportTable(ppExportTable: *mut *const c_void, pExportTableId: *const CUuuid) {
        // There are no tables besides what is documented.
        let _ = pExportTableId;
        // SAFETY: as the manual says.
        unsafe { put(ppExportTable, ptr::null()) }?;
        Err(CudaError::NOT_FOUND)
    }

    fn cuProfilerStart() {
        Ok(())
    }

    fn cuProfilerStop() {
        Ok(())
    }
}

/// Gives a text to the program; null, and an error, if there is none.
fn put_error_text(out: *mut *const c_char, text: Option<&'static CStr>) -> Result<()> {
    // SAFETY: as the manual of the functions that call this says.
    unsafe { put(out, text.map_or(ptr::null(), CStr::as_ptr)) }?;
    text.map(drop).ok_or(CudaError::INVALID_VALUE)
}

/// Finds a function by its name.
///
/// # Safety
/// As the manual of `cuGetProcAddress` says.
pub(crate) unsafe fn find(
    symbol: *const c_char,
    out: *mut *mut c_void,
    version: c_int,
    flags: cuuint64_t,
    status: *mut CUdriverProcAddressQueryResult,
) -> Result<()> {
    // SAFETY: as the caller promises.
    let name = unsafe { text(symbol) }?;
    let version = u32::try_from(version).map_err(|_| CudaError::INVALID_VALUE)?;
    let is_per_thread = flags & cuuint64_t::from(CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    let (address, said) = match driver_function(name, version, is_per_thread) {
        Lookup::Found(address) => (address, CU_GET_PROC_ADDRESS_SUCCESS),
        Lookup::Later => (ptr::null(), CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT),
        Lookup::Unknown => (ptr::null(), CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND),
    };
    // SAFETY: as the caller promises.
    unsafe {
        put(out, address.cast_mut().cast::<c_void>())?;
        put_if(status, said);
    }
    if address.is_null() { Err(CudaError::NOT_FOUND) } else { Ok(()) }
}
