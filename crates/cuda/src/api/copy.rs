//! Copies and fills.

use super::memory::{Owner, owner};
use super::stream::Stream;
use super::work::Work;
use crate::error::{CudaError, Result};
use crate::transfer::{Copy, Fill, Side};

/// Whether a call waits for its work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wait {
    Yes,
    /// Only as long as CUDA does: for memory of the program that is not pinned.
    No,
}

/// Copies memory in a stream.
pub(crate) fn copy(stream: &Stream, mut copy: Copy, wait: Wait) -> Result<()> {
    let extent = *copy.extent();
    if extent.is_empty() {
        return crate::driver::check();
    }
    let owner_of = |side: &Side| owner(side.address, side.span(&extent).ok_or(CudaError::INVALID_VALUE)?);
    let (source, target) = (owner_of(&copy.from())?, owner_of(&copy.to())?);
    // What comes from memory that is not pinned is read before the call returns; what goes there has arrived.
    let is_flat = extent.height == 1 && extent.depth == 1;
    let waits = wait == Wait::Yes || target == Owner::Host || source == Owner::Host && !is_flat;
    if waits {
        stream.run(Work::Copy(copy))?;
        super::output::flush();
        return crate::driver::check();
    }
    if source == Owner::Host {
        copy.keep_source();
    }
    stream.push(Work::Copy(copy)).map(drop)
}

/// Fills memory in a stream.
pub(crate) fn fill(stream: &Stream, fill: Fill, wait: Wait) -> Result<()> {
    let (to, extent) = (fill.to(), *fill.extent());
    if !fill.is_aligned() {
        return Err(CudaError::INVALID_VALUE);
    }
    let span = to.span(&extent).ok_or(CudaError::INVALID_VALUE)?;
    if !extent.is_empty() && owner(to.address, span)? == Owner::Host {
        return Err(CudaError::INVALID_VALUE);
    }
    match wait {
        Wait::Yes => stream.run(Work::Fill(fill))?,
        Wait::No => drop(stream.push(Work::Fill(fill))?),
    }
    crate::driver::check()
}
