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
        // SAFETY: the caller promises that `driverVersion` is null or valid to write.
        unsafe { put(driverVersion, VERSION) }
    }

    fn cuGetErrorName(error: CUresult, pStr: *mut *const c_char) {
        // SAFETY: the caller promises that `pStr` is null or valid to write.
        unsafe { put_error_text(pStr, error_text(error).and_then(|text| text.driver)) }
    }

    fn cuGetErrorString(error: CUresult, pStr: *mut *const c_char) {
        // SAFETY: the caller promises that `pStr` is null or valid to write.
        unsafe { put_error_text(pStr, error_text(error).map(|text| text.meaning)) }
    }

    fn cuGetProcAddress(symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: c_int, flags: cuuint64_t) {
        // SAFETY: the caller promises that `symbol` is null or a string that ends with zero, and `pfn` is null or
        // valid to write.
        unsafe { find(symbol, pfn, cudaVersion, flags, ptr::null_mut()) }
    }

    fn cuGetProcAddress_v2(
        symbol: *const c_char,
        pfn: *mut *mut c_void,
        cudaVersion: c_int,
        flags: cuuint64_t,
        symbolStatus: *mut CUdriverProcAddressQueryResult,
    ) {
        // SAFETY: the caller promises that `symbol` is null or a string that ends with zero, and `pfn` and
        // `symbolStatus` are null or valid to write.
        unsafe { find(symbol, pfn, cudaVersion, flags, symbolStatus) }
    }

    fn cuGetExportTable(ppExportTable: *mut *const c_void, pExportTableId: *const CUuuid) {
        // There are no tables besides what is documented.
        let _ = pExportTableId;
        // SAFETY: the caller promises that `ppExportTable` is null or valid to write.
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
///
/// # Safety
/// `out` must be null or valid to write.
unsafe fn put_error_text(out: *mut *const c_char, text: Option<&'static CStr>) -> Result<()> {
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, text.map_or(ptr::null(), CStr::as_ptr)) }?;
    text.map(drop).ok_or(CudaError::INVALID_VALUE)
}

/// Finds a function by its name.
///
/// # Safety
/// `symbol` must be null or a string that ends with zero, `out` and `status` null or valid to write.
pub(crate) unsafe fn find(
    symbol: *const c_char,
    out: *mut *mut c_void,
    version: c_int,
    flags: cuuint64_t,
    status: *mut CUdriverProcAddressQueryResult,
) -> Result<()> {
    // SAFETY: the caller promises that `symbol` is null or a string that ends with zero.
    let name = unsafe { text(symbol) }?;
    let version = u32::try_from(version).map_err(|_| CudaError::INVALID_VALUE)?;
    let is_per_thread = flags & cuuint64_t::from(CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    let (address, said) = match driver_function(name, version, is_per_thread) {
        Lookup::Found(address) => (address, CU_GET_PROC_ADDRESS_SUCCESS),
        Lookup::Later => (ptr::null(), CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT),
        Lookup::Unknown => (ptr::null(), CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND),
    };
    // SAFETY: the caller promises that `out` and `status` are null or valid to write.
    unsafe {
        put(out, address.cast_mut().cast::<c_void>())?;
        put_if(status, said);
    }
    if address.is_null() { Err(CudaError::NOT_FOUND) } else { Ok(()) }
}
