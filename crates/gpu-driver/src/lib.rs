//! The GPU device: the traits of the crate `device` over NVIDIA's driver, by its public API alone.
//!
//! [`functions`] is the table of all functions of the driver that are called, each with the version that it is taken in and
//! the reason. [`Driver`] is the driver, loaded from a file; [`GpuDevice`] a device of it.
//!
//! Decisions:
//!
//! - **Streams, events and graphs stay ours.** A launch returns when it has ended, and the queues of the crate `cuda` call it in
//!   the order of their streams. Each thread that launches has one stream of the driver, which waits for no other, so that what
//!   the program may run at the same time does. That gives one meaning of streams, graphs and captures on all devices, and tools
//!   that see every launch begin and end. What it costs is a round trip of the host for each launch.
//! - **A launch may run on** if nothing has to be done when it has ended: no tool put anything into its kernel, and nobody but
//!   the next launch of its queue waits for it. Then the driver has that one before this one has ended, and they are waited for
//!   together.
//! - **One arena.** All memory that a program or a module asks for is mapped (`cuMemMap`) into one range of addresses that was
//!   reserved when the device was opened: tools find the shadow of an address at a fixed distance. What the host shares is
//!   memory of the host in the same range (`CU_MEM_LOCATION_TYPE_HOST_NUMA`), for which the driver has to be of CUDA 12.2.
//! - **Variables of modules are ours.** `.global` and `.const` variables lie in the arena and kernels have their addresses as
//!   numbers. A version of a kernel that a tool made is a module of its own for the driver, and yet has the variables of the
//!   program's. Constants are read as global memory (`placed`).
//! - **A module of the driver for each kernel**, made when the kernel is first asked for: the driver compiles what is launched,
//!   and nothing else.
//!
//! What a GPU cannot be asked for is refused by name: a part of the blocks of a grid, an order of them, budgets of
//! instructions, confinement, observers; surfaces and most arrays; addresses of functions that outlive a launch.

#![warn(missing_docs)]

mod abi;
mod device;
mod driver;
pub mod functions;
mod memory;
mod placed;
mod program;
mod regions;
mod texture;

pub use crate::device::GpuDevice;
pub use crate::driver::{DeviceFacts, Driver, DriverError, OLDEST};
