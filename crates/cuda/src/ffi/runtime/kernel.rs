//! Kernels: what they are, and launches.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use super::{export_runtime, ready};
use crate::abi::runtime::*;
use crate::api::kernel::{KERNELS, Kernel};
use crate::api::launch::{Launch, check_cluster};
use crate::api::stream_handle::{self, DefaultStream};
use crate::api::work::Work;
use crate::api::{context, device, module, occupancy, output, registry};
use crate::error::{CudaError, Result};
use crate::ffi::driver::kernel::{param_count, param_info};
use crate::ffi::{self, get, put};
use rewrite::LaunchShape;

/// The kernel that a program means: by the address of the host's function, or by a handle.
pub(crate) fn kernel_of(func: *const c_void) -> Result<Arc<Kernel>> {
    ready()?;
    match registry::kernel(func as usize) {
        Err(CudaError::INVALID_DEVICE_FUNCTION) => {
            here(&KERNELS.get(func as usize).map_err(|_| CudaError::INVALID_DEVICE_FUNCTION)?)
        }
        found => found,
    }
}

/// A kernel on the device of this thread. Code that nvcc adds to programs keeps the handle that it gets on the first one.
pub(crate) fn here(kernel: &Arc<Kernel>) -> Result<Arc<Kernel>> {
    let device = context::current_device();
    let host = if kernel.device == device { None } else { registry::host_of(kernel) };
    host.map_or_else(|| module::kernel_on(kernel, device), registry::kernel)
}

pub(crate) fn shape(grid: dim3, block: dim3, shared: usize, is_cooperative: bool) -> Result<LaunchShape> {
    Ok(LaunchShape {
        grid: [grid.x, grid.y, grid.z],
        block: [block.x, block.y, block.z],
        dynamic_shared: u32::try_from(shared).map_err(|_| CudaError::INVALID_VALUE)?,
        is_cooperative,
    })
}

/// Launches a kernel.
///
/// # Safety
/// `args` must point to the parameters of the kernel.
pub(crate) unsafe fn launch(
    kernel: &Arc<Kernel>,
    shape: LaunchShape,
    (stream, default): (cudaStream_t, DefaultStream),
    args: *mut *mut c_void,
) -> Result<()> {
    let stream = stream_handle::resolve(stream as usize, default)?;
    // SAFETY: the caller promises that `args` is null or a list of pointers to the parameters of the kernel.
    let params = unsafe { ffi::launch::params(kernel, args, std::ptr::null_mut()) }?;
    output::flush();
    stream.push(Work::Launch(Launch::prepare(kernel, shape, params, stream.reach()?)?))
}

/// Fills in what all versions of the structure have.
macro_rules! fill_attributes {
    ($attributes:ident, $kernel:ident) => {
        $attributes.sharedSizeBytes = $kernel.facts.shared as usize;
        $attributes.constSizeBytes = $kernel.constant_bytes() as usize;
        $attributes.localSizeBytes = $kernel.facts.local as usize;
        $attributes.maxThreadsPerBlock = $kernel.max_threads() as c_int;
        $attributes.numRegs = occupancy::REGISTERS_PER_THREAD as c_int;
        $attributes.ptxVersion = $kernel.ptx_version().unwrap_or_else(|| device::capability($kernel.device)) as c_int;
        $attributes.binaryVersion = device::capability($kernel.device) as c_int;
        $attributes.maxDynamicSharedSizeBytes = $kernel.max_dynamic_shared() as c_int;
        $attributes.preferredShmemCarveout = $kernel.carveout.percent();
    };
}

export_runtime! {
    fn cudaLaunchKernel, cudaLaunchKernel_ptsz(
        default;
        func: *const c_void,
        gridDim: dim3,
        blockDim: dim3,
        args: *mut *mut c_void,
        sharedMem: usize,
        stream: cudaStream_t,
    ) {
        let kernel = kernel_of(func)?;
        // SAFETY: the caller promises that `args` is null or a list of pointers to the parameters of the kernel.
        unsafe { launch(&kernel, shape(gridDim, blockDim, sharedMem, false)?, (stream, default), args) }
    }

    fn cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel_ptsz(
        default;
        func: *const c_void,
        gridDim: dim3,
        blockDim: dim3,
        args: *mut *mut c_void,
        sharedMem: usize,
        stream: cudaStream_t,
    ) {
        let kernel = kernel_of(func)?;
        // SAFETY: the caller promises that `args` is null or a list of pointers to the parameters of the kernel.
        unsafe { launch(&kernel, shape(gridDim, blockDim, sharedMem, true)?, (stream, default), args) }
    }

    fn cudaLaunchKernelExC, cudaLaunchKernelExC_ptsz(
        default;
        config: *const cudaLaunchConfig_t,
        func: *const c_void,
        args: *mut *mut c_void,
    ) {
        let kernel = kernel_of(func)?;
        // SAFETY: the caller promises that `config` is null or valid to read.
        let config = unsafe { get(config) }?;
        let mut is_cooperative = false;
        for index in 0..config.numAttrs as usize {
            // SAFETY: the caller promises that `config.attrs` is null or valid to read `config.numAttrs` elements.
            let attribute = unsafe { &*std::ptr::from_ref(get(config.attrs)?).add(index) };
            match attribute.id {
                // SAFETY: the identifier says which of the values it is.
                cudaLaunchAttributeCooperative => is_cooperative = unsafe { attribute.val.cooperative } != 0,
                cudaLaunchAttributeClusterDimension => {
                    // SAFETY: the identifier says which of the values it is.
                    let size = unsafe { attribute.val.clusterDim };
                    check_cluster([size.x, size.y, size.z])?;
                }
                // Priorities, windows of caches, overlap with other launches: hints.
                _ => {}
            }
        }
        let shape = shape(config.gridDim, config.blockDim, config.dynamicSmemBytes, is_cooperative)?;
        // SAFETY: the caller promises that `args` is null or a list of pointers to the parameters of the kernel.
        unsafe { launch(&kernel, shape, (config.stream, default), args) }
    }

    fn cudaFuncGetAttributes(attr: *mut cudaFuncAttributes, func: *const c_void) {
        let kernel = kernel_of(func)?;
        if attr.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: all of it is numbers, for which zero is a value.
        let mut attributes: cudaFuncAttributes = unsafe { std::mem::zeroed() };
        fill_attributes!(attributes, kernel);
        // SAFETY: the caller promises that `attr` is null or valid to write.
        unsafe { put(attr, attributes) }
    }

    fn cudaFuncSetAttribute(func: *const c_void, attr: cudaFuncAttribute, value: c_int) {
        crate::ffi::driver::kernel::set_attribute(&*kernel_of(func)?, attr, value)
    }

    fn cudaFuncSetCacheConfig(func: *const c_void, cacheConfig: cudaFuncCache) {
        kernel_of(func)?.carveout.set_preference(cacheConfig)
    }

    fn cudaFuncSetSharedMemConfig(func: *const c_void, config: cudaSharedMemConfig) {
        let _ = config;
        kernel_of(func).map(drop)
    }

    fn cudaFuncGetName(name: *mut *const c_char, func: *const c_void) {
        let kernel = kernel_of(func)?;
        // SAFETY: the caller promises that `name` is null or valid to write. The name lives as long as the module.
        unsafe { put(name, kernel.c_name.as_ptr()) }
    }

    fn cudaGetFuncBySymbol(functionPtr: *mut cudaFunction_t, symbolPtr: *const c_void) {
        let kernel = kernel_of(symbolPtr)?;
        // SAFETY: the caller promises that `functionPtr` is null or valid to write.
        unsafe { put(functionPtr, kernel.handle.number() as cudaFunction_t) }
    }

    fn cudaGetKernel(kernelPtr: *mut cudaKernel_t, entryFuncAddr: *const c_void) {
        let kernel = kernel_of(entryFuncAddr)?;
        // SAFETY: the caller promises that `kernelPtr` is null or valid to write.
        unsafe { put(kernelPtr, kernel.handle.number() as cudaKernel_t) }
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        numBlocks: *mut c_int,
        func: *const c_void,
        blockSize: c_int,
        dynamicSMemSize: usize,
    ) {
        // SAFETY: the caller promises that `numBlocks` is null or valid to write.
        unsafe { put_blocks(numBlocks, func, blockSize, dynamicSMemSize) }
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks: *mut c_int,
        func: *const c_void,
        blockSize: c_int,
        dynamicSMemSize: usize,
        flags: c_uint,
    ) {
        let _ = flags;
        // SAFETY: the caller promises that `numBlocks` is null or valid to write.
        unsafe { put_blocks(numBlocks, func, blockSize, dynamicSMemSize) }
    }

    fn cudaOccupancyAvailableDynamicSMemPerBlock(
        dynamicSmemSize: *mut usize,
        func: *const c_void,
        numBlocks: c_int,
        blockSize: c_int,
    ) {
        let kernel = kernel_of(func)?;
        let bytes = occupancy::free_shared(&kernel, numBlocks, blockSize)?;
        // SAFETY: the caller promises that `dynamicSmemSize` is null or valid to write.
        unsafe { put(dynamicSmemSize, bytes as usize) }
    }

    fn cudaFuncGetParamCount(func: *const c_void, paramCount: *mut usize) {
        // SAFETY: the caller promises that `paramCount` is null or valid to write.
        unsafe { param_count(&*kernel_of(func)?, paramCount) }
    }

    fn cudaFuncGetParamInfo(func: *const c_void, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize) {
        // SAFETY: the caller promises that `paramOffset` and `paramSize` are null or valid to write.
        unsafe { param_info(&*kernel_of(func)?, paramIndex, paramOffset, paramSize) }
    }

    fn cudaFuncGetAttributes_11(attr: *mut cudaFuncAttributes11, func: *const c_void) {
        let kernel = kernel_of(func)?;
        // SAFETY: all of it is numbers, for which zero is a value.
        let mut attributes: cudaFuncAttributes11 = unsafe { std::mem::zeroed() };
        fill_attributes!(attributes, kernel);
        // SAFETY: the caller promises that `attr` is null or valid to write.
        unsafe { put(attr, attributes) }
    }
}

/// # Safety
/// `out` must be null or valid to write.
unsafe fn put_blocks(out: *mut c_int, func: *const c_void, threads: c_int, shared: usize) -> Result<()> {
    let kernel = kernel_of(func)?;
    let threads = u32::try_from(threads).map_err(|_| CudaError::INVALID_VALUE)?;
    let blocks = occupancy::blocks_per_multiprocessor(&kernel, threads, shared as u64)?;
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, blocks as c_int) }
}
