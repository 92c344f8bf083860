//! NVIDIA's GPUs as data: what a multiprocessor of an [architecture](Architecture) has, its [caches](Caches), and what [models](Model) there are.
//!
//! Tables of tools are for architectures, and programs can be shown a model. Nothing here was measured on a GPU; each number
//! has its source beside it.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod architecture;
mod caches;
mod model;

pub use architecture::{ARCHITECTURES, Architecture};
pub use caches::{CACHES, CacheShape, Caches, DefaultCarveout, Fill, Keeps, LINE, Stores};
pub use model::{MODELS, Model};
