//! Words that kernels and the process access.

use std::fmt::Debug;
use std::sync::atomic::AtomicU64;

/// Words that kernels and the process access, at one address. They begin as zeros.
pub trait SharedWords: Debug + Send + Sync {
    /// The words.
    fn words(&self) -> &[AtomicU64];

    /// Where they are, for kernels.
    fn address(&self) -> u64 {
        self.words().as_ptr() as u64
    }
}
