//! The names of errors, and what they mean.
//!
//! Driver and runtime share the numbers; each has names of its own, and some errors only one of them knows.

use std::ffi::CStr;

/// What programs are told about an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ErrorText {
    /// A `CUresult` or `cudaError`.
    pub code: u32,
    /// For `cuGetErrorName`, if the driver knows the error.
    pub driver: Option<&'static CStr>,
    /// For `cudaGetErrorName`, if the runtime knows it.
    pub runtime: Option<&'static CStr>,
    /// For `cuGetErrorString` and `cudaGetErrorString`.
    pub meaning: &'static CStr,
}

/// What is known about a number.
pub fn error_text(code: u32) -> Option<&'static ErrorText> {
    ERRORS.binary_search_by_key(&code, |error| error.code).ok().map(|index| &ERRORS[index])
}

const fn both(code: u32, driver: &'static CStr, runtime: &'static CStr, meaning: &'static CStr) -> ErrorText {
    ErrorText { code, driver: Some(driver), runtime: Some(runtime), meaning }
}

const fn driver(code: u32, name: &'static CStr, meaning: &'static CStr) -> ErrorText {
    ErrorText { code, driver: Some(name), runtime: None, meaning }
}

const fn runtime(code: u32, name: &'static CStr, meaning: &'static CStr) -> ErrorText {
    ErrorText { code, driver: None, runtime: Some(name), meaning }
}

/// All errors, by their numbers. The meanings that programs and their tests look for are CUDA's words.
#[rustfmt::skip] // One line for one error.
pub static ERRORS: &[ErrorText] = &[
    both(0, c"CUDA_SUCCESS", c"cudaSuccess", c"no error"),
    both(1, c"CUDA_ERROR_INVALID_VALUE", c"cudaErrorInvalidValue", c"invalid argument"),
    both(2, c"CUDA_ERROR_OUT_OF_MEMORY", c"cudaErrorMemoryAllocation", c"out of memory"),
    both(3, c"CUDA_ERROR_NOT_INITIALIZED", c"cudaErrorInitializationError", c"initialization error"),
    both(4, c"CUDA_ERROR_DEINITIALIZED", c"cudaErrorCudartUnloading", c"driver shutting down"),
    both(5, c"CUDA_ERROR_PROFILER_DISABLED", c"cudaErrorProfilerDisabled", c"the profiler is not in use"),
    both(6, c"CUDA_ERROR_PROFILER_NOT_INITIALIZED", c"cudaErrorProfilerNotInitialized", c"the profiler has not been set up"),
    both(7, c"CUDA_ERROR_PROFILER_ALREADY_STARTED", c"cudaErrorProfilerAlreadyStarted", c"the profiler has already been started"),
    both(8, c"CUDA_ERROR_PROFILER_ALREADY_STOPPED", c"cudaErrorProfilerAlreadyStopped", c"the profiler has already been stopped"),
    runtime(9, c"cudaErrorInvalidConfiguration", c"invalid configuration argument"),
    runtime(10, c"cudaErrorVersionTranslation", c"the version of a structure cannot be translated"),
    runtime(12, c"cudaErrorInvalidPitchValue", c"invalid pitch argument"),
    runtime(13, c"cudaErrorInvalidSymbol", c"invalid device symbol"),
    runtime(16, c"cudaErrorInvalidHostPointer", c"a pointer to memory of the host was expected"),
    runtime(17, c"cudaErrorInvalidDevicePointer", c"a pointer to memory of the device was expected"),
    runtime(18, c"cudaErrorInvalidTexture", c"this is not a texture"),
    runtime(19, c"cudaErrorInvalidTextureBinding", c"this texture is not bound"),
    runtime(20, c"cudaErrorInvalidChannelDescriptor", c"the description of the channels is wrong"),
    runtime(21, c"cudaErrorInvalidMemcpyDirection", c"invalid copy direction for memcpy"),
    runtime(22, c"cudaErrorAddressOfConstant", c"the address of a constant was taken"),
    runtime(23, c"cudaErrorTextureFetchFailed", c"reading from a texture failed"),
    runtime(24, c"cudaErrorTextureNotBound", c"the texture was not bound when it was read"),
    runtime(25, c"cudaErrorSynchronizationError", c"waiting for the device failed"),
    runtime(26, c"cudaErrorInvalidFilterSetting", c"these textures cannot be filtered linearly"),
    runtime(27, c"cudaErrorInvalidNormSetting", c"integer textures cannot be read as normalised floats"),
    runtime(28, c"cudaErrorMixedDeviceExecution", c"code of the device and its emulation were mixed"),
    runtime(31, c"cudaErrorNotYetImplemented", c"this is not implemented"),
    runtime(32, c"cudaErrorMemoryValueTooLarge", c"a value is too large for its memory"),
    both(34, c"CUDA_ERROR_STUB_LIBRARY", c"cudaErrorStubLibrary", c"the library is a stub that can only be linked with"),
    runtime(35, c"cudaErrorInsufficientDriver", c"the driver is older than the runtime"),
    both(36, c"CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", c"cudaErrorCallRequiresNewerDriver", c"this call needs a newer driver"),
    runtime(37, c"cudaErrorInvalidSurface", c"this is not a surface"),
    runtime(43, c"cudaErrorDuplicateVariableName", c"several variables have this name"),
    runtime(44, c"cudaErrorDuplicateTextureName", c"several textures have this name"),
    runtime(45, c"cudaErrorDuplicateSurfaceName", c"several surfaces have this name"),
    both(46, c"CUDA_ERROR_DEVICE_UNAVAILABLE", c"cudaErrorDevicesUnavailable", c"all devices are in use or not allowed"),
    driver(47, c"CUDA_ERROR_MULTICAST_RESOURCE_FULL", c"there is no room for another multicast operation"),
    runtime(49, c"cudaErrorIncompatibleDriverContext", c"the current context does not go together with the runtime"),
    runtime(52, c"cudaErrorMissingConfiguration", c"the launch has no configuration"),
    runtime(53, c"cudaErrorPriorLaunchFailure", c"an earlier launch failed"),
    runtime(65, c"cudaErrorLaunchMaxDepthExceeded", c"grids are nested too deeply"),
    runtime(66, c"cudaErrorLaunchFileScopedTex", c"a kernel launched from the device uses a texture reference"),
    runtime(67, c"cudaErrorLaunchFileScopedSurf", c"a kernel launched from the device uses a surface reference"),
    runtime(68, c"cudaErrorSyncDepthExceeded", c"waiting on the device is nested too deeply"),
    runtime(69, c"cudaErrorLaunchPendingCountExceeded", c"too many launches from the device wait"),
    runtime(98, c"cudaErrorInvalidDeviceFunction", c"invalid device function"),
    both(100, c"CUDA_ERROR_NO_DEVICE", c"cudaErrorNoDevice", c"no CUDA-capable device is detected"),
    both(101, c"CUDA_ERROR_INVALID_DEVICE", c"cudaErrorInvalidDevice", c"invalid device ordinal"),
    both(102, c"CUDA_ERROR_DEVICE_NOT_LICENSED", c"cudaErrorDeviceNotLicensed", c"the device has no licence"),
    runtime(103, c"cudaErrorSoftwareValidityNotEstablished", c"the integrity of the software could not be established"),
    runtime(127, c"cudaErrorStartupFailure", c"the runtime could not start"),
    both(200, c"CUDA_ERROR_INVALID_IMAGE", c"cudaErrorInvalidKernelImage", c"device kernel image is invalid"),
    both(201, c"CUDA_ERROR_INVALID_CONTEXT", c"cudaErrorDeviceUninitialized", c"invalid device context"),
    driver(202, c"CUDA_ERROR_CONTEXT_ALREADY_CURRENT", c"the context is already current"),
    both(205, c"CUDA_ERROR_MAP_FAILED", c"cudaErrorMapBufferObjectFailed", c"mapping failed"),
    both(206, c"CUDA_ERROR_UNMAP_FAILED", c"cudaErrorUnmapBufferObjectFailed", c"unmapping failed"),
    both(207, c"CUDA_ERROR_ARRAY_IS_MAPPED", c"cudaErrorArrayIsMapped", c"the array is mapped and cannot be destroyed"),
    both(208, c"CUDA_ERROR_ALREADY_MAPPED", c"cudaErrorAlreadyMapped", c"the resource is already mapped"),
    both(209, c"CUDA_ERROR_NO_BINARY_FOR_GPU", c"cudaErrorNoKernelImageForDevice", c"no kernel image is available for execution on the device"),
    both(210, c"CUDA_ERROR_ALREADY_ACQUIRED", c"cudaErrorAlreadyAcquired", c"the resource is already taken"),
    both(211, c"CUDA_ERROR_NOT_MAPPED", c"cudaErrorNotMapped", c"the resource is not mapped"),
    both(212, c"CUDA_ERROR_NOT_MAPPED_AS_ARRAY", c"cudaErrorNotMappedAsArray", c"the resource is not mapped as an array"),
    both(213, c"CUDA_ERROR_NOT_MAPPED_AS_POINTER", c"cudaErrorNotMappedAsPointer", c"the resource is not mapped as a pointer"),
    both(214, c"CUDA_ERROR_ECC_UNCORRECTABLE", c"cudaErrorECCUncorrectable", c"the memory had an error that could not be corrected"),
    both(215, c"CUDA_ERROR_UNSUPPORTED_LIMIT", c"cudaErrorUnsupportedLimit", c"the device does not have this limit"),
    both(216, c"CUDA_ERROR_CONTEXT_ALREADY_IN_USE", c"cudaErrorDeviceAlreadyInUse", c"another thread uses the device"),
    both(217, c"CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", c"cudaErrorPeerAccessUnsupported", c"the devices cannot access each other"),
    both(218, c"CUDA_ERROR_INVALID_PTX", c"cudaErrorInvalidPtx", c"a PTX JIT compilation failed"),
    both(219, c"CUDA_ERROR_INVALID_GRAPHICS_CONTEXT", c"cudaErrorInvalidGraphicsContext", c"there is no valid context for graphics"),
    both(220, c"CUDA_ERROR_NVLINK_UNCORRECTABLE", c"cudaErrorNvlinkUncorrectable", c"NVLink had an error that could not be corrected"),
    both(221, c"CUDA_ERROR_JIT_COMPILER_NOT_FOUND", c"cudaErrorJitCompilerNotFound", c"the compiler for PTX was not found"),
    both(222, c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", c"cudaErrorUnsupportedPtxVersion", c"the PTX is of a version that is not supported"),
    both(223, c"CUDA_ERROR_JIT_COMPILATION_DISABLED", c"cudaErrorJitCompilationDisabled", c"PTX must not be compiled"),
    both(224, c"CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY", c"cudaErrorUnsupportedExecAffinity", c"the device does not support this affinity"),
    both(225, c"CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC", c"cudaErrorUnsupportedDevSideSync", c"the device cannot wait for grids that it has launched"),
    both(226, c"CUDA_ERROR_CONTAINED", c"cudaErrorContained", c"the device had an error that was contained"),
    both(227, c"CUDA_ERROR_INSUFFICIENT_LOADER_VERSION", c"cudaErrorInsufficientLoaderVersion", c"the loader is too old for this code"),
    both(300, c"CUDA_ERROR_INVALID_SOURCE", c"cudaErrorInvalidSource", c"the source of the kernels is wrong"),
    both(301, c"CUDA_ERROR_FILE_NOT_FOUND", c"cudaErrorFileNotFound", c"file not found"),
    both(302, c"CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", c"cudaErrorSharedObjectSymbolNotFound", c"a symbol of a shared library was not found"),
    both(303, c"CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", c"cudaErrorSharedObjectInitFailed", c"a shared library could not be initialised"),
    both(304, c"CUDA_ERROR_OPERATING_SYSTEM", c"cudaErrorOperatingSystem", c"a call to the operating system failed"),
    both(400, c"CUDA_ERROR_INVALID_HANDLE", c"cudaErrorInvalidResourceHandle", c"invalid resource handle"),
    both(401, c"CUDA_ERROR_ILLEGAL_STATE", c"cudaErrorIllegalState", c"the object is not in the state that this needs"),
    both(402, c"CUDA_ERROR_LOSSY_QUERY", c"cudaErrorLossyQuery", c"the answer would lose information"),
    both(500, c"CUDA_ERROR_NOT_FOUND", c"cudaErrorSymbolNotFound", c"named symbol not found"),
    both(600, c"CUDA_ERROR_NOT_READY", c"cudaErrorNotReady", c"device not ready"),
    both(700, c"CUDA_ERROR_ILLEGAL_ADDRESS", c"cudaErrorIllegalAddress", c"an illegal memory access was encountered"),
    both(701, c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", c"cudaErrorLaunchOutOfResources", c"too many resources requested for launch"),
    both(702, c"CUDA_ERROR_LAUNCH_TIMEOUT", c"cudaErrorLaunchTimeout", c"the launch timed out and was terminated"),
    both(703, c"CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING", c"cudaErrorLaunchIncompatibleTexturing", c"the kernel uses textures in a way that does not go together"),
    both(704, c"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", c"cudaErrorPeerAccessAlreadyEnabled", c"access to the other device is already enabled"),
    both(705, c"CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", c"cudaErrorPeerAccessNotEnabled", c"access to the other device is not enabled"),
    both(708, c"CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", c"cudaErrorSetOnActiveProcess", c"the primary context is already in use"),
    both(709, c"CUDA_ERROR_CONTEXT_IS_DESTROYED", c"cudaErrorContextIsDestroyed", c"the current context has been destroyed"),
    both(710, c"CUDA_ERROR_ASSERT", c"cudaErrorAssert", c"device-side assert triggered"),
    both(711, c"CUDA_ERROR_TOO_MANY_PEERS", c"cudaErrorTooManyPeers", c"too many devices access each other"),
    both(712, c"CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", c"cudaErrorHostMemoryAlreadyRegistered", c"the memory is already registered"),
    both(713, c"CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", c"cudaErrorHostMemoryNotRegistered", c"the memory is not registered"),
    both(714, c"CUDA_ERROR_HARDWARE_STACK_ERROR", c"cudaErrorHardwareStackError", c"hardware stack error"),
    both(715, c"CUDA_ERROR_ILLEGAL_INSTRUCTION", c"cudaErrorIllegalInstruction", c"a kernel executed an instruction that does not exist"),
    both(716, c"CUDA_ERROR_MISALIGNED_ADDRESS", c"cudaErrorMisalignedAddress", c"misaligned address"),
    both(717, c"CUDA_ERROR_INVALID_ADDRESS_SPACE", c"cudaErrorInvalidAddressSpace", c"a kernel used an address in a space where it does not belong"),
    both(718, c"CUDA_ERROR_INVALID_PC", c"cudaErrorInvalidPc", c"invalid program counter"),
    both(719, c"CUDA_ERROR_LAUNCH_FAILED", c"cudaErrorLaunchFailure", c"unspecified launch failure"),
    both(720, c"CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", c"cudaErrorCooperativeLaunchTooLarge", c"too many blocks in cooperative launch"),
    both(721, c"CUDA_ERROR_TENSOR_MEMORY_LEAK", c"cudaErrorTensorMemoryLeak", c"a kernel ended without freeing its tensor memory"),
    both(800, c"CUDA_ERROR_NOT_PERMITTED", c"cudaErrorNotPermitted", c"this is not permitted"),
    both(801, c"CUDA_ERROR_NOT_SUPPORTED", c"cudaErrorNotSupported", c"operation not supported"),
    both(802, c"CUDA_ERROR_SYSTEM_NOT_READY", c"cudaErrorSystemNotReady", c"the system is not ready"),
    both(803, c"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", c"cudaErrorSystemDriverMismatch", c"the driver's parts are of different versions"),
    both(804, c"CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", c"cudaErrorCompatNotSupportedOnDevice", c"the device does not support compatibility mode"),
    both(805, c"CUDA_ERROR_MPS_CONNECTION_FAILED", c"cudaErrorMpsConnectionFailed", c"the client could not connect to the MPS server"),
    both(806, c"CUDA_ERROR_MPS_RPC_FAILURE", c"cudaErrorMpsRpcFailure", c"the MPS server failed"),
    both(807, c"CUDA_ERROR_MPS_SERVER_NOT_READY", c"cudaErrorMpsServerNotReady", c"the MPS server is not ready"),
    both(808, c"CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", c"cudaErrorMpsMaxClientsReached", c"the MPS server has too many clients"),
    both(809, c"CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED", c"cudaErrorMpsMaxConnectionsReached", c"there are too many connections to the device"),
    both(810, c"CUDA_ERROR_MPS_CLIENT_TERMINATED", c"cudaErrorMpsClientTerminated", c"the MPS server ended the client"),
    both(811, c"CUDA_ERROR_CDP_NOT_SUPPORTED", c"cudaErrorCdpNotSupported", c"kernels cannot launch kernels here"),
    both(812, c"CUDA_ERROR_CDP_VERSION_MISMATCH", c"cudaErrorCdpVersionMismatch", c"the versions for launches from kernels differ"),
    both(900, c"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", c"cudaErrorStreamCaptureUnsupported", c"this is not permitted while a stream is captured"),
    both(901, c"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", c"cudaErrorStreamCaptureInvalidated", c"the capture has become invalid by an earlier error"),
    both(902, c"CUDA_ERROR_STREAM_CAPTURE_MERGE", c"cudaErrorStreamCaptureMerge", c"two captures would be merged"),
    both(903, c"CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", c"cudaErrorStreamCaptureUnmatched", c"the capture was not begun in this stream"),
    both(904, c"CUDA_ERROR_STREAM_CAPTURE_UNJOINED", c"cudaErrorStreamCaptureUnjoined", c"a stream was not joined to the one where the capture began"),
    both(905, c"CUDA_ERROR_STREAM_CAPTURE_ISOLATION", c"cudaErrorStreamCaptureIsolation", c"a dependency would leave the capture"),
    both(906, c"CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", c"cudaErrorStreamCaptureImplicit", c"the legacy stream would be captured implicitly"),
    both(907, c"CUDA_ERROR_CAPTURED_EVENT", c"cudaErrorCapturedEvent", c"the event belongs to a capture"),
    both(908, c"CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", c"cudaErrorStreamCaptureWrongThread", c"the capture was begun by another thread"),
    both(909, c"CUDA_ERROR_TIMEOUT", c"cudaErrorTimeout", c"the wait took too long"),
    both(910, c"CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", c"cudaErrorGraphExecUpdateFailure", c"the executable graph cannot be updated like this"),
    both(911, c"CUDA_ERROR_EXTERNAL_DEVICE", c"cudaErrorExternalDevice", c"a device outside of CUDA failed"),
    both(912, c"CUDA_ERROR_INVALID_CLUSTER_SIZE", c"cudaErrorInvalidClusterSize", c"the cluster has a size that it cannot have"),
    both(913, c"CUDA_ERROR_FUNCTION_NOT_LOADED", c"cudaErrorFunctionNotLoaded", c"the function is not loaded"),
    both(914, c"CUDA_ERROR_INVALID_RESOURCE_TYPE", c"cudaErrorInvalidResourceType", c"the resource is of a type that does not fit"),
    both(915, c"CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", c"cudaErrorInvalidResourceConfiguration", c"the resources are combined in a way that does not work"),
    driver(916, c"CUDA_ERROR_KEY_ROTATION", c"a key has to be replaced"),
    both(917, c"CUDA_ERROR_STREAM_DETACHED", c"cudaErrorStreamDetached", c"the stream has been detached"),
    both(918, c"CUDA_ERROR_GRAPH_RECAPTURE_FAILURE", c"cudaErrorGraphRecaptureFailure", c"the graph could not be captured again"),
    both(919, c"CUDA_ERROR_FABRIC_NOT_READY", c"cudaErrorFabricNotReady", c"the fabric is not ready"),
    both(999, c"CUDA_ERROR_UNKNOWN", c"cudaErrorUnknown", c"unknown error"),
    runtime(10000, c"cudaErrorApiFailureBase", c"an error of the driver that the runtime does not know"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_in_order() {
        assert!(ERRORS.is_sorted_by(|one, other| one.code < other.code));
    }

    #[test]
    fn errors_are_found() {
        assert_eq!(error_text(801).and_then(|error| error.runtime), Some(c"cudaErrorNotSupported"));
        assert_eq!(error_text(9).and_then(|error| error.driver), None);
        assert_eq!(error_text(11), None);
    }
}
