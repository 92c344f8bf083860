//! Modules and libraries.

use std::ffi::{c_char, c_uint, c_void};
use std::sync::Arc;

use crate::abi::driver::*;
use crate::api::module::{self, MODULES, Module};
use crate::api::{context, image};
use crate::error::{CudaError, Result};
use crate::ffi::{export, put, put_if, put_text, text};
use crate::program_image::ProgramImage;

/// Loads code from a file.
///
/// # Safety
/// `name` must be null or a string that ends with zero.
pub(crate) unsafe fn load_file(name: *const c_char) -> Result<Arc<Module>> {
    // SAFETY: the caller promises that `name` is null or a string that ends with zero.
    let name = unsafe { text(name) }?;
    let bytes = std::fs::read(name).map_err(|_| CudaError::FILE_NOT_FOUND)?;
    image::load(image::of_file(&bytes))
}

/// Loads code; what is wrong with it goes into the buffer that the program has for it. Other options are for the
/// compiler of a GPU.
///
/// # Safety
/// `options` and `values` must be null or valid to read and write `count` elements, and buffers among the values be as
/// large as the sizes among them say.
pub(crate) unsafe fn with_log(
    count: c_uint,
    options: *mut CUjit_option,
    values: *mut *mut c_void,
    load: impl FnOnce() -> Result<Arc<Module>>,
) -> Result<Arc<Module>> {
    let (loaded, heard) = crate::log::listen(load);
    if options.is_null() || values.is_null() {
        return loaded;
    }
    // SAFETY: not null, so the caller promises that there are `count` options and values.
    let value_of = |wanted| unsafe {
        (0..count as usize).find(|&index| options.add(index).read() == wanted).map(|index| values.add(index))
    };
    let buffers = [
        (CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, heard.join("\n")),
        (CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, String::new()),
    ];
    for (buffer, size, text) in buffers {
        let (Some(buffer), Some(size)) = (value_of(buffer), value_of(size)) else { continue };
        // SAFETY: the value of the one is a buffer, and that of the other its size, in the place of a pointer.
        unsafe {
            // Only the low half of the size counts.
            let room = size.read() as usize as u32;
            if put_text(buffer.read().cast(), room as usize, &text).is_ok() {
                size.write(text.len().min(room as usize - 1) as *mut c_void);
            }
        }
    }
    loaded
}

/// # Safety
/// `name` must be null or a string that ends with zero, and `address` and `bytes` must be null or valid to write.
pub(crate) unsafe fn put_variable(
    module: usize,
    name: *const c_char,
    address: *mut CUdeviceptr,
    bytes: *mut usize,
) -> Result<()> {
    // SAFETY: the caller promises that `name` is null or a string that ends with zero.
    let (start, length) = MODULES.get(module)?.here()?.variable(unsafe { text(name) }?)?;
    // SAFETY: the caller promises that `address` and `bytes` are null or valid to write.
    unsafe {
        put_if(address, start);
        put_if(bytes, length as usize);
    }
    Ok(())
}

/// # Safety
/// `name` must be null or a string that ends with zero, and `out` must be null or valid to write.
pub(crate) unsafe fn put_kernel(module: usize, name: *const c_char, out: *mut usize) -> Result<()> {
    if out.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: the caller promises that `name` is null or a string that ends with zero.
    let kernel = MODULES.get(module)?.kernel(unsafe { text(name) }?)?;
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, kernel.handle.number()) }
}

/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn put_kernel_count(module: usize, out: *mut c_uint) -> Result<()> {
    let names = MODULES.get(module)?.kernel_names();
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, names.len() as c_uint) }
}

/// Gives the handles of kernels, as many as the program has room for.
///
/// # Safety
/// `out` must be null or valid to write `room` elements.
pub(crate) unsafe fn put_kernels(module: usize, out: *mut usize, room: c_uint) -> Result<()> {
    let module = MODULES.get(module)?;
    for (index, name) in module.kernel_names().iter().take(room as usize).enumerate() {
        let kernel = module.kernel(name)?;
        if out.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: not null, so the caller promises that `out` is valid to write `room` elements; no more are written.
        unsafe { out.add(index).write(kernel.handle.number()) };
    }
    Ok(())
}

export! {
    fn cuModuleLoad(module: *mut CUmodule, fname: *const c_char) {
        context::require()?;
        // SAFETY: the caller promises that `fname` is null or a string that ends with zero.
        let loaded = unsafe { load_file(fname) }?;
        // SAFETY: the caller promises that `module` is null or valid to write.
        unsafe { put(module, loaded.handle.number() as CUmodule) }
    }

    fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void) {
        context::require()?;
        // SAFETY: the caller promises that `module` is null or valid to write, and `image` is null or an image, which
        // stays during the call.
        unsafe { put(module, ProgramImage::new(image).with(image::load)?.handle.number() as CUmodule) }
    }

    fn cuModuleLoadDataEx(
        module: *mut CUmodule,
        image: *const c_void,
        numOptions: c_uint,
        options: *mut CUjit_option,
        optionValues: *mut *mut c_void,
    ) {
        context::require()?;
        // SAFETY: the caller promises that `options` and `optionValues` are null or valid to read `numOptions`
        // elements, `image` is null or an image, which stays during the call, and `module` is null or valid to write.
        unsafe {
            let loaded = with_log(numOptions, options, optionValues, || ProgramImage::new(image).with(image::load))?;
            put(module, loaded.handle.number() as CUmodule)
        }
    }

    fn cuModuleLoadFatBinary(module: *mut CUmodule, fatCubin: *const c_void) {
        context::require()?;
        // SAFETY: the caller promises that `module` is null or valid to write, and `fatCubin` is null or an image,
        // which stays during the call.
        unsafe { put(module, ProgramImage::new(fatCubin).with(image::load)?.handle.number() as CUmodule) }
    }

    fn cuModuleUnload(hmod: CUmodule) {
        module::unload(hmod as usize)
    }

    fn cuModuleGetFunction(hfunc: *mut CUfunction, hmod: CUmodule, name: *const c_char) {
        // SAFETY: the caller promises that `name` is null or a string that ends with zero, and `hfunc` is null or
        // valid to write.
        unsafe { put_kernel(hmod as usize, name, hfunc.cast()) }
    }

    fn cuModuleGetFunctionCount(count: *mut c_uint, r#mod: CUmodule) {
        // SAFETY: the caller promises that `count` is null or valid to write.
        unsafe { put_kernel_count(r#mod as usize, count) }
    }

    fn cuModuleGetGlobal_v2(dptr: *mut CUdeviceptr, bytes: *mut usize, hmod: CUmodule, name: *const c_char) {
        // SAFETY: the caller promises that `name` is null or a string that ends with zero, and `dptr` and `bytes` are
        // null or valid to write.
        unsafe { put_variable(hmod as usize, name, dptr, bytes) }
    }

    fn cuModuleGetLoadingMode(mode: *mut c_uint) {
        /// `CU_MODULE_LAZY_LOADING`
        const LAZY: c_uint = 2;
        // SAFETY: the caller promises that `mode` is null or valid to write.
        unsafe { put(mode, LAZY) }
    }

    fn cuLibraryLoadData(
        library: *mut CUlibrary,
        code: *const c_void,
        jitOptions: *mut CUjit_option,
        jitOptionsValues: *mut *mut c_void,
        numJitOptions: c_uint,
        libraryOptions: *mut CUlibraryOption,
        libraryOptionValues: *mut *mut c_void,
        numLibraryOptions: c_uint,
    ) {
        let _ = (libraryOptions, libraryOptionValues, numLibraryOptions);
        crate::driver::check()?;
        // SAFETY: the caller promises that `jitOptions` and `jitOptionsValues` are null or valid to read
        // `numJitOptions` elements, `code` is null or an image, which stays during the call, and `library` is null or
        // valid to write.
        unsafe {
            let loaded = with_log(numJitOptions, jitOptions, jitOptionsValues, || ProgramImage::new(code).with(image::load))?;
            loaded.set_library();
            put(library, loaded.handle.number() as CUlibrary)
        }
    }

    fn cuLibraryLoadFromFile(
        library: *mut CUlibrary,
        fileName: *const c_char,
        jitOptions: *mut CUjit_option,
        jitOptionsValues: *mut *mut c_void,
        numJitOptions: c_uint,
        libraryOptions: *mut CUlibraryOption,
        libraryOptionValues: *mut *mut c_void,
        numLibraryOptions: c_uint,
    ) {
        let _ = (libraryOptions, libraryOptionValues, numLibraryOptions);
        crate::driver::check()?;
        // SAFETY: the caller promises that `jitOptions` and `jitOptionsValues` are null or valid to read
        // `numJitOptions` elements, `fileName` is null or a string that ends with zero, and `library` is null or valid
        // to write.
        unsafe {
            let loaded = with_log(numJitOptions, jitOptions, jitOptionsValues, || load_file(fileName))?;
            loaded.set_library();
            put(library, loaded.handle.number() as CUlibrary)
        }
    }

    fn cuLibraryUnload(library: CUlibrary) {
        module::unload(library as usize)
    }

    fn cuLibraryGetModule(pMod: *mut CUmodule, library: CUlibrary) {
        let module = MODULES.get(library as usize)?.on(context::current_device())?;
        // SAFETY: the caller promises that `pMod` is null or valid to write. They are the same to us on one device.
        unsafe { put(pMod, module.handle.number() as CUmodule) }
    }

    fn cuLibraryGetKernel(pKernel: *mut CUkernel, library: CUlibrary, name: *const c_char) {
        // SAFETY: the caller promises that `name` is null or a string that ends with zero, and `pKernel` is null or
        // valid to write.
        unsafe { put_kernel(library as usize, name, pKernel.cast()) }
    }

    fn cuLibraryGetKernelCount(count: *mut c_uint, lib: CUlibrary) {
        // SAFETY: the caller promises that `count` is null or valid to write.
        unsafe { put_kernel_count(lib as usize, count) }
    }

    fn cuLibraryEnumerateKernels(kernels: *mut CUkernel, numKernels: c_uint, lib: CUlibrary) {
        // SAFETY: the caller promises that `kernels` is null or valid to write `numKernels` elements.
        unsafe { put_kernels(lib as usize, kernels.cast(), numKernels) }
    }

    fn cuLibraryGetGlobal(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char) {
        // SAFETY: the caller promises that `name` is null or a string that ends with zero, and `dptr` and `bytes` are
        // null or valid to write.
        unsafe { put_variable(library as usize, name, dptr, bytes) }
    }

    fn cuLibraryGetManaged(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char) {
        // SAFETY: the caller promises that `name` is null or a string that ends with zero, and `dptr` and `bytes` are
        // null or valid to write.
        unsafe { put_variable(library as usize, name, dptr, bytes) }
    }

    fn cuModuleEnumerateFunctions(functions: *mut CUfunction, numFunctions: c_uint, r#mod: CUmodule) {
        // SAFETY: the caller promises that `functions` is null or valid to write `numFunctions` elements.
        unsafe { put_kernels(r#mod as usize, functions.cast(), numFunctions) }
    }
}
