//! The runtime: functions of `cuda_runtime_api.h`, and those that code made by nvcc calls.

pub(crate) mod array;
pub(crate) mod capture;
pub(crate) mod device;
pub(crate) mod event;
pub(crate) mod general;
pub(crate) mod graph;
pub(crate) mod kernel;
pub(crate) mod library;
pub(crate) mod memory;
pub(crate) mod pool;
pub(crate) mod register;
pub(crate) mod stream;
pub(crate) mod texture;
pub(crate) mod texture_reference;
pub(crate) mod transfer;
pub(crate) mod user_object;

use std::cell::Cell;

use crate::api::primary_context;
use crate::error::{CudaError, Result};

thread_local! {
    /// The last error of a thread, until it is asked for.
    static LAST: Cell<u32> = const { Cell::new(0) };
}

/// Declares functions of the runtime: as [`export`](crate::ffi::export) does for the driver, except that errors are kept
/// for `cudaGetLastError`. They are exported under the names of their versions, by `build.rs`.
macro_rules! export_runtime {
    () => {};
    (fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block $($rest:tt)*) => {
        /// # Safety
        /// [What C callers promise](crate::ffi).
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
            crate::ffi::runtime::remember(crate::ffi::guard(stringify!($name), || $body))
        }
        export_runtime! { $($rest)* }
    };
    (fn $name:ident, $per_thread:ident($default:ident; $($arg:ident: $ty:ty),* $(,)?) $body:block $($rest:tt)*) => {
        export_runtime! {
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
pub(crate) use export_runtime;

/// Keeps an error for `cudaGetLastError`. That work is not done yet is no error, as the manual says of it: CuPy asks, and
/// CUB takes what is kept for an error of its own.
pub(crate) fn remember(code: u32) -> u32 {
    if code != 0 && code != CudaError::NOT_READY.code() {
        LAST.set(code);
    }
    code
}

/// Starts the runtime on this thread, if it was not started before.
pub(crate) fn ready() -> Result<()> {
    primary_context::require_or_primary().map(drop)
}

/// A device by the number that programs use.
pub(crate) fn check_device(device: i32) -> Result<usize> {
    crate::driver::start()?;
    crate::api::device::check(device)
}
