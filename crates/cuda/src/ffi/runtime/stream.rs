//! Streams and calls back to the program.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use super::{export_runtime, ready};
use crate::abi::runtime::*;
use crate::api::event::EVENTS;
use crate::api::stream_handle::{self, DefaultStream};
use crate::api::stream_id::Kind;
use crate::api::{event_sync, output, stream};
use crate::error::{CudaError, Result};
use crate::ffi::driver::stream::{attribute, copy_attributes, set_attribute};
use crate::ffi::host_call::{add_callback, call_host};
use crate::ffi::{get, put};

/// # Safety
/// `out` must be null or valid to write.
unsafe fn create(out: *mut cudaStream_t, flags: c_uint, priority: c_int) -> Result<()> {
    ready()?;
    if out.is_null() || flags & !cudaStreamNonBlocking != 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let kind = if flags == cudaStreamNonBlocking { Kind::NonBlocking } else { Kind::Blocking };
    let stream = stream_handle::create(kind, priority.clamp(-5, 0))?;
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, stream.handle.number() as cudaStream_t) }
}

export_runtime! {
    fn cudaStreamCreate(pStream: *mut cudaStream_t) {
        // SAFETY: the caller promises that `pStream` is null or valid to write.
        unsafe { create(pStream, 0, 0) }
    }

    fn cudaStreamCreateWithFlags(pStream: *mut cudaStream_t, flags: c_uint) {
        // SAFETY: the caller promises that `pStream` is null or valid to write.
        unsafe { create(pStream, flags, 0) }
    }

    fn cudaStreamCreateWithPriority(pStream: *mut cudaStream_t, flags: c_uint, priority: c_int) {
        // SAFETY: the caller promises that `pStream` is null or valid to write.
        unsafe { create(pStream, flags, priority) }
    }

    fn cudaStreamDestroy(stream: cudaStream_t) {
        stream::destroy(stream as usize)
    }

    fn cudaStreamSynchronize, cudaStreamSynchronize_ptsz(default; stream: cudaStream_t) {
        ready()?;
        let result = stream_handle::resolve(stream as usize, default)?.synchronize();
        output::flush();
        result
    }

    fn cudaStreamQuery, cudaStreamQuery_ptsz(default; stream: cudaStream_t) {
        ready()?;
        stream_handle::resolve(stream as usize, default)?.query()
    }

    fn cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz(
        default;
        stream: cudaStream_t,
        event: cudaEvent_t,
        flags: c_uint,
    ) {
        ready()?;
        let becomes_node = flags & cudaEventWaitExternal != 0;
        event_sync::hold_up(&EVENTS.get(event as usize)?, &*stream_handle::resolve(stream as usize, default)?, becomes_node)
    }

    fn cudaStreamGetPriority, cudaStreamGetPriority_ptsz(default; hStream: cudaStream_t, priority: *mut c_int) {
        ready()?;
        let stream = stream_handle::resolve(hStream as usize, default)?;
        // SAFETY: the caller promises that `priority` is null or valid to write.
        unsafe { put(priority, stream.priority) }
    }

    fn cudaStreamGetFlags, cudaStreamGetFlags_ptsz(default; hStream: cudaStream_t, flags: *mut c_uint) {
        ready()?;
        let stream = stream_handle::resolve(hStream as usize, default)?;
        // SAFETY: the caller promises that `flags` is null or valid to write.
        unsafe { put(flags, if stream.id.kind == Kind::NonBlocking { cudaStreamNonBlocking } else { 0 }) }
    }

    fn cudaStreamGetId, cudaStreamGetId_ptsz(default; hStream: cudaStream_t, streamId: *mut c_ulonglong) {
        ready()?;
        let stream = stream_handle::resolve(hStream as usize, default)?;
        // SAFETY: the caller promises that `streamId` is null or valid to write.
        unsafe { put(streamId, stream.id.number) }
    }

    fn cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz(
        default;
        stream: cudaStream_t,
        devPtr: *mut c_void,
        length: usize,
        flags: c_uint,
    ) {
        // Whoever it belongs to, both can reach it.
        let _ = (devPtr, length, flags);
        ready()?;
        stream_handle::resolve(stream as usize, default).map(drop)
    }

    fn cudaLaunchHostFunc, cudaLaunchHostFunc_ptsz(
        default;
        stream: cudaStream_t,
        r#fn: cudaHostFn_t,
        userData: *mut c_void,
    ) {
        ready()?;
        // SAFETY: the caller promises that `r#fn` is null or a function that may be called with `userData`, later and
        // on any thread.
        unsafe { call_host(&*stream_handle::resolve(stream as usize, default)?, r#fn, userData) }
    }

    fn cudaStreamAddCallback, cudaStreamAddCallback_ptsz(
        default;
        stream: cudaStream_t,
        callback: cudaStreamCallback_t,
        userData: *mut c_void,
        flags: c_uint,
    ) {
        ready()?;
        if flags != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: the caller promises that `callback` is null or a function that may be called with `userData`, later
        // and on any thread.
        unsafe { add_callback(&*stream_handle::resolve(stream as usize, default)?, stream.cast(), callback, userData) }
    }

    fn cudaStreamGetAttribute(stream: cudaStream_t, attr: cudaLaunchAttributeID, value: *mut cudaLaunchAttributeValue) {
        ready()?;
        let stream = stream_handle::resolve(stream as usize, DefaultStream::Legacy)?;
        // SAFETY: the caller promises that `value` is null or valid to write.
        unsafe { put(value.cast(), attribute(&stream, attr)) }
    }

    fn cudaStreamGetAttribute_ptsz(
        hStream: cudaStream_t,
        attr: cudaLaunchAttributeID,
        value_out: *mut cudaLaunchAttributeValue,
    ) {
        ready()?;
        let stream = stream_handle::resolve(hStream as usize, DefaultStream::PerThread)?;
        // SAFETY: the caller promises that `value_out` is null or valid to write.
        unsafe { put(value_out.cast(), attribute(&stream, attr)) }
    }

    fn cudaStreamSetAttribute(
        stream: cudaStream_t,
        attr: cudaLaunchAttributeID,
        param: *const cudaLaunchAttributeValue,
    ) {
        ready()?;
        let stream = stream_handle::resolve(stream as usize, DefaultStream::Legacy)?;
        // SAFETY: the caller promises that `param` is null or valid to read.
        set_attribute(&stream, attr, *unsafe { get(param.cast()) }?);
        Ok(())
    }

    fn cudaStreamSetAttribute_ptsz(
        hStream: cudaStream_t,
        attr: cudaLaunchAttributeID,
        value: *const cudaLaunchAttributeValue,
    ) {
        ready()?;
        let stream = stream_handle::resolve(hStream as usize, DefaultStream::PerThread)?;
        // SAFETY: the caller promises that `value` is null or valid to read.
        set_attribute(&stream, attr, *unsafe { get(value.cast()) }?);
        Ok(())
    }

    fn cudaStreamCopyAttributes(dstStream: cudaStream_t, srcStream: cudaStream_t) {
        ready()?;
        let of = |stream: cudaStream_t| stream_handle::resolve(stream as usize, DefaultStream::Legacy);
        copy_attributes(&*of(dstStream)?, &*of(srcStream)?);
        Ok(())
    }

    fn cudaStreamCopyAttributes_ptsz(dst: cudaStream_t, src: cudaStream_t) {
        ready()?;
        let of = |stream: cudaStream_t| stream_handle::resolve(stream as usize, DefaultStream::PerThread);
        copy_attributes(&*of(dst)?, &*of(src)?);
        Ok(())
    }

    fn cudaStreamGetDevice, cudaStreamGetDevice_ptsz(default; hStream: cudaStream_t, device: *mut c_int) {
        ready()?;
        stream_handle::resolve(hStream as usize, default)?;
        // SAFETY: the caller promises that `device` is null or valid to write.
        unsafe { put(device, 0) }
    }
}
