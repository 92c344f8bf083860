//! Captures of streams.

use std::ffi::c_uint;
use std::ptr;

use crate::abi::driver::*;
use crate::api::stream_handle;
use crate::ffi::graph::CaptureInfo;
use crate::ffi::{export, graph};

export! {
    fn cuStreamBeginCapture, cuStreamBeginCapture_ptsz(default; hStream: CUstream) {
        graph::begin_capture(&*stream_handle::resolve(hStream as usize, default)?, CU_STREAM_CAPTURE_MODE_GLOBAL)
    }

    fn cuStreamBeginCapture_v2, cuStreamBeginCapture_v2_ptsz(default; hStream: CUstream, mode: CUstreamCaptureMode) {
        graph::begin_capture(&*stream_handle::resolve(hStream as usize, default)?, mode)
    }

    fn cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph_ptsz(
        default;
        hStream: CUstream,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        dependencyData: *const CUgraphEdgeData,
        numDependencies: usize,
        mode: CUstreamCaptureMode,
    ) {
        let _ = dependencyData;
        let stream = stream_handle::resolve(hStream as usize, default)?;
        // SAFETY: the caller promises that `dependencies` is null or valid to read `numDependencies` elements.
        unsafe { graph::begin_capture_to(&stream, hGraph, dependencies, numDependencies, mode) }
    }

    fn cuStreamEndCapture, cuStreamEndCapture_ptsz(default; hStream: CUstream, phGraph: *mut CUgraph) {
        // SAFETY: the caller promises that `phGraph` is null or valid to write.
        unsafe { graph::end_capture(&*stream_handle::resolve(hStream as usize, default)?, phGraph) }
    }

    fn cuStreamIsCapturing, cuStreamIsCapturing_ptsz(
        default;
        hStream: CUstream,
        captureStatus: *mut CUstreamCaptureStatus,
    ) {
        // SAFETY: the caller promises that all pointers for the answer are null or valid to write.
        unsafe { CaptureInfo::short(captureStatus, ptr::null_mut()).put(&*stream_handle::resolve(hStream as usize, default)?) }
    }

    fn cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_ptsz(
        default;
        hStream: CUstream,
        captureStatus_out: *mut CUstreamCaptureStatus,
        id_out: *mut cuuint64_t,
    ) {
        // SAFETY: the caller promises that all pointers for the answer are null or valid to write.
        unsafe { CaptureInfo::short(captureStatus_out, id_out).put(&*stream_handle::resolve(hStream as usize, default)?) }
    }

    fn cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v2_ptsz(
        default;
        hStream: CUstream,
        captureStatus_out: *mut CUstreamCaptureStatus,
        id_out: *mut cuuint64_t,
        graph_out: *mut CUgraph,
        dependencies_out: *mut *const CUgraphNode,
        numDependencies_out: *mut usize,
    ) {
        let info = CaptureInfo {
            status: captureStatus_out,
            id: id_out,
            graph: graph_out,
            nodes: dependencies_out,
            edges: ptr::null_mut::<*const CUgraphEdgeData>(),
            count: numDependencies_out,
        };
        // SAFETY: the caller promises that all pointers for the answer are null or valid to write.
        unsafe { info.put(&*stream_handle::resolve(hStream as usize, default)?) }
    }

    fn cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo_v3_ptsz(
        default;
        hStream: CUstream,
        captureStatus_out: *mut CUstreamCaptureStatus,
        id_out: *mut cuuint64_t,
        graph_out: *mut CUgraph,
        dependencies_out: *mut *const CUgraphNode,
        edgeData_out: *mut *const CUgraphEdgeData,
        numDependencies_out: *mut usize,
    ) {
        let info = CaptureInfo {
            status: captureStatus_out,
            id: id_out,
            graph: graph_out,
            nodes: dependencies_out,
            edges: edgeData_out,
            count: numDependencies_out,
        };
        // SAFETY: the caller promises that all pointers for the answer are null or valid to write.
        unsafe { info.put(&*stream_handle::resolve(hStream as usize, default)?) }
    }

    fn cuStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_ptsz(
        default;
        hStream: CUstream,
        dependencies: *mut CUgraphNode,
        numDependencies: usize,
        flags: c_uint,
    ) {
        // SAFETY: the caller promises that `dependencies` is null or valid to read `numDependencies` elements.
        unsafe { graph::update_dependencies(&*stream_handle::resolve(hStream as usize, default)?, dependencies, numDependencies, flags) }
    }

    fn cuStreamUpdateCaptureDependencies_v2, cuStreamUpdateCaptureDependencies_v2_ptsz(
        default;
        hStream: CUstream,
        dependencies: *mut CUgraphNode,
        dependencyData: *const CUgraphEdgeData,
        numDependencies: usize,
        flags: c_uint,
    ) {
        let _ = dependencyData;
        // SAFETY: the caller promises that `dependencies` is null or valid to read `numDependencies` elements.
        unsafe { graph::update_dependencies(&*stream_handle::resolve(hStream as usize, default)?, dependencies, numDependencies, flags) }
    }

    fn cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode) {
        // SAFETY: the caller promises that `mode` is null or valid to read and write.
        unsafe { graph::exchange_mode(mode) }
    }
}
