// Matrices whose addresses come from memory, of which only the last row, or column, goes past the end.
#include "memcheck.h"
#include <mma.h>

using namespace nvcuda;

const int ROWS = 16, COLUMNS = 16, STRIDE = 24;

__global__ void add(float **c) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::load_matrix_sync(fc, c[0], STRIDE, wmma::mem_row_major);  //~ ERROR out-of-bounds
    wmma::store_matrix_sync(c[1], fc, STRIDE, wmma::mem_col_major); //~ ERROR out-of-bounds
}

int main() {
    size_t count = (ROWS - 1) * STRIDE + WRONG_OR_RIGHT(COLUMNS - 1, COLUMNS);
    float *pointers[2] = {device<float>(count), device<float>(count)}, **on_device = device<float *>(2);
    OK(cudaMemcpy(on_device, pointers, sizeof pointers, cudaMemcpyHostToDevice));
    add<<<1, 32>>>(on_device);
    return finish();
}
