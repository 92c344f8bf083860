#include "../memcheck/memcheck.h"

// Barriers with a number and a count: only some warps of the block come to them.
__device__ void wait_at(int barrier, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ void arrive_at(int barrier, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ void wait_for_all_at(int barrier) { asm volatile("bar.sync %0;" ::"r"(barrier) : "memory"); }

// Two pairs of warps, each with a barrier of its own, which does not order the other pair.
__global__ void pairs_of_warps(int *data) {
    __shared__ int tile[128];
    tile[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    wait_at(1 + threadIdx.x / 64, 64);
    data[threadIdx.x] = tile[threadIdx.x ^ WRONG_OR_RIGHT(64, 32)]; //~ ERROR data-race
}

// Who waits at a barrier knows what those knew who arrived: the last pair, what the first has written.
__global__ void chain_of_warps(int *data) {
    __shared__ int tile[32];
    int warp = threadIdx.x / 32;
    if (warp == 0)
        tile[threadIdx.x] = data[threadIdx.x];
    for (int link = 1; link < 4; ++link)
        if (warp == link - 1 || warp == link)
            wait_at(WRONG_OR_RIGHT(warp == 2 && link == 2 ? 15 : link, link), WRONG_OR_RIGHT(link == 2 ? 32 : 64, 64));
    if (warp == 3)
        data[threadIdx.x % 32] = tile[threadIdx.x % 32]; //~ ERROR data-race
}

// One warp fills a buffer, three read it; two barriers say that it is full and that it is empty.
__global__ void producer_and_consumers(const int *in, int *out, int rounds) {
    __shared__ int buffer[32];
    const int FULL = 1, EMPTY = 2;
    int lane = threadIdx.x % 32, sum = 0;
    if (threadIdx.x < 32) {
        for (int round = 0; round < rounds; ++round) {
            wait_at(EMPTY, 128);
            buffer[lane] = in[round * 32 + lane]; //~ ERROR data-race
            arrive_at(FULL, 128);
        }
        return;
    }
    arrive_at(EMPTY, 128);
    for (int round = 0; round < rounds; ++round) {
        wait_at(FULL, 128);
        // The buffer is said to be empty before it is read.
        if (WRONG_OR_RIGHT(round + 1 < rounds, false))
            arrive_at(EMPTY, 128);
        sum += buffer[31 - lane];
        if (WRONG_OR_RIGHT(false, round + 1 < rounds))
            arrive_at(EMPTY, 128);
    }
    out[threadIdx.x] = sum;
}

// Of several warps that read, all have to arrive before the next one writes.
__global__ void readers_of_several_warps(const int *in, int *out) {
    __shared__ int tile[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (warp == 0)
        tile[lane] = in[lane];
    __syncthreads();
    if (warp > 0)
        out[threadIdx.x] = tile[31 - lane];
    if (warp < WRONG_OR_RIGHT(3, 4))
        wait_at(1, WRONG_OR_RIGHT(96, 128));
    if (warp == 0)
        tile[lane] = in[32 + lane]; //~ ERROR data-race
}

// Without a count, all threads come to it.
__global__ void number_without_count(int *data) {
    __shared__ int tile[128];
    tile[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    if (threadIdx.x < 64)
        wait_at(2, 64);
    WRONG_OR_RIGHT((void)0, wait_for_all_at(5));
    data[threadIdx.x] = tile[127 - threadIdx.x]; //~ ERROR data-race
}

// The barrier is in a function.
__noinline__ __device__ void wait_in_function(int barrier) { wait_at(barrier, 64); }

__noinline__ __device__ void write_in_function(int *tile, int value) {
    tile[threadIdx.x] = value; //~ ERROR data-race
}

__global__ void barrier_in_a_function(int *data) {
    __shared__ int tile[128];
    write_in_function(tile, data[threadIdx.x]);
    wait_in_function(1 + threadIdx.x / 64);
    data[threadIdx.x] = tile[threadIdx.x ^ WRONG_OR_RIGHT(64, 32)]; //~ ERROR data-race
}

// After a barrier, the same with global memory.
__global__ void global_memory(int *data, int *out) {
    data[threadIdx.x] = threadIdx.x; //~ ERROR data-race
    wait_at(1 + threadIdx.x / 64, 64);
    out[threadIdx.x] = data[threadIdx.x ^ WRONG_OR_RIGHT(64, 32)]; //~ ERROR data-race
}

int main() {
    pairs_of_warps<<<1, 128>>>(device<int>(128));
    chain_of_warps<<<1, 128>>>(device<int>(128));
    producer_and_consumers<<<1, 128>>>(device<int>(3200), device<int>(128), 100);
    readers_of_several_warps<<<1, 128>>>(device<int>(64), device<int>(128));
    number_without_count<<<1, 128>>>(device<int>(128));
    barrier_in_a_function<<<1, 128>>>(device<int>(128));
    global_memory<<<1, 128>>>(device<int>(128), device<int>(128));
    return finish();
}
