//! Kernels: what they are, and launches.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use crate::abi::driver::*;
use crate::api::kernel::{KERNELS, Kernel};
use crate::api::launch::{Launch, check_cluster};
use crate::api::stream_handle::{self, DefaultStream};
use crate::api::work::Work;
use crate::api::{context, device, module, occupancy, output};
use crate::error::{CudaError, Result};
use crate::ffi::{self, export, get, put, put_if};
use rewrite::LaunchShape;

/// Launches a kernel with parameters as C programs give them.
///
/// # Safety
/// As for [`params`](ffi::launch::params).
unsafe fn launch(
    kernel: &Arc<Kernel>,
    shape: LaunchShape,
    (stream, default): (CUstream, DefaultStream),
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<()> {
    let stream = stream_handle::resolve(stream as usize, default)?;
    let reach = stream.reach()?;
    let kernel = &module::kernel_on(kernel, reach.device)?;
    // SAFETY: the caller promises that `params` is null or a list of pointers to the parameters of the kernel, and
    // `extra` is null or a list of words that ends with `CU_LAUNCH_PARAM_END`.
    let params = unsafe { ffi::launch::params(kernel, params, extra) }?;
    output::flush();
    // The driver has no error of its own for a shape that cannot be.
    let prepared = Launch::prepare(kernel, shape, params, reach).map_err(|error| match error {
        CudaError::INVALID_CONFIGURATION => CudaError::INVALID_VALUE,
        _ => error,
    })?;
    stream.push(Work::Launch(prepared))
}

/// What is known of a kernel under a number.
pub(crate) fn attribute(kernel: &Kernel, attribute: CUfunction_attribute) -> Result<c_int> {
    Ok(match attribute {
        CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => kernel.max_threads() as c_int,
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => kernel.facts.shared as c_int,
        CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => kernel.facts.local as c_int,
        CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES => kernel.constant_bytes() as c_int,
        CU_FUNC_ATTRIBUTE_NUM_REGS => occupancy::REGISTERS_PER_THREAD as c_int,
        CU_FUNC_ATTRIBUTE_PTX_VERSION => {
            kernel.ptx_version().unwrap_or_else(|| device::capability(kernel.device)) as c_int
        }
        CU_FUNC_ATTRIBUTE_BINARY_VERSION => device::capability(kernel.device) as c_int,
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => kernel.max_dynamic_shared() as c_int,
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => kernel.carveout.percent(),
        _ if (0..CU_FUNC_ATTRIBUTE_MAX).contains(&attribute) => 0,
        _ => return Err(CudaError::INVALID_VALUE),
    })
}

/// Changes what can be changed of a kernel.
pub(crate) fn set_attribute(kernel: &Kernel, attribute: CUfunction_attribute, value: c_int) -> Result<()> {
    match attribute {
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
            kernel.set_max_dynamic_shared(u32::try_from(value).map_err(|_| CudaError::INVALID_VALUE)?)
        }
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => kernel.carveout.set_percent(value),
        // Clusters: a wish.
        _ if (CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT..CU_FUNC_ATTRIBUTE_MAX).contains(&attribute) => Ok(()),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// # Safety
/// `config.attrs` must be null or valid to read `config.numAttrs` elements.
unsafe fn shape_of(config: &CUlaunchConfig) -> Result<LaunchShape> {
    let mut shape = LaunchShape {
        grid: [config.gridDimX, config.gridDimY, config.gridDimZ],
        block: [config.blockDimX, config.blockDimY, config.blockDimZ],
        dynamic_shared: config.sharedMemBytes,
        is_cooperative: false,
    };
    for index in 0..config.numAttrs as usize {
        // SAFETY: the caller promises that `config.attrs` is null or valid to read `config.numAttrs` elements.
        let attribute = unsafe { &*std::ptr::from_ref(get(config.attrs)?).add(index) };
        match attribute.id {
            // SAFETY: the identifier says which of the values it is.
            CU_LAUNCH_ATTRIBUTE_COOPERATIVE => shape.is_cooperative = unsafe { attribute.value.cooperative } != 0,
            CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION => {
                // SAFETY: the identifier says which of the values it is.
                let size = unsafe { attribute.value.clusterDim };
                check_cluster([size.x, size.y, size.z])?;
            }
            // Priorities, windows of caches, overlap with other launches: hints.
            _ => {}
        }
    }
    Ok(shape)
}

export! {
    fn cuLaunchKernel, cuLaunchKernel_ptsz(
        default;
        f: CUfunction,
        gridDimX: c_uint,
        gridDimY: c_uint,
        gridDimZ: c_uint,
        blockDimX: c_uint,
        blockDimY: c_uint,
        blockDimZ: c_uint,
        sharedMemBytes: c_uint,
        hStream: CUstream,
        kernelParams: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) {
        let shape = LaunchShape {
            grid: [gridDimX, gridDimY, gridDimZ],
            block: [blockDimX, blockDimY, blockDimZ],
            dynamic_shared: sharedMemBytes,
            is_cooperative: false,
        };
        // SAFETY: the caller promises that `kernelParams` is null or a list of pointers to the parameters of the
        // kernel, and `extra` is null or a list of words that ends with `CU_LAUNCH_PARAM_END`.
        unsafe { launch(&KERNELS.get(f as usize)?, shape, (hStream, default), kernelParams, extra) }
    }

    fn cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz(
        default;
        f: CUfunction,
        gridDimX: c_uint,
        gridDimY: c_uint,
        gridDimZ: c_uint,
        blockDimX: c_uint,
        blockDimY: c_uint,
        blockDimZ: c_uint,
        sharedMemBytes: c_uint,
        hStream: CUstream,
        kernelParams: *mut *mut c_void,
    ) {
        let shape = LaunchShape {
            grid: [gridDimX, gridDimY, gridDimZ],
            block: [blockDimX, blockDimY, blockDimZ],
            dynamic_shared: sharedMemBytes,
            is_cooperative: true,
        };
        // SAFETY: the caller promises that `kernelParams` is null or a list of pointers to the parameters of the
        // kernel.
        unsafe { launch(&KERNELS.get(f as usize)?, shape, (hStream, default), kernelParams, std::ptr::null_mut()) }
    }

    fn cuLaunchKernelEx, cuLaunchKernelEx_ptsz(
        default;
        config: *const CUlaunchConfig,
        f: CUfunction,
        kernelParams: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) {
        // SAFETY: the caller promises that `config` is null or valid to read, `kernelParams` is null or a list of
        // pointers to the parameters of the kernel, and `extra` is null or a list of words that ends with
        // `CU_LAUNCH_PARAM_END`.
        unsafe {
            let config = get(config)?;
            launch(&KERNELS.get(f as usize)?, shape_of(config)?, (config.hStream, default), kernelParams, extra)
        }
    }

    fn cuFuncGetAttribute(pi: *mut c_int, attrib: CUfunction_attribute, hfunc: CUfunction) {
        let value = attribute(&*KERNELS.get(hfunc as usize)?, attrib)?;
        // SAFETY: the caller promises that `pi` is null or valid to write.
        unsafe { put(pi, value) }
    }

    fn cuFuncSetAttribute(hfunc: CUfunction, attrib: CUfunction_attribute, value: c_int) {
        set_attribute(&*KERNELS.get(hfunc as usize)?, attrib, value)
    }

    fn cuFuncSetCacheConfig(hfunc: CUfunction, config: CUfunc_cache) {
        KERNELS.get(hfunc as usize)?.carveout.set_preference(config)
    }

    fn cuFuncSetSharedMemConfig(hfunc: CUfunction, config: CUsharedconfig) {
        let _ = config;
        KERNELS.get(hfunc as usize).map(drop)
    }

    fn cuFuncGetModule(hmod: *mut CUmodule, hfunc: CUfunction) {
        let module = KERNELS.get(hfunc as usize)?.module;
        // SAFETY: the caller promises that `hmod` is null or valid to write.
        unsafe { put(hmod, module as CUmodule) }
    }

    fn cuFuncGetName(name: *mut *const c_char, hfunc: CUfunction) {
        let kernel = KERNELS.get(hfunc as usize)?;
        // SAFETY: the caller promises that `name` is null or valid to write. The name lives as long as the module.
        unsafe { put(name, kernel.c_name.as_ptr()) }
    }

    fn cuFuncGetParamInfo(func: CUfunction, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize) {
        // SAFETY: the caller promises that `paramOffset` and `paramSize` are null or valid to write.
        unsafe { param_info(&*KERNELS.get(func as usize)?, paramIndex, paramOffset, paramSize) }
    }

    fn cuKernelGetParamInfo(kernel: CUkernel, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize) {
        // SAFETY: the caller promises that `paramOffset` and `paramSize` are null or valid to write.
        unsafe { param_info(&*KERNELS.get(kernel as usize)?, paramIndex, paramOffset, paramSize) }
    }

    fn cuKernelGetName(name: *mut *const c_char, hfunc: CUkernel) {
        let kernel = KERNELS.get(hfunc as usize)?;
        // SAFETY: the caller promises that `name` is null or valid to write. The name lives as long as the library.
        unsafe { put(name, kernel.c_name.as_ptr()) }
    }

    fn cuKernelGetFunction(pFunc: *mut CUfunction, kernel: CUkernel) {
        let function = module::kernel_on(&KERNELS.get(kernel as usize)?, context::require()?.device())?;
        // SAFETY: the caller promises that `pFunc` is null or valid to write. They are the same to us on one device.
        unsafe { put(pFunc, function.handle.number() as CUfunction) }
    }

    fn cuKernelGetLibrary(pLib: *mut CUlibrary, kernel: CUkernel) {
        let module = KERNELS.get(kernel as usize)?.module;
        // SAFETY: the caller promises that `pLib` is null or valid to write.
        unsafe { put(pLib, module as CUlibrary) }
    }

    fn cuKernelGetAttribute(pi: *mut c_int, attrib: CUfunction_attribute, kernel: CUkernel, dev: CUdevice) {
        let kernel = module::kernel_on(&KERNELS.get(kernel as usize)?, device::check(dev)?)?;
        let value = attribute(&kernel, attrib)?;
        // SAFETY: the caller promises that `pi` is null or valid to write.
        unsafe { put(pi, value) }
    }

    fn cuKernelSetAttribute(attrib: CUfunction_attribute, val: c_int, kernel: CUkernel, dev: CUdevice) {
        set_attribute(&*module::kernel_on(&KERNELS.get(kernel as usize)?, device::check(dev)?)?, attrib, val)
    }

    fn cuKernelSetCacheConfig(kernel: CUkernel, config: CUfunc_cache, dev: CUdevice) {
        device::check(dev)?;
        KERNELS.get(kernel as usize)?.carveout.set_preference(config)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        numBlocks: *mut c_int,
        func: CUfunction,
        blockSize: c_int,
        dynamicSMemSize: usize,
    ) {
        context::require()?;
        // SAFETY: the caller promises that `numBlocks` is null or valid to write.
        unsafe { put_blocks(numBlocks, func, blockSize, dynamicSMemSize) }
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks: *mut c_int,
        func: CUfunction,
        blockSize: c_int,
        dynamicSMemSize: usize,
        flags: c_uint,
    ) {
        let _ = flags;
        context::require()?;
        // SAFETY: the caller promises that `numBlocks` is null or valid to write.
        unsafe { put_blocks(numBlocks, func, blockSize, dynamicSMemSize) }
    }

    fn cuOccupancyMaxPotentialBlockSize(
        minGridSize: *mut c_int,
        blockSize: *mut c_int,
        func: CUfunction,
        blockSizeToDynamicSMemSize: CUoccupancyB2DSize,
        dynamicSMemSize: usize,
        blockSizeLimit: c_int,
    ) {
        // SAFETY: the caller promises that `minGridSize` and `blockSize` are null or valid to write, and
        // `blockSizeToDynamicSMemSize` is null or a function of the program that may be called.
        unsafe { put_best(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit) }
    }

    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        minGridSize: *mut c_int,
        blockSize: *mut c_int,
        func: CUfunction,
        blockSizeToDynamicSMemSize: CUoccupancyB2DSize,
        dynamicSMemSize: usize,
        blockSizeLimit: c_int,
        flags: c_uint,
    ) {
        let _ = flags;
        // SAFETY: the caller promises that `minGridSize` and `blockSize` are null or valid to write, and
        // `blockSizeToDynamicSMemSize` is null or a function of the program that may be called.
        unsafe { put_best(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit) }
    }

    fn cuOccupancyAvailableDynamicSMemPerBlock(
        dynamicSmemSize: *mut usize,
        func: CUfunction,
        numBlocks: c_int,
        blockSize: c_int,
    ) {
        let bytes = occupancy::free_shared(&*KERNELS.get(func as usize)?, numBlocks, blockSize)?;
        // SAFETY: the caller promises that `dynamicSmemSize` is null or valid to write.
        unsafe { put(dynamicSmemSize, bytes as usize) }
    }

    fn cuFuncGetParamCount(func: CUfunction, paramCount: *mut usize) {
        // SAFETY: the caller promises that `paramCount` is null or valid to write.
        unsafe { param_count(&*KERNELS.get(func as usize)?, paramCount) }
    }

    fn cuKernelGetParamCount(kernel: CUkernel, paramCount: *mut usize) {
        // SAFETY: the caller promises that `paramCount` is null or valid to write.
        unsafe { param_count(&*KERNELS.get(kernel as usize)?, paramCount) }
    }
}

/// # Safety
/// `out` must be null or valid to write.
unsafe fn put_blocks(out: *mut c_int, func: CUfunction, threads: c_int, shared: usize) -> Result<()> {
    let threads = u32::try_from(threads).map_err(|_| CudaError::INVALID_VALUE)?;
    let blocks = occupancy::blocks_per_multiprocessor(&*KERNELS.get(func as usize)?, threads, shared as u64)?;
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, blocks as c_int) }
}

/// # Safety
/// `grid` and `block` must be null or valid to write, and `shared_of` must be null or a function of the program that
/// may be called.
unsafe fn put_best(
    grid: *mut c_int,
    block: *mut c_int,
    func: CUfunction,
    shared_of: CUoccupancyB2DSize,
    shared: usize,
    limit: c_int,
) -> Result<()> {
    let kernel = KERNELS.get(func as usize)?;
    let limit = u32::try_from(limit).map_err(|_| CudaError::INVALID_VALUE)?;
    let shared = |threads: u32| match shared_of {
        Some(function) => {
            let _restore = crate::process::device_access::forbid();
            // SAFETY: a function of the program, made to be called with this.
            unsafe { function(threads as c_int) as u64 }
        }
        None => shared as u64,
    };
    let (blocks, threads) = occupancy::best_block(&kernel, shared, limit)?;
    // SAFETY: the caller promises that `grid` and `block` are null or valid to write.
    unsafe {
        put(grid, blocks as c_int)?;
        put(block, threads as c_int)
    }
}

/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn param_count(kernel: &Kernel, out: *mut usize) -> Result<()> {
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, kernel.facts.params.len()) }
}

/// # Safety
/// `offset` and `size` must be null or valid to write.
pub(crate) unsafe fn param_info(kernel: &Kernel, index: usize, offset: *mut usize, size: *mut usize) -> Result<()> {
    let &(start, bytes) = kernel.facts.params.get(index).ok_or(CudaError::INVALID_VALUE)?;
    // SAFETY: the caller promises that `offset` and `size` are null or valid to write.
    unsafe {
        put(offset, start as usize)?;
        put_if(size, bytes as usize);
    }
    Ok(())
}
