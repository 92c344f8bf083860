//! What C programs call: one function for each in CUDA's headers.
//!
//! Functions here only turn pointers and numbers into values and back; what they mean is in `api`. Every function goes
//! through [`guard`], so that no panic reaches the program.
//!
//! # What C callers promise
//! - A pointer is null or valid for one value of the type in the header: to read, and without `const` to write.
//! - A pointer with a count is null or valid for so many values, and one to a buffer with a size for so many bytes.
//! - A pointer to `const char` is null or the start of a string that ends with zero.
//! - Where the type is `void *`, it is what the attribute or kind beside it says, or as long as the size beside it.
//! - All this holds until the call returns. Memory that is copied, filled, waited for or written in a stream is valid
//!   until that is done, a function is one that may be called with its data, on another thread, until it was.
//! - Handles and addresses of the device may be anything: they are looked up.

#![allow(
    non_snake_case,
    non_upper_case_globals,
    reason = "functions, parameters and constants have the names of the headers"
)]
#![allow(unreachable_pub, reason = "what is exported is reached by its name")]

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::abi::errors::error_text;
use crate::error::{CudaError, Result};
use crate::process::{device_access, life};
use crate::refusal::refuse;
use crate::tooling;

mod driver;
mod exit;
mod exports;
mod graph;
mod host_call;
mod launch;
mod nvtx;
mod requests;
pub(crate) mod runtime;
mod user_object;

/// Declares functions of the driver: each gives its result to `guard`.
///
/// Of functions that work in a stream there are two, which differ in what the stream 0 means:
/// `fn cuX, cuX_ptsz(default; args…)` makes both from one body, with `default` bound to the meaning.
macro_rules! export {
    () => {};
    (fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block $($rest:tt)*) => {
        /// # Safety
        /// [What C callers promise](crate::ffi).
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
            crate::ffi::guard(stringify!($name), || $body)
        }
        export! { $($rest)* }
    };
    (fn $name:ident, $per_thread:ident($default:ident; $($arg:ident: $ty:ty),* $(,)?) $body:block $($rest:tt)*) => {
        export! {
            fn $name($($arg: $ty),*) {
                let $default = crate::api::stream_handle::DefaultStream::Legacy;
                $body
            }
            fn $per_thread($($arg: $ty),*) {
                let $default = crate::api::stream_handle::DefaultStream::PerThread;
                $body
            }
            $($rest)*
        }
    };
}
pub(crate) use export;

/// Runs a function of the driver; gives its result as programs see it.
pub(crate) fn guard(name: &'static str, body: impl FnOnce() -> Result<()>) -> u32 {
    let _restore = device_access::allow();
    if let Some(tool_host) = tooling::get() {
        tool_host.on_call();
    }
    let result = catch_unwind(AssertUnwindSafe(|| life::check(name).and_then(|()| body())));
    // Tools start in the first call.
    if let Some(tool_host) = tooling::get() {
        tool_host.on_called(name, true);
    }
    match result {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => {
            failed(name, error);
            error.code()
        }
        Err(_) => {
            refuse(&format!(
                "{name} failed by a bug of Warpgrind's own (the message is above): please report it, with the program if you can"
            ));
            CudaError::UNKNOWN.code()
        }
    }
}

/// Tells the tools of a call that failed.
#[cold]
fn failed(name: &'static str, error: CudaError) {
    // All calls fail after a fault, which was reported.
    if let Some(tool_host) = tooling::get().filter(|_| crate::driver::fault().is_none()) {
        tool_host.on_failed_call(name, error, || {
            let text = error_text(error.code());
            let by_driver = text.and_then(|text| text.driver);
            let by_runtime = text.and_then(|text| text.runtime);
            let known = if name.contains("cuda") { by_runtime.or(by_driver) } else { by_driver.or(by_runtime) };
            let known = known.map_or_else(|| format!("error {}", error.code()), |name| name.to_string_lossy().into());
            let meaning = text.map(|text| text.meaning.to_string_lossy()).unwrap_or_default();
            format!("{known} ({meaning})")
        });
    }
}

/// Says that a function is not there, and gives the result for that.
pub(crate) fn unsupported(name: &'static str) -> u32 {
    if let Some(tool_host) = tooling::get() {
        tool_host.on_called(name, false);
    }
    let sentence = format!("{name} is not supported by the CPU device yet; it returns \"not supported\"");
    // Programs and libraries ask for much that they can do without; not for launches.
    if name.contains("Launch") {
        refuse(&sentence)
    } else {
        crate::log::say(&sentence)
    }
    CudaError::NOT_SUPPORTED.code()
}

/// Gives a result to the program.
///
/// # Safety
/// `out` must be null or valid for writing.
pub(crate) unsafe fn put<T>(out: *mut T, value: T) -> Result<()> {
    if out.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: not null, so valid, as the caller promises.
    unsafe { out.write(value) };
    Ok(())
}

/// Gives a result to the program, if it wants it.
///
/// # Safety
/// `out` must be null or valid for writing.
pub(crate) unsafe fn put_if<T>(out: *mut T, value: T) {
    // SAFETY: the caller promises that `out` is null or valid to write. Null is how programs say that they do not want
    // it.
    let _ = unsafe { put(out, value) };
}

/// What the program points to.
///
/// # Safety
/// `pointer` must be null or valid for reading as long as the result is used.
pub(crate) unsafe fn get<'a, T>(pointer: *const T) -> Result<&'a T> {
    // SAFETY: the caller promises that `pointer` is null or valid to read.
    unsafe { pointer.as_ref() }.ok_or(CudaError::INVALID_VALUE)
}

/// A name that the program gives.
///
/// # Safety
/// `name` must be null or the start of a string that ends with zero.
pub(crate) unsafe fn text<'a>(name: *const c_char) -> Result<&'a str> {
    if name.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: not null, so a string, as the caller promises.
    unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| CudaError::INVALID_VALUE)
}

/// Copies a name into a buffer of the program, cut where it does not fit, with a zero at its end.
///
/// # Safety
/// `out` must be null or valid for writing `length` bytes.
pub(crate) unsafe fn put_text(out: *mut c_char, length: usize, name: &str) -> Result<()> {
    if out.is_null() || length == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let bytes = name.len().min(length - 1);
    // SAFETY: not more than `length` bytes are written, to where the caller allows it.
    unsafe {
        std::ptr::copy_nonoverlapping(name.as_ptr().cast(), out, bytes);
        out.add(bytes).write(0);
    }
    Ok(())
}
