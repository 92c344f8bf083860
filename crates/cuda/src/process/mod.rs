//! The process of the program: what is loaded in it, which calls its threads are in, where its Python is, its standard
//! streams, and how it ends.
//!
//! Unsafe: the C library, the loader and CPython are asked by their C functions.

mod aside;
pub(crate) mod device_access;
pub(crate) mod dying;
pub(crate) mod fork;
pub(crate) mod handlers;
pub(crate) mod host_access;
pub(crate) mod large_pages;
pub(crate) mod life;
pub(crate) mod mappings;
pub(crate) mod objects;
mod obstacle;
pub(crate) mod python;
pub(crate) mod stdio;
pub(crate) mod unwind;

/// Whether the process has other rights than the user who started it, so that its environment is not to be trusted.
pub(crate) fn is_secure() -> bool {
    // SAFETY: it only reads what the kernel has handed to the process.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}
