//! Code in the memory of the program, of which only the start is known.

use std::ffi::{CStr, c_char, c_void};

use crate::api::image::{self, Image};
use crate::api::module::Module;
use crate::error::{CudaError, Result};
use std::sync::Arc;

/// What `__cudaRegisterFatBinary` and `cuModuleLoadData` are handed by code that nvcc made.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    data: *const c_void,
    /// With version 2, a list of containers, null after the last.
    containers: *const *const c_void,
}

const WRAPPER: u32 = 0x4662_43b1;
const ELF: u32 = u32::from_le_bytes(*image::ELF);
/// More modules than this are not linked: the list has no end.
const MOST_CONTAINERS: usize = 4096;

/// Loads what a program points to.
///
/// # Safety
/// `pointer` must be null or point to a wrapper, a container, machine code, or PTX that ends with zero.
pub(crate) unsafe fn load(pointer: *const c_void) -> Result<Arc<Module>> {
    // SAFETY: as the caller promises.
    unsafe { with_containers(pointer, image::load) }
}

/// Calls a function with the image that a program points to.
///
/// # Safety
/// As for [`load`].
pub(crate) unsafe fn with_containers<T>(
    pointer: *const c_void,
    use_image: impl FnOnce(Image<'_>) -> Result<T>,
) -> Result<T> {
    if pointer.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: whatever the program hands over has four bytes: the shortest is a text, which starts with `.version`, and the
    // C string is read byte by byte below.
    let magic = unsafe { pointer.cast::<u32>().read_unaligned() };
    match magic {
        WRAPPER => {
            // SAFETY: the magic number says that it is a wrapper.
            let wrapper = unsafe { pointer.cast::<Wrapper>().read_unaligned() };
            if wrapper.version != 2 || wrapper.containers.is_null() {
                // SAFETY: a wrapper points to a container.
                return use_image(Image::Fatbin(unsafe { container(wrapper.data) }?));
            }
            let mut all = Vec::new();
            for index in 0..MOST_CONTAINERS {
                // SAFETY: the list ends with null, and is not read past it.
                let next = unsafe { wrapper.containers.add(index).read_unaligned() };
                if next.is_null() {
                    break;
                }
                // SAFETY: the list is of containers.
                all.push(unsafe { container(next) }?);
            }
            use_image(Image::Fatbins(&all))
        }
        // SAFETY: the magic number says that it is a container.
        fatbin::MAGIC => use_image(Image::Fatbin(unsafe { container(pointer) }?)),
        ELF => use_image(Image::MachineCode),
        // SAFETY: what is nothing else is a text, as the caller promises.
        _ => use_image(Image::Ptx(unsafe { CStr::from_ptr(pointer.cast::<c_char>()) }.to_bytes())),
    }
}

/// The bytes of a container.
///
/// # Safety
/// `pointer` must point to a container, whose header says how long it is.
unsafe fn container<'a>(pointer: *const c_void) -> Result<&'a [u8]> {
    if pointer.is_null() {
        return Err(CudaError::INVALID_IMAGE);
    }
    // SAFETY: a container has at least a header.
    let header = unsafe { pointer.cast::<[u8; fatbin::HEADER_BYTES]>().as_ref() }.ok_or(CudaError::INVALID_IMAGE)?;
    let length = fatbin::size_of_container(header).map_err(|_| CudaError::INVALID_IMAGE)?;
    // SAFETY: the header says that it is so long.
    Ok(unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), length) })
}
