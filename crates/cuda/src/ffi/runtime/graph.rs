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

/// # Safety
/// `params.kernelParams` must be null or a list of pointers to the parameters of the kernel, and `params.extra` must
/// be null or a list of words that ends with `CU_LAUNCH_PARAM_END`.
unsafe fn kernel(params: &cudaKernelNodeParams) -> Result<Action> {
    let shape = shape(params.gridDim, params.blockDim, params.sharedMemBytes as usize, false)?;
    // SAFETY: the caller promises that `params.kernelParams` is null or a list of pointers to the parameters of the
    // kernel, and `params.extra` is null or a list of words that ends with `CU_LAUNCH_PARAM_END`.
    unsafe { graph::kernel(&kernel_of(params.func)?, shape, params.kernelParams, params.extra) }
}

/// # Safety
/// Both sides of the copy must be valid until it has run.
unsafe fn copy(params: &cudaMemcpy3DParms) -> Result<Action> {
    // SAFETY: the caller promises that both sides of the copy are valid until it has run.
    graph::copy(unsafe { copy_of_box(params) }?)
}

/// # Safety
/// Both sides of the copy must be valid until it has run.
unsafe fn copy_bytes(to: *mut c_void, from: *const c_void, bytes: usize, kind: cudaMemcpyKind) -> Result<Action> {
    // SAFETY: the caller promises that both sides of the copy are valid until it has run.
    graph::copy(unsafe { copy_of(rows(from, 0), rows(to, 0), Extent::bytes(bytes as u64), kind) }?)
}

/// # Safety
/// Both sides of the copy must be valid until it has run.
unsafe fn copy_to_symbol(
    symbol: *const c_void,
    from: *const c_void,
    bytes: usize,
    offset: usize,
    kind: cudaMemcpyKind,
) -> Result<Action> {
    let to = part_of_symbol(symbol, offset, bytes)?;
    // SAFETY: the caller promises that both sides of the copy are valid until it has run.
    graph::copy(unsafe { copy_of(rows(from, 0), to, Extent::bytes(bytes as u64), kind) }?)
}

/// # Safety
/// Both sides of the copy must be valid until it has run.
unsafe fn copy_from_symbol(
    to: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: cudaMemcpyKind,
) -> Result<Action> {
    let from = part_of_symbol(symbol, offset, bytes)?;
    // SAFETY: the caller promises that both sides of the copy are valid until it has run.
    graph::copy(unsafe { copy_of(from, rows(to, 0), Extent::bytes(bytes as u64), kind) }?)
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

/// # Safety
/// What is filled must be valid until that is done.
unsafe fn fill(params: &cudaMemsetParams) -> Result<Action> {
    let &cudaMemsetParams { dst, pitch, value, elementSize, width, height } = params;
    // SAFETY: the caller promises that what is filled is valid until that is done.
    unsafe { graph::fill(&CUDA_MEMSET_NODE_PARAMS { dst: dst as u64, pitch, value, elementSize, width, height }) }
}

/// A node of any kind. One that allocates memory says where.
///
/// # Safety
/// What the parameters point to must be valid: memory until the work has run, functions whenever they are called.
unsafe fn action(params: &mut cudaGraphNodeParams) -> Result<Action> {
    ready()?;
    // SAFETY: the type says which of the fields it is, and the caller promises that what that points to is valid.
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
        // SAFETY: the caller promises that `pGraph` is null or valid to write.
        unsafe { graph::create(pGraph, flags) }
    }

    fn cudaGraphDestroy(graph: cudaGraph_t) {
        api::graph::destroy(graph as usize)
    }

    fn cudaGraphClone(pGraphClone: *mut cudaGraph_t, originalGraph: cudaGraph_t) {
        // SAFETY: the caller promises that `pGraphClone` is null or valid to write.
        unsafe { graph::duplicate(pGraphClone, originalGraph) }
    }

    fn cudaGraphNodeFindInClone(pNode: *mut cudaGraphNode_t, originalNode: cudaGraphNode_t, clonedGraph: cudaGraph_t) {
        // SAFETY: the caller promises that `pNode` is null or valid to write.
        unsafe { graph::put_copy_of(pNode, originalNode, clonedGraph) }
    }

    fn cudaGraphDestroyNode(node: cudaGraphNode_t) {
        graph::remove(node)
    }

    fn cudaGraphNodeGetType(node: cudaGraphNode_t, pType: *mut cudaGraphNodeType) {
        // SAFETY: the caller promises that `pType` is null or valid to write.
        unsafe { graph::put_kind(node, pType) }
    }

    fn cudaGraphGetNodes(graph: cudaGraph_t, nodes: *mut cudaGraphNode_t, numNodes: *mut usize) {
        // SAFETY: the caller promises that `nodes` is null or valid to write as many nodes as the count says, and
        // `numNodes` is null or valid to read and write.
        unsafe { graph::put_nodes(nodes, graph::NO_EDGES, numNodes, &graph::of(graph)?.list()) }
    }

    fn cudaGraphGetRootNodes(graph: cudaGraph_t, pRootNodes: *mut cudaGraphNode_t, pNumRootNodes: *mut usize) {
        // SAFETY: the caller promises that `pRootNodes` is null or valid to write as many nodes as the count says, and
        // `pNumRootNodes` is null or valid to read and write.
        unsafe { graph::put_nodes(pRootNodes, graph::NO_EDGES, pNumRootNodes, &graph::of(graph)?.roots()) }
    }

    fn cudaGraphGetEdges_11(
        graph: cudaGraph_t,
        from: *mut cudaGraphNode_t,
        to: *mut cudaGraphNode_t,
        numEdges: *mut usize,
    ) {
        // SAFETY: the caller promises that `from` and `to` are null or valid to write as many nodes as the count says,
        // and `numEdges` is null or valid to read and write.
        unsafe { graph::put_edges(graph, from, to, graph::NO_EDGES, numEdges) }
    }

    fn cudaGraphGetEdges(
        graph: cudaGraph_t,
        from: *mut cudaGraphNode_t,
        to: *mut cudaGraphNode_t,
        edgeData: *mut cudaGraphEdgeData,
        numEdges: *mut usize,
    ) {
        // SAFETY: the caller promises that `from` and `to` are null or valid to write as many nodes as the count says,
        // `edgeData` is null or valid to write as many edges, and `numEdges` is null or valid to read and write.
        unsafe { graph::put_edges(graph, from, to, edgeData, numEdges) }
    }

    fn cudaGraphGetEdges_v2(
        graph: cudaGraph_t,
        from: *mut cudaGraphNode_t,
        to: *mut cudaGraphNode_t,
        edgeData: *mut cudaGraphEdgeData,
        numEdges: *mut usize,
    ) {
        // SAFETY: the caller promises that `from` and `to` are null or valid to write as many nodes as the count says,
        // `edgeData` is null or valid to write as many edges, and `numEdges` is null or valid to read and write.
        unsafe { graph::put_edges(graph, from, to, edgeData, numEdges) }
    }

    fn cudaGraphNodeGetDependencies_11(
        node: cudaGraphNode_t,
        pDependencies: *mut cudaGraphNode_t,
        pNumDependencies: *mut usize,
    ) {
        // SAFETY: the caller promises that `pDependencies` is null or valid to write as many nodes as the count says,
        // and `pNumDependencies` is null or valid to read and write.
        unsafe { graph::put_before(node, pDependencies, graph::NO_EDGES, pNumDependencies) }
    }

    fn cudaGraphNodeGetDependencies(
        node: cudaGraphNode_t,
        pDependencies: *mut cudaGraphNode_t,
        edgeData: *mut cudaGraphEdgeData,
        pNumDependencies: *mut usize,
    ) {
        // SAFETY: the caller promises that `pDependencies` is null or valid to write as many nodes as the count says,
        // `edgeData` is null or valid to write as many edges, and `pNumDependencies` is null or valid to read and
        // write.
        unsafe { graph::put_before(node, pDependencies, edgeData, pNumDependencies) }
    }

    fn cudaGraphNodeGetDependencies_v2(
        node: cudaGraphNode_t,
        pDependencies: *mut cudaGraphNode_t,
        edgeData: *mut cudaGraphEdgeData,
        pNumDependencies: *mut usize,
    ) {
        // SAFETY: the caller promises that `pDependencies` is null or valid to write as many nodes as the count says,
        // `edgeData` is null or valid to write as many edges, and `pNumDependencies` is null or valid to read and
        // write.
        unsafe { graph::put_before(node, pDependencies, edgeData, pNumDependencies) }
    }

    fn cudaGraphNodeGetDependentNodes_11(
        node: cudaGraphNode_t,
        pDependentNodes: *mut cudaGraphNode_t,
        pNumDependentNodes: *mut usize,
    ) {
        // SAFETY: the caller promises that `pDependentNodes` is null or valid to write as many nodes as the count
        // says, and `pNumDependentNodes` is null or valid to read and write.
        unsafe { graph::put_after(node, pDependentNodes, graph::NO_EDGES, pNumDependentNodes) }
    }

    fn cudaGraphNodeGetDependentNodes(
        node: cudaGraphNode_t,
        pDependentNodes: *mut cudaGraphNode_t,
        edgeData: *mut cudaGraphEdgeData,
        pNumDependentNodes: *mut usize,
    ) {
        // SAFETY: the caller promises that `pDependentNodes` is null or valid to write as many nodes as the count
        // says, `edgeData` is null or valid to write as many edges, and `pNumDependentNodes` is null or valid to read
        // and write.
        unsafe { graph::put_after(node, pDependentNodes, edgeData, pNumDependentNodes) }
    }

    fn cudaGraphNodeGetDependentNodes_v2(
        node: cudaGraphNode_t,
        pDependentNodes: *mut cudaGraphNode_t,
        edgeData: *mut cudaGraphEdgeData,
        pNumDependentNodes: *mut usize,
    ) {
        // SAFETY: the caller promises that `pDependentNodes` is null or valid to write as many nodes as the count
        // says, `edgeData` is null or valid to write as many edges, and `pNumDependentNodes` is null or valid to read
        // and write.
        unsafe { graph::put_after(node, pDependentNodes, edgeData, pNumDependentNodes) }
    }

    fn cudaGraphAddDependencies_11(
        graph: cudaGraph_t,
        from: *const cudaGraphNode_t,
        to: *const cudaGraphNode_t,
        numDependencies: usize,
    ) {
        // SAFETY: the caller promises that `from` and `to` are null or valid to read `numDependencies` elements.
        unsafe { graph::connect(graph, from, to, numDependencies) }
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
        // SAFETY: the caller promises that `from` and `to` are null or valid to read `numDependencies` elements.
        unsafe { graph::connect(graph, from, to, numDependencies) }
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
        // SAFETY: the caller promises that `from` and `to` are null or valid to read `numDependencies` elements.
        unsafe { graph::connect(graph, from, to, numDependencies) }
    }

    fn cudaGraphRemoveDependencies_11(
        graph: cudaGraph_t,
        from: *const cudaGraphNode_t,
        to: *const cudaGraphNode_t,
        numDependencies: usize,
    ) {
        // SAFETY: the caller promises that `from` and `to` are null or valid to read `numDependencies` elements.
        unsafe { graph::disconnect(graph, from, to, numDependencies) }
    }

    fn cudaGraphRemoveDependencies(
        graph: cudaGraph_t,
        from: *const cudaGraphNode_t,
        to: *const cudaGraphNode_t,
        edgeData: *const cudaGraphEdgeData,
        numDependencies: usize,
    ) {
        let _ = edgeData;
        // SAFETY: the caller promises that `from` and `to` are null or valid to read `numDependencies` elements.
        unsafe { graph::disconnect(graph, from, to, numDependencies) }
    }

    fn cudaGraphRemoveDependencies_v2(
        graph: cudaGraph_t,
        from: *const cudaGraphNode_t,
        to: *const cudaGraphNode_t,
        edgeData: *const cudaGraphEdgeData,
        numDependencies: usize,
    ) {
        let _ = edgeData;
        // SAFETY: the caller promises that `from` and `to` are null or valid to read `numDependencies` elements.
        unsafe { graph::disconnect(graph, from, to, numDependencies) }
    }

    fn cudaGraphAddEmptyNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
    ) {
        // SAFETY: the caller promises that `pGraphNode` is null or valid to write, and `pDependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(pGraphNode, graph, pDependencies, numDependencies, graph::empty()) }
    }

    fn cudaGraphAddKernelNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        pNodeParams: *const cudaKernelNodeParams,
    ) {
        // SAFETY: the caller promises that `pNodeParams` is null or valid to read.
        let action = unsafe { kernel(get(pNodeParams)?) }?;
        // SAFETY: the caller promises that `pGraphNode` is null or valid to write, and `pDependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(pGraphNode, graph, pDependencies, numDependencies, action) }
    }

    fn cudaGraphAddMemcpyNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        pCopyParams: *const cudaMemcpy3DParms,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run, and `pCopyParams` is
        // null or valid to read.
        let action = unsafe { copy(get(pCopyParams)?) }?;
        // SAFETY: the caller promises that `pGraphNode` is null or valid to write, and `pDependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(pGraphNode, graph, pDependencies, numDependencies, action) }
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
        // SAFETY: the caller promises that `pGraphNode` is null or valid to write, `pDependencies` is null or valid to
        // read `numDependencies` elements, and both sides of the copy are valid until it has run.
        unsafe { graph::add(pGraphNode, graph, pDependencies, numDependencies, copy_bytes(dst, src, count, kind)?) }
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
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        let action = unsafe { copy_to_symbol(symbol, src, count, offset, kind) }?;
        // SAFETY: the caller promises that `pGraphNode` is null or valid to write, and `pDependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(pGraphNode, graph, pDependencies, numDependencies, action) }
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
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        let action = unsafe { copy_from_symbol(dst, symbol, count, offset, kind) }?;
        // SAFETY: the caller promises that `pGraphNode` is null or valid to write, and `pDependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(pGraphNode, graph, pDependencies, numDependencies, action) }
    }

    fn cudaGraphAddMemsetNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        pMemsetParams: *const cudaMemsetParams,
    ) {
        // SAFETY: the caller promises that what is filled is valid until that is done, and `pMemsetParams` is null or
        // valid to read.
        let action = unsafe { fill(get(pMemsetParams)?) }?;
        // SAFETY: the caller promises that `pGraphNode` is null or valid to write, and `pDependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(pGraphNode, graph, pDependencies, numDependencies, action) }
    }

    fn cudaGraphAddHostNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        pNodeParams: *const cudaHostNodeParams,
    ) {
        // SAFETY: the caller promises that `pNodeParams` is null or valid to read.
        let params = unsafe { get(pNodeParams) }?;
        // SAFETY: the caller promises that `pGraphNode` is null or valid to write, `pDependencies` is null or valid to
        // read `numDependencies` elements, and `params.r#fn` is null or a function that may be called with
        // `params.userData`, later and on any thread.
        unsafe { graph::add(pGraphNode, graph, pDependencies, numDependencies, graph::host(params.r#fn, params.userData)?) }
    }

    fn cudaGraphAddChildGraphNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        childGraph: cudaGraph_t,
    ) {
        // SAFETY: the caller promises that `pGraphNode` is null or valid to write, and `pDependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(pGraphNode, graph, pDependencies, numDependencies, graph::child(childGraph)?) }
    }

    fn cudaGraphAddEventRecordNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        event: cudaEvent_t,
    ) {
        // SAFETY: the caller promises that `pGraphNode` is null or valid to write, and `pDependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(pGraphNode, graph, pDependencies, numDependencies, graph::record(event)?) }
    }

    fn cudaGraphAddEventWaitNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        event: cudaEvent_t,
    ) {
        // SAFETY: the caller promises that `pGraphNode` is null or valid to write, and `pDependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(pGraphNode, graph, pDependencies, numDependencies, graph::wait(event)?) }
    }

    fn cudaGraphAddMemAllocNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        nodeParams: *mut cudaMemAllocNodeParams,
    ) {
        ready()?;
        // SAFETY: the caller promises that `nodeParams` is null or valid to read and write.
        let params = unsafe { nodeParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?;
        let (action, address) = graph::allocate(params.bytesize)?;
        params.dptr = address as *mut c_void;
        // SAFETY: the caller promises that `pGraphNode` is null or valid to write, and `pDependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(pGraphNode, graph, pDependencies, numDependencies, action) }
    }

    fn cudaGraphAddMemFreeNode(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        dptr: *mut c_void,
    ) {
        // SAFETY: the caller promises that `pGraphNode` is null or valid to write, and `pDependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(pGraphNode, graph, pDependencies, numDependencies, graph::free(dptr as u64)?) }
    }

    fn cudaGraphAddNode_12(
        pGraphNode: *mut cudaGraphNode_t,
        graph: cudaGraph_t,
        pDependencies: *const cudaGraphNode_t,
        numDependencies: usize,
        nodeParams: *mut cudaGraphNodeParams,
    ) {
        // SAFETY: the caller promises that `nodeParams` is null or valid to read and write, and what it points to is valid.
        let action = unsafe { action(nodeParams.as_mut().ok_or(CudaError::INVALID_VALUE)?) }?;
        // SAFETY: the caller promises that `pGraphNode` is null or valid to write, and `pDependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(pGraphNode, graph, pDependencies, numDependencies, action) }
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
        // SAFETY: the caller promises that `nodeParams` is null or valid to read and write, and what it points to is valid.
        let action = unsafe { action(nodeParams.as_mut().ok_or(CudaError::INVALID_VALUE)?) }?;
        // SAFETY: the caller promises that `pGraphNode` is null or valid to write, and `pDependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(pGraphNode, graph, pDependencies, numDependencies, action) }
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
        // SAFETY: the caller promises that `nodeParams` is null or valid to read and write, and what it points to is valid.
        let action = unsafe { action(nodeParams.as_mut().ok_or(CudaError::INVALID_VALUE)?) }?;
        // SAFETY: the caller promises that `pGraphNode` is null or valid to write, and `pDependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(pGraphNode, graph, pDependencies, numDependencies, action) }
    }

    fn cudaGraphNodeSetParams(node: cudaGraphNode_t, nodeParams: *mut cudaGraphNodeParams) {
        // SAFETY: the caller promises that `nodeParams` is null or valid to read and write, and what it points to is valid.
        let action = unsafe { action(nodeParams.as_mut().ok_or(CudaError::INVALID_VALUE)?) }?;
        graph::set(node, action)
    }

    fn cudaGraphExecNodeSetParams(
        graphExec: cudaGraphExec_t,
        node: cudaGraphNode_t,
        nodeParams: *mut cudaGraphNodeParams,
    ) {
        // SAFETY: the caller promises that `nodeParams` is null or valid to read and write, and what it points to is valid.
        let action = unsafe { action(nodeParams.as_mut().ok_or(CudaError::INVALID_VALUE)?) }?;
        graph::set_in(graphExec, node, action)
    }

    fn cudaGraphKernelNodeGetParams(node: cudaGraphNode_t, pNodeParams: *mut cudaKernelNodeParams) {
        let launch = graph::launch_of(node)?;
        let size = |[x, y, z]: [c_uint; 3]| dim3 { x, y, z };
        let params = cudaKernelNodeParams {
            func: registry::host_of(launch.kernel()).unwrap_or(launch.kernel().handle.number()) as *mut c_void,
            gridDim: size(launch.shape().grid),
            blockDim: size(launch.shape().block),
            sharedMemBytes: launch.shape().dynamic_shared,
            kernelParams: graph::param_pointers(&launch),
            extra: ptr::null_mut(),
        };
        // SAFETY: the caller promises that `pNodeParams` is null or valid to write.
        unsafe { put(pNodeParams, params) }
    }

    fn cudaGraphKernelNodeSetParams(node: cudaGraphNode_t, pNodeParams: *const cudaKernelNodeParams) {
        // SAFETY: the caller promises that `pNodeParams` is null or valid to read.
        graph::set(node, unsafe { kernel(get(pNodeParams)?) }?)
    }

    fn cudaGraphExecKernelNodeSetParams(
        hGraphExec: cudaGraphExec_t,
        node: cudaGraphNode_t,
        pNodeParams: *const cudaKernelNodeParams,
    ) {
        // SAFETY: the caller promises that `pNodeParams` is null or valid to read.
        graph::set_in(hGraphExec, node, unsafe { kernel(get(pNodeParams)?) }?)
    }

    fn cudaGraphKernelNodeSetAttribute(
        hNode: cudaGraphNode_t,
        attr: cudaLaunchAttributeID,
        value: *const cudaLaunchAttributeValue,
    ) {
        // SAFETY: the caller promises that `value` is null or valid to read.
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
        // SAFETY: the caller promises that `value_out` is null or valid to write.
        unsafe { put(value_out, value) }
    }

    fn cudaGraphKernelNodeCopyAttributes(hDst: cudaGraphNode_t, hSrc: cudaGraphNode_t) {
        graph::set_cooperative(hDst, graph::launch_of(hSrc)?.shape().is_cooperative)
    }

    fn cudaGraphMemcpyNodeGetParams(node: cudaGraphNode_t, pNodeParams: *mut cudaMemcpy3DParms) {
        let params = copy_params(&graph::copy_of(node)?);
        // SAFETY: the caller promises that `pNodeParams` is null or valid to write.
        unsafe { put(pNodeParams, params) }
    }

    fn cudaGraphMemcpyNodeSetParams(node: cudaGraphNode_t, pNodeParams: *const cudaMemcpy3DParms) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run, and `pNodeParams` is
        // null or valid to read.
        graph::set(node, unsafe { copy(get(pNodeParams)?) }?)
    }

    fn cudaGraphMemcpyNodeSetParams1D(
        node: cudaGraphNode_t,
        dst: *mut c_void,
        src: *const c_void,
        count: usize,
        kind: cudaMemcpyKind,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        graph::set(node, unsafe { copy_bytes(dst, src, count, kind) }?)
    }

    fn cudaGraphMemcpyNodeSetParamsToSymbol(
        node: cudaGraphNode_t,
        symbol: *const c_void,
        src: *const c_void,
        count: usize,
        offset: usize,
        kind: cudaMemcpyKind,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        graph::set(node, unsafe { copy_to_symbol(symbol, src, count, offset, kind) }?)
    }

    fn cudaGraphMemcpyNodeSetParamsFromSymbol(
        node: cudaGraphNode_t,
        dst: *mut c_void,
        symbol: *const c_void,
        count: usize,
        offset: usize,
        kind: cudaMemcpyKind,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        graph::set(node, unsafe { copy_from_symbol(dst, symbol, count, offset, kind) }?)
    }

    fn cudaGraphExecMemcpyNodeSetParams(
        hGraphExec: cudaGraphExec_t,
        node: cudaGraphNode_t,
        pNodeParams: *const cudaMemcpy3DParms,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run, and `pNodeParams` is
        // null or valid to read.
        graph::set_in(hGraphExec, node, unsafe { copy(get(pNodeParams)?) }?)
    }

    fn cudaGraphExecMemcpyNodeSetParams1D(
        hGraphExec: cudaGraphExec_t,
        node: cudaGraphNode_t,
        dst: *mut c_void,
        src: *const c_void,
        count: usize,
        kind: cudaMemcpyKind,
    ) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        graph::set_in(hGraphExec, node, unsafe { copy_bytes(dst, src, count, kind) }?)
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
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        graph::set_in(hGraphExec, node, unsafe { copy_to_symbol(symbol, src, count, offset, kind) }?)
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
        // SAFETY: the caller promises that both sides of the copy are valid until it has run.
        graph::set_in(hGraphExec, node, unsafe { copy_from_symbol(dst, symbol, count, offset, kind) }?)
    }

    fn cudaGraphMemsetNodeGetParams(node: cudaGraphNode_t, pNodeParams: *mut cudaMemsetParams) {
        let CUDA_MEMSET_NODE_PARAMS { dst, pitch, value, elementSize, width, height } = graph::fill_of(node)?;
        let params = cudaMemsetParams { dst: dst as *mut c_void, pitch, value, elementSize, width, height };
        // SAFETY: the caller promises that `pNodeParams` is null or valid to write.
        unsafe { put(pNodeParams, params) }
    }

    fn cudaGraphMemsetNodeSetParams(node: cudaGraphNode_t, pNodeParams: *const cudaMemsetParams) {
        // SAFETY: the caller promises that what is filled is valid until that is done, and `pNodeParams` is null or
        // valid to read.
        graph::set(node, unsafe { fill(get(pNodeParams)?) }?)
    }

    fn cudaGraphExecMemsetNodeSetParams(
        hGraphExec: cudaGraphExec_t,
        node: cudaGraphNode_t,
        pNodeParams: *const cudaMemsetParams,
    ) {
        // SAFETY: the caller promises that what is filled is valid until that is done, and `pNodeParams` is null or
        // valid to read.
        graph::set_in(hGraphExec, node, unsafe { fill(get(pNodeParams)?) }?)
    }

    fn cudaGraphHostNodeGetParams(node: cudaGraphNode_t, pNodeParams: *mut cudaHostNodeParams) {
        let (function, userData) = graph::host_of(node)?;
        // SAFETY: the caller promises that `pNodeParams` is null or valid to write.
        unsafe { put(pNodeParams, cudaHostNodeParams { r#fn: function, userData }) }
    }

    fn cudaGraphHostNodeSetParams(node: cudaGraphNode_t, pNodeParams: *const cudaHostNodeParams) {
        // SAFETY: the caller promises that `pNodeParams` is null or valid to read.
        let params = unsafe { get(pNodeParams) }?;
        // SAFETY: the caller promises that `params.r#fn` is null or a function that may be called with
        // `params.userData`, later and on any thread.
        graph::set(node, unsafe { graph::host(params.r#fn, params.userData) }?)
    }

    fn cudaGraphExecHostNodeSetParams(
        hGraphExec: cudaGraphExec_t,
        node: cudaGraphNode_t,
        pNodeParams: *const cudaHostNodeParams,
    ) {
        // SAFETY: the caller promises that `pNodeParams` is null or valid to read.
        let params = unsafe { get(pNodeParams) }?;
        // SAFETY: the caller promises that `params.r#fn` is null or a function that may be called with
        // `params.userData`, later and on any thread.
        graph::set_in(hGraphExec, node, unsafe { graph::host(params.r#fn, params.userData) }?)
    }

    fn cudaGraphChildGraphNodeGetGraph(node: cudaGraphNode_t, pGraph: *mut cudaGraph_t) {
        // SAFETY: the caller promises that `pGraph` is null or valid to write.
        unsafe { graph::put_child(node, pGraph) }
    }

    fn cudaGraphExecChildGraphNodeSetParams(
        hGraphExec: cudaGraphExec_t,
        node: cudaGraphNode_t,
        childGraph: cudaGraph_t,
    ) {
        graph::executable(hGraphExec)?.set_child(node as usize, &*graph::of(childGraph)?)
    }

    fn cudaGraphEventRecordNodeGetEvent(node: cudaGraphNode_t, event_out: *mut cudaEvent_t) {
        // SAFETY: the caller promises that `event_out` is null or valid to write.
        unsafe { graph::put_event(node, event_out, true) }
    }

    fn cudaGraphEventWaitNodeGetEvent(node: cudaGraphNode_t, event_out: *mut cudaEvent_t) {
        // SAFETY: the caller promises that `event_out` is null or valid to write.
        unsafe { graph::put_event(node, event_out, false) }
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
        // SAFETY: the caller promises that `params_out` is null or valid to write.
        unsafe { put(params_out, params) }
    }

    fn cudaGraphMemFreeNodeGetParams(node: cudaGraphNode_t, dptr_out: *mut c_void) {
        let address = graph::freed_by(node)?;
        // SAFETY: the caller promises that `dptr_out` is null or points to a pointer that is valid to write.
        unsafe { put(dptr_out.cast(), address) }
    }

    fn cudaGraphInstantiate_11(
        pGraphExec: *mut cudaGraphExec_t,
        graph: cudaGraph_t,
        pErrorNode: *mut cudaGraphNode_t,
        pLogBuffer: *mut c_char,
        bufferSize: usize,
    ) {
        // SAFETY: the caller promises that `pGraphExec` and `pErrorNode` are null or valid to write, and `pLogBuffer`
        // is null or valid to write `bufferSize` elements.
        unsafe { graph::instantiate_with_log(pGraphExec, graph, pErrorNode, pLogBuffer, bufferSize) }
    }

    fn cudaGraphInstantiate(pGraphExec: *mut cudaGraphExec_t, graph: cudaGraph_t, flags: c_ulonglong) {
        // SAFETY: the caller promises that `pGraphExec` is null or valid to write.
        unsafe { graph::instantiate(pGraphExec, graph, flags) }
    }

    fn cudaGraphInstantiateWithFlags(pGraphExec: *mut cudaGraphExec_t, graph: cudaGraph_t, flags: c_ulonglong) {
        // SAFETY: the caller promises that `pGraphExec` is null or valid to write.
        unsafe { graph::instantiate(pGraphExec, graph, flags) }
    }

    fn cudaGraphInstantiateWithParams, cudaGraphInstantiateWithParams_ptsz(
        default;
        pGraphExec: *mut cudaGraphExec_t,
        graph: cudaGraph_t,
        instantiateParams: *mut cudaGraphInstantiateParams,
    ) {
        // There is nothing to upload.
        let _ = default;
        // SAFETY: the caller promises that `instantiateParams` is null or valid to read and write.
        let params = unsafe { instantiateParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?;
        // SAFETY: the caller promises that `pGraphExec` is null or valid to write.
        let (result, said) = unsafe { graph::instantiate_with_result(pGraphExec, graph, params.flags) };
        params.errNode_out = ptr::null_mut();
        params.result_out = said;
        result
    }

    fn cudaGraphExecGetFlags(graphExec: cudaGraphExec_t, flags: *mut c_ulonglong) {
        let value = graph::executable(graphExec)?.flags;
        // SAFETY: the caller promises that `flags` is null or valid to write.
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
        EXECUTABLES.destroy(graphExec as usize).map(drop)
    }

    fn cudaGraphExecUpdate_11(
        hGraphExec: cudaGraphExec_t,
        hGraph: cudaGraph_t,
        hErrorNode_out: *mut cudaGraphNode_t,
        updateResult_out: *mut cudaGraphExecUpdateResult,
    ) {
        let (result, said, node) = graph::update(hGraphExec, hGraph)?;
        // SAFETY: the caller promises that `hErrorNode_out` and `updateResult_out` are null or valid to write.
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
        // SAFETY: the caller promises that `resultInfo` is null or valid to write.
        unsafe { put_if(resultInfo, info) };
        result
    }

    fn cudaGraphNodeGetEnabled(hGraphExec: cudaGraphExec_t, hNode: cudaGraphNode_t, isEnabled: *mut c_uint) {
        // SAFETY: the caller promises that `isEnabled` is null or valid to write.
        unsafe { graph::put_enabled(hGraphExec, hNode, isEnabled) }
    }

    fn cudaGraphNodeSetEnabled(hGraphExec: cudaGraphExec_t, hNode: cudaGraphNode_t, isEnabled: c_uint) {
        graph::executable(hGraphExec)?.set_enabled(hNode as usize, isEnabled != 0)
    }

    fn cudaGraphDebugDotPrint(graph: cudaGraph_t, path: *const c_char, flags: c_uint) {
        // All that there is to say is said.
        let _ = flags;
        // SAFETY: the caller promises that `path` is null or a string that ends with zero.
        unsafe { graph::print(graph, path) }
    }

    fn cudaDeviceGetGraphMemAttribute(device: c_int, attr: cudaGraphMemAttributeType, value: *mut c_void) {
        check_device(device)?;
        // SAFETY: the caller promises that `value` is null or valid to write.
        unsafe { graph::put_memory_attribute(attr, value) }
    }

    fn cudaDeviceSetGraphMemAttribute(device: c_int, attr: cudaGraphMemAttributeType, value: *mut c_void) {
        check_device(device)?;
        // SAFETY: the caller promises that `value` is null or valid to read.
        unsafe { graph::set_memory_attribute(attr, value) }
    }

    fn cudaDeviceGraphMemTrim(device: c_int) {
        // Graphs have no memory besides what their nodes allocate.
        check_device(device).map(drop)
    }

    fn cudaGraphGetId(hGraph: cudaGraph_t, graphID: *mut c_uint) {
        // SAFETY: the caller promises that `graphID` is null or valid to write.
        unsafe { graph::put_id(graph::of(hGraph)?.handle.number(), graphID) }
    }

    fn cudaGraphExecGetId(hGraphExec: cudaGraphExec_t, graphID: *mut c_uint) {
        // SAFETY: the caller promises that `graphID` is null or valid to write.
        unsafe { graph::put_id(graph::executable(hGraphExec)?.handle.number(), graphID) }
    }

    fn cudaGraphNodeGetContainingGraph(hNode: cudaGraphNode_t, phGraph: *mut cudaGraph_t) {
        // SAFETY: the caller promises that `phGraph` is null or valid to write.
        unsafe { graph::put_graph(phGraph, &*api::graph::graph_of(hNode as usize)?) }
    }

    fn cudaGraphNodeGetLocalId(hNode: cudaGraphNode_t, nodeId: *mut c_uint) {
        // SAFETY: the caller promises that `nodeId` is null or valid to write.
        unsafe { graph::put_place(hNode, nodeId) }
    }
}
