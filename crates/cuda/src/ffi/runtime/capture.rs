//! Captures of streams.

use std::ffi::{c_uint, c_ulonglong};
use std::ptr;
use std::sync::Arc;

use super::{export_runtime, ready};
use crate::abi::runtime::*;
use crate::api::stream::Stream;
use crate::api::stream_handle::{self, DefaultStream};
use crate::error::Result;
use crate::ffi::graph;
use crate::ffi::graph::CaptureInfo;

fn of(stream: cudaStream_t, default: DefaultStream) -> Result<Arc<Stream>> {
    ready()?;
    stream_handle::resolve(stream as usize, default)
}

export_runtime! {
    fn cudaStreamBeginCapture, cudaStreamBeginCapture_ptsz(default; stream: cudaStream_t, mode: cudaStreamCaptureMode) {
        graph::begin_capture(&*of(stream, default)?, mode)
    }

    fn cudaStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph_ptsz(
        default;
        stream: cudaStream_t,
        graph: cudaGraph_t,
        dependencies: *const cudaGraphNode_t,
        dependencyData: *const cudaGraphEdgeData,
        numDependencies: usize,
        mode: cudaStreamCaptureMode,
    ) {
        let _ = dependencyData;
        // SAFETY: the caller promises that `dependencies` is null or valid to read `numDependencies` elements.
        unsafe { graph::begin_capture_to(&*of(stream, default)?, graph, dependencies, numDependencies, mode) }
    }

    fn cudaStreamEndCapture, cudaStreamEndCapture_ptsz(default; stream: cudaStream_t, pGraph: *mut cudaGraph_t) {
        // SAFETY: the caller promises that `pGraph` is null or valid to write.
        unsafe { graph::end_capture(&*of(stream, default)?, pGraph) }
    }

    fn cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz(
        default;
        stream: cudaStream_t,
        pCaptureStatus: *mut cudaStreamCaptureStatus,
    ) {
        // SAFETY: the caller promises that all pointers for the answer are null or valid to write.
        unsafe { CaptureInfo::short(pCaptureStatus, ptr::null_mut()).put(&*of(stream, default)?) }
    }

    fn cudaStreamGetCaptureInfo_11, cudaStreamGetCaptureInfo_ptsz_11(
        default;
        stream: cudaStream_t,
        captureStatus_out: *mut cudaStreamCaptureStatus,
        id_out: *mut c_ulonglong,
    ) {
        // SAFETY: the caller promises that all pointers for the answer are null or valid to write.
        unsafe { CaptureInfo::short(captureStatus_out, id_out).put(&*of(stream, default)?) }
    }

    fn cudaStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo_v2_ptsz(
        default;
        stream: cudaStream_t,
        captureStatus_out: *mut cudaStreamCaptureStatus,
        id_out: *mut c_ulonglong,
        graph_out: *mut cudaGraph_t,
        dependencies_out: *mut *const cudaGraphNode_t,
        numDependencies_out: *mut usize,
    ) {
        let info = CaptureInfo {
            status: captureStatus_out,
            id: id_out,
            graph: graph_out,
            nodes: dependencies_out,
            edges: ptr::null_mut::<*const cudaGraphEdgeData>(),
            count: numDependencies_out,
        };
        // SAFETY: the caller promises that all pointers for the answer are null or valid to write.
        unsafe { info.put(&*of(stream, default)?) }
    }

    fn cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo_v3_ptsz(
        default;
        stream: cudaStream_t,
        captureStatus_out: *mut cudaStreamCaptureStatus,
        id_out: *mut c_ulonglong,
        graph_out: *mut cudaGraph_t,
        dependencies_out: *mut *const cudaGraphNode_t,
        edgeData_out: *mut *const cudaGraphEdgeData,
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
        unsafe { info.put(&*of(stream, default)?) }
    }

    fn cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz(
        default;
        stream: cudaStream_t,
        captureStatus_out: *mut cudaStreamCaptureStatus,
        id_out: *mut c_ulonglong,
        graph_out: *mut cudaGraph_t,
        dependencies_out: *mut *const cudaGraphNode_t,
        edgeData_out: *mut *const cudaGraphEdgeData,
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
        unsafe { info.put(&*of(stream, default)?) }
    }

    fn cudaStreamUpdateCaptureDependencies_11, cudaStreamUpdateCaptureDependencies_ptsz_11(
        default;
        stream: cudaStream_t,
        dependencies: *mut cudaGraphNode_t,
        numDependencies: usize,
        flags: c_uint,
    ) {
        // SAFETY: the caller promises that `dependencies` is null or valid to read `numDependencies` elements.
        unsafe { graph::update_dependencies(&*of(stream, default)?, dependencies, numDependencies, flags) }
    }

    fn cudaStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies_v2_ptsz(
        default;
        stream: cudaStream_t,
        dependencies: *mut cudaGraphNode_t,
        dependencyData: *const cudaGraphEdgeData,
        numDependencies: usize,
        flags: c_uint,
    ) {
        let _ = dependencyData;
        // SAFETY: the caller promises that `dependencies` is null or valid to read `numDependencies` elements.
        unsafe { graph::update_dependencies(&*of(stream, default)?, dependencies, numDependencies, flags) }
    }

    fn cudaStreamUpdateCaptureDependencies, cudaStreamUpdateCaptureDependencies_ptsz(
        default;
        stream: cudaStream_t,
        dependencies: *mut cudaGraphNode_t,
        dependencyData: *const cudaGraphEdgeData,
        numDependencies: usize,
        flags: c_uint,
    ) {
        let _ = dependencyData;
        // SAFETY: the caller promises that `dependencies` is null or valid to read `numDependencies` elements.
        unsafe { graph::update_dependencies(&*of(stream, default)?, dependencies, numDependencies, flags) }
    }

    fn cudaThreadExchangeStreamCaptureMode(mode: *mut cudaStreamCaptureMode) {
        // SAFETY: the caller promises that `mode` is null or valid to read and write.
        unsafe { graph::exchange_mode(mode) }
    }
}
