//! Windows for the shared memory of blocks.
//!
//! Compiled code adds a signed offset of 32 bits to the start of a window. Around all windows lie two gigabytes of
//! addresses without memory, so whatever a kernel adds, it hits shared memory or faults: never anything else of the
//! process.

use std::io;
use std::sync::{Mutex, PoisonError};

use super::mapping::Mapping;
use crate::abi::MAX_SHARED;

/// Windows for the shared memory of blocks.
#[derive(Debug)]
pub(crate) struct SharedWindows {
    mapping: Mapping,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: Vec<usize>,
    /// Windows that were used before; the rest has no memory yet.
    opened: usize,
}

/// What an offset of 32 bits can reach to either side.
const REACH: usize = 2 << 30;
/// From one window to the next. What is between is not accessible.
const STRIDE: usize = 1 << 20;
/// Windows that there are.
const WINDOWS: usize = 4096;
/// Where they begin, if nothing else is there: far from what the system maps.
const WANTED: usize = 0x1800_0000_0000;

impl SharedWindows {
    pub(crate) fn new() -> io::Result<Self> {
        let mapping = Mapping::reserve(2 * REACH + WINDOWS * STRIDE, WANTED)?;
        Ok(Self { mapping, state: Mutex::new(State { free: Vec::new(), opened: 0 }) })
    }

    /// A window that nobody uses.
    pub(crate) fn take(&self, bytes: usize) -> usize {
        assert!(bytes <= STRIDE, "launches with more shared memory are refused");
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(window) = state.free.pop() {
            return window;
        }
        let window = state.opened;
        assert!(window < WINDOWS, "residency is limited to less");
        let bytes = (MAX_SHARED as usize + 1024).next_multiple_of(4096);
        self.mapping.open(REACH + window * STRIDE, bytes).expect("a window of shared memory can be opened");
        state.opened += 1;
        window
    }

    pub(crate) fn give_back(&self, window: usize) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).free.push(window);
    }

    /// Makes the start of a window zero, so that what nobody wrote is the same in every run.
    pub(crate) fn clear(&self, window: usize, bytes: usize) {
        let bytes = bytes.min(MAX_SHARED as usize + 1024);
        if bytes == 0 {
            return;
        }
        // SAFETY: the window is open for as many bytes, and its block has not started.
        unsafe { self.address(window).write_bytes(0, bytes) };
    }

    /// Where the first window starts, and how many bytes all of them range over.
    pub(crate) fn range(&self) -> (u64, u64) {
        (self.address(0) as u64, (WINDOWS * STRIDE) as u64)
    }

    /// Where a window starts.
    pub(crate) fn address(&self, window: usize) -> *mut u8 {
        assert!(window < WINDOWS, "windows come from `take`");
        // SAFETY: within the mapping.
        unsafe { self.mapping.base().add(REACH + window * STRIDE) }
    }
}
