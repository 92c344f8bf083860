//! Types and constants of the driver's API, as `cuda.h` of CUDA 12.2 has them.

use std::ffi::c_void;

/// `CUmemLocation`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    pub(crate) kind: i32,
    pub(crate) id: i32,
}

/// `CUmemAllocationProp`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllocationProperties {
    pub(crate) kind: i32,
    pub(crate) handle_types: i32,
    pub(crate) location: Location,
    pub(crate) windows: *mut c_void,
    pub(crate) flags: [u8; 8],
}

/// `CUmemAccessDesc`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) location: Location,
    pub(crate) flags: i32,
}

/// `CUlaunchConfig`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchConfig {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    pub(crate) stream: *mut c_void,
    pub(crate) attributes: *const LaunchAttribute,
    pub(crate) attribute_count: u32,
}

/// `CUlaunchAttribute`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchAttribute {
    pub(crate) id: i32,
    pub(crate) padding: [u8; 4],
    pub(crate) value: [u32; 16],
}

/// `CUDA_RESOURCE_DESC` of memory, in one piece or in rows.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct ResourceDescription {
    pub(crate) kind: i32,
    pub(crate) padding: [u8; 4],
    pub(crate) address: u64,
    pub(crate) format: u32,
    pub(crate) channels: u32,
    /// Bytes of one piece; or elements of a row, rows, and bytes from one to the next.
    pub(crate) size: [u64; 3],
    pub(crate) reserved: [u64; 11],
    pub(crate) flags: u32,
    pub(crate) end: [u8; 4],
}

/// `CUDA_TEXTURE_DESC`
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct TextureDescription {
    pub(crate) address: [i32; 3],
    pub(crate) filter: i32,
    pub(crate) flags: u32,
    pub(crate) anisotropy: u32,
    pub(crate) level_filter: i32,
    pub(crate) level_bias: f32,
    pub(crate) level_min: f32,
    pub(crate) level_max: f32,
    pub(crate) border: [f32; 4],
    pub(crate) reserved: [i32; 12],
}

const _: () = assert!(size_of::<ResourceDescription>() == 144 && size_of::<TextureDescription>() == 104);
const _: () = assert!(size_of::<AllocationProperties>() == 32 && size_of::<Access>() == 12);
const _: () = assert!(size_of::<LaunchConfig>() == 56 && size_of::<LaunchAttribute>() == 72);

/// `CU_MEM_ALLOCATION_TYPE_PINNED`
pub(crate) const PINNED: i32 = 1;
/// `CU_MEM_LOCATION_TYPE_DEVICE`
pub(crate) const DEVICE: i32 = 1;
/// `CU_MEM_LOCATION_TYPE_HOST_NUMA`
pub(crate) const HOST_NUMA: i32 = 3;
/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`
pub(crate) const READ_WRITE: i32 = 3;
/// `CU_STREAM_NON_BLOCKING`
pub(crate) const NON_BLOCKING: u32 = 1;
/// `CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP`
pub(crate) const REGISTER: u32 = 1 | 2;
/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`
pub(crate) const COOPERATIVE: i32 = 2;
/// `CU_LAUNCH_PARAM_BUFFER_POINTER`, `CU_LAUNCH_PARAM_BUFFER_SIZE`, `CU_LAUNCH_PARAM_END`
pub(crate) const PARAMS: [usize; 3] = [1, 2, 0];

/// `CUresourcetype`
pub(crate) mod resource {
    pub(crate) const LINEAR: i32 = 2;
    pub(crate) const PITCHED: i32 = 3;
}

/// Flags of `CUDA_TEXTURE_DESC`.
pub(crate) mod texture {
    pub(crate) const READ_AS_INTEGER: u32 = 1;
    pub(crate) const NORMALISED: u32 = 2;
}

/// `CUfunction_attribute`
pub(crate) mod function {
    pub(crate) const MAX_THREADS: i32 = 0;
    pub(crate) const SHARED: i32 = 1;
    pub(crate) const LOCAL: i32 = 3;
    pub(crate) const REGISTERS: i32 = 4;
    pub(crate) const MAX_DYNAMIC_SHARED: i32 = 8;
}

/// `CUdevice_attribute`
pub(crate) mod attribute {
    pub(crate) const CLOCK: i32 = 13;
    pub(crate) const MULTIPROCESSORS: i32 = 16;
    pub(crate) const MEMORY_CLOCK: i32 = 36;
    pub(crate) const BUS: i32 = 37;
    pub(crate) const L2: i32 = 38;
    pub(crate) const MAJOR: i32 = 75;
    pub(crate) const MINOR: i32 = 76;
    pub(crate) const SINGLE_TO_DOUBLE: i32 = 87;
    pub(crate) const HOST_POINTERS: i32 = 91;
    pub(crate) const MOST_SHARED: i32 = 97;
    pub(crate) const VIRTUAL_MEMORY: i32 = 102;
    pub(crate) const HOST_NUMA_VIRTUAL_MEMORY: i32 = 141;
}

/// `CUjit_option`
pub(crate) mod jit {
    pub(crate) const ERROR_LOG: i32 = 5;
    pub(crate) const ERROR_LOG_BYTES: i32 = 6;
}

/// Numbers of `CUresult` that are told apart.
pub(crate) mod result {
    pub(crate) const INVALID_VALUE: i32 = 1;
    pub(crate) const OUT_OF_MEMORY: i32 = 2;
    pub(crate) const UNAVAILABLE: i32 = 46;
    /// `CUDA_ERROR_NOT_READY`: work is under way.
    pub(crate) const UNDER_WAY: i32 = 600;
    pub(crate) const NOT_READY: i32 = 802;
    /// `CUDA_ERROR_INVALID_IMAGE`, `_NO_BINARY_FOR_GPU`, `_INVALID_PTX`, `_JIT_COMPILER_NOT_FOUND`, `_UNSUPPORTED_PTX_VERSION`,
    /// `_JIT_COMPILATION_DISABLED`, `_INVALID_SOURCE`, `_SHARED_OBJECT_SYMBOL_NOT_FOUND`, `_NOT_SUPPORTED`: what a driver says
    /// that does not take a text.
    pub(crate) const OF_PTX: [u32; 9] = [200, 209, 218, 221, 222, 223, 300, 302, 801];
    pub(crate) const TIMEOUT: i32 = 702;
    pub(crate) const UNKNOWN: i32 = 999;
}
