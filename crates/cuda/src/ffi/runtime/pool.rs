//! Pools of memory.

use std::ffi::{c_int, c_void};
use std::ptr;

use super::memory::put_in;
use super::{check_device, export_runtime, ready};
use crate::abi::runtime::*;
use crate::api::pool::{self, POOLS};
use crate::api::stream_handle;
use crate::error::Result;
use crate::ffi::driver::pool::{access_from, check_place, put_attribute, put_pool, set_access, set_attribute, share};
use crate::ffi::{get, put};

/// The device that memory is to be of.
fn check(location: &cudaMemLocation, kind: cudaMemAllocationType) -> Result<usize> {
    ready()?;
    check_place(location.r#type, location_id(location), kind)
}

fn location_id(location: &cudaMemLocation) -> c_int {
    // SAFETY: for most types it is a number, and any bits are one.
    unsafe { location.unnamed.id }
}

export_runtime! {
    fn cudaDeviceGetDefaultMemPool(memPool: *mut cudaMemPool_t, device: c_int) {
        let device = check_device(device)?;
        // SAFETY: the caller promises that `memPool` is null or valid to write.
        unsafe { put_pool(memPool, &pool::default_pool(device)) }
    }

    fn cudaDeviceGetMemPool(memPool: *mut cudaMemPool_t, device: c_int) {
        let device = check_device(device)?;
        // SAFETY: the caller promises that `memPool` is null or valid to write.
        unsafe { put_pool(memPool, &pool::current(device)) }
    }

    fn cudaDeviceSetMemPool(device: c_int, memPool: cudaMemPool_t) {
        let device = check_device(device)?;
        pool::set_current(device, POOLS.get(memPool as usize)?)
    }

    fn cudaMemGetDefaultMemPool(
        memPool: *mut cudaMemPool_t,
        location: *mut cudaMemLocation,
        r#type: cudaMemAllocationType,
    ) {
        // SAFETY: the caller promises that `location` is null or valid to read.
        let device = check(unsafe { get(location) }?, r#type)?;
        // SAFETY: the caller promises that `memPool` is null or valid to write.
        unsafe { put_pool(memPool, &pool::default_pool(device)) }
    }

    fn cudaMemGetMemPool(memPool: *mut cudaMemPool_t, location: *mut cudaMemLocation, r#type: cudaMemAllocationType) {
        // SAFETY: the caller promises that `location` is null or valid to read.
        let device = check(unsafe { get(location) }?, r#type)?;
        // SAFETY: the caller promises that `memPool` is null or valid to write.
        unsafe { put_pool(memPool, &pool::current(device)) }
    }

    fn cudaMemSetMemPool(location: *mut cudaMemLocation, r#type: cudaMemAllocationType, memPool: cudaMemPool_t) {
        // SAFETY: the caller promises that `location` is null or valid to read.
        let device = check(unsafe { get(location) }?, r#type)?;
        pool::set_current(device, POOLS.get(memPool as usize)?)
    }

    fn cudaMemPoolCreate(memPool: *mut cudaMemPool_t, poolProps: *const cudaMemPoolProps) {
        ready()?;
        // SAFETY: the caller promises that `poolProps` is null or valid to read.
        let props = unsafe { get(poolProps) }?;
        let device = check(&props.location, props.allocType)?;
        if props.handleTypes != cudaMemHandleTypeNone {
            return Err(share());
        }
        // SAFETY: the caller promises that `memPool` is null or valid to write.
        unsafe { put_pool(memPool, &pool::create(device, props.maxSize as u64)) }
    }

    fn cudaMemPoolDestroy(memPool: cudaMemPool_t) {
        pool::destroy(memPool as usize)
    }

    fn cudaMemPoolTrimTo(memPool: cudaMemPool_t, minBytesToKeep: usize) {
        // Nothing is kept.
        let _ = minBytesToKeep;
        POOLS.get(memPool as usize).map(drop)
    }

    fn cudaMemPoolGetAttribute(memPool: cudaMemPool_t, attr: cudaMemPoolAttr, value: *mut c_void) {
        // SAFETY: the caller promises that `value` is null or valid to write the `int` or 64 bits that the attribute
        // has.
        unsafe { put_attribute(&*POOLS.get(memPool as usize)?, attr, value) }
    }

    fn cudaMemPoolSetAttribute(memPool: cudaMemPool_t, attr: cudaMemPoolAttr, value: *mut c_void) {
        // SAFETY: the caller promises that `value` is null or valid to read the `int` or 64 bits that the attribute
        // has.
        unsafe { set_attribute(&*POOLS.get(memPool as usize)?, attr, value) }
    }

    fn cudaMemPoolGetAccess(flags: *mut cudaMemAccessFlags, memPool: cudaMemPool_t, location: *mut cudaMemLocation) {
        let pool = POOLS.get(memPool as usize)?;
        // SAFETY: the caller promises that `location` is null or valid to read.
        let location = unsafe { get(location) }?;
        // SAFETY: the caller promises that `flags` is null or valid to write.
        unsafe { put(flags, access_from(location.r#type, location_id(location), pool.access())) }
    }

    fn cudaMemPoolSetAccess(memPool: cudaMemPool_t, descList: *const cudaMemAccessDesc, count: usize) {
        let pool = POOLS.get(memPool as usize)?;
        for index in 0..count {
            // SAFETY: the caller promises that `descList` is null or valid to read `count` elements.
            let access = unsafe { &*ptr::from_ref(get(descList)?).add(index) };
            set_access(&pool, access.location.r#type, location_id(&access.location), access.flags)?;
        }
        Ok(())
    }

    fn cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz(
        default;
        ptr: *mut *mut c_void,
        size: usize,
        memPool: cudaMemPool_t,
        stream: cudaStream_t,
    ) {
        ready()?;
        let stream = stream_handle::resolve(stream as usize, default)?;
        // SAFETY: the caller promises that `ptr` is null or valid to write.
        unsafe { put_in(ptr, &stream, size, &*POOLS.get(memPool as usize)?) }
    }
}
