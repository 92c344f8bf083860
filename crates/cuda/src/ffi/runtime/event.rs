//! Events.

use std::ffi::c_uint;

use super::{export_runtime, ready};
use crate::abi::runtime::{
    cudaEvent_t, cudaEventBlockingSync, cudaEventDisableTiming, cudaEventInterprocess, cudaEventRecordExternal,
    cudaStream_t,
};
use crate::api::event::EVENTS;
use crate::api::{event_sync, output, stream_handle};
use crate::error::{CudaError, Result};
use crate::ffi::put;

/// # Safety
/// `out` must be null or valid to write.
unsafe fn create(out: *mut cudaEvent_t, flags: c_uint) -> Result<()> {
    ready()?;
    if out.is_null() || flags & !(cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess) != 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let event = event_sync::create(flags & cudaEventDisableTiming == 0)?;
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, event.handle.number() as cudaEvent_t) }
}

/// # Safety
/// `out` must be null or valid to write.
unsafe fn elapsed(out: *mut f32, start: cudaEvent_t, end: cudaEvent_t) -> Result<()> {
    let milliseconds = EVENTS.get(start as usize)?.elapsed(&*EVENTS.get(end as usize)?)?;
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, milliseconds) }
}

export_runtime! {
    fn cudaEventCreate(event: *mut cudaEvent_t) {
        // SAFETY: the caller promises that `event` is null or valid to write.
        unsafe { create(event, 0) }
    }

    fn cudaEventCreateWithFlags(event: *mut cudaEvent_t, flags: c_uint) {
        // SAFETY: the caller promises that `event` is null or valid to write.
        unsafe { create(event, flags) }
    }

    fn cudaEventDestroy(event: cudaEvent_t) {
        EVENTS.destroy(event as usize).map(drop)
    }

    fn cudaEventRecord, cudaEventRecord_ptsz(default; event: cudaEvent_t, stream: cudaStream_t) {
        ready()?;
        event_sync::record(&EVENTS.get(event as usize)?, &*stream_handle::resolve(stream as usize, default)?, false)
    }

    fn cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz(
        default;
        event: cudaEvent_t,
        stream: cudaStream_t,
        flags: c_uint,
    ) {
        ready()?;
        event_sync::record(&EVENTS.get(event as usize)?, &*stream_handle::resolve(stream as usize, default)?, flags & cudaEventRecordExternal != 0)
    }

    fn cudaEventQuery(event: cudaEvent_t) {
        event_sync::query(&*EVENTS.get(event as usize)?)
    }

    fn cudaEventSynchronize(event: cudaEvent_t) {
        let result = event_sync::synchronize(&*EVENTS.get(event as usize)?);
        output::flush();
        result
    }

    fn cudaEventElapsedTime(ms: *mut f32, start: cudaEvent_t, end: cudaEvent_t) {
        // SAFETY: the caller promises that `ms` is null or valid to write.
        unsafe { elapsed(ms, start, end) }
    }

    fn cudaEventElapsedTime_v2(ms: *mut f32, start: cudaEvent_t, end: cudaEvent_t) {
        // SAFETY: the caller promises that `ms` is null or valid to write.
        unsafe { elapsed(ms, start, end) }
    }
}
