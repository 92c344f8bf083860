//! Types of the runtime: `cuda_runtime_api.h`. A type whose layout has changed carries the last version that has it so.

use std::ffi::{c_char, c_int, c_long, c_longlong, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};
use std::ptr;

pub use super::driver::{
    CUdevResourceDesc_st, CUevent_st, CUfunc_st, CUgraph_st, CUgraphDeviceUpdatableNode_st, CUgraphExec_st,
    CUgraphNode_st, CUkern_st, CUlib_st, CUlogsCallbackEntry_st, CUmemPoolHandle_st, CUstream_st, CUuserObject_st,
    CUuuid,
};
pub use super::runtime_constants::*;

/// What handles point to, for a program; to us they are numbers.
macro_rules! opaque {
    ($($name:ident)*) => {
        $(
            #[repr(C)]
            #[derive(Debug)]
            pub struct $name {
                _opaque: [u8; 0],
            }
        )*
    };
}

opaque! {
    CUexternalMemory_st
    CUexternalSemaphore_st
    cudaArray
    cudaAsyncCallbackEntry
    cudaExecutionContext_st
    cudaGraphicsResource
    cudaMipmappedArray
}

pub type cudaDevResourceDesc_t = *mut CUdevResourceDesc_st;
pub type cudaExecutionContext_t = *mut cudaExecutionContext_st;
pub type cudaArray_t = *mut cudaArray;
pub type cudaArray_const_t = *const cudaArray;
pub type cudaMipmappedArray_t = *mut cudaMipmappedArray;
pub type cudaMipmappedArray_const_t = *const cudaMipmappedArray;
pub type cudaStream_t = *mut CUstream_st;
pub type cudaEvent_t = *mut CUevent_st;
pub type cudaGraphicsResource_t = *mut cudaGraphicsResource;
pub type cudaExternalMemory_t = *mut CUexternalMemory_st;
pub type cudaExternalSemaphore_t = *mut CUexternalSemaphore_st;
pub type cudaGraph_t = *mut CUgraph_st;
pub type cudaGraphNode_t = *mut CUgraphNode_st;
pub type cudaUserObject_t = *mut CUuserObject_st;
pub type cudaGraphConditionalHandle = c_ulonglong;
pub type cudaFunction_t = *mut CUfunc_st;
pub type cudaKernel_t = *mut CUkern_st;
pub type cudaLibrary_t = *mut CUlib_st;
pub type cudaMemPool_t = *mut CUmemPoolHandle_st;
pub type cudaGraphExec_t = *mut CUgraphExec_st;
pub type cudaGraphDeviceNode_t = *mut CUgraphDeviceUpdatableNode_st;
pub type cudaAsyncCallbackHandle_t = *mut cudaAsyncCallbackEntry;
pub type cudaLogsCallbackHandle = *mut CUlogsCallbackEntry_st;
pub type cudaLogIterator = c_uint;
pub type cudaSurfaceObject_t = c_ulonglong;
pub type cudaTextureObject_t = c_ulonglong;

/// The stream that waits for all others and that all others wait for.
pub const cudaStreamLegacy: cudaStream_t = ptr::without_provenance_mut(1);
/// The stream of the calling thread.
pub const cudaStreamPerThread: cudaStream_t = ptr::without_provenance_mut(2);

/// A function of the host, in a stream.
pub type cudaHostFn_t = Option<unsafe extern "C" fn(userData: *mut c_void)>;
pub type cudaAsyncCallback =
    Option<unsafe extern "C" fn(*mut cudaAsyncNotificationInfo_t, *mut c_void, cudaAsyncCallbackHandle_t)>;
/// A function of the host, in a stream, that learns of errors.
pub type cudaStreamCallback_t =
    Option<unsafe extern "C" fn(stream: cudaStream_t, status: cudaError_t, userData: *mut c_void)>;
pub type cudaGraphRecaptureCallback_t = Option<
    unsafe extern "C" fn(
        data: *mut c_void,
        node: cudaGraphNode_t,
        originalParams: *const cudaGraphNodeParams,
        recaptureParams: *const cudaGraphNodeParams,
        status: cudaGraphRecaptureStatus,
    ) -> cudaError_t,
>;
pub type cudaLogsCallback_t =
    Option<unsafe extern "C" fn(data: *mut c_void, logLevel: cudaLogLevel, message: *mut c_char, length: usize)>;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct uint3 {
    pub x: c_uint,
    pub y: c_uint,
    pub z: c_uint,
}

/// The shape of a grid or block.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dim3 {
    pub x: c_uint,
    pub y: c_uint,
    pub z: c_uint,
}

/// Bits and type of the channels of an array.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaChannelFormatDesc {
    pub x: c_int,
    pub y: c_int,
    pub z: c_int,
    pub w: c_int,
    pub f: cudaChannelFormatKind,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaArraySparseProperties_tileExtent {
    pub width: c_uint,
    pub height: c_uint,
    pub depth: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaArraySparseProperties {
    pub tileExtent: cudaArraySparseProperties_tileExtent,
    pub miptailFirstLevel: c_uint,
    pub miptailSize: c_ulonglong,
    pub flags: c_uint,
    pub reserved: [c_uint; 4],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaArrayMemoryRequirements {
    pub size: usize,
    pub alignment: usize,
    pub reserved: [c_uint; 4],
}

/// Rows of memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaPitchedPtr {
    pub ptr: *mut c_void,
    pub pitch: usize,
    pub xsize: usize,
    pub ysize: usize,
}

/// How large something is: in elements for arrays, else with the width in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExtent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// A place in an array or in rows of memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaPos {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

/// A copy of slices of rows.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaMemcpy3DParms {
    pub srcArray: cudaArray_t,
    pub srcPos: cudaPos,
    pub srcPtr: cudaPitchedPtr,
    pub dstArray: cudaArray_t,
    pub dstPos: cudaPos,
    pub dstPtr: cudaPitchedPtr,
    pub extent: cudaExtent,
    pub kind: cudaMemcpyKind,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaMemcpyNodeParams {
    pub flags: c_int,
    pub reserved: c_int,
    pub ctx: cudaExecutionContext_t,
    pub copyParams: cudaMemcpy3DParms,
}

/// A copy of slices of rows between devices.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaMemcpy3DPeerParms {
    pub srcArray: cudaArray_t,
    pub srcPos: cudaPos,
    pub srcPtr: cudaPitchedPtr,
    pub srcDevice: c_int,
    pub dstArray: cudaArray_t,
    pub dstPos: cudaPos,
    pub dstPtr: cudaPitchedPtr,
    pub dstDevice: c_int,
    pub extent: cudaExtent,
}

/// A fill in a graph.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaMemsetParams {
    pub dst: *mut c_void,
    pub pitch: usize,
    pub value: c_uint,
    pub elementSize: c_uint,
    pub width: usize,
    pub height: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaMemsetParamsV2 {
    pub dst: *mut c_void,
    pub pitch: usize,
    pub value: c_uint,
    pub elementSize: c_uint,
    pub width: usize,
    pub height: usize,
    pub ctx: cudaExecutionContext_t,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaAccessPolicyWindow {
    pub base_ptr: *mut c_void,
    pub num_bytes: usize,
    pub hitRatio: f32,
    pub hitProp: cudaAccessProperty,
    pub missProp: cudaAccessProperty,
}

/// A call of the host in a graph.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaHostNodeParams {
    pub r#fn: cudaHostFn_t,
    pub userData: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaHostNodeParamsV2 {
    pub r#fn: cudaHostFn_t,
    pub userData: *mut c_void,
    pub syncMode: c_uint,
    pub ctx: cudaExecutionContext_t,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaResourceDesc_res_array {
    pub array: cudaArray_t,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaResourceDesc_res_mipmap {
    pub mipmap: cudaMipmappedArray_t,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaResourceDesc_res_linear {
    pub devPtr: *mut c_void,
    pub desc: cudaChannelFormatDesc,
    pub sizeInBytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaResourceDesc_res_pitch2D {
    pub devPtr: *mut c_void,
    pub desc: cudaChannelFormatDesc,
    pub width: usize,
    pub height: usize,
    pub pitchInBytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaResourceDesc_res_reserved {
    pub reserved: [c_int; 32],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaResourceDesc_res {
    pub array: cudaResourceDesc_res_array,
    pub mipmap: cudaResourceDesc_res_mipmap,
    pub linear: cudaResourceDesc_res_linear,
    pub pitch2D: cudaResourceDesc_res_pitch2D,
    pub reserved: cudaResourceDesc_res_reserved,
}

/// What a texture or surface reads; `resType` says which field of `res` counts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaResourceDesc {
    pub resType: cudaResourceType,
    pub res: cudaResourceDesc_res,
    pub flags: c_uint,
}

/// As what a texture sees its array.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaResourceViewDesc {
    pub format: cudaResourceViewFormat,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub firstMipmapLevel: c_uint,
    pub lastMipmapLevel: c_uint,
    pub firstLayer: c_uint,
    pub lastLayer: c_uint,
    pub reserved: [c_uint; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaPointerAttributes_unnamed {
    pub localityDomainOrdinal: c_int,
    pub unused: c_long,
}

/// What `cudaPointerGetAttributes` answers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaPointerAttributes {
    pub r#type: cudaMemoryType,
    pub device: c_int,
    pub devicePointer: *mut c_void,
    pub hostPointer: *mut c_void,
    pub unnamed: cudaPointerAttributes_unnamed,
    pub reserved: [c_long; 7],
}

/// What `cudaFuncGetAttributes` answers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaFuncAttributes {
    pub sharedSizeBytes: usize,
    pub constSizeBytes: usize,
    pub localSizeBytes: usize,
    pub maxThreadsPerBlock: c_int,
    pub numRegs: c_int,
    pub ptxVersion: c_int,
    pub binaryVersion: c_int,
    pub cacheModeCA: c_int,
    pub maxDynamicSharedSizeBytes: c_int,
    pub preferredShmemCarveout: c_int,
    pub clusterDimMustBeSet: c_int,
    pub requiredClusterWidth: c_int,
    pub requiredClusterHeight: c_int,
    pub requiredClusterDepth: c_int,
    pub clusterSchedulingPolicyPreference: c_int,
    pub nonPortableClusterSizeAllowed: c_int,
    pub deviceNodeUpdateStatus: c_int,
    pub sharedMemoryMode: cudaSharedMemoryMode,
    pub reserved: [c_int; 14],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaMemLocation_unnamed_localized {
    pub deviceId: c_uchar,
    pub localityDomainId: c_uchar,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaMemLocation_unnamed {
    pub id: c_int,
    pub localized: cudaMemLocation_unnamed_localized,
}

/// Where memory is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaMemLocation {
    pub r#type: cudaMemLocationType,
    pub unnamed: cudaMemLocation_unnamed,
}

/// Who may access memory, and how.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaMemAccessDesc {
    pub location: cudaMemLocation,
    pub flags: cudaMemAccessFlags,
}

/// What a pool of memory is for.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaMemPoolProps {
    pub allocType: cudaMemAllocationType,
    pub handleTypes: cudaMemAllocationHandleType,
    pub location: cudaMemLocation,
    pub win32SecurityAttributes: *mut c_void,
    pub maxSize: usize,
    pub usage: c_ushort,
    pub reserved: [c_uchar; 54],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaMemPoolPtrExportData {
    pub reserved: [c_uchar; 64],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaMemAllocNodeParams {
    pub poolProps: cudaMemPoolProps,
    pub accessDescs: *const cudaMemAccessDesc,
    pub accessDescCount: usize,
    pub bytesize: usize,
    pub dptr: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaMemAllocNodeParamsV2 {
    pub poolProps: cudaMemPoolProps,
    pub accessDescs: *const cudaMemAccessDesc,
    pub accessDescCount: usize,
    pub bytesize: usize,
    pub dptr: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaMemFreeNodeParams {
    pub dptr: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaMemcpyAttributes {
    pub srcAccessOrder: cudaMemcpySrcAccessOrder,
    pub srcLocHint: cudaMemLocation,
    pub dstLocHint: cudaMemLocation,
    pub flags: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaOffset3D {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaMemcpy3DOperand_op_ptr {
    pub ptr: *mut c_void,
    pub rowLength: usize,
    pub layerHeight: usize,
    pub locHint: cudaMemLocation,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaMemcpy3DOperand_op_array {
    pub array: cudaArray_t,
    pub offset: cudaOffset3D,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaMemcpy3DOperand_op {
    pub ptr: cudaMemcpy3DOperand_op_ptr,
    pub array: cudaMemcpy3DOperand_op_array,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaMemcpy3DOperand {
    pub r#type: cudaMemcpy3DOperandType,
    pub op: cudaMemcpy3DOperand_op,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaMemcpy3DBatchOp {
    pub src: cudaMemcpy3DOperand,
    pub dst: cudaMemcpy3DOperand,
    pub extent: cudaExtent,
    pub srcAccessOrder: cudaMemcpySrcAccessOrder,
    pub flags: c_uint,
}

pub type cudaUUID_t = CUuuid;

/// What `cudaGetDeviceProperties` answers in CUDA 13.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaDeviceProp13 {
    pub name: [c_char; 256],
    pub uuid: cudaUUID_t,
    pub luid: [c_char; 8],
    pub luidDeviceNodeMask: c_uint,
    pub totalGlobalMem: usize,
    pub sharedMemPerBlock: usize,
    pub regsPerBlock: c_int,
    pub warpSize: c_int,
    pub memPitch: usize,
    pub maxThreadsPerBlock: c_int,
    pub maxThreadsDim: [c_int; 3],
    pub maxGridSize: [c_int; 3],
    pub totalConstMem: usize,
    pub major: c_int,
    pub minor: c_int,
    pub textureAlignment: usize,
    pub texturePitchAlignment: usize,
    pub multiProcessorCount: c_int,
    pub integrated: c_int,
    pub canMapHostMemory: c_int,
    pub maxTexture1D: c_int,
    pub maxTexture1DMipmap: c_int,
    pub maxTexture2D: [c_int; 2],
    pub maxTexture2DMipmap: [c_int; 2],
    pub maxTexture2DLinear: [c_int; 3],
    pub maxTexture2DGather: [c_int; 2],
    pub maxTexture3D: [c_int; 3],
    pub maxTexture3DAlt: [c_int; 3],
    pub maxTextureCubemap: c_int,
    pub maxTexture1DLayered: [c_int; 2],
    pub maxTexture2DLayered: [c_int; 3],
    pub maxTextureCubemapLayered: [c_int; 2],
    pub maxSurface1D: c_int,
    pub maxSurface2D: [c_int; 2],
    pub maxSurface3D: [c_int; 3],
    pub maxSurface1DLayered: [c_int; 2],
    pub maxSurface2DLayered: [c_int; 3],
    pub maxSurfaceCubemap: c_int,
    pub maxSurfaceCubemapLayered: [c_int; 2],
    pub surfaceAlignment: usize,
    pub concurrentKernels: c_int,
    pub ECCEnabled: c_int,
    pub pciBusID: c_int,
    pub pciDeviceID: c_int,
    pub pciDomainID: c_int,
    pub tccDriver: c_int,
    pub asyncEngineCount: c_int,
    pub unifiedAddressing: c_int,
    pub memoryBusWidth: c_int,
    pub l2CacheSize: c_int,
    pub persistingL2CacheMaxSize: c_int,
    pub maxThreadsPerMultiProcessor: c_int,
    pub streamPrioritiesSupported: c_int,
    pub globalL1CacheSupported: c_int,
    pub localL1CacheSupported: c_int,
    pub sharedMemPerMultiprocessor: usize,
    pub regsPerMultiprocessor: c_int,
    pub managedMemory: c_int,
    pub isMultiGpuBoard: c_int,
    pub multiGpuBoardGroupID: c_int,
    pub hostNativeAtomicSupported: c_int,
    pub pageableMemoryAccess: c_int,
    pub concurrentManagedAccess: c_int,
    pub computePreemptionSupported: c_int,
    pub canUseHostPointerForRegisteredMem: c_int,
    pub cooperativeLaunch: c_int,
    pub sharedMemPerBlockOptin: usize,
    pub pageableMemoryAccessUsesHostPageTables: c_int,
    pub directManagedMemAccessFromHost: c_int,
    pub maxBlocksPerMultiProcessor: c_int,
    pub accessPolicyMaxWindowSize: c_int,
    pub reservedSharedMemPerBlock: usize,
    pub hostRegisterSupported: c_int,
    pub sparseCudaArraySupported: c_int,
    pub hostRegisterReadOnlySupported: c_int,
    pub timelineSemaphoreInteropSupported: c_int,
    pub memoryPoolsSupported: c_int,
    pub gpuDirectRDMASupported: c_int,
    pub gpuDirectRDMAFlushWritesOptions: c_uint,
    pub gpuDirectRDMAWritesOrdering: c_int,
    pub memoryPoolSupportedHandleTypes: c_uint,
    pub deferredMappingCudaArraySupported: c_int,
    pub ipcEventSupported: c_int,
    pub clusterLaunch: c_int,
    pub unifiedFunctionPointers: c_int,
    pub deviceNumaConfig: c_int,
    pub deviceNumaId: c_int,
    pub mpsEnabled: c_int,
    pub hostNumaId: c_int,
    pub gpuPciDeviceID: c_uint,
    pub gpuPciSubsystemID: c_uint,
    pub hostNumaMultinodeIpcSupported: c_int,
    pub reserved: [c_int; 56],
}

/// Names an event to another process.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaIpcEventHandle_t {
    pub reserved: [c_char; 64],
}

/// Names an allocation to another process.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaIpcMemHandle_t {
    pub reserved: [c_char; 64],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalMemoryHandleDesc_handle_win32 {
    pub handle: *mut c_void,
    pub name: *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaExternalMemoryHandleDesc_handle {
    pub fd: c_int,
    pub win32: cudaExternalMemoryHandleDesc_handle_win32,
    pub nvSciBufObject: *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaExternalMemoryHandleDesc {
    pub r#type: cudaExternalMemoryHandleType,
    pub handle: cudaExternalMemoryHandleDesc_handle,
    pub size: c_ulonglong,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalMemoryBufferDesc {
    pub offset: c_ulonglong,
    pub size: c_ulonglong,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalMemoryMipmappedArrayDesc {
    pub offset: c_ulonglong,
    pub formatDesc: cudaChannelFormatDesc,
    pub extent: cudaExtent,
    pub flags: c_uint,
    pub numLevels: c_uint,
    pub reserved: [c_uint; 16],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalSemaphoreHandleDesc_handle_win32 {
    pub handle: *mut c_void,
    pub name: *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaExternalSemaphoreHandleDesc_handle {
    pub fd: c_int,
    pub win32: cudaExternalSemaphoreHandleDesc_handle_win32,
    pub nvSciSyncObj: *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaExternalSemaphoreHandleDesc {
    pub r#type: cudaExternalSemaphoreHandleType,
    pub handle: cudaExternalSemaphoreHandleDesc_handle,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalSemaphoreSignalParams_params_fence {
    pub value: c_ulonglong,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaExternalSemaphoreSignalParams_params_nvSciSync {
    pub fence: *mut c_void,
    pub reserved: c_ulonglong,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalSemaphoreSignalParams_params_keyedMutex {
    pub key: c_ulonglong,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaExternalSemaphoreSignalParams_params {
    pub fence: cudaExternalSemaphoreSignalParams_params_fence,
    pub nvSciSync: cudaExternalSemaphoreSignalParams_params_nvSciSync,
    pub keyedMutex: cudaExternalSemaphoreSignalParams_params_keyedMutex,
    pub reserved: [c_uint; 12],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaExternalSemaphoreSignalParams {
    pub params: cudaExternalSemaphoreSignalParams_params,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalSemaphoreWaitParams_params_fence {
    pub value: c_ulonglong,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaExternalSemaphoreWaitParams_params_nvSciSync {
    pub fence: *mut c_void,
    pub reserved: c_ulonglong,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalSemaphoreWaitParams_params_keyedMutex {
    pub key: c_ulonglong,
    pub timeoutMs: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaExternalSemaphoreWaitParams_params {
    pub fence: cudaExternalSemaphoreWaitParams_params_fence,
    pub nvSciSync: cudaExternalSemaphoreWaitParams_params_nvSciSync,
    pub keyedMutex: cudaExternalSemaphoreWaitParams_params_keyedMutex,
    pub reserved: [c_uint; 10],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaExternalSemaphoreWaitParams {
    pub params: cudaExternalSemaphoreWaitParams_params,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaDevSmResource {
    pub smCount: c_uint,
    pub minSmPartitionSize: c_uint,
    pub smCoscheduledAlignment: c_uint,
    pub flags: c_uint,
    pub localityDomainId: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaDevWorkqueueConfigResource {
    pub device: c_int,
    pub wqConcurrencyLimit: c_uint,
    pub sharingScope: cudaDevWorkqueueConfigScope,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaDevWorkqueueResource {
    pub reserved: [c_uchar; 40],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaDevSmResourceGroupParams {
    pub smCount: c_uint,
    pub coscheduledSmCount: c_uint,
    pub preferredCoscheduledSmCount: c_uint,
    pub flags: c_uint,
    pub localityDomainId: c_uint,
    pub reserved: [c_uint; 11],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaDevResource_unnamed {
    pub sm: cudaDevSmResource,
    pub wqConfig: cudaDevWorkqueueConfigResource,
    pub wq: cudaDevWorkqueueResource,
    pub _oversize: [c_uchar; 40],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaDevResource {
    pub r#type: cudaDevResourceType,
    pub _internal_padding: [c_uchar; 92],
    pub unnamed: cudaDevResource_unnamed,
    pub nextResource: *mut cudaDevResource,
}

/// A launch in a graph.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaKernelNodeParams {
    pub func: *mut c_void,
    pub gridDim: dim3,
    pub blockDim: dim3,
    pub sharedMemBytes: c_uint,
    pub kernelParams: *mut *mut c_void,
    pub extra: *mut *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaKernelNodeParamsV2_unnamed {
    pub func: *mut c_void,
    pub kern: cudaKernel_t,
    pub cuFunc: cudaFunction_t,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaKernelNodeParamsV2 {
    pub unnamed: cudaKernelNodeParamsV2_unnamed,
    pub gridDim: dim3,
    pub blockDim: dim3,
    pub sharedMemBytes: c_uint,
    pub kernelParams: *mut *mut c_void,
    pub extra: *mut *mut c_void,
    pub ctx: cudaExecutionContext_t,
    pub functionType: cudaKernelFunctionType,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalSemaphoreSignalNodeParams {
    pub extSemArray: *mut cudaExternalSemaphore_t,
    pub paramsArray: *const cudaExternalSemaphoreSignalParams,
    pub numExtSems: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalSemaphoreSignalNodeParamsV2 {
    pub extSemArray: *mut cudaExternalSemaphore_t,
    pub paramsArray: *const cudaExternalSemaphoreSignalParams,
    pub numExtSems: c_uint,
    pub ctx: cudaExecutionContext_t,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalSemaphoreWaitNodeParams {
    pub extSemArray: *mut cudaExternalSemaphore_t,
    pub paramsArray: *const cudaExternalSemaphoreWaitParams,
    pub numExtSems: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalSemaphoreWaitNodeParamsV2 {
    pub extSemArray: *mut cudaExternalSemaphore_t,
    pub paramsArray: *const cudaExternalSemaphoreWaitParams,
    pub numExtSems: c_uint,
    pub ctx: cudaExecutionContext_t,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaConditionalNodeParams {
    pub handle: cudaGraphConditionalHandle,
    pub r#type: cudaGraphConditionalNodeType,
    pub size: c_uint,
    pub phGraph_out: *mut cudaGraph_t,
    pub ctx: cudaExecutionContext_t,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaChildGraphNodeParams {
    pub graph: cudaGraph_t,
    pub ownership: cudaGraphChildGraphNodeOwnership,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaEventRecordNodeParams {
    pub event: cudaEvent_t,
    pub ctx: cudaExecutionContext_t,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaEventWaitNodeParams {
    pub event: cudaEvent_t,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaGraphNodeParams_unnamed {
    pub reserved1: [c_longlong; 29],
    pub kernel: cudaKernelNodeParamsV2,
    pub memcpy: cudaMemcpyNodeParams,
    pub memset: cudaMemsetParamsV2,
    pub host: cudaHostNodeParamsV2,
    pub graph: cudaChildGraphNodeParams,
    pub eventWait: cudaEventWaitNodeParams,
    pub eventRecord: cudaEventRecordNodeParams,
    pub extSemSignal: cudaExternalSemaphoreSignalNodeParamsV2,
    pub extSemWait: cudaExternalSemaphoreWaitNodeParamsV2,
    pub alloc: cudaMemAllocNodeParamsV2,
    pub free: cudaMemFreeNodeParams,
    pub conditional: cudaConditionalNodeParams,
}

/// A node of a graph; `type` says which field counts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaGraphNodeParams {
    pub r#type: cudaGraphNodeType,
    pub reserved0: [c_int; 3],
    pub unnamed: cudaGraphNodeParams_unnamed,
    pub reserved2: c_longlong,
}

/// What kind of dependency an edge is.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaGraphEdgeData {
    pub from_port: c_uchar,
    pub to_port: c_uchar,
    pub r#type: c_uchar,
    pub reserved: [c_uchar; 5],
}

/// How to make a graph executable, and why it failed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaGraphInstantiateParams {
    pub flags: c_ulonglong,
    pub uploadStream: cudaStream_t,
    pub errNode_out: cudaGraphNode_t,
    pub result_out: cudaGraphInstantiateResult,
}

/// Why an executable graph could not be updated.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaGraphExecUpdateResultInfo {
    pub result: cudaGraphExecUpdateResult,
    pub errorNode: cudaGraphNode_t,
    pub errorFromNode: cudaGraphNode_t,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaGraphKernelNodeUpdate_updateData_param {
    pub pValue: *const c_void,
    pub offset: usize,
    pub size: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaGraphKernelNodeUpdate_updateData {
    pub gridDim: dim3,
    pub param: cudaGraphKernelNodeUpdate_updateData_param,
    pub isEnabled: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaGraphKernelNodeUpdate {
    pub node: cudaGraphDeviceNode_t,
    pub field: cudaGraphKernelNodeField,
    pub updateData: cudaGraphKernelNodeUpdate_updateData,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaLaunchMemSyncDomainMap {
    pub default_: c_uchar,
    pub remote: c_uchar,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaLaunchAttributeValue_clusterDim {
    pub x: c_uint,
    pub y: c_uint,
    pub z: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaLaunchAttributeValue_programmaticEvent {
    pub event: cudaEvent_t,
    pub flags: c_int,
    pub triggerAtBlockStart: c_int,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaLaunchAttributeValue_preferredClusterDim {
    pub x: c_uint,
    pub y: c_uint,
    pub z: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaLaunchAttributeValue_launchCompletionEvent {
    pub event: cudaEvent_t,
    pub flags: c_int,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaLaunchAttributeValue_deviceUpdatableKernelNode {
    pub deviceUpdatable: c_int,
    pub devNode: cudaGraphDeviceNode_t,
}

/// The value of an attribute of a launch; its number says which field counts.
#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaLaunchAttributeValue {
    pub pad: [c_char; 64],
    pub accessPolicyWindow: cudaAccessPolicyWindow,
    pub cooperative: c_int,
    pub syncPolicy: cudaSynchronizationPolicy,
    pub clusterDim: cudaLaunchAttributeValue_clusterDim,
    pub clusterSchedulingPolicyPreference: cudaClusterSchedulingPolicy,
    pub programmaticStreamSerializationAllowed: c_int,
    pub programmaticEvent: cudaLaunchAttributeValue_programmaticEvent,
    pub priority: c_int,
    pub memSyncDomainMap: cudaLaunchMemSyncDomainMap,
    pub memSyncDomain: cudaLaunchMemSyncDomain,
    pub preferredClusterDim: cudaLaunchAttributeValue_preferredClusterDim,
    pub launchCompletionEvent: cudaLaunchAttributeValue_launchCompletionEvent,
    pub deviceUpdatableKernelNode: cudaLaunchAttributeValue_deviceUpdatableKernelNode,
    pub sharedMemCarveout: c_uint,
    pub nvlinkUtilCentricScheduling: c_uint,
    pub portableClusterSizeMode: cudaLaunchAttributePortableClusterMode,
    pub sharedMemoryMode: cudaSharedMemoryMode,
}

/// An attribute of a launch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaLaunchAttribute {
    pub id: cudaLaunchAttributeID,
    pub pad: [c_char; 4],
    pub val: cudaLaunchAttributeValue,
}

/// A launch, for `cudaLaunchKernelExC`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaLaunchConfig_t {
    pub gridDim: dim3,
    pub blockDim: dim3,
    pub dynamicSmemBytes: usize,
    pub stream: cudaStream_t,
    pub attrs: *mut cudaLaunchAttribute,
    pub numAttrs: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaAsyncNotificationInfo_info_overBudget {
    pub bytesOverBudget: c_ulonglong,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaAsyncNotificationInfo_info {
    pub overBudget: cudaAsyncNotificationInfo_info_overBudget,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaAsyncNotificationInfo {
    pub r#type: cudaAsyncNotificationType,
    pub info: cudaAsyncNotificationInfo_info,
}

pub type cudaAsyncNotificationInfo_t = cudaAsyncNotificationInfo;

/// How a texture is read.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaTextureDesc {
    pub addressMode: [cudaTextureAddressMode; 3],
    pub filterMode: cudaTextureFilterMode,
    pub readMode: cudaTextureReadMode,
    pub sRGB: c_int,
    pub borderColor: [f32; 4],
    pub normalizedCoords: c_int,
    pub maxAnisotropy: c_uint,
    pub mipmapFilterMode: cudaTextureFilterMode,
    pub mipmapLevelBias: f32,
    pub minMipmapLevelClamp: f32,
    pub maxMipmapLevelClamp: f32,
    pub disableTrilinearOptimization: c_int,
    pub seamlessCubemap: c_int,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaGraphRecaptureCallbackData {
    pub callbackFunc: cudaGraphRecaptureCallback_t,
    pub userData: *mut c_void,
}

pub type cudaDeviceProp = cudaDeviceProp13;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaResourceDesc12_res_array {
    pub array: cudaArray_t,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaResourceDesc12_res_mipmap {
    pub mipmap: cudaMipmappedArray_t,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaResourceDesc12_res_linear {
    pub devPtr: *mut c_void,
    pub desc: cudaChannelFormatDesc,
    pub sizeInBytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaResourceDesc12_res_pitch2D {
    pub devPtr: *mut c_void,
    pub desc: cudaChannelFormatDesc,
    pub width: usize,
    pub height: usize,
    pub pitchInBytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaResourceDesc12_res {
    pub array: cudaResourceDesc12_res_array,
    pub mipmap: cudaResourceDesc12_res_mipmap,
    pub linear: cudaResourceDesc12_res_linear,
    pub pitch2D: cudaResourceDesc12_res_pitch2D,
}

/// What a texture or surface reads, up to CUDA 12.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaResourceDesc12 {
    pub resType: cudaResourceType,
    pub res: cudaResourceDesc12_res,
}

/// As what a texture sees its array, up to CUDA 12.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaResourceViewDesc12 {
    pub format: cudaResourceViewFormat,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub firstMipmapLevel: c_uint,
    pub lastMipmapLevel: c_uint,
    pub firstLayer: c_uint,
    pub lastLayer: c_uint,
}

/// What `cudaPointerGetAttributes` answers up to CUDA 12.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaPointerAttributes12 {
    pub r#type: cudaMemoryType,
    pub device: c_int,
    pub devicePointer: *mut c_void,
    pub hostPointer: *mut c_void,
}

/// What `cudaGetDeviceProperties_v2` answers, which is `cudaGetDeviceProperties` to programs of CUDA 12.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaDeviceProp12 {
    pub name: [c_char; 256],
    pub uuid: cudaUUID_t,
    pub luid: [c_char; 8],
    pub luidDeviceNodeMask: c_uint,
    pub totalGlobalMem: usize,
    pub sharedMemPerBlock: usize,
    pub regsPerBlock: c_int,
    pub warpSize: c_int,
    pub memPitch: usize,
    pub maxThreadsPerBlock: c_int,
    pub maxThreadsDim: [c_int; 3],
    pub maxGridSize: [c_int; 3],
    pub clockRate: c_int,
    pub totalConstMem: usize,
    pub major: c_int,
    pub minor: c_int,
    pub textureAlignment: usize,
    pub texturePitchAlignment: usize,
    pub deviceOverlap: c_int,
    pub multiProcessorCount: c_int,
    pub kernelExecTimeoutEnabled: c_int,
    pub integrated: c_int,
    pub canMapHostMemory: c_int,
    pub computeMode: c_int,
    pub maxTexture1D: c_int,
    pub maxTexture1DMipmap: c_int,
    pub maxTexture1DLinear: c_int,
    pub maxTexture2D: [c_int; 2],
    pub maxTexture2DMipmap: [c_int; 2],
    pub maxTexture2DLinear: [c_int; 3],
    pub maxTexture2DGather: [c_int; 2],
    pub maxTexture3D: [c_int; 3],
    pub maxTexture3DAlt: [c_int; 3],
    pub maxTextureCubemap: c_int,
    pub maxTexture1DLayered: [c_int; 2],
    pub maxTexture2DLayered: [c_int; 3],
    pub maxTextureCubemapLayered: [c_int; 2],
    pub maxSurface1D: c_int,
    pub maxSurface2D: [c_int; 2],
    pub maxSurface3D: [c_int; 3],
    pub maxSurface1DLayered: [c_int; 2],
    pub maxSurface2DLayered: [c_int; 3],
    pub maxSurfaceCubemap: c_int,
    pub maxSurfaceCubemapLayered: [c_int; 2],
    pub surfaceAlignment: usize,
    pub concurrentKernels: c_int,
    pub ECCEnabled: c_int,
    pub pciBusID: c_int,
    pub pciDeviceID: c_int,
    pub pciDomainID: c_int,
    pub tccDriver: c_int,
    pub asyncEngineCount: c_int,
    pub unifiedAddressing: c_int,
    pub memoryClockRate: c_int,
    pub memoryBusWidth: c_int,
    pub l2CacheSize: c_int,
    pub persistingL2CacheMaxSize: c_int,
    pub maxThreadsPerMultiProcessor: c_int,
    pub streamPrioritiesSupported: c_int,
    pub globalL1CacheSupported: c_int,
    pub localL1CacheSupported: c_int,
    pub sharedMemPerMultiprocessor: usize,
    pub regsPerMultiprocessor: c_int,
    pub managedMemory: c_int,
    pub isMultiGpuBoard: c_int,
    pub multiGpuBoardGroupID: c_int,
    pub hostNativeAtomicSupported: c_int,
    pub singleToDoublePrecisionPerfRatio: c_int,
    pub pageableMemoryAccess: c_int,
    pub concurrentManagedAccess: c_int,
    pub computePreemptionSupported: c_int,
    pub canUseHostPointerForRegisteredMem: c_int,
    pub cooperativeLaunch: c_int,
    pub cooperativeMultiDeviceLaunch: c_int,
    pub sharedMemPerBlockOptin: usize,
    pub pageableMemoryAccessUsesHostPageTables: c_int,
    pub directManagedMemAccessFromHost: c_int,
    pub maxBlocksPerMultiProcessor: c_int,
    pub accessPolicyMaxWindowSize: c_int,
    pub reservedSharedMemPerBlock: usize,
    pub hostRegisterSupported: c_int,
    pub sparseCudaArraySupported: c_int,
    pub hostRegisterReadOnlySupported: c_int,
    pub timelineSemaphoreInteropSupported: c_int,
    pub memoryPoolsSupported: c_int,
    pub gpuDirectRDMASupported: c_int,
    pub gpuDirectRDMAFlushWritesOptions: c_uint,
    pub gpuDirectRDMAWritesOrdering: c_int,
    pub memoryPoolSupportedHandleTypes: c_uint,
    pub deferredMappingCudaArraySupported: c_int,
    pub ipcEventSupported: c_int,
    pub clusterLaunch: c_int,
    pub unifiedFunctionPointers: c_int,
    pub reserved: [c_int; 63],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalMemoryHandleDesc12_handle_win32 {
    pub handle: *mut c_void,
    pub name: *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaExternalMemoryHandleDesc12_handle {
    pub fd: c_int,
    pub win32: cudaExternalMemoryHandleDesc12_handle_win32,
    pub nvSciBufObject: *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaExternalMemoryHandleDesc12 {
    pub r#type: cudaExternalMemoryHandleType,
    pub handle: cudaExternalMemoryHandleDesc12_handle,
    pub size: c_ulonglong,
    pub flags: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalMemoryBufferDesc12 {
    pub offset: c_ulonglong,
    pub size: c_ulonglong,
    pub flags: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalMemoryMipmappedArrayDesc12 {
    pub offset: c_ulonglong,
    pub formatDesc: cudaChannelFormatDesc,
    pub extent: cudaExtent,
    pub flags: c_uint,
    pub numLevels: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalSemaphoreHandleDesc12_handle_win32 {
    pub handle: *mut c_void,
    pub name: *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaExternalSemaphoreHandleDesc12_handle {
    pub fd: c_int,
    pub win32: cudaExternalSemaphoreHandleDesc12_handle_win32,
    pub nvSciSyncObj: *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaExternalSemaphoreHandleDesc12 {
    pub r#type: cudaExternalSemaphoreHandleType,
    pub handle: cudaExternalSemaphoreHandleDesc12_handle,
    pub flags: c_uint,
}

/// What `cudaFuncGetAttributes` answers up to CUDA 11.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaFuncAttributes11 {
    pub sharedSizeBytes: usize,
    pub constSizeBytes: usize,
    pub localSizeBytes: usize,
    pub maxThreadsPerBlock: c_int,
    pub numRegs: c_int,
    pub ptxVersion: c_int,
    pub binaryVersion: c_int,
    pub cacheModeCA: c_int,
    pub maxDynamicSharedSizeBytes: c_int,
    pub preferredShmemCarveout: c_int,
}

/// What `cudaGetDeviceProperties` answers up to CUDA 11, and the symbol of that name still in CUDA 12.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaDeviceProp11 {
    pub name: [c_char; 256],
    pub uuid: cudaUUID_t,
    pub luid: [c_char; 8],
    pub luidDeviceNodeMask: c_uint,
    pub totalGlobalMem: usize,
    pub sharedMemPerBlock: usize,
    pub regsPerBlock: c_int,
    pub warpSize: c_int,
    pub memPitch: usize,
    pub maxThreadsPerBlock: c_int,
    pub maxThreadsDim: [c_int; 3],
    pub maxGridSize: [c_int; 3],
    pub clockRate: c_int,
    pub totalConstMem: usize,
    pub major: c_int,
    pub minor: c_int,
    pub textureAlignment: usize,
    pub texturePitchAlignment: usize,
    pub deviceOverlap: c_int,
    pub multiProcessorCount: c_int,
    pub kernelExecTimeoutEnabled: c_int,
    pub integrated: c_int,
    pub canMapHostMemory: c_int,
    pub computeMode: c_int,
    pub maxTexture1D: c_int,
    pub maxTexture1DMipmap: c_int,
    pub maxTexture1DLinear: c_int,
    pub maxTexture2D: [c_int; 2],
    pub maxTexture2DMipmap: [c_int; 2],
    pub maxTexture2DLinear: [c_int; 3],
    pub maxTexture2DGather: [c_int; 2],
    pub maxTexture3D: [c_int; 3],
    pub maxTexture3DAlt: [c_int; 3],
    pub maxTextureCubemap: c_int,
    pub maxTexture1DLayered: [c_int; 2],
    pub maxTexture2DLayered: [c_int; 3],
    pub maxTextureCubemapLayered: [c_int; 2],
    pub maxSurface1D: c_int,
    pub maxSurface2D: [c_int; 2],
    pub maxSurface3D: [c_int; 3],
    pub maxSurface1DLayered: [c_int; 2],
    pub maxSurface2DLayered: [c_int; 3],
    pub maxSurfaceCubemap: c_int,
    pub maxSurfaceCubemapLayered: [c_int; 2],
    pub surfaceAlignment: usize,
    pub concurrentKernels: c_int,
    pub ECCEnabled: c_int,
    pub pciBusID: c_int,
    pub pciDeviceID: c_int,
    pub pciDomainID: c_int,
    pub tccDriver: c_int,
    pub asyncEngineCount: c_int,
    pub unifiedAddressing: c_int,
    pub memoryClockRate: c_int,
    pub memoryBusWidth: c_int,
    pub l2CacheSize: c_int,
    pub persistingL2CacheMaxSize: c_int,
    pub maxThreadsPerMultiProcessor: c_int,
    pub streamPrioritiesSupported: c_int,
    pub globalL1CacheSupported: c_int,
    pub localL1CacheSupported: c_int,
    pub sharedMemPerMultiprocessor: usize,
    pub regsPerMultiprocessor: c_int,
    pub managedMemory: c_int,
    pub isMultiGpuBoard: c_int,
    pub multiGpuBoardGroupID: c_int,
    pub hostNativeAtomicSupported: c_int,
    pub singleToDoublePrecisionPerfRatio: c_int,
    pub pageableMemoryAccess: c_int,
    pub concurrentManagedAccess: c_int,
    pub computePreemptionSupported: c_int,
    pub canUseHostPointerForRegisteredMem: c_int,
    pub cooperativeLaunch: c_int,
    pub cooperativeMultiDeviceLaunch: c_int,
    pub sharedMemPerBlockOptin: usize,
    pub pageableMemoryAccessUsesHostPageTables: c_int,
    pub directManagedMemAccessFromHost: c_int,
    pub maxBlocksPerMultiProcessor: c_int,
    pub accessPolicyMaxWindowSize: c_int,
    pub reservedSharedMemPerBlock: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalSemaphoreSignalParams_v1_params_fence {
    pub value: c_ulonglong,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaExternalSemaphoreSignalParams_v1_params_nvSciSync {
    pub fence: *mut c_void,
    pub reserved: c_ulonglong,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalSemaphoreSignalParams_v1_params_keyedMutex {
    pub key: c_ulonglong,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaExternalSemaphoreSignalParams_v1_params {
    pub fence: cudaExternalSemaphoreSignalParams_v1_params_fence,
    pub nvSciSync: cudaExternalSemaphoreSignalParams_v1_params_nvSciSync,
    pub keyedMutex: cudaExternalSemaphoreSignalParams_v1_params_keyedMutex,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaExternalSemaphoreSignalParams_v1 {
    pub params: cudaExternalSemaphoreSignalParams_v1_params,
    pub flags: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalSemaphoreWaitParams_v1_params_fence {
    pub value: c_ulonglong,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union cudaExternalSemaphoreWaitParams_v1_params_nvSciSync {
    pub fence: *mut c_void,
    pub reserved: c_ulonglong,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaExternalSemaphoreWaitParams_v1_params_keyedMutex {
    pub key: c_ulonglong,
    pub timeoutMs: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaExternalSemaphoreWaitParams_v1_params {
    pub fence: cudaExternalSemaphoreWaitParams_v1_params_fence,
    pub nvSciSync: cudaExternalSemaphoreWaitParams_v1_params_nvSciSync,
    pub keyedMutex: cudaExternalSemaphoreWaitParams_v1_params_keyedMutex,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cudaExternalSemaphoreWaitParams_v1 {
    pub params: cudaExternalSemaphoreWaitParams_v1_params,
    pub flags: c_uint,
}

/// A launch on one of several devices.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaLaunchParams {
    pub func: *mut c_void,
    pub gridDim: dim3,
    pub blockDim: dim3,
    pub args: *mut *mut c_void,
    pub sharedMem: usize,
    pub stream: cudaStream_t,
}

/// A surface that is bound by its name.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct surfaceReference {
    pub channelDesc: cudaChannelFormatDesc,
}

/// A texture that is bound by its name.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct textureReference {
    pub normalized: c_int,
    pub filterMode: cudaTextureFilterMode,
    pub addressMode: [cudaTextureAddressMode; 3],
    pub channelDesc: cudaChannelFormatDesc,
    pub sRGB: c_int,
    pub maxAnisotropy: c_uint,
    pub mipmapFilterMode: cudaTextureFilterMode,
    pub mipmapLevelBias: f32,
    pub minMipmapLevelClamp: f32,
    pub maxMipmapLevelClamp: f32,
    pub disableTrilinearOptimization: c_int,
    pub __cudaReserved: [c_int; 14],
}

/// How a texture is read, up to CUDA 11.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaTextureDesc11 {
    pub addressMode: [cudaTextureAddressMode; 3],
    pub filterMode: cudaTextureFilterMode,
    pub readMode: cudaTextureReadMode,
    pub sRGB: c_int,
    pub borderColor: [f32; 4],
    pub normalizedCoords: c_int,
    pub maxAnisotropy: c_uint,
    pub mipmapFilterMode: cudaTextureFilterMode,
    pub mipmapLevelBias: f32,
    pub minMipmapLevelClamp: f32,
    pub maxMipmapLevelClamp: f32,
    pub disableTrilinearOptimization: c_int,
}

/// How a texture is read, for the `_v2` functions of CUDA 11.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cudaTextureDesc_v2 {
    pub addressMode: [cudaTextureAddressMode; 3],
    pub filterMode: cudaTextureFilterMode,
    pub readMode: cudaTextureReadMode,
    pub sRGB: c_int,
    pub borderColor: [f32; 4],
    pub normalizedCoords: c_int,
    pub maxAnisotropy: c_uint,
    pub mipmapFilterMode: cudaTextureFilterMode,
    pub mipmapLevelBias: f32,
    pub minMipmapLevelClamp: f32,
    pub maxMipmapLevelClamp: f32,
    pub disableTrilinearOptimization: c_int,
    pub seamlessCubemap: c_int,
}
