#include "../memcheck/memcheck.h"
#include <cuda_pipeline.h>

// Copies from global to shared memory that go on by themselves, until the thread waits for them.
const int THREADS = 64;

// Each thread waits for its own copies; those of others need a barrier.
__global__ void copies_of_others(const int *in, int *out) {
    __shared__ int tile[THREADS];
    __pipeline_memcpy_async(tile + threadIdx.x, in + threadIdx.x, sizeof(int)); //~ ERROR data-race
    __pipeline_commit();
    __pipeline_wait_prior(0);
    WRONG_OR_RIGHT((void)0, __syncthreads());
    out[threadIdx.x] = tile[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
}

// The buffer of the next round is filled while others read it.
__global__ void next_round(const int *in, int *out, int rounds) {
    __shared__ int tile[THREADS];
    int sum = 0;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        __pipeline_memcpy_async(tile + threadIdx.x, in + round * THREADS + threadIdx.x, sizeof(int)); //~ ERROR data-race
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += tile[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
        WRONG_OR_RIGHT((void)0, __syncthreads());
    }
    out[threadIdx.x] = sum;
}

// Four words at once.
__global__ void sixteen_bytes(const int4 *in, int *out) {
    __shared__ int4 tile[THREADS];
    __pipeline_memcpy_async(tile + threadIdx.x, in + threadIdx.x, sizeof(int4)); //~ ERROR data-race
    __pipeline_commit();
    __pipeline_wait_prior(0);
    WRONG_OR_RIGHT((void)0, __syncthreads());
    out[threadIdx.x] = tile[THREADS - 1 - threadIdx.x].w; //~ ERROR data-race
}

// The source is written by another thread.
__global__ void source(int *in, int *out) {
    __shared__ int tile[THREADS];
    in[threadIdx.x] = threadIdx.x; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    __pipeline_memcpy_async(tile + threadIdx.x, in + THREADS - 1 - threadIdx.x, sizeof(int)); //~ ERROR data-race
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = tile[threadIdx.x];
}

int main() {
    copies_of_others<<<1, THREADS>>>(device<int>(THREADS), device<int>(THREADS));
    next_round<<<1, THREADS>>>(device<int>(4 * THREADS), device<int>(THREADS), 4);
    sixteen_bytes<<<1, THREADS>>>(device<int4>(THREADS), device<int>(THREADS));
    source<<<1, THREADS>>>(device<int>(THREADS), device<int>(THREADS));
    return finish();
}
