// Matrices in shared memory of which only the last row goes past the end.
#include "memcheck.h"
#include <mma.h>

using namespace nvcuda;

const int ROWS = 16, COLUMNS = 16, STRIDE = 24;
const int COUNT = (ROWS - 1) * STRIDE + WRONG_OR_RIGHT(COLUMNS - 8, COLUMNS);

__global__ void square(float *out) {
    __shared__ __align__(32) __half tile[COUNT];
    __shared__ __align__(32) float result[COUNT];
    for (int i = threadIdx.x; i < COUNT; i += 32) tile[i] = __float2half(1.0f);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, tile, STRIDE);                         //~ ERROR shared-out-of-bounds
    wmma::load_matrix_sync(fb, tile, STRIDE);                         //~ ERROR shared-out-of-bounds
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(result, fc, STRIDE, wmma::mem_row_major); //~ ERROR shared-out-of-bounds
    __syncwarp();
    out[threadIdx.x] = result[threadIdx.x];
}

int main() {
    square<<<1, 32>>>(device<float>(32));
    return finish();
}
