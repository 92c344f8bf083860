//! The driver: functions of `cuda.h`.

pub(crate) mod array;
pub(crate) mod capture;
pub(crate) mod context;
pub(crate) mod device;
pub(crate) mod event;
pub(crate) mod general;
pub(crate) mod graph;
pub(crate) mod kernel;
pub(crate) mod link;
pub(crate) mod memory;
pub(crate) mod module;
pub(crate) mod operation;
pub(crate) mod pool;
pub(crate) mod stream;
pub(crate) mod texture_reference;
pub(crate) mod transfer;
pub(crate) mod user_object;
pub(crate) mod virtual_memory;
