//! Pools of memory, from which streams allocate.
//!
//! What a pool has got is what is allocated from it: memory that is freed goes back to the device at once, whatever the
//! release threshold. So "reserved" is the same as "used".

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{CudaError, Result};
use crate::handle::{Handle, Handles};

/// A pool.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) handle: Handle<Pool>,
    /// The number of the device whose memory it has.
    pub(crate) device: usize,
    /// Devices whose kernels may access its memory besides, a bit for each.
    peers: AtomicU64,
    /// Bytes at most; 0 for no limit.
    pub(crate) max_bytes: u64,
    state: Mutex<State>,
}

/// The numbers of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    /// Bytes that are allocated.
    pub(crate) used: u64,
    /// The most since it was last set.
    pub(crate) used_high: u64,
    /// The most since it was last set, of what the pool has got from the device.
    pub(crate) reserved_high: u64,
    /// What programs set: bytes to keep, and which memory may be used again.
    pub(crate) release_threshold: u64,
    pub(crate) reuse: [bool; 3],
}

/// Pools that programs know.
pub(crate) static POOLS: Handles<Pool> = Handles::new("a memory pool");

/// The pools of devices by their numbers: those that streams allocate from unless the program chose others, and those that
/// it chose.
static DEFAULT: Mutex<BTreeMap<usize, Arc<Pool>>> = Mutex::new(BTreeMap::new());
static CHOSEN: Mutex<BTreeMap<usize, Arc<Pool>>> = Mutex::new(BTreeMap::new());

/// The pool that streams of a device allocate from, unless the program chose another.
pub(crate) fn default_pool(device: usize) -> Arc<Pool> {
    let mut pools = DEFAULT.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(pools.entry(device).or_insert_with(|| create(device, 0)))
}

fn chosen() -> MutexGuard<'static, BTreeMap<usize, Arc<Pool>>> {
    CHOSEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The pool that streams of a device allocate from.
pub(crate) fn current(device: usize) -> Arc<Pool> {
    let chosen = chosen().get(&device).cloned();
    chosen.unwrap_or_else(|| default_pool(device))
}

/// Streams of a device allocate from this pool from now on, which must be of the device.
pub(crate) fn set_current(device: usize, pool: Arc<Pool>) -> Result<()> {
    if pool.device != device {
        return Err(CudaError::INVALID_VALUE);
    }
    chosen().insert(device, pool);
    Ok(())
}

/// Makes a pool of at most so many bytes of a device; 0 for no limit.
pub(crate) fn create(device: usize, max_bytes: u64) -> Arc<Pool> {
    let state = State { used: 0, used_high: 0, reserved_high: 0, release_threshold: 0, reuse: [true; 3] };
    let pool =
        Arc::new(Pool { handle: Handle::new(), device, peers: AtomicU64::new(0), max_bytes, state: Mutex::new(state) });
    POOLS.insert(&pool.handle, Arc::clone(&pool));
    pool
}

/// Forgets a pool; what was allocated from it stays.
pub(crate) fn destroy(number: usize) -> Result<()> {
    if DEFAULT.lock().unwrap_or_else(PoisonError::into_inner).values().any(|pool| pool.handle.number() == number) {
        return Err(CudaError::INVALID_VALUE);
    }
    let pool = POOLS.destroy(number)?;
    chosen().retain(|_, chosen| !Arc::ptr_eq(chosen, &pool));
    Ok(())
}

impl Pool {
    /// Devices whose kernels may access its memory, a bit for each.
    pub(crate) fn access(&self) -> u64 {
        self.peers.load(Ordering::Relaxed) | 1 << self.device
    }

    /// Says whether kernels of a device may access its memory. Those of its own always may.
    pub(crate) fn set_access(&self, device: usize, is_allowed: bool) -> Result<()> {
        match (device == self.device, is_allowed) {
            (true, false) => return Err(CudaError::INVALID_VALUE),
            (true, true) => {}
            (false, true) => drop(self.peers.fetch_or(1 << device, Ordering::Relaxed)),
            (false, false) => drop(self.peers.fetch_and(!(1 << device), Ordering::Relaxed)),
        }
        Ok(())
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts bytes that are allocated from it.
    pub(crate) fn take(&self, bytes: u64) -> Result<()> {
        let mut state = self.state();
        let used = state.used.checked_add(bytes).ok_or(CudaError::OUT_OF_MEMORY)?;
        if self.max_bytes != 0 && used > self.max_bytes {
            return Err(CudaError::OUT_OF_MEMORY);
        }
        state.used = used;
        state.used_high = state.used_high.max(used);
        state.reserved_high = state.reserved_high.max(used);
        Ok(())
    }

    /// Counts bytes that are given back.
    pub(crate) fn give_back(&self, bytes: u64) {
        self.state().used -= bytes;
    }
}
