//@ exit: 0
//@ flags: --sweep block=32x4,8x16
//@ args: {block}
#include <cstdio>

#include "../memcheck/memcheck.h"

// The same rows are read by blocks of two shapes: with 8 threads in a row, a warp reads pieces of four rows.
__global__ void rows(float *to, const float *from) {
    __shared__ float tile[32][WRONG_OR_RIGHT(32, 33)];
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    tile[x % 32][y % 32] = from[y * 32 + x]; //~ ERROR bank-conflict
    __syncthreads();
    to[y * 32 + x] = tile[x % 32][y % 32]; //~ ERROR bank-conflict
}

int main(int count, char **arguments) {
    unsigned width = 0, height = 0;
    if (count < 2 || sscanf(arguments[1], "%ux%u", &width, &height) != 2) return 1;
    float *memory;
    cudaMalloc(&memory, 2 * 1024 * sizeof *memory);
    cudaMemset(memory, 0, 2 * 1024 * sizeof *memory);
    rows<<<dim3(32 / width, 32 / height), dim3(width, height)>>>(memory + 1024, memory);
    cudaDeviceSynchronize();
    cudaFree(memory);
    return 0;
}
