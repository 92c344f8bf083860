//@ exit: 87
//@ flags: --variant pair
#include "../memcheck/memcheck.h"

// A variant that the user names is the only one that is tried: twice the shared memory is more than there is.
__global__ void reversed(int *to) {
    extern __shared__ int tile[];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    to[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

int main() {
    const int bytes = WRONG_OR_RIGHT(150, 100) << 10;
    int *to = device<int>(64);
    OK(cudaFuncSetAttribute(reversed, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    reversed<<<1, 64, bytes>>>(to);
    OK(cudaDeviceSynchronize());
    int seen[64];
    OK(cudaMemcpy(seen, to, sizeof seen, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; ++i)
        if (seen[i] != 63 - i)
            return 3;
    return finish();
}
