#include "../memcheck/memcheck.h"
#include <cuda/atomic>

// Patterns of real programs.

// All threads of a block write, and all of the last one read: one thread fences and counts for its block, between barriers.
__global__ void one_thread_for_its_block(int *part, unsigned *arrived, int *out) {
    __shared__ bool is_last;
    part[blockIdx.x * 64 + threadIdx.x] = blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        WRONG_OR_RIGHT((void)0, __threadfence());
        is_last = atomicInc(arrived, gridDim.x) == gridDim.x - 1;
        WRONG_OR_RIGHT((void)0, __threadfence());
    }
    __syncthreads();
    if (is_last) {
        int sum = 0;
#pragma unroll 1
        for (int i = 0; i < gridDim.x; ++i) sum += part[i * 64 + threadIdx.x]; //~ ERROR data-race
        out[threadIdx.x] = sum;
    }
}

// Many blocks, and several warps of each, take one lock.
__global__ void lock_of_many(int *lock, int *count) {
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        WRONG_OR_RIGHT((void)0, __threadfence());
        *count += 1; //~ ERROR data-race
        WRONG_OR_RIGHT((void)0, __threadfence());
        atomicExch(lock, 0);
    }
}

// Fences of the C++ library around relaxed operations.
__global__ void fences(int *data, int *flag, int *out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> is_set(*flag);
    if (blockIdx.x == 0) {
        *data = 4;
        WRONG_OR_RIGHT((void)0, cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device));
        is_set.store(1, cuda::memory_order_relaxed);
    } else {
        while (is_set.load(cuda::memory_order_relaxed) == 0) {}
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        *out = *data; //~ ERROR data-race
    }
}

// A fence that comes before the data, wide as it is, and a narrow one after it.
__global__ void wide_and_narrow(int *data, int *flag, int *out) {
    if (blockIdx.x == 0) {
        WRONG_OR_RIGHT(__threadfence(), __threadfence_block());
        *data = 5;
        WRONG_OR_RIGHT(__threadfence_block(), __threadfence());
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        *out = *data; //~ ERROR data-race
    }
}

// A fence alone orders nothing, if nobody reads what was written after it.
__global__ void fence_alone(int *count) {
    if (WRONG_OR_RIGHT(true, false)) {
        *count = *count + 1; //~ ERROR data-race
        __threadfence();
    } else {
        atomicAdd(count, 1);
    }
}

// The queue has room for one: the consumer gives it back to the producer.
__global__ void back_and_forth(int *slot, int *turn, int *out, int rounds) {
    cuda::atomic_ref<int, cuda::thread_scope_device> whose(*turn);
    for (int round = 0; round < rounds; ++round) {
        if (blockIdx.x == 0) {
            while (whose.load(cuda::memory_order_acquire) != 0) {}
            *slot = round + 1; //~ ERROR data-race
            whose.store(1, cuda::memory_order_release);
        } else {
            while (whose.load(cuda::memory_order_acquire) != 1) {}
            out[round] = *slot;
            whose.store(0, WRONG_OR_RIGHT(cuda::memory_order_relaxed, cuda::memory_order_release));
        }
    }
}

int main() {
    one_thread_for_its_block<<<16, 64>>>(device<int>(1024), device<unsigned>(1), device<int>(64));
    lock_of_many<<<8, 128>>>(device<int>(1), device<int>(1));
    fences<<<2, 1>>>(device<int>(1), device<int>(1), device<int>(1));
    wide_and_narrow<<<2, 1>>>(device<int>(1), device<int>(1), device<int>(1));
    fence_alone<<<4, 1>>>(device<int>(1));
    back_and_forth<<<2, 1>>>(device<int>(1), device<int>(1), device<int>(4), 3);
    return finish();
}
