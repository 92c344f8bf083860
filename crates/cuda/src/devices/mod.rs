//! The devices that a program can run on. Everybody else knows them by the traits of the crate `device`.

pub(crate) mod cpu_device;
pub(crate) mod gpu_device;
