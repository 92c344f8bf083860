//! Memory.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use crate::abi::driver::*;
use crate::api::allocation::{self, Allocation, Home, Kind, Source};
use crate::api::pool::{self, Pool};
use crate::api::{context, device, memory, stream, stream_handle};
use crate::error::{CudaError, Result};
use crate::ffi::{export, put, put_if};

/// Gives an address to the program; what is behind it is given back if the program has no place for it.
///
/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn put_new(out: *mut u64, allocate: impl FnOnce() -> Result<u64>) -> Result<()> {
    if out.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, allocate()?) }
}

fn allocate(bytes: usize, kind: Kind) -> Result<u64> {
    if bytes == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    memory::allocate(bytes as u64, kind)
}

/// Memory for work in a stream.
pub(crate) fn allocate_in(stream: &stream::Stream, bytes: usize, pool: &Pool) -> Result<u64> {
    if bytes == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    memory::allocate_in(stream, bytes as u64, pool)
}

/// What is known of a pointer, in the words of an attribute. The size of what is written depends on the attribute.
///
/// # Safety
/// `data` must be null or valid to write what the attribute has.
unsafe fn put_attribute(data: *mut c_void, attribute: CUpointer_attribute, address: CUdeviceptr) -> Result<()> {
    let found = known(address)?;
    // SAFETY: the caller promises that `data` is null or valid to write what the attribute has, and each arm writes that.
    unsafe {
        match attribute {
            CU_POINTER_ATTRIBUTE_CONTEXT => {
                let current = context::current().map_or(0, |context| context.handle.number());
                put(data.cast(), if found.home.context == 0 { current } else { found.home.context })
            }
            CU_POINTER_ATTRIBUTE_MEMORY_TYPE => put(data.cast::<c_uint>(), memory_type(&found)),
            CU_POINTER_ATTRIBUTE_DEVICE_POINTER => put(data.cast(), address),
            CU_POINTER_ATTRIBUTE_HOST_POINTER => match found.kind {
                Kind::Device => Err(CudaError::INVALID_VALUE),
                _ => put(data.cast(), address),
            },
            CU_POINTER_ATTRIBUTE_RANGE_START_ADDR => put(data.cast(), found.address),
            CU_POINTER_ATTRIBUTE_RANGE_SIZE => put(data.cast(), found.bytes),
            CU_POINTER_ATTRIBUTE_BUFFER_ID => put(data.cast(), found.id),
            CU_POINTER_ATTRIBUTE_SYNC_MEMOPS => put(data.cast::<c_int>(), 0),
            CU_POINTER_ATTRIBUTE_IS_MANAGED => put(data.cast::<c_int>(), (found.kind == Kind::Managed).into()),
            CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => put(data.cast::<c_int>(), memory::device_of(address) as c_int),
            CU_POINTER_ATTRIBUTE_MAPPED => put(data.cast::<c_int>(), 1),
            CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE | CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE => {
                put(data.cast::<c_int>(), 0)
            }
            CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES => put(data.cast::<c_ulonglong>(), 0),
            CU_POINTER_ATTRIBUTE_ACCESS_FLAGS => put(data.cast::<c_uint>(), CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE),
            CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => {
                let pool = if let Source::Pool(pool) = found.source { pool } else { 0 };
                put(data.cast::<usize>(), pool)
            }
            _ => Err(CudaError::INVALID_VALUE),
        }
    }
}

/// The memory that a pointer points to, variables of modules among them.
fn known(address: u64) -> Result<Allocation> {
    if let Some(found) = allocation::find(address) {
        return Ok(found);
    }
    let found = crate::driver::get()?.device.memory().allocation(address);
    let (start, bytes) = found.ok_or(CudaError::INVALID_VALUE)?;
    let home = Home { context: 0, device: memory::device_of(address) };
    Ok(Allocation { address: start, bytes, kind: Kind::Device, id: 0, source: Source::Device, home })
}

fn memory_type(found: &Allocation) -> c_uint {
    match found.kind {
        Kind::Device | Kind::Managed => CU_MEMORYTYPE_DEVICE,
        Kind::Host { .. } | Kind::Registered { .. } => CU_MEMORYTYPE_HOST,
    }
}

export! {
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        let (bytes, all) = memory::info()?;
        // SAFETY: the caller promises that `free` and `total` are null or valid to write.
        unsafe {
            put(free, bytes as usize)?;
            put(total, all as usize)
        }
    }

    fn cuMemAlloc_v2(dptr: *mut CUdeviceptr, bytesize: usize) {
        // SAFETY: the caller promises that `dptr` is null or valid to write.
        unsafe { put_new(dptr, || allocate(bytesize, Kind::Device)) }
    }

    fn cuMemAllocManaged(dptr: *mut CUdeviceptr, bytesize: usize, flags: c_uint) {
        let _ = flags;
        // SAFETY: the caller promises that `dptr` is null or valid to write.
        unsafe { put_new(dptr, || allocate(bytesize, Kind::Managed)) }
    }

    fn cuMemAllocPitch_v2(
        dptr: *mut CUdeviceptr,
        pPitch: *mut usize,
        WidthInBytes: usize,
        Height: usize,
        ElementSizeBytes: c_uint,
    ) {
        if dptr.is_null() || pPitch.is_null() || !matches!(ElementSizeBytes, 4 | 8 | 16) {
            return Err(CudaError::INVALID_VALUE);
        }
        if WidthInBytes == 0 || Height == 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        let (address, pitch) = memory::allocate_rows(WidthInBytes as u64, Height as u64)?;
        // SAFETY: the caller promises that `dptr` and `pPitch` are null or valid to write.
        unsafe {
            put(dptr, address)?;
            put(pPitch, pitch as usize)
        }
    }

    fn cuMemFree_v2(dptr: CUdeviceptr) {
        allocation::give_up(dptr);
        if dptr == 0 {
            return context::require().map(drop);
        }
        memory::free(dptr)
    }

    fn cuMemAllocHost_v2(pp: *mut *mut c_void, bytesize: usize) {
        // SAFETY: the caller promises that `pp` is null or valid to write.
        unsafe { put_new(pp.cast(), || allocate(bytesize, Kind::Host { flags: 0 })) }
    }

    fn cuMemHostAlloc(pp: *mut *mut c_void, bytesize: usize, Flags: c_uint) {
        // SAFETY: the caller promises that `pp` is null or valid to write.
        unsafe { put_new(pp.cast(), || allocate(bytesize, Kind::Host { flags: Flags })) }
    }

    fn cuMemFreeHost(p: *mut c_void) {
        allocation::give_up(p as u64);
        memory::free_host(p as u64)
    }

    fn cuMemHostRegister_v2(p: *mut c_void, bytesize: usize, Flags: c_uint) {
        memory::register(p as u64, bytesize as u64, Flags)
    }

    fn cuMemHostUnregister(p: *mut c_void) {
        memory::unregister(p as u64)
    }

    fn cuMemHostGetDevicePointer_v2(pdptr: *mut CUdeviceptr, p: *mut c_void, Flags: c_uint) {
        let _ = Flags;
        context::require()?;
        allocation::find(p as u64).ok_or(CudaError::INVALID_VALUE)?;
        // SAFETY: the caller promises that `pdptr` is null or valid to write.
        unsafe { put(pdptr, p as u64) }
    }

    fn cuMemHostGetFlags(pFlags: *mut c_uint, p: *mut c_void) {
        context::require()?;
        match allocation::find(p as u64).map(|found| found.kind) {
            // SAFETY: the caller promises that `pFlags` is null or valid to write.
            Some(Kind::Host { flags } | Kind::Registered { flags }) => unsafe { put(pFlags, flags) },
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    fn cuMemGetAddressRange_v2(pbase: *mut CUdeviceptr, psize: *mut usize, dptr: CUdeviceptr) {
        context::require()?;
        let found = known(dptr).map_err(|_| CudaError::NOT_FOUND)?;
        // SAFETY: the caller promises that `pbase` and `psize` are null or valid to write.
        unsafe {
            put_if(pbase, found.address);
            put_if(psize, found.bytes as usize);
        }
        Ok(())
    }

    fn cuMemAllocAsync, cuMemAllocAsync_ptsz(
        default;
        dptr: *mut CUdeviceptr,
        bytesize: usize,
        hStream: CUstream,
    ) {
        let stream = stream_handle::resolve(hStream as usize, default)?;
        // SAFETY: the caller promises that `dptr` is null or valid to write.
        unsafe { put_new(dptr, || allocate_in(&stream, bytesize, &pool::current(stream.reach()?.device))) }
    }

    fn cuMemFreeAsync, cuMemFreeAsync_ptsz(default; dptr: CUdeviceptr, hStream: CUstream) {
        allocation::give_up(dptr);
        memory::free_in(&*stream_handle::resolve(hStream as usize, default)?, dptr)
    }

    fn cuPointerGetAttribute(data: *mut c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr) {
        crate::driver::check()?;
        // SAFETY: the caller promises that `data` is null or valid to write what the attribute has.
        unsafe { put_attribute(data, attribute, ptr) }
    }

    fn cuPointerGetAttributes(
        numAttributes: c_uint,
        attributes: *mut CUpointer_attribute,
        data: *mut *mut c_void,
        ptr: CUdeviceptr,
    ) {
        crate::driver::check()?;
        if numAttributes != 0 && (attributes.is_null() || data.is_null()) {
            return Err(CudaError::INVALID_VALUE);
        }
        for index in 0..numAttributes as usize {
            // SAFETY: not null, so the caller promises that both lists have `numAttributes` elements, and that those of
            // `data` are null or valid to write what the attribute has. What is not known of a pointer is left as null.
            unsafe {
                let (attribute, out) = (attributes.add(index).read(), data.add(index).read());
                if put_attribute(out, attribute, ptr).is_err() && !out.is_null() {
                    let is_wide = matches!(
                        attribute,
                        CU_POINTER_ATTRIBUTE_CONTEXT
                            | CU_POINTER_ATTRIBUTE_DEVICE_POINTER
                            | CU_POINTER_ATTRIBUTE_HOST_POINTER
                            | CU_POINTER_ATTRIBUTE_RANGE_START_ADDR
                            | CU_POINTER_ATTRIBUTE_RANGE_SIZE
                            | CU_POINTER_ATTRIBUTE_BUFFER_ID
                    );
                    std::ptr::write_bytes(out.cast::<u8>(), 0, if is_wide { 8 } else { 4 });
                }
            }
        }
        Ok(())
    }

    fn cuPointerSetAttribute(value: *const c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr) {
        let _ = value;
        known(ptr)?;
        if attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS { Ok(()) } else { Err(CudaError::INVALID_VALUE) }
    }

    fn cuMemAdvise(devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, device: CUdevice) {
        // It is where both can reach it, whatever is advised.
        let _ = (count, advice, device);
        known(devPtr).map(drop)
    }

    fn cuMemAdvise_v2(devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, location: CUmemLocation) {
        let _ = (count, advice, location);
        known(devPtr).map(drop)
    }

    fn cuMemPrefetchAsync, cuMemPrefetchAsync_ptsz(
        default;
        devPtr: CUdeviceptr,
        count: usize,
        dstDevice: CUdevice,
        hStream: CUstream,
    ) {
        let _ = count;
        if dstDevice != CU_DEVICE_CPU {
            device::check(dstDevice)?;
        }
        stream_handle::resolve(hStream as usize, default)?;
        known(devPtr).map(drop)
    }

    fn cuMemPrefetchAsync_v2, cuMemPrefetchAsync_v2_ptsz(
        default;
        devPtr: CUdeviceptr,
        count: usize,
        location: CUmemLocation,
        flags: c_uint,
        hStream: CUstream,
    ) {
        let _ = (count, location, flags);
        stream_handle::resolve(hStream as usize, default)?;
        known(devPtr).map(drop)
    }

    fn cuMemHostRegister(p: *mut c_void, bytesize: usize, Flags: c_uint) {
        memory::register(p as u64, bytesize as u64, Flags)
    }
}
