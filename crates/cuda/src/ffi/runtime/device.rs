//! Devices.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::{check_device, export_runtime, ready};
use crate::abi::driver::*;
use crate::abi::runtime::*;
use crate::api::device::{self, PCI_NAME, UUID};
use crate::api::{capture, output, primary_context};
use crate::driver;
use crate::error::{CudaError, Result};
use crate::ffi::{get, put, put_if, put_text, text};

fn synchronize() -> Result<()> {
    let context = primary_context::require_or_primary()?;
    capture::refuse_in(context.handle.number())?;
    let result = context.synchronize();
    output::flush();
    result
}

/// What is known of the device under a number; nothing is known of most numbers.
fn attribute(attribute: CUdevice_attribute) -> c_int {
    device::attribute(attribute).unwrap_or(0)
}

/// Fills in what all versions of the structure have.
macro_rules! fill_properties {
    ($properties:ident) => {
        for (to, from) in $properties.name.iter_mut().zip(device::name().bytes()) {
            *to = from as c_char;
        }
        $properties.uuid.bytes = UUID.map(|byte| byte as c_char);
        $properties.totalGlobalMem = driver::get()?.device.memory().total_bytes() as usize;
        $properties.sharedMemPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) as usize;
        $properties.regsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
        $properties.warpSize = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
        $properties.memPitch = attribute(CU_DEVICE_ATTRIBUTE_MAX_PITCH) as usize;
        $properties.maxThreadsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
        $properties.maxThreadsDim = [
            attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
            attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
            attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z),
        ];
        $properties.maxGridSize = [
            attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
            attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
            attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z),
        ];
        $properties.totalConstMem = attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY) as usize;
        $properties.major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        $properties.minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        $properties.textureAlignment = attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) as usize;
        $properties.texturePitchAlignment = attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT) as usize;
        $properties.multiProcessorCount = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        $properties.integrated = attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED);
        $properties.canMapHostMemory = attribute(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
        $properties.maxTexture1D = attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH);
        $properties.maxTexture1DMipmap = attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH);
        $properties.maxTexture2D = [
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT),
        ];
        $properties.maxTexture2DMipmap = [
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT),
        ];
        $properties.maxTexture2DLinear = [
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH),
        ];
        $properties.maxTexture2DGather = [
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT),
        ];
        $properties.maxTexture3D = [
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH),
        ];
        $properties.maxTexture3DAlt = $properties.maxTexture3D;
        $properties.maxTextureCubemap = attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH);
        $properties.maxTexture1DLayered = [
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS),
        ];
        $properties.maxTexture2DLayered = [
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS),
        ];
        $properties.maxTextureCubemapLayered = [
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS),
        ];
        $properties.maxSurface1D = attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH);
        $properties.maxSurface2D = [
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT),
        ];
        $properties.maxSurface3D = [
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH),
        ];
        $properties.maxSurface1DLayered = [
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS),
        ];
        $properties.maxSurface2DLayered = [
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS),
        ];
        $properties.maxSurfaceCubemap = attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH);
        $properties.maxSurfaceCubemapLayered = [
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH),
            attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS),
        ];
        $properties.surfaceAlignment = attribute(CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT) as usize;
        $properties.concurrentKernels = attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
        $properties.ECCEnabled = attribute(CU_DEVICE_ATTRIBUTE_ECC_ENABLED);
        $properties.pciBusID = attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
        $properties.pciDeviceID = attribute(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
        $properties.pciDomainID = attribute(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
        $properties.tccDriver = attribute(CU_DEVICE_ATTRIBUTE_TCC_DRIVER);
        $properties.asyncEngineCount = attribute(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
        $properties.unifiedAddressing = attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
        $properties.memoryBusWidth = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
        $properties.l2CacheSize = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
        $properties.persistingL2CacheMaxSize = attribute(CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
        $properties.accessPolicyMaxWindowSize = attribute(CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
        $properties.maxThreadsPerMultiProcessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
        $properties.streamPrioritiesSupported = attribute(CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED);
        $properties.globalL1CacheSupported = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED);
        $properties.localL1CacheSupported = attribute(CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED);
        $properties.sharedMemPerMultiprocessor =
            attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) as usize;
        $properties.regsPerMultiprocessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
        $properties.managedMemory = attribute(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
        $properties.hostNativeAtomicSupported = attribute(CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
        $properties.pageableMemoryAccess = attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
        $properties.concurrentManagedAccess = attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
        $properties.computePreemptionSupported = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED);
        $properties.canUseHostPointerForRegisteredMem =
            attribute(CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
        $properties.cooperativeLaunch = attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
        $properties.sharedMemPerBlockOptin = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) as usize;
        $properties.pageableMemoryAccessUsesHostPageTables =
            attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
        $properties.directManagedMemAccessFromHost = attribute(CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST);
        $properties.maxBlocksPerMultiProcessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
        $properties.reservedSharedMemPerBlock =
            attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK) as usize;
    };
}

/// Fills in what only the versions before 13 have.
macro_rules! fill_old_properties {
    ($properties:ident) => {
        fill_properties!($properties);
        $properties.clockRate = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
        $properties.memoryClockRate = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
        $properties.deviceOverlap = attribute(CU_DEVICE_ATTRIBUTE_GPU_OVERLAP);
        $properties.kernelExecTimeoutEnabled = attribute(CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT);
        $properties.singleToDoublePrecisionPerfRatio =
            attribute(CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
        $properties.maxTexture1DLinear = attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
    };
}

export_runtime! {
    fn cudaGetDeviceCount(count: *mut c_int) {
        driver::start()?;
        // SAFETY: the caller promises that `count` is null or valid to write.
        unsafe { put(count, 1) }
    }

    fn cudaGetDevice(device: *mut c_int) {
        driver::start()?;
        // SAFETY: the caller promises that `device` is null or valid to write.
        unsafe { put(device, 0) }
    }

    fn cudaSetDevice(device: c_int) {
        check_device(device)?;
        ready()
    }

    fn cudaInitDevice(device: c_int, deviceFlags: c_uint, flags: c_uint) {
        let _ = (deviceFlags, flags);
        check_device(device)?;
        ready()
    }

    fn cudaSetValidDevices(device_arr: *mut c_int, len: c_int) {
        for index in 0..usize::try_from(len).map_err(|_| CudaError::INVALID_VALUE)? {
            // SAFETY: the caller promises that `device_arr` is null or valid to read `len` elements.
            check_device(unsafe { *std::ptr::from_ref(get(device_arr)?).add(index) })?;
        }
        Ok(())
    }

    fn cudaGetDeviceProperties(prop: *mut cudaDeviceProp, device: c_int) {
        check_device(device)?;
        // SAFETY: all of it is numbers, for which zero is a value.
        let mut properties: cudaDeviceProp = unsafe { std::mem::zeroed() };
        fill_properties!(properties);
        properties.hostRegisterSupported = attribute(CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
        properties.hostRegisterReadOnlySupported = attribute(CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED);
        properties.memoryPoolsSupported = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
        properties.unifiedFunctionPointers = attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS);
        properties.deviceNumaId = attribute(CU_DEVICE_ATTRIBUTE_NUMA_ID);
        properties.hostNumaId = attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
        // SAFETY: the caller promises that `prop` is null or valid to write.
        unsafe { put(prop, properties) }
    }

    fn cudaGetDeviceProperties_v2(prop: *mut cudaDeviceProp12, device: c_int) {
        check_device(device)?;
        // SAFETY: all of it is numbers, for which zero is a value.
        let mut properties: cudaDeviceProp12 = unsafe { std::mem::zeroed() };
        fill_old_properties!(properties);
        properties.hostRegisterSupported = attribute(CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
        properties.hostRegisterReadOnlySupported = attribute(CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED);
        properties.memoryPoolsSupported = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
        properties.unifiedFunctionPointers = attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS);
        // SAFETY: the caller promises that `prop` is null or valid to write.
        unsafe { put(prop, properties) }
    }

    fn cudaGetDeviceProperties_11(prop: *mut cudaDeviceProp11, device: c_int) {
        check_device(device)?;
        // SAFETY: all of it is numbers, for which zero is a value.
        let mut properties: cudaDeviceProp11 = unsafe { std::mem::zeroed() };
        fill_old_properties!(properties);
        // SAFETY: the caller promises that `prop` is null or valid to write.
        unsafe { put(prop, properties) }
    }

    fn cudaDeviceGetAttribute(value: *mut c_int, attr: cudaDeviceAttr, device: c_int) {
        check_device(device)?;
        // SAFETY: the caller promises that `value` is null or valid to write. The numbers are those of the driver.
        unsafe { put(value, device::attribute(attr)?) }
    }

    fn cudaDeviceSynchronize() {
        synchronize()
    }

    fn cudaThreadSynchronize() {
        synchronize()
    }

    fn cudaDeviceReset() {
        driver::start()?;
        if let Some(context) = primary_context::get() {
            let _ = context.synchronize();
            output::flush();
        }
        primary_context::reset();
        Ok(())
    }

    fn cudaThreadExit() {
        primary_context::reset();
        Ok(())
    }

    fn cudaDeviceSetLimit(limit: cudaLimit, value: usize) {
        let context = primary_context::require_or_primary()?;
        let mut limits = context.limits.lock().unwrap_or_else(PoisonError::into_inner);
        *limits.get_mut(limit as usize).ok_or(CudaError::UNSUPPORTED_LIMIT)? = value as u64;
        Ok(())
    }

    fn cudaDeviceGetLimit(pValue: *mut usize, limit: cudaLimit) {
        let context = primary_context::require_or_primary()?;
        let limits = context.limits.lock().unwrap_or_else(PoisonError::into_inner);
        let value = *limits.get(limit as usize).ok_or(CudaError::UNSUPPORTED_LIMIT)?;
        // SAFETY: the caller promises that `pValue` is null or valid to write.
        unsafe { put(pValue, value as usize) }
    }

    fn cudaDeviceSetCacheConfig(cacheConfig: cudaFuncCache) {
        let _ = cacheConfig;
        ready()
    }

    fn cudaDeviceGetCacheConfig(pCacheConfig: *mut cudaFuncCache) {
        ready()?;
        // SAFETY: the caller promises that `pCacheConfig` is null or valid to write.
        unsafe { put(pCacheConfig, 0) }
    }

    fn cudaDeviceSetSharedMemConfig(config: cudaSharedMemConfig) {
        let _ = config;
        ready()
    }

    fn cudaDeviceGetSharedMemConfig(pConfig: *mut cudaSharedMemConfig) {
        ready()?;
        // SAFETY: the caller promises that `pConfig` is null or valid to write. Banks of four bytes.
        unsafe { put(pConfig, 1) }
    }

    fn cudaSetDeviceFlags(flags: c_uint) {
        primary_context::require_or_primary()?.flags.store(flags, Ordering::Relaxed);
        Ok(())
    }

    fn cudaGetDeviceFlags(flags: *mut c_uint) {
        let context = primary_context::require_or_primary()?;
        // SAFETY: the caller promises that `flags` is null or valid to write.
        unsafe { put(flags, context.flags.load(Ordering::Relaxed)) }
    }

    fn cudaDeviceGetStreamPriorityRange(leastPriority: *mut c_int, greatestPriority: *mut c_int) {
        ready()?;
        // SAFETY: the caller promises that `leastPriority` and `greatestPriority` are null or valid to write.
        unsafe {
            put_if(leastPriority, 0);
            put_if(greatestPriority, -5);
        }
        Ok(())
    }

    fn cudaDeviceCanAccessPeer(canAccessPeer: *mut c_int, device: c_int, peerDevice: c_int) {
        check_device(device)?;
        check_device(peerDevice)?;
        // SAFETY: the caller promises that `canAccessPeer` is null or valid to write. There is no other device.
        unsafe { put(canAccessPeer, 0) }
    }

    fn cudaDeviceEnablePeerAccess(peerDevice: c_int, flags: c_uint) {
        let _ = (peerDevice, flags);
        ready()?;
        Err(CudaError::INVALID_DEVICE)
    }

    fn cudaDeviceDisablePeerAccess(peerDevice: c_int) {
        check_device(peerDevice)?;
        Err(CudaError::PEER_ACCESS_NOT_ENABLED)
    }

    fn cudaDeviceGetPCIBusId(pciBusId: *mut c_char, len: c_int, device: c_int) {
        check_device(device)?;
        // SAFETY: the caller promises that `pciBusId` is null or valid to write `usize::try_from(len).unwrap_or(0)`
        // elements.
        unsafe { put_text(pciBusId, usize::try_from(len).unwrap_or(0), PCI_NAME) }
    }

    fn cudaDeviceGetByPCIBusId(device: *mut c_int, pciBusId: *const c_char) {
        driver::start()?;
        // SAFETY: the caller promises that `pciBusId` is null or a string that ends with zero.
        device::check_pci_name(unsafe { text(pciBusId) }?)?;
        // SAFETY: the caller promises that `device` is null or valid to write.
        unsafe { put(device, 0) }
    }

    fn cudaChooseDevice(device: *mut c_int, prop: *const cudaDeviceProp) {
        let _ = prop;
        driver::start()?;
        // SAFETY: the caller promises that `device` is null or valid to write. There is only one.
        unsafe { put(device, 0) }
    }

    fn cudaCtxResetPersistingL2Cache() {
        ready()
    }

    fn cudaDeviceGetP2PAttribute(value: *mut c_int, attr: cudaDeviceP2PAttr, srcDevice: c_int, dstDevice: c_int) {
        // It is asked of two devices, and there is one.
        let _ = (value, attr);
        check_device(srcDevice)?;
        check_device(dstDevice)?;
        Err(CudaError::INVALID_DEVICE)
    }
}
