//! How many blocks a multiprocessor takes at once.
//!
//! A processor has no such limit. Programs divide their work by it, so it is what a device of the reported compute
//! capability would say.

use super::device;
use super::kernel::Kernel;
use crate::error::{CudaError, Result};
use rewrite::LaunchShape;

/// Registers that a thread is taken to need: what compilers aim at for full occupancy.
pub(crate) const REGISTERS_PER_THREAD: u32 = 32;

/// Blocks of so many threads that run on one multiprocessor at once.
pub(crate) fn blocks_per_multiprocessor(kernel: &Kernel, threads: u32, dynamic_shared: u64) -> Result<u32> {
    if threads == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let shared = kernel.facts.shared + dynamic_shared;
    if threads > kernel.max_threads() || dynamic_shared > u64::from(kernel.max_dynamic_shared()) {
        return Ok(0);
    }
    let threads = threads.next_multiple_of(32);
    let has = device::multiprocessor(kernel.device);
    let by_registers = has.registers / (threads * REGISTERS_PER_THREAD);
    let by_shared = u64::from(has.shared).checked_div(shared + u64::from(has.shared_reserved)).unwrap_or(u64::MAX);
    let by_shared = u32::try_from(by_shared).unwrap_or(u32::MAX);
    Ok(has.blocks.min(has.threads / threads).min(by_registers).min(by_shared))
}

/// The block size with the highest occupancy, and how many such blocks fill the device.
pub(crate) fn best_block(kernel: &Kernel, shared: impl Fn(u32) -> u64, limit: u32) -> Result<(u32, u32)> {
    let most = kernel.max_threads().min(if limit == 0 { u32::MAX } else { limit });
    let mut best = (0, 0, 0);
    for threads in (1..=most / 32).rev().map(|warps| warps * 32).chain((most < 32).then_some(most)) {
        let blocks = blocks_per_multiprocessor(kernel, threads, shared(threads))?;
        // Of equals the largest block, which comes first.
        if blocks * threads > best.0 {
            best = (blocks * threads, threads, blocks);
        }
    }
    let (_, threads, blocks) = best;
    if threads == 0 {
        Err(CudaError::INVALID_VALUE)
    } else {
        Ok((blocks * device::multiprocessors(kernel.device), threads))
    }
}

/// Shared memory that each block can have besides what the kernel declares, if so many run on one multiprocessor.
pub(crate) fn free_shared(kernel: &Kernel, blocks: i32, threads: i32) -> Result<u64> {
    if blocks <= 0 || threads <= 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let has = device::multiprocessor(kernel.device);
    let each = u64::from(has.shared) / blocks as u64;
    let free = each.saturating_sub(u64::from(has.shared_reserved) + kernel.facts.shared);
    Ok(free.min(kernel.max_dynamic_shared().into()))
}

/// Whether all blocks of a launch run at once.
pub(crate) fn fits_at_once(kernel: &Kernel, shape: &LaunchShape) -> bool {
    let threads = shape.block.iter().product();
    let blocks: u64 = shape.grid.iter().map(|&size| u64::from(size)).product();
    let most = blocks_per_multiprocessor(kernel, threads, shape.dynamic_shared.into()).unwrap_or(0);
    blocks <= u64::from(most) * u64::from(device::multiprocessors(kernel.device))
}
