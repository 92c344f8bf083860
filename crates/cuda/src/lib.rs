//! `libcuda.so.1` and `libcudart.so`, for programs that run on the CPU device.
//!
//! One library is both. It has three layers: `ffi` is what C programs call, one function for each in the headers, with
//! raw pointers and numbers; `api` is what they mean, one file for each noun of CUDA, safe, with errors as values; below
//! is a [`device`]. A function that is not there yet says so once and returns "not supported". What `api`
//! does, it tells `tooling`, which knows nothing of it; both ask `process` about the program.
//!
//! We use no tables of NVIDIA's driver that are not documented, and NVIDIA's runtime is not part of a run.

#![deny(unsafe_code)]

pub mod abi;
#[allow(unsafe_code, reason = "it changes what the process can access")]
mod address_space;
mod api;
mod device_memory;
mod device_settings;
mod devices;
mod driver;
mod error;
#[allow(unsafe_code, reason = "the boundary to C")]
mod ffi;
mod handle;
mod log;
mod logical_device;
#[allow(unsafe_code, reason = "memory whose addresses the program gives")]
mod operation;
mod order;
#[allow(unsafe_code, reason = "the C library, the loader and CPython")]
mod process;
#[allow(unsafe_code, reason = "memory whose addresses the program gives")]
mod program_image;
mod queue;
mod refusal;
mod tooling;
#[allow(unsafe_code, reason = "memory whose addresses the program gives")]
mod transfer;
