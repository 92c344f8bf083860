//@ exit: 0
#include "../memcheck/memcheck.h"

// Two threads of a warp, and of different warps and blocks, increment each counter: no increment is lost.
__global__ void in_global_memory(int *counters) {
#ifdef FIXED
    atomicAdd(&counters[threadIdx.x % 16], 1);
#else
    counters[threadIdx.x % 16]++; //~ ERROR conflict
#endif
}

__global__ void in_shared_memory(int *to) {
    __shared__ int counters[16];
    if (threadIdx.x < 16)
        counters[threadIdx.x] = 0;
    __syncthreads();
#ifdef FIXED
    atomicAdd(&counters[threadIdx.x % 16], 1);
#else
    counters[threadIdx.x % 16]++; //~ ERROR conflict
#endif
    __syncthreads();
    if (threadIdx.x < 16)
        to[threadIdx.x] = counters[threadIdx.x];
}

int main() {
    int seen[16], *counters = device<int>(16), *to = device<int>(16);
    in_global_memory<<<3, 64>>>(counters);
    OK(cudaMemcpy(seen, counters, sizeof seen, cudaMemcpyDeviceToHost));
    for (int count : seen)
        if (count != 12)
            return 3;
    in_shared_memory<<<2, 64>>>(to);
    OK(cudaMemcpy(seen, to, sizeof seen, cudaMemcpyDeviceToHost));
    for (int count : seen)
        if (count != 4)
            return 4;
    return finish();
}
