//! Addresses that programs reserve, and memory that they put after them.

use std::ffi::{c_int, c_uchar, c_ulonglong, c_void};

use crate::abi::driver::*;
use crate::api::virtual_memory::{self, GRANULE, PHYSICAL};
use crate::error::{CudaError, Result};
use crate::ffi::driver::memory::put_new;
use crate::ffi::driver::pool::{access_from, check_place};
use crate::ffi::{export, get, put};

/// The device that memory is to be of. It cannot be shared with other processes.
fn check(properties: &CUmemAllocationProp) -> Result<usize> {
    if properties.requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE {
        crate::log::say("memory that processes share (cuMemCreate) is not supported by the CPU device");
        return Err(CudaError::NOT_SUPPORTED);
    }
    // SAFETY: for most types it is a number, and any bits are one.
    check_place(properties.location.r#type, unsafe { properties.location.unnamed.id }, properties.r#type)
}

export! {
    fn cuMemAddressReserve(
        ptr: *mut CUdeviceptr,
        size: usize,
        alignment: usize,
        addr: CUdeviceptr,
        flags: c_ulonglong,
    ) {
        // An address that is only wished for.
        let _ = addr;
        if flags != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        crate::driver::check()?;
        // SAFETY: the caller promises that `ptr` is null or valid to write.
        unsafe { put_new(ptr, || virtual_memory::reserve(size as u64, alignment as u64)) }
    }

    fn cuMemAddressFree(ptr: CUdeviceptr, size: usize) {
        virtual_memory::unreserve(ptr, size as u64)
    }

    fn cuMemCreate(
        handle: *mut CUmemGenericAllocationHandle,
        size: usize,
        prop: *const CUmemAllocationProp,
        flags: c_ulonglong,
    ) {
        if flags != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        crate::driver::check()?;
        // SAFETY: the caller promises that `prop` is null or valid to read.
        let properties = unsafe { get(prop) }?;
        let device = check(properties)?;
        let is_compressible = CUmemAllocationCompType::from(properties.allocFlags.compressionType) == CU_MEM_ALLOCATION_COMP_GENERIC;
        // SAFETY: the caller promises that `handle` and `size` are null or valid to write.
        unsafe { put_new(handle, || Ok(virtual_memory::create(device, size as u64, is_compressible)?.handle.number() as u64)) }
    }

    fn cuMemRelease(handle: CUmemGenericAllocationHandle) {
        virtual_memory::release(handle as usize)
    }

    fn cuMemRetainAllocationHandle(handle: *mut CUmemGenericAllocationHandle, addr: *mut c_void) {
        // SAFETY: the caller promises that `handle` is null or valid to write.
        unsafe { put_new(handle, || Ok(virtual_memory::retain(addr as u64)?.handle.number() as u64)) }
    }

    fn cuMemMap(
        ptr: CUdeviceptr,
        size: usize,
        offset: usize,
        handle: CUmemGenericAllocationHandle,
        flags: c_ulonglong,
    ) {
        if flags != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        virtual_memory::map(ptr, size as u64, PHYSICAL.get(handle as usize)?, offset as u64)
    }

    fn cuMemUnmap(ptr: CUdeviceptr, size: usize) {
        virtual_memory::unmap(ptr, size as u64)
    }

    fn cuMemSetAccess(ptr: CUdeviceptr, size: usize, desc: *const CUmemAccessDesc, count: usize) {
        for index in 0..count {
            // SAFETY: the caller promises that `desc` is null or valid to read `count` elements.
            let access = unsafe { &*std::ptr::from_ref(get(desc)?).add(index) };
            // SAFETY: for most types it is a number, and any bits are one.
            let device = check_place(access.location.r#type, unsafe { access.location.unnamed.id }, CU_MEM_ALLOCATION_TYPE_PINNED)?;
            let is_allowed = match access.flags {
                CU_MEM_ACCESS_FLAGS_PROT_NONE => false,
                CU_MEM_ACCESS_FLAGS_PROT_READWRITE => true,
                CU_MEM_ACCESS_FLAGS_PROT_READ => {
                    crate::log::say("memory that can only be read (cuMemSetAccess) is not supported by the CPU device");
                    return Err(CudaError::NOT_SUPPORTED);
                }
                _ => return Err(CudaError::INVALID_VALUE),
            };
            virtual_memory::allow(ptr, size as u64, device, is_allowed)?;
        }
        Ok(())
    }

    fn cuMemGetAccess(flags: *mut c_ulonglong, location: *const CUmemLocation, ptr: CUdeviceptr) {
        // SAFETY: the caller promises that `location` is null or valid to read.
        let location = unsafe { get(location) }?;
        // SAFETY: for most types it is a number, and any bits are one.
        let access = access_from(location.r#type, unsafe { location.unnamed.id }, virtual_memory::access(ptr)?);
        // SAFETY: the caller promises that `flags` is null or valid to write.
        unsafe { put(flags, access.into()) }
    }

    fn cuMemGetAllocationGranularity(
        granularity: *mut usize,
        prop: *const CUmemAllocationProp,
        option: CUmemAllocationGranularity_flags,
    ) {
        let _ = option;
        // SAFETY: the caller promises that `prop` is null or valid to read, and `granularity` is null or valid to
        // write.
        unsafe {
            check(get(prop)?)?;
            put(granularity, GRANULE as usize)
        }
    }

    fn cuMemGetAllocationPropertiesFromHandle(prop: *mut CUmemAllocationProp, handle: CUmemGenericAllocationHandle) {
        let physical = PHYSICAL.get(handle as usize)?;
        // SAFETY: all of it is numbers and pointers, for which zero is a value.
        let mut properties: CUmemAllocationProp = unsafe { std::mem::zeroed() };
        properties.r#type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.r#type = CU_MEM_LOCATION_TYPE_DEVICE;
        properties.location.unnamed.id = physical.device as c_int;
        if physical.is_compressible {
            properties.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC as c_uchar;
        }
        // SAFETY: the caller promises that `prop` is null or valid to write.
        unsafe { put(prop, properties) }
    }
}
