//! The primary context: the one that all of a process share, and that the runtime works in.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::context::{self, Context};
use super::registry;
use crate::driver;
use crate::error::{CudaError, Result};

/// The primary context and how often it was retained.
static PRIMARY: Mutex<Option<(Arc<Context>, usize)>> = Mutex::new(None);
/// The flags that the primary context has, or will have.
static FLAGS: AtomicU32 = AtomicU32::new(0);

fn primary() -> MutexGuard<'static, Option<(Arc<Context>, usize)>> {
    PRIMARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The context of the runtime: the primary one, unless the thread has chosen another.
pub(crate) fn require_or_primary() -> Result<Arc<Context>> {
    if context::current().is_none_or(|context| context.is_destroyed()) {
        driver::start()?;
        context::set_current(Some(of_runtime()));
    }
    context::require()
}

/// The primary context, which the runtime keeps until the device is reset.
fn of_runtime() -> Arc<Context> {
    let mut primary = primary();
    Arc::clone(&primary.get_or_insert_with(|| (create(), 1)).0)
}

fn create() -> Arc<Context> {
    Context::new(true, FLAGS.load(Ordering::Relaxed))
}

/// The flags of the primary context, also of one that is not there yet.
pub(crate) fn flags() -> u32 {
    get().map_or_else(|| FLAGS.load(Ordering::Relaxed), |context| context.flags.load(Ordering::Relaxed))
}

/// Sets the flags of the primary context, also of one that is not there yet.
pub(crate) fn set_flags(flags: u32) {
    FLAGS.store(flags, Ordering::Relaxed);
    if let Some(context) = get() {
        context.flags.store(flags, Ordering::Relaxed);
    }
}

/// Retains the primary context.
pub(crate) fn retain() -> Result<Arc<Context>> {
    driver::check()?;
    let mut primary = primary();
    let (context, count) = primary.get_or_insert_with(|| (create(), 0));
    *count += 1;
    Ok(Arc::clone(context))
}

/// Releases the primary context; it ends with the last who retained it.
pub(crate) fn release() -> Result<()> {
    let mut primary = primary();
    let (context, count) = primary.as_mut().ok_or(CudaError::INVALID_CONTEXT)?;
    *count = count.saturating_sub(1);
    if *count == 0 {
        let context = Arc::clone(context);
        *primary = None;
        drop(primary);
        end(&context);
    }
    Ok(())
}

/// Ends the primary context, whoever retained it.
pub(crate) fn reset() {
    let ended = primary().take();
    if let Some((context, _)) = ended {
        end(&context);
        context::leave(&context);
    }
}

/// The primary context if there is one.
pub(crate) fn get() -> Option<Arc<Context>> {
    primary().as_ref().map(|(context, _)| Arc::clone(context))
}

/// Ends it. What was registered with the runtime goes with it, and is there for the next one as at first.
fn end(context: &Context) {
    context.end();
    registry::reset_variables();
}
