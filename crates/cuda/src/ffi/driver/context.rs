//! Contexts.

use std::ffi::{c_int, c_uint, c_ulonglong};
use std::ptr;
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use crate::abi::driver::{CUcontext, CUctxCreateParams, CUdevice, CUexecAffinityParam, CUfunc_cache, CUlimit};
use crate::api::context::{self, CONTEXTS, Context, LIMITS};
use crate::api::reach::Reach;
use crate::api::{capture, carveout, device, output, primary_context};
use crate::error::{CudaError, Result};
use crate::ffi::driver::general::VERSION;
use crate::ffi::{export, put, put_if};

fn raw(context: Option<&Arc<Context>>) -> CUcontext {
    context.map_or(ptr::null_mut(), |context| context.handle.number() as CUcontext)
}

fn of(handle: CUcontext) -> Result<Arc<Context>> {
    if handle.is_null() {
        return context::require();
    }
    CONTEXTS.get(handle as usize).map_err(|_| CudaError::INVALID_CONTEXT)
}

/// # Safety
/// `pctx` must be null or valid to write.
unsafe fn create(pctx: *mut CUcontext, flags: c_uint, dev: CUdevice) -> Result<()> {
    let device = device::check(dev)?;
    if pctx.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    let context = context::create(device, flags)?;
    // SAFETY: the caller promises that `pctx` is null or valid to write.
    unsafe { put(pctx, raw(Some(&context))) }
}

/// # Safety
/// `pctx` must be null or valid to write.
unsafe fn pop(pctx: *mut CUcontext) -> Result<()> {
    let context = context::pop()?;
    // SAFETY: the caller promises that `pctx` is null or valid to write.
    unsafe { put_if(pctx, raw(Some(&context))) };
    Ok(())
}

/// What this thread's context reaches, and the device of another context.
fn peers(peer: CUcontext) -> Result<(Arc<Reach>, usize)> {
    let context = context::require()?;
    let peer = CONTEXTS.get(peer as usize).map_err(|_| CudaError::INVALID_CONTEXT)?;
    if peer.handle.number() == context.handle.number() {
        return Err(CudaError::INVALID_CONTEXT);
    }
    Ok((Arc::clone(&context.reach), peer.device()))
}

fn synchronize(context: &Arc<Context>) -> Result<()> {
    capture::refuse_in(context.handle.number())?;
    let result = context.synchronize();
    output::flush();
    result
}

export! {
    fn cuCtxCreate_v2(pctx: *mut CUcontext, flags: c_uint, dev: CUdevice) {
        // SAFETY: the caller promises that `pctx` is null or valid to write.
        unsafe { create(pctx, flags, dev) }
    }

    fn cuCtxCreate_v3(
        pctx: *mut CUcontext,
        paramsArray: *mut CUexecAffinityParam,
        numParams: c_int,
        flags: c_uint,
        dev: CUdevice,
    ) {
        let _ = (paramsArray, numParams);
        // SAFETY: the caller promises that `pctx` is null or valid to write.
        unsafe { create(pctx, flags, dev) }
    }

    fn cuCtxCreate_v4(pctx: *mut CUcontext, ctxCreateParams: *mut CUctxCreateParams, flags: c_uint, dev: CUdevice) {
        let _ = ctxCreateParams;
        // SAFETY: the caller promises that `pctx` is null or valid to write.
        unsafe { create(pctx, flags, dev) }
    }

    fn cuCtxDestroy_v2(ctx: CUcontext) {
        context::destroy(ctx as usize).map_err(|_| CudaError::INVALID_CONTEXT)
    }

    fn cuCtxPushCurrent_v2(ctx: CUcontext) {
        context::push(CONTEXTS.get(ctx as usize).map_err(|_| CudaError::INVALID_CONTEXT)?);
        Ok(())
    }

    fn cuCtxPopCurrent_v2(pctx: *mut CUcontext) {
        // SAFETY: the caller promises that `pctx` is null or valid to write.
        unsafe { pop(pctx) }
    }

    fn cuCtxSetCurrent(ctx: CUcontext) {
        crate::driver::get()?;
        context::set_current(if ctx.is_null() { None } else { Some(of(ctx)?) });
        Ok(())
    }

    fn cuCtxGetCurrent(pctx: *mut CUcontext) {
        crate::driver::get()?;
        // SAFETY: the caller promises that `pctx` is null or valid to write.
        unsafe { put(pctx, raw(context::current().as_ref())) }
    }

    fn cuCtxGetDevice(out: *mut CUdevice) {
        let context = context::require()?;
        // SAFETY: the caller promises that `out` is null or valid to write.
        unsafe { put(out, context.device() as CUdevice) }
    }

    fn cuCtxGetDevice_v2(out: *mut CUdevice, ctx: CUcontext) {
        let context = of(ctx)?;
        // SAFETY: the caller promises that `out` is null or valid to write.
        unsafe { put(out, context.device() as CUdevice) }
    }

    fn cuCtxGetFlags(flags: *mut c_uint) {
        let context = context::require()?;
        // SAFETY: the caller promises that `flags` is null or valid to write.
        unsafe { put(flags, context.flags.load(Ordering::Relaxed)) }
    }

    fn cuCtxSetFlags(flags: c_uint) {
        context::require()?.flags.store(flags, Ordering::Relaxed);
        Ok(())
    }

    fn cuCtxGetId(ctx: CUcontext, ctxId: *mut c_ulonglong) {
        let context = of(ctx)?;
        // SAFETY: the caller promises that `ctxId` is null or valid to write.
        unsafe { put(ctxId, context.handle.number() as c_ulonglong) }
    }

    fn cuCtxSynchronize() {
        synchronize(&context::require()?)
    }

    fn cuCtxSynchronize_v2(ctx: CUcontext) {
        synchronize(&of(ctx)?)
    }

    fn cuCtxGetApiVersion(ctx: CUcontext, version: *mut c_uint) {
        of(ctx)?;
        // SAFETY: the caller promises that `version` is null or valid to write.
        unsafe { put(version, VERSION as c_uint) }
    }

    fn cuCtxGetLimit(pvalue: *mut usize, limit: CUlimit) {
        let context = context::require()?;
        let limits = context.limits.lock().unwrap_or_else(PoisonError::into_inner);
        let value = limits.get(limit as usize).ok_or(CudaError::INVALID_VALUE)?;
        // SAFETY: the caller promises that `pvalue` is null or valid to write.
        unsafe { put(pvalue, *value as usize) }
    }

    fn cuCtxSetLimit(limit: CUlimit, value: usize) {
        let context = context::require()?;
        if limit as usize >= LIMITS {
            return Err(CudaError::INVALID_VALUE);
        }
        context.limits.lock().unwrap_or_else(PoisonError::into_inner)[limit as usize] = value as u64;
        Ok(())
    }

    fn cuCtxGetCacheConfig(pconfig: *mut CUfunc_cache) {
        context::require()?;
        // SAFETY: the caller promises that `pconfig` is null or valid to write.
        unsafe { put(pconfig, carveout::of_all()) }
    }

    fn cuCtxSetCacheConfig(config: CUfunc_cache) {
        context::require()?;
        carveout::set_of_all(config)
    }

    fn cuCtxGetStreamPriorityRange(leastPriority: *mut c_int, greatestPriority: *mut c_int) {
        context::require()?;
        // SAFETY: the caller promises that `leastPriority` and `greatestPriority` are null or valid to write.
        unsafe {
            put_if(leastPriority, 0);
            put_if(greatestPriority, -5);
        }
        Ok(())
    }

    fn cuDevicePrimaryCtxRetain(pctx: *mut CUcontext, dev: CUdevice) {
        let context = primary_context::retain(device::check(dev)?)?;
        // SAFETY: the caller promises that `pctx` is null or valid to write.
        unsafe { put(pctx, raw(Some(&context))) }
    }

    fn cuDevicePrimaryCtxRelease_v2(dev: CUdevice) {
        primary_context::release(device::check(dev)?)
    }

    fn cuDevicePrimaryCtxReset_v2(dev: CUdevice) {
        primary_context::reset(device::check(dev)?);
        Ok(())
    }

    fn cuDevicePrimaryCtxSetFlags_v2(dev: CUdevice, flags: c_uint) {
        primary_context::set_flags(device::check(dev)?, flags);
        Ok(())
    }

    fn cuDevicePrimaryCtxGetState(dev: CUdevice, flags: *mut c_uint, active: *mut c_int) {
        let device = device::check(dev)?;
        // SAFETY: the caller promises that `flags` and `active` are null or valid to write.
        unsafe {
            put(flags, primary_context::flags(device))?;
            put(active, primary_context::get(device).is_some().into())
        }
    }

    fn cuCtxEnablePeerAccess(peerContext: CUcontext, Flags: c_uint) {
        let (reach, peer) = peers(peerContext)?;
        if Flags != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        if device::can_access_peer(reach.device, peer) { reach.enable(peer) } else { Err(CudaError::PEER_ACCESS_UNSUPPORTED) }
    }

    fn cuCtxDisablePeerAccess(peerContext: CUcontext) {
        let (reach, peer) = peers(peerContext)?;
        reach.disable(peer)
    }

    fn cuCtxDestroy(ctx: CUcontext) {
        context::destroy(ctx as usize).map_err(|_| CudaError::INVALID_CONTEXT)
    }

    fn cuCtxPushCurrent(ctx: CUcontext) {
        context::push(of(ctx)?);
        Ok(())
    }

    fn cuCtxPopCurrent(pctx: *mut CUcontext) {
        // SAFETY: the caller promises that `pctx` is null or valid to write.
        unsafe { pop(pctx) }
    }

    fn cuDevicePrimaryCtxRelease(dev: CUdevice) {
        primary_context::release(device::check(dev)?)
    }

    fn cuDevicePrimaryCtxReset(dev: CUdevice) {
        primary_context::reset(device::check(dev)?);
        Ok(())
    }

    fn cuCtxResetPersistingL2Cache() {
        context::require().map(drop)
    }
}
