//! How a tool ends a launch.

/// What a launch ends with that a tool ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// `CUDA_ERROR_ILLEGAL_ADDRESS`
    IllegalAddress,
    /// `CUDA_ERROR_MISALIGNED_ADDRESS`
    MisalignedAddress,
    /// `CUDA_ERROR_ECC_UNCORRECTABLE`
    Uncorrectable,
}
