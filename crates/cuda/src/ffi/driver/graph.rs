//! Graphs.

use std::ffi::{c_char, c_uint, c_ulonglong, c_void};
use std::ptr;

use crate::abi::driver::*;
use crate::api::executable::EXECUTABLES;
use crate::api::graph::Action;
use crate::api::kernel::KERNELS;
use crate::api::stream_handle::{self, DefaultStream};
use crate::api::{self, context, device};
use crate::error::{CudaError, Result};
use crate::ffi::driver::transfer::copy_of_box;
use crate::ffi::{export, get, graph, put, put_if};
use crate::launch_shape::LaunchShape;
use crate::transfer::{Copy, Side};

/// Turns one of the structures that describe a launch into a node: they differ only at their ends.
macro_rules! kernel_of {
    ($params:ident, $kernel:expr) => {{
        let shape = LaunchShape {
            grid: [$params.gridDimX, $params.gridDimY, $params.gridDimZ],
            block: [$params.blockDimX, $params.blockDimY, $params.blockDimZ],
            shared: $params.sharedMemBytes,
            is_cooperative: false,
        };
        // The driver has no error of its own for a shape that cannot be.
        graph::kernel(&KERNELS.get($kernel)?, shape, $params.kernelParams, $params.extra).map_err(|error| match error {
            CudaError::INVALID_CONFIGURATION => CudaError::INVALID_VALUE,
            _ => error,
        })
    }};
}

fn kernel_v1(params: &CUDA_KERNEL_NODE_PARAMS_v1) -> Result<Action> {
    kernel_of!(params, params.func as usize)
}

fn kernel(params: &CUDA_KERNEL_NODE_PARAMS) -> Result<Action> {
    kernel_of!(params, if params.func.is_null() { params.kern as usize } else { params.func as usize })
}

fn kernel_v3(params: &CUDA_KERNEL_NODE_PARAMS_v3) -> Result<Action> {
    kernel_of!(params, if params.func.is_null() { params.kern as usize } else { params.func as usize })
}

fn copy(params: &CUDA_MEMCPY3D) -> Result<Action> {
    graph::copy(copy_of_box(params)?)
}

/// A copy in the words of the driver: of addresses, even if the program named an array.
fn copy_params(copy: &Copy) -> CUDA_MEMCPY3D {
    // SAFETY: all of it is numbers and pointers, for which zero is a value.
    let mut params: CUDA_MEMCPY3D = unsafe { std::mem::zeroed() };
    let rows = |side: &Side| side.slice_pitch.checked_div(side.row_pitch).unwrap_or(0) as usize;
    let (from, to, extent) = (copy.from(), copy.to(), copy.extent());
    params.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    params.srcDevice = from.address;
    params.srcPitch = from.row_pitch as usize;
    params.srcHeight = rows(&from);
    params.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    params.dstDevice = to.address;
    params.dstPitch = to.row_pitch as usize;
    params.dstHeight = rows(&to);
    params.WidthInBytes = extent.width as usize;
    params.Height = extent.height as usize;
    params.Depth = extent.depth as usize;
    params
}

/// A node of any kind. One that allocates memory says where.
fn action(params: &mut CUgraphNodeParams) -> Result<Action> {
    // SAFETY: the type says which of the fields it is.
    unsafe {
        match params.r#type {
            CU_GRAPH_NODE_TYPE_KERNEL => kernel_v3(&params.unnamed.kernel),
            CU_GRAPH_NODE_TYPE_MEMCPY => copy(&params.unnamed.memcpy.copyParams),
            CU_GRAPH_NODE_TYPE_MEMSET => {
                let CUDA_MEMSET_NODE_PARAMS_v2 { dst, pitch, value, elementSize, width, height, .. } =
                    params.unnamed.memset;
                graph::fill(&CUDA_MEMSET_NODE_PARAMS { dst, pitch, value, elementSize, width, height })
            }
            CU_GRAPH_NODE_TYPE_HOST => graph::host(params.unnamed.host.r#fn, params.unnamed.host.userData),
            CU_GRAPH_NODE_TYPE_GRAPH => graph::child(params.unnamed.graph.graph),
            CU_GRAPH_NODE_TYPE_EMPTY => Ok(graph::empty()),
            CU_GRAPH_NODE_TYPE_WAIT_EVENT => graph::wait(params.unnamed.eventWait.event),
            CU_GRAPH_NODE_TYPE_EVENT_RECORD => graph::record(params.unnamed.eventRecord.event),
            CU_GRAPH_NODE_TYPE_MEM_ALLOC => {
                let (action, address) = graph::allocate(params.unnamed.alloc.bytesize)?;
                params.unnamed.alloc.dptr = address;
                Ok(action)
            }
            CU_GRAPH_NODE_TYPE_MEM_FREE => graph::free(params.unnamed.free.dptr),
            kind => Err(graph::refuse_kind(kind)),
        }
    }
}

export! {
    fn cuGraphCreate(phGraph: *mut CUgraph, flags: c_uint) {
        context::require()?;
        graph::create(phGraph, flags)
    }

    fn cuGraphDestroy(hGraph: CUgraph) {
        api::graph::destroy(hGraph as usize)
    }

    fn cuGraphClone(phGraphClone: *mut CUgraph, originalGraph: CUgraph) {
        graph::duplicate(phGraphClone, originalGraph)
    }

    fn cuGraphNodeFindInClone(phNode: *mut CUgraphNode, hOriginalNode: CUgraphNode, hClonedGraph: CUgraph) {
        graph::put_copy_of(phNode, hOriginalNode, hClonedGraph)
    }

    fn cuGraphDestroyNode(hNode: CUgraphNode) {
        graph::remove(hNode)
    }

    fn cuGraphNodeGetType(hNode: CUgraphNode, r#type: *mut CUgraphNodeType) {
        graph::put_kind(hNode, r#type)
    }

    fn cuGraphGetNodes(hGraph: CUgraph, nodes: *mut CUgraphNode, numNodes: *mut usize) {
        graph::put_nodes(nodes, graph::NO_EDGES, numNodes, &graph::of(hGraph)?.list())
    }

    fn cuGraphGetRootNodes(hGraph: CUgraph, rootNodes: *mut CUgraphNode, numRootNodes: *mut usize) {
        graph::put_nodes(rootNodes, graph::NO_EDGES, numRootNodes, &graph::of(hGraph)?.roots())
    }

    fn cuGraphGetEdges(hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, numEdges: *mut usize) {
        graph::put_edges(hGraph, from, to, graph::NO_EDGES, numEdges)
    }

    fn cuGraphGetEdges_v2(
        hGraph: CUgraph,
        from: *mut CUgraphNode,
        to: *mut CUgraphNode,
        edgeData: *mut CUgraphEdgeData,
        numEdges: *mut usize,
    ) {
        graph::put_edges(hGraph, from, to, edgeData, numEdges)
    }

    fn cuGraphNodeGetDependencies(hNode: CUgraphNode, dependencies: *mut CUgraphNode, numDependencies: *mut usize) {
        graph::put_before(hNode, dependencies, graph::NO_EDGES, numDependencies)
    }

    fn cuGraphNodeGetDependencies_v2(
        hNode: CUgraphNode,
        dependencies: *mut CUgraphNode,
        edgeData: *mut CUgraphEdgeData,
        numDependencies: *mut usize,
    ) {
        graph::put_before(hNode, dependencies, edgeData, numDependencies)
    }

    fn cuGraphNodeGetDependentNodes(
        hNode: CUgraphNode,
        dependentNodes: *mut CUgraphNode,
        numDependentNodes: *mut usize,
    ) {
        graph::put_after(hNode, dependentNodes, graph::NO_EDGES, numDependentNodes)
    }

    fn cuGraphNodeGetDependentNodes_v2(
        hNode: CUgraphNode,
        dependentNodes: *mut CUgraphNode,
        edgeData: *mut CUgraphEdgeData,
        numDependentNodes: *mut usize,
    ) {
        graph::put_after(hNode, dependentNodes, edgeData, numDependentNodes)
    }

    fn cuGraphAddDependencies(
        hGraph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        numDependencies: usize,
    ) {
        graph::connect(hGraph, from, to, numDependencies)
    }

    fn cuGraphAddDependencies_v2(
        hGraph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        edgeData: *const CUgraphEdgeData,
        numDependencies: usize,
    ) {
        // Whatever kind of edge it is, that one comes before the other.
        let _ = edgeData;
        graph::connect(hGraph, from, to, numDependencies)
    }

    fn cuGraphRemoveDependencies(
        hGraph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        numDependencies: usize,
    ) {
        graph::disconnect(hGraph, from, to, numDependencies)
    }

    fn cuGraphRemoveDependencies_v2(
        hGraph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        edgeData: *const CUgraphEdgeData,
        numDependencies: usize,
    ) {
        let _ = edgeData;
        graph::disconnect(hGraph, from, to, numDependencies)
    }

    fn cuGraphAddEmptyNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
    ) {
        graph::add(phGraphNode, hGraph, dependencies, numDependencies, graph::empty())
    }

    fn cuGraphAddKernelNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1,
    ) {
        // SAFETY: as the manual says.
        let action = kernel_v1(unsafe { get(nodeParams) }?)?;
        graph::add(phGraphNode, hGraph, dependencies, numDependencies, action)
    }

    fn cuGraphAddKernelNode_v2(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
    ) {
        // SAFETY: as the manual says.
        let action = kernel(unsafe { get(nodeParams) }?)?;
        graph::add(phGraphNode, hGraph, dependencies, numDependencies, action)
    }

    fn cuGraphAddMemcpyNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        copyParams: *const CUDA_MEMCPY3D,
        ctx: CUcontext,
    ) {
        let _ = ctx;
        // SAFETY: as the manual says.
        let action = copy(unsafe { get(copyParams) }?)?;
        graph::add(phGraphNode, hGraph, dependencies, numDependencies, action)
    }

    fn cuGraphAddMemsetNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        memsetParams: *const CUDA_MEMSET_NODE_PARAMS,
        ctx: CUcontext,
    ) {
        let _ = ctx;
        // SAFETY: as the manual says.
        let action = graph::fill(unsafe { get(memsetParams) }?)?;
        graph::add(phGraphNode, hGraph, dependencies, numDependencies, action)
    }

    fn cuGraphAddHostNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *const CUDA_HOST_NODE_PARAMS,
    ) {
        // SAFETY: as the manual says.
        let params = unsafe { get(nodeParams) }?;
        graph::add(phGraphNode, hGraph, dependencies, numDependencies, graph::host(params.r#fn, params.userData)?)
    }

    fn cuGraphAddChildGraphNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        childGraph: CUgraph,
    ) {
        graph::add(phGraphNode, hGraph, dependencies, numDependencies, graph::child(childGraph)?)
    }

    fn cuGraphAddEventRecordNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        event: CUevent,
    ) {
        graph::add(phGraphNode, hGraph, dependencies, numDependencies, graph::record(event)?)
    }

    fn cuGraphAddEventWaitNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        event: CUevent,
    ) {
        graph::add(phGraphNode, hGraph, dependencies, numDependencies, graph::wait(event)?)
    }

    fn cuGraphAddMemAllocNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
    ) {
        // SAFETY: as the manual says.
        let params = unsafe { nodeParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?;
        let (action, address) = graph::allocate(params.bytesize)?;
        params.dptr = address;
        graph::add(phGraphNode, hGraph, dependencies, numDependencies, action)
    }

    fn cuGraphAddMemFreeNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        dptr: CUdeviceptr,
    ) {
        graph::add(phGraphNode, hGraph, dependencies, numDependencies, graph::free(dptr)?)
    }

    fn cuGraphAddNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *mut CUgraphNodeParams,
    ) {
        // SAFETY: as the manual says.
        let action = action(unsafe { nodeParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?)?;
        graph::add(phGraphNode, hGraph, dependencies, numDependencies, action)
    }

    fn cuGraphAddNode_v2(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        dependencyData: *const CUgraphEdgeData,
        numDependencies: usize,
        nodeParams: *mut CUgraphNodeParams,
    ) {
        let _ = dependencyData;
        // SAFETY: as the manual says.
        let action = action(unsafe { nodeParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?)?;
        graph::add(phGraphNode, hGraph, dependencies, numDependencies, action)
    }

    fn cuGraphAddNode_v3(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        dependencyData: *const CUgraphEdgeData,
        numDependencies: usize,
        nodeParams: *mut CUgraphNodeParams,
    ) {
        let _ = dependencyData;
        // SAFETY: as the manual says.
        let action = action(unsafe { nodeParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?)?;
        graph::add(phGraphNode, hGraph, dependencies, numDependencies, action)
    }

    fn cuGraphNodeSetParams(hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams) {
        // SAFETY: as the manual says.
        graph::set(hNode, action(unsafe { nodeParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?)?)
    }

    fn cuGraphNodeSetParams_v2(hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams) {
        // SAFETY: as the manual says.
        graph::set(hNode, action(unsafe { nodeParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?)?)
    }

    fn cuGraphExecNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams) {
        // SAFETY: as the manual says.
        graph::set_in(hGraphExec, hNode, action(unsafe { nodeParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?)?)
    }

    fn cuGraphKernelNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS_v1) {
        let launch = graph::launch_of(hNode)?;
        let [gridDimX, gridDimY, gridDimZ] = launch.shape().grid;
        let [blockDimX, blockDimY, blockDimZ] = launch.shape().block;
        let params = CUDA_KERNEL_NODE_PARAMS_v1 {
            func: launch.kernel().handle.number() as CUfunction,
            gridDimX,
            gridDimY,
            gridDimZ,
            blockDimX,
            blockDimY,
            blockDimZ,
            sharedMemBytes: launch.shape().shared,
            kernelParams: graph::param_pointers(&launch),
            extra: ptr::null_mut(),
        };
        // SAFETY: as the manual says.
        unsafe { put(nodeParams, params) }
    }

    fn cuGraphKernelNodeGetParams_v2(hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS) {
        let launch = graph::launch_of(hNode)?;
        let [gridDimX, gridDimY, gridDimZ] = launch.shape().grid;
        let [blockDimX, blockDimY, blockDimZ] = launch.shape().block;
        let params = CUDA_KERNEL_NODE_PARAMS {
            func: launch.kernel().handle.number() as CUfunction,
            gridDimX,
            gridDimY,
            gridDimZ,
            blockDimX,
            blockDimY,
            blockDimZ,
            sharedMemBytes: launch.shape().shared,
            kernelParams: graph::param_pointers(&launch),
            extra: ptr::null_mut(),
            kern: ptr::null_mut(),
            ctx: ptr::null_mut(),
        };
        // SAFETY: as the manual says.
        unsafe { put(nodeParams, params) }
    }

    fn cuGraphKernelNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1) {
        // SAFETY: as the manual says.
        graph::set(hNode, kernel_v1(unsafe { get(nodeParams) }?)?)
    }

    fn cuGraphKernelNodeSetParams_v2(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS) {
        // SAFETY: as the manual says.
        graph::set(hNode, kernel(unsafe { get(nodeParams) }?)?)
    }

    fn cuGraphExecKernelNodeSetParams(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1,
    ) {
        // SAFETY: as the manual says.
        graph::set_in(hGraphExec, hNode, kernel_v1(unsafe { get(nodeParams) }?)?)
    }

    fn cuGraphExecKernelNodeSetParams_v2(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
    ) {
        // SAFETY: as the manual says.
        graph::set_in(hGraphExec, hNode, kernel(unsafe { get(nodeParams) }?)?)
    }

    fn cuGraphKernelNodeSetAttribute(
        hNode: CUgraphNode,
        attr: CUkernelNodeAttrID,
        value: *const CUkernelNodeAttrValue,
    ) {
        // SAFETY: as the manual says.
        let value = unsafe { get(value) }?;
        match attr {
            // SAFETY: the identifier says which of the values it is.
            CU_LAUNCH_ATTRIBUTE_COOPERATIVE => graph::set_cooperative(hNode, unsafe { value.cooperative } != 0),
            // Priorities, windows of caches: hints.
            _ => graph::launch_of(hNode).map(drop),
        }
    }

    fn cuGraphKernelNodeGetAttribute(
        hNode: CUgraphNode,
        attr: CUkernelNodeAttrID,
        value_out: *mut CUkernelNodeAttrValue,
    ) {
        let launch = graph::launch_of(hNode)?;
        // SAFETY: all of it is numbers and pointers, for which zero is a value.
        let mut value: CUkernelNodeAttrValue = unsafe { std::mem::zeroed() };
        if attr == CU_LAUNCH_ATTRIBUTE_COOPERATIVE {
            value.cooperative = launch.shape().is_cooperative.into();
        }
        // SAFETY: as the manual says.
        unsafe { put(value_out, value) }
    }

    fn cuGraphKernelNodeCopyAttributes(dst: CUgraphNode, src: CUgraphNode) {
        graph::set_cooperative(dst, graph::launch_of(src)?.shape().is_cooperative)
    }

    fn cuGraphMemcpyNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMCPY3D) {
        let params = copy_params(&graph::copy_of(hNode)?);
        // SAFETY: as the manual says.
        unsafe { put(nodeParams, params) }
    }

    fn cuGraphMemcpyNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMCPY3D) {
        // SAFETY: as the manual says.
        graph::set(hNode, copy(unsafe { get(nodeParams) }?)?)
    }

    fn cuGraphExecMemcpyNodeSetParams(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        copyParams: *const CUDA_MEMCPY3D,
        ctx: CUcontext,
    ) {
        let _ = ctx;
        // SAFETY: as the manual says.
        graph::set_in(hGraphExec, hNode, copy(unsafe { get(copyParams) }?)?)
    }

    fn cuGraphMemsetNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMSET_NODE_PARAMS) {
        let params = graph::fill_of(hNode)?;
        // SAFETY: as the manual says.
        unsafe { put(nodeParams, params) }
    }

    fn cuGraphMemsetNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMSET_NODE_PARAMS) {
        // SAFETY: as the manual says.
        graph::set(hNode, graph::fill(unsafe { get(nodeParams) }?)?)
    }

    fn cuGraphExecMemsetNodeSetParams(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        memsetParams: *const CUDA_MEMSET_NODE_PARAMS,
        ctx: CUcontext,
    ) {
        let _ = ctx;
        // SAFETY: as the manual says.
        graph::set_in(hGraphExec, hNode, graph::fill(unsafe { get(memsetParams) }?)?)
    }

    fn cuGraphHostNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_HOST_NODE_PARAMS) {
        let (function, userData) = graph::host_of(hNode)?;
        // SAFETY: as the manual says.
        unsafe { put(nodeParams, CUDA_HOST_NODE_PARAMS { r#fn: function, userData }) }
    }

    fn cuGraphHostNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS) {
        // SAFETY: as the manual says.
        let params = unsafe { get(nodeParams) }?;
        graph::set(hNode, graph::host(params.r#fn, params.userData)?)
    }

    fn cuGraphExecHostNodeSetParams(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        nodeParams: *const CUDA_HOST_NODE_PARAMS,
    ) {
        // SAFETY: as the manual says.
        let params = unsafe { get(nodeParams) }?;
        graph::set_in(hGraphExec, hNode, graph::host(params.r#fn, params.userData)?)
    }

    fn cuGraphChildGraphNodeGetGraph(hNode: CUgraphNode, phGraph: *mut CUgraph) {
        graph::put_child(hNode, phGraph)
    }

    fn cuGraphExecChildGraphNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, childGraph: CUgraph) {
        graph::executable(hGraphExec)?.set_child(hNode as usize, &*graph::of(childGraph)?)
    }

    fn cuGraphEventRecordNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent) {
        graph::put_event(hNode, event_out, true)
    }

    fn cuGraphEventWaitNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent) {
        graph::put_event(hNode, event_out, false)
    }

    fn cuGraphEventRecordNodeSetEvent(hNode: CUgraphNode, event: CUevent) {
        graph::set(hNode, graph::record(event)?)
    }

    fn cuGraphEventWaitNodeSetEvent(hNode: CUgraphNode, event: CUevent) {
        graph::set(hNode, graph::wait(event)?)
    }

    fn cuGraphExecEventRecordNodeSetEvent(hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent) {
        graph::set_in(hGraphExec, hNode, graph::record(event)?)
    }

    fn cuGraphExecEventWaitNodeSetEvent(hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent) {
        graph::set_in(hGraphExec, hNode, graph::wait(event)?)
    }

    fn cuGraphMemAllocNodeGetParams(hNode: CUgraphNode, params_out: *mut CUDA_MEM_ALLOC_NODE_PARAMS) {
        let memory = graph::memory_of(hNode)?;
        // SAFETY: all of it is numbers and pointers, for which zero is a value.
        let mut params: CUDA_MEM_ALLOC_NODE_PARAMS = unsafe { std::mem::zeroed() };
        params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        params.poolProps.location.r#type = CU_MEM_LOCATION_TYPE_DEVICE;
        params.bytesize = memory.bytes() as usize;
        params.dptr = memory.address();
        // SAFETY: as the manual says.
        unsafe { put(params_out, params) }
    }

    fn cuGraphMemFreeNodeGetParams(hNode: CUgraphNode, dptr_out: *mut CUdeviceptr) {
        let address = graph::freed_by(hNode)?;
        // SAFETY: as the manual says.
        unsafe { put(dptr_out, address) }
    }

    fn cuGraphInstantiate(
        phGraphExec: *mut CUgraphExec,
        hGraph: CUgraph,
        phErrorNode: *mut CUgraphNode,
        logBuffer: *mut c_char,
        bufferSize: usize,
    ) {
        graph::instantiate_with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize)
    }

    fn cuGraphInstantiate_v2(
        phGraphExec: *mut CUgraphExec,
        hGraph: CUgraph,
        phErrorNode: *mut CUgraphNode,
        logBuffer: *mut c_char,
        bufferSize: usize,
    ) {
        graph::instantiate_with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize)
    }

    fn cuGraphInstantiateWithFlags(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, flags: c_ulonglong) {
        graph::instantiate(phGraphExec, hGraph, flags)
    }

    fn cuGraphInstantiateWithParams, cuGraphInstantiateWithParams_ptsz(
        default;
        phGraphExec: *mut CUgraphExec,
        hGraph: CUgraph,
        instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
    ) {
        // There is nothing to upload.
        let _ = default;
        // SAFETY: as the manual says.
        let params = unsafe { instantiateParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?;
        let (result, said) = graph::instantiate_with_result(phGraphExec, hGraph, params.flags);
        params.hErrNode_out = ptr::null_mut();
        params.result_out = said;
        result
    }

    fn cuGraphExecGetFlags(hGraphExec: CUgraphExec, flags: *mut cuuint64_t) {
        let value = graph::executable(hGraphExec)?.flags;
        // SAFETY: as the manual says.
        unsafe { put(flags, value) }
    }

    fn cuGraphUpload(hGraph: CUgraphExec, hStream: CUstream) {
        // There is nothing to upload.
        let _ = hStream;
        graph::executable(hGraph).map(drop)
    }

    fn cuGraphUpload_ptsz(hGraphExec: CUgraphExec, hStream: CUstream) {
        let _ = hStream;
        graph::executable(hGraphExec).map(drop)
    }

    fn cuGraphLaunch(hGraph: CUgraphExec, hStream: CUstream) {
        graph::executable(hGraph)?.launch(&*stream_handle::resolve(hStream as usize, DefaultStream::Legacy)?)
    }

    fn cuGraphLaunch_ptsz(hGraphExec: CUgraphExec, hStream: CUstream) {
        graph::executable(hGraphExec)?.launch(&*stream_handle::resolve(hStream as usize, DefaultStream::PerThread)?)
    }

    fn cuGraphExecDestroy(hGraphExec: CUgraphExec) {
        EXECUTABLES.remove(hGraphExec as usize).map(drop)
    }

    fn cuGraphExecUpdate(
        hGraphExec: CUgraphExec,
        hGraph: CUgraph,
        hErrorNode_out: *mut CUgraphNode,
        updateResult_out: *mut CUgraphExecUpdateResult,
    ) {
        let (result, said, node) = graph::update(hGraphExec, hGraph)?;
        // SAFETY: as the manual says.
        unsafe {
            put_if(hErrorNode_out, node);
            put_if(updateResult_out, said);
        }
        result
    }

    fn cuGraphExecUpdate_v2(hGraphExec: CUgraphExec, hGraph: CUgraph, resultInfo: *mut CUgraphExecUpdateResultInfo) {
        let (result, said, node) = graph::update(hGraphExec, hGraph)?;
        let info = CUgraphExecUpdateResultInfo { result: said, errorNode: node, errorFromNode: ptr::null_mut() };
        // SAFETY: as the manual says.
        unsafe { put_if(resultInfo, info) };
        result
    }

    fn cuGraphNodeGetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: *mut c_uint) {
        graph::put_enabled(hGraphExec, hNode, isEnabled)
    }

    fn cuGraphNodeSetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: c_uint) {
        graph::executable(hGraphExec)?.set_enabled(hNode as usize, isEnabled != 0)
    }

    fn cuGraphDebugDotPrint(hGraph: CUgraph, path: *const c_char, flags: c_uint) {
        // All that there is to say is said.
        let _ = flags;
        graph::print(hGraph, path)
    }

    fn cuDeviceGetGraphMemAttribute(device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void) {
        device::check(device)?;
        graph::put_memory_attribute(attr, value)
    }

    fn cuDeviceSetGraphMemAttribute(device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void) {
        device::check(device)?;
        graph::set_memory_attribute(attr, value)
    }

    fn cuDeviceGraphMemTrim(device: CUdevice) {
        // Graphs have no memory besides what their nodes allocate.
        device::check(device)
    }

    fn cuGraphGetId(hGraph: CUgraph, graphId: *mut c_uint) {
        graph::put_id(graph::of(hGraph)?.handle.number(), graphId)
    }

    fn cuGraphExecGetId(hGraphExec: CUgraphExec, graphId: *mut c_uint) {
        graph::put_id(graph::executable(hGraphExec)?.handle.number(), graphId)
    }

    fn cuGraphNodeGetContainingGraph(hNode: CUgraphNode, phGraph: *mut CUgraph) {
        graph::put_graph(phGraph, &*api::graph::graph_of(hNode as usize)?)
    }

    fn cuGraphNodeGetLocalId(hNode: CUgraphNode, nodeId: *mut c_uint) {
        graph::put_place(hNode, nodeId)
    }
}
