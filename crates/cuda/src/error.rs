//! CUDA's error codes.
//!
//! Driver and runtime number their errors alike (since CUDA 10.1), so one type serves both; the runtime has a few more.

use std::num::NonZeroU32;

/// Why a call failed: a `CUresult` other than success, or a `cudaError`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct CudaError(NonZeroU32);

/// What most functions here return.
pub(crate) type Result<T, E = CudaError> = std::result::Result<T, E>;

/// Names codes as both headers do, without their prefixes.
macro_rules! codes {
    ($($(#[$meta:meta])* $name:ident = $code:literal,)*) => {
        impl CudaError {
            $($(#[$meta])* pub(crate) const $name: Self = Self(NonZeroU32::new($code).expect("no code of an error is zero"));)*
        }
    };
}

codes! {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    /// The process ends.
    DEINITIALIZED = 4,
    /// Only the runtime: a grid or block that cannot be.
    INVALID_CONFIGURATION = 9,
    /// Only the runtime.
    INVALID_PITCH = 12,
    /// Only the runtime: no variable of that name.
    INVALID_SYMBOL = 13,
    /// Only the runtime: no texture reference of that name.
    INVALID_TEXTURE = 18,
    /// Only the runtime: nothing is bound to a texture reference.
    INVALID_TEXTURE_BINDING = 19,
    /// Only the runtime.
    INVALID_CHANNEL_DESCRIPTOR = 20,
    /// Only the runtime.
    INVALID_MEMCPY_DIRECTION = 21,
    /// Only the runtime: no kernel of that name.
    INVALID_DEVICE_FUNCTION = 98,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    CONTEXT_ALREADY_IN_USE = 216,
    NO_BINARY_FOR_GPU = 209,
    PEER_ACCESS_UNSUPPORTED = 217,
    INVALID_PTX = 218,
    ECC_UNCORRECTABLE = 214,
    UNSUPPORTED_LIMIT = 215,
    FILE_NOT_FOUND = 301,
    SHARED_OBJECT_SYMBOL_NOT_FOUND = 302,
    OPERATING_SYSTEM = 304,
    INVALID_HANDLE = 400,
    ILLEGAL_STATE = 401,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_OUT_OF_RESOURCES = 701,
    LAUNCH_TIMEOUT = 702,
    PEER_ACCESS_ALREADY_ENABLED = 704,
    PEER_ACCESS_NOT_ENABLED = 705,
    CONTEXT_IS_DESTROYED = 709,
    ASSERT = 710,
    HOST_MEMORY_ALREADY_REGISTERED = 712,
    HOST_MEMORY_NOT_REGISTERED = 713,
    HARDWARE_STACK_ERROR = 714,
    ILLEGAL_INSTRUCTION = 715,
    MISALIGNED_ADDRESS = 716,
    INVALID_ADDRESS_SPACE = 717,
    INVALID_PC = 718,
    LAUNCH_FAILED = 719,
    COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    NOT_SUPPORTED = 801,
    STREAM_CAPTURE_UNSUPPORTED = 900,
    STREAM_CAPTURE_INVALIDATED = 901,
    STREAM_CAPTURE_MERGE = 902,
    STREAM_CAPTURE_UNMATCHED = 903,
    STREAM_CAPTURE_UNJOINED = 904,
    STREAM_CAPTURE_ISOLATION = 905,
    STREAM_CAPTURE_IMPLICIT = 906,
    CAPTURED_EVENT = 907,
    STREAM_CAPTURE_WRONG_THREAD = 908,
    GRAPH_EXEC_UPDATE_FAILURE = 910,
    UNKNOWN = 999,
}

impl CudaError {
    /// The number that programs see.
    pub(crate) const fn code(self) -> u32 {
        self.0.get()
    }

    /// The error of a number; nothing for 0, which is success.
    pub(crate) fn from_code(code: u32) -> Option<Self> {
        NonZeroU32::new(code).map(Self)
    }

    /// What a kernel that went wrong leaves behind.
    pub(crate) fn of_fault(kind: &device::FaultKind) -> Self {
        use device::FaultKind;
        match kind {
            FaultKind::IllegalAddress { .. } => Self::ILLEGAL_ADDRESS,
            FaultKind::Misaligned { .. } => Self::MISALIGNED_ADDRESS,
            FaultKind::Assertion { .. } => Self::ASSERT,
            FaultKind::BadCall => Self::INVALID_PC,
            FaultKind::StackOverflow => Self::HARDWARE_STACK_ERROR,
            FaultKind::Deadlock { .. } | FaultKind::OverBudget { .. } | FaultKind::Timeout { .. } => {
                Self::LAUNCH_TIMEOUT
            }
            FaultKind::OutOfMemory { .. } => Self::OUT_OF_MEMORY,
            FaultKind::Driver { code, .. } => Self::from_code(*code).unwrap_or(Self::UNKNOWN),
            FaultKind::Unsupported { .. } => Self::NOT_SUPPORTED,
            FaultKind::Trap | FaultKind::BadBarrier { .. } | FaultKind::Undefined { .. } => Self::LAUNCH_FAILED,
        }
    }
}
