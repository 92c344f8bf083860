//! Streams and calls back to the program.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::PoisonError;

use crate::abi::driver::*;
use crate::api::event::EVENTS;
use crate::api::stream::{self, Stream};
use crate::api::stream_handle::{self, DefaultStream};
use crate::api::stream_id::Kind;
use crate::api::{event_sync, output};
use crate::error::{CudaError, Result};
use crate::ffi::host_call::{add_callback, call_host};
use crate::ffi::{export, get, put};

/// # Safety
/// `out` must be null or valid to write.
unsafe fn create(out: *mut CUstream, flags: c_uint, priority: c_int) -> Result<()> {
    if out.is_null() || flags & !CU_STREAM_NON_BLOCKING != 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let kind = if flags == CU_STREAM_NON_BLOCKING { Kind::NonBlocking } else { Kind::Blocking };
    let stream = stream_handle::create(kind, priority)?;
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, stream.handle.number() as CUstream) }
}

/// A value of an attribute: 64 bytes, of which the attribute says what they are.
pub(crate) type AttributeValue = [u64; 8];

/// What the program set, or zero; the priority is always known.
pub(crate) fn attribute(stream: &Stream, attribute: CUstreamAttrID) -> AttributeValue {
    let set = stream.attributes.lock().unwrap_or_else(PoisonError::into_inner).get(&attribute).copied();
    set.unwrap_or_else(|| {
        let mut value = AttributeValue::default();
        if attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY {
            value[0] = stream.priority.cast_unsigned().into();
        }
        value
    })
}

/// Takes note of a hint.
pub(crate) fn set_attribute(stream: &Stream, attribute: CUstreamAttrID, value: AttributeValue) {
    stream.attributes.lock().unwrap_or_else(PoisonError::into_inner).insert(attribute, value);
}

pub(crate) fn copy_attributes(to: &Stream, from: &stream::Stream) {
    let attributes = from.attributes.lock().unwrap_or_else(PoisonError::into_inner).clone();
    *to.attributes.lock().unwrap_or_else(PoisonError::into_inner) = attributes;
}

export! {
    fn cuStreamCreate(phStream: *mut CUstream, Flags: c_uint) {
        // SAFETY: the caller promises that `phStream` is null or valid to write.
        unsafe { create(phStream, Flags, 0) }
    }

    fn cuStreamCreateWithPriority(phStream: *mut CUstream, flags: c_uint, priority: c_int) {
        // SAFETY: the caller promises that `phStream` is null or valid to write.
        unsafe { create(phStream, flags, priority.clamp(-5, 0)) }
    }

    fn cuStreamDestroy_v2(hStream: CUstream) {
        stream::destroy(hStream as usize)
    }

    fn cuStreamSynchronize, cuStreamSynchronize_ptsz(default; hStream: CUstream) {
        let result = stream_handle::resolve(hStream as usize, default)?.synchronize();
        output::flush();
        result
    }

    fn cuStreamQuery, cuStreamQuery_ptsz(default; hStream: CUstream) {
        stream_handle::resolve(hStream as usize, default)?.query()
    }

    fn cuStreamWaitEvent, cuStreamWaitEvent_ptsz(default; hStream: CUstream, hEvent: CUevent, Flags: c_uint) {
        let becomes_node = Flags & CU_EVENT_WAIT_EXTERNAL != 0;
        event_sync::hold_up(&EVENTS.get(hEvent as usize)?, &*stream_handle::resolve(hStream as usize, default)?, becomes_node)
    }

    fn cuStreamGetPriority, cuStreamGetPriority_ptsz(default; hStream: CUstream, priority: *mut c_int) {
        let stream = stream_handle::resolve(hStream as usize, default)?;
        // SAFETY: the caller promises that `priority` is null or valid to write.
        unsafe { put(priority, stream.priority) }
    }

    fn cuStreamGetFlags, cuStreamGetFlags_ptsz(default; hStream: CUstream, flags: *mut c_uint) {
        let stream = stream_handle::resolve(hStream as usize, default)?;
        let value = if stream.id.kind == Kind::NonBlocking { CU_STREAM_NON_BLOCKING } else { 0 };
        // SAFETY: the caller promises that `flags` is null or valid to write.
        unsafe { put(flags, value) }
    }

    fn cuStreamGetId, cuStreamGetId_ptsz(default; hStream: CUstream, streamId: *mut c_ulonglong) {
        let stream = stream_handle::resolve(hStream as usize, default)?;
        // SAFETY: the caller promises that `streamId` is null or valid to write.
        unsafe { put(streamId, stream.id.number) }
    }

    fn cuStreamGetCtx, cuStreamGetCtx_ptsz(default; hStream: CUstream, pctx: *mut CUcontext) {
        let context = stream_handle::resolve(hStream as usize, default)?.context()?;
        // SAFETY: the caller promises that `pctx` is null or valid to write.
        unsafe { put(pctx, context as CUcontext) }
    }

    fn cuStreamGetDevice, cuStreamGetDevice_ptsz(default; hStream: CUstream, device: *mut CUdevice) {
        stream_handle::resolve(hStream as usize, default)?;
        // SAFETY: the caller promises that `device` is null or valid to write.
        unsafe { put(device, 0) }
    }

    fn cuLaunchHostFunc, cuLaunchHostFunc_ptsz(
        default;
        hStream: CUstream,
        r#fn: CUhostFn,
        userData: *mut c_void,
    ) {
        // SAFETY: the caller promises that `r#fn` is null or a function that may be called with `userData`, later and
        // on any thread.
        unsafe { call_host(&*stream_handle::resolve(hStream as usize, default)?, r#fn, userData) }
    }

    fn cuStreamAddCallback, cuStreamAddCallback_ptsz(
        default;
        hStream: CUstream,
        callback: CUstreamCallback,
        userData: *mut c_void,
        flags: c_uint,
    ) {
        if flags != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: the caller promises that `callback` is null or a function that may be called with `userData`, later
        // and on any thread.
        unsafe { add_callback(&*stream_handle::resolve(hStream as usize, default)?, hStream, callback, userData) }
    }

    fn cuStreamGetAttribute(hStream: CUstream, attr: CUstreamAttrID, value: *mut CUstreamAttrValue) {
        let stream = stream_handle::resolve(hStream as usize, DefaultStream::Legacy)?;
        // SAFETY: the caller promises that `value` is null or valid to write.
        unsafe { put(value.cast(), attribute(&stream, attr)) }
    }

    fn cuStreamGetAttribute_ptsz(hStream: CUstream, attr: CUstreamAttrID, value_out: *mut CUstreamAttrValue) {
        let stream = stream_handle::resolve(hStream as usize, DefaultStream::PerThread)?;
        // SAFETY: the caller promises that `value_out` is null or valid to write.
        unsafe { put(value_out.cast(), attribute(&stream, attr)) }
    }

    fn cuStreamSetAttribute(hStream: CUstream, attr: CUstreamAttrID, param: *const CUstreamAttrValue) {
        let stream = stream_handle::resolve(hStream as usize, DefaultStream::Legacy)?;
        // SAFETY: the caller promises that `param` is null or valid to read.
        set_attribute(&stream, attr, *unsafe { get(param.cast()) }?);
        Ok(())
    }

    fn cuStreamSetAttribute_ptsz(hStream: CUstream, attr: CUstreamAttrID, value: *const CUstreamAttrValue) {
        let stream = stream_handle::resolve(hStream as usize, DefaultStream::PerThread)?;
        // SAFETY: the caller promises that `value` is null or valid to read.
        set_attribute(&stream, attr, *unsafe { get(value.cast()) }?);
        Ok(())
    }

    fn cuStreamCopyAttributes(dstStream: CUstream, srcStream: CUstream) {
        let of = |stream: CUstream| stream_handle::resolve(stream as usize, DefaultStream::Legacy);
        copy_attributes(&*of(dstStream)?, &*of(srcStream)?);
        Ok(())
    }

    fn cuStreamCopyAttributes_ptsz(dst: CUstream, src: CUstream) {
        let of = |stream: CUstream| stream_handle::resolve(stream as usize, DefaultStream::PerThread);
        copy_attributes(&*of(dst)?, &*of(src)?);
        Ok(())
    }

    fn cuStreamAttachMemAsync, cuStreamAttachMemAsync_ptsz(
        default;
        hStream: CUstream,
        dptr: CUdeviceptr,
        length: usize,
        flags: c_uint,
    ) {
        // Whoever it belongs to, both can reach it.
        let _ = (dptr, length, flags);
        stream_handle::resolve(hStream as usize, default).map(drop)
    }

    fn cuStreamDestroy(hStream: CUstream) {
        stream::destroy(hStream as usize)
    }
}
