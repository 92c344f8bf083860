//! Events.

use std::ffi::c_uint;

use crate::abi::driver::{CU_EVENT_DISABLE_TIMING, CU_EVENT_RECORD_EXTERNAL, CUevent, CUstream};
use crate::api::event::EVENTS;
use crate::api::{event_sync, output, stream_handle};
use crate::error::{CudaError, Result};
use crate::ffi::{export, put};

/// # Safety
/// `out` must be null or valid to write.
unsafe fn elapsed(out: *mut f32, start: CUevent, end: CUevent) -> Result<()> {
    let milliseconds = EVENTS.get(start as usize)?.elapsed(&*EVENTS.get(end as usize)?)?;
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, milliseconds) }
}

export! {
    fn cuEventCreate(phEvent: *mut CUevent, Flags: c_uint) {
        if phEvent.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        let event = event_sync::create(Flags & CU_EVENT_DISABLE_TIMING == 0)?;
        // SAFETY: the caller promises that `phEvent` is null or valid to write.
        unsafe { put(phEvent, event.handle.number() as CUevent) }
    }

    fn cuEventDestroy_v2(hEvent: CUevent) {
        EVENTS.destroy(hEvent as usize).map(drop)
    }

    fn cuEventRecord, cuEventRecord_ptsz(default; hEvent: CUevent, hStream: CUstream) {
        event_sync::record(&EVENTS.get(hEvent as usize)?, &*stream_handle::resolve(hStream as usize, default)?, false)
    }

    fn cuEventRecordWithFlags, cuEventRecordWithFlags_ptsz(
        default;
        hEvent: CUevent,
        hStream: CUstream,
        flags: c_uint,
    ) {
        event_sync::record(&EVENTS.get(hEvent as usize)?, &*stream_handle::resolve(hStream as usize, default)?, flags & CU_EVENT_RECORD_EXTERNAL != 0)
    }

    fn cuEventQuery(hEvent: CUevent) {
        event_sync::query(&*EVENTS.get(hEvent as usize)?)
    }

    fn cuEventSynchronize(hEvent: CUevent) {
        let result = event_sync::synchronize(&*EVENTS.get(hEvent as usize)?);
        output::flush();
        result
    }

    fn cuEventElapsedTime(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent) {
        // SAFETY: the caller promises that `pMilliseconds` is null or valid to write.
        unsafe { elapsed(pMilliseconds, hStart, hEnd) }
    }

    fn cuEventElapsedTime_v2(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent) {
        // SAFETY: the caller promises that `pMilliseconds` is null or valid to write.
        unsafe { elapsed(pMilliseconds, hStart, hEnd) }
    }

    fn cuEventDestroy(hEvent: CUevent) {
        EVENTS.destroy(hEvent as usize).map(drop)
    }
}
