//! Copies and fills.

use std::ffi::{c_int, c_void};

use super::{export_runtime, ready};
use crate::abi::runtime::*;
use crate::api::array::ARRAYS;
use crate::api::copy::{self, Wait};
use crate::api::registry;
use crate::api::stream_handle::{self, DefaultStream};
use crate::error::{CudaError, Result};
use crate::ffi::driver::transfer::copy_batch;
use crate::ffi::get;
use crate::transfer::{Copy, Extent, Fill, Pattern, Side};

/// A stream as a program names it, and what it means by 0.
pub(crate) type In = (cudaStream_t, DefaultStream);

/// Copies rows, in the direction that the program says.
///
/// # Safety
/// Both sides of the copy must be valid until it has run.
pub(crate) unsafe fn copy(
    from: Side,
    to: Side,
    extent: Extent,
    kind: cudaMemcpyKind,
    stream: In,
    wait: Wait,
) -> Result<()> {
    // SAFETY: the caller promises that both sides of the copy are valid until it has run.
    let copy = unsafe { copy_of(from, to, extent, kind) }?;
    copy::copy(&*stream_handle::resolve(stream.0 as usize, stream.1)?, copy, wait)
}

/// A copy in the direction that the program says.
///
/// # Safety
/// Both sides of the copy must be valid until it has run.
pub(crate) unsafe fn copy_of(from: Side, to: Side, extent: Extent, kind: cudaMemcpyKind) -> Result<Copy> {
    ready()?;
    if !(cudaMemcpyHostToHost..=cudaMemcpyDefault).contains(&kind) {
        return Err(CudaError::INVALID_MEMCPY_DIRECTION);
    }
    check_direction(&from, &to, &extent, kind)?;
    // SAFETY: the caller promises that both sides of the copy are valid until it has run.
    Ok(unsafe { Copy::new(from, to, extent) })
}

/// A direction that does not fit the pointers is an error: on a GPU the copy would fail.
fn check_direction(from: &Side, to: &Side, extent: &Extent, kind: cudaMemcpyKind) -> Result<()> {
    if extent.is_empty() {
        return Ok(());
    }
    let from_device = matches!(kind, cudaMemcpyDeviceToHost | cudaMemcpyDeviceToDevice);
    let to_device = matches!(kind, cudaMemcpyHostToDevice | cudaMemcpyDeviceToDevice);
    if kind == cudaMemcpyDefault {
        return Ok(());
    }
    // Of two sides that are wrong, the one is told that is refused.
    let mut sides = [(from, false, from_device), (to, true, to_device)];
    sides.sort_by_key(|&(.., wants_device)| !wants_device);
    for (side, is_target, wants_device) in sides {
        copy::check_direction(side.address, is_target, wants_device)?;
    }
    Ok(())
}

pub(crate) fn rows(address: *const c_void, pitch: usize) -> Side {
    Side { address: address as u64, row_pitch: pitch as u64, slice_pitch: 0 }
}

fn extent(width: usize, height: usize) -> Extent {
    Extent { width: width as u64, height: height as u64, depth: 1 }
}

/// Part of a variable.
pub(crate) fn symbol(symbol: *const c_void, offset: usize, count: usize) -> Result<Side> {
    ready()?;
    let (address, bytes) = registry::variable(symbol as usize)?;
    let end = (offset as u64).checked_add(count as u64).ok_or(CudaError::INVALID_VALUE)?;
    if end > bytes { Err(CudaError::INVALID_VALUE) } else { Ok(Side::linear(address + offset as u64)) }
}

/// # Safety
/// What is filled must be valid until that is done.
unsafe fn fill(to: Side, extent: Extent, value: c_int, stream: In, wait: Wait) -> Result<()> {
    ready()?;
    let stream = stream_handle::resolve(stream.0 as usize, stream.1)?;
    // SAFETY: the caller promises that what is filled is valid until that is done.
    let fill = unsafe { Fill::new(to, extent, Pattern::Byte(value as u8)) };
    copy::fill(&stream, fill, wait)
}

/// One side of a copy of a box.
fn side_3d(array: cudaArray_t, position: cudaPos, pointer: cudaPitchedPtr, extent: &Extent) -> Result<Side> {
    if array.is_null() {
        if pointer.ptr.is_null() && !extent.is_empty() {
            return Err(CudaError::INVALID_VALUE);
        }
        let row_pitch = pointer.pitch as u64;
        let slice_pitch = row_pitch.checked_mul(pointer.ysize as u64).ok_or(CudaError::INVALID_VALUE)?;
        let offset = (position.z as u64)
            .checked_mul(slice_pitch)
            .and_then(|slices| (position.y as u64).checked_mul(row_pitch)?.checked_add(slices))
            .and_then(|rows| rows.checked_add(position.x as u64))
            .ok_or(CudaError::INVALID_VALUE)?;
        let address = (pointer.ptr as u64).checked_add(offset).ok_or(CudaError::INVALID_VALUE)?;
        if !extent.is_empty() {
            copy::check_part(pointer.ptr as u64, address)?;
        }
        return Ok(Side { address, row_pitch, slice_pitch });
    }
    let array = ARRAYS.get(array as usize)?;
    let x = (position.x as u64).checked_mul(array.image.element_bytes()).ok_or(CudaError::INVALID_VALUE)?;
    array.side([x, position.y as u64, position.z as u64], extent)
}

/// A copy of a box.
///
/// # Safety
/// Both sides of the copy must be valid until it has run.
pub(crate) unsafe fn copy_of_box(params: &cudaMemcpy3DParms) -> Result<Copy> {
    ready()?;
    // With an array on either side, the width is in its elements.
    let array = if params.srcArray.is_null() { params.dstArray } else { params.srcArray };
    let element = if array.is_null() { 1 } else { ARRAYS.get(array as usize)?.image.element_bytes() };
    let width = (params.extent.width as u64).checked_mul(element).ok_or(CudaError::INVALID_VALUE)?;
    let extent = Extent { width, height: params.extent.height as u64, depth: params.extent.depth as u64 };
    let from = side_3d(params.srcArray, params.srcPos, params.srcPtr, &extent)?;
    let to = side_3d(params.dstArray, params.dstPos, params.dstPtr, &extent)?;
    // SAFETY: the caller promises that both sides of the copy are valid until it has run.
    unsafe { copy_of(from, to, extent, params.kind) }
}

/// The same copy without the devices, of which there is one.
fn without_devices(params: &cudaMemcpy3DPeerParms) -> Result<cudaMemcpy3DParms> {
    super::check_device(params.srcDevice)?;
    super::check_device(params.dstDevice)?;
    let &cudaMemcpy3DPeerParms { srcArray, srcPos, srcPtr, dstArray, dstPos, dstPtr, extent, .. } = params;
    let kind = cudaMemcpyDeviceToDevice;
    Ok(cudaMemcpy3DParms { srcArray, srcPos, srcPtr, dstArray, dstPos, dstPtr, extent, kind })
}

/// # Safety
/// Both sides of the copy must be valid until it has run.
unsafe fn copy_3d(params: &cudaMemcpy3DParms, stream: In, wait: Wait) -> Result<()> {
    // SAFETY: the caller promises that both sides of the copy are valid until it has run.
    let copy = unsafe { copy_of_box(params) }?;
    copy::copy(&*stream_handle::resolve(stream.0 as usize, stream.1)?, copy, wait)
}

/// # Safety
/// What is filled must be valid until that is done.
unsafe fn fill_3d(to: cudaPitchedPtr, value: c_int, extent: cudaExtent, stream: In, wait: Wait) -> Result<()> {
    let row_pitch = to.pitch as u64;
    let slice_pitch = row_pitch.checked_mul(to.ysize as u64).ok_or(CudaError::INVALID_VALUE)?;
    let side = Side { address: to.ptr as u64, row_pitch, slice_pitch };
    let extent = Extent { width: extent.width as u64, height: extent.height as u64, depth: extent.depth as u64 };
    // SAFETY: the caller promises that what is filled is valid until that is done.
    unsafe { fill(side, extent, value, stream, wait) }
}

export_runtime! {
    fn cudaMemcpy, cudaMemcpy_ptds(default; dst: *mut c_void, src: *const c_void, count: usize, kind: cudaMemcpyKind) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(rows(src, 0), rows(dst, 0), Extent::bytes(count as u64), kind, (std::ptr::null_mut(), default), Wait::Yes) }
    }

    fn cudaMemcpyAsync, cudaMemcpyAsync_ptsz(default; dst: *mut c_void, src: *const c_void, count: usize, kind: cudaMemcpyKind, stream: cudaStream_t) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(rows(src, 0), rows(dst, 0), Extent::bytes(count as u64), kind, (stream, default), Wait::No) }
    }

    fn cudaMemcpyPeer(dst: *mut c_void, dstDevice: c_int, src: *const c_void, srcDevice: c_int, count: usize) {
        super::check_device(dstDevice)?;
        super::check_device(srcDevice)?;
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(rows(src, 0), rows(dst, 0), Extent::bytes(count as u64), cudaMemcpyDeviceToDevice, (std::ptr::null_mut(), DefaultStream::Legacy), Wait::Yes) }
    }

    fn cudaMemcpyPeerAsync(dst: *mut c_void, dstDevice: c_int, src: *const c_void, srcDevice: c_int, count: usize, stream: cudaStream_t) {
        super::check_device(dstDevice)?;
        super::check_device(srcDevice)?;
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(rows(src, 0), rows(dst, 0), Extent::bytes(count as u64), cudaMemcpyDeviceToDevice, (stream, DefaultStream::Legacy), Wait::No) }
    }

    fn cudaMemcpy2D, cudaMemcpy2D_ptds(default; dst: *mut c_void, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: cudaMemcpyKind) {
        if width > dpitch || width > spitch {
            return Err(CudaError::INVALID_PITCH);
        }
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(rows(src, spitch), rows(dst, dpitch), extent(width, height), kind, (std::ptr::null_mut(), default), Wait::Yes) }
    }

    fn cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz(default; dst: *mut c_void, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: cudaMemcpyKind, stream: cudaStream_t) {
        if width > dpitch || width > spitch {
            return Err(CudaError::INVALID_PITCH);
        }
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(rows(src, spitch), rows(dst, dpitch), extent(width, height), kind, (stream, default), Wait::No) }
    }

    fn cudaMemcpyToSymbol, cudaMemcpyToSymbol_ptds(default; symbol: *const c_void, src: *const c_void, count: usize, offset: usize, kind: cudaMemcpyKind) {
        let to = self::symbol(symbol, offset, count)?;
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(rows(src, 0), to, Extent::bytes(count as u64), kind, (std::ptr::null_mut(), default), Wait::Yes) }
    }

    fn cudaMemcpyToSymbolAsync, cudaMemcpyToSymbolAsync_ptsz(default; symbol: *const c_void, src: *const c_void, count: usize, offset: usize, kind: cudaMemcpyKind, stream: cudaStream_t) {
        let to = self::symbol(symbol, offset, count)?;
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(rows(src, 0), to, Extent::bytes(count as u64), kind, (stream, default), Wait::No) }
    }

    fn cudaMemcpyFromSymbol, cudaMemcpyFromSymbol_ptds(default; dst: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: cudaMemcpyKind) {
        let from = self::symbol(symbol, offset, count)?;
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(from, rows(dst, 0), Extent::bytes(count as u64), kind, (std::ptr::null_mut(), default), Wait::Yes) }
    }

    fn cudaMemcpyFromSymbolAsync, cudaMemcpyFromSymbolAsync_ptsz(default; dst: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: cudaMemcpyKind, stream: cudaStream_t) {
        let from = self::symbol(symbol, offset, count)?;
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(from, rows(dst, 0), Extent::bytes(count as u64), kind, (stream, default), Wait::No) }
    }

    fn cudaMemcpy3D, cudaMemcpy3D_ptds(default; p: *const cudaMemcpy3DParms) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run, and `p` is null or valid
        // to read.
        unsafe { copy_3d(get(p)?, (std::ptr::null_mut(), default), Wait::Yes) }
    }

    fn cudaMemcpy3DAsync, cudaMemcpy3DAsync_ptsz(default; p: *const cudaMemcpy3DParms, stream: cudaStream_t) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run, and `p` is null or valid
        // to read.
        unsafe { copy_3d(get(p)?, (stream, default), Wait::No) }
    }

    fn cudaMemset, cudaMemset_ptds(default; devPtr: *mut c_void, value: c_int, count: usize) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill(rows(devPtr, 0), extent(count, 1), value, (std::ptr::null_mut(), default), Wait::Yes) }
    }

    fn cudaMemsetAsync, cudaMemsetAsync_ptsz(default; devPtr: *mut c_void, value: c_int, count: usize, stream: cudaStream_t) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill(rows(devPtr, 0), extent(count, 1), value, (stream, default), Wait::No) }
    }

    fn cudaMemset2D, cudaMemset2D_ptds(default; devPtr: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill(rows(devPtr, pitch), extent(width, height), value, (std::ptr::null_mut(), default), Wait::Yes) }
    }

    fn cudaMemset2DAsync, cudaMemset2DAsync_ptsz(default; devPtr: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize, stream: cudaStream_t) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill(rows(devPtr, pitch), extent(width, height), value, (stream, default), Wait::No) }
    }

    fn cudaMemset3D, cudaMemset3D_ptds(default; pitchedDevPtr: cudaPitchedPtr, value: c_int, extent: cudaExtent) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill_3d(pitchedDevPtr, value, extent, (std::ptr::null_mut(), default), Wait::Yes) }
    }

    fn cudaMemset3DAsync, cudaMemset3DAsync_ptsz(default; pitchedDevPtr: cudaPitchedPtr, value: c_int, extent: cudaExtent, stream: cudaStream_t) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill_3d(pitchedDevPtr, value, extent, (stream, default), Wait::No) }
    }

    fn cudaMemcpy3DPeer, cudaMemcpy3DPeer_ptds(default; p: *const cudaMemcpy3DPeerParms) {
        // SAFETY: the caller promises that `p` is null or valid to read.
        let params = without_devices(unsafe { get(p) }?)?;
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_3d(&params, (std::ptr::null_mut(), default), Wait::Yes) }
    }

    fn cudaMemcpy3DPeerAsync, cudaMemcpy3DPeerAsync_ptsz(
        default;
        p: *const cudaMemcpy3DPeerParms,
        stream: cudaStream_t,
    ) {
        // SAFETY: the caller promises that `p` is null or valid to read.
        let params = without_devices(unsafe { get(p) }?)?;
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_3d(&params, (stream, default), Wait::No) }
    }

    fn cudaMemcpyBatchAsync, cudaMemcpyBatchAsync_ptsz(
        default;
        dsts: *const *mut c_void,
        srcs: *const *const c_void,
        sizes: *const usize,
        count: usize,
        attrs: *mut cudaMemcpyAttributes,
        attrsIdxs: *mut usize,
        numAttrs: usize,
        stream: cudaStream_t,
    ) {
        let _ = (attrs, attrsIdxs, numAttrs);
        ready()?;
        let stream = stream_handle::resolve(stream as usize, default)?;
        // SAFETY: the caller promises that `dsts`, `srcs` and `sizes` are null or valid to read `count` elements.
        unsafe { copy_batch(&stream, dsts.cast(), srcs.cast(), sizes, count) }
    }

    fn cudaMemcpyBatchAsync_12, cudaMemcpyBatchAsync_ptsz_12(
        default;
        dsts: *mut *mut c_void,
        srcs: *mut *mut c_void,
        sizes: *mut usize,
        count: usize,
        attrs: *mut cudaMemcpyAttributes,
        attrsIdxs: *mut usize,
        numAttrs: usize,
        failIdx: *mut usize,
        stream: cudaStream_t,
    ) {
        let _ = (attrs, attrsIdxs, numAttrs, failIdx);
        ready()?;
        let stream = stream_handle::resolve(stream as usize, default)?;
        // SAFETY: the caller promises that `dsts`, `srcs` and `sizes` are null or valid to read `count` elements.
        unsafe { copy_batch(&stream, dsts.cast(), srcs.cast(), sizes, count) }
    }
}
