//! Libraries: code that programs load.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::{check_device, export_runtime, ready};
use crate::abi::runtime::*;
use crate::api::kernel::KERNELS;
use crate::api::{image, module};
use crate::ffi::driver::module::{load_file, put_kernel, put_kernel_count, put_kernels, put_variable, with_log};
use crate::ffi::put;
use crate::program_image::ProgramImage;

export_runtime! {
    fn cudaLibraryLoadData(
        library: *mut cudaLibrary_t,
        code: *const c_void,
        jitOptions: *mut cudaJitOption,
        jitOptionsValues: *mut *mut c_void,
        numJitOptions: c_uint,
        libraryOptions: *mut cudaLibraryOption,
        libraryOptionValues: *mut *mut c_void,
        numLibraryOptions: c_uint,
    ) {
        let _ = (libraryOptions, libraryOptionValues, numLibraryOptions);
        ready()?;
        // SAFETY: the caller promises that `jitOptions` and `jitOptionsValues` are null or valid to read
        // `numJitOptions` elements, `code` is null or an image, which stays during the call, and `library` is null or
        // valid to write.
        unsafe {
            let loaded = with_log(numJitOptions, jitOptions, jitOptionsValues, || ProgramImage::new(code).with(image::load))?;
            loaded.set_library();
            put(library, loaded.handle.number() as cudaLibrary_t)
        }
    }

    fn cudaLibraryLoadFromFile(
        library: *mut cudaLibrary_t,
        fileName: *const c_char,
        jitOptions: *mut cudaJitOption,
        jitOptionsValues: *mut *mut c_void,
        numJitOptions: c_uint,
        libraryOptions: *mut cudaLibraryOption,
        libraryOptionValues: *mut *mut c_void,
        numLibraryOptions: c_uint,
    ) {
        let _ = (libraryOptions, libraryOptionValues, numLibraryOptions);
        ready()?;
        // SAFETY: the caller promises that `jitOptions` and `jitOptionsValues` are null or valid to read
        // `numJitOptions` elements, `fileName` is null or a string that ends with zero, and `library` is null or valid
        // to write.
        unsafe {
            let loaded = with_log(numJitOptions, jitOptions, jitOptionsValues, || load_file(fileName))?;
            loaded.set_library();
            put(library, loaded.handle.number() as cudaLibrary_t)
        }
    }

    fn cudaLibraryUnload(library: cudaLibrary_t) {
        module::unload(library as usize)
    }

    fn cudaLibraryGetKernel(pKernel: *mut cudaKernel_t, library: cudaLibrary_t, name: *const c_char) {
        ready()?;
        // SAFETY: the caller promises that `name` is null or a string that ends with zero, and `pKernel` is null or
        // valid to write.
        unsafe { put_kernel(library as usize, name, pKernel.cast()) }
    }

    fn cudaLibraryGetKernelCount(count: *mut c_uint, lib: cudaLibrary_t) {
        // SAFETY: the caller promises that `count` is null or valid to write.
        unsafe { put_kernel_count(lib as usize, count) }
    }

    fn cudaLibraryEnumerateKernels(kernels: *mut cudaKernel_t, numKernels: c_uint, lib: cudaLibrary_t) {
        ready()?;
        // SAFETY: the caller promises that `kernels` is null or valid to write `numKernels` elements.
        unsafe { put_kernels(lib as usize, kernels.cast(), numKernels) }
    }

    fn cudaLibraryGetGlobal(dptr: *mut *mut c_void, bytes: *mut usize, library: cudaLibrary_t, name: *const c_char) {
        ready()?;
        // SAFETY: the caller promises that `name` is null or a string that ends with zero, and `dptr` and `bytes` are
        // null or valid to write.
        unsafe { put_variable(library as usize, name, dptr.cast(), bytes) }
    }

    fn cudaLibraryGetManaged(dptr: *mut *mut c_void, bytes: *mut usize, library: cudaLibrary_t, name: *const c_char) {
        ready()?;
        // SAFETY: the caller promises that `name` is null or a string that ends with zero, and `dptr` and `bytes` are
        // null or valid to write.
        unsafe { put_variable(library as usize, name, dptr.cast(), bytes) }
    }

    fn cudaKernelSetAttributeForDevice(kernel: cudaKernel_t, attr: cudaFuncAttribute, value: c_int, device: c_int) {
        let kernel = module::kernel_on(&KERNELS.get(kernel as usize)?, check_device(device)?)?;
        crate::ffi::driver::kernel::set_attribute(&kernel, attr, value)
    }
}
