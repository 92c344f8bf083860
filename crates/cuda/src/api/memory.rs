//! Memory that programs allocate and free, at once or in the order of a stream.

use toolkit::HostEvent;

use super::allocation::{self, Allocation, Home, Kind, Source};
use super::capture;
use super::context::{self, CONTEXTS, Context};
use super::graph::Action;
use super::graph_memory::{self, GraphMemory};
use super::module;
use super::pool::Pool;
use super::stream::Stream;
use super::virtual_memory;
use super::work::Work;
use crate::driver;
use crate::error::{CudaError, Result};
use crate::{order, tooling};

/// New memory.
pub(crate) fn allocate(bytes: u64, kind: Kind) -> Result<u64> {
    let context = context::require()?;
    capture::refuse_unsafe_call()?;
    allocation::allocate(bytes, kind, Source::Device, context.home())
}

/// New memory for work in a stream. It is there earlier than it must be.
pub(crate) fn allocate_in(stream: &Stream, bytes: u64, pool: &Pool) -> Result<u64> {
    context::require()?;
    let home = Home { context: stream.context()?, device: pool.device };
    if let Some(capture) = stream.capture()? {
        let memory = GraphMemory::new(bytes, home)?;
        let address = memory.address();
        capture.add(stream.id, Action::Allocate(memory))?;
        return Ok(address);
    }
    pool.take(bytes)?;
    let address = allocation::allocate(bytes, Kind::Device, Source::Pool(pool.handle.number()), home)
        .inspect_err(|_| pool.give_back(bytes))?;
    if let Some(tool_host) = tooling::get() {
        tool_host.on_stream_memory();
        if order::is_tracked() {
            // What waits for the stream from here on waits for the allocation.
            let ticket = stream.enqueue(Work::Nothing, Vec::new())?;
            if let Some(order) = ticket.order() {
                tool_host.on_event(&HostEvent::AllocatedInStream { start: address, order });
            }
        }
    }
    Ok(address)
}

/// New memory for rows, with a distance between them that suits the device.
pub(crate) fn allocate_rows(width: u64, height: u64) -> Result<(u64, u64)> {
    /// What textures ask of rows.
    const ROW: u64 = 512;
    let pitch = width.checked_next_multiple_of(ROW).ok_or(CudaError::OUT_OF_MEMORY)?;
    let bytes = pitch.checked_mul(height).ok_or(CudaError::OUT_OF_MEMORY)?;
    Ok((allocate(bytes, Kind::Device)?, pitch))
}

/// Gives memory of the device back, when all work that may use it has ended.
pub(crate) fn free(address: u64) -> Result<()> {
    let context = context::require()?;
    let found = allocation::to_be_freed(address, |found| {
        matches!(found.kind, Kind::Device | Kind::Managed)
            && !matches!(found.source, Source::Mapping | Source::Variable)
    })?;
    capture::refuse_unsafe_call()?;
    synchronize(&context, &found)?;
    super::output::flush();
    if let Source::Graph { .. } = found.source { graph_memory::free(address) } else { allocation::free(address) }
}

/// Waits for all work of this thread's context, and of the one that memory goes with.
fn synchronize(context: &Context, found: &Allocation) -> Result<()> {
    if let Ok(owner) = CONTEXTS.get(found.home.context)
        && owner.handle.number() != context.handle.number()
    {
        owner.synchronize()?;
    }
    context.synchronize()
}

/// Gives memory of the host back that we made.
pub(crate) fn free_host(address: u64) -> Result<()> {
    let context = context::require()?;
    let found = allocation::to_be_freed(address, |found| matches!(found.kind, Kind::Host { .. }))?;
    capture::refuse_unsafe_call()?;
    synchronize(&context, &found)?;
    allocation::free(address)
}

/// Gives memory back when the stream has done what it was asked for so far.
pub(crate) fn free_in(stream: &Stream, address: u64) -> Result<()> {
    let found = allocation::to_be_freed(address, |found| !matches!(found.source, Source::Mapping | Source::Variable))?;
    let is_of_graph = matches!(found.source, Source::Graph { .. });
    match stream.capture()? {
        // A graph frees only what a graph has allocated.
        Some(_) if !is_of_graph => Err(CudaError::INVALID_VALUE),
        None if is_of_graph => graph_memory::free(address),
        Some(_) => stream.push(Work::Free(address, tooling::stack_here())),
        None => {
            let stack = tooling::stack_here();
            let ticket = stream.enqueue(Work::Free(address, stack.clone()), Vec::new())?;
            if let (Some(tool_host), Some(order)) = (tooling::get(), ticket.order()) {
                tool_host.on_event(&HostEvent::FreedInStream { start: address, order, stack: &stack });
            }
            Ok(())
        }
    }
}

/// Says whether kernels of a device may access memory of a pool, also what was allocated before.
pub(crate) fn set_pool_access(pool: &Pool, device: usize, is_allowed: bool) -> Result<()> {
    pool.set_access(device, is_allowed)?;
    if driver::has_several_devices() {
        allocation::change_access_of_pool(pool);
    }
    Ok(())
}

/// Makes memory of the program known.
pub(crate) fn register(address: u64, bytes: u64, flags: u32) -> Result<()> {
    let context = context::require()?;
    allocation::register(address, bytes, flags, context.home())
}

/// Forgets memory of the program.
pub(crate) fn unregister(address: u64) -> Result<()> {
    context::require()?;
    allocation::unregister(address)
}

/// The number of the device whose memory is at an address, or with which memory of the host was made known.
pub(crate) fn device_of(address: u64) -> usize {
    let of_variable = || {
        let driver = driver::get().ok().filter(|driver| driver.logical.len() > 1)?;
        if driver.device.memory().contains(address) { module::device_of_variable(address) } else { None }
    };
    let found = allocation::find(address).map(|found| found.home.device);
    found.or_else(of_variable).unwrap_or(0)
}

/// Bytes of memory that a device has.
pub(crate) fn total(device: usize) -> Result<u64> {
    if driver::has_several_devices() {
        return Ok(driver::logical(device)?.memory);
    }
    Ok(driver::get()?.device.memory().total_bytes())
}

/// Bytes that are free, and all.
pub(crate) fn info() -> Result<(u64, u64)> {
    let device = context::require()?.device();
    Ok((virtual_memory::free_bytes(device)?, total(device)?))
}
