//! Devices.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::{check_device, export_runtime, ready};
use crate::abi::driver::*;
use crate::abi::runtime::*;
use crate::api::{capture, carveout, context, device, memory, output, primary_context};
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

/// What is known of a device under a number; nothing is known of most numbers.
fn attribute(device: usize, attribute: CUdevice_attribute) -> c_int {
    device::attribute(device, attribute).unwrap_or(0)
}

/// Fills in what all versions of the structure have.
macro_rules! fill_properties {
    ($properties:ident, $device:ident) => {
        for (to, from) in $properties.name.iter_mut().zip(device::name($device).bytes()) {
            *to = from as c_char;
        }
        $properties.uuid.bytes = driver::logical($device)?.uuid().map(|byte| byte as c_char);
        $properties.totalGlobalMem = memory::total($device)? as usize;
        $properties.sharedMemPerBlock = attribute($device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) as usize;
        $properties.regsPerBlock = attribute($device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
        $properties.warpSize = attribute($device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
        $properties.memPitch = attribute($device, CU_DEVICE_ATTRIBUTE_MAX_PITCH) as usize;
        $properties.maxThreadsPerBlock = attribute($device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
        $properties.maxThreadsDim = [
            attribute($device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z),
        ];
        $properties.maxGridSize = [
            attribute($device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z),
        ];
        $properties.totalConstMem = attribute($device, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY) as usize;
        $properties.major = attribute($device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        $properties.minor = attribute($device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        $properties.textureAlignment = attribute($device, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) as usize;
        $properties.texturePitchAlignment = attribute($device, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT) as usize;
        $properties.multiProcessorCount = attribute($device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        $properties.integrated = attribute($device, CU_DEVICE_ATTRIBUTE_INTEGRATED);
        $properties.canMapHostMemory = attribute($device, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
        $properties.maxTexture1D = attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH);
        $properties.maxTexture1DMipmap = attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH);
        $properties.maxTexture2D = [
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT),
        ];
        $properties.maxTexture2DMipmap = [
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT),
        ];
        $properties.maxTexture2DLinear = [
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH),
        ];
        $properties.maxTexture2DGather = [
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT),
        ];
        $properties.maxTexture3D = [
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH),
        ];
        $properties.maxTexture3DAlt = $properties.maxTexture3D;
        $properties.maxTextureCubemap = attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH);
        $properties.maxTexture1DLayered = [
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS),
        ];
        $properties.maxTexture2DLayered = [
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS),
        ];
        $properties.maxTextureCubemapLayered = [
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS),
        ];
        $properties.maxSurface1D = attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH);
        $properties.maxSurface2D = [
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT),
        ];
        $properties.maxSurface3D = [
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH),
        ];
        $properties.maxSurface1DLayered = [
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS),
        ];
        $properties.maxSurface2DLayered = [
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS),
        ];
        $properties.maxSurfaceCubemap = attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH);
        $properties.maxSurfaceCubemapLayered = [
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH),
            attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS),
        ];
        $properties.surfaceAlignment = attribute($device, CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT) as usize;
        $properties.concurrentKernels = attribute($device, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
        $properties.ECCEnabled = attribute($device, CU_DEVICE_ATTRIBUTE_ECC_ENABLED);
        $properties.pciBusID = attribute($device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
        $properties.pciDeviceID = attribute($device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
        $properties.pciDomainID = attribute($device, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
        $properties.tccDriver = attribute($device, CU_DEVICE_ATTRIBUTE_TCC_DRIVER);
        $properties.asyncEngineCount = attribute($device, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
        $properties.unifiedAddressing = attribute($device, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
        $properties.memoryBusWidth = attribute($device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
        $properties.l2CacheSize = attribute($device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
        $properties.persistingL2CacheMaxSize = attribute($device, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
        $properties.accessPolicyMaxWindowSize = attribute($device, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
        $properties.maxThreadsPerMultiProcessor =
            attribute($device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
        $properties.streamPrioritiesSupported = attribute($device, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED);
        $properties.globalL1CacheSupported = attribute($device, CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED);
        $properties.localL1CacheSupported = attribute($device, CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED);
        $properties.sharedMemPerMultiprocessor =
            attribute($device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) as usize;
        $properties.regsPerMultiprocessor = attribute($device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
        $properties.managedMemory = attribute($device, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
        $properties.hostNativeAtomicSupported = attribute($device, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
        $properties.pageableMemoryAccess = attribute($device, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
        $properties.concurrentManagedAccess = attribute($device, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
        $properties.computePreemptionSupported = attribute($device, CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED);
        $properties.canUseHostPointerForRegisteredMem =
            attribute($device, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
        $properties.cooperativeLaunch = attribute($device, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
        $properties.sharedMemPerBlockOptin =
            attribute($device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) as usize;
        $properties.pageableMemoryAccessUsesHostPageTables =
            attribute($device, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
        $properties.directManagedMemAccessFromHost =
            attribute($device, CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST);
        $properties.maxBlocksPerMultiProcessor = attribute($device, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
        $properties.reservedSharedMemPerBlock =
            attribute($device, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK) as usize;
    };
}

/// Fills in what only the versions before 13 have.
macro_rules! fill_old_properties {
    ($properties:ident, $device:ident) => {
        fill_properties!($properties, $device);
        $properties.clockRate = attribute($device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
        $properties.memoryClockRate = attribute($device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
        $properties.deviceOverlap = attribute($device, CU_DEVICE_ATTRIBUTE_GPU_OVERLAP);
        $properties.kernelExecTimeoutEnabled = attribute($device, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT);
        $properties.singleToDoublePrecisionPerfRatio =
            attribute($device, CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
        $properties.maxTexture1DLinear = attribute($device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
    };
}

export_runtime! {
    fn cudaGetDeviceCount(count: *mut c_int) {
        let devices = device::count().inspect_err(|_| {
            // SAFETY: the caller promises that `count` is null or valid to write.
            unsafe { put_if(count, 0) };
        })?;
        // SAFETY: the caller promises that `count` is null or valid to write.
        unsafe { put(count, devices as c_int) }
    }

    fn cudaGetDevice(device: *mut c_int) {
        driver::start()?;
        // SAFETY: the caller promises that `device` is null or valid to write.
        unsafe { put(device, context::current_device() as c_int) }
    }

    fn cudaSetDevice(device: c_int) {
        primary_context::set_device(check_device(device)?)
    }

    fn cudaInitDevice(device: c_int, deviceFlags: c_uint, flags: c_uint) {
        let _ = (deviceFlags, flags);
        primary_context::initialize(check_device(device)?)
    }

    fn cudaSetValidDevices(device_arr: *mut c_int, len: c_int) {
        for index in 0..usize::try_from(len).map_err(|_| CudaError::INVALID_VALUE)? {
            // SAFETY: the caller promises that `device_arr` is null or valid to read `len` elements.
            check_device(unsafe { *std::ptr::from_ref(get(device_arr)?).add(index) })?;
        }
        Ok(())
    }

    fn cudaGetDeviceProperties(prop: *mut cudaDeviceProp, device: c_int) {
        let device = check_device(device)?;
        // SAFETY: all of it is numbers, for which zero is a value.
        let mut properties: cudaDeviceProp = unsafe { std::mem::zeroed() };
        fill_properties!(properties, device);
        properties.hostRegisterSupported = attribute(device, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
        properties.hostRegisterReadOnlySupported = attribute(device, CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED);
        properties.memoryPoolsSupported = attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
        properties.unifiedFunctionPointers = attribute(device, CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS);
        properties.deviceNumaId = attribute(device, CU_DEVICE_ATTRIBUTE_NUMA_ID);
        properties.hostNumaId = attribute(device, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
        // SAFETY: the caller promises that `prop` is null or valid to write.
        unsafe { put(prop, properties) }
    }

    fn cudaGetDeviceProperties_v2(prop: *mut cudaDeviceProp12, device: c_int) {
        let device = check_device(device)?;
        // SAFETY: all of it is numbers, for which zero is a value.
        let mut properties: cudaDeviceProp12 = unsafe { std::mem::zeroed() };
        fill_old_properties!(properties, device);
        properties.hostRegisterSupported = attribute(device, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
        properties.hostRegisterReadOnlySupported = attribute(device, CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED);
        properties.memoryPoolsSupported = attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
        properties.unifiedFunctionPointers = attribute(device, CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS);
        // SAFETY: the caller promises that `prop` is null or valid to write.
        unsafe { put(prop, properties) }
    }

    fn cudaGetDeviceProperties_11(prop: *mut cudaDeviceProp11, device: c_int) {
        let device = check_device(device)?;
        // SAFETY: all of it is numbers, for which zero is a value.
        let mut properties: cudaDeviceProp11 = unsafe { std::mem::zeroed() };
        fill_old_properties!(properties, device);
        // SAFETY: the caller promises that `prop` is null or valid to write.
        unsafe { put(prop, properties) }
    }

    fn cudaDeviceGetAttribute(value: *mut c_int, attr: cudaDeviceAttr, device: c_int) {
        // The numbers are those of the driver.
        let found = device::attribute(check_device(device)?, attr)?;
        // SAFETY: the caller promises that `value` is null or valid to write.
        unsafe { put(value, found) }
    }

    fn cudaDeviceSynchronize() {
        synchronize()
    }

    fn cudaThreadSynchronize() {
        synchronize()
    }

    fn cudaDeviceReset() {
        driver::start()?;
        let device = context::current_device();
        if let Some(context) = primary_context::get(device) {
            let _ = context.synchronize();
            output::flush();
        }
        primary_context::reset(device);
        Ok(())
    }

    fn cudaThreadExit() {
        primary_context::reset(context::current_device());
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
        ready()?;
        carveout::set_of_all(cacheConfig)
    }

    fn cudaDeviceGetCacheConfig(pCacheConfig: *mut cudaFuncCache) {
        ready()?;
        // SAFETY: the caller promises that `pCacheConfig` is null or valid to write.
        unsafe { put(pCacheConfig, carveout::of_all()) }
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
        let can_access = device::can_access_peer(check_device(device)?, check_device(peerDevice)?);
        // SAFETY: the caller promises that `canAccessPeer` is null or valid to write.
        unsafe { put(canAccessPeer, can_access.into()) }
    }

    fn cudaDeviceEnablePeerAccess(peerDevice: c_int, flags: c_uint) {
        let peer = check_device(peerDevice)?;
        if flags != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        primary_context::enable_peer_access(peer)
    }

    fn cudaDeviceDisablePeerAccess(peerDevice: c_int) {
        primary_context::disable_peer_access(check_device(peerDevice)?)
    }

    fn cudaDeviceGetPCIBusId(pciBusId: *mut c_char, len: c_int, device: c_int) {
        let name = driver::logical(check_device(device)?)?.pci_name();
        // SAFETY: the caller promises that `pciBusId` is null or valid to write `usize::try_from(len).unwrap_or(0)`
        // elements.
        unsafe { put_text(pciBusId, usize::try_from(len).unwrap_or(0), &name) }
    }

    fn cudaDeviceGetByPCIBusId(device: *mut c_int, pciBusId: *const c_char) {
        driver::start()?;
        // SAFETY: the caller promises that `pciBusId` is null or a string that ends with zero.
        let found = device::by_pci_name(unsafe { text(pciBusId) }?)?;
        // SAFETY: the caller promises that `device` is null or valid to write.
        unsafe { put(device, found as c_int) }
    }

    fn cudaChooseDevice(device: *mut c_int, prop: *const cudaDeviceProp) {
        let _ = prop;
        driver::start()?;
        // SAFETY: the caller promises that `device` is null or valid to write. The first is as good as any.
        unsafe { put(device, 0) }
    }

    fn cudaCtxResetPersistingL2Cache() {
        ready()
    }

    fn cudaDeviceGetP2PAttribute(value: *mut c_int, attr: cudaDeviceP2PAttr, srcDevice: c_int, dstDevice: c_int) {
        let found = device::peer_attribute(attr, check_device(srcDevice)?, check_device(dstDevice)?)?;
        // SAFETY: the caller promises that `value` is null or valid to write.
        unsafe { put(value, found) }
    }
}
