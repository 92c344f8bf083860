//! Matrices that are spread over the lanes of a warp.
