//! Graphs.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr;

use super::kernel::{kernel_of, shape};
use super::transfer::{copy_of, copy_of_box, rows, symbol as part_of_symbol};
use super::{check_device, export_runtime, ready};
use crate::abi::driver::CUDA_MEMSET_NODE_PARAMS;
use crate::abi::runtime::*;
use crate::api::executable::EXECUTABLES;
use crate::api::graph::Action;
use crate::api::{self, registry, stream_handle};
use crate::error::{CudaError, Result};
use crate::ffi::{get, graph, put, put_if};
use crate::transfer::{Copy, Extent, Side};

fn kernel(params: &cudaKernelNodeParams) -> Result<Action> {
    let shape = shape(params.gridDim, params.blockDim, params.sharedMemBytes as usize, false)?;
    graph::kernel(&kernel_of(params.func)?, shape, params.kernelParams, params.extra)
}

fn copy(params: &cudaMemcpy3DParms) -> Result<Action> {
    graph::copy(copy_of_box(params)?)
}

fn copy_bytes(to: *mut c_void, from: *const c_void, bytes: usize, kind: cudaMemcpyKind) -> Result<Action> {
    graph::copy(copy_of(rows(from, 0), rows(to, 0), Extent::bytes(bytes as u64), kind)?)
}

fn copy_to_symbol(
    symbol: *const c_void,
    from: *const c_void,
    bytes: usize,
    offset: usize,
    kind: cudaMemcpyKind,
) -> Result<Action> {
    let to = part_of_symbol(symbol, offset, bytes)?;
    graph::copy(copy_of(rows(from, 0), to, Extent::bytes(bytes as u64), kind)?)
}

fn copy_from_symbol(
    to: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: cudaMemcpyKind,
) -> Result<Action> {
    let from = part_of_symbol(symbol, offset, bytes)?;
    graph::copy(copy_of(from, rows(to, 0), Extent::bytes(bytes as u64), kind)?)
}

/// A copy in the words of the runtime: of addresses, even if the program named an array.
fn copy_params(copy: &Copy) -> cudaMemcpy3DParms {
    let extent = copy.extent();
    let width = extent.width as usize;
    let pointer = |side: Side| cudaPitchedPtr {
        ptr: side.address as *mut c_void,
        pitch: side.row_pitch as usize,
        xsize: width,
        ysize: side.slice_pitch.checked_div(side.row_pitch).unwrap_or(0) as usize,
    };
    let start = cudaPos { x: 0, y: 0, z: 0 };
    cudaMemcpy3DParms {
        srcArray: ptr::null_mut(),
        srcPos: start,
        srcPtr: pointer(copy.from()),
        dstArray: ptr::null_mut(),
        dstPos: start,
        dstPtr: pointer(copy.to()),
        extent: cudaExtent { width, height: extent.height as usize, depth: extent.depth as usize },
        kind: cudaMemcpyDefault,
    }
}

fn fill(params: &cudaMemsetParams) -> Result<Action> {
    let &cudaMemsetParams { dst, pitch, value, elementSize, width, height } = params;
    graph::fill(&CUDA_MEMSET_NODE_PARAMS { dst: dst as u64, pitch, value, elementSize, width, height })
}

/// A node of any kind. One that allocates memory says where.
fn action(params: &mut cudaGraphNodeParams) -> Result<Action> {
    ready()?;
    // SAFETY: the type says which of the fields it is.
    unsafe {
        match params.r#type {
            cudaGraphNodeTypeKernel => {
                let cudaKernelNodeParamsV2 { unnamed, gridDim, blockDim, sharedMemBytes, kernelParams, extra, .. } =
                    params.unnamed.kernel;
                let func = unnamed.func;
                kernel(&cudaKernelNodeParams { func, gridDim, blockDim, sharedMemBytes, kernelParams, extra })
            }
            cudaGraphNodeTypeMemcpy => copy(&params.unnamed.memcpy.copyParams),
            cudaGraphNodeTypeMemset => {
                let cudaMemsetParamsV2 { dst, pitch, value, elementSize, width, height, .. } = params.unnamed.memset;
                fill(&cudaMemsetParams { dst, pitch, value, elementSize, width, height })
            }
            cudaGraphNodeTypeHost => graph::host(params.unnamed.host.r#fn, params.unnamed.host.userData),
            cudaGraphNodeTypeGraph => graph::child(params.unnamed.graph.graph),
            cudaGraphNodeTypeEmpty => Ok(graph::empty()),
            cudaGraphNodeTypeWaitEvent => graph::wait(params.unnamed.eventWait.event),
            cudaGraphNodeTypeEventRecord => graph::record(params.unnamed.eventRecord.event),
            cudaGraphNodeTypeMemAlloc => {
                let (action, address) = graph::allocate(params.unnamed.alloc.bytesize)?;
                params.unnamed.alloc.dptr = address as *mut c_void;
                Ok(action)
            }
            cudaGraphNodeTypeMemFree => graph::free(params.unnamed.free.dptr as u64),
            kind => Err(graph::refuse_kind(kind)),
        }
    }
}

export_runtime! {
    fn cudaGraphCreate(pGraph: *mut cudaGraph_t, flags: c_uint) {
        ready()?;
        graph::create(pGraph, flags)
    }

    fn cudaGraphDestroy(graph: cudaGraph_t) {
        api::graph::destroy(graph as usize)
    }

    fn cudaGraphClone(pGraphClone: *mut cudaGraph_t, originalGraph: cudaGraph_t) {
        graph::duplicate(pGraphClone, originalGraph)
    }

    fn cudaGraphNodeFindInClone(pNode: *mut cudaGraphNode_t, originalNode: cudaGraphNode_t, clonedGraph: cudaGraph_t) {
        graph::put_copy_of(pNode, originalNode, clonedGraph)
    }

    fn cudaGraphDestroyNode(node: cudaGraphNode_t) {
        graph::remove(node)
    }

    fn cudaGraphNodeGetType(node: cudaGraphNode_t, pType: *mut cudaGraphNodeType) {
        graph::put_kind(node, pType)
    }

    fn cudaGraphGetNodes(graph: cudaGraph_t, nodes: *mut cudaGraphNode_t, numNodes: *mut usize) {
        graph::put_nodes(nodes, graph::NO_EDGES, numNodes, &graph::of(graph)?.list())
    }

    fn cudaGraphGetRootNodes(graph: cudaGraph_t, pRootNodes: *mut cudaGraphNode_t, pNumRootNodes: *mut usize) {
        graph::put_nodes(pRootNodes, graph::NO_EDGES, pNumRootNodes, &graph::of(graph)?.roots())
    }

    fn cudaGraphGetEdges_11(
        graph: cudaGraph_t,
        from: *mut cudaGraphNode_t,
        to: *mut cudaGraphNode_t,
        numEdges: *mut usize,
    ) {
        graph::put_edges(graph, from, to, graph::NO_EDGES, numEdges)
    }

    fn cudaGraphGetEdges(
        graph: cudaGraph_t,
        from: *mut cudaGraphNode_t,
        to: *mut cudaGraphNode_t,
        edgeData: *mut cudaGraphEdgeData,
        numEdges: *mut usize,
    ) {
        graph::put_edges(graph, from, to, edgeData, numEdges)
    }

    fn cudaGraphGetEdges_v2(
        graph: cudaGraph_t,
        from: *mut cudaGraphNode_t,
        to: *mut cudaGraphNode_t,
        edgeData: *mut cudaGraphEdgeData,
        numEdges: *mut usize,
    ) {
        graph::put_edges(graph, from, to, edgeData, numEdges)
    }

    fn cudaGraphNodeGetDependencies_11(
        node: cudaGraphNode_t,
        pDependencies: *mut cudaGraphNode_t,
        pNumDependencies: *mut usize,
    ) {
        graph::put_before(node, pDependencies, graph::NO_EDGES, pNumDependencies)
    }

    fn cudaGraphNodeGetDependencies(
        node: cudaGraphNode_t,
        pDependencies: *mut cudaGraphNode_t,
        edgeData: *mut cudaGraphEdgeData,
        pNumDependencies: *mut usize,
    ) {
        graph::put_before(node, pDependencies, edgeData, pNumDependencies)
    }

    fn cudaGraphNodeGetDependencies_v2(
        node: cudaGraphNode_t,
        pDependencies: *mut cudaGraphNode_t,
        edgeData: *mut cudaGraphEdgeData,
        pNumDependencies: *mut usize,
    ) {
        graph::put_before(node, pDependencies, edgeData, pNumDependencies)
    }

    fn cudaGraphNodeGetDependentNodes_11(
        node: cudaGraphNode_t,
        pDependentNodes: *mut cudaGraphNode_t,
        pNumDependentNodes: *mut usize,
    ) {
        graph::put_after(node, pDependentNodes, graph::NO_EDGES, pNumDependentNodes)
    }

    fn cudaGraphNodeGetDependentNodes(
        node: cudaGraphNode_t,
        pDependentNodes: *mut cudaGraphNode_t,
        edgeData: *mut cudaGraphEdgeData,
        pNumDependentNodes: *mut usize,
    ) {
        graph::put_after(node, pDependentNodes, edgeData, pNumDependentNodes)
    }

    fn cudaGraphNodeGetDependentNodes_v2(
        node: cudaGraphNode_t,
        pDependentNodes: *mut cudaGraphNode_t,
        edgeData: *mut cudaGraphEdgeData,
        pNumDependentNodes: *mut usize,
    ) {
        graph::put_after(node, pDependentNodes, edgeData, pNumDependentNodes)
    }

    fn cudaGraphAddDependencies_11(
        graph: cudaGraph_t,
        from: *const cudaGraphNode_t,
        to: *const cudaGraphNode_t,
        numDependencies: usize,
    ) {
        graph::connect(graph, from, to, numDependencies)
    }

    fn cudaGraphAddDependencies(
        graph: cudaGraph_t,
        from: *const cudaGraphNode_t,
        to: *const cudaGraphNode_t,
        edgeData: *const cudaGraphEdgeData,
        numDependencies: usize,
    ) {
        // Whatever kind of edge it is, that one comes before the other.
        let _ = edgeData;
        graph::connect(graph, from, to, numDependencies)
    }

    fn cudaGraphAddDependencies_v2(
        graph: cudaGraph_t,
        from: *const cudaGraphNode_t,
        to: *const cudaGraphNode_t,
        edgeData: *const cudaGraphEdgeData,
        numDependencies: usize,
    ) {
        // Whatever kind of edge it is, that one comes before the other.
        let _ = edgeData;
        graph::connect(graph, from, to, numDependencies)
    }

    fn cudaGraphRemoveDependencies_11(
        graph: cudaGraph_t,
        from: *const cudaGraphNode_t,
        to: *const cudaGraphNode_t,
        numDependencies: usize,
    ) {
        graph::disconnect(graph, from, to, numDependencies)
    }

    fn cudaGraphRemoveDependencies(
        graph: cudaGraph_t,
        from: *const cudaGraphNode_t,
        to: *const cudaGraphNode_t,
        edgeData: *const cudaGraphEdgeData,
        numDependencies: usize,
    ) {
        let _ = edgeData;
        graph::disconnect(graph, from, to, numDependencies)
    }

    fn cudaGraphRemoveDependencies_v2(
        graph: cudaGraph_t,
        from: *const cudaGraphNode_t,
        to: *const cudaGraphNode_t,
        edgeData: *const cudaGraphEdgeData,
        numDependencies: usize,
    ) {
        let _ = edgeData;
        graph::disconnect(graph, from, to, numDependencies)
    }

    fn cudaGraphAddEmptyNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
    ) {
        graph::add(pGraphNode, graph, pDependencies, numDependencies, graph::empty())
    }

    fn cudaGraphAddKernelNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        pNodeParams: *const cudaKernelNodeParams,
    ) {
        // SAFETY: as the manual says.
        let action = kernel(unsafe { get(pNodeParams) }?)?;
        graph::add(pGraphNode, graph, pDependencies, numDependencies, action)
    }

    fn cudaGraphAddMemcpyNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        pCopyParams: *const cudaMemcpy3DParms,
    ) {
        // SAFETY: as the manual says.
        let action = copy(unsafe { get(pCopyParams) }?)?;
        graph::add(pGraphNode, graph, pDependencies, numDependencies, action)
    }

    fn cudaGraphAddMemcpyNode1D(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        dst: *mut c_void,
        src: *const c_void,
        count: usize,
        kind: cudaMemcpyKind,
    ) {
        graph::add(pGraphNode, graph, pDependencies, numDependencies, copy_bytes(dst, src, count, kind)?)
    }

    fn cudaGraphAddMemcpyNodeToSymbol(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        symbol: *const c_void,
        src: *const c_void,
        count: usize,
        offset: usize,
        kind: cudaMemcpyKind,
    ) {
        let action = copy_to_symbol(symbol, src, count, offset, kind)?;
        graph::add(pGraphNode, graph, pDependencies, numDependencies, action)
    }

    fn cudaGraphAddMemcpyNodeFromSymbol(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        dst: *mut c_void,
        symbol: *const c_void,
        count: usize,
        offset: usize,
        kind: cudaMemcpyKind,
    ) {
        let action = copy_from_symbol(dst, symbol, count, offset, kind)?;
        graph::add(pGraphNode, graph, pDependencies, numDependencies, action)
    }

    fn cudaGraphAddMemsetNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        pMemsetParams: *const cudaMemsetParams,
    ) {
        // SAFETY: as the manual says.
        let action = fill(unsafe { get(pMemsetParams) }?)?;
        graph::add(pGraphNode, graph, pDependencies, numDependencies, action)
    }

    fn cudaGraphAddHostNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        pNodeParams: *const cudaHostNodeParams,
    ) {
        // SAFETY: as the manual says.
        let params = unsafe { get(pNodeParams) }?;
        graph::add(pGraphNode, graph, pDependencies, numDependencies, graph::host(params.r#fn, params.userData)?)
    }

    fn cudaGraphAddChildGraphNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        childGraph: cudaGraph_t,
    ) {
        graph::add(pGraphNode, graph, pDependencies, numDependencies, graph::child(childGraph)?)
    }

    fn cudaGraphAddEventRecordNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        event: cudaEvent_t,
    ) {
        graph::add(pGraphNode, graph, pDependencies, numDependencies, graph::record(event)?)
    }

    fn cudaGraphAddEventWaitNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        event: cudaEvent_t,
    ) {
        graph::add(pGraphNode, graph, pDependencies, numDependencies, graph::wait(event)?)
    }

    fn cudaGraphAddMemAllocNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        nodeParams: *mut cudaMemAllocNodeParams,
    ) {
        ready()?;
        // SAFETY: as the manual says.
        let params = unsafe { nodeParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?;
        let (action, address) = graph::allocate(params.bytesize)?;
        params.dptr = address as *mut c_void;
        graph::add(pGraphNode, graph, pDependencies, numDependencies, action)
    }

    fn cudaGraphAddMemFreeNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        dptr: *mut c_void,
    ) {
        graph::add(pGraphNode, graph, pDependencies, numDependencies, graph::free(dptr as u64)?)
    }

    fn cudaGraphAddNode_12(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        nodeParams: *mut cudaGraphNodeParams,
    ) {
        // SAFETY: as the manual says.
        let action = action(unsafe { nodeParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?)?;
        graph::add(pGraphNode, graph, pDependencies, numDependencies, action)
    }

    fn cudaGraphAddNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        dependencyData: *const cudaGraphEdgeData,
        numDependencies: usize,
        nodeParams: *mut cudaGraphNodeParams,
    ) {
        let _ = dependencyData;
        // SAFETY: as the manual says.
        let action = action(unsafe { nodeParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?)?;
        graph::add(pGraphNode, graph, pDependencies, numDependencies, action)
    }

    fn cudaGraphAddNode_v2(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        dependencyData: *const cudaGraphEdgeData,
        numDependencies: usize,
        nodeParams: *mut cudaGraphNodeParams,
    ) {
        let _ = dependencyData;
        // SAFETY: as the manual says.
        let action = action(unsafe { nodeParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?)?;
        graph::add(pGraphNode, graph, pDependencies, numDependencies, action)
    }

    fn cudaGraphNodeSetParams(node: cudaGraphNode_t, nodeParams: *mut cudaGraphNodeParams) {
        // SAFETY: as the manual says.
        let action = action(unsafe { nodeParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?)?;
        graph::set(node, action)
    }

    fn cudaGraphExecNodeSetParams(
        graphExec: cudaGraphExec_t,
        node: cudaGraphNode_t,
        nodeParams: *mut cudaGraphNodeParams,
    ) {
        // SAFETY: as the manual says.
        let action = action(unsafe { nodeParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?)?;
        graph::set_in(graphExec, node, action)
    }

    fn cudaGraphKernelNodeGetParams(node: cudaGraphNode_t, pNodeParams: *mut cudaKernelNodeParams) {
        let launch = graph::launch_of(node)?;
        let size = |[x, y, z]: [c_uint; 3]| dim3 { x, y, z };
        let params = cudaKernelNodeParams {
            func: registry::host_of(launch.kernel()).unwrap_or(launch.kernel().handle.number()) as *mut c_void,
            gridDim: size(launch.shape().grid),
            blockDim: size(launch.shape().block),
            sharedMemBytes: launch.shape().shared,
            kernelParams: graph::param_pointers(&launch),
            extra: ptr::null_mut(),
        };
        // SAFETY: as the manual says.
        unsafe { put(pNodeParams, params) }
    }

    fn cudaGraphKernelNodeSetParams(node: cudaGraphNode_t, pNodeParams: *const cudaKernelNodeParams) {
        // SAFETY: as the manual says.
        graph::set(node, kernel(unsafe { get(pNodeParams) }?)?)
    }

    fn cudaGraphExecKernelNodeSetParams(
        hGraphExec: cudaGraphExec_t,
        node: cudaGraphNode_t,
        pNodeParams: *const cudaKernelNodeParams,
    ) {
        // SAFETY: as the manual says.
        graph::set_in(hGraphExec, node, kernel(unsafe { get(pNodeParams) }?)?)
    }

    fn cudaGraphKernelNodeSetAttribute(
        hNode: cudaGraphNode_t,
        attr: cudaLaunchAttributeID,
        value: *const cudaLaunchAttributeValue,
    ) {
        // SAFETY: as the manual says.
        let value = unsafe { get(value) }?;
        match attr {
            // SAFETY: the identifier says which of the values it is.
            cudaLaunchAttributeCooperative => graph::set_cooperative(hNode, unsafe { value.cooperative } != 0),
            // Priorities, windows of caches: hints.
            _ => graph::launch_of(hNode).map(drop),
        }
    }

    fn cudaGraphKernelNodeGetAttribute(
        hNode: cudaGraphNode_t,
        attr: cudaLaunchAttributeID,
        value_out: *mut cudaLaunchAttributeValue,
    ) {
        let launch = graph::launch_of(hNode)?;
        // SAFETY: all of it is numbers and pointers, for which zero is a value.
        let mut value: cudaLaunchAttributeValue = unsafe { std::mem::zeroed() };
        if attr == cudaLaunchAttributeCooperative {
            value.cooperative = launch.shape().is_cooperative.into();
        }
        // SAFETY: as the manual says.
        unsafe { put(value_out, value) }
    }

    fn cudaGraphKernelNodeCopyAttributes(hDst: cudaGraphNode_t, hSrc: cudaGraphNode_t) {
        graph::set_cooperative(hDst, graph::launch_of(hSrc)?.shape().is_cooperative)
    }

    fn cudaGraphMemcpyNodeGetParams(node: cudaGraphNode_t, pNodeParams: *mut cudaMemcpy3DParms) {
        let params = copy_params(&graph::copy_of(node)?);
        // SAFETY: as the manual says.
        unsafe { put(pNodeParams, params) }
    }

    fn cudaGraphMemcpyNodeSetParams(node: cudaGraphNode_t, pNodeParams: *const cudaMemcpy3DParms) {
        // SAFETY: as the manual says.
        graph::set(node, copy(unsafe { get(pNodeParams) }?)?)
    }

    fn cudaGraphMemcpyNodeSetParams1D(
        node: cudaGraphNode_t,
        dst: *mut c_void,
        src: *const c_void,
        count: usize,
        kind: cudaMemcpyKind,
    ) {
        graph::set(node, copy_bytes(dst, src, count, kind)?)
    }

    fn cudaGraphMemcpyNodeSetParamsToSymbol(
        node: cudaGraphNode_t,
        symbol: *const c_void,
        src: *const c_void,
        count: usize,
        offset: usize,
        kind: cudaMemcpyKind,
    ) {
        graph::set(node, copy_to_symbol(symbol, src, count, offset, kind)?)
    }

    fn cudaGraphMemcpyNodeSetParamsFromSymbol(
        node: cudaGraphNode_t,
        dst: *mut c_void,
        symbol: *const c_void,
        count: usize,
        offset: usize,
        kind: cudaMemcpyKind,
    ) {
        graph::set(node, copy_from_symbol(dst, symbol, count, offset, kind)?)
    }

    fn cudaGraphExecMemcpyNodeSetParams(
        hGraphExec: cudaGraphExec_t,
        node: cudaGraphNode_t,
        pNodeParams: *const cudaMemcpy3DParms,
    ) {
        // SAFETY: as the manual says.
        graph::set_in(hGraphExec, node, copy(unsafe { get(pNodeParams) }?)?)
    }

    fn cudaGraphExecMemcpyNodeSetParams1D(
        hGraphExec: cudaGraphExec_t,
        node: cudaGraphNode_t,
        dst: *mut c_void,
        src: *const c_void,
        count: usize,
        kind: cudaMemcpyKind,
    ) {
        graph::set_in(hGraphExec, node, copy_bytes(dst, src, count, kind)?)
    }

    fn cudaGraphExecMemcpyNodeSetParamsToSymbol(
        hGraphExec: cudaGraphExec_t,
        node: cudaGraphNode_t,
        symbol: *const c_void,
        src: *const c_void,
        count: usize,
        offset: usize,
        kind: cudaMemcpyKind,
    ) {
        graph::set_in(hGraphExec, node, copy_to_symbol(symbol, src, count, offset, kind)?)
    }

    fn cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        hGraphExec: cudaGraphExec_t,
        node: cudaGraphNode_t,
        dst: *mut c_void,
        symbol: *const c_void,
        count: usize,
        offset: usize,
        kind: cudaMemcpyKind,
    ) {
        graph::set_in(hGraphExec, node, copy_from_symbol(dst, symbol, count, offset, kind)?)
    }

    fn cudaGraphMemsetNodeGetParams(node: cudaGraphNode_t, pNodeParams: *mut cudaMemsetParams) {
        let CUDA_MEMSET_NODE_PARAMS { dst, pitch, value, elementSize, width, height } = graph::fill_of(node)?;
        let params = cudaMemsetParams { dst: dst as *mut c_void, pitch, value, elementSize, width, height };
        // SAFETY: as the manual says.
        unsafe { put(pNodeParams, params) }
    }

    fn cudaGraphMemsetNodeSetParams(node: cudaGraphNode_t, pNodeParams: *const cudaMemsetParams) {
        // SAFETY: as the manual says.
        graph::set(node, fill(unsafe { get(pNodeParams) }?)?)
    }

    fn cudaGraphExecMemsetNodeSetParams(
        hGraphExec: cudaGraphExec_t,
        node: cudaGraphNode_t,
        pNodeParams: *const cudaMemsetParams,
    ) {
        // SAFETY: as the manual says.
        graph::set_in(hGraphExec, node, fill(unsafe { get(pNodeParams) }?)?)
    }

    fn cudaGraphHostNodeGetParams(node: cudaGraphNode_t, pNodeParams: *mut cudaHostNodeParams) {
        let (function, userData) = graph::host_of(node)?;
        // SAFETY: as the manual says.
        unsafe { put(pNodeParams, cudaHostNodeParams { r#fn: function, userData }) }
    }

    fn cudaGraphHostNodeSetParams(node: cudaGraphNode_t, pNodeParams: *const cudaHostNodeParams) {
        // SAFETY: as the manual says.
        let params = unsafe { get(pNodeParams) }?;
        graph::set(node, graph::host(params.r#fn, params.userData)?)
    }

    fn cudaGraphExecHostNodeSetParams(
        hGraphExec: cudaGraphExec_t,
        node: cudaGraphNode_t,
        pNodeParams: *const cudaHostNodeParams,
    ) {
        // SAFETY: as the manual says.
        let params = unsafe { get(pNodeParams) }?;
        graph::set_in(hGraphExec, node, graph::host(params.r#fn, params.userData)?)
    }

    fn cudaGraphChildGraphNodeGetGraph(node: cudaGraphNode_t, pGraph: *mut cudaGraph_t) {
        graph::put_child(node, pGraph)
    }

    fn cudaGraphExecChildGraphNodeSetParams(
        hGraphExec: cudaGraphExec_t,
        node: cudaGraphNode_t,
        childGraph: cudaGraph_t,
    ) {
        graph::executable(hGraphExec)?.set_child(node as usize, &*graph::of(childGraph)?)
    }

    fn cudaGraphEventRecordNodeGetEvent(node: cudaGraphNode_t, event_out: *mut cudaEvent_t) {
        graph::put_event(node, event_out, true)
    }

    fn cudaGraphEventWaitNodeGetEvent(node: cudaGraphNode_t, event_out: *mut cudaEvent_t) {
        graph::put_event(node, event_out, false)
    }

    fn cudaGraphEventRecordNodeSetEvent(node: cudaGraphNode_t, event: cudaEvent_t) {
        graph::set(node, graph::record(event)?)
    }

    fn cudaGraphEventWaitNodeSetEvent(node: cudaGraphNode_t, event: cudaEvent_t) {
        graph::set(node, graph::wait(event)?)
    }

    fn cudaGraphExecEventRecordNodeSetEvent(hGraphExec: cudaGraphExec_t, hNode: cudaGraphNode_t, event: cudaEvent_t) {
        graph::set_in(hGraphExec, hNode, graph::record(event)?)
    }

    fn cudaGraphExecEventWaitNodeSetEvent(hGraphExec: cudaGraphExec_t, hNode: cudaGraphNode_t, event: cudaEvent_t) {
        graph::set_in(hGraphExec, hNode, graph::wait(event)?)
    }

    fn cudaGraphMemAllocNodeGetParams(node: cudaGraphNode_t, params_out: *mut cudaMemAllocNodeParams) {
        let memory = graph::memory_of(node)?;
        // SAFETY: all of it is numbers and pointers, for which zero is a value.
        let mut params: cudaMemAllocNodeParams = unsafe { std::mem::zeroed() };
        params.poolProps.allocType = cudaMemAllocationTypePinned;
        params.poolProps.location.r#type = cudaMemLocationTypeDevice;
        params.bytesize = memory.bytes() as usize;
        params.dptr = memory.address() as *mut c_void;
        // SAFETY: as the manual says.
        unsafe { put(params_out, params) }
    }

    fn cudaGraphMemFreeNodeGetParams(node: cudaGraphNode_t, dptr_out: *mut c_void) {
        let address = graph::freed_by(node)?;
        // SAFETY: as the manual says: it points to a pointer.
        unsafe { put(dptr_out.cast(), address) }
    }

    fn cudaGraphInstantiate_11(
        pGraphExec: *mut cudaGraphExec_t,
        graph: cudaGraph_t,
        pErrorNode: *mut cudaGraphNode_t,
        pLogBuffer: *mut c_char,
        bufferSize: usize,
    ) {
        graph::instantiate_with_log(pGraphExec, graph, pErrorNode, pLogBuffer, bufferSize)
    }

    fn cudaGraphInstantiate(pGraphExec: *mut cudaGraphExec_t, graph: cudaGraph_t, flags: c_ulonglong) {
        graph::instantiate(pGraphExec, graph, flags)
    }

    fn cudaGraphInstantiateWithFlags(pGraphExec: *mut cudaGraphExec_t, graph: cudaGraph_t, flags: c_ulonglong) {
        graph::instantiate(pGraphExec, graph, flags)
    }

    fn cudaGraphInstantiateWithParams, cudaGraphInstantiateWithParams_ptsz(
        default;
        pGraphExec: *mut cudaGraphExec_t,
        graph: cudaGraph_t,
        instantiateParams: *mut cudaGraphInstantiateParams,
    ) {
        // There is nothing to upload.
        let _ = default;
        // SAFETY: as the manual says.
        let params = unsafe { instantiateParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?;
        let (result, said) = graph::instantiate_with_result(pGraphExec, graph, params.flags);
        params.errNode_out = ptr::null_mut();
        params.result_out = said;
        result
    }

    fn cudaGraphExecGetFlags(graphExec: cudaGraphExec_t, flags: *mut c_ulonglong) {
        let value = graph::executable(graphExec)?.flags;
        // SAFETY: as the manual says.
        unsafe { put(flags, value) }
    }

    fn cudaGraphUpload, cudaGraphUpload_ptsz(default; graphExec: cudaGraphExec_t, stream: cudaStream_t) {
        // There is nothing to upload.
        let _ = (stream, default);
        graph::executable(graphExec).map(drop)
    }

    fn cudaGraphLaunch, cudaGraphLaunch_ptsz(default; graphExec: cudaGraphExec_t, stream: cudaStream_t) {
        ready()?;
        graph::executable(graphExec)?.launch(&*stream_handle::resolve(stream as usize, default)?)
    }

    fn cudaGraphExecDestroy(graphExec: cudaGraphExec_t) {
        EXECUTABLES.remove(graphExec as usize).map(drop)
    }

    fn cudaGraphExecUpdate_11(
        hGraphExec: cudaGraphExec_t,
        hGraph: cudaGraph_t,
        hErrorNode_out: *mut cudaGraphNode_t,
        updateResult_out: *mut cudaGraphExecUpdateResult,
    ) {
        let (result, said, node) = graph::update(hGraphExec, hGraph)?;
        // SAFETY: as the manual says.
        unsafe {
            put_if(hErrorNode_out, node);
            put_if(updateResult_out, said);
        }
        result
    }

    fn cudaGraphExecUpdate(
        hGraphExec: cudaGraphExec_t,
        hGraph: cudaGraph_t,
        resultInfo: *mut cudaGraphExecUpdateResultInfo,
    ) {
        let (result, said, node) = graph::update(hGraphExec, hGraph)?;
        let info = cudaGraphExecUpdateResultInfo { result: said, errorNode: node, errorFromNode: ptr::null_mut() };
        // SAFETY: as the manual says.
        unsafe { put_if(resultInfo, info) };
        result
    }

    fn cudaGraphNodeGetEnabled(hGraphExec: cudaGraphExec_t, hNode: cudaGraphNode_t, isEnabled: *mut c_uint) {
        graph::put_enabled(hGraphExec, hNode, isEnabled)
    }

    fn cudaGraphNodeSetEnabled(hGraphExec: cudaGraphExec_t, hNode: cudaGraphNode_t, isEnabled: c_uint) {
        graph::executable(hGraphExec)?.set_enabled(hNode as usize, isEnabled != 0)
    }

    fn cudaGraphDebugDotPrint(graph: cudaGraph_t, path: *const c_char, flags: c_uint) {
        // All that there is to say is said.
        let _ = flags;
        graph::print(graph, path)
    }

    fn cudaDeviceGetGraphMemAttribute(device: c_int, attr: cudaGraphMemAttributeType, value: *mut c_void) {
        check_device(device)?;
        graph::put_memory_attribute(attr, value)
    }

    fn cudaDeviceSetGraphMemAttribute(device: c_int, attr: cudaGraphMemAttributeType, value: *mut c_void) {
        check_device(device)?;
        graph::set_memory_attribute(attr, value)
    }

    fn cudaDeviceGraphMemTrim(device: c_int) {
        // Graphs have no memory besides what their nodes allocate.
        check_device(device)
    }

    fn cudaGraphGetId(hGraph: cudaGraph_t, graphID: *mut c_uint) {
        graph::put_id(graph::of(hGraph)?.handle.number(), graphID)
    }

    fn cudaGraphExecGetId(hGraphExec: cudaGraphExec_t, graphID: *mut c_uint) {
        graph::put_id(graph::executable(hGraphExec)?.handle.number(), graphID)
    }

    fn cudaGraphNodeGetContainingGraph(hNode: cudaGraphNode_t, phGraph: *mut cudaGraph_t) {
        graph::put_graph(phGraph, &*api::graph::graph_of(hNode as usize)?)
    }

    fn cudaGraphNodeGetLocalId(hNode: cudaGraphNode_t, nodeId: *mut c_uint) {
        graph::put_place(hNode, nodeId)
    }
}
