//@ architecture: sm_90
#include "memcheck.h"
#include <mma.h>

// Kernels that store matrices together are followed: what is stored is defined, and what is not stays undefined.
__global__ void by_fragments(float *matrix, const int *flags, int *out) {
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sum;
    nvcuda::wmma::fill_fragment(sum, 1.0f);
    nvcuda::wmma::store_matrix_sync(matrix, sum, 24, nvcuda::wmma::mem_row_major);
    __syncwarp();
    int row = threadIdx.x % 16;
    if (matrix[row * 24 + 15] > 0)
        out[threadIdx.x] = 1;
    // Between the rows.
    if (matrix[row * 24 + 16] > 0) //~ ERROR undefined-branch
        out[threadIdx.x] = 2;
    if (flags[threadIdx.x] > 0) //~ ERROR undefined-branch
        out[threadIdx.x] = 3;
}

__global__ void by_rows(int *out) {
    __shared__ __align__(16) unsigned tile[4 * 8 * 4], beside[32];
    unsigned row = __cvta_generic_to_shared(tile + threadIdx.x * 4);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(row), "r"(7) : "memory");
    if (WRONG_OR_RIGHT(false, true))
        beside[threadIdx.x] = 0;
    __syncwarp();
    if (tile[threadIdx.x * 4 + 3] > 0)
        out[threadIdx.x] = 1;
    if (beside[threadIdx.x ^ 1] > 0) //~ ERROR undefined-branch
        out[threadIdx.x] = 2;
}

int main() {
    float *matrix = WRONG_OR_RIGHT(fresh<float>(16 * 24), device<float>(16 * 24));
    int *flags = WRONG_OR_RIGHT(fresh<int>(32), device<int>(32)), *out = device<int>(32);
    by_fragments<<<1, 32>>>(matrix, flags, out);
    by_rows<<<1, 32>>>(out);
    return finish();
}
