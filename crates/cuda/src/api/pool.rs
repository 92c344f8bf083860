//! Pools of memory, from which streams allocate.
//!
//! What a pool has got is what is allocated from it: memory that is freed goes back to the device at once, whatever the
//! release threshold. So "reserved" is the same as "used".

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::error::{CudaError, Result};
use crate::handle::{Handle, Handles};

/// A pool.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) handle: Handle<Pool>,
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
pub(crate) static POOLS: Handles<Pool> = Handles::new();

/// The pool that streams allocate from, unless the program chose another.
pub(crate) fn default_pool() -> Arc<Pool> {
    static DEFAULT: OnceLock<Arc<Pool>> = OnceLock::new();
    Arc::clone(DEFAULT.get_or_init(|| create(0)))
}

/// The one that the program chose.
static CHOSEN: Mutex<Option<Arc<Pool>>> = Mutex::new(None);

fn chosen() -> MutexGuard<'static, Option<Arc<Pool>>> {
    CHOSEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The pool that streams allocate from.
pub(crate) fn current() -> Arc<Pool> {
    chosen().clone().unwrap_or_else(default_pool)
}

/// Streams allocate from this pool from now on.
pub(crate) fn set_current(pool: Arc<Pool>) {
    *chosen() = Some(pool);
}

/// Makes a pool of at most so many bytes; 0 for no limit.
pub(crate) fn create(max_bytes: u64) -> Arc<Pool> {
    let state = State { used: 0, used_high: 0, reserved_high: 0, release_threshold: 0, reuse: [true; 3] };
    let pool = Arc::new(Pool { handle: Handle::new(), max_bytes, state: Mutex::new(state) });
    POOLS.insert(&pool.handle, Arc::clone(&pool));
    pool
}

/// Forgets a pool; what was allocated from it stays.
pub(crate) fn destroy(number: usize) -> Result<()> {
    if number == default_pool().handle.number() {
        return Err(CudaError::INVALID_VALUE);
    }
    let pool = POOLS.remove(number)?;
    let mut chosen = chosen();
    if chosen.as_ref().is_some_and(|chosen| Arc::ptr_eq(chosen, &pool)) {
        *chosen = None;
    }
    Ok(())
}

impl Pool {
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
