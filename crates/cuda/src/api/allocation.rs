//! Allocations: memory of the device, and memory of the host that the device knows.
//!
//! A device pointer is an address of the process, so whatever the host can reach the device can reach too. What differs
//! is what programs are told: which kind of memory it is, how large it was asked to be, and when it is given back.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::in_use;
use super::pool::{POOLS, Pool};
use toolkit::{AllocationKind, DeviceAccess, HostEvent, HostStack};

use crate::address_space;
use crate::driver;
use crate::error::{CudaError, Result};
use crate::logical_device::LogicalDevice;
use crate::tooling;

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
    pub(crate) home: Home,
}

/// Whose memory is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Home {
    /// The handle of the context that it goes with; 0 if there was none.
    pub(crate) context: usize,
    /// The number of its device.
    pub(crate) device: usize,
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

pub(super) fn allocations() -> MutexGuard<'static, BTreeMap<u64, Allocation>> {
    ALLOCATIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn record(address: u64, bytes: u64, kind: Kind, source: Source, home: Home) {
    static NEXT_ID: AtomicU64 = AtomicU64::new(1);
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    allocations().insert(address, Allocation { address, bytes, kind, id, source, home });
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
        tool_host.on_alloc(address, bytes, what, access(kind, source, home));
    }
}

/// Kernels of which devices may access memory.
fn access(kind: Kind, source: Source, home: Home) -> DeviceAccess {
    match (kind, source) {
        (Kind::Device, Source::Pool(pool)) if driver::has_several_devices() => {
            POOLS.get(pool).map_or(DeviceAccess::Owner(home.device as u32), |pool| DeviceAccess::Only(pool.access()))
        }
        (Kind::Device, _) if driver::has_several_devices() => DeviceAccess::Owner(home.device as u32),
        _ => DeviceAccess::Every,
    }
}

/// Kernels of which devices may access variables of a device.
pub(super) fn access_of_variables(device: usize) -> DeviceAccess {
    access(Kind::Device, Source::Variable, Home { context: 0, device })
}

/// Other devices may access memory of a pool from now on.
pub(super) fn change_access_of_pool(pool: &Pool) {
    let Some(tool_host) = tooling::get() else { return };
    let is_of_pool = |allocation: &&Allocation| allocation.source == Source::Pool(pool.handle.number());
    let all: Vec<u64> = allocations().values().filter(is_of_pool).map(|allocation| allocation.address).collect();
    for address in all {
        tool_host.change_access(address, DeviceAccess::Only(pool.access()));
    }
}

/// The device that memory is counted for, if it is.
fn counted(kind: Kind, source: Source, home: Home) -> Option<&'static LogicalDevice> {
    let is_of_device =
        matches!(kind, Kind::Device | Kind::Managed) && !matches!(source, Source::Mapping | Source::Variable);
    if is_of_device { driver::counted(home.device) } else { None }
}

/// New memory, which goes with a context.
pub(super) fn allocate(bytes: u64, kind: Kind, source: Source, home: Home) -> Result<u64> {
    let allocate = || allocate_counted(bytes, kind, source, home);
    counted(kind, source, home).map_or_else(allocate, |device| device.take_for(bytes, allocate))
}

fn allocate_counted(bytes: u64, kind: Kind, source: Source, home: Home) -> Result<u64> {
    let device = &driver::get()?.device;
    let tool_host = tooling::get();
    let redzone = tool_host.map_or(0, tooling::ToolHost::redzone);
    let all = bytes.checked_add(redzone).ok_or(CudaError::OUT_OF_MEMORY)?;
    let allocate = |bytes| match kind {
        Kind::Device => device.memory().allocate(bytes, 512),
        Kind::Managed | Kind::Host { .. } | Kind::Registered { .. } => device.memory().allocate_shared(bytes, 512),
    };
    let mut result = allocate(all);
    // Tools keep memory for a while that was freed.
    if result.is_err() && tool_host.is_some_and(tooling::ToolHost::make_room) {
        result = allocate(all);
    }
    // The last bytes of the device have no redzone.
    let address = result.or_else(|_| allocate(bytes)).map_err(crate::device_memory::out_of_memory)?;
    record(address, bytes, kind, source, home);
    Ok(address)
}

/// Makes a managed variable known; it is no allocation that the program could free.
pub(super) fn add_managed_variable(address: u64, bytes: u64, home: Home) {
    record(address, bytes, Kind::Managed, Source::Variable, home);
}

/// Forgets a managed variable.
pub(super) fn remove_managed_variable(address: u64) {
    allocations().remove(&address);
}

/// Gives all memory of a context back.
pub(super) fn free_all_of(context: usize) {
    let is_of_context = |allocation: &Allocation| {
        allocation.home.context == context
            && !matches!(allocation.source, Source::Graph { .. } | Source::Mapping | Source::Variable)
    };
    let all: Vec<Allocation> = allocations().values().filter(|allocation| is_of_context(allocation)).copied().collect();
    if let Some(tool_host) = tooling::get() {
        tool_host.on_context_end(|address| {
            let before = all.partition_point(|allocation| allocation.address <= address);
            all[..before].last().is_some_and(|allocation| address - allocation.address < allocation.bytes)
        });
    }
    for allocation in all {
        match allocation.kind {
            Kind::Registered { .. } => forget(allocation.address),
            // Another thread may have freed it meanwhile.
            _ => drop(free(allocation.address)),
        }
    }
}

/// The allocation that a program wants to free, if it can be freed in this way.
pub(super) fn to_be_freed(address: u64, can_be: impl Fn(&Allocation) -> bool) -> Result<Allocation> {
    let found = allocations().get(&address).copied().filter(can_be);
    if let (None, Some(tool_host)) = (found, tooling::get()) {
        tool_host.on_event(&HostEvent::InvalidFree { address });
    }
    found.ok_or(CudaError::INVALID_VALUE)
}

/// The program wants to free memory, and cannot any more, because a kernel went wrong: that is no leak of its own.
pub(crate) fn give_up(address: u64) {
    if let (Some(_), Some(tool_host)) = (driver::fault(), tooling::get())
        && allocations().remove(&address).is_some()
    {
        tool_host.on_free(address, &tooling::stack_here());
    }
}

/// Gives memory back at once.
pub(super) fn free(address: u64) -> Result<()> {
    free_from(address, &tooling::stack_here())
}

/// The same, where the program asked for it somewhere else.
pub(super) fn free_from(address: u64, stack: &HostStack) -> Result<()> {
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
    if let Some(device) = counted(found.kind, found.source, found.home) {
        device.give_back(found.bytes);
    }
    if tooling::get().is_some_and(|tool_host| !tool_host.on_free(address, stack)) {
        return Ok(());
    }
    let device = &driver::get()?.device;
    let _stopped = in_use::stop_copies();
    if device.memory().free(address) { Ok(()) } else { Err(CudaError::INVALID_VALUE) }
}

/// Makes memory of the program known.
pub(super) fn register(address: u64, bytes: u64, flags: u32, home: Home) -> Result<()> {
    let end = address.checked_add(bytes).ok_or(CudaError::INVALID_VALUE)?;
    if address == 0 || bytes == 0 || !address_space::is_mapped(address, bytes) {
        return Err(CudaError::INVALID_VALUE);
    }
    let overlaps =
        allocations().range(..end).next_back().is_some_and(|(_, other)| other.address + other.bytes > address);
    if overlaps {
        return Err(CudaError::HOST_MEMORY_ALREADY_REGISTERED);
    }
    share_host(address, bytes)?;
    record(address, bytes, Kind::Registered { flags }, Source::Device, home);
    Ok(())
}

/// Lets kernels access memory of the program.
#[allow(unsafe_code, reason = "memory is known by its addresses")]
fn share_host(address: u64, bytes: u64) -> Result<()> {
    // SAFETY: the memory was there a moment ago. That the program does not unmap it before it says so is for the program to see to.
    unsafe { driver::get()?.device.memory().share_host(address, bytes) }.map_err(|error| {
        crate::refusal::refuse(&format!("memory of the program cannot be registered: {error}"));
        CudaError::from_code(error.code).unwrap_or(CudaError::UNKNOWN)
    })
}

/// Forgets memory of the program.
pub(super) fn unregister(address: u64) -> Result<()> {
    let allocations = allocations();
    match allocations.get(&address) {
        Some(Allocation { kind: Kind::Registered { .. }, .. }) => {
            drop(allocations);
            forget(address);
            driver::get()?.device.memory().forget_host(address);
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

/// Makes memory known that the program put behind addresses of its own, and which devices may access it.
pub(super) fn add_mapping(address: u64, bytes: u64, home: Home, devices: u64) {
    record(address, bytes, Kind::Device, Source::Mapping, home);
    if let Some(tool_host) = tooling::get().filter(|_| driver::has_several_devices()) {
        tool_host.change_access(address, DeviceAccess::Only(devices));
    }
}

/// Addresses that programs reserved: the first of each range, and how many.
static RESERVED: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());

fn reserved() -> MutexGuard<'static, BTreeMap<u64, u64>> {
    RESERVED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes addresses known that are the device's, whether there is memory behind them or not.
pub(super) fn add_reserved(address: u64, bytes: u64) {
    reserved().insert(address, bytes);
}

/// Forgets addresses of the device.
pub(super) fn forget_reserved(address: u64) {
    reserved().remove(&address);
}

fn is_reserved(address: u64) -> bool {
    reserved().range(..=address).next_back().is_some_and(|(start, bytes)| address - start < *bytes)
}

/// Forgets memory that is not ours.
pub(super) fn forget(address: u64) {
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

/// Whether there is still memory behind a range that was found to be right when work was asked for.
pub(super) fn is_there(address: u64, bytes: u64) -> bool {
    let Some(end) = address.checked_add(bytes) else { return false };
    let Ok(driver) = driver::get() else { return false };
    let memory = driver.device.memory();
    if memory.contains(address) {
        return memory.allocation(address).is_some_and(|(start, length)| end <= start + length);
    }
    !is_reserved(address) || is_mapped(address, end)
}

/// Whose memory a range of addresses is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    Device,
    /// Of the host, known to the device: copies need not keep what they read.
    PinnedHost,
    Host,
}

/// What the program wants with a range of addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// To copy or fill it.
    Copy,
    /// To bind it to a texture.
    Binding,
}

/// Whose memory a range is. One that starts in device memory must lie in one allocation.
pub(crate) fn owner(address: u64, bytes: u64) -> Result<Owner> {
    owner_for(Purpose::Copy, address, bytes)
}

/// The same, for some purpose.
pub(crate) fn owner_for(purpose: Purpose, address: u64, bytes: u64) -> Result<Owner> {
    let end = address.checked_add(bytes).ok_or(CudaError::INVALID_VALUE)?;
    let memory = driver::get()?.device.memory();
    if find(address).is_some_and(|found| found.source == Source::Mapping) {
        return if is_mapped(address, end) { Ok(Owner::Device) } else { Err(CudaError::INVALID_VALUE) };
    }
    if !memory.contains(address) {
        // An address of the device without memory behind it is not one of the host.
        if is_reserved(address) {
            return Err(CudaError::INVALID_VALUE);
        }
        return owner_on_host(address, end);
    }
    if tooling::get().is_some_and(|tool_host| tool_host.copies_freed(address)) {
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
            tool_host.on_event(&match purpose {
                Purpose::Copy => HostEvent::CopyOverrun { address, bytes },
                Purpose::Binding => HostEvent::BindingOverrun { address, bytes },
            });
        }
        return Err(CudaError::INVALID_VALUE);
    }
    if let Some(tool_host) = tooling::get()
        && purpose == Purpose::Copy
    {
        tool_host.on_event(&HostEvent::Copy { address, bytes });
    }
    Ok(if matches!(kind, Kind::Host { .. }) { Owner::PinnedHost } else { Owner::Device })
}

/// Whether the device knows a range of the host's memory. One that it knows in part is refused, as the manual says.
fn owner_on_host(start: u64, end: u64) -> Result<Owner> {
    let allocations = allocations();
    let mut at = start;
    // From one registration to the next.
    while let Some((_, found)) =
        allocations.range(..=at).next_back().filter(|(_, found)| at - found.address < found.bytes)
    {
        at = found.address + found.bytes;
        if end <= at {
            return Ok(Owner::PinnedHost);
        }
    }
    let is_known_in_part = at > start || allocations.range(start..end).next().is_some();
    if is_known_in_part { Err(CudaError::INVALID_VALUE) } else { Ok(Owner::Host) }
}

/// Bytes of a device that no allocation has.
pub(super) fn free_bytes(device: usize) -> Result<u64> {
    if driver::has_several_devices() {
        return Ok(driver::logical(device)?.unallocated());
    }
    let memory = driver::get()?.device.memory();
    let hidden = tooling::get().map_or(0, tooling::ToolHost::hidden_bytes);
    Ok((memory.free_bytes() + hidden).min(memory.total_bytes()))
}
