//! Work that streams do.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::launch::Launch;
use crate::driver;
use crate::transfer::{Copy, Fill};

/// Something that a stream does. It is data, so that graphs can keep it and repeat it.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// Runs a kernel.
    Launch(Arc<Launch>),
    /// Copies memory.
    Copy(Copy),
    /// Fills memory.
    Fill(Fill),
    /// Calls a function of the program.
    Call(HostCall),
    /// Notes the time.
    Record(Arc<OnceLock<Instant>>),
    /// Gives memory back.
    Free(u64),
    /// Only keeps its place.
    Nothing,
}

/// A function of the program, with what it is called with.
#[derive(Clone)]
pub(crate) struct HostCall(Arc<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for HostCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HostCall")
    }
}

impl HostCall {
    pub(crate) fn new(call: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(call))
    }
}

impl Work {
    pub(crate) fn run(&self) {
        // After a fault nothing runs any more, except that those who wait get their answer.
        let is_well = driver::fault().is_none();
        match self {
            Self::Launch(launch) if is_well => launch.run(),
            Self::Copy(copy) if is_well => copy.run(),
            Self::Fill(fill) if is_well => fill.run(),
            Self::Call(call) => (call.0)(),
            Self::Record(time) => {
                let _ = time.set(Instant::now());
            }
            Self::Free(address) => {
                // It was there when the program asked for it; a second time is the program's mistake.
                let _ = super::memory::free_now(*address);
            }
            Self::Launch(_) | Self::Copy(_) | Self::Fill(_) | Self::Nothing => {}
        }
    }
}
