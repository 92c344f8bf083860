#include "memcheck.h"

__global__ void reverse(int *data) {
    extern __shared__ int memory[];
    memory[threadIdx.x] = data[threadIdx.x]; //~ ERROR shared-out-of-bounds
    __syncthreads();
    data[threadIdx.x] = memory[63 - threadIdx.x]; //~ ERROR shared-out-of-bounds
}

int main() {
    reverse<<<1, 64, WRONG_OR_RIGHT(60, 64) * sizeof(int)>>>(device<int>(64));
    return finish();
}
