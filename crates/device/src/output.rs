//! What kernels print.

use std::sync::{Mutex, PoisonError};

/// What kernels print.
#[derive(Debug, Default)]
pub struct Output {
    text: Mutex<Vec<u8>>,
}

impl Output {
    /// Adds what was printed.
    pub fn append(&self, text: &[u8]) {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(text);
    }

    /// Takes what was printed so far.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.text.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
