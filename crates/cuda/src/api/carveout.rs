//! How programs want the memory of a multiprocessor divided into L1 and shared memory: a wish, which tools are told.

use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use toolkit::CarveoutRequest;

use crate::error::{CudaError, Result};

/// What is wished for a kernel.
#[derive(Debug)]
pub(crate) struct Carveout {
    /// In percent of the largest shared memory; -1 if nothing is said.
    percent: AtomicI32,
    /// One of the numbers of `cudaFuncCache`; 0 if nothing is said.
    preference: AtomicU32,
}

/// The preference for all kernels that have none themselves.
static OF_ALL: AtomicU32 = AtomicU32::new(0);

/// What is wished for all kernels, as a number of `cudaFuncCache`.
pub(crate) fn of_all() -> u32 {
    OF_ALL.load(Ordering::Relaxed)
}

/// Sets it.
pub(crate) fn set_of_all(preference: u32) -> Result<()> {
    OF_ALL.store(checked(preference)?, Ordering::Relaxed);
    Ok(())
}

fn checked(preference: u32) -> Result<u32> {
    if preference <= 3 { Ok(preference) } else { Err(CudaError::INVALID_VALUE) }
}

impl Default for Carveout {
    fn default() -> Self {
        Self { percent: AtomicI32::new(-1), preference: AtomicU32::new(0) }
    }
}

impl Carveout {
    /// In percent, or -1.
    pub(crate) fn percent(&self) -> i32 {
        self.percent.load(Ordering::Relaxed)
    }

    /// Sets it. What was preferred before does not count any more.
    pub(crate) fn set_percent(&self, percent: i32) -> Result<()> {
        if !(-1..=100).contains(&percent) {
            return Err(CudaError::INVALID_VALUE);
        }
        self.percent.store(percent, Ordering::Relaxed);
        self.preference.store(0, Ordering::Relaxed);
        Ok(())
    }

    /// Sets what is preferred. The part that was asked for before does not count any more.
    pub(crate) fn set_preference(&self, preference: u32) -> Result<()> {
        self.preference.store(checked(preference)?, Ordering::Relaxed);
        self.percent.store(-1, Ordering::Relaxed);
        Ok(())
    }

    /// For tools.
    pub(crate) fn request(&self) -> CarveoutRequest {
        if let Ok(percent) = u32::try_from(self.percent()) {
            return CarveoutRequest::Percent(percent);
        }
        let own = self.preference.load(Ordering::Relaxed);
        match if own == 0 { of_all() } else { own } {
            1 => CarveoutRequest::PreferShared,
            2 => CarveoutRequest::PreferL1,
            3 => CarveoutRequest::PreferEqual,
            _ => CarveoutRequest::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_wish_counts() {
        let carveout = Carveout::default();
        assert_eq!((carveout.request(), carveout.percent()), (CarveoutRequest::Nothing, -1));
        carveout.set_percent(50).unwrap();
        assert_eq!((carveout.request(), carveout.percent()), (CarveoutRequest::Percent(50), 50));
        carveout.set_preference(2).unwrap();
        assert_eq!((carveout.request(), carveout.percent()), (CarveoutRequest::PreferL1, -1));
        assert!(carveout.set_percent(101).is_err() && carveout.set_preference(4).is_err());
        assert_eq!(carveout.request(), CarveoutRequest::PreferL1);
    }
}
