//! What kernels print.

use std::sync::{Mutex, PoisonError};

use crate::driver;

/// Writes what kernels printed so far to the program's standard output, in the order in which it was printed. Called where
/// CUDA says that it happens: at launches, when the program waits, and when copies wait for it.
pub(crate) fn flush() {
    /// Two threads that wait at once do not mix their lines.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let Ok(driver) = driver::get() else { return };
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = driver.device.output().take();
    if !bytes.is_empty() {
        crate::process::stdio::write(&bytes);
    }
}
