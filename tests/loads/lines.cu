//@ exit: 0
#include "../memcheck/memcheck.h"

// Loads of global memory by line, in a kernel and in a function that is not inlined,
// through a pointer that may be one to any memory; those of shared memory are not counted.
__device__ __noinline__ int third(const int *from) {
    return from[threadIdx.x + 2] + from[threadIdx.x + 3];
}

__global__ void sum(int *to, const int *from, int count) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x < count ? from[threadIdx.x] : 0;
    __syncthreads();
    if (threadIdx.x == 0)
        to[0] = tile[0] + tile[63]
            + third(blockIdx.x ? from : tile) + WRONG_OR_RIGHT(from[1], 0);
}

int main() {
    for (int launch = 0; launch < 3; ++launch)
        sum<<<2, 64>>>(device<int>(1), device<int>(64), 40);
    return finish();
}
