//! Arrays and copies from and to them.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use device::texture::Component;

use super::transfer::{In, copy, rows};
use super::{export_runtime, ready};
use crate::abi::runtime::*;
use crate::api::array::{self, ARRAYS, Array, Description, PYRAMIDS};
use crate::api::copy::Wait;
use crate::error::{CudaError, Result};
use crate::ffi::{get, put, put_if};
use crate::transfer::Extent;

/// What the elements of an array are.
pub(crate) fn format(desc: &cudaChannelFormatDesc) -> Result<(Component, u32)> {
    let bits = [desc.x, desc.y, desc.z, desc.w];
    let channels = bits.iter().take_while(|&&bits| bits != 0).count() as u32;
    let is_regular = bits.iter().take(channels as usize).all(|&other| other == desc.x);
    let component = match (desc.f, desc.x) {
        (cudaChannelFormatKindUnsigned, 8) => Component::U8,
        (cudaChannelFormatKindSigned, 8) => Component::S8,
        (cudaChannelFormatKindUnsigned, 16) => Component::U16,
        (cudaChannelFormatKindSigned, 16) => Component::S16,
        (cudaChannelFormatKindUnsigned, 32) => Component::U32,
        (cudaChannelFormatKindSigned, 32) => Component::S32,
        (cudaChannelFormatKindFloat, 16) => Component::F16,
        (cudaChannelFormatKindFloat, 32) => Component::F32,
        _ => return Err(CudaError::INVALID_CHANNEL_DESCRIPTOR),
    };
    if is_regular && matches!(channels, 1 | 2 | 4) {
        Ok((component, channels))
    } else {
        Err(CudaError::INVALID_CHANNEL_DESCRIPTOR)
    }
}

/// The description of elements for C programs.
fn channels(array: &Array) -> cudaChannelFormatDesc {
    let Description { component, channels, .. } = array.description;
    let bits = (component.bytes() * 8) as c_int;
    let of = |channel| if channels > channel { bits } else { 0 };
    let f = match component {
        Component::U8 | Component::U16 | Component::U32 => cudaChannelFormatKindUnsigned,
        Component::S8 | Component::S16 | Component::S32 => cudaChannelFormatKindSigned,
        Component::F16 | Component::F32 => cudaChannelFormatKindFloat,
    };
    cudaChannelFormatDesc { x: of(0), y: of(1), z: of(2), w: of(3), f }
}

/// # Safety
/// `desc` must be null or valid to read.
unsafe fn describe(desc: *const cudaChannelFormatDesc, extent: cudaExtent, flags: c_uint) -> Result<Description> {
    ready()?;
    // SAFETY: the caller promises that `desc` is null or valid to read.
    let (component, channels) = format(unsafe { get(desc) }?)?;
    Ok(Description {
        size: [extent.width, extent.height, extent.depth],
        component,
        channels,
        is_layered: flags & cudaArrayLayered != 0,
        is_cube: flags & cudaArrayCubemap != 0,
        flags,
    })
}

pub(crate) fn of(array: *const cudaArray) -> Result<Arc<Array>> {
    ARRAYS.get(array as usize)
}

/// Copies between rows of memory and an array; `to_array` says which way.
///
/// # Safety
/// Both sides of the copy must be valid until it has run.
unsafe fn copy_rows(
    (array, x, y): (*const cudaArray, usize, usize),
    (memory, pitch): (*const c_void, usize),
    (width, height): (usize, usize),
    to_array: bool,
    kind: cudaMemcpyKind,
    stream: In,
    wait: Wait,
) -> Result<()> {
    ready()?;
    let extent = Extent { width: width as u64, height: height as u64, depth: 1 };
    let place = of(array)?.side([x as u64, y as u64, 0], &extent)?;
    let memory = rows(memory, pitch);
    if to_array {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(memory, place, extent, kind, stream, wait) }
    } else {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(place, memory, extent, kind, stream, wait) }
    }
}

/// Copies bytes that fill row after row of an array.
///
/// # Safety
/// Both sides of the copy must be valid until it has run.
unsafe fn copy_flat(
    (array, x, y): (*const cudaArray, usize, usize),
    memory: *const c_void,
    count: usize,
    to_array: bool,
    kind: cudaMemcpyKind,
    stream: In,
    wait: Wait,
) -> Result<()> {
    ready()?;
    let row = of(array)?.row_bytes() as usize;
    let (mut left, mut at, mut x, mut y) = (count, memory as usize, x, y);
    while left > 0 {
        let width = left.min(row.saturating_sub(x));
        if width == 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_rows((array, x, y), (at as *const c_void, 0), (width, 1), to_array, kind, stream, wait) }?;
        (left, at, x, y) = (left - width, at + width, 0, y + 1);
    }
    Ok(())
}

export_runtime! {
    fn cudaMallocArray(
        array: *mut cudaArray_t,
        desc: *const cudaChannelFormatDesc,
        width: usize,
        height: usize,
        flags: c_uint,
    ) {
        // SAFETY: the caller promises that `desc` is null or valid to read.
        let made = array::create(unsafe { describe(desc, cudaExtent { width, height, depth: 0 }, flags) }?)?;
        // SAFETY: the caller promises that `array` is null or valid to write.
        unsafe { put(array, made.handle.number() as cudaArray_t) }
    }

    fn cudaMalloc3DArray(
        array: *mut cudaArray_t,
        desc: *const cudaChannelFormatDesc,
        extent: cudaExtent,
        flags: c_uint,
    ) {
        // SAFETY: the caller promises that `desc` is null or valid to read.
        let made = array::create(unsafe { describe(desc, extent, flags) }?)?;
        // SAFETY: the caller promises that `array` is null or valid to write.
        unsafe { put(array, made.handle.number() as cudaArray_t) }
    }

    fn cudaFreeArray(array: cudaArray_t) {
        ready()?;
        if array.is_null() {
            return Ok(());
        }
        crate::api::context::require()?.synchronize()?;
        ARRAYS.destroy(array as usize).map(drop)
    }

    fn cudaMallocMipmappedArray(
        mipmappedArray: *mut cudaMipmappedArray_t,
        desc: *const cudaChannelFormatDesc,
        extent: cudaExtent,
        numLevels: c_uint,
        flags: c_uint,
    ) {
        // SAFETY: the caller promises that `desc` is null or valid to read.
        let made = array::create_pyramid(unsafe { describe(desc, extent, flags) }?, numLevels)?;
        // SAFETY: the caller promises that `mipmappedArray` is null or valid to write.
        unsafe { put(mipmappedArray, made.handle.number() as cudaMipmappedArray_t) }
    }

    fn cudaGetMipmappedArrayLevel(
        levelArray: *mut cudaArray_t,
        mipmappedArray: cudaMipmappedArray_const_t,
        level: c_uint,
    ) {
        ready()?;
        let pyramid = PYRAMIDS.get(mipmappedArray as usize)?;
        let array = pyramid.levels.get(level as usize).ok_or(CudaError::INVALID_VALUE)?;
        // SAFETY: the caller promises that `levelArray` is null or valid to write.
        unsafe { put(levelArray, array.handle.number() as cudaArray_t) }
    }

    fn cudaFreeMipmappedArray(mipmappedArray: cudaMipmappedArray_t) {
        ready()?;
        crate::api::context::require()?.synchronize()?;
        array::destroy_pyramid(mipmappedArray as usize)
    }

    fn cudaArrayGetInfo(
        desc: *mut cudaChannelFormatDesc,
        extent: *mut cudaExtent,
        flags: *mut c_uint,
        array: cudaArray_t,
    ) {
        ready()?;
        let array = of(array)?;
        let [width, height, depth] = array.description.size;
        // SAFETY: the caller promises that `desc`, `extent` and `flags` are null or valid to write.
        unsafe {
            put_if(desc, channels(&array));
            put_if(extent, cudaExtent { width, height, depth });
            put_if(flags, array.description.flags);
        }
        Ok(())
    }

    fn cudaGetChannelDesc(desc: *mut cudaChannelFormatDesc, array: cudaArray_const_t) {
        ready()?;
        let array = of(array)?;
        // SAFETY: the caller promises that `desc` is null or valid to write.
        unsafe { put(desc, channels(&array)) }
    }

    fn cudaMemcpy2DToArray, cudaMemcpy2DToArray_ptds(
        default;
        dst: cudaArray_t,
        wOffset: usize,
        hOffset: usize,
        src: *const c_void,
        spitch: usize,
        width: usize,
        height: usize,
        kind: cudaMemcpyKind,
    ) {
        let stream = (std::ptr::null_mut(), default);
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_rows((dst, wOffset, hOffset), (src, spitch), (width, height), true, kind, stream, Wait::Yes) }
    }

    fn cudaMemcpy2DToArrayAsync, cudaMemcpy2DToArrayAsync_ptsz(
        default;
        dst: cudaArray_t,
        wOffset: usize,
        hOffset: usize,
        src: *const c_void,
        spitch: usize,
        width: usize,
        height: usize,
        kind: cudaMemcpyKind,
        stream: cudaStream_t,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_rows((dst, wOffset, hOffset), (src, spitch), (width, height), true, kind, (stream, default), Wait::No) }
    }

    fn cudaMemcpy2DFromArray, cudaMemcpy2DFromArray_ptds(
        default;
        dst: *mut c_void,
        dpitch: usize,
        src: cudaArray_const_t,
        wOffset: usize,
        hOffset: usize,
        width: usize,
        height: usize,
        kind: cudaMemcpyKind,
    ) {
        let stream = (std::ptr::null_mut(), default);
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_rows((src, wOffset, hOffset), (dst, dpitch), (width, height), false, kind, stream, Wait::Yes) }
    }

    fn cudaMemcpy2DFromArrayAsync, cudaMemcpy2DFromArrayAsync_ptsz(
        default;
        dst: *mut c_void,
        dpitch: usize,
        src: cudaArray_const_t,
        wOffset: usize,
        hOffset: usize,
        width: usize,
        height: usize,
        kind: cudaMemcpyKind,
        stream: cudaStream_t,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_rows((src, wOffset, hOffset), (dst, dpitch), (width, height), false, kind, (stream, default), Wait::No) }
    }

    fn cudaMemcpy2DArrayToArray, cudaMemcpy2DArrayToArray_ptds(
        default;
        dst: cudaArray_t,
        wOffsetDst: usize,
        hOffsetDst: usize,
        src: cudaArray_const_t,
        wOffsetSrc: usize,
        hOffsetSrc: usize,
        width: usize,
        height: usize,
        kind: cudaMemcpyKind,
    ) {
        ready()?;
        let extent = Extent { width: width as u64, height: height as u64, depth: 1 };
        let from = of(src)?.side([wOffsetSrc as u64, hOffsetSrc as u64, 0], &extent)?;
        let to = of(dst)?.side([wOffsetDst as u64, hOffsetDst as u64, 0], &extent)?;
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(from, to, extent, kind, (std::ptr::null_mut(), default), Wait::Yes) }
    }

    fn cudaMemcpyToArray, cudaMemcpyToArray_ptds(
        default;
        dst: cudaArray_t,
        wOffset: usize,
        hOffset: usize,
        src: *const c_void,
        count: usize,
        kind: cudaMemcpyKind,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_flat((dst, wOffset, hOffset), src, count, true, kind, (std::ptr::null_mut(), default), Wait::Yes) }
    }

    fn cudaMemcpyToArrayAsync, cudaMemcpyToArrayAsync_ptsz(
        default;
        dst: cudaArray_t,
        wOffset: usize,
        hOffset: usize,
        src: *const c_void,
        count: usize,
        kind: cudaMemcpyKind,
        stream: cudaStream_t,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_flat((dst, wOffset, hOffset), src, count, true, kind, (stream, default), Wait::No) }
    }

    fn cudaMemcpyFromArray, cudaMemcpyFromArray_ptds(
        default;
        dst: *mut c_void,
        src: cudaArray_const_t,
        wOffset: usize,
        hOffset: usize,
        count: usize,
        kind: cudaMemcpyKind,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_flat((src, wOffset, hOffset), dst, count, false, kind, (std::ptr::null_mut(), default), Wait::Yes) }
    }

    fn cudaMemcpyFromArrayAsync, cudaMemcpyFromArrayAsync_ptsz(
        default;
        dst: *mut c_void,
        src: cudaArray_const_t,
        wOffset: usize,
        hOffset: usize,
        count: usize,
        kind: cudaMemcpyKind,
        stream: cudaStream_t,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_flat((src, wOffset, hOffset), dst, count, false, kind, (stream, default), Wait::No) }
    }
}

/// Describes the elements of an array.
///
/// # Safety
/// None.
pub unsafe extern "C" fn cudaCreateChannelDesc(
    x: c_int,
    y: c_int,
    z: c_int,
    w: c_int,
    f: cudaChannelFormatKind,
) -> cudaChannelFormatDesc {
    cudaChannelFormatDesc { x, y, z, w, f }
}
