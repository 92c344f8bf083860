// A matrix of which only the last column goes past the shared memory that the launch asks for.
#include "memcheck.h"
#include <mma.h>

using namespace nvcuda;

const int ROWS = 16, COLUMNS = 16, STRIDE = 24;

__global__ void move(float *out, int words) {
    extern __shared__ __align__(32) float words_of_launch[];
    for (int i = threadIdx.x; i < words; i += 32) words_of_launch[i] = 1.0f;
    __syncwarp();
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::load_matrix_sync(fc, words_of_launch, STRIDE, wmma::mem_col_major); //~ ERROR shared-out-of-bounds
    wmma::store_matrix_sync(out, fc, STRIDE, wmma::mem_row_major);
}

int main() {
    int count = (COLUMNS - 1) * STRIDE + WRONG_OR_RIGHT(ROWS - 1, ROWS);
    move<<<1, 32, count * sizeof(float)>>>(device<float>((ROWS - 1) * STRIDE + COLUMNS), count);
    return finish();
}
