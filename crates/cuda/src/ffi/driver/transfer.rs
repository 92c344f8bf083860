//! Copies and fills.

use std::ffi::{c_uchar, c_uint, c_ushort, c_void};

use crate::abi::driver::*;
use crate::api::copy::{self, Wait};
use crate::api::stream;
use crate::api::stream_handle::{self, DefaultStream};
use crate::driver;
use crate::error::{CudaError, Result};
use crate::ffi::{export, get};
use crate::transfer::{Copy, Extent, Fill, Pattern, Side};

/// Copies bytes.
///
/// # Safety
/// Both sides of the copy must be valid until it has run.
unsafe fn copy(to: u64, from: u64, bytes: usize, stream: CUstream, default: DefaultStream, wait: Wait) -> Result<()> {
    // SAFETY: the caller promises that both sides of the copy are valid until it has run.
    unsafe { copy_row(Side::linear(to), Side::linear(from), bytes, stream, default, wait) }
}

/// Copies bytes of one row.
///
/// # Safety
/// Both sides of the copy must be valid until it has run.
unsafe fn copy_row(
    to: Side,
    from: Side,
    bytes: usize,
    stream: CUstream,
    default: DefaultStream,
    wait: Wait,
) -> Result<()> {
    let stream = stream_handle::resolve(stream as usize, default)?;
    // SAFETY: the caller promises that both sides of the copy are valid until it has run.
    let copy = unsafe { Copy::new(from, to, Extent::bytes(bytes as u64)) };
    copy::copy(&stream, copy, wait)
}

/// Copies several ranges, in any order. What is said of where they are is of no use here.
///
/// # Safety
/// Each list must be null or valid to read `count` elements, and what they name must be valid until it was copied.
pub(crate) unsafe fn copy_batch(
    stream: &stream::Stream,
    to: *const u64,
    from: *const u64,
    bytes: *const usize,
    count: usize,
) -> Result<()> {
    if to.is_null() || from.is_null() || bytes.is_null() || count == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    for index in 0..count {
        // SAFETY: the caller promises that no list is shorter, and that both sides of each copy are valid until it has run.
        let copy = unsafe {
            let (to, from, bytes) = (*to.add(index), *from.add(index), *bytes.add(index));
            Copy::new(Side::linear(from), Side::linear(to), Extent::bytes(bytes as u64))
        };
        copy::copy(stream, copy, Wait::No)?;
    }
    Ok(())
}

/// Part of an array of one dimension.
fn row(array: CUarray, offset: usize, bytes: usize) -> Result<Side> {
    crate::ffi::driver::array::side(array, [offset, 0, 0], &Extent::bytes(bytes as u64))
}

/// An address that the program says to be of the device, where so many bytes are copied.
fn device(address: CUdeviceptr, bytes: usize) -> Result<u64> {
    if bytes > 0 {
        driver::check()?;
        copy::check_device(address)?;
    }
    Ok(address)
}

/// The same copy without the contexts, which are all of one device.
fn without_contexts(params: &CUDA_MEMCPY3D_PEER) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcXInBytes: params.srcXInBytes,
        srcY: params.srcY,
        srcZ: params.srcZ,
        srcLOD: params.srcLOD,
        srcMemoryType: params.srcMemoryType,
        srcHost: params.srcHost,
        srcDevice: params.srcDevice,
        srcArray: params.srcArray,
        reserved0: std::ptr::null_mut(),
        srcPitch: params.srcPitch,
        srcHeight: params.srcHeight,
        dstXInBytes: params.dstXInBytes,
        dstY: params.dstY,
        dstZ: params.dstZ,
        dstLOD: params.dstLOD,
        dstMemoryType: params.dstMemoryType,
        dstHost: params.dstHost,
        dstDevice: params.dstDevice,
        dstArray: params.dstArray,
        reserved1: std::ptr::null_mut(),
        dstPitch: params.dstPitch,
        dstHeight: params.dstHeight,
        WidthInBytes: params.WidthInBytes,
        Height: params.Height,
        Depth: params.Depth,
    }
}

/// Fills rows of elements.
///
/// # Safety
/// What is filled must be valid until that is done.
unsafe fn fill(
    to: Side,
    (width, height): (usize, usize),
    pattern: Pattern,
    stream: CUstream,
    default: DefaultStream,
    wait: Wait,
) -> Result<()> {
    let stream = stream_handle::resolve(stream as usize, default)?;
    let width = (width as u64).checked_mul(pattern.bytes()).ok_or(CudaError::INVALID_VALUE)?;
    let extent = Extent { width, height: height as u64, depth: 1 };
    // SAFETY: the caller promises that what is filled is valid until that is done.
    let fill = unsafe { Fill::new(to, extent, pattern) };
    copy::fill(&stream, fill, wait)
}

fn rows(address: u64, pitch: usize) -> Side {
    Side { address, row_pitch: pitch as u64, slice_pitch: 0 }
}

/// One side of a copy in two or three dimensions.
struct CopySide {
    kind: CUmemorytype,
    host: u64,
    device: u64,
    array: CUarray,
    pitch: usize,
    height: usize,
    offset: [usize; 3],
}

impl CopySide {
    fn side(&self, extent: &Extent) -> Result<Side> {
        let base = match self.kind {
            CU_MEMORYTYPE_HOST => self.host,
            CU_MEMORYTYPE_DEVICE => device(self.device, usize::from(!extent.is_empty()))?,
            CU_MEMORYTYPE_UNIFIED => self.device,
            CU_MEMORYTYPE_ARRAY => return crate::ffi::driver::array::side(self.array, self.offset, extent),
            _ => return Err(CudaError::INVALID_VALUE),
        };
        let [x, y, z] = self.offset.map(|offset| offset as u64);
        let row_pitch = if self.pitch == 0 { extent.width } else { self.pitch as u64 };
        let row = x.checked_add(extent.width).ok_or(CudaError::INVALID_VALUE)?;
        if !extent.is_empty() && (base == 0 || self.pitch != 0 && row_pitch < row) {
            return Err(CudaError::INVALID_VALUE);
        }
        let slice_pitch = row_pitch.checked_mul(self.height as u64).ok_or(CudaError::INVALID_VALUE)?;
        let offset = y
            .checked_mul(row_pitch)
            .and_then(|rows| z.checked_mul(slice_pitch)?.checked_add(rows)?.checked_add(x))
            .ok_or(CudaError::INVALID_VALUE)?;
        let address = base.checked_add(offset).ok_or(CudaError::INVALID_VALUE)?;
        if !extent.is_empty() {
            copy::check_part(base, address)?;
        }
        Ok(Side { address, row_pitch, slice_pitch })
    }
}

/// # Safety
/// Both sides of the copy must be valid until it has run.
unsafe fn copy_2d(params: &CUDA_MEMCPY2D, stream: CUstream, default: DefaultStream, wait: Wait) -> Result<()> {
    let from = CopySide {
        kind: params.srcMemoryType,
        host: params.srcHost as u64,
        device: params.srcDevice,
        array: params.srcArray,
        pitch: params.srcPitch,
        height: 0,
        offset: [params.srcXInBytes, params.srcY, 0],
    };
    let to = CopySide {
        kind: params.dstMemoryType,
        host: params.dstHost as u64,
        device: params.dstDevice,
        array: params.dstArray,
        pitch: params.dstPitch,
        height: 0,
        offset: [params.dstXInBytes, params.dstY, 0],
    };
    let width = params.WidthInBytes;
    let extent = Extent { width: width as u64, height: params.Height as u64, depth: 1 };
    let stream = stream_handle::resolve(stream as usize, default)?;
    // SAFETY: the caller promises that both sides of the copy are valid until it has run.
    let copy = unsafe { Copy::new(from.side(&extent)?, to.side(&extent)?, extent) };
    copy::copy(&stream, copy, wait)
}

/// A copy of a box.
///
/// # Safety
/// Both sides of the copy must be valid until it has run.
pub(crate) unsafe fn copy_of_box(params: &CUDA_MEMCPY3D) -> Result<Copy> {
    let from = CopySide {
        kind: params.srcMemoryType,
        host: params.srcHost as u64,
        device: params.srcDevice,
        array: params.srcArray,
        pitch: params.srcPitch,
        height: params.srcHeight,
        offset: [params.srcXInBytes, params.srcY, params.srcZ],
    };
    let to = CopySide {
        kind: params.dstMemoryType,
        host: params.dstHost as u64,
        device: params.dstDevice,
        array: params.dstArray,
        pitch: params.dstPitch,
        height: params.dstHeight,
        offset: [params.dstXInBytes, params.dstY, params.dstZ],
    };
    let width = params.WidthInBytes;
    let extent = Extent { width: width as u64, height: params.Height as u64, depth: params.Depth as u64 };
    // SAFETY: the caller promises that both sides of the copy are valid until it has run.
    Ok(unsafe { Copy::new(from.side(&extent)?, to.side(&extent)?, extent) })
}

/// # Safety
/// Both sides of the copy must be valid until it has run.
unsafe fn copy_3d(params: &CUDA_MEMCPY3D, stream: CUstream, default: DefaultStream, wait: Wait) -> Result<()> {
    // SAFETY: the caller promises that both sides of the copy are valid until it has run.
    copy::copy(&*stream_handle::resolve(stream as usize, default)?, unsafe { copy_of_box(params) }?, wait)
}

export! {
    fn cuMemcpy, cuMemcpy_ptds(default; dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(dst, src, ByteCount, std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemcpyAsync, cuMemcpyAsync_ptsz(default; dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize, hStream: CUstream) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(dst, src, ByteCount, hStream, default, Wait::No) }
    }

    fn cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds(default; dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(device(dstDevice, ByteCount)?, srcHost as u64, ByteCount, std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz(default; dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize, hStream: CUstream) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(device(dstDevice, ByteCount)?, srcHost as u64, ByteCount, hStream, default, Wait::No) }
    }

    fn cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds(default; dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(dstHost as u64, device(srcDevice, ByteCount)?, ByteCount, std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_ptsz(default; dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(dstHost as u64, device(srcDevice, ByteCount)?, ByteCount, hStream, default, Wait::No) }
    }

    fn cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds(default; dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(device(dstDevice, ByteCount)?, device(srcDevice, ByteCount)?, ByteCount, std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2_ptsz(default; dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(device(dstDevice, ByteCount)?, device(srcDevice, ByteCount)?, ByteCount, hStream, default, Wait::No) }
    }

    fn cuMemsetD8_v2, cuMemsetD8_v2_ptds(default; dstDevice: CUdeviceptr, uc: c_uchar, N: usize) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill(Side::linear(dstDevice), (N, 1), Pattern::Byte(uc), std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemsetD8Async, cuMemsetD8Async_ptsz(default; dstDevice: CUdeviceptr, uc: c_uchar, N: usize, hStream: CUstream) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill(Side::linear(dstDevice), (N, 1), Pattern::Byte(uc), hStream, default, Wait::No) }
    }

    fn cuMemsetD2D8_v2, cuMemsetD2D8_v2_ptds(default; dstDevice: CUdeviceptr, dstPitch: usize, uc: c_uchar, Width: usize, Height: usize) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill(rows(dstDevice, dstPitch), (Width, Height), Pattern::Byte(uc), std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemsetD2D8Async, cuMemsetD2D8Async_ptsz(default; dstDevice: CUdeviceptr, dstPitch: usize, uc: c_uchar, Width: usize, Height: usize, hStream: CUstream) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill(rows(dstDevice, dstPitch), (Width, Height), Pattern::Byte(uc), hStream, default, Wait::No) }
    }

    fn cuMemsetD16_v2, cuMemsetD16_v2_ptds(default; dstDevice: CUdeviceptr, us: c_ushort, N: usize) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill(Side::linear(dstDevice), (N, 1), Pattern::Half(us), std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemsetD16Async, cuMemsetD16Async_ptsz(default; dstDevice: CUdeviceptr, us: c_ushort, N: usize, hStream: CUstream) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill(Side::linear(dstDevice), (N, 1), Pattern::Half(us), hStream, default, Wait::No) }
    }

    fn cuMemsetD2D16_v2, cuMemsetD2D16_v2_ptds(default; dstDevice: CUdeviceptr, dstPitch: usize, us: c_ushort, Width: usize, Height: usize) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill(rows(dstDevice, dstPitch), (Width, Height), Pattern::Half(us), std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemsetD2D16Async, cuMemsetD2D16Async_ptsz(default; dstDevice: CUdeviceptr, dstPitch: usize, us: c_ushort, Width: usize, Height: usize, hStream: CUstream) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill(rows(dstDevice, dstPitch), (Width, Height), Pattern::Half(us), hStream, default, Wait::No) }
    }

    fn cuMemsetD32_v2, cuMemsetD32_v2_ptds(default; dstDevice: CUdeviceptr, ui: c_uint, N: usize) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill(Side::linear(dstDevice), (N, 1), Pattern::Word(ui), std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemsetD32Async, cuMemsetD32Async_ptsz(default; dstDevice: CUdeviceptr, ui: c_uint, N: usize, hStream: CUstream) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill(Side::linear(dstDevice), (N, 1), Pattern::Word(ui), hStream, default, Wait::No) }
    }

    fn cuMemsetD2D32_v2, cuMemsetD2D32_v2_ptds(default; dstDevice: CUdeviceptr, dstPitch: usize, ui: c_uint, Width: usize, Height: usize) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill(rows(dstDevice, dstPitch), (Width, Height), Pattern::Word(ui), std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemsetD2D32Async, cuMemsetD2D32Async_ptsz(default; dstDevice: CUdeviceptr, dstPitch: usize, ui: c_uint, Width: usize, Height: usize, hStream: CUstream) {
        // SAFETY: the caller promises that what is filled is valid until that is done.
        unsafe { fill(rows(dstDevice, dstPitch), (Width, Height), Pattern::Word(ui), hStream, default, Wait::No) }
    }

    fn cuMemcpy2D_v2, cuMemcpy2D_v2_ptds(default; pCopy: *const CUDA_MEMCPY2D) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run, and `pCopy` is null or
        // valid to read.
        unsafe { copy_2d(get(pCopy)?, std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemcpy2DUnaligned_v2, cuMemcpy2DUnaligned_v2_ptds(default; pCopy: *const CUDA_MEMCPY2D) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run, and `pCopy` is null or
        // valid to read.
        unsafe { copy_2d(get(pCopy)?, std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemcpy3D_v2, cuMemcpy3D_v2_ptds(default; pCopy: *const CUDA_MEMCPY3D) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run, and `pCopy` is null or
        // valid to read.
        unsafe { copy_3d(get(pCopy)?, std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemcpy2DAsync_v2, cuMemcpy2DAsync_v2_ptsz(default; pCopy: *const CUDA_MEMCPY2D, hStream: CUstream) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run, and `pCopy` is null or
        // valid to read.
        unsafe { copy_2d(get(pCopy)?, hStream, default, Wait::No) }
    }

    fn cuMemcpy3DAsync_v2, cuMemcpy3DAsync_v2_ptsz(default; pCopy: *const CUDA_MEMCPY3D, hStream: CUstream) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run, and `pCopy` is null or
        // valid to read.
        unsafe { copy_3d(get(pCopy)?, hStream, default, Wait::No) }
    }

    fn cuMemcpyPeer, cuMemcpyPeer_ptds(
        default;
        dstDevice: CUdeviceptr,
        dstContext: CUcontext,
        srcDevice: CUdeviceptr,
        srcContext: CUcontext,
        ByteCount: usize,
    ) {
        let _ = (dstContext, srcContext);
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(device(dstDevice, ByteCount)?, device(srcDevice, ByteCount)?, ByteCount, std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemcpyPeerAsync, cuMemcpyPeerAsync_ptsz(
        default;
        dstDevice: CUdeviceptr,
        dstContext: CUcontext,
        srcDevice: CUdeviceptr,
        srcContext: CUcontext,
        ByteCount: usize,
        hStream: CUstream,
    ) {
        let _ = (dstContext, srcContext);
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy(device(dstDevice, ByteCount)?, device(srcDevice, ByteCount)?, ByteCount, hStream, default, Wait::No) }
    }

    fn cuMemcpy3DPeer, cuMemcpy3DPeer_ptds(default; pCopy: *const CUDA_MEMCPY3D_PEER) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run, and `pCopy` is null or
        // valid to read.
        unsafe { copy_3d(&without_contexts(get(pCopy)?), std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync_ptsz(default; pCopy: *const CUDA_MEMCPY3D_PEER, hStream: CUstream) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run, and `pCopy` is null or
        // valid to read.
        unsafe { copy_3d(&without_contexts(get(pCopy)?), hStream, default, Wait::No) }
    }

    fn cuMemcpyHtoA_v2, cuMemcpyHtoA_v2_ptds(
        default;
        dstArray: CUarray,
        dstOffset: usize,
        srcHost: *const c_void,
        ByteCount: usize,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_row(row(dstArray, dstOffset, ByteCount)?, Side::linear(srcHost as u64), ByteCount, std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemcpyHtoAAsync_v2, cuMemcpyHtoAAsync_v2_ptsz(
        default;
        dstArray: CUarray,
        dstOffset: usize,
        srcHost: *const c_void,
        ByteCount: usize,
        hStream: CUstream,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_row(row(dstArray, dstOffset, ByteCount)?, Side::linear(srcHost as u64), ByteCount, hStream, default, Wait::No) }
    }

    fn cuMemcpyAtoH_v2, cuMemcpyAtoH_v2_ptds(
        default;
        dstHost: *mut c_void,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_row(Side::linear(dstHost as u64), row(srcArray, srcOffset, ByteCount)?, ByteCount, std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemcpyAtoHAsync_v2, cuMemcpyAtoHAsync_v2_ptsz(
        default;
        dstHost: *mut c_void,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
        hStream: CUstream,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_row(Side::linear(dstHost as u64), row(srcArray, srcOffset, ByteCount)?, ByteCount, hStream, default, Wait::No) }
    }

    fn cuMemcpyDtoA_v2, cuMemcpyDtoA_v2_ptds(
        default;
        dstArray: CUarray,
        dstOffset: usize,
        srcDevice: CUdeviceptr,
        ByteCount: usize,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_row(row(dstArray, dstOffset, ByteCount)?, Side::linear(device(srcDevice, ByteCount)?), ByteCount, std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemcpyAtoD_v2, cuMemcpyAtoD_v2_ptds(
        default;
        dstDevice: CUdeviceptr,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_row(Side::linear(device(dstDevice, ByteCount)?), row(srcArray, srcOffset, ByteCount)?, ByteCount, std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemcpyAtoA_v2, cuMemcpyAtoA_v2_ptds(
        default;
        dstArray: CUarray,
        dstOffset: usize,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        unsafe { copy_row(row(dstArray, dstOffset, ByteCount)?, row(srcArray, srcOffset, ByteCount)?, ByteCount, std::ptr::null_mut(), default, Wait::Yes) }
    }

    fn cuMemcpyBatchAsync, cuMemcpyBatchAsync_ptsz(
        default;
        dsts: *mut CUdeviceptr,
        srcs: *mut CUdeviceptr,
        sizes: *mut usize,
        count: usize,
        attrs: *mut CUmemcpyAttributes,
        attrsIdxs: *mut usize,
        numAttrs: usize,
        failIdx: *mut usize,
        hStream: CUstream,
    ) {
        let _ = (failIdx, attrs, attrsIdxs, numAttrs);
        let stream = stream_handle::resolve(hStream as usize, default)?;
        // SAFETY: the caller promises that `dsts`, `srcs` and `sizes` are null or valid to read `count` elements.
        unsafe { copy_batch(&stream, dsts, srcs, sizes, count) }
    }

    fn cuMemcpyBatchAsync_v2, cuMemcpyBatchAsync_v2_ptsz(
        default;
        dsts: *mut CUdeviceptr,
        srcs: *mut CUdeviceptr,
        sizes: *mut usize,
        count: usize,
        attrs: *mut CUmemcpyAttributes,
        attrsIdxs: *mut usize,
        numAttrs: usize,
        hStream: CUstream,
    ) {
        let _ = (attrs, attrsIdxs, numAttrs);
        let stream = stream_handle::resolve(hStream as usize, default)?;
        // SAFETY: the caller promises that `dsts`, `srcs` and `sizes` are null or valid to read `count` elements.
        unsafe { copy_batch(&stream, dsts, srcs, sizes, count) }
    }
}
