#include "../../memcheck/memcheck.h"

// Atomic operations, and accesses through pointers that may be to any memory.
__global__ void counters(int *to) {
    atomicAdd(to + threadIdx.x, 1); //~ TRAFFIC global atomic requests=1 sectors=4 cache_lines=1
}

__global__ void one_counter(int *to) {
    atomicMax(to, threadIdx.x); //~ TRAFFIC global atomic requests=1 sectors=1 cache_lines=1
}

__global__ void spread_counters(int *to) {
    atomicExch(to + threadIdx.x * 8, 1); //~ TRAFFIC global atomic requests=1 sectors=32 cache_lines=8
}

__global__ void histogram(int *to, const int *from) {
    __shared__ int bins[64];
    atomicAdd(bins + threadIdx.x * 2, 1); //~ TRAFFIC shared atomic requests=1 bank_ways_max=2 bank_passes=2
    __syncthreads();
    to[threadIdx.x] = ((volatile int *)bins)[threadIdx.x]; //~ TRAFFIC shared load requests=1 bank_ways_max=1 bank_passes=1; global store requests=1 sectors=4 cache_lines=1
}

// 16 lanes have a pointer to global memory, two words apart, and 16 one to shared memory, 16 words apart: 2 banks, 8 words each.
__device__ __noinline__ int any(const int *from) {
    return *(const volatile int *)from; //~ TRAFFIC global load requests=1 sectors=4 cache_lines=1 bytes=64; shared load requests=1 bank_ways_max=8 bank_passes=8
}

__global__ void generic(int *to, const int *from) {
    __shared__ int tile[512];
    tile[threadIdx.x] = threadIdx.x; //~ TRAFFIC shared store requests=1 bank_ways_max=1 bank_passes=1
    __syncthreads();
    int i = threadIdx.x;
    to[i] = any(i % 2 ? from + (i - 1) : tile + i / 2 * 16); //~ TRAFFIC global store requests=1 sectors=4 cache_lines=1 //~ BRANCH executed=1 divergent=1 idle_lanes=32
}

int main() {
    int *to = device<int>(256), *from = device<int>(64);
    counters<<<1, 32>>>(to);
    one_counter<<<1, 32>>>(to);
    spread_counters<<<1, 32>>>(to);
    histogram<<<1, 32>>>(to, from);
    generic<<<1, 32>>>(to, from);
    return finish();
}
