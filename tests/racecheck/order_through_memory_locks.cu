#include "../memcheck/memcheck.h"
#include <cuda/atomic>

// Locks around a counter that is not atomic.

// No fence when the lock is taken.
__global__ void fence_after_lock(int *lock, int *count) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    WRONG_OR_RIGHT((void)0, __threadfence());
    *count += 1; //~ ERROR data-race
    __threadfence();
    atomicExch(lock, 0);
}

// The lock is given back by a plain store.
__global__ void plain_unlock(int *lock, int *count) {
    while (atomicCAS(lock, 0, 1) != 0) {} //~ ERROR data-race
    __threadfence();
    *count += 1; //~ ERROR data-race
    __threadfence();
    if (WRONG_OR_RIGHT(true, false))
        *lock = 0; //~ ERROR data-race
    else
        atomicExch(lock, 0);
}

// The lock has the scope of the block, and other blocks take it, too.
__global__ void lock_of_a_block(int *lock, int *count) {
    while (WRONG_OR_RIGHT(atomicCAS_block(lock, 0, 1), atomicCAS(lock, 0, 1)) != 0) {} //~ ERROR data-race
    __threadfence();
    *count += 1; //~ ERROR data-race
    __threadfence();
    WRONG_OR_RIGHT(atomicExch_block(lock, 0), atomicExch(lock, 0)); //~ ERROR data-race
}

// Two locks for one counter.
__global__ void two_locks(int *locks, int *count) {
    int *lock = locks + WRONG_OR_RIGHT(blockIdx.x % 2, 0);
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *count += 1; //~ ERROR data-race
    __threadfence();
    atomicExch(lock, 0);
}

// Tickets: the turn is given on by a store that does not release.
__global__ void tickets(int *next, int *turn, int *count) {
    cuda::atomic_ref<int, cuda::thread_scope_device> serving(*turn);
    int mine = atomicAdd(next, 1);
    while (serving.load(cuda::memory_order_acquire) != mine) {}
    *count += 1; //~ ERROR data-race
    serving.store(mine + 1, WRONG_OR_RIGHT(cuda::memory_order_relaxed, cuda::memory_order_release));
}

// No fence before it is given back.
__global__ void fence_before_unlock(int *lock, int *count) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *count += 1; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __threadfence());
    atomicExch(lock, 0);
}

// A lock of the block, for its warps.
__global__ void between_warps(int *out) {
    __shared__ int lock, count;
    if (threadIdx.x == 0) lock = count = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS_block(&lock, 0, 1) != 0) {}
        __threadfence_block();
        count += 1; //~ ERROR data-race
        WRONG_OR_RIGHT((void)0, __threadfence_block());
        atomicExch_block(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) *out = count;
}

int main() {
    fence_after_lock<<<3, 1>>>(device<int>(1), device<int>(1));
    plain_unlock<<<3, 1>>>(device<int>(1), device<int>(1));
    lock_of_a_block<<<3, 1>>>(device<int>(1), device<int>(1));
    two_locks<<<3, 1>>>(device<int>(2), device<int>(1));
    tickets<<<3, 1>>>(device<int>(1), device<int>(1), device<int>(1));
    fence_before_unlock<<<3, 1>>>(device<int>(1), device<int>(1));
    between_warps<<<1, 128>>>(device<int>(1));
    return finish();
}
