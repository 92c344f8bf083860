#include "memcheck.h"

__global__ void reverse(int *data) {
    __shared__ int tile[64];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[WRONG_OR_RIGHT(64, 63) - threadIdx.x]; //~ ERROR shared-out-of-bounds
}

int main() {
    reverse<<<1, 64>>>(device<int>(64));
    return finish();
}
