//! The table of all functions of the driver that are called: the version of CUDA in which each got the signature that it is
//! called with, and why it is needed. `cuGetProcAddress` is asked for that version; it is the only name that is looked up in
//! the file itself. All of them are documented by NVIDIA, and a test holds the table against the headers.

use std::ffi::{c_char, c_void};

use crate::abi::{Access, AllocationProperties, LaunchConfig, ResourceDescription, TextureDescription};

/// A function of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name, as `cuGetProcAddress` knows it.
    pub name: &'static str,
    /// The version of CUDA that is asked for, as the driver writes it: 12020 for 12.2.
    pub since: u32,
    /// Why it is needed.
    pub why: &'static str,
}

/// A reference to something of the driver.
pub(crate) type Handle = *mut c_void;

macro_rules! functions {
    ($($since:literal $name:ident ($($ty:ty),*): $why:literal;)*) => {
        /// All of them, by their names.
        pub const TABLE: &[Function] = &[$(Function { name: stringify!($name), since: $since, why: $why }),*];

        /// Where they are.
        #[allow(non_snake_case, reason = "they are called what they are called in C")]
        #[derive(Debug)]
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C" fn($($ty),*) -> i32,)*
        }

        #[allow(non_snake_case, reason = "they are called what they are called in C")]
        impl Functions {
            /// Looks them up: nothing in place of one is an error, which names it.
            ///
            /// # Safety
            /// What is found under a name has the signature that NVIDIA documents for it in that version.
            pub(crate) unsafe fn find(look_up: impl Fn(&Function) -> Option<*mut c_void>) -> Result<Self, &'static str> {
                $(
                    let function = Function { name: stringify!($name), since: $since, why: $why };
                    let $name = look_up(&function).ok_or(stringify!($name))?;
                )*
                // SAFETY: the caller promises the signatures; no address is null.
                unsafe {
                    Ok(Self { $($name: std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) -> i32>($name),)* })
                }
            }
        }
    };
}

functions! {
    2000 cuInit(u32): "nothing else works before it";
    2020 cuDriverGetVersion(*mut i32): "to say that a driver is too old";
    6000 cuGetErrorName(i32, *mut *const c_char): "errors in the driver's words";
    6000 cuGetErrorString(i32, *mut *const c_char): "errors in the driver's words";
    2000 cuDeviceGetCount(*mut i32): "whether there is a GPU";
    2000 cuDeviceGet(*mut i32, i32): "the first GPU, which is the one that is used";
    2000 cuDeviceGetName(*mut c_char, i32, i32): "the program sees the name of the GPU";
    2000 cuDeviceGetAttribute(*mut i32, i32, i32): "the program sees what the GPU has; whether memory can be mapped";
    3020 cuDeviceTotalMem(*mut usize, i32): "the program sees how much memory the GPU has";
    7000 cuDevicePrimaryCtxRetain(*mut Handle, i32): "a context, the one that libraries for the runtime would use";
    4000 cuCtxSetCurrent(Handle): "each thread that calls the driver needs it";
    3020 cuMemGetInfo(*mut usize, *mut usize): "how large the arena may be";
    10020 cuMemGetAllocationGranularity(*mut usize, *const AllocationProperties, i32): "sizes of what is mapped";
    10020 cuMemAddressReserve(*mut u64, usize, usize, u64, u64): "the addresses of the arena and of shadow planes";
    10020 cuMemCreate(*mut u64, usize, *const AllocationProperties, u64): "memory of the device, and of the host for what it shares";
    10020 cuMemRelease(u64): "gives memory back, once nothing maps it";
    10020 cuMemMap(u64, usize, usize, u64, u64): "puts memory behind addresses of the arena";
    10020 cuMemUnmap(u64, usize): "takes it away";
    10020 cuMemSetAccess(u64, usize, *const Access, usize): "lets kernels access it, and the host what it shares";
    6050 cuMemHostRegister(*mut c_void, usize, u32): "memory of the host that the program registers";
    4000 cuMemHostUnregister(*mut c_void): "takes it from kernels again";
    4000 cuMemcpyAsync(u64, u64, usize, Handle): "all copies";
    3020 cuMemsetD8Async(u64, u8, usize, Handle): "fills of bytes, also of shadow";
    3020 cuMemsetD16Async(u64, u16, usize, Handle): "fills of 16 bits";
    3020 cuMemsetD32Async(u64, u32, usize, Handle): "fills of 32 bits";
    2000 cuStreamCreate(*mut Handle, u32): "each thread that launches has its own";
    2000 cuStreamSynchronize(Handle): "waits for the end of what it launched";
    2000 cuStreamQuery(Handle): "whether a launch has ended that may only take so long";
    5000 cuTexObjectCreate(*mut u64, *const ResourceDescription, *const TextureDescription, *const c_void): "textures over memory of the arena";
    5000 cuTexObjectDestroy(u64): "forgets one";
    2010 cuModuleLoadDataEx(*mut Handle, *const c_void, u32, *const i32, *const *mut c_void): "the driver compiles the PTX of a kernel";
    2000 cuModuleUnload(Handle): "forgets it with the module of the program";
    2000 cuModuleGetFunction(*mut Handle, Handle, *const c_char): "the kernel";
    2020 cuFuncGetAttribute(*mut i32, i32, Handle): "registers, memory and threads of the compiled kernel";
    9000 cuFuncSetAttribute(Handle, i32, i32): "more than 48 KiB of dynamic shared memory";
    11060 cuLaunchKernelEx(*const LaunchConfig, Handle, *const *mut c_void, *const *mut c_void): "launches, cooperative ones too";
}
