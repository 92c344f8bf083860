#include "../memcheck/memcheck.h"
#include <cuda/atomic>

// Atomic operations are in order for threads that their scopes have, and for no others.
__global__ void between_blocks(int *count) { WRONG_OR_RIGHT(atomicAdd_block(count, 1), atomicAdd(count, 1)); } //~ ERROR data-race

// One side is as wide as it must be, the other is not.
__global__ void one_side(int *count) {
    if (blockIdx.x == 0)
        WRONG_OR_RIGHT(atomicAdd_block(count, 1), atomicAdd(count, 1));
    else
        atomicAdd(count, 1); //~ ERROR data-race
}

__global__ void wide_first(int *count) {
    if (blockIdx.x == 0)
        atomicAdd_system(count, 1);
    else
        WRONG_OR_RIGHT(atomicAdd_block(count, 1), atomicAdd(count, 1)); //~ ERROR data-race
}

// Atomics of the C++ library, which have a scope in their type.
template <cuda::thread_scope SCOPE> __device__ void add(int *count) {
    cuda::atomic_ref<int, SCOPE>(*count).fetch_add(1, cuda::memory_order_relaxed); //~ ERROR data-race
}

__global__ void references(int *count) { add<WRONG_OR_RIGHT(cuda::thread_scope_block, cuda::thread_scope_device)>(count); }

// A load of the scope of the block.
__global__ void load(int *flag, int *out) {
    if (blockIdx.x == 0)
        cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).store(1, cuda::memory_order_relaxed);
    else
        *out = cuda::atomic_ref<int, WRONG_OR_RIGHT(cuda::thread_scope_block, cuda::thread_scope_device)>(*flag).load( //~ ERROR data-race
            cuda::memory_order_relaxed);
}

int main() {
    between_blocks<<<3, 32>>>(device<int>(1));
    one_side<<<2, 32>>>(device<int>(1));
    wide_first<<<2, 32>>>(device<int>(1));
    references<<<2, 1>>>(device<int>(1));
    load<<<2, 1>>>(device<int>(1), device<int>(1));
    return finish();
}
