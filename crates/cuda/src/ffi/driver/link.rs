//! Linking code that a program hands over.

use std::ffi::{c_char, c_uint, c_void};

use crate::abi::driver::{
    CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_INPUT_CUBIN, CU_JIT_INPUT_FATBINARY, CU_JIT_INPUT_LIBRARY,
    CU_JIT_INPUT_OBJECT, CU_JIT_INPUT_PTX, CUjit_option, CUjitInputType, CUlinkState,
};
use crate::api::context;
use crate::api::link::{InputKind, LINKS, Link};
use crate::error::{CudaError, Result};
use crate::ffi::{export, put, put_text, text};

/// Begins.
///
/// # Safety
/// As for [`empty_logs`]; `out` must be null or valid to write.
unsafe fn create(
    count: c_uint,
    options: *mut CUjit_option,
    values: *mut *mut c_void,
    out: *mut CUlinkState,
) -> Result<()> {
    context::require()?;
    // SAFETY: the caller promises what `empty_logs` asks for, and that `out` is null or valid to write.
    unsafe {
        empty_logs(count, options, values);
        if out.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        put(out, Link::create().handle.number() as CUlinkState)
    }
}

/// Programs show what the linker wrote into their buffers, whether or not it wrote something. What we have to say is on
/// standard error.
///
/// # Safety
/// There must be as many options and values as `count` says, and the buffers must be as large as their sizes say.
unsafe fn empty_logs(count: c_uint, options: *mut CUjit_option, values: *mut *mut c_void) {
    if options.is_null() || values.is_null() {
        return;
    }
    let value = |wanted: CUjit_option| {
        // SAFETY: the caller promises that there are `count` options.
        let index = (0..count as usize).find(|&index| unsafe { options.add(index).read() } == wanted)?;
        // SAFETY: the caller promises that there are as many values as options.
        Some(unsafe { values.add(index).read() })
    };
    let logs = [
        (CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES),
        (CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES),
    ];
    for (buffer, size) in logs {
        if let (Some(buffer), Some(size)) = (value(buffer), value(size)) {
            // SAFETY: the caller promises that `buffer` is null or as large as `size` says. A program that gives
            // no room gets nothing.
            let _ = unsafe { put_text(buffer.cast::<c_char>(), size as usize, "") };
        }
    }
}

fn kind(kind: CUjitInputType) -> Result<InputKind> {
    Ok(match kind {
        CU_JIT_INPUT_PTX => InputKind::Ptx,
        CU_JIT_INPUT_FATBINARY => InputKind::Fatbin,
        CU_JIT_INPUT_OBJECT | CU_JIT_INPUT_LIBRARY => InputKind::Object,
        CU_JIT_INPUT_CUBIN => InputKind::MachineCode,
        _ => return Err(CudaError::INVALID_VALUE),
    })
}

/// Adds code in memory.
///
/// # Safety
/// `data` must be null or valid to read `size` bytes, and `name` null or a string that ends with zero.
unsafe fn add_data(
    state: CUlinkState,
    input: CUjitInputType,
    data: *mut c_void,
    size: usize,
    name: *const c_char,
) -> Result<()> {
    let link = LINKS.get(state as usize)?;
    if data.is_null() || size == 0 || size > isize::MAX as usize {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: not null, so the caller promises that it is valid to read `size` bytes.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) };
    // SAFETY: the caller promises that `name` is null, without a name, or a string that ends with zero.
    link.add(kind(input)?, bytes, unsafe { text(name) }.ok())
}

/// Adds code in a file.
///
/// # Safety
/// `path` must be null or a string that ends with zero.
unsafe fn add_file(state: CUlinkState, input: CUjitInputType, path: *const c_char) -> Result<()> {
    let link = LINKS.get(state as usize)?;
    // SAFETY: the caller promises that `path` is null or a string that ends with zero.
    let path = unsafe { text(path) }?;
    let bytes = std::fs::read(path).map_err(|_| CudaError::FILE_NOT_FOUND)?;
    link.add(kind(input)?, &bytes, Some(path))
}

export! {
    fn cuLinkCreate(
        numOptions: c_uint,
        options: *mut CUjit_option,
        optionValues: *mut *mut c_void,
        stateOut: *mut CUlinkState,
    ) {
        // SAFETY: the caller promises that `options` and `optionValues` are null or valid to read `numOptions`
        // elements, and `stateOut` is null or valid to write.
        unsafe { create(numOptions, options, optionValues, stateOut) }
    }

    fn cuLinkCreate_v2(
        numOptions: c_uint,
        options: *mut CUjit_option,
        optionValues: *mut *mut c_void,
        stateOut: *mut CUlinkState,
    ) {
        // SAFETY: the caller promises that `options` and `optionValues` are null or valid to read `numOptions`
        // elements, and `stateOut` is null or valid to write.
        unsafe { create(numOptions, options, optionValues, stateOut) }
    }

    fn cuLinkAddData(
        state: CUlinkState,
        r#type: CUjitInputType,
        data: *mut c_void,
        size: usize,
        name: *const c_char,
        numOptions: c_uint,
        options: *mut CUjit_option,
        optionValues: *mut *mut c_void,
    ) {
        // They are for the compiler of a GPU.
        let _ = (numOptions, options, optionValues);
        // SAFETY: the caller promises that `data` is null or valid to read `size` elements, and `name` is null or a
        // string that ends with zero.
        unsafe { add_data(state, r#type, data, size, name) }
    }

    fn cuLinkAddData_v2(
        state: CUlinkState,
        r#type: CUjitInputType,
        data: *mut c_void,
        size: usize,
        name: *const c_char,
        numOptions: c_uint,
        options: *mut CUjit_option,
        optionValues: *mut *mut c_void,
    ) {
        let _ = (numOptions, options, optionValues);
        // SAFETY: the caller promises that `data` is null or valid to read `size` elements, and `name` is null or a
        // string that ends with zero.
        unsafe { add_data(state, r#type, data, size, name) }
    }

    fn cuLinkAddFile(
        state: CUlinkState,
        r#type: CUjitInputType,
        path: *const c_char,
        numOptions: c_uint,
        options: *mut CUjit_option,
        optionValues: *mut *mut c_void,
    ) {
        let _ = (numOptions, options, optionValues);
        // SAFETY: the caller promises that `path` is null or a string that ends with zero.
        unsafe { add_file(state, r#type, path) }
    }

    fn cuLinkAddFile_v2(
        state: CUlinkState,
        r#type: CUjitInputType,
        path: *const c_char,
        numOptions: c_uint,
        options: *mut CUjit_option,
        optionValues: *mut *mut c_void,
    ) {
        let _ = (numOptions, options, optionValues);
        // SAFETY: the caller promises that `path` is null or a string that ends with zero.
        unsafe { add_file(state, r#type, path) }
    }

    fn cuLinkComplete(state: CUlinkState, cubinOut: *mut *mut c_void, sizeOut: *mut usize) {
        let image = LINKS.get(state as usize)?.complete()?;
        // SAFETY: the caller promises that `cubinOut` and `sizeOut` are null or valid to write. The link keeps the
        // image until it is destroyed.
        unsafe {
            put(cubinOut, image.as_ptr().cast_mut().cast::<c_void>())?;
            crate::ffi::put_if(sizeOut, image.len());
        }
        Ok(())
    }

    fn cuLinkDestroy(state: CUlinkState) {
        LINKS.destroy(state as usize).map(drop)
    }
}
