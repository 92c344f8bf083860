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

// A barrier does not wait for copies.
__global__ void not_waited_for(const int *in, int *out) {
    __shared__ int tile[THREADS];
    __pipeline_memcpy_async(tile + threadIdx.x, in + threadIdx.x, sizeof(int));
    __pipeline_commit();
    WRONG_OR_RIGHT((void)0, __pipeline_wait_prior(0));
    __syncthreads();
    out[threadIdx.x] = tile[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
    __pipeline_wait_prior(0);
}

// Each thread waits for its own copies only, and that after the barrier.
__global__ void waited_for_too_late(const int *in, int *out) {
    __shared__ int tile[THREADS];
    __pipeline_memcpy_async(tile + threadIdx.x, in + threadIdx.x, sizeof(int));
    __pipeline_commit();
    if (WRONG_OR_RIGHT(true, false)) {
        __syncthreads();
        __pipeline_wait_prior(0);
    } else {
        __pipeline_wait_prior(0);
        __syncthreads();
    }
    out[threadIdx.x] = tile[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
}

// The thread itself reads what is still being copied.
__global__ void own_copy(const int *in, int *out) {
    __shared__ int tile[THREADS];
    __pipeline_memcpy_async(tile + threadIdx.x, in + threadIdx.x, sizeof(int));
    __pipeline_commit();
    WRONG_OR_RIGHT((void)0, __pipeline_wait_prior(0));
    out[threadIdx.x] = tile[threadIdx.x]; //~ ERROR data-race
    __pipeline_wait_prior(0);
}

// The thread writes where its copy writes.
__global__ void written_while_copied(const int *in, int *out) {
    __shared__ int tile[THREADS];
    if (WRONG_OR_RIGHT(false, true))
        tile[threadIdx.x] = 1;
    __pipeline_memcpy_async(tile + threadIdx.x, in + threadIdx.x, sizeof(int));
    __pipeline_commit();
    if (WRONG_OR_RIGHT(true, false))
        tile[threadIdx.x] = 1; //~ ERROR data-race
    __pipeline_wait_prior(0);
    out[threadIdx.x] = tile[threadIdx.x];
}

// Three stages, of which the one that is read must be done: all groups but two.
__global__ void three_stages(const int *in, int *out, int rounds) {
    __shared__ int stages[3][THREADS];
    int sum = 0;
    for (int stage = 0; stage < 2; ++stage) {
        __pipeline_memcpy_async(stages[stage] + threadIdx.x, in + stage * THREADS + threadIdx.x, sizeof(int));
        __pipeline_commit();
    }
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        if (round + 2 < rounds)
            __pipeline_memcpy_async(stages[(round + 2) % 3] + threadIdx.x, //~ ERROR data-race
                                    in + (round + 2) * THREADS + threadIdx.x, sizeof(int));
        __pipeline_commit();
        __pipeline_wait_prior(WRONG_OR_RIGHT(3, 2));
        __syncthreads();
        sum += stages[round % 3][THREADS - 1 - threadIdx.x]; //~ ERROR data-race
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

int main() {
    copies_of_others<<<1, THREADS>>>(device<int>(THREADS), device<int>(THREADS));
    next_round<<<1, THREADS>>>(device<int>(4 * THREADS), device<int>(THREADS), 4);
    sixteen_bytes<<<1, THREADS>>>(device<int4>(THREADS), device<int>(THREADS));
    source<<<1, THREADS>>>(device<int>(THREADS), device<int>(THREADS));
    not_waited_for<<<1, THREADS>>>(device<int>(THREADS), device<int>(THREADS));
    waited_for_too_late<<<1, THREADS>>>(device<int>(THREADS), device<int>(THREADS));
    own_copy<<<1, THREADS>>>(device<int>(THREADS), device<int>(THREADS));
    written_while_copied<<<1, THREADS>>>(device<int>(THREADS), device<int>(THREADS));
    three_stages<<<1, THREADS>>>(device<int>(200 * THREADS), device<int>(THREADS), 200);
    return finish();
}
