//! Events.

use std::ffi::c_uint;

use crate::abi::driver::{CU_EVENT_DISABLE_TIMING, CU_EVENT_RECORD_EXTERNAL, CUevent, CUstream};
use crate::api::event::{self, EVENTS};
use crate::api::{output, stream};
use crate::error::{CudaError, Result};
use crate::ffi::{export, put};

fn elapsed(out: *mut f32, start: CUevent, end: CUevent) -> Result<()> {
    let milliseconds = EVENTS.get(start as usize)?.elapsed(&*EVENTS.get(end as usize)?)?;
    // SAFETY: as the manual says.
    unsafe { put(out, milliseconds) }
}

export! {
    fn cuEventCreate(phEvent: *mut CUevent, Flags: c_uint) {
        if phEvent.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        let event = event::create(Flags & CU_EVENT_DISABLE_TIMING == 0)?;
        // SAFETY: as the manual says.
        unsafe { put(phEvent, event.handle.number() as CUevent) }
    }

    fn cuEventDestroy_v2(hEvent: CUevent) {
        EVENTS.remove(hEvent as usize).map(drop)
    }

    fn cuEventRecord, cuEventRecord_ptsz(default; hEvent: CUevent, hStream: CUstream) {
        EVENTS.get(hEvent as usize)?.record(&*stream::resolve(hStream as usize, default)?, false)
    }

    fn cuEventRecordWithFlags, cuEventRecordWithFlags_ptsz(
        default;
        hEvent: CUevent,
        hStream: CUstream,
        flags: c_uint,
    ) {
        EVENTS.get(hEvent as usize)?.record(&*stream::resolve(hStream as usize, default)?, flags & CU_EVENT_RECORD_EXTERNAL != 0)
    }

    fn cuEventQuery(hEvent: CUevent) {
        EVENTS.get(hEvent as usize)?.query()
    }

    fn cuEventSynchronize(hEvent: CUevent) {
        let result = EVENTS.get(hEvent as usize)?.synchronize();
        output::flush();
        result
    }

    fn cuEventElapsedTime(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent) {
        elapsed(pMilliseconds, hStart, hEnd)
    }

    fn cuEventElapsedTime_v2(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent) {
        elapsed(pMilliseconds, hStart, hEnd)
    }

    fn cuEventDestroy(hEvent: CUevent) {
        EVENTS.remove(hEvent as usize).map(drop)
    }
}
