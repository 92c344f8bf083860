#include "memcheck.h"

__global__ void reverse(int *data) {
    extern __shared__ int memory[];
    memory[threadIdx.x] = data[threadIdx.x]; //~ ERROR shared-out-of-bounds
    __syncthreads();
    data[threadIdx.x] = memory[31 - threadIdx.x]; //~ ERROR shared-out-of-bounds
}

int main() {
    #ifdef FIXED
    reverse<<<1, 32, 32 * sizeof(int)>>>(device<int>(32));
    #else
    reverse<<<1, 32>>>(device<int>(32));
    #endif
    return finish();
}
