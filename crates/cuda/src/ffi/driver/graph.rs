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
use crate::transfer::{Copy, Side};
use rewrite::LaunchShape;

/// Turns one of the structures that describe a launch into a node: they differ only at their ends.
macro_rules! kernel_of {
    ($params:ident, $kernel:expr) => {{
        let shape = LaunchShape {
            grid: [$params.gridDimX, $params.gridDimY, $params.gridDimZ],
            block: [$params.blockDimX, $params.blockDimY, $params.blockDimZ],
            dynamic_shared: $params.sharedMemBytes,
            is_cooperative: false,
        };
        // The driver has no error of its own for a shape that cannot be.
        // SAFETY: the caller promises that `$params.kernelParams` is null or a list of pointers to the parameters of
        // the kernel, and `$params.extra` is null or a list of words that ends with `CU_LAUNCH_PARAM_END`.
        unsafe { graph::kernel(&KERNELS.get($kernel)?, shape, $params.kernelParams, $params.extra) }.map_err(|error| {
            match error {
                CudaError::INVALID_CONFIGURATION => CudaError::INVALID_VALUE,
                _ => error,
            }
        })
    }};
}

/// # Safety
/// The lists of parameters that it has must be those of the kernel, or null.
unsafe fn kernel_v1(params: &CUDA_KERNEL_NODE_PARAMS_v1) -> Result<Action> {
    kernel_of!(params, params.func as usize)
}

/// # Safety
/// The lists of parameters that it has must be those of the kernel, or null.
unsafe fn kernel(params: &CUDA_KERNEL_NODE_PARAMS) -> Result<Action> {
    kernel_of!(params, if params.func.is_null() { params.kern as usize } else { params.func as usize })
}

/// # Safety
/// The lists of parameters that it has must be those of the kernel, or null.
unsafe fn kernel_v3(params: &CUDA_KERNEL_NODE_PARAMS_v3) -> Result<Action> {
    kernel_of!(params, if params.func.is_null() { params.kern as usize } else { params.func as usize })
}

/// # Safety
/// Both sides of the copy must be valid until it has run.
unsafe fn copy(params: &CUDA_MEMCPY3D) -> Result<Action> {
    // SAFETY: the caller promises that both sides of the copy are valid until it has run.
    graph::copy(unsafe { copy_of_box(params) }?)
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
///
/// # Safety
/// What the parameters point to must be valid: memory until the work has run, functions whenever they are called.
unsafe fn action(params: &mut CUgraphNodeParams) -> Result<Action> {
    // SAFETY: the type says which of the fields it is, and the caller promises that what that points to is valid.
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
        // SAFETY: the caller promises that `phGraph` is null or valid to write.
        unsafe { graph::create(phGraph, flags) }
    }

    fn cuGraphDestroy(hGraph: CUgraph) {
        api::graph::destroy(hGraph as usize)
    }

    fn cuGraphClone(phGraphClone: *mut CUgraph, originalGraph: CUgraph) {
        // SAFETY: the caller promises that `phGraphClone` is null or valid to write.
        unsafe { graph::duplicate(phGraphClone, originalGraph) }
    }

    fn cuGraphNodeFindInClone(phNode: *mut CUgraphNode, hOriginalNode: CUgraphNode, hClonedGraph: CUgraph) {
        // SAFETY: the caller promises that `phNode` is null or valid to write.
        unsafe { graph::put_copy_of(phNode, hOriginalNode, hClonedGraph) }
    }

    fn cuGraphDestroyNode(hNode: CUgraphNode) {
        graph::remove(hNode)
    }

    fn cuGraphNodeGetType(hNode: CUgraphNode, r#type: *mut CUgraphNodeType) {
        // SAFETY: the caller promises that `r#type` is null or valid to write.
        unsafe { graph::put_kind(hNode, r#type) }
    }

    fn cuGraphGetNodes(hGraph: CUgraph, nodes: *mut CUgraphNode, numNodes: *mut usize) {
        // SAFETY: the caller promises that `nodes` is null or valid to write as many nodes as the count says, and
        // `numNodes` is null or valid to read and write.
        unsafe { graph::put_nodes(nodes, graph::NO_EDGES, numNodes, &graph::of(hGraph)?.list()) }
    }

    fn cuGraphGetRootNodes(hGraph: CUgraph, rootNodes: *mut CUgraphNode, numRootNodes: *mut usize) {
        // SAFETY: the caller promises that `rootNodes` is null or valid to write as many nodes as the count says, and
        // `numRootNodes` is null or valid to read and write.
        unsafe { graph::put_nodes(rootNodes, graph::NO_EDGES, numRootNodes, &graph::of(hGraph)?.roots()) }
    }

    fn cuGraphGetEdges(hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, numEdges: *mut usize) {
        // SAFETY: the caller promises that `from` and `to` are null or valid to write as many nodes as the count says,
        // and `numEdges` is null or valid to read and write.
        unsafe { graph::put_edges(hGraph, from, to, graph::NO_EDGES, numEdges) }
    }

    fn cuGraphGetEdges_v2(
        hGraph: CUgraph,
        from: *mut CUgraphNode,
        to: *mut CUgraphNode,
        edgeData: *mut CUgraphEdgeData,
        numEdges: *mut usize,
    ) {
        // SAFETY: the caller promises that `from` and `to` are null or valid to write as many nodes as the count says,
        // `edgeData` is null or valid to write as many edges, and `numEdges` is null or valid to read and write.
        unsafe { graph::put_edges(hGraph, from, to, edgeData, numEdges) }
    }

    fn cuGraphNodeGetDependencies(hNode: CUgraphNode, dependencies: *mut CUgraphNode, numDependencies: *mut usize) {
        // SAFETY: the caller promises that `dependencies` is null or valid to write as many nodes as the count says,
        // and `numDependencies` is null or valid to read and write.
        unsafe { graph::put_before(hNode, dependencies, graph::NO_EDGES, numDependencies) }
    }

    fn cuGraphNodeGetDependencies_v2(
        hNode: CUgraphNode,
        dependencies: *mut CUgraphNode,
        edgeData: *mut CUgraphEdgeData,
        numDependencies: *mut usize,
    ) {
        // SAFETY: the caller promises that `dependencies` is null or valid to write as many nodes as the count says,
        // `edgeData` is null or valid to write as many edges, and `numDependencies` is null or valid to read and
        // write.
        unsafe { graph::put_before(hNode, dependencies, edgeData, numDependencies) }
    }

    fn cuGraphNodeGetDependentNodes(
        hNode: CUgraphNode,
        dependentNodes: *mut CUgraphNode,
        numDependentNodes: *mut usize,
    ) {
        // SAFETY: the caller promises that `dependentNodes` is null or valid to write as many nodes as the count says,
        // and `numDependentNodes` is null or valid to read and write.
        unsafe { graph::put_after(hNode, dependentNodes, graph::NO_EDGES, numDependentNodes) }
    }

    fn cuGraphNodeGetDependentNodes_v2(
        hNode: CUgraphNode,
        dependentNodes: *mut CUgraphNode,
        edgeData: *mut CUgraphEdgeData,
        numDependentNodes: *mut usize,
    ) {
        // SAFETY: the caller promises that `dependentNodes` is null or valid to write as many nodes as the count says,
        // `edgeData` is null or valid to write as many edges, and `numDependentNodes` is null or valid to read and
        // write.
        unsafe { graph::put_after(hNode, dependentNodes, edgeData, numDependentNodes) }
    }

    fn cuGraphAddDependencies(
        hGraph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        numDependencies: usize,
    ) {
        // SAFETY: the caller promises that `from` and `to` are null or valid to read `numDependencies` elements.
        unsafe { graph::connect(hGraph, from, to, numDependencies) }
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
        // SAFETY: the caller promises that `from` and `to` are null or valid to read `numDependencies` elements.
        unsafe { graph::connect(hGraph, from, to, numDependencies) }
    }

    fn cuGraphRemoveDependencies(
        hGraph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        numDependencies: usize,
    ) {
        // SAFETY: the caller promises that `from` and `to` are null or valid to read `numDependencies` elements.
        unsafe { graph::disconnect(hGraph, from, to, numDependencies) }
    }

    fn cuGraphRemoveDependencies_v2(
        hGraph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        edgeData: *const CUgraphEdgeData,
        numDependencies: usize,
    ) {
        let _ = edgeData;
        // SAFETY: the caller promises that `from` and `to` are null or valid to read `numDependencies` elements.
        unsafe { graph::disconnect(hGraph, from, to, numDependencies) }
    }

    fn cuGraphAddEmptyNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
    ) {
        // SAFETY: the caller promises that `phGraphNode` is null or valid to write, and `dependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(phGraphNode, hGraph, dependencies, numDependencies, graph::empty()) }
    }

    fn cuGraphAddKernelNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1,
    ) {
        // SAFETY: the caller promises that the lists of parameters are those of the kernel, or null, and `nodeParams`
        // is null or valid to read.
        let action = unsafe { kernel_v1(get(nodeParams)?) }?;
        // SAFETY: the caller promises that `phGraphNode` is null or valid to write, and `dependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(phGraphNode, hGraph, dependencies, numDependencies, action) }
    }

    fn cuGraphAddKernelNode_v2(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
    ) {
        // SAFETY: the caller promises that the lists of parameters are those of the kernel, or null, and `nodeParams`
        // is null or valid to read.
        let action = unsafe { kernel(get(nodeParams)?) }?;
        // SAFETY: the caller promises that `phGraphNode` is null or valid to write, and `dependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(phGraphNode, hGraph, dependencies, numDependencies, action) }
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
        // SAFETY: the caller promises that both sides of the copy are valid until it has run, and `copyParams` is null
        // or valid to read.
        let action = unsafe { copy(get(copyParams)?) }?;
        // SAFETY: the caller promises that `phGraphNode` is null or valid to write, and `dependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(phGraphNode, hGraph, dependencies, numDependencies, action) }
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
        // SAFETY: the caller promises that what is filled is valid until that is done, and `memsetParams` is null or
        // valid to read.
        let action = unsafe { graph::fill(get(memsetParams)?) }?;
        // SAFETY: the caller promises that `phGraphNode` is null or valid to write, and `dependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(phGraphNode, hGraph, dependencies, numDependencies, action) }
    }

    fn cuGraphAddHostNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *const CUDA_HOST_NODE_PARAMS,
    ) {
        // SAFETY: the caller promises that `nodeParams` is null or valid to read.
        let params = unsafe { get(nodeParams) }?;
        // SAFETY: the caller promises that `phGraphNode` is null or valid to write, `dependencies` is null or valid to
        // read `numDependencies` elements, and `params.r#fn` is null or a function that may be called with
        // `params.userData`, later and on any thread.
        unsafe { graph::add(phGraphNode, hGraph, dependencies, numDependencies, graph::host(params.r#fn, params.userData)?) }
    }

    fn cuGraphAddChildGraphNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        childGraph: CUgraph,
    ) {
        // SAFETY: the caller promises that `phGraphNode` is null or valid to write, and `dependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(phGraphNode, hGraph, dependencies, numDependencies, graph::child(childGraph)?) }
    }

    fn cuGraphAddEventRecordNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        event: CUevent,
    ) {
        // SAFETY: the caller promises that `phGraphNode` is null or valid to write, and `dependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(phGraphNode, hGraph, dependencies, numDependencies, graph::record(event)?) }
    }

    fn cuGraphAddEventWaitNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        event: CUevent,
    ) {
        // SAFETY: the caller promises that `phGraphNode` is null or valid to write, and `dependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(phGraphNode, hGraph, dependencies, numDependencies, graph::wait(event)?) }
    }

    fn cuGraphAddMemAllocNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
    ) {
        // SAFETY: the caller promises that `nodeParams` is null or valid to read and write.
        let params = unsafe { nodeParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?;
        let (action, address) = graph::allocate(params.bytesize)?;
        params.dptr = address;
        // SAFETY: the caller promises that `phGraphNode` is null or valid to write, and `dependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(phGraphNode, hGraph, dependencies, numDependencies, action) }
    }

    fn cuGraphAddMemFreeNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        dptr: CUdeviceptr,
    ) {
        // SAFETY: the caller promises that `phGraphNode` is null or valid to write, and `dependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(phGraphNode, hGraph, dependencies, numDependencies, graph::free(dptr)?) }
    }

    fn cuGraphAddNode(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *mut CUgraphNodeParams,
    ) {
        // SAFETY: the caller promises that `nodeParams` is null or valid to read and write, and what it points to is valid.
        let action = unsafe { action(nodeParams.as_mut().ok_or(CudaError::INVALID_VALUE)?) }?;
        // SAFETY: the caller promises that `phGraphNode` is null or valid to write, and `dependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(phGraphNode, hGraph, dependencies, numDependencies, action) }
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
        // SAFETY: the caller promises that `nodeParams` is null or valid to read and write, and what it points to is valid.
        let action = unsafe { action(nodeParams.as_mut().ok_or(CudaError::INVALID_VALUE)?) }?;
        // SAFETY: the caller promises that `phGraphNode` is null or valid to write, and `dependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(phGraphNode, hGraph, dependencies, numDependencies, action) }
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
        // SAFETY: the caller promises that `nodeParams` is null or valid to read and write, and what it points to is valid.
        let action = unsafe { action(nodeParams.as_mut().ok_or(CudaError::INVALID_VALUE)?) }?;
        // SAFETY: the caller promises that `phGraphNode` is null or valid to write, and `dependencies` is null or
        // valid to read `numDependencies` elements.
        unsafe { graph::add(phGraphNode, hGraph, dependencies, numDependencies, action) }
    }

    fn cuGraphNodeSetParams(hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams) {
        // SAFETY: the caller promises that `nodeParams` is null or valid to read and write, and what it points to is valid.
        graph::set(hNode, unsafe { action(nodeParams.as_mut().ok_or(CudaError::INVALID_VALUE)?) }?)
    }

    fn cuGraphNodeSetParams_v2(hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams) {
        // SAFETY: the caller promises that `nodeParams` is null or valid to read and write, and what it points to is valid.
        graph::set(hNode, unsafe { action(nodeParams.as_mut().ok_or(CudaError::INVALID_VALUE)?) }?)
    }

    fn cuGraphExecNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams) {
        // SAFETY: the caller promises that `nodeParams` is null or valid to read and write, and what it points to is valid.
        graph::set_in(hGraphExec, hNode, unsafe { action(nodeParams.as_mut().ok_or(CudaError::INVALID_VALUE)?) }?)
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
            sharedMemBytes: launch.shape().dynamic_shared,
            kernelParams: graph::param_pointers(&launch),
            extra: ptr::null_mut(),
        };
        // SAFETY: the caller promises that `nodeParams` is null or valid to write.
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
            sharedMemBytes: launch.shape().dynamic_shared,
            kernelParams: graph::param_pointers(&launch),
            extra: ptr::null_mut(),
            kern: ptr::null_mut(),
            ctx: ptr::null_mut(),
        };
        // SAFETY: the caller promises that `nodeParams` is null or valid to write.
        unsafe { put(nodeParams, params) }
    }

    fn cuGraphKernelNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1) {
        // SAFETY: the caller promises that the lists of parameters are those of the kernel, or null, and `nodeParams`
        // is null or valid to read.
        graph::set(hNode, unsafe { kernel_v1(get(nodeParams)?) }?)
    }

    fn cuGraphKernelNodeSetParams_v2(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS) {
        // SAFETY: the caller promises that the lists of parameters are those of the kernel, or null, and `nodeParams`
        // is null or valid to read.
        graph::set(hNode, unsafe { kernel(get(nodeParams)?) }?)
    }

    fn cuGraphExecKernelNodeSetParams(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1,
    ) {
        // SAFETY: the caller promises that the lists of parameters are those of the kernel, or null, and `nodeParams`
        // is null or valid to read.
        graph::set_in(hGraphExec, hNode, unsafe { kernel_v1(get(nodeParams)?) }?)
    }

    fn cuGraphExecKernelNodeSetParams_v2(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
    ) {
        // SAFETY: the caller promises that the lists of parameters are those of the kernel, or null, and `nodeParams`
        // is null or valid to read.
        graph::set_in(hGraphExec, hNode, unsafe { kernel(get(nodeParams)?) }?)
    }

    fn cuGraphKernelNodeSetAttribute(
        hNode: CUgraphNode,
        attr: CUkernelNodeAttrID,
        value: *const CUkernelNodeAttrValue,
    ) {
        // SAFETY: the caller promises that `value` is null or valid to read.
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
        // SAFETY: the caller promises that `value_out` is null or valid to write.
        unsafe { put(value_out, value) }
    }

    fn cuGraphKernelNodeCopyAttributes(dst: CUgraphNode, src: CUgraphNode) {
        graph::set_cooperative(dst, graph::launch_of(src)?.shape().is_cooperative)
    }

    fn cuGraphMemcpyNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMCPY3D) {
        let params = copy_params(&graph::copy_of(hNode)?);
        // SAFETY: the caller promises that `nodeParams` is null or valid to write.
        unsafe { put(nodeParams, params) }
    }

    fn cuGraphMemcpyNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMCPY3D) {
        // SAFETY: the caller promises that both sides of the copy are valid until it has run, and `nodeParams` is null
        // or valid to read.
        graph::set(hNode, unsafe { copy(get(nodeParams)?) }?)
    }

    fn cuGraphExecMemcpyNodeSetParams(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        copyParams: *const CUDA_MEMCPY3D,
        ctx: CUcontext,
    ) {
        let _ = ctx;
        // SAFETY: the caller promises that both sides of the copy are valid until it has run, and `copyParams` is null
        // or valid to read.
        graph::set_in(hGraphExec, hNode, unsafe { copy(get(copyParams)?) }?)
    }

    fn cuGraphMemsetNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMSET_NODE_PARAMS) {
        let params = graph::fill_of(hNode)?;
        // SAFETY: the caller promises that `nodeParams` is null or valid to write.
        unsafe { put(nodeParams, params) }
    }

    fn cuGraphMemsetNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMSET_NODE_PARAMS) {
        // SAFETY: the caller promises that what is filled is valid until that is done, and `nodeParams` is null or
        // valid to read.
        graph::set(hNode, unsafe { graph::fill(get(nodeParams)?) }?)
    }

    fn cuGraphExecMemsetNodeSetParams(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        memsetParams: *const CUDA_MEMSET_NODE_PARAMS,
        ctx: CUcontext,
    ) {
        let _ = ctx;
        // SAFETY: the caller promises that what is filled is valid until that is done, and `memsetParams` is null or
        // valid to read.
        graph::set_in(hGraphExec, hNode, unsafe { graph::fill(get(memsetParams)?) }?)
    }

    fn cuGraphHostNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_HOST_NODE_PARAMS) {
        let (function, userData) = graph::host_of(hNode)?;
        // SAFETY: the caller promises that `nodeParams` is null or valid to write.
        unsafe { put(nodeParams, CUDA_HOST_NODE_PARAMS { r#fn: function, userData }) }
    }

    fn cuGraphHostNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS) {
        // SAFETY: the caller promises that `nodeParams` is null or valid to read.
        let params = unsafe { get(nodeParams) }?;
        // SAFETY: the caller promises that `params.r#fn` is null or a function that may be called with
        // `params.userData`, later and on any thread.
        graph::set(hNode, unsafe { graph::host(params.r#fn, params.userData) }?)
    }

    fn cuGraphExecHostNodeSetParams(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        nodeParams: *const CUDA_HOST_NODE_PARAMS,
    ) {
        // SAFETY: the caller promises that `nodeParams` is null or valid to read.
        let params = unsafe { get(nodeParams) }?;
        // SAFETY: the caller promises that `params.r#fn` is null or a function that may be called with
        // `params.userData`, later and on any thread.
        graph::set_in(hGraphExec, hNode, unsafe { graph::host(params.r#fn, params.userData) }?)
    }

    fn cuGraphChildGraphNodeGetGraph(hNode: CUgraphNode, phGraph: *mut CUgraph) {
        // SAFETY: the caller promises that `phGraph` is null or valid to write.
        unsafe { graph::put_child(hNode, phGraph) }
    }

    fn cuGraphExecChildGraphNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, childGraph: CUgraph) {
        graph::executable(hGraphExec)?.set_child(hNode as usize, &*graph::of(childGraph)?)
    }

    fn cuGraphEventRecordNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent) {
        // SAFETY: the caller promises that `event_out` is null or valid to write.
        unsafe { graph::put_event(hNode, event_out, true) }
    }

    fn cuGraphEventWaitNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent) {
        // SAFETY: the caller promises that `event_out` is null or valid to write.
        unsafe { graph::put_event(hNode, event_out, false) }
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
        // SAFETY: the caller promises that `params_out` is null or valid to write.
        unsafe { put(params_out, params) }
    }

    fn cuGraphMemFreeNodeGetParams(hNode: CUgraphNode, dptr_out: *mut CUdeviceptr) {
        let address = graph::freed_by(hNode)?;
        // SAFETY: the caller promises that `dptr_out` is null or valid to write.
        unsafe { put(dptr_out, address) }
    }

    fn cuGraphInstantiate(
        phGraphExec: *mut CUgraphExec,
        hGraph: CUgraph,
        phErrorNode: *mut CUgraphNode,
        logBuffer: *mut c_char,
        bufferSize: usize,
    ) {
        // SAFETY: the caller promises that `phGraphExec` and `phErrorNode` are null or valid to write, and `logBuffer`
        // is null or valid to write `bufferSize` elements.
        unsafe { graph::instantiate_with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize) }
    }

    fn cuGraphInstantiate_v2(
        phGraphExec: *mut CUgraphExec,
        hGraph: CUgraph,
        phErrorNode: *mut CUgraphNode,
        logBuffer: *mut c_char,
        bufferSize: usize,
    ) {
        // SAFETY: the caller promises that `phGraphExec` and `phErrorNode` are null or valid to write, and `logBuffer`
        // is null or valid to write `bufferSize` elements.
        unsafe { graph::instantiate_with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize) }
    }

    fn cuGraphInstantiateWithFlags(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, flags: c_ulonglong) {
        // SAFETY: the caller promises that `phGraphExec` is null or valid to write.
        unsafe { graph::instantiate(phGraphExec, hGraph, flags) }
    }

    fn cuGraphInstantiateWithParams, cuGraphInstantiateWithParams_ptsz(
        default;
        phGraphExec: *mut CUgraphExec,
        hGraph: CUgraph,
        instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
    ) {
        // There is nothing to upload.
        let _ = default;
        // SAFETY: the caller promises that `instantiateParams` is null or valid to read and write.
        let params = unsafe { instantiateParams.as_mut() }.ok_or(CudaError::INVALID_VALUE)?;
        // SAFETY: the caller promises that `phGraphExec` is null or valid to write.
        let (result, said) = unsafe { graph::instantiate_with_result(phGraphExec, hGraph, params.flags) };
        params.hErrNode_out = ptr::null_mut();
        params.result_out = said;
        result
    }

    fn cuGraphExecGetFlags(hGraphExec: CUgraphExec, flags: *mut cuuint64_t) {
        let value = graph::executable(hGraphExec)?.flags;
        // SAFETY: the caller promises that `flags` is null or valid to write.
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
        EXECUTABLES.destroy(hGraphExec as usize).map(drop)
    }

    fn cuGraphExecUpdate(
        hGraphExec: CUgraphExec,
        hGraph: CUgraph,
        hErrorNode_out: *mut CUgraphNode,
        updateResult_out: *mut CUgraphExecUpdateResult,
    ) {
        let (result, said, node) = graph::update(hGraphExec, hGraph)?;
        // SAFETY: the caller promises that `hErrorNode_out` and `updateResult_out` are null or valid to write.
        unsafe {
            put_if(hErrorNode_out, node);
            put_if(updateResult_out, said);
        }
        result
    }

    fn cuGraphExecUpdate_v2(hGraphExec: CUgraphExec, hGraph: CUgraph, resultInfo: *mut CUgraphExecUpdateResultInfo) {
        let (result, said, node) = graph::update(hGraphExec, hGraph)?;
        let info = CUgraphExecUpdateResultInfo { result: said, errorNode: node, errorFromNode: ptr::null_mut() };
        // SAFETY: the caller promises that `resultInfo` is null or valid to write.
        unsafe { put_if(resultInfo, info) };
        result
    }

    fn cuGraphNodeGetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: *mut c_uint) {
        // SAFETY: the caller promises that `isEnabled` is null or valid to write.
        unsafe { graph::put_enabled(hGraphExec, hNode, isEnabled) }
    }

    fn cuGraphNodeSetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: c_uint) {
        graph::executable(hGraphExec)?.set_enabled(hNode as usize, isEnabled != 0)
    }

    fn cuGraphDebugDotPrint(hGraph: CUgraph, path: *const c_char, flags: c_uint) {
        // All that there is to say is said.
        let _ = flags;
        // SAFETY: the caller promises that `path` is null or a string that ends with zero.
        unsafe { graph::print(hGraph, path) }
    }

    fn cuDeviceGetGraphMemAttribute(device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void) {
        device::check(device)?;
        // SAFETY: the caller promises that `value` is null or valid to write.
        unsafe { graph::put_memory_attribute(attr, value) }
    }

    fn cuDeviceSetGraphMemAttribute(device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void) {
        device::check(device)?;
        // SAFETY: the caller promises that `value` is null or valid to read.
        unsafe { graph::set_memory_attribute(attr, value) }
    }

    fn cuDeviceGraphMemTrim(device: CUdevice) {
        // Graphs have no memory besides what their nodes allocate.
        device::check(device).map(drop)
    }

    fn cuGraphGetId(hGraph: CUgraph, graphId: *mut c_uint) {
        // SAFETY: the caller promises that `graphId` is null or valid to write.
        unsafe { graph::put_id(graph::of(hGraph)?.handle.number(), graphId) }
    }

    fn cuGraphExecGetId(hGraphExec: CUgraphExec, graphId: *mut c_uint) {
        // SAFETY: the caller promises that `graphId` is null or valid to write.
        unsafe { graph::put_id(graph::executable(hGraphExec)?.handle.number(), graphId) }
    }

    fn cuGraphNodeGetContainingGraph(hNode: CUgraphNode, phGraph: *mut CUgraph) {
        // SAFETY: the caller promises that `phGraph` is null or valid to write.
        unsafe { graph::put_graph(phGraph, &*api::graph::graph_of(hNode as usize)?) }
    }

    fn cuGraphNodeGetLocalId(hNode: CUgraphNode, nodeId: *mut c_uint) {
        // SAFETY: the caller promises that `nodeId` is null or valid to write.
        unsafe { graph::put_place(hNode, nodeId) }
    }
}
