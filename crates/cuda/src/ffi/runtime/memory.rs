//! Memory.

use std::ffi::{c_int, c_uint, c_void};

use super::{check_device, export_runtime, ready};
use crate::abi::runtime::*;
use crate::api::allocation::{self, Kind};
use crate::api::pool::{self, Pool};
use crate::api::{memory, registry, stream, stream_handle};
use crate::driver;
use crate::error::{CudaError, Result};
use crate::ffi::put;

/// Gives new memory to the program. Of nothing there is a null pointer.
///
/// # Safety
/// `out` must be null or valid to write.
unsafe fn put_new(out: *mut *mut c_void, bytes: usize, kind: Kind) -> Result<()> {
    ready()?;
    if out.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    let address = if bytes == 0 { 0 } else { memory::allocate(bytes as u64, kind)? };
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, address as *mut c_void) }
}

/// Gives new memory for work in a stream to the program. Of nothing there is a null pointer.
///
/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn put_in(out: *mut *mut c_void, stream: &stream::Stream, bytes: usize, pool: &Pool) -> Result<()> {
    if out.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    let address = if bytes == 0 { 0 } else { memory::allocate_in(stream, bytes as u64, pool)? };
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, address as *mut c_void) }
}

/// What kind of memory an address is in.
fn memory_type(address: u64) -> Result<cudaMemoryType> {
    let is_variable = driver::get()?.device.memory().allocation(address).is_some();
    Ok(match allocation::find(address).map(|found| found.kind) {
        Some(Kind::Device) => cudaMemoryTypeDevice,
        Some(Kind::Managed) => cudaMemoryTypeManaged,
        Some(Kind::Host { .. } | Kind::Registered { .. }) => cudaMemoryTypeHost,
        None if is_variable => cudaMemoryTypeDevice,
        None => cudaMemoryTypeUnregistered,
    })
}

export_runtime! {
    fn cudaMalloc(devPtr: *mut *mut c_void, size: usize) {
        // SAFETY: the caller promises that `devPtr` is null or valid to write.
        unsafe { put_new(devPtr, size, Kind::Device) }
    }

    fn cudaMallocManaged(devPtr: *mut *mut c_void, size: usize, flags: c_uint) {
        if !matches!(flags, cudaMemAttachGlobal | cudaMemAttachHost) || size == 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: the caller promises that `devPtr` is null or valid to write.
        unsafe { put_new(devPtr, size, Kind::Managed) }
    }

    fn cudaMallocHost(ptr: *mut *mut c_void, size: usize) {
        // SAFETY: the caller promises that `ptr` is null or valid to write.
        unsafe { put_new(ptr, size, Kind::Host { flags: 0 }) }
    }

    fn cudaHostAlloc(pHost: *mut *mut c_void, size: usize, flags: c_uint) {
        if flags & !(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined) != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: the caller promises that `pHost` is null or valid to write.
        unsafe { put_new(pHost, size, Kind::Host { flags }) }
    }

    fn cudaMallocPitch(devPtr: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize) {
        ready()?;
        if devPtr.is_null() || pitch.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        let (address, row) =
            if width == 0 || height == 0 { (0, 0) } else { memory::allocate_rows(width as u64, height as u64)? };
        // SAFETY: the caller promises that `devPtr` and `pitch` are null or valid to write.
        unsafe {
            put(devPtr, address as *mut c_void)?;
            put(pitch, row as usize)
        }
    }

    fn cudaMalloc3D(pitchedDevPtr: *mut cudaPitchedPtr, extent: cudaExtent) {
        ready()?;
        if pitchedDevPtr.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        let rows = extent.height.checked_mul(extent.depth).ok_or(CudaError::INVALID_VALUE)?;
        let (address, pitch) =
            if extent.width == 0 || rows == 0 { (0, 0) } else { memory::allocate_rows(extent.width as u64, rows as u64)? };
        let result = cudaPitchedPtr {
            ptr: address as *mut c_void,
            pitch: pitch as usize,
            xsize: extent.width,
            ysize: extent.height,
        };
        // SAFETY: the caller promises that `pitchedDevPtr` is null or valid to write.
        unsafe { put(pitchedDevPtr, result) }
    }

    fn cudaFree(devPtr: *mut c_void) {
        allocation::give_up(devPtr as u64);
        ready()?;
        if devPtr.is_null() { Ok(()) } else { memory::free(devPtr as u64) }
    }

    fn cudaFreeHost(ptr: *mut c_void) {
        allocation::give_up(ptr as u64);
        ready()?;
        if ptr.is_null() { Ok(()) } else { memory::free_host(ptr as u64) }
    }

    fn cudaMallocAsync, cudaMallocAsync_ptsz(
        default;
        devPtr: *mut *mut c_void,
        size: usize,
        hStream: cudaStream_t,
    ) {
        ready()?;
        let stream = stream_handle::resolve(hStream as usize, default)?;
        // SAFETY: the caller promises that `devPtr` is null or valid to write.
        unsafe { put_in(devPtr, &stream, size, &pool::current(stream.reach()?.device)) }
    }

    fn cudaFreeAsync, cudaFreeAsync_ptsz(default; devPtr: *mut c_void, hStream: cudaStream_t) {
        allocation::give_up(devPtr as u64);
        ready()?;
        memory::free_in(&*stream_handle::resolve(hStream as usize, default)?, devPtr as u64)
    }

    fn cudaHostRegister(ptr: *mut c_void, size: usize, flags: c_uint) {
        ready()?;
        memory::register(ptr as u64, size as u64, flags)
    }

    fn cudaHostUnregister(ptr: *mut c_void) {
        ready()?;
        memory::unregister(ptr as u64)
    }

    fn cudaHostGetDevicePointer(pDevice: *mut *mut c_void, pHost: *mut c_void, flags: c_uint) {
        let _ = flags;
        ready()?;
        allocation::find(pHost as u64).ok_or(CudaError::INVALID_VALUE)?;
        // SAFETY: the caller promises that `pDevice` is null or valid to write.
        unsafe { put(pDevice, pHost) }
    }

    fn cudaHostGetFlags(pFlags: *mut c_uint, pHost: *mut c_void) {
        ready()?;
        match allocation::find(pHost as u64).map(|found| found.kind) {
            // SAFETY: the caller promises that `pFlags` is null or valid to write.
            Some(Kind::Host { flags } | Kind::Registered { flags }) => unsafe { put(pFlags, flags) },
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    fn cudaMemGetInfo(free: *mut usize, total: *mut usize) {
        ready()?;
        let (bytes, all) = memory::info()?;
        // SAFETY: the caller promises that `free` and `total` are null or valid to write.
        unsafe {
            put(free, bytes as usize)?;
            put(total, all as usize)
        }
    }

    fn cudaPointerGetAttributes(attributes: *mut cudaPointerAttributes, ptr: *const c_void) {
        ready()?;
        if attributes.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        let kind = memory_type(ptr as u64)?;
        // SAFETY: all of it is numbers and pointers, for which zero is a value.
        let mut result: cudaPointerAttributes = unsafe { std::mem::zeroed() };
        result.r#type = kind;
        result.device = if kind == cudaMemoryTypeUnregistered { -1 } else { memory::device_of(ptr as u64) as c_int };
        if kind != cudaMemoryTypeUnregistered {
            result.devicePointer = ptr.cast_mut();
        }
        if kind != cudaMemoryTypeDevice {
            result.hostPointer = ptr.cast_mut();
        }
        // SAFETY: the caller promises that `attributes` is null or valid to write.
        unsafe { put(attributes, result) }
    }

    fn cudaGetSymbolAddress(devPtr: *mut *mut c_void, symbol: *const c_void) {
        ready()?;
        let (address, _) = registry::variable(symbol as usize)?;
        // SAFETY: the caller promises that `devPtr` is null or valid to write.
        unsafe { put(devPtr, address as *mut c_void) }
    }

    fn cudaGetSymbolSize(size: *mut usize, symbol: *const c_void) {
        ready()?;
        let (_, bytes) = registry::variable(symbol as usize)?;
        // SAFETY: the caller promises that `size` is null or valid to write.
        unsafe { put(size, bytes as usize) }
    }

    fn cudaMemAdvise(devPtr: *const c_void, count: usize, advice: cudaMemoryAdvise, location: cudaMemLocation) {
        // It is where both can reach it, whatever is advised.
        let _ = (count, advice, location);
        managed(devPtr)
    }

    fn cudaMemAdvise_v2(devPtr: *const c_void, count: usize, advice: cudaMemoryAdvise, location: cudaMemLocation) {
        let _ = (count, advice, location);
        managed(devPtr)
    }

    fn cudaMemAdvise_11(devPtr: *const c_void, count: usize, advice: cudaMemoryAdvise, device: c_int) {
        let _ = (count, advice, device);
        managed(devPtr)
    }

    fn cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz(
        default;
        devPtr: *const c_void,
        count: usize,
        location: cudaMemLocation,
        flags: c_uint,
        stream: cudaStream_t,
    ) {
        let _ = (count, location, flags);
        managed(devPtr)?;
        stream_handle::resolve(stream as usize, default).map(drop)
    }

    fn cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync_v2_ptsz(
        default;
        devPtr: *const c_void,
        count: usize,
        location: cudaMemLocation,
        flags: c_uint,
        stream: cudaStream_t,
    ) {
        let _ = (count, location, flags);
        managed(devPtr)?;
        stream_handle::resolve(stream as usize, default).map(drop)
    }

    fn cudaMemPrefetchAsync_11, cudaMemPrefetchAsync_ptsz_11(
        default;
        devPtr: *const c_void,
        count: usize,
        dstDevice: c_int,
        stream: cudaStream_t,
    ) {
        let _ = count;
        if dstDevice != cudaCpuDeviceId {
            check_device(dstDevice)?;
        }
        managed(devPtr)?;
        stream_handle::resolve(stream as usize, default).map(drop)
    }

    fn cudaMemRangeGetAttribute(
        data: *mut c_void,
        dataSize: usize,
        attribute: cudaMemRangeAttribute,
        devPtr: *const c_void,
        count: usize,
    ) {
        let _ = (attribute, count);
        managed(devPtr)?;
        if data.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        // Nothing was advised as far as we know.
        // SAFETY: not null, so the caller promises that `data` is valid to write `dataSize` bytes.
        unsafe { std::ptr::write_bytes(data.cast::<u8>(), 0, dataSize) };
        Ok(())
    }

    fn cudaPointerGetAttributes_11(attributes: *mut cudaPointerAttributes12, ptr: *const c_void) {
        ready()?;
        let r#type = memory_type(ptr as u64)?;
        let pointer_if = |is_there: bool| if is_there { ptr.cast_mut() } else { std::ptr::null_mut() };
        let result = cudaPointerAttributes12 {
            r#type,
            device: if r#type == cudaMemoryTypeUnregistered { -1 } else { memory::device_of(ptr as u64) as c_int },
            devicePointer: pointer_if(r#type != cudaMemoryTypeUnregistered),
            hostPointer: pointer_if(r#type != cudaMemoryTypeDevice),
        };
        // SAFETY: the caller promises that `attributes` is null or valid to write.
        unsafe { put(attributes, result) }
    }
}

/// Checks that memory is there; nothing else is to be done to it.
fn managed(address: *const c_void) -> Result<()> {
    ready()?;
    allocation::owner(address as u64, 1).map(drop)
}
