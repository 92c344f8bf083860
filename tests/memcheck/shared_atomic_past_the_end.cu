#include "memcheck.h"

__global__ void histogram(const int *data, int *out) {
    __shared__ int bins[16];
    if (threadIdx.x < 16)
        bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[data[threadIdx.x] + WRONG_OR_RIGHT(16, 15)], 1); //~ ERROR shared-out-of-bounds
    __syncthreads();
    if (threadIdx.x < 16)
        out[threadIdx.x] = bins[threadIdx.x];
}

int main() {
    histogram<<<1, 64>>>(device<int>(64), device<int>(16));
    return finish();
}
