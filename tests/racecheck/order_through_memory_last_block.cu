#include "../memcheck/memcheck.h"
#include <cuda/atomic>

// Each block writes a part; the one that comes last takes all parts.
const int BLOCKS = 4;

// No fence between the part and the count.
__global__ void missing_fence(int *part, unsigned *arrived, int *out) {
    part[blockIdx.x] = blockIdx.x;
    WRONG_OR_RIGHT((void)0, __threadfence());
    if (atomicAdd(arrived, 1) == BLOCKS - 1) {
        __threadfence();
        int sum = 0;
#pragma unroll 1
        for (int i = 0; i < BLOCKS; ++i) sum += part[i]; //~ ERROR data-race
        *out = sum;
    }
}

// No fence after it: the parts may be read before.
__global__ void missing_second_fence(int *part, unsigned *arrived, int *out) {
    part[blockIdx.x] = blockIdx.x;
    __threadfence();
    if (atomicAdd(arrived, 1) == BLOCKS - 1) {
        WRONG_OR_RIGHT((void)0, __threadfence());
        int sum = 0;
#pragma unroll 1
        for (int i = 0; i < BLOCKS; ++i) sum += part[i]; //~ ERROR data-race
        *out = sum;
    }
}

__global__ void fence_of_the_block(int *part, unsigned *arrived, int *out) {
    part[blockIdx.x] = blockIdx.x;
    WRONG_OR_RIGHT(__threadfence_block(), __threadfence());
    if (atomicAdd(arrived, 1) == BLOCKS - 1) {
        __threadfence();
        int sum = 0;
#pragma unroll 1
        for (int i = 0; i < BLOCKS; ++i) sum += part[i]; //~ ERROR data-race
        *out = sum;
    }
}

// All threads write, one counts: without a barrier, its count says nothing of the others' writes.
__global__ void missing_barrier(int *part, unsigned *arrived, int *out) {
    __shared__ bool is_last;
    part[blockIdx.x * 64 + threadIdx.x] = blockIdx.x;
    WRONG_OR_RIGHT((void)0, __syncthreads());
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicAdd(arrived, 1) == BLOCKS - 1;
        __threadfence();
    }
    __syncthreads();
    if (is_last) {
        int sum = 0;
#pragma unroll 1
        for (int i = 0; i < BLOCKS; ++i) sum += part[i * 64 + threadIdx.x]; //~ ERROR data-race
        out[threadIdx.x] = sum;
    }
}

// The count releases and acquires, or does not.
__global__ void relaxed_count(int *part, int *arrived, int *out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> count(*arrived);
    part[blockIdx.x] = blockIdx.x;
    if (count.fetch_add(1, WRONG_OR_RIGHT(cuda::memory_order_relaxed, cuda::memory_order_acq_rel)) == BLOCKS - 1) {
        int sum = 0;
#pragma unroll 1
        for (int i = 0; i < BLOCKS; ++i) sum += part[i]; //~ ERROR data-race
        *out = sum;
    }
}

// The last but one takes the parts.
__global__ void one_too_early(int *part, unsigned *arrived, int *out) {
    part[blockIdx.x] = blockIdx.x; //~ ERROR data-race
    __threadfence();
    if (atomicAdd(arrived, 1) == BLOCKS - WRONG_OR_RIGHT(2, 1)) {
        __threadfence();
        int sum = 0;
#pragma unroll 1
        for (int i = 0; i < BLOCKS; ++i) sum += part[i];
        *out = sum;
    }
}

int main() {
    missing_fence<<<BLOCKS, 1>>>(device<int>(BLOCKS), device<unsigned>(1), device<int>(1));
    missing_second_fence<<<BLOCKS, 1>>>(device<int>(BLOCKS), device<unsigned>(1), device<int>(1));
    fence_of_the_block<<<BLOCKS, 1>>>(device<int>(BLOCKS), device<unsigned>(1), device<int>(1));
    missing_barrier<<<BLOCKS, 64>>>(device<int>(64 * BLOCKS), device<unsigned>(1), device<int>(64));
    relaxed_count<<<BLOCKS, 1>>>(device<int>(BLOCKS), device<int>(1), device<int>(1));
    one_too_early<<<BLOCKS, 1>>>(device<int>(BLOCKS), device<unsigned>(1), device<int>(1));
    return finish();
}
