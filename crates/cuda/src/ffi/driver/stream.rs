//! Streams and calls back to the program.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::PoisonError;

use crate::abi::driver::*;
use crate::api::event::EVENTS;
use crate::api::output;
use crate::api::stream::{self, DefaultStream, Kind};
use crate::api::work::{HostCall, Work};
use crate::error::{CudaError, Result};
use crate::ffi::{export, get, put};

fn create(out: *mut CUstream, flags: c_uint, priority: c_int) -> Result<()> {
    if out.is_null() || flags & !CU_STREAM_NON_BLOCKING != 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let kind = if flags == CU_STREAM_NON_BLOCKING { Kind::NonBlocking } else { Kind::Blocking };
    let stream = stream::create(kind, priority)?;
    // SAFETY: as the manual says.
    unsafe { put(out, stream.handle.number() as CUstream) }
}

/// What the program gave to be called with. It may be called on another thread: that is what it is for.
struct UserData(*mut c_void);
// SAFETY: the program hands it over for that.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl UserData {
    fn pointer(&self) -> *mut c_void {
        self.0
    }
}

/// A call of a function of the program.
pub(crate) fn host_call(function: CUhostFn, data: *mut c_void) -> Result<HostCall> {
    let function = function.ok_or(CudaError::INVALID_VALUE)?;
    let held = UserData(data);
    // SAFETY: the program gave the function to be called with this.
    Ok(HostCall::new(function as usize, data as usize, move || unsafe { function(held.pointer()) }))
}

/// Calls a function of the program in a stream.
pub(crate) fn call_host(stream: &stream::Stream, function: CUhostFn, data: *mut c_void) -> Result<()> {
    stream.push(Work::Call(host_call(function, data)?))
}

/// Calls a function of the program in a stream, with the state that the stream is in.
pub(crate) fn add_callback(
    stream: &stream::Stream,
    handle: CUstream,
    callback: CUstreamCallback,
    data: *mut c_void,
) -> Result<()> {
    let callback = callback.ok_or(CudaError::INVALID_VALUE)?;
    stream.refuse_capture()?;
    let (held, handle) = (UserData(data), handle as usize);
    let call = move || {
        let status = crate::driver::fault().map_or(0, CudaError::code);
        // SAFETY: the program gave the function to be called with this.
        unsafe { callback(handle as CUstream, status, held.pointer()) };
    };
    stream.push(Work::Call(HostCall::new(callback as usize, data as usize, call)))
}

/// A value of an attribute: 64 bytes, of which the attribute says what they are.
pub(crate) type AttributeValue = [u64; 8];

/// What the program set, or zero; the priority is always known.
pub(crate) fn attribute(stream: &stream::Stream, attribute: CUstreamAttrID) -> AttributeValue {
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
pub(crate) fn set_attribute(stream: &stream::Stream, attribute: CUstreamAttrID, value: AttributeValue) {
    stream.attributes.lock().unwrap_or_else(PoisonError::into_inner).insert(attribute, value);
}

pub(crate) fn copy_attributes(to: &stream::Stream, from: &stream::Stream) {
    let attributes = from.attributes.lock().unwrap_or_else(PoisonError::into_inner).clone();
    *to.attributes.lock().unwrap_or_else(PoisonError::into_inner) = attributes;
}

export! {
    fn cuStreamCreate(phStream: *mut CUstream, Flags: c_uint) {
        create(phStream, Flags, 0)
    }

    fn cuStreamCreateWithPriority(phStream: *mut CUstream, flags: c_uint, priority: c_int) {
        create(phStream, flags, priority.clamp(-5, 0))
    }

    fn cuStreamDestroy_v2(hStream: CUstream) {
        stream::destroy(hStream as usize)
    }

    fn cuStreamSynchronize, cuStreamSynchronize_ptsz(default; hStream: CUstream) {
        let result = stream::resolve(hStream as usize, default)?.synchronize();
        output::flush();
        result
    }

    fn cuStreamQuery, cuStreamQuery_ptsz(default; hStream: CUstream) {
        stream::resolve(hStream as usize, default)?.query()
    }

    fn cuStreamWaitEvent, cuStreamWaitEvent_ptsz(default; hStream: CUstream, hEvent: CUevent, Flags: c_uint) {
        let becomes_node = Flags & CU_EVENT_WAIT_EXTERNAL != 0;
        EVENTS.get(hEvent as usize)?.hold_up(&*stream::resolve(hStream as usize, default)?, becomes_node)
    }

    fn cuStreamGetPriority, cuStreamGetPriority_ptsz(default; hStream: CUstream, priority: *mut c_int) {
        let stream = stream::resolve(hStream as usize, default)?;
        // SAFETY: as the manual says.
        unsafe { put(priority, stream.priority) }
    }

    fn cuStreamGetFlags, cuStreamGetFlags_ptsz(default; hStream: CUstream, flags: *mut c_uint) {
        let stream = stream::resolve(hStream as usize, default)?;
        let value = if stream.kind == Kind::NonBlocking { CU_STREAM_NON_BLOCKING } else { 0 };
        // SAFETY: as the manual says.
        unsafe { put(flags, value) }
    }

    fn cuStreamGetId, cuStreamGetId_ptsz(default; hStream: CUstream, streamId: *mut c_ulonglong) {
        let stream = stream::resolve(hStream as usize, default)?;
        // SAFETY: as the manual says.
        unsafe { put(streamId, stream.id) }
    }

    fn cuStreamGetCtx, cuStreamGetCtx_ptsz(default; hStream: CUstream, pctx: *mut CUcontext) {
        let context = stream::resolve(hStream as usize, default)?.context()?;
        // SAFETY: as the manual says.
        unsafe { put(pctx, context.handle.number() as CUcontext) }
    }

    fn cuStreamGetDevice, cuStreamGetDevice_ptsz(default; hStream: CUstream, device: *mut CUdevice) {
        stream::resolve(hStream as usize, default)?;
        // SAFETY: as the manual says.
        unsafe { put(device, 0) }
    }

    fn cuLaunchHostFunc, cuLaunchHostFunc_ptsz(
        default;
        hStream: CUstream,
        r#fn: CUhostFn,
        userData: *mut c_void,
    ) {
        call_host(&*stream::resolve(hStream as usize, default)?, r#fn, userData)
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
        add_callback(&*stream::resolve(hStream as usize, default)?, hStream, callback, userData)
    }

    fn cuStreamGetAttribute(hStream: CUstream, attr: CUstreamAttrID, value: *mut CUstreamAttrValue) {
        let stream = stream::resolve(hStream as usize, DefaultStream::Legacy)?;
        // SAFETY: as the manual says.
        unsafe { put(value.cast(), attribute(&stream, attr)) }
    }

    fn cuStreamGetAttribute_ptsz(hStream: CUstream, attr: CUstreamAttrID, value_out: *mut CUstreamAttrValue) {
        let stream = stream::resolve(hStream as usize, DefaultStream::PerThread)?;
        // SAFETY: as the manual says.
        unsafe { put(value_out.cast(), attribute(&stream, attr)) }
    }

    fn cuStreamSetAttribute(hStream: CUstream, attr: CUstreamAttrID, param: *const CUstreamAttrValue) {
        let stream = stream::resolve(hStream as usize, DefaultStream::Legacy)?;
        // SAFETY: as the manual says.
        set_attribute(&stream, attr, *unsafe { get(param.cast()) }?);
        Ok(())
    }

    fn cuStreamSetAttribute_ptsz(hStream: CUstream, attr: CUstreamAttrID, value: *const CUstreamAttrValue) {
        let stream = stream::resolve(hStream as usize, DefaultStream::PerThread)?;
        // SAFETY: as the manual says.
        set_attribute(&stream, attr, *unsafe { get(value.cast()) }?);
        Ok(())
    }

    fn cuStreamCopyAttributes(dstStream: CUstream, srcStream: CUstream) {
        let of = |stream: CUstream| stream::resolve(stream as usize, DefaultStream::Legacy);
        copy_attributes(&*of(dstStream)?, &*of(srcStream)?);
        Ok(())
    }

    fn cuStreamCopyAttributes_ptsz(dst: CUstream, src: CUstream) {
        let of = |stream: CUstream| stream::resolve(stream as usize, DefaultStream::PerThread);
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
        stream::resolve(hStream as usize, default).map(drop)
    }

    fn cuStreamDestroy(hStream: CUstream) {
        stream::destroy(hStream as usize)
    }
}
