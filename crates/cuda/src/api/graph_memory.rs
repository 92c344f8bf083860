//! Memory of graphs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::allocation::{self, Allocation, Home, Kind, Source, allocations, find};
use crate::error::{CudaError, Result};

/// Memory of a graph. It has its address from the beginning, and is kept as long as there is somebody who launches the
/// graph; allocating and freeing it only says who uses it.
#[derive(Debug)]
pub(crate) struct GraphMemory {
    address: u64,
    bytes: u64,
}

impl GraphMemory {
    /// New memory, which goes with a context.
    pub(crate) fn new(bytes: u64, home: Home) -> Result<Arc<Self>> {
        let address = allocation::allocate(bytes, Kind::Device, Source::Graph { is_live: false }, home)?;
        note_high_bytes();
        Ok(Arc::new(Self { address, bytes }))
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Allocates it. False if it is still allocated.
    pub(crate) fn claim(&self) -> bool {
        let is_new = set_live(self.address, true) == Some(false);
        note_high_bytes();
        is_new
    }
}

impl Drop for GraphMemory {
    fn drop(&mut self) {
        let mut allocations = allocations();
        let Some(found) = allocations.get_mut(&self.address) else { return };
        // What is still in use is freed by the program.
        let is_live = found.source == Source::Graph { is_live: true };
        found.source = Source::Device;
        drop(allocations);
        if !is_live {
            let _ = allocation::free(self.address);
        }
    }
}

/// The most bytes of graphs that were in use, and that graphs had.
static HIGH: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Bytes of graphs that are in use, and that graphs have.
pub(crate) fn bytes() -> [u64; 2] {
    let mut bytes = [0; 2];
    for allocation in allocations().values() {
        if let Source::Graph { is_live } = allocation.source {
            bytes[0] += if is_live { allocation.bytes } else { 0 };
            bytes[1] += allocation.bytes;
        }
    }
    bytes
}

fn note_high_bytes() {
    for (high, now) in HIGH.iter().zip(bytes()) {
        high.fetch_max(now, Ordering::Relaxed);
    }
}

/// The most bytes of graphs that were in use, and that graphs had.
pub(crate) fn high_bytes() -> [u64; 2] {
    HIGH.each_ref().map(|high| high.load(Ordering::Relaxed))
}

/// Forgets the most bytes that were in use, or that graphs had.
pub(crate) fn reset_high_bytes(index: usize) {
    HIGH[index].store(bytes()[index], Ordering::Relaxed);
}

/// Says whether memory of a graph is in use; gives whether it was. Nothing if it is not memory of a graph.
fn set_live(address: u64, is_live: bool) -> Option<bool> {
    match &mut allocations().get_mut(&address)?.source {
        Source::Graph { is_live: was_live } => Some(std::mem::replace(was_live, is_live)),
        _ => None,
    }
}

/// Frees memory of a graph that a launch has allocated.
pub(crate) fn free(address: u64) -> Result<()> {
    if set_live(address, false) == Some(true) { Ok(()) } else { Err(CudaError::INVALID_VALUE) }
}

/// Frees memory of a graph in a launch.
pub(crate) fn release(address: u64) {
    set_live(address, false);
}

/// Whether an address is that of memory of a graph.
pub(crate) fn is_of_graph(address: u64) -> bool {
    matches!(find(address), Some(Allocation { source: Source::Graph { .. }, address: start, .. }) if start == address)
}
