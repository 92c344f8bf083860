//! What compiled code needs while it runs.

pub(crate) mod barrier;
pub(crate) mod block_queue;
pub(crate) mod code;
pub(crate) mod collective;
pub(crate) mod copies;
pub(crate) mod entry;
pub(crate) mod fibre;
pub(crate) mod host;
pub(crate) mod launch;
pub(crate) mod matrix;
pub(crate) mod mbarrier;
pub(crate) mod pool;
pub(crate) mod schedule;
pub(crate) mod signals;
pub(crate) mod texture;
pub(crate) mod worker;
