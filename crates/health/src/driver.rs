//! The few functions of CUDA's driver that a kernel is launched by, looked up when they are needed.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;

/// Why kernels could not be launched.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// There is no driver.
    #[error("libcuda.so.1 cannot be loaded, or has no {0}")]
    Missing(String),
    /// A function failed.
    #[error("{function} returned error {code}")]
    Failed {
        /// Which.
        function: &'static str,
        /// What it returned.
        code: c_int,
    },
}

type Handle = *mut c_void;

/// The driver, with a module.
#[derive(Debug)]
pub(crate) struct Driver {
    library: Handle,
    module: Handle,
}

/// An address of the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer(u64);

impl Driver {
    /// Starts the driver on the first device, and loads a module.
    pub(crate) fn start(ptx: &str) -> Result<Self, DriverError> {
        // SAFETY: the name ends with a zero byte; the library's own initialisers are the system's business.
        let library = unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW) };
        if library.is_null() {
            return Err(DriverError::Missing("cuInit".to_owned()));
        }
        let mut driver = Self { library, module: ptr::null_mut() };
        let (mut device, mut context): (c_int, Handle) = (0, ptr::null_mut());
        type Init = unsafe extern "C" fn(c_uint) -> c_int;
        type GetDevice = unsafe extern "C" fn(*mut c_int, c_int) -> c_int;
        type Retain = unsafe extern "C" fn(*mut Handle, c_int) -> c_int;
        type SetCurrent = unsafe extern "C" fn(Handle) -> c_int;
        type Load = unsafe extern "C" fn(*mut Handle, *const c_void) -> c_int;
        let ptx = CString::new(ptx).expect("PTX has no zero byte");
        // SAFETY: the types are those of the driver's functions, as `cuda.h` has them; pointers are to variables above.
        unsafe {
            check("cuInit", driver.function::<Init>(c"cuInit")?(0))?;
            check("cuDeviceGet", driver.function::<GetDevice>(c"cuDeviceGet")?(&mut device, 0))?;
            let retain = driver.function::<Retain>(c"cuDevicePrimaryCtxRetain")?;
            check("cuDevicePrimaryCtxRetain", retain(&mut context, device))?;
            check("cuCtxSetCurrent", driver.function::<SetCurrent>(c"cuCtxSetCurrent")?(context))?;
            let load = driver.function::<Load>(c"cuModuleLoadData")?;
            check("cuModuleLoadData", load(&mut driver.module, ptx.as_ptr().cast()))?;
        }
        Ok(driver)
    }

    /// A function of the library.
    ///
    /// # Safety
    /// `F` must be the type of the function with this name, a pointer to an `extern "C"` function.
    unsafe fn function<F: Copy>(&self, name: &CStr) -> Result<F, DriverError> {
        assert_eq!(size_of::<F>(), size_of::<Handle>(), "functions are looked up");
        // SAFETY: the library is loaded, and stays so; the name ends with a zero byte.
        let found = unsafe { libc::dlsym(self.library, name.as_ptr()) };
        if found.is_null() {
            return Err(DriverError::Missing(name.to_string_lossy().into_owned()));
        }
        // SAFETY: the caller promises that `F` is the type of this function, and it has the size of a pointer.
        Ok(unsafe { std::mem::transmute_copy::<Handle, F>(&found) })
    }

    /// Memory of the device.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<Buffer, DriverError> {
        type Allocate = unsafe extern "C" fn(*mut u64, usize) -> c_int;
        let mut address = 0;
        // SAFETY: the type is that of `cuMemAlloc_v2`, and the pointer is to a variable.
        unsafe { check("cuMemAlloc", self.function::<Allocate>(c"cuMemAlloc_v2")?(&mut address, bytes))? };
        Ok(Buffer(address))
    }

    /// Launches `name(buffer, numbers…)` and waits for it.
    pub(crate) fn launch(
        &self,
        name: &str,
        [blocks, threads]: [u32; 2],
        buffer: Buffer,
        mut numbers: [u32; 2],
    ) -> Result<(), DriverError> {
        type Get = unsafe extern "C" fn(*mut Handle, Handle, *const c_char) -> c_int;
        type Launch = unsafe extern "C" fn(
            Handle,
            c_uint,
            c_uint,
            c_uint,
            c_uint,
            c_uint,
            c_uint,
            c_uint,
            Handle,
            *mut Handle,
            *mut Handle,
        ) -> c_int;
        type Synchronize = unsafe extern "C" fn() -> c_int;
        let name = CString::new(name).expect("names have no zero byte");
        let (mut kernel, mut address): (Handle, u64) = (ptr::null_mut(), buffer.0);
        let [rounds, seed] = &mut numbers;
        let mut params: [Handle; 3] = [(&raw mut address).cast(), (&raw mut *rounds).cast(), (&raw mut *seed).cast()];
        // SAFETY: the types are those of the driver's functions; the kernel takes an address and two numbers of 32 bits, which
        // live until the launch has read them.
        unsafe {
            let get = self.function::<Get>(c"cuModuleGetFunction")?;
            check("cuModuleGetFunction", get(&mut kernel, self.module, name.as_ptr()))?;
            let launch = self.function::<Launch>(c"cuLaunchKernel")?;
            let none = ptr::null_mut();
            let launched = launch(kernel, blocks, 1, 1, threads, 1, 1, 0, none, params.as_mut_ptr(), ptr::null_mut());
            check("cuLaunchKernel", launched)?;
            check("cuCtxSynchronize", self.function::<Synchronize>(c"cuCtxSynchronize")?())
        }
    }

    /// Copies memory of the device.
    pub(crate) fn read(&self, buffer: Buffer, bytes: &mut [u8]) -> Result<(), DriverError> {
        type Copy = unsafe extern "C" fn(*mut c_void, u64, usize) -> c_int;
        // SAFETY: the type is that of `cuMemcpyDtoH_v2`, and there is room for so many bytes.
        unsafe {
            let copy = self.function::<Copy>(c"cuMemcpyDtoH_v2")?;
            check("cuMemcpyDtoH", copy(bytes.as_mut_ptr().cast(), buffer.0, bytes.len()))
        }
    }
}

fn check(function: &'static str, code: c_int) -> Result<(), DriverError> {
    if code == 0 { Ok(()) } else { Err(DriverError::Failed { function, code }) }
}
