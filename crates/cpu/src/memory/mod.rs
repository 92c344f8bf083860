//! The memory of the device: one arena for allocations, and windows for shared memory.
//!
//! A device address is an address of the host, so that generic addresses cost nothing and pointers can be passed around.

mod arena;
mod mapping;
mod windows;

pub use arena::Arena;
pub(crate) use windows::SharedWindows;
