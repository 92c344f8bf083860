//! What code made by nvcc calls before `main`, and around launches.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::mem::ManuallyDrop;

use super::{export_runtime, ready};
use crate::abi::runtime::{CUstream_st, cudaKernel_t, cudaStream_t, dim3, textureReference, uint3};
use crate::api::kernel::KERNELS;
use crate::api::{device, image, registry};
use crate::error::{CudaError, Result};
use crate::ffi::{guard, put, text};
use crate::program_image::{ManagedPointer, ProgramImage};

/// A launch whose parameters are not known yet.
#[derive(Clone, Copy)]
struct Configuration {
    grid: dim3,
    block: dim3,
    shared: usize,
    stream: cudaStream_t,
}

thread_local! {
    /// What `<<<...>>>` said, for launches that have not happened yet. Never dropped: programs launch kernels in
    /// destructors, too.
    static CONFIGURATIONS: RefCell<ManuallyDrop<Vec<Configuration>>> =
        const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// Runs something that cannot fail as far as C programs know.
fn quietly(name: &'static str, body: impl FnOnce() -> Result<()>) {
    super::remember(guard(name, body));
}

/// Registers a fatbin.
///
/// # Safety
/// `fatCubin` must be what nvcc makes, and stay until it is unregistered.
pub unsafe extern "C" fn __cudaRegisterFatBinary(fatCubin: *mut c_void) -> *mut *mut c_void {
    let mut handle = 0;
    quietly("__cudaRegisterFatBinary", || {
        // SAFETY: the caller promises that it stays until it is unregistered, and then the registry forgets it.
        let fatbin = registry::add_fatbin(unsafe { ProgramImage::new(fatCubin) });
        handle = fatbin.handle.number();
        // What the program needs of the device is known before it asks what the device is.
        let least = fatbin.image.with(|image| Ok(image::least_capability(image)))?;
        if let Some(capability) = least {
            device::need_capability(capability);
        }
        Ok(())
    });
    handle as *mut *mut c_void
}

/// All of a fatbin was registered.
///
/// # Safety
/// None: it does nothing.
pub unsafe extern "C" fn __cudaRegisterFatBinaryEnd(_fatCubinHandle: *mut *mut c_void) {}

/// Forgets a fatbin.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe extern "C" fn __cudaUnregisterFatBinary(fatCubinHandle: *mut *mut c_void) {
    quietly("__cudaUnregisterFatBinary", || {
        registry::remove_fatbin(fatCubinHandle as usize);
        Ok(())
    });
}

/// Registers a kernel.
///
/// # Safety
/// `deviceName` must be a string.
pub unsafe extern "C" fn __cudaRegisterFunction(
    fatCubinHandle: *mut *mut c_void,
    hostFun: *const c_char,
    _deviceFun: *mut c_char,
    deviceName: *const c_char,
    _thread_limit: c_int,
    _tid: *mut uint3,
    _bid: *mut uint3,
    _bDim: *mut dim3,
    _gDim: *mut dim3,
    _wSize: *mut c_int,
) {
    quietly("__cudaRegisterFunction", || {
        let fatbin = registry::fatbin(fatCubinHandle as usize).ok_or(CudaError::INVALID_HANDLE)?;
        // SAFETY: the caller promises that `deviceName` is null or a string that ends with zero.
        registry::add_kernel(&fatbin, hostFun as usize, unsafe { text(deviceName) }?);
        Ok(())
    });
}

/// Registers a variable.
///
/// # Safety
/// `deviceName` must be a string.
pub unsafe extern "C" fn __cudaRegisterVar(
    fatCubinHandle: *mut *mut c_void,
    hostVar: *mut c_char,
    _deviceAddress: *mut c_char,
    deviceName: *const c_char,
    _ext: c_int,
    _size: usize,
    _constant: c_int,
    _global: c_int,
) {
    quietly("__cudaRegisterVar", || {
        let fatbin = registry::fatbin(fatCubinHandle as usize).ok_or(CudaError::INVALID_HANDLE)?;
        // SAFETY: the caller promises that `deviceName` is null or a string that ends with zero.
        registry::add_variable(&fatbin, hostVar as usize, unsafe { text(deviceName) }?);
        Ok(())
    });
}

/// Registers a managed variable, which the host reaches through a pointer.
///
/// # Safety
/// `deviceName` must be a string, and `hostVarPtrAddress` stay until the fatbin is unregistered.
pub unsafe extern "C" fn __cudaRegisterManagedVar(
    fatCubinHandle: *mut *mut c_void,
    hostVarPtrAddress: *mut *mut c_void,
    _deviceAddress: *mut c_char,
    deviceName: *const c_char,
    _ext: c_int,
    _size: usize,
    _constant: c_int,
    _global: c_int,
) {
    quietly("__cudaRegisterManagedVar", || {
        let fatbin = registry::fatbin(fatCubinHandle as usize).ok_or(CudaError::INVALID_HANDLE)?;
        // SAFETY: the caller promises a string, and a pointer that is ours to write until the fatbin is unregistered.
        let (pointer, name) = unsafe { (ManagedPointer::new(hostVarPtrAddress), text(deviceName)?) };
        registry::add_managed_variable(&fatbin, pointer, name);
        Ok(())
    });
}

/// Registers a texture reference.
///
/// # Safety
/// `deviceName` must be a string.
pub unsafe extern "C" fn __cudaRegisterTexture(
    fatCubinHandle: *mut *mut c_void,
    hostVar: *const textureReference,
    _deviceAddress: *mut *const c_void,
    deviceName: *const c_char,
    _dim: c_int,
    norm: c_int,
    _ext: c_int,
) {
    quietly("__cudaRegisterTexture", || {
        let fatbin = registry::fatbin(fatCubinHandle as usize).ok_or(CudaError::INVALID_HANDLE)?;
        // SAFETY: the caller promises that `deviceName` is null or a string that ends with zero.
        registry::add_texture(&fatbin, hostVar as usize, unsafe { text(deviceName) }?, norm != 0);
        Ok(())
    });
}

/// Loads a module, because the host is about to use its managed variables.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe extern "C" fn __cudaInitModule(fatCubinHandle: *mut *mut c_void) -> c_char {
    let code = guard("__cudaInitModule", || {
        ready()?;
        registry::fatbin(fatCubinHandle as usize).ok_or(CudaError::INVALID_HANDLE)?.module().map(drop)
    });
    (super::remember(code) == 0).into()
}

/// Notes what `<<<...>>>` says; 0 if the launch can go on.
///
/// # Safety
/// None.
pub unsafe extern "C" fn __cudaPushCallConfiguration(
    gridDim: dim3,
    blockDim: dim3,
    sharedMem: usize,
    stream: *mut CUstream_st,
) -> c_uint {
    let configuration = Configuration { grid: gridDim, block: blockDim, shared: sharedMem, stream };
    CONFIGURATIONS.with_borrow_mut(|all| all.push(configuration));
    0
}

export_runtime! {
    fn __cudaPopCallConfiguration(gridDim: *mut dim3, blockDim: *mut dim3, sharedMem: *mut usize, stream: *mut c_void) {
        let last = CONFIGURATIONS.with_borrow_mut(|all| all.pop()).ok_or(CudaError::INVALID_CONFIGURATION)?;
        // SAFETY: the caller promises that all four are null or valid to write; `stream` points to a stream.
        unsafe {
            put(gridDim, last.grid)?;
            put(blockDim, last.block)?;
            put(sharedMem, last.shared)?;
            put(stream.cast::<cudaStream_t>(), last.stream)
        }
    }

    fn __cudaGetKernel(kernel: *mut cudaKernel_t, entry: *const c_void) {
        ready()?;
        let found = registry::kernel(entry as usize)?;
        // SAFETY: the caller promises that `kernel` is null or valid to write.
        unsafe { put(kernel, found.handle.number() as cudaKernel_t) }
    }

    fn __cudaLaunchKernel, __cudaLaunchKernel_ptsz(
        default;
        kernel: cudaKernel_t,
        gridDim: dim3,
        blockDim: dim3,
        args: *mut *mut c_void,
        sharedMem: usize,
        stream: cudaStream_t,
    ) {
        ready()?;
        let kernel = super::kernel::here(&KERNELS.get(kernel as usize)?)?;
        let shape = super::kernel::shape(gridDim, blockDim, sharedMem, false)?;
        // SAFETY: the caller promises that `args` is null or a list of pointers to the parameters of the kernel.
        unsafe { super::kernel::launch(&kernel, shape, (stream, default), args) }
    }
}
