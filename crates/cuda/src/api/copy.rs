//! Copies and fills.
//!
//! Device memory is host memory, and still not everything goes: a copy whose direction does not fit the pointers, or
//! that leaves its allocation, is refused as on a GPU, because programs are tested here that will run there.

use toolkit::HostEvent;

use super::allocation::{self, Kind, Owner, owner};
use super::stream::Stream;
use super::work::Work;
use super::{context, memory};
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
    let (source, target) = owners(&copy)?;
    // What comes from memory that is not pinned is read before the call returns; what goes there has arrived.
    let is_flat = extent.height == 1 && extent.depth == 1;
    let is_captured = stream.current_capture().is_some();
    let is_read_or_written = target == Owner::Host || source == Owner::Host && !is_flat;
    if wait == Wait::No
        && !is_captured
        && (source == Owner::Host || target == Owner::Host)
        && let Some(tool_host) = crate::tooling::get()
    {
        tool_host.on_event(&HostEvent::UnpinnedCopy { is_to_host: target == Owner::Host });
    }
    for (side, owner) in [(copy.from(), source), (copy.to(), target)] {
        if owner == Owner::Host && valgrind::is_there() {
            side.rows(extent).for_each(|row| valgrind::check_addressable(row, extent.width));
        }
    }
    if let Some(tool_host) = crate::tooling::get()
        && (target != Owner::Device || crate::order::is_tracked())
    {
        copy.set_stack(tool_host.stack());
    }
    let waits = wait == Wait::Yes || is_read_or_written && !is_captured;
    if waits {
        if source == Owner::Device && target == Owner::Device {
            synchronize_devices(stream, &copy)?;
        }
        stream.run(Work::Copy(copy))?;
        super::output::flush();
        return crate::driver::check();
    }
    // A graph reads it at each launch.
    if source == Owner::Host && !is_captured {
        copy.keep_source();
    }
    stream.push(Work::Copy(copy))
}

/// A copy that the program waits for, between the memories of two devices, comes after all that was asked of either.
fn synchronize_devices(stream: &Stream, copy: &Copy) -> Result<()> {
    if !crate::driver::has_several_devices() {
        return Ok(());
    }
    let devices = [copy.from(), copy.to()].map(|side| memory::device_of(side.address));
    if devices[0] == devices[1] { Ok(()) } else { context::synchronize_devices(&devices, stream.context()?) }
}

/// Whose memory the sides of a copy are. An error if it goes beyond its end, or if there is none: nobody has memory at
/// null, and programs that copy an empty `std::vector` by mistake do not notice the error.
pub(crate) fn owners(copy: &Copy) -> Result<(Owner, Owner)> {
    let owner_of = |side: &Side| match side.span(copy.extent()) {
        None => Err(CudaError::INVALID_VALUE),
        Some(_) if side.overlaps_itself(copy.extent()) => Err(CudaError::INVALID_VALUE),
        Some(1..) if side.address == 0 => Err(CudaError::INVALID_VALUE),
        Some(span) => owner(side.address, span),
    };
    Ok((owner_of(&copy.from())?, owner_of(&copy.to())?))
}

/// An error if the device does not know what is at an address: a direction that does not fit the pointers would fail on a GPU.
pub(crate) fn check_device(address: u64) -> Result<()> {
    if owner(address, 0)? == Owner::Host { Err(CudaError::INVALID_VALUE) } else { Ok(()) }
}

/// An error if the direction of a copy wants memory of the device where the host has some. The other way round the driver
/// accepts it, and tools are told. Managed and pinned memory is of both.
pub(crate) fn check_direction(address: u64, is_target: bool, wants_device: bool) -> Result<()> {
    let owner = owner(address, 0)?;
    let is_managed = || allocation::find(address).is_some_and(|found| found.kind == Kind::Managed);
    let is_wrong = match owner {
        Owner::Host => wants_device,
        Owner::Device => !wants_device && !is_managed(),
        Owner::PinnedHost => false,
    };
    if let (true, Some(tool_host)) = (is_wrong, crate::tooling::get()) {
        tool_host.on_event(&HostEvent::WrongDirection { address, is_target, wants_device });
    }
    if is_wrong && wants_device { Err(CudaError::INVALID_VALUE) } else { Ok(()) }
}

/// An error if a part begins outside of the memory that it is a part of: behind memory of the device there may be memory of
/// the host, and nobody means that.
pub(crate) fn check_part(memory: u64, part: u64) -> Result<()> {
    let is_outside = owner(memory, 0)? != Owner::Host && owner(part, 0)? == Owner::Host;
    if is_outside { Err(CudaError::INVALID_VALUE) } else { Ok(()) }
}

/// An error if memory cannot be filled like this.
pub(crate) fn check_fill(fill: &Fill) -> Result<()> {
    let (to, extent) = (fill.to(), fill.extent());
    if to.overlaps_itself(extent) {
        return Err(CudaError::INVALID_VALUE);
    }
    let span = to.span(extent).ok_or(CudaError::INVALID_VALUE)?;
    let is_of_host = !extent.is_empty() && owner(to.address, span)? == Owner::Host;
    if is_of_host || !fill.is_aligned() { Err(CudaError::INVALID_VALUE) } else { Ok(()) }
}

/// Fills memory in a stream.
pub(crate) fn fill(stream: &Stream, mut fill: Fill, wait: Wait) -> Result<()> {
    check_fill(&fill)?;
    if let Some(tool_host) = crate::tooling::get()
        && crate::order::is_tracked()
    {
        fill.set_stack(tool_host.stack());
    }
    match wait {
        Wait::Yes => stream.run(Work::Fill(fill))?,
        Wait::No => stream.push(Work::Fill(fill))?,
    }
    crate::driver::check()
}
