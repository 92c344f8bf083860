//! Pools of memory.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;

use crate::abi::driver::*;
use crate::api::pool::{self, POOLS, Pool};
use crate::api::{context, device, memory, stream_handle};
use crate::error::{CudaError, Result};
use crate::ffi::driver::memory::{allocate_in, put_new};
use crate::ffi::{export, get, put};

/// Gives a pool to the program.
///
/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn put_pool(out: *mut CUmemoryPool, pool: &Arc<Pool>) -> Result<()> {
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, pool.handle.number() as CUmemoryPool) }
}

/// The device that memory is to be of.
fn check(location: &CUmemLocation, kind: CUmemAllocationType) -> Result<usize> {
    check_place(location.r#type, location_id(location), kind)
}

/// The device that memory is to be of: a type of place, its number, and a type of memory.
pub(crate) fn check_place(place: CUmemLocationType, id: c_int, kind: CUmemAllocationType) -> Result<usize> {
    if place != CU_MEM_LOCATION_TYPE_DEVICE {
        crate::log::say("pools of memory of the host are not supported by the CPU device");
        return Err(CudaError::NOT_SUPPORTED);
    }
    let device = device::check(id)?;
    if kind == CU_MEM_ALLOCATION_TYPE_PINNED { Ok(device) } else { Err(CudaError::INVALID_VALUE) }
}

fn location_id(location: &CUmemLocation) -> c_int {
    // SAFETY: for most types it is a number, and any bits are one.
    unsafe { location.unnamed.id }
}

/// Says that pools are not shared with other processes.
pub(crate) fn share() -> CudaError {
    crate::log::say("pools of memory that processes share are not supported by the CPU device");
    CudaError::NOT_SUPPORTED
}

/// What a place may do with memory that some devices may access.
pub(crate) fn access_from(place: CUmemLocationType, id: c_int, devices: u64) -> CUmemAccess_flags {
    if place == CU_MEM_LOCATION_TYPE_DEVICE && device::check(id).is_ok_and(|device| devices & 1 << device != 0) {
        CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    } else {
        CU_MEM_ACCESS_FLAGS_PROT_NONE
    }
}

/// Says what a place may do with memory of a pool. A device always has access to its own.
pub(crate) fn set_access(pool: &Pool, place: CUmemLocationType, id: c_int, flags: CUmemAccess_flags) -> Result<()> {
    if place == CU_MEM_LOCATION_TYPE_DEVICE {
        memory::set_pool_access(pool, device::check(id)?, flags != CU_MEM_ACCESS_FLAGS_PROT_NONE)?;
    }
    Ok(())
}

/// Gives what is known of a pool under a number.
///
/// # Safety
/// `out` must be null or valid to write the `int` or 64 bits that the attribute has.
pub(crate) unsafe fn put_attribute(pool: &Pool, attribute: CUmemPool_attribute, out: *mut c_void) -> Result<()> {
    let state = *pool.state();
    // SAFETY: the caller promises that `out` is null or valid to write what the attribute has, and each arm writes that.
    unsafe {
        match attribute {
            CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES => put(out.cast::<c_int>(), state.reuse[0].into()),
            CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC => put(out.cast::<c_int>(), state.reuse[1].into()),
            CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES => put(out.cast::<c_int>(), state.reuse[2].into()),
            CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => put(out.cast(), state.release_threshold),
            CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT | CU_MEMPOOL_ATTR_USED_MEM_CURRENT => put(out.cast(), state.used),
            CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH => put(out.cast(), state.reserved_high),
            CU_MEMPOOL_ATTR_USED_MEM_HIGH => put(out.cast(), state.used_high),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }
}

/// Changes what can be changed of a pool. The highest numbers can only be set to zero.
///
/// # Safety
/// `value` must be null or valid to read the `int` or 64 bits that the attribute has.
pub(crate) unsafe fn set_attribute(pool: &Pool, attribute: CUmemPool_attribute, value: *mut c_void) -> Result<()> {
    // SAFETY: the caller promises that `value` is null or valid to read what the attribute has, and each arm reads that.
    let (flag, number) = unsafe { (|| get(value.cast::<c_int>()), || get(value.cast::<u64>())) };
    let mut state = pool.state();
    match attribute {
        CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES => state.reuse[0] = *flag()? != 0,
        CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC => state.reuse[1] = *flag()? != 0,
        CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES => state.reuse[2] = *flag()? != 0,
        CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => state.release_threshold = *number()?,
        CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH if *number()? == 0 => state.reserved_high = state.used,
        CU_MEMPOOL_ATTR_USED_MEM_HIGH if *number()? == 0 => state.used_high = state.used,
        _ => return Err(CudaError::INVALID_VALUE),
    }
    Ok(())
}

export! {
    fn cuDeviceGetDefaultMemPool(pool_out: *mut CUmemoryPool, dev: CUdevice) {
        let device = device::check(dev)?;
        // SAFETY: the caller promises that `pool_out` is null or valid to write.
        unsafe { put_pool(pool_out, &pool::default_pool(device)) }
    }

    fn cuDeviceGetMemPool(pool: *mut CUmemoryPool, dev: CUdevice) {
        let device = device::check(dev)?;
        // SAFETY: the caller promises that `pool` is null or valid to write.
        unsafe { put_pool(pool, &pool::current(device)) }
    }

    fn cuDeviceSetMemPool(dev: CUdevice, pool: CUmemoryPool) {
        let device = device::check(dev)?;
        pool::set_current(device, POOLS.get(pool as usize)?)
    }

    fn cuMemGetDefaultMemPool(pool_out: *mut CUmemoryPool, location: *mut CUmemLocation, r#type: CUmemAllocationType) {
        // SAFETY: the caller promises that `location` is null or valid to read.
        let device = check(unsafe { get(location) }?, r#type)?;
        // SAFETY: the caller promises that `pool_out` is null or valid to write.
        unsafe { put_pool(pool_out, &pool::default_pool(device)) }
    }

    fn cuMemGetMemPool(pool: *mut CUmemoryPool, location: *mut CUmemLocation, r#type: CUmemAllocationType) {
        // SAFETY: the caller promises that `location` is null or valid to read.
        let device = check(unsafe { get(location) }?, r#type)?;
        // SAFETY: the caller promises that `pool` is null or valid to write.
        unsafe { put_pool(pool, &pool::current(device)) }
    }

    fn cuMemSetMemPool(location: *mut CUmemLocation, r#type: CUmemAllocationType, pool: CUmemoryPool) {
        // SAFETY: the caller promises that `location` is null or valid to read.
        let device = check(unsafe { get(location) }?, r#type)?;
        pool::set_current(device, POOLS.get(pool as usize)?)
    }

    fn cuMemPoolCreate(pool: *mut CUmemoryPool, poolProps: *const CUmemPoolProps) {
        context::require()?;
        // SAFETY: the caller promises that `poolProps` is null or valid to read.
        let props = unsafe { get(poolProps) }?;
        let device = check(&props.location, props.allocType)?;
        if props.handleTypes != CU_MEM_HANDLE_TYPE_NONE {
            return Err(share());
        }
        // SAFETY: the caller promises that `pool` is null or valid to write.
        unsafe { put_pool(pool, &pool::create(device, props.maxSize as u64)) }
    }

    fn cuMemPoolDestroy(pool: CUmemoryPool) {
        pool::destroy(pool as usize)
    }

    fn cuMemPoolTrimTo(pool: CUmemoryPool, minBytesToKeep: usize) {
        // Nothing is kept.
        let _ = minBytesToKeep;
        POOLS.get(pool as usize).map(drop)
    }

    fn cuMemPoolGetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void) {
        // SAFETY: the caller promises that `value` is null or valid to write the `int` or 64 bits that the attribute
        // has.
        unsafe { put_attribute(&*POOLS.get(pool as usize)?, attr, value) }
    }

    fn cuMemPoolSetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void) {
        // SAFETY: the caller promises that `value` is null or valid to read the `int` or 64 bits that the attribute
        // has.
        unsafe { set_attribute(&*POOLS.get(pool as usize)?, attr, value) }
    }

    fn cuMemPoolGetAccess(flags: *mut CUmemAccess_flags, memPool: CUmemoryPool, location: *mut CUmemLocation) {
        let pool = POOLS.get(memPool as usize)?;
        // SAFETY: the caller promises that `location` is null or valid to read.
        let location = unsafe { get(location) }?;
        let access = access_from(location.r#type, location_id(location), pool.access());
        // SAFETY: the caller promises that `flags` is null or valid to write.
        unsafe { put(flags, access) }
    }

    fn cuMemPoolSetAccess(pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize) {
        let pool = POOLS.get(pool as usize)?;
        for index in 0..count {
            // SAFETY: the caller promises that `map` is null or valid to read `count` elements.
            let access = unsafe { &*ptr::from_ref(get(map)?).add(index) };
            set_access(&pool, access.location.r#type, location_id(&access.location), access.flags)?;
        }
        Ok(())
    }

    fn cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz(
        default;
        dptr: *mut CUdeviceptr,
        bytesize: usize,
        pool: CUmemoryPool,
        hStream: CUstream,
    ) {
        let stream = stream_handle::resolve(hStream as usize, default)?;
        let pool = POOLS.get(pool as usize)?;
        // SAFETY: the caller promises that `dptr` is null or valid to write.
        unsafe { put_new(dptr, || allocate_in(&stream, bytesize, &pool)) }
    }
}
