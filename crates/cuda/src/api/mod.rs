//! What the functions of CUDA mean, one file for each noun.

pub(crate) mod array;
pub(crate) mod capture;
pub(crate) mod context;
pub(crate) mod copy;
pub(crate) mod device;
pub(crate) mod event;
pub(crate) mod executable;
pub(crate) mod graph;
pub(crate) mod image;
pub(crate) mod kernel;
pub(crate) mod launch;
pub(crate) mod link;
pub(crate) mod memory;
pub(crate) mod module;
pub(crate) mod object;
pub(crate) mod occupancy;
pub(crate) mod output;
pub(crate) mod pool;
pub(crate) mod queue;
pub(crate) mod registry;
pub(crate) mod stream;
pub(crate) mod texture;
pub(crate) mod user_object;
pub(crate) mod virtual_memory;
pub(crate) mod work;
