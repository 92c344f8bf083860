//! Arrays.

use crate::abi::driver::CUarray;
use crate::error::{CudaError, Result};
use crate::transfer::Side;

/// A place in an array: bytes of a row, rows, slices.
pub(crate) fn side(array: CUarray, offset: [usize; 3]) -> Result<Side> {
    let _ = (array, offset);
    Err(CudaError::NOT_SUPPORTED)
}
