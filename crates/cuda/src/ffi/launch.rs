//! The parameters of a launch, as C programs give them.

use std::ffi::c_void;

use crate::api::kernel::Kernel;
use crate::error::{CudaError, Result};

/// `CU_LAUNCH_PARAM_BUFFER_POINTER` and the words like it in `extra`.
const END: usize = 0;
const BUFFER: usize = 1;
const BUFFER_SIZE: usize = 2;
/// `extra` has not more words than this.
const MOST_WORDS: usize = 16;

/// The bytes of the parameters: from pointers to each, or from a buffer.
///
/// # Safety
/// `params` must be null or a list of pointers to the parameters of the kernel; `extra` null or a list of words: pairs of
/// a name and a value, until `CU_LAUNCH_PARAM_END`, with a buffer that is as long as its size says.
pub(crate) unsafe fn params(kernel: &Kernel, params: *mut *mut c_void, extra: *mut *mut c_void) -> Result<Vec<u8>> {
    if !params.is_null() && !extra.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    let mut bytes = vec![0_u8; kernel.params_bytes() as usize];
    if !extra.is_null() {
        // SAFETY: the caller promises that `extra`, which is not null, is such a list.
        let (buffer, length) = unsafe { buffer(extra) }?;
        let length = length.min(bytes.len());
        // SAFETY: the caller promises that the buffer has as many bytes as its size says, and the vector has not fewer.
        unsafe { std::ptr::copy_nonoverlapping(buffer, bytes.as_mut_ptr(), length) };
        return Ok(bytes);
    }
    if params.is_null() {
        return if bytes.is_empty() { Ok(bytes) } else { Err(CudaError::INVALID_VALUE) };
    }
    for (index, &(start, length)) in kernel.facts.params.iter().enumerate() {
        // SAFETY: there is a pointer for each parameter.
        let param = unsafe { params.add(index).read() };
        if param.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        let to = &mut bytes[start as usize..][..length as usize];
        // SAFETY: it points to as many bytes as the parameter has.
        unsafe { std::ptr::copy_nonoverlapping(param.cast::<u8>(), to.as_mut_ptr(), to.len()) };
    }
    Ok(bytes)
}

/// # Safety
/// `extra` must be a list of words: pairs of a name and a value, until `CU_LAUNCH_PARAM_END`.
unsafe fn buffer(extra: *mut *mut c_void) -> Result<(*const u8, usize)> {
    let (mut start, mut length) = (None, None);
    for index in (0..MOST_WORDS).step_by(2) {
        // SAFETY: the list goes on until its end was found.
        let (what, value) = unsafe { (extra.add(index).read() as usize, extra.add(index + 1)) };
        match what {
            END => break,
            // SAFETY: a word follows each that is not the end.
            BUFFER => start = Some(unsafe { value.read() }.cast::<u8>().cast_const()),
            BUFFER_SIZE => {
                // SAFETY: a word follows each that is not the end, and this one points to the size.
                length = unsafe { value.read().cast::<usize>().as_ref() }.copied();
            }
            _ => return Err(CudaError::INVALID_VALUE),
        }
    }
    let start = start.filter(|start| !start.is_null()).ok_or(CudaError::INVALID_VALUE)?;
    Ok((start, length.ok_or(CudaError::INVALID_VALUE)?))
}
