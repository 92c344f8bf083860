//! What compiled code needs while it runs.

pub(crate) mod collective;
pub(crate) mod context;
