//@ exit: 0
#include "../memcheck/memcheck.h"

// A barrier of a warp orders the lanes of its mask, and no others. These are warnings.
__global__ void halves(int *data) {
    __shared__ int tile[32];
    unsigned own = threadIdx.x < 16 ? 0x0000ffff : 0xffff0000;
    tile[threadIdx.x] = data[threadIdx.x];
    __syncwarp(WRONG_OR_RIGHT(own, own | ~own));
    data[threadIdx.x] = tile[(threadIdx.x + 16) % 32]; //~ ERROR warp-synchrony
}

// A lane that waits for itself.
__global__ void alone(int *data) {
    __shared__ int tile[32];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncwarp(WRONG_OR_RIGHT(1u << threadIdx.x, ~0u));
    data[threadIdx.x] = tile[31 - threadIdx.x]; //~ ERROR warp-synchrony
}

// One that is told of a write by another, which was told of it before.
__global__ void chain(int *data) {
    __shared__ int word;
    if (threadIdx.x == 0) word = data[0];
    if (threadIdx.x < 2) __syncwarp(3);
    unsigned second = WRONG_OR_RIGHT(12, 6);
    if (second >> threadIdx.x & 1) __syncwarp(second);
    if (threadIdx.x == 2) data[2] = word; //~ ERROR warp-synchrony
}

// The lanes that are left in a loop. Those that have left it write what the others read.
__global__ void those_that_are_left(int *data) {
    __shared__ int tile[32];
    tile[threadIdx.x] = data[threadIdx.x];
    for (int round = threadIdx.x; round < 32; round += 8) {
        __syncwarp(__activemask());
    }
    WRONG_OR_RIGHT((void)0, __syncwarp());
    data[threadIdx.x] = tile[31 - threadIdx.x]; //~ ERROR warp-synchrony
}

// A read before a write, in global memory.
__global__ void in_global_memory(int *data) {
    int next = data[(threadIdx.x + 1) % 32];
    __syncwarp(WRONG_OR_RIGHT(0x55555555 << (threadIdx.x & 1), ~0u));
    data[threadIdx.x] = next; //~ ERROR warp-synchrony
}

// A fence orders the accesses of its own thread.
__global__ void fence(int *data) {
    __shared__ int tile[32];
    tile[threadIdx.x] = data[threadIdx.x];
    __threadfence_block();
    WRONG_OR_RIGHT((void)0, __syncwarp());
    data[threadIdx.x] = tile[31 - threadIdx.x]; //~ ERROR warp-synchrony
}

// And so it does between two barriers.
__global__ void fence_after_a_barrier(int *data) {
    __shared__ int tile[32];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncwarp();
    int other = tile[31 - threadIdx.x];
    WRONG_OR_RIGHT(__threadfence_block(), __syncwarp());
    tile[threadIdx.x] = other + 1; //~ ERROR warp-synchrony
}

int main() {
    halves<<<1, 32>>>(device<int>(32));
    alone<<<1, 32>>>(device<int>(32));
    chain<<<1, 32>>>(device<int>(32));
    those_that_are_left<<<1, 32>>>(device<int>(32));
    in_global_memory<<<1, 32>>>(device<int>(32));
    fence<<<1, 32>>>(device<int>(32));
    fence_after_a_barrier<<<1, 32>>>(device<int>(32));
    return finish();
}
