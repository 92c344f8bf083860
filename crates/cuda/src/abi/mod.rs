//! The types of CUDA's C interface, under the names of its headers.
//!
//! Plain data: the layouts are compared with the real headers by `tests/abi.rs`.

#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    reason = "names are those of the headers, so that they can be looked up there"
)]
#![allow(missing_debug_implementations, reason = "a union does not know what it holds")]
#![allow(dead_code, unreachable_pub, reason = "the interface is here as a whole; the library uses what it needs")]

pub mod driver;
mod driver_constants;
pub mod errors;
pub mod runtime;
mod runtime_constants;
