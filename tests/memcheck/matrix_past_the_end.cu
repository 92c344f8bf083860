// Matrices of which only the last row, or column, goes past the end.
#include "memcheck.h"
#include <mma.h>

using namespace nvcuda;

const int ROWS = 16, COLUMNS = 16, STRIDE = 24;

__global__ void multiply(const __half *a, const __half *b, float *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 1.0f);
    wmma::load_matrix_sync(fa, a, STRIDE);                          //~ ERROR out-of-bounds
    wmma::load_matrix_sync(fb, b, STRIDE);                          //~ ERROR out-of-bounds
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, STRIDE, wmma::mem_row_major);    //~ ERROR out-of-bounds
}

int main() {
    size_t count = (ROWS - 1) * STRIDE + WRONG_OR_RIGHT(COLUMNS - 1, COLUMNS);
    multiply<<<1, 32>>>(device<__half>(count), device<__half>(count), device<float>(count));
    return finish();
}
