//! The driver: loaded from a file, and asked by its functions.
//!
//! Unsafe: it loads code and calls C. What functions get is what NVIDIA documents that they take.
#![allow(unsafe_code, reason = "it calls C")]

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use device::RemoteError;

use crate::abi::{attribute, result};
use crate::functions::{Function, Functions, Handle, TABLE};

/// The oldest driver, by the version of CUDA that it is for: before, memory of the host could not be mapped into a range.
pub const OLDEST: u32 = 12020;

/// The least compute capability, as ten times the number: before, lanes of a warp could not wait for each other.
const LEAST_CAPABILITY: u32 = 70;

/// Why the driver cannot be used. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The file cannot be loaded.
    #[error("the driver {} cannot be loaded ({why}): name the libcuda.so.1 of this machine with --driver", .file.display())]
    Load {
        /// The file.
        file: PathBuf,
        /// What the loader says.
        why: String,
    },
    /// It is no driver, or lacks a function.
    #[error("the driver {} has no {function}: it must be one of CUDA 12.2 (R535) or later, so update it", .file.display())]
    Missing {
        /// The file.
        file: PathBuf,
        /// The function.
        function: &'static str,
    },
    /// It is too old.
    #[error("the driver is for CUDA {}.{}, and Warpgrind needs one for 12.2 or later (R535): update it", .version / 1000, .version % 1000 / 10)]
    TooOld {
        /// The version of CUDA, as the driver writes it.
        version: u32,
    },
    /// There is no GPU.
    #[error("the driver finds no GPU: look at `nvidia-smi`, and at CUDA_VISIBLE_DEVICES")]
    NoDevice,
    /// The GPU lacks something.
    #[error("the GPU {name} cannot be used: {what}")]
    Lacks {
        /// What it is called.
        name: String,
        /// What is missing.
        what: &'static str,
    },
    /// The driver refuses something.
    #[error("the driver refuses {call}: {error}")]
    Refuses {
        /// What it was asked.
        call: &'static str,
        /// What it says.
        error: RemoteError,
    },
}

/// A loaded driver.
#[derive(Debug)]
pub struct Driver {
    pub(crate) functions: Functions,
    version: u32,
}

/// What a GPU is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceFacts {
    /// What the driver calls it.
    pub name: String,
    /// Its compute capability, as ten times the number.
    pub capability: u32,
    /// How many multiprocessors it has.
    pub multiprocessors: u32,
    /// Its clock rate in megahertz.
    pub clock: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// The clock rate of its memory, in megahertz.
    pub memory_clock: u32,
    /// How wide its memory is, in bits.
    pub bus: u32,
    /// Bytes of its second cache.
    pub l2: u32,
    /// How many times as fast numbers of single precision are as those of double precision.
    pub single_to_double: u32,
    /// How many bytes of shared memory a block may have, if its kernel asks for so much.
    pub most_shared: u32,
}

impl Driver {
    /// Loads a driver. It stays until the process ends: its threads do.
    pub fn load(file: &Path) -> Result<Self, DriverError> {
        let library = open(file).map_err(|why| DriverError::Load { file: file.to_owned(), why })?;
        let missing = |function| DriverError::Missing { file: file.to_owned(), function };
        // SAFETY: the library is loaded, and the name ends with zero.
        let look_up = unsafe { libc::dlsym(library, c"cuGetProcAddress_v2".as_ptr()) };
        if look_up.is_null() {
            return Err(missing("cuGetProcAddress"));
        }
        type LookUp = unsafe extern "C" fn(*const c_char, *mut *mut c_void, c_int, u64, *mut c_int) -> c_int;
        // SAFETY: `cuGetProcAddress_v2` has this signature in all drivers that export it.
        let look_up = unsafe { std::mem::transmute::<*mut c_void, LookUp>(look_up) };
        let find = |function: &Function| {
            let name = CString::new(function.name).ok()?;
            let (mut found, mut status) = (std::ptr::null_mut(), 0);
            // SAFETY: the name ends with zero, and there is room for the answers.
            let code = unsafe { look_up(name.as_ptr(), &mut found, function.since as c_int, 0, &mut status) };
            (code == 0 && !found.is_null()).then_some(found)
        };
        // SAFETY: the driver gives out functions as NVIDIA documents them for the version that is asked for.
        let functions = unsafe { Functions::find(find) };
        // A driver that is too old is said to be so before a function is missed.
        let of_driver = match &functions {
            Ok(functions) => Some(functions.cuDriverGetVersion),
            // SAFETY: the function has this signature in all versions.
            Err(_) => find(&TABLE[1]).map(|found| unsafe {
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_int) -> c_int>(found)
            }),
        };
        let mut version = 0;
        // SAFETY: there is room for the answer.
        let is_known = of_driver.is_some_and(|of_driver| unsafe { of_driver(&mut version) } == 0);
        let version = if is_known { version.max(0) as u32 } else { 0 };
        if is_known && version < OLDEST {
            return Err(DriverError::TooOld { version });
        }
        let driver = Self { functions: functions.map_err(missing)?, version };
        // SAFETY: no flags are defined.
        driver.check("cuInit", unsafe { (driver.functions.cuInit)(0) })?;
        Ok(driver)
    }

    /// The version of CUDA that it is for: 12020 for 12.2.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// What the first GPU is, and its number for the driver. One that lacks what is needed is an error.
    pub fn facts(&self) -> Result<(i32, DeviceFacts), DriverError> {
        let (mut count, mut device) = (0, 0);
        // SAFETY: there is room for the answers.
        unsafe {
            self.check("cuDeviceGetCount", (self.functions.cuDeviceGetCount)(&mut count))?;
            if count == 0 {
                return Err(DriverError::NoDevice);
            }
            self.check("cuDeviceGet", (self.functions.cuDeviceGet)(&mut device, 0))?;
        }
        let mut name = [0_u8; 256];
        let mut memory = 0;
        // SAFETY: there is room for the answers.
        unsafe {
            let text = name.as_mut_ptr().cast();
            self.check("cuDeviceGetName", (self.functions.cuDeviceGetName)(text, name.len() as i32 - 1, device))?;
            self.check("cuDeviceTotalMem", (self.functions.cuDeviceTotalMem)(&mut memory, device))?;
        }
        let name = CStr::from_bytes_until_nul(&name).unwrap_or_default().to_string_lossy().into_owned();
        let lacks = |what| DriverError::Lacks { name: name.clone(), what };
        let ask = |number| {
            let mut value = 0;
            // SAFETY: there is room for the answer.
            let code = unsafe { (self.functions.cuDeviceGetAttribute)(&mut value, number, device) };
            self.check("cuDeviceGetAttribute", code).map(|()| value.max(0) as u32)
        };
        if ask(attribute::VIRTUAL_MEMORY)? == 0 {
            return Err(lacks("it cannot map memory into ranges of addresses (cuMemMap)"));
        }
        if ask(attribute::HOST_NUMA_VIRTUAL_MEMORY)? == 0 {
            return Err(lacks("it cannot map memory of the host into ranges of addresses (HOST_NUMA of cuMemCreate)"));
        }
        if ask(attribute::HOST_POINTERS)? == 0 {
            return Err(lacks(
                "memory of the host has other addresses there (CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM)",
            ));
        }
        let capability = ask(attribute::MAJOR)? * 10 + ask(attribute::MINOR)?;
        if capability < LEAST_CAPABILITY {
            return Err(lacks("its compute capability is less than 7.0"));
        }
        let facts = DeviceFacts {
            capability,
            multiprocessors: ask(attribute::MULTIPROCESSORS)?,
            clock: ask(attribute::CLOCK)? / 1000,
            memory: memory as u64,
            memory_clock: ask(attribute::MEMORY_CLOCK)? / 1000,
            bus: ask(attribute::BUS)?,
            l2: ask(attribute::L2)?,
            single_to_double: ask(attribute::SINGLE_TO_DOUBLE)?,
            most_shared: ask(attribute::MOST_SHARED)?,
            name,
        };
        Ok((device, facts))
    }

    /// What a number that the driver returned means.
    pub(crate) fn error(&self, code: i32) -> RemoteError {
        let text = |function: unsafe extern "C" fn(i32, *mut *const c_char) -> i32| {
            let mut text = std::ptr::null();
            // SAFETY: there is room for the answer: a string that stays, or null.
            let is_known = unsafe { function(code, &mut text) } == 0 && !text.is_null();
            // SAFETY: a string that stays and ends with zero.
            is_known.then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        };
        let name = text(self.functions.cuGetErrorName).unwrap_or_else(|| format!("error {code}"));
        let words = text(self.functions.cuGetErrorString).map_or_else(String::new, |words| format!(" ({words})"));
        let cure = match code {
            result::OUT_OF_MEMORY => {
                ": the GPU has not so much memory left; `nvidia-smi` shows who has it, or run with less (--device-memory)"
            }
            result::UNKNOWN | result::UNAVAILABLE | result::NOT_READY => {
                ": the driver or the GPU has failed; look at `nvidia-smi` and `dmesg`, and run again"
            }
            _ => "",
        };
        RemoteError { code: code.max(0) as u32, message: format!("{name}{words}{cure}") }
    }

    /// An error that the driver returned.
    pub(crate) fn result(&self, code: i32) -> Result<(), RemoteError> {
        if code == 0 { Ok(()) } else { Err(self.error(code)) }
    }

    pub(crate) fn check(&self, call: &'static str, code: i32) -> Result<(), DriverError> {
        self.result(code).map_err(|error| DriverError::Refuses { call, error })
    }
}

/// Loads a library, whatever it is called: who asks for `libcuda.so.1` in a program under Warpgrind gets ours, so it is asked
/// for by the number of a descriptor.
fn open(file: &Path) -> Result<*mut c_void, String> {
    let opened = std::fs::File::open(file).map_err(|error| error.to_string())?;
    let name = file.file_name().unwrap_or_default().as_bytes();
    let path = match name {
        b"libcuda.so" | b"libcuda.so.1" => format!("/proc/self/fd/{}", opened.as_raw_fd()).into_bytes(),
        _ => file.as_os_str().as_bytes().to_vec(),
    };
    let path = CString::new(path).map_err(|error| error.to_string())?;
    // SAFETY: the user names the file as the driver. Its own functions come before ours, which have the same names.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL | libc::RTLD_DEEPBIND) };
    if !library.is_null() {
        return Ok(library);
    }
    // SAFETY: an error has just happened, so there is a string or null.
    let why = unsafe { libc::dlerror() };
    if why.is_null() {
        return Err("the loader does not say why".to_owned());
    }
    // SAFETY: a string that ends with zero, which stays until the next error of this thread.
    Err(unsafe { CStr::from_ptr(why) }.to_string_lossy().into_owned())
}

thread_local! {
    /// The stream of this thread, once it has called the driver.
    static STREAM: Cell<Handle> = const { Cell::new(std::ptr::null_mut()) };
}

/// How often a launch with a limit is looked at, at least.
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// The context that all threads use.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) driver: Driver,
    context: Handle,
    pub(crate) device: i32,
    /// Who launches holds it shared, until the launch has ended or runs on.
    launches: RwLock<()>,
    /// The streams whose launches run on.
    run_on: Mutex<Vec<Handle>>,
    /// A kernel is not waited for any more, and runs for ever, perhaps: what the driver would be asked for would wait for it.
    given_up: OnceLock<RemoteError>,
}

// SAFETY: the driver allows its context to be current in any number of threads.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    pub(crate) fn new(driver: Driver, device: i32) -> Result<Self, DriverError> {
        let mut context = std::ptr::null_mut();
        // SAFETY: there is room for the answer.
        let code = unsafe { (driver.functions.cuDevicePrimaryCtxRetain)(&mut context, device) };
        driver.check("cuDevicePrimaryCtxRetain", code)?;
        Ok(Self {
            driver,
            context,
            device,
            launches: RwLock::default(),
            run_on: Mutex::default(),
            given_up: OnceLock::new(),
        })
    }

    /// The stream of this thread, in which the context is current from now on.
    pub(crate) fn stream(&self) -> Result<Handle, RemoteError> {
        if let Some(error) = self.given_up.get() {
            return Err(error.clone());
        }
        let known = STREAM.get();
        if !known.is_null() {
            return Ok(known);
        }
        let mut stream = std::ptr::null_mut();
        // SAFETY: the context is one of the driver, and there is room for the answer.
        unsafe {
            self.driver.result((self.driver.functions.cuCtxSetCurrent)(self.context))?;
            self.driver.result((self.driver.functions.cuStreamCreate)(&mut stream, crate::abi::NON_BLOCKING))?;
        }
        STREAM.set(stream);
        Ok(stream)
    }

    /// Asks the driver for something in the stream of this thread, and waits until it is done.
    pub(crate) fn finish(&self, ask: impl FnOnce(&Functions, Handle) -> i32) -> Result<(), RemoteError> {
        self.synchronize(self.begin(ask)?)
    }

    /// Waits until all is done that a stream, one of ours, was asked for.
    fn synchronize(&self, stream: Handle) -> Result<(), RemoteError> {
        // SAFETY: a stream of the driver, which lives as long as the process.
        self.driver.result(unsafe { (self.driver.functions.cuStreamSynchronize)(stream) })
    }

    /// The same, for so long at most; whether it was done by then. If not, the driver is asked for nothing any more.
    pub(crate) fn finish_within(
        &self,
        limit: Duration,
        ask: impl FnOnce(&Functions, Handle) -> i32,
    ) -> Result<bool, RemoteError> {
        let stream = self.begin(ask)?;
        let started = Instant::now();
        loop {
            // SAFETY: a stream of the driver.
            match unsafe { (self.driver.functions.cuStreamQuery)(stream) } {
                result::UNDER_WAY => {}
                code => return self.driver.result(code).map(|()| true),
            }
            let passed = started.elapsed();
            if passed > limit {
                let message = "a kernel did not end in time, and the GPU cannot end it".to_owned();
                let _ = self.given_up.set(RemoteError { code: result::TIMEOUT as u32, message });
                return Ok(false);
            }
            // A short kernel is waited for exactly, and a long one costs no processor.
            std::thread::sleep((passed / 8).min(LONGEST_PAUSE));
        }
    }

    /// Asks the driver for a launch in the stream of this thread, which runs on after that.
    pub(crate) fn leave(&self, ask: impl FnOnce(&Functions, Handle) -> i32) -> Result<(), RemoteError> {
        let stream = self.begin(ask)?;
        let mut run_on = self.run_on();
        if !run_on.contains(&stream) {
            run_on.push(stream);
        }
        Ok(())
    }

    /// Whether some launch of this thread that runs on went wrong: then the driver refuses whatever it is asked for.
    pub(crate) fn has_failed(&self) -> bool {
        let stream = STREAM.get();
        let runs_on = self.run_on().contains(&stream);
        runs_on && self.synchronize(stream).is_err()
    }

    /// Waits for the launches of this thread that run on.
    pub(crate) fn wait(&self) -> Result<(), RemoteError> {
        let stream = STREAM.get();
        if !self.run_on().contains(&stream) {
            return Ok(());
        }
        let ended = self.synchronize(stream);
        self.run_on().retain(|other| *other != stream);
        ended
    }

    /// Until this is dropped, launches can be asked for and waited for.
    pub(crate) fn launching(&self) -> RwLockReadGuard<'_, ()> {
        self.launches.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until this is dropped, no launch runs.
    pub(crate) fn quiet(&self) -> RwLockWriteGuard<'_, ()> {
        let quiet = self.launches.write().unwrap_or_else(PoisonError::into_inner);
        // A thread that has called nothing yet has no context.
        let _ = self.stream();
        let streams = self.run_on().clone();
        for stream in streams {
            // What goes wrong is told to the thread of the stream.
            let _ = self.synchronize(stream);
        }
        quiet
    }

    fn run_on(&self) -> MutexGuard<'_, Vec<Handle>> {
        self.run_on.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the driver for something in the stream of this thread.
    fn begin(&self, ask: impl FnOnce(&Functions, Handle) -> i32) -> Result<Handle, RemoteError> {
        let stream = self.stream()?;
        self.driver.result(ask(&self.driver.functions, stream)).map(|()| stream)
    }

    /// Asks the driver for something.
    pub(crate) fn call(&self, ask: impl FnOnce(&Functions) -> i32) -> Result<(), RemoteError> {
        self.stream()?;
        self.driver.result(ask(&self.driver.functions))
    }
}

/// An error that is not the driver's.
pub(crate) fn own_error(message: String) -> RemoteError {
    RemoteError { code: result::INVALID_VALUE as u32, message }
}
