//! Graphs, as C programs give them: what is the same for driver and runtime, whose handles are of the same types.

use std::ffi::{c_char, c_uint, c_void};
use std::ptr;
use std::sync::Arc;

use super::host_call::host_call;
use super::{get, put, put_if, put_text, text};
use crate::abi::driver::*;
use crate::api::capture::{self, Mode, Status};
use crate::api::event::{EVENTS, Event};
use crate::api::executable::{self, EXECUTABLES, Executable, UpdateError};
use crate::api::graph::{self, Action, GRAPHS, Graph};
use crate::api::graph_memory::{self, GraphMemory};
use crate::api::kernel::Kernel;
use crate::api::launch::Launch;
use crate::api::reach::Reach;
use crate::api::stream::Stream;
use crate::api::stream_id::Kind;
use crate::api::work::{HostCall, Work};
use crate::api::{context, copy, module, primary_context};
use crate::error::{CudaError, Result};
use crate::tooling;
use crate::transfer::{Copy, Extent, Fill, Pattern, Side};
use rewrite::LaunchShape;

pub(crate) fn of(graph: CUgraph) -> Result<Arc<Graph>> {
    GRAPHS.get(graph as usize)
}

pub(crate) fn executable(executable: CUgraphExec) -> Result<Arc<Executable>> {
    EXECUTABLES.get(executable as usize)
}

pub(crate) fn event(event: CUevent) -> Result<Arc<Event>> {
    EVENTS.get(event as usize)
}

/// Nodes that a program lists.
///
/// # Safety
/// `list` must be null or valid to read `count` elements.
pub(crate) unsafe fn nodes(list: *const CUgraphNode, count: usize) -> Result<Vec<usize>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the caller promises that `list` is null or valid to read `count` elements, and null is refused.
    let list = unsafe { std::slice::from_raw_parts(ptr::from_ref(get(list)?), count) };
    Ok(list.iter().map(|&node| node as usize).collect())
}

/// # Safety
/// `from` and `to` must be null or valid to read `count` elements.
unsafe fn pairs(from: *const CUgraphNode, to: *const CUgraphNode, count: usize) -> Result<Vec<(usize, usize)>> {
    // SAFETY: the caller promises that `from` and `to` are null or valid to read `count` elements.
    Ok(unsafe { nodes(from, count) }?.into_iter().zip(unsafe { nodes(to, count) }?).collect())
}

/// # Safety
/// `from` and `to` must be null or valid to read `count` elements.
pub(crate) unsafe fn connect(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    count: usize,
) -> Result<()> {
    // SAFETY: the caller promises that `from` and `to` are null or valid to read `count` elements.
    of(graph)?.connect(&unsafe { pairs(from, to, count) }?)
}

/// # Safety
/// `from` and `to` must be null or valid to read `count` elements.
pub(crate) unsafe fn disconnect(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    count: usize,
) -> Result<()> {
    // SAFETY: the caller promises that `from` and `to` are null or valid to read `count` elements.
    of(graph)?.disconnect(&unsafe { pairs(from, to, count) }?)
}

/// Gives a list to the program: as many as it has room for, then null; without a list only how many there are. All edges
/// are usual ones.
///
/// # Safety
/// `out` must be null or valid to write as many nodes as the count says, `edges` must be null or valid to write as
/// many edges, and `count` must be null or valid to read and write.
pub(crate) unsafe fn put_nodes<E>(
    out: *mut CUgraphNode,
    edges: *mut E,
    count: *mut usize,
    nodes: &[usize],
) -> Result<()> {
    // SAFETY: the caller promises that `count` is null or valid to read and write, and that lists which are not null are
    // valid to write as many elements as it says; no more are written.
    unsafe {
        if out.is_null() {
            return put(count, nodes.len());
        }
        let room = *get(count)?;
        for index in 0..room {
            out.add(index).write(nodes.get(index).map_or(ptr::null_mut(), |&node| node as CUgraphNode));
        }
        if !edges.is_null() {
            edges.write_bytes(0, room.min(nodes.len()));
        }
        put(count, room.min(nodes.len()))
    }
}

/// Gives a list of edges to the program.
///
/// # Safety
/// `from` and `to` must be null or valid to write as many nodes as the count says, `edges` must be null or valid to
/// write as many edges, and `count` must be null or valid to read and write.
pub(crate) unsafe fn put_edges<E>(
    graph: CUgraph,
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    edges: *mut E,
    count: *mut usize,
) -> Result<()> {
    let (before, after): (Vec<_>, Vec<_>) = of(graph)?.edges().into_iter().unzip();
    if from.is_null() != to.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: the caller promises that `count` is null or valid to read.
    let mut room = *unsafe { get(count) }?;
    // SAFETY: the caller promises that `from` is null or valid to write as many nodes as the count says, `edges` is
    // null or valid to write as many edges, and `room` is null or valid to read and write.
    unsafe { put_nodes(from, edges, &raw mut room, &before) }?;
    // SAFETY: the caller promises that `to` is null or valid to write as many nodes as the count says, and `count` is
    // null or valid to read and write.
    unsafe { put_nodes(to, ptr::null_mut::<E>(), count, &after) }
}

/// What edge lists of functions without edge data are.
pub(crate) const NO_EDGES: *mut CUgraphEdgeData = ptr::null_mut();

/// # Safety
/// `out` must be null or valid to write as many nodes as the count says, `edges` must be null or valid to write as
/// many edges, and `count` must be null or valid to read and write.
pub(crate) unsafe fn put_before<E>(
    node: CUgraphNode,
    out: *mut CUgraphNode,
    edges: *mut E,
    count: *mut usize,
) -> Result<()> {
    let before = graph::graph_of(node as usize)?.before(node as usize)?;
    // SAFETY: the caller promises that `out` is null or valid to write as many nodes as the count says, `edges` is
    // null or valid to write as many edges, and `count` is null or valid to read and write.
    unsafe { put_nodes(out, edges, count, &before) }
}

/// # Safety
/// `out` must be null or valid to write as many nodes as the count says, `edges` must be null or valid to write as
/// many edges, and `count` must be null or valid to read and write.
pub(crate) unsafe fn put_after<E>(
    node: CUgraphNode,
    out: *mut CUgraphNode,
    edges: *mut E,
    count: *mut usize,
) -> Result<()> {
    let after = graph::graph_of(node as usize)?.after(node as usize);
    // SAFETY: the caller promises that `out` is null or valid to write as many nodes as the count says, `edges` is
    // null or valid to write as many edges, and `count` is null or valid to read and write.
    unsafe { put_nodes(out, edges, count, &after) }
}

/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn create(out: *mut CUgraph, flags: c_uint) -> Result<()> {
    if out.is_null() || flags != 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put_graph(out, &Graph::create()) }
}

/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn duplicate(out: *mut CUgraph, graph: CUgraph) -> Result<()> {
    if out.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put_graph(out, &of(graph)?.duplicate()) }
}

/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn put_graph(out: *mut CUgraph, graph: &Graph) -> Result<()> {
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, graph.handle.number() as CUgraph) }
}

/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn put_child(node: CUgraphNode, out: *mut CUgraph) -> Result<()> {
    match graph::action_of(node as usize)? {
        // SAFETY: the caller promises that `out` is null or valid to write.
        Action::Child(graph) => unsafe { put_graph(out, &graph) },
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn put_copy_of(out: *mut CUgraphNode, original: CUgraphNode, graph: CUgraph) -> Result<()> {
    let node = of(graph)?.copy_of(original as usize)?;
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, node as CUgraphNode) }
}

pub(crate) fn remove(node: CUgraphNode) -> Result<()> {
    graph::graph_of(node as usize)?.remove(node as usize)
}

/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn put_kind(node: CUgraphNode, out: *mut CUgraphNodeType) -> Result<()> {
    let kind = graph::action_of(node as usize)?.kind();
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, kind as CUgraphNodeType) }
}

/// A number that no other graph has, made of its handle: these are sixteen apart.
///
/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn put_id(handle: usize, out: *mut c_uint) -> Result<()> {
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, (handle / 16) as c_uint) }
}

/// The place of a node among those of its graph.
///
/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn put_place(node: CUgraphNode, out: *mut c_uint) -> Result<()> {
    let nodes = graph::graph_of(node as usize)?.list();
    let place = nodes.binary_search(&(node as usize)).map_err(|_| CudaError::INVALID_VALUE)?;
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, place as c_uint) }
}

/// Adds a node.
///
/// # Safety
/// `out` must be null or valid to write, and `before` must be null or valid to read `count` elements.
pub(crate) unsafe fn add(
    out: *mut CUgraphNode,
    graph: CUgraph,
    before: *const CUgraphNode,
    count: usize,
    action: Action,
) -> Result<()> {
    if out.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: the caller promises that `before` is null or valid to read `count` elements.
    let node = of(graph)?.add(action, &unsafe { nodes(before, count) }?)?;
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, node as CUgraphNode) }
}

pub(crate) fn set(node: CUgraphNode, action: Action) -> Result<()> {
    graph::set_action(node as usize, action)
}

pub(crate) fn set_in(target: CUgraphExec, node: CUgraphNode, action: Action) -> Result<()> {
    executable(target)?.set_action(node as usize, action)
}

/// A node that does nothing.
pub(crate) fn empty() -> Action {
    Action::Work(Work::Nothing)
}

/// A node that launches a kernel.
///
/// # Safety
/// `params` must be null or a list of pointers to the parameters of the kernel, and `extra` must be null or a list of
/// words that ends with `CU_LAUNCH_PARAM_END`.
pub(crate) unsafe fn kernel(
    kernel: &Arc<Kernel>,
    shape: LaunchShape,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<Action> {
    // SAFETY: the caller promises that `params` is null or a list of pointers to the parameters of the kernel, and
    // `extra` is null or a list of words that ends with `CU_LAUNCH_PARAM_END`.
    let params = unsafe { super::launch::params(kernel, params, extra) }?;
    let (kernel, reach) = placed(kernel);
    Ok(Action::Work(Work::Launch(Launch::prepare(&kernel, shape, params, reach)?)))
}

/// A kernel on the device of this thread, if it is there, and else on its own; and what it may access.
fn placed(kernel: &Arc<Kernel>) -> (Arc<Kernel>, Arc<Reach>) {
    let here = context::current().map(|context| Arc::clone(&context.reach));
    let on = |reach: Arc<Reach>| Some((module::kernel_on(kernel, reach.device).ok()?, reach));
    here.and_then(on).unwrap_or_else(|| {
        let context = primary_context::get(kernel.device);
        let reach = context.map_or_else(|| Arc::new(Reach::new(kernel.device)), |context| Arc::clone(&context.reach));
        (Arc::clone(kernel), reach)
    })
}

/// The launch of a kernel node.
pub(crate) fn launch_of(node: CUgraphNode) -> Result<Arc<Launch>> {
    match graph::action_of(node as usize)? {
        Action::Work(Work::Launch(launch)) => Ok(launch),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// Where the parameters of a launch are. The program may not change them, whatever the type says.
pub(crate) fn param_pointers(launch: &Launch) -> *mut *mut c_void {
    launch.param_pointers().as_ptr().cast_mut().cast()
}

/// Sets whether the blocks of a kernel node may wait for each other.
pub(crate) fn set_cooperative(node: CUgraphNode, is_cooperative: bool) -> Result<()> {
    let old = launch_of(node)?;
    let shape = LaunchShape { is_cooperative, ..*old.shape() };
    let launch = Launch::prepare(old.kernel(), shape, old.params().to_vec(), Arc::clone(old.reach()))?;
    set(node, Action::Work(Work::Launch(launch)))
}

/// A node that copies.
pub(crate) fn copy(copy: Copy) -> Result<Action> {
    copy::owners(&copy)?;
    Ok(Action::Work(Work::Copy(copy)))
}

/// The copy of a copy node.
pub(crate) fn copy_of(node: CUgraphNode) -> Result<Copy> {
    match graph::action_of(node as usize)? {
        Action::Work(Work::Copy(copy)) => Ok(copy),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// A node that fills. The runtime's structure is the same.
///
/// # Safety
/// What is filled must be valid until that is done.
pub(crate) unsafe fn fill(params: &CUDA_MEMSET_NODE_PARAMS) -> Result<Action> {
    let pattern = match params.elementSize {
        1 => Pattern::Byte(params.value as u8),
        2 => Pattern::Half(params.value as u16),
        4 => Pattern::Word(params.value),
        _ => return Err(CudaError::INVALID_VALUE),
    };
    let width = (params.width as u64).checked_mul(pattern.bytes()).ok_or(CudaError::INVALID_VALUE)?;
    let row_pitch = if params.height > 1 { params.pitch as u64 } else { 0 };
    let extent = Extent { width, height: params.height as u64, depth: 1 };
    // SAFETY: the caller promises that what is filled is valid until that is done.
    let fill = unsafe { Fill::new(Side { address: params.dst, row_pitch, slice_pitch: 0 }, extent, pattern) };
    copy::check_fill(&fill)?;
    Ok(Action::Work(Work::Fill(fill)))
}

/// The fill of a fill node.
pub(crate) fn fill_of(node: CUgraphNode) -> Result<CUDA_MEMSET_NODE_PARAMS> {
    let Action::Work(Work::Fill(fill)) = graph::action_of(node as usize)? else {
        return Err(CudaError::INVALID_VALUE);
    };
    let bytes = fill.pattern().bytes();
    Ok(CUDA_MEMSET_NODE_PARAMS {
        dst: fill.to().address,
        pitch: fill.to().row_pitch as usize,
        value: match fill.pattern() {
            Pattern::Byte(byte) => byte.into(),
            Pattern::Half(half) => half.into(),
            Pattern::Word(word) => word,
        },
        elementSize: bytes as c_uint,
        width: (fill.extent().width / bytes) as usize,
        height: fill.extent().height as usize,
    })
}

/// A node that calls a function of the program.
///
/// # Safety
/// `function` must be null or a function that may be called with `data`, later and on any thread.
pub(crate) unsafe fn host(function: CUhostFn, data: *mut c_void) -> Result<Action> {
    // SAFETY: the caller promises that `function` is null or a function that may be called with `data`, later and on
    // any thread.
    Ok(Action::Work(Work::Call(unsafe { host_call(function, data) }?)))
}

/// The function of a host node and what it is called with.
pub(crate) fn host_of(node: CUgraphNode) -> Result<(CUhostFn, *mut c_void)> {
    let Action::Work(Work::Call(HostCall { function, data, .. })) = graph::action_of(node as usize)? else {
        return Err(CudaError::INVALID_VALUE);
    };
    // SAFETY: all host calls of graphs are made by `host_call`, from a function of this type.
    let function = unsafe { std::mem::transmute::<usize, CUhostFn>(function) };
    Ok((function, data as *mut c_void))
}

/// A node that runs a graph, of which it has a copy.
pub(crate) fn child(graph: CUgraph) -> Result<Action> {
    Ok(Action::Child(of(graph)?.duplicate()))
}

/// A node where an event happens.
pub(crate) fn record(event: CUevent) -> Result<Action> {
    Ok(Action::Record(self::event(event)?))
}

/// A node that waits for an event.
pub(crate) fn wait(event: CUevent) -> Result<Action> {
    Ok(Action::Wait(self::event(event)?))
}

/// Gives the event of a node that is one or the other.
///
/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn put_event(node: CUgraphNode, out: *mut CUevent, records: bool) -> Result<()> {
    let event = match graph::action_of(node as usize)? {
        Action::Record(event) if records => event,
        Action::Wait(event) if !records => event,
        _ => return Err(CudaError::INVALID_VALUE),
    };
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, event.handle.number() as CUevent) }
}

/// A node that allocates memory, and the address.
pub(crate) fn allocate(bytes: usize) -> Result<(Action, u64)> {
    if bytes == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let context = context::require()?;
    let memory = GraphMemory::new(bytes as u64, context.home())?;
    let address = memory.address();
    Ok((Action::Allocate(memory), address))
}

/// The memory of a node that allocates it.
pub(crate) fn memory_of(node: CUgraphNode) -> Result<Arc<GraphMemory>> {
    match graph::action_of(node as usize)? {
        Action::Allocate(memory) => Ok(memory),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// A node that frees memory of a graph.
pub(crate) fn free(address: u64) -> Result<Action> {
    if graph_memory::is_of_graph(address) {
        Ok(Action::Work(Work::Free(address, tooling::stack_here())))
    } else {
        Err(CudaError::INVALID_VALUE)
    }
}

/// The address that a node frees.
pub(crate) fn freed_by(node: CUgraphNode) -> Result<u64> {
    match graph::action_of(node as usize)? {
        Action::Work(Work::Free(address, _)) => Ok(address),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// Says that nodes of a kind are not there.
pub(crate) fn refuse_kind(kind: CUgraphNodeType) -> CudaError {
    let name = match kind {
        CU_GRAPH_NODE_TYPE_CONDITIONAL => "conditional nodes",
        CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL | CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT => "nodes for external semaphores",
        CU_GRAPH_NODE_TYPE_BATCH_MEM_OP => "nodes for operations on memory",
        _ => return CudaError::INVALID_VALUE,
    };
    crate::refusal::refuse(&format!("graphs with {name} are not supported by the CPU device"));
    CudaError::NOT_SUPPORTED
}

/// Makes a graph executable.
///
/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn instantiate(out: *mut CUgraphExec, graph: CUgraph, flags: u64) -> Result<()> {
    if out.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    let made = executable::instantiate(&*of(graph)?, flags)?;
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, made.handle.number() as CUgraphExec) }
}

/// Makes a graph executable; what is wrong with it is said in a node and in words.
///
/// # Safety
/// `out` and `error_node` must be null or valid to write, and `log` must be null or valid to write `bytes` elements.
pub(crate) unsafe fn instantiate_with_log(
    out: *mut CUgraphExec,
    graph: CUgraph,
    error_node: *mut CUgraphNode,
    log: *mut c_char,
    bytes: usize,
) -> Result<()> {
    // SAFETY: the caller promises that `out` is null or valid to write.
    let result = unsafe { instantiate(out, graph, 0) };
    // SAFETY: the caller promises that `error_node` is null or valid to write, and `log` is null or valid to write
    // `bytes` elements.
    unsafe {
        put_if(error_node, ptr::null_mut());
        let words = if result.is_err() { "the nodes wait for each other in a circle" } else { "" };
        let _ = put_text(log, bytes, words);
    }
    result
}

/// Makes a graph executable; gives the result in the words of `CUDA_GRAPH_INSTANTIATE_PARAMS`.
///
/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn instantiate_with_result(
    out: *mut CUgraphExec,
    graph: CUgraph,
    flags: u64,
) -> (Result<()>, CUgraphInstantiateResult) {
    // SAFETY: the caller promises that `out` is null or valid to write.
    let result = unsafe { instantiate(out, graph, flags) };
    let said = match result {
        Ok(()) => CUDA_GRAPH_INSTANTIATE_SUCCESS,
        Err(CudaError::INVALID_VALUE) => CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE,
        Err(CudaError::NOT_SUPPORTED) => CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED,
        Err(_) => CUDA_GRAPH_INSTANTIATE_ERROR,
    };
    (result, said)
}

/// Makes an executable graph do what another graph does; gives the result, in the numbers of `CUgraphExecUpdateResult`,
/// and the node that does not fit.
pub(crate) fn update(
    target: CUgraphExec,
    graph: CUgraph,
) -> Result<(Result<()>, CUgraphExecUpdateResult, CUgraphNode)> {
    let (target, graph) = (executable(target)?, of(graph)?);
    let (said, node) = match target.update(&graph) {
        Ok(()) => return Ok((Ok(()), CU_GRAPH_EXEC_UPDATE_SUCCESS, ptr::null_mut())),
        Err(UpdateError::Topology(node)) => (CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node),
        Err(UpdateError::Kind(node)) => (CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, Some(node)),
        Err(UpdateError::Unsupported(node)) => (CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, Some(node)),
    };
    Ok((Err(CudaError::GRAPH_EXEC_UPDATE_FAILURE), said, node.unwrap_or(0) as CUgraphNode))
}

/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn put_enabled(target: CUgraphExec, node: CUgraphNode, out: *mut c_uint) -> Result<()> {
    let is_enabled = executable(target)?.is_enabled(node as usize)?;
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, is_enabled.into()) }
}

/// Writes a graph to a file, for Graphviz.
///
/// # Safety
/// `path` must be null or a string that ends with zero.
pub(crate) unsafe fn print(graph: CUgraph, path: *const c_char) -> Result<()> {
    // SAFETY: the caller promises that `path` is null or a string that ends with zero.
    let path = unsafe { text(path) }?;
    std::fs::write(path, of(graph)?.dot()).map_err(|_| CudaError::INVALID_VALUE)
}

/// A number of the memory of graphs, by that of `CUgraphMem_attribute`.
///
/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn put_memory_attribute(attribute: CUgraphMem_attribute, out: *mut c_void) -> Result<()> {
    let ([used, reserved], [used_high, reserved_high]) = (graph_memory::bytes(), graph_memory::high_bytes());
    let value = match attribute {
        CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT => used,
        CU_GRAPH_MEM_ATTR_USED_MEM_HIGH => used_high,
        CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT => reserved,
        CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH => reserved_high,
        _ => return Err(CudaError::INVALID_VALUE),
    };
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out.cast(), value) }
}

/// Only the highest numbers can be set, and only to zero.
///
/// # Safety
/// `value` must be null or valid to read.
pub(crate) unsafe fn set_memory_attribute(attribute: CUgraphMem_attribute, value: *mut c_void) -> Result<()> {
    // SAFETY: the caller promises that `value` is null or valid to read.
    if *unsafe { get(value.cast::<u64>()) }? != 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    match attribute {
        CU_GRAPH_MEM_ATTR_USED_MEM_HIGH => graph_memory::reset_high_bytes(0),
        CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH => graph_memory::reset_high_bytes(1),
        _ => return Err(CudaError::INVALID_VALUE),
    }
    Ok(())
}

fn mode(mode: CUstreamCaptureMode) -> Result<Mode> {
    Ok(match mode {
        CU_STREAM_CAPTURE_MODE_GLOBAL => Mode::Global,
        CU_STREAM_CAPTURE_MODE_THREAD_LOCAL => Mode::ThreadLocal,
        CU_STREAM_CAPTURE_MODE_RELAXED => Mode::Relaxed,
        _ => return Err(CudaError::INVALID_VALUE),
    })
}

pub(crate) fn begin_capture(stream: &Stream, mode: CUstreamCaptureMode) -> Result<()> {
    stream.begin_capture(self::mode(mode)?, None)
}

/// # Safety
/// `before` must be null or valid to read `count` elements.
pub(crate) unsafe fn begin_capture_to(
    stream: &Stream,
    graph: CUgraph,
    before: *const CUgraphNode,
    count: usize,
    mode: CUstreamCaptureMode,
) -> Result<()> {
    // SAFETY: the caller promises that `before` is null or valid to read `count` elements.
    let (graph, before) = (of(graph)?, unsafe { nodes(before, count) }?);
    graph.check(&before)?;
    stream.begin_capture(self::mode(mode)?, Some((graph, before)))
}

/// Ends a capture; there is no graph if it failed.
///
/// # Safety
/// `out` must be null or valid to write.
pub(crate) unsafe fn end_capture(stream: &Stream, out: *mut CUgraph) -> Result<()> {
    if out.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put(out, ptr::null_mut()) }?;
    // SAFETY: the caller promises that `out` is null or valid to write.
    unsafe { put_graph(out, &*stream.end_capture()?) }
}

/// Sets what this thread may do during captures; gives what it was.
///
/// # Safety
/// `mode` must be null or valid to read and write.
pub(crate) unsafe fn exchange_mode(mode: *mut CUstreamCaptureMode) -> Result<()> {
    // SAFETY: the caller promises that `mode` is null or valid to read.
    let wanted = self::mode(*unsafe { get(mode) }?)?;
    let old = match capture::exchange_thread_mode(wanted) {
        Mode::Global => CU_STREAM_CAPTURE_MODE_GLOBAL,
        Mode::ThreadLocal => CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        Mode::Relaxed => CU_STREAM_CAPTURE_MODE_RELAXED,
    };
    // SAFETY: the caller promises that `mode` is null or valid to write.
    unsafe { put(mode, old) }
}

/// What programs ask about the capture of a stream; what they do not want is null.
pub(crate) struct CaptureInfo<E> {
    pub(crate) status: *mut CUstreamCaptureStatus,
    pub(crate) id: *mut u64,
    pub(crate) graph: *mut CUgraph,
    pub(crate) nodes: *mut *const CUgraphNode,
    pub(crate) edges: *mut *const E,
    pub(crate) count: *mut usize,
}

impl CaptureInfo<CUgraphEdgeData> {
    /// Only the status and the number.
    pub(crate) fn short(status: *mut CUstreamCaptureStatus, id: *mut u64) -> Self {
        Self {
            status,
            id,
            graph: ptr::null_mut(),
            nodes: ptr::null_mut(),
            edges: ptr::null_mut(),
            count: ptr::null_mut(),
        }
    }
}

impl<E> CaptureInfo<E> {
    /// # Safety
    /// All its pointers must be null or valid to write.
    pub(crate) unsafe fn put(&self, stream: &Stream) -> Result<()> {
        // To ask is no harm to a capture.
        if stream.id.kind == Kind::Legacy && capture::holds_up_legacy(stream.context()?) {
            return Err(CudaError::STREAM_CAPTURE_IMPLICIT);
        }
        let capture = stream.current_capture();
        let status = match capture.as_ref().map(|capture| capture.status()) {
            Some(Status::Active) => CU_STREAM_CAPTURE_STATUS_ACTIVE,
            Some(Status::Invalid) => CU_STREAM_CAPTURE_STATUS_INVALIDATED,
            Some(Status::Ended) | None => CU_STREAM_CAPTURE_STATUS_NONE,
        };
        // SAFETY: the caller promises that `self.status`, `self.id`, `self.graph`, `self.nodes`, `self.edges` and
        // `self.count` are null or valid to write.
        unsafe {
            put(self.status, status)?;
            let Some(capture) = capture.filter(|_| status == CU_STREAM_CAPTURE_STATUS_ACTIVE) else { return Ok(()) };
            let (nodes, count) = capture.list_last(stream.id)?;
            put_if(self.id, capture.id);
            put_if(self.graph, capture.graph.handle.number() as CUgraph);
            put_if(self.nodes, nodes.cast());
            put_if(self.edges, nodes.add(count).cast());
            put_if(self.count, count);
        }
        Ok(())
    }
}

/// Adds to the nodes that the next one of a stream waits for, or sets them.
///
/// # Safety
/// `list` must be null or valid to read `count` elements.
pub(crate) unsafe fn update_dependencies(
    stream: &Stream,
    list: *mut CUgraphNode,
    count: usize,
    flags: c_uint,
) -> Result<()> {
    let capture = stream.capture()?.ok_or(CudaError::ILLEGAL_STATE)?;
    // SAFETY: the caller promises that `list` is null or valid to read `count` elements.
    let nodes = unsafe { nodes(list, count) }?;
    match flags {
        CU_STREAM_ADD_CAPTURE_DEPENDENCIES => capture.add_last(stream.id, &nodes),
        CU_STREAM_SET_CAPTURE_DEPENDENCIES => capture.set_last(stream.id, nodes),
        _ => Err(CudaError::INVALID_VALUE),
    }
}
