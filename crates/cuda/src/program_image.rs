//! Code in the memory of the program, of which only the start is known, and what is set there when it is loaded.
//!
//! Unsafe: the addresses come from the program. Whoever makes one of these promises that it stays valid.

use std::ffi::{CStr, c_char, c_void};

use crate::address_space::is_mapped;
use crate::error::{CudaError, Result};

/// Code in the memory of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Image<'a> {
    /// PTX, up to a zero if there is one.
    Ptx(&'a [u8]),
    /// A container, whole.
    Fatbin(&'a [u8]),
    /// Several containers, each of a source file, to be linked.
    Fatbins(&'a [&'a [u8]]),
    /// Machine code of a device.
    MachineCode,
}

/// Where an image is in the memory of the program.
#[derive(Debug)]
pub(crate) struct ProgramImage {
    address: usize,
}

/// Where the program keeps the address of a managed variable.
#[derive(Debug)]
pub(crate) struct ManagedPointer {
    address: usize,
}

/// The start of machine code, and of object files of the host.
pub(crate) const ELF: &[u8; 4] = b"\x7fELF";

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
const ELF_START: u32 = u32::from_le_bytes(*ELF);
/// More modules than this are not linked: the list has no end.
const MOST_CONTAINERS: usize = 4096;

impl ProgramImage {
    /// What a program points to.
    ///
    /// # Safety
    /// `pointer` must be null or point to a wrapper, a container, machine code, or PTX that ends with zero, which stays as
    /// it is as long as the value is used.
    pub(crate) unsafe fn new(pointer: *const c_void) -> Self {
        Self { address: pointer as usize }
    }

    /// Calls a function with the image.
    pub(crate) fn with<T>(&self, use_image: impl FnOnce(Image<'_>) -> Result<T>) -> Result<T> {
        let pointer = self.address as *const c_void;
        if pointer.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        // A mistaken pointer is mostly one to nowhere; the driver returns an error for it.
        if !is_mapped(self.address as u64, 4) {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: not null, so it points to one of what `new` lists, and each has four bytes: a header, or a text, of which
        // the shortest with any meaning starts with `.version`.
        let magic = unsafe { pointer.cast::<u32>().read_unaligned() };
        match magic {
            WRAPPER => {
                // SAFETY: of what `new` lists, only a wrapper starts with this number.
                let wrapper = unsafe { pointer.cast::<Wrapper>().read_unaligned() };
                if wrapper.version != 2 || wrapper.containers.is_null() {
                    // SAFETY: the data of a wrapper without a list is null or a container.
                    return use_image(Image::Fatbin(unsafe { container(wrapper.data) }?));
                }
                let mut all = Vec::new();
                for index in 0..MOST_CONTAINERS {
                    // SAFETY: the list ends with null, and is not read past it.
                    let next = unsafe { wrapper.containers.add(index).read_unaligned() };
                    if next.is_null() {
                        break;
                    }
                    // SAFETY: what is in the list before its end is a container.
                    all.push(unsafe { container(next) }?);
                }
                use_image(Image::Fatbins(&all))
            }
            // SAFETY: of what `new` lists, only a container starts with this number.
            fatbin::MAGIC => use_image(Image::Fatbin(unsafe { container(pointer) }?)),
            ELF_START => use_image(Image::MachineCode),
            // SAFETY: what is nothing else of what `new` lists is a text that ends with zero.
            _ => use_image(Image::Ptx(unsafe { CStr::from_ptr(pointer.cast::<c_char>()) }.to_bytes())),
        }
    }
}

impl ManagedPointer {
    /// A pointer of the program that is set by us.
    ///
    /// # Safety
    /// `pointer` must be valid to write as long as the value is used, and nobody else may write it then.
    pub(crate) unsafe fn new(pointer: *mut *mut c_void) -> Self {
        Self { address: pointer as usize }
    }

    /// The address of the pointer, by which the program knows the variable.
    pub(crate) fn address(&self) -> usize {
        self.address
    }

    /// Lets it point to the variable.
    pub(crate) fn set(&self, variable: u64) {
        // SAFETY: `new` was promised that it can be written.
        unsafe { (self.address as *mut u64).write(variable) };
    }
}

/// The bytes of a container.
///
/// # Safety
/// `pointer` must be null or point to a container, whose header says how long it is, and which stays for `'a`.
unsafe fn container<'a>(pointer: *const c_void) -> Result<&'a [u8]> {
    if pointer.is_null() {
        return Err(CudaError::INVALID_IMAGE);
    }
    // SAFETY: not null, so a container, which has at least a header.
    let header = unsafe { pointer.cast::<[u8; fatbin::HEADER_BYTES]>().as_ref() }.ok_or(CudaError::INVALID_IMAGE)?;
    let length = fatbin::size_of_container(header).map_err(|_| CudaError::INVALID_IMAGE)?;
    // SAFETY: the caller promises that the container is as long as its header says.
    Ok(unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), length) })
}
