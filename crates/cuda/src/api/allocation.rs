//! Memory of the device, and memory of the host that the device knows.
//!
//! A device pointer is an address of the process, so whatever the host can reach the device can reach too. What differs
//! is what programs are told: which kind of memory it is, how large it was asked to be, and when it is given back.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::graph::Action;
use super::pool::{POOLS, Pool};
use super::stream::Stream;
use super::work::Work;
use super::{capture, context};
use crate::driver;
use crate::error::{CudaError, Result};
use crate::tooling::{self, AllocationKind};

/// Memory that a program asked for, or told us of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Allocation {
    pub(crate) address: u64,
    /// As many as the program asked for.
    pub(crate) bytes: u64,
    pub(crate) kind: Kind,
    /// A number that no other allocation has.
    pub(crate) id: u64,
    pub(crate) source: Source,
    /// The handle of the context that it goes with; 0 if there was none.
    pub(crate) context: usize,
}

/// Where memory comes from, and so what happens when it is given back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// The device.
    Device,
    /// A pool, by its handle.
    Pool(usize),
    /// Memory that the program put behind addresses of its own.
    Mapping,
    /// A graph, which keeps it: whether a launch has allocated it and nobody freed it since.
    Graph { is_live: bool },
    /// A variable of a module, which keeps it.
    Variable,
}

/// Kinds of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Of the device.
    Device,
    /// Of both.
    Managed,
    /// Of the host, made by us, with the flags that the program gave.
    Host { flags: u32 },
    /// Of the host, made by the program, with the flags that the program gave.
    Registered { flags: u32 },
}

/// All allocations, by where they start.
static ALLOCATIONS: Mutex<BTreeMap<u64, Allocation>> = Mutex::new(BTreeMap::new());

fn allocations() -> MutexGuard<'static, BTreeMap<u64, Allocation>> {
    ALLOCATIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn record(address: u64, bytes: u64, kind: Kind, source: Source) {
    static NEXT_ID: AtomicU64 = AtomicU64::new(1);
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let context = context::current().map_or(0, |context| context.handle.number());
    allocations().insert(address, Allocation { address, bytes, kind, id, source, context });
    if let Some(tool_host) = tooling::get() {
        let what = match (source, kind) {
            // The module has said so already.
            (Source::Variable, _) => return,
            (Source::Mapping, _) => AllocationKind::Mapping,
            (Source::Graph { .. }, _) => AllocationKind::Graph,
            (_, Kind::Device) => AllocationKind::Device,
            (_, Kind::Managed) => AllocationKind::Managed,
            (_, Kind::Host { .. }) => AllocationKind::Pinned,
            (_, Kind::Registered { .. }) => AllocationKind::Registered,
        };
        tool_host.on_alloc(address, bytes, what);
    }
}

/// New memory.
pub(crate) fn allocate(bytes: u64, kind: Kind) -> Result<u64> {
    context::require()?;
    capture::refuse_unsafe_call()?;
    allocate_from(Source::Device, bytes, kind)
}

fn allocate_from(source: Source, bytes: u64, kind: Kind) -> Result<u64> {
    let device = &driver::get()?.device;
    let tool_host = tooling::get();
    let redzone = tool_host.map_or(0, tooling::ToolHost::redzone);
    let all = bytes.checked_add(redzone).ok_or(CudaError::OUT_OF_MEMORY)?;
    let mut result = device.memory.allocate(all, 512);
    // Tools keep memory for a while that was freed.
    if result.is_err() && tool_host.is_some_and(tooling::ToolHost::make_room) {
        result = device.memory.allocate(all, 512);
    }
    // The last bytes of the device have no redzone.
    let address = result.or_else(|_| device.memory.allocate(bytes, 512)).map_err(|_| CudaError::OUT_OF_MEMORY)?;
    record(address, bytes, kind, source);
    Ok(address)
}

/// New memory for work in a stream. It is there earlier than it must be.
pub(crate) fn allocate_in(stream: &Stream, bytes: u64, pool: &Pool) -> Result<u64> {
    context::require()?;
    if let Some(capture) = stream.capture()? {
        let memory = GraphMemory::new(bytes)?;
        let address = memory.address;
        capture.add(stream, Action::Allocate(memory))?;
        return Ok(address);
    }
    pool.take(bytes)?;
    allocate_from(Source::Pool(pool.handle.number()), bytes, Kind::Device).inspect_err(|_| pool.give_back(bytes))
}

/// New memory for rows, with a distance between them that suits the device.
pub(crate) fn allocate_rows(width: u64, height: u64) -> Result<(u64, u64)> {
    /// What textures ask of rows.
    const ROW: u64 = 512;
    let pitch = width.checked_next_multiple_of(ROW).ok_or(CudaError::OUT_OF_MEMORY)?;
    let bytes = pitch.checked_mul(height).ok_or(CudaError::OUT_OF_MEMORY)?;
    Ok((allocate(bytes, Kind::Device)?, pitch))
}

/// Makes a managed variable known; it is no allocation that the program could free.
pub(crate) fn add_managed_variable(address: u64, bytes: u64) {
    record(address, bytes, Kind::Managed, Source::Variable);
}

/// Forgets a managed variable.
pub(crate) fn remove_managed_variable(address: u64) {
    allocations().remove(&address);
}

/// Gives all memory of a context back.
pub(crate) fn free_all_of(context: usize) {
    let is_of_context = |allocation: &Allocation| {
        allocation.context == context
            && !matches!(allocation.source, Source::Graph { .. } | Source::Mapping | Source::Variable)
    };
    let all: Vec<Allocation> = allocations().values().filter(|allocation| is_of_context(allocation)).copied().collect();
    if let Some(tool_host) = tooling::get() {
        tool_host.report_leaks_of_context(|address| {
            let before = all.partition_point(|allocation| allocation.address <= address);
            all[..before].last().is_some_and(|allocation| address - allocation.address < allocation.bytes)
        });
    }
    for allocation in all {
        match allocation.kind {
            Kind::Registered { .. } => forget(allocation.address),
            // Another thread may have freed it meanwhile.
            _ => drop(free_now(allocation.address)),
        }
    }
}

/// The allocation that a program wants to free, if it can be freed in this way.
fn to_be_freed(address: u64, can_be: impl Fn(&Allocation) -> bool) -> Result<Allocation> {
    let found = allocations().get(&address).copied().filter(can_be);
    if let (None, Some(tool_host)) = (found, tooling::get()) {
        tool_host.on_invalid_free(address);
    }
    found.ok_or(CudaError::INVALID_VALUE)
}

/// Gives memory of the device back, when all work that may use it has ended.
pub(crate) fn free(address: u64) -> Result<()> {
    let context = context::require()?;
    let found = to_be_freed(address, |found| {
        matches!(found.kind, Kind::Device | Kind::Managed)
            && !matches!(found.source, Source::Mapping | Source::Variable)
    })?;
    capture::refuse_unsafe_call()?;
    context.synchronize()?;
    super::output::flush();
    if let Source::Graph { .. } = found.source { release(address) } else { free_now(address) }
}

/// Gives memory of the host back that we made.
pub(crate) fn free_host(address: u64) -> Result<()> {
    let context = context::require()?;
    to_be_freed(address, |found| matches!(found.kind, Kind::Host { .. }))?;
    capture::refuse_unsafe_call()?;
    context.synchronize()?;
    free_now(address)
}

/// Gives memory back when the stream has done what it was asked for so far.
pub(crate) fn free_in(stream: &Stream, address: u64) -> Result<()> {
    let found = to_be_freed(address, |found| !matches!(found.source, Source::Mapping | Source::Variable))?;
    let is_of_graph = matches!(found.source, Source::Graph { .. });
    match stream.capture()? {
        // A graph frees only what a graph has allocated.
        Some(_) if !is_of_graph => Err(CudaError::INVALID_VALUE),
        None if is_of_graph => release(address),
        _ => stream.push(Work::Free(address)),
    }
}

/// Gives memory back at once.
pub(crate) fn free_now(address: u64) -> Result<()> {
    let found = match allocations().entry(address) {
        Entry::Occupied(entry) if !matches!(entry.get().source, Source::Graph { .. }) => entry.remove(),
        // A graph keeps its memory.
        Entry::Occupied(_) => return Ok(()),
        Entry::Vacant(_) => return Err(CudaError::INVALID_VALUE),
    };
    if let Source::Pool(pool) = found.source
        && let Ok(pool) = POOLS.get(pool)
    {
        pool.give_back(found.bytes);
    }
    if tooling::get().is_some_and(|tool_host| !tool_host.on_free(address)) {
        return Ok(());
    }
    if driver::get()?.device.memory.free(address) { Ok(()) } else { Err(CudaError::INVALID_VALUE) }
}

/// Memory of a graph. It has its address from the beginning, and is kept as long as there is somebody who launches the
/// graph; allocating and freeing it only says who uses it.
#[derive(Debug)]
pub(crate) struct GraphMemory {
    address: u64,
    bytes: u64,
}

impl GraphMemory {
    pub(crate) fn new(bytes: u64) -> Result<Arc<Self>> {
        let address = allocate_from(Source::Graph { is_live: false }, bytes, Kind::Device)?;
        note_graph_memory();
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
        note_graph_memory();
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
            let _ = free_now(self.address);
        }
    }
}

/// The most bytes of graphs that were in use, and that graphs had.
static GRAPH_MEMORY_HIGH: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Bytes of graphs that are in use, and that graphs have.
pub(crate) fn graph_memory() -> [u64; 2] {
    let mut bytes = [0; 2];
    for allocation in allocations().values() {
        if let Source::Graph { is_live } = allocation.source {
            bytes[0] += if is_live { allocation.bytes } else { 0 };
            bytes[1] += allocation.bytes;
        }
    }
    bytes
}

fn note_graph_memory() {
    for (high, now) in GRAPH_MEMORY_HIGH.iter().zip(graph_memory()) {
        high.fetch_max(now, Ordering::Relaxed);
    }
}

/// The most bytes of graphs that were in use, and that graphs had.
pub(crate) fn graph_memory_high() -> [u64; 2] {
    GRAPH_MEMORY_HIGH.each_ref().map(|high| high.load(Ordering::Relaxed))
}

/// Forgets the most bytes that were in use, or that graphs had.
pub(crate) fn reset_graph_memory_high(index: usize) {
    GRAPH_MEMORY_HIGH[index].store(graph_memory()[index], Ordering::Relaxed);
}

/// Says whether memory of a graph is in use; gives whether it was. Nothing if it is not memory of a graph.
fn set_live(address: u64, is_live: bool) -> Option<bool> {
    match &mut allocations().get_mut(&address)?.source {
        Source::Graph { is_live: was_live } => Some(std::mem::replace(was_live, is_live)),
        _ => None,
    }
}

/// Frees memory of a graph that a launch has allocated.
fn release(address: u64) -> Result<()> {
    if set_live(address, false) == Some(true) { Ok(()) } else { Err(CudaError::INVALID_VALUE) }
}

/// Frees memory of a graph in a launch.
pub(crate) fn release_of_graph(address: u64) {
    set_live(address, false);
}

/// Whether an address is that of memory of a graph.
pub(crate) fn is_of_graph(address: u64) -> bool {
    matches!(find(address), Some(Allocation { source: Source::Graph { .. }, address: start, .. }) if start == address)
}

/// Makes memory of the program known.
pub(crate) fn register(address: u64, bytes: u64, flags: u32) -> Result<()> {
    context::require()?;
    let end = address.checked_add(bytes).ok_or(CudaError::INVALID_VALUE)?;
    if address == 0 || bytes == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let overlaps =
        allocations().range(..end).next_back().is_some_and(|(_, other)| other.address + other.bytes > address);
    if overlaps {
        return Err(CudaError::HOST_MEMORY_ALREADY_REGISTERED);
    }
    record(address, bytes, Kind::Registered { flags }, Source::Device);
    Ok(())
}

/// Forgets memory of the program.
pub(crate) fn unregister(address: u64) -> Result<()> {
    context::require()?;
    let allocations = allocations();
    match allocations.get(&address) {
        Some(Allocation { kind: Kind::Registered { .. }, .. }) => {
            drop(allocations);
            forget(address);
            Ok(())
        }
        _ => Err(CudaError::HOST_MEMORY_NOT_REGISTERED),
    }
}

/// The allocation that an address is in.
pub(crate) fn find(address: u64) -> Option<Allocation> {
    let allocations = allocations();
    let (_, found) = allocations.range(..=address).next_back()?;
    // An allocation of nothing is found by its address.
    (address < found.address + found.bytes.max(1)).then_some(*found)
}

/// Makes memory known that the program put behind addresses of its own.
pub(crate) fn record_mapping(address: u64, bytes: u64) {
    record(address, bytes, Kind::Device, Source::Mapping);
}

/// Forgets it.
pub(crate) fn forget_mapping(address: u64) {
    forget(address);
}

/// Forgets memory that is not ours.
fn forget(address: u64) {
    allocations().remove(&address);
    if let Some(tool_host) = tooling::get() {
        tool_host.on_unmap(address);
    }
}

/// Whether all of a range is memory that the program put there, perhaps piece by piece.
fn is_mapped(start: u64, end: u64) -> bool {
    let mut at = start;
    while at < end {
        match find(at) {
            Some(found) if found.source == Source::Mapping => at = found.address + found.bytes,
            _ => return false,
        }
    }
    true
}

/// Whose memory a range of addresses is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    Device,
    /// Of the host, known to the device: copies need not keep what they read.
    PinnedHost,
    Host,
}

/// Whose memory a range is. One that starts in device memory must lie in one allocation.
pub(crate) fn owner(address: u64, bytes: u64) -> Result<Owner> {
    let end = address.checked_add(bytes).ok_or(CudaError::INVALID_VALUE)?;
    let memory = &driver::get()?.device.memory;
    if find(address).is_some_and(|found| found.source == Source::Mapping) {
        return if is_mapped(address, end) { Ok(Owner::Device) } else { Err(CudaError::INVALID_VALUE) };
    }
    if !memory.contains(address) {
        let is_pinned = find(address).is_some_and(|found| end <= found.address + found.bytes);
        return Ok(if is_pinned { Owner::PinnedHost } else { Owner::Host });
    }
    if tooling::get().is_some_and(|tool_host| tool_host.on_copy_after_free(address)) {
        return Err(CudaError::INVALID_VALUE);
    }
    // Variables of modules are allocations of the device, too, but the program did not ask for them.
    let (start, length, kind) = match find(address) {
        Some(found) => (found.address, found.bytes, found.kind),
        None => memory
            .allocation(address)
            .map(|(start, length)| (start, length, Kind::Device))
            .ok_or(CudaError::INVALID_VALUE)?,
    };
    if end > start + length {
        if let Some(tool_host) = tooling::get() {
            tool_host.on_copy_overrun(address, bytes);
        }
        return Err(CudaError::INVALID_VALUE);
    }
    if let Some(tool_host) = tooling::get() {
        tool_host.copies_past_part(address, bytes);
    }
    Ok(if matches!(kind, Kind::Host { .. }) { Owner::PinnedHost } else { Owner::Device })
}

/// Bytes that are free, and all.
pub(crate) fn info() -> Result<(u64, u64)> {
    context::require()?;
    let memory = &driver::get()?.device.memory;
    let hidden = tooling::get().map_or(0, tooling::ToolHost::hidden_bytes);
    let free = (memory.free_bytes() + hidden).min(memory.total_bytes());
    Ok((free.saturating_sub(super::virtual_memory::used_bytes()), memory.total_bytes()))
}
