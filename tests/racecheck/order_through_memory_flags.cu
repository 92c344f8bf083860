#include "../memcheck/memcheck.h"
#include <cuda/atomic>

// One block hands data to another through a flag. The second block waits for it; it runs at the same time.
__device__ void wait_for(int *flag) {
    while (atomicAdd(flag, 0) == 0) {}
}

// The flag is set before the data is visible: there is no fence between.
__global__ void fence_of_the_writer(int *data, int *flag, int *out) {
    if (blockIdx.x == 0) {
        *data = 42;
        WRONG_OR_RIGHT((void)0, __threadfence());
        atomicExch(flag, 1);
    } else {
        wait_for(flag);
        __threadfence();
        *out = *data; //~ ERROR data-race
    }
}

// The data may be read before the flag.
__global__ void fence_of_the_reader(int *data, int *flag, int *out) {
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        wait_for(flag);
        WRONG_OR_RIGHT((void)0, __threadfence());
        *out = *data; //~ ERROR data-race
    }
}

// The fence of the block does not reach the other block.
__global__ void fence_of_the_block(int *data, int *flag, int *out) {
    if (blockIdx.x == 0) {
        *data = 42;
        WRONG_OR_RIGHT(__threadfence_block(), __threadfence());
        atomicExch(flag, 1);
    } else {
        wait_for(flag);
        __threadfence();
        *out = *data; //~ ERROR data-race
    }
}

// The flag is set first.
__global__ void flag_first(int *data, int *flag, int *out) {
    if (blockIdx.x == 0) {
        if (WRONG_OR_RIGHT(true, false)) atomicExch(flag, 1);
        __threadfence();
        *data = 42;
        __threadfence();
        if (WRONG_OR_RIGHT(false, true)) atomicExch(flag, 1);
    } else {
        wait_for(flag);
        __threadfence();
        *out = *data; //~ ERROR data-race
    }
}

// Release and acquire, of which one is relaxed.
__global__ void relaxed_store(int *data, int *flag, int *out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> is_set(*flag);
    if (blockIdx.x == 0) {
        *data = 42;
        is_set.store(1, WRONG_OR_RIGHT(cuda::memory_order_relaxed, cuda::memory_order_release));
    } else {
        while (is_set.load(cuda::memory_order_acquire) == 0) {}
        *out = *data; //~ ERROR data-race
    }
}

__global__ void relaxed_load(int *data, int *flag, int *out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> is_set(*flag);
    if (blockIdx.x == 0) {
        *data = 42;
        is_set.store(1, cuda::memory_order_release);
    } else {
        while (is_set.load(WRONG_OR_RIGHT(cuda::memory_order_relaxed, cuda::memory_order_acquire)) == 0) {}
        *out = *data; //~ ERROR data-race
    }
}

// The other threads of the block have written, too: without a barrier before it, the release is of one thread only.
__global__ void data_of_the_block(int *data, int *flag, int *out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> is_set(*flag);
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        WRONG_OR_RIGHT((void)0, __syncthreads());
        if (threadIdx.x == 0) is_set.store(1, cuda::memory_order_release);
    } else {
        if (threadIdx.x == 0)
            while (is_set.load(cuda::memory_order_acquire) == 0) {}
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    }
}

// A volatile flag orders nothing.
__global__ void volatile_flag(int *data, int *flag, int *out) {
    if (blockIdx.x == 0) {
        *data = 42;
        WRONG_OR_RIGHT((void)0, __threadfence());
        WRONG_OR_RIGHT(*(volatile int *)flag = 1, atomicExch(flag, 1));
    } else {
        while (WRONG_OR_RIGHT(*(volatile int *)flag, atomicAdd(flag, 0)) == 0) {} //~ ERROR data-race
        WRONG_OR_RIGHT((void)0, __threadfence());
        *out = *data; //~ ERROR data-race
    }
}

// Inside a block, between warps, through shared memory.
__global__ void between_warps(int *out, int value) {
    __shared__ int data, flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = value;
        WRONG_OR_RIGHT((void)0, __threadfence_block());
        atomicExch(&flag, 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd(&flag, 0) == 0) {}
        __threadfence_block();
        *out = data; //~ ERROR data-race
    }
}

int main() {
    fence_of_the_writer<<<2, 1>>>(device<int>(1), device<int>(1), device<int>(1));
    fence_of_the_reader<<<2, 1>>>(device<int>(1), device<int>(1), device<int>(1));
    fence_of_the_block<<<2, 1>>>(device<int>(1), device<int>(1), device<int>(1));
    flag_first<<<2, 1>>>(device<int>(1), device<int>(1), device<int>(1));
    relaxed_store<<<2, 1>>>(device<int>(1), device<int>(1), device<int>(1));
    relaxed_load<<<2, 1>>>(device<int>(1), device<int>(1), device<int>(1));
    data_of_the_block<<<2, 64>>>(device<int>(64), device<int>(1), device<int>(64));
    volatile_flag<<<2, 1>>>(device<int>(1), device<int>(1), device<int>(1));
    between_warps<<<1, 64>>>(device<int>(1), 42);
    return finish();
}
