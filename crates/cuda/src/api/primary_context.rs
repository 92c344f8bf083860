//! The primary contexts: those that all of a process share, one for each device, and that the runtime works in.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::context::{self, Context};
use super::device;
use super::registry;
use crate::driver;
use crate::error::{CudaError, Result};

/// The primary contexts by the numbers of their devices.
static PRIMARIES: Mutex<BTreeMap<usize, Primary>> = Mutex::new(BTreeMap::new());

/// The primary context of a device, or what is known of it before it is there.
#[derive(Debug, Default)]
struct Primary {
    /// With how often it was retained.
    context: Option<(Arc<Context>, usize)>,
    /// The flags that it has, or will have.
    flags: u32,
}

impl Primary {
    fn get_or_create(&mut self, device: usize, count: usize) -> &mut (Arc<Context>, usize) {
        self.context.get_or_insert_with(|| (Context::new(device, true, self.flags), count))
    }
}

fn primaries() -> MutexGuard<'static, BTreeMap<usize, Primary>> {
    PRIMARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The context of the runtime: the primary one, unless the thread has chosen another.
pub(crate) fn require_or_primary() -> Result<Arc<Context>> {
    if context::current().is_none_or(|context| context.is_destroyed()) {
        driver::start()?;
        context::set_current(Some(of_runtime(context::chosen_device())));
    }
    context::require()
}

/// The runtime works on this device in this thread from now on, in its primary context.
pub(crate) fn set_device(device: usize) -> Result<()> {
    driver::start()?;
    context::choose_device(device);
    let is_current = context::current().is_some_and(|context| !context.is_destroyed() && context.device() == device);
    if !is_current {
        context::set_current(Some(of_runtime(device)));
    }
    context::require().map(drop)
}

/// Makes the primary context of a device, if it is not there, without working in it.
pub(crate) fn initialize(device: usize) -> Result<()> {
    driver::start()?;
    of_runtime(device);
    driver::check()
}

/// The primary context, which the runtime keeps until the device is reset.
fn of_runtime(device: usize) -> Arc<Context> {
    Arc::clone(&primaries().entry(device).or_default().get_or_create(device, 1).0)
}

/// The flags of a primary context, also of one that is not there yet.
pub(crate) fn flags(device: usize) -> u32 {
    let of_context = get(device).map(|context| context.flags.load(Ordering::Relaxed));
    of_context.or_else(|| Some(primaries().get(&device)?.flags)).unwrap_or(0)
}

/// Sets the flags of a primary context, also of one that is not there yet.
pub(crate) fn set_flags(device: usize, flags: u32) {
    primaries().entry(device).or_default().flags = flags;
    if let Some(context) = get(device) {
        context.flags.store(flags, Ordering::Relaxed);
    }
}

/// Retains a primary context.
pub(crate) fn retain(device: usize) -> Result<Arc<Context>> {
    driver::check()?;
    let mut primaries = primaries();
    let (context, count) = primaries.entry(device).or_default().get_or_create(device, 0);
    *count += 1;
    Ok(Arc::clone(context))
}

/// Releases a primary context; it ends with the last who retained it.
pub(crate) fn release(device: usize) -> Result<()> {
    let mut primaries = primaries();
    let primary = primaries.get_mut(&device).ok_or(CudaError::INVALID_CONTEXT)?;
    let (context, count) = primary.context.as_mut().ok_or(CudaError::INVALID_CONTEXT)?;
    *count = count.saturating_sub(1);
    if *count == 0 {
        let context = Arc::clone(context);
        primary.context = None;
        drop(primaries);
        end(&context);
    }
    Ok(())
}

/// Ends a primary context, whoever retained it.
pub(crate) fn reset(device: usize) {
    let ended = primaries().get_mut(&device).and_then(|primary| primary.context.take());
    if let Some((context, _)) = ended {
        end(&context);
        context::leave(&context);
    }
}

/// A primary context if there is one.
pub(crate) fn get(device: usize) -> Option<Arc<Context>> {
    primaries().get(&device)?.context.as_ref().map(|(context, _)| Arc::clone(context))
}

/// Gives launches of this thread's context access to the memory of a device.
pub(crate) fn enable_peer_access(peer: usize) -> Result<()> {
    let reach = &require_or_primary()?.reach;
    if device::can_access_peer(reach.device, peer) { reach.enable(peer) } else { Err(CudaError::INVALID_DEVICE) }
}

/// Takes the access away.
pub(crate) fn disable_peer_access(peer: usize) -> Result<()> {
    require_or_primary()?.reach.disable(peer)
}

/// Ends it. What was registered with the runtime goes with it, and is there for the next one as at first.
fn end(context: &Context) {
    context.end();
    registry::reset_variables(context.device());
}
