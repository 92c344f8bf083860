#include "memcheck.h"

__global__ void swap(int *data) {
    __shared__ int one[32];
    __shared__ int other[32];
    one[threadIdx.x] = data[threadIdx.x];
    other[threadIdx.x + WRONG_OR_RIGHT(1, 0)] = data[threadIdx.x]; //~ ERROR shared-out-of-bounds
    __syncthreads();
    data[threadIdx.x] = one[31 - threadIdx.x] + other[31 - threadIdx.x];
}

int main() {
    swap<<<1, 32>>>(device<int>(32));
    return finish();
}
