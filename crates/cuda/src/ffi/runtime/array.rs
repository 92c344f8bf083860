//! Arrays.

use crate::abi::runtime::{cudaArray_t, cudaPos};
use crate::error::{CudaError, Result};
use crate::transfer::Side;

/// A place in an array, and the size of its elements.
pub(crate) fn side(array: cudaArray_t, position: cudaPos) -> Result<(Side, Option<u64>)> {
    let _ = (array, position);
    Err(CudaError::NOT_SUPPORTED)
}
