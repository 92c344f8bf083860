//@ architecture: sm_90
#include "../memcheck/memcheck.h"
#include <cuda/barrier>
#include <cuda/ptx>

// Copies of many bytes, which complete on barrier objects or are waited for by their thread.
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;
const int THREADS = 128;
#pragma nv_diag_suppress static_var_with_dynamic_init

// Starts a copy to shared memory, and arrives.
__device__ barrier::arrival_token fetch(int *tile, const int *in, barrier &bar) {
    if (threadIdx.x != 0)
        return bar.arrive();
    cuda::device::memcpy_async_tx(tile, in, cuda::aligned_size_t<16>(THREADS * sizeof(int)), bar); //~ ERROR data-race
    return cuda::device::barrier_arrive_tx(bar, 1, THREADS * sizeof(int));
}

// A barrier of the block does not wait for the copy.
__global__ void barrier_of_the_block(const int *in, int *out) {
    __shared__ alignas(128) int tile[THREADS];
    __shared__ barrier bar;
    if (threadIdx.x == 0)
        init(&bar, THREADS);
    __syncthreads();
    auto token = fetch(tile, in, bar);
    if (WRONG_OR_RIGHT(true, false))
        __syncthreads();
    else
        bar.wait(std::move(token));
    out[threadIdx.x] = tile[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
}

// The thread that began the copy reads what it has not waited for.
__global__ void same_thread(const int *in, int *out) {
    __shared__ alignas(128) int tile[THREADS];
    __shared__ barrier bar;
    if (threadIdx.x == 0)
        init(&bar, THREADS);
    __syncthreads();
    auto token = fetch(tile, in, bar);
    int early = 0;
    if (WRONG_OR_RIGHT(threadIdx.x == 0, false))
        early = tile[1]; //~ ERROR data-race
    bar.wait(std::move(token));
    out[threadIdx.x] = tile[threadIdx.x] + early;
}

// The next copy to a tile that others still read.
__global__ void next_round(const int *in, int *out, int rounds) {
    __shared__ alignas(128) int tile[THREADS];
    __shared__ barrier bar;
    if (threadIdx.x == 0)
        init(&bar, THREADS);
    __syncthreads();
    int sum = 0;
    for (int round = 0; round < rounds; round++) {
        bar.wait(fetch(tile, in + round * THREADS, bar));
        sum += tile[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
        if (WRONG_OR_RIGHT(false, true))
            __syncthreads();
    }
    out[threadIdx.x] = sum;
}

// Two stages, of which one is read and the other filled.
__global__ void two_stages(const int *in, int *out, int rounds) {
    __shared__ alignas(128) int tiles[2][THREADS];
    __shared__ barrier bars[2];
    if (threadIdx.x < 2)
        init(bars + threadIdx.x, THREADS);
    __syncthreads();
    barrier::arrival_token tokens[2];
    tokens[0] = fetch(tiles[0], in, bars[0]);
    int sum = 0;
    for (int round = 0; round < rounds; round++) {
        int stage = round & 1;
        if (round + 1 < rounds)
            tokens[stage ^ 1] = fetch(tiles[stage ^ 1], in + (round + 1) * THREADS, bars[stage ^ 1]);
        bars[stage].wait(std::move(tokens[stage]));
        // The stage that is filled now is the other one.
        sum += tiles[WRONG_OR_RIGHT(round + 1 < rounds ? stage ^ 1 : stage, stage)][threadIdx.x]; //~ ERROR data-race
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

// Starts a copy of a tile to global memory.
__device__ void put(int *out, int *tile) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, THREADS * sizeof(int)); //~ ERROR data-race
    ptx::cp_async_bulk_commit_group();
}

// A tile is written while a copy reads it.
__global__ void written_too_early(int *out, int rounds) {
    __shared__ alignas(128) int tile[THREADS];
    for (int round = 0; round < rounds; round++) {
        tile[threadIdx.x] = round; //~ ERROR data-race
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            put(out + round * THREADS, tile);
            if (WRONG_OR_RIGHT(false, true))
                ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        }
        __syncthreads();
    }
}

// The copy has read, and has not written.
__global__ void read_too_early(int *out) {
    __shared__ alignas(128) int tile[THREADS];
    tile[threadIdx.x] = threadIdx.x;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        put(out, tile);
        if (WRONG_OR_RIGHT(true, false))
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        else
            ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
    __syncthreads();
    out[THREADS + threadIdx.x] = out[threadIdx.x]; //~ ERROR data-race
}

// The copy reads what threads have not yet written.
__global__ void begun_too_early(int *out) {
    __shared__ alignas(128) int tile[THREADS];
    tile[threadIdx.x] = threadIdx.x;
    ptx::fence_proxy_async(ptx::space_shared);
    if (WRONG_OR_RIGHT(false, true))
        __syncthreads();
    if (threadIdx.x == THREADS - 1) {
        put(out, tile);
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}

// Blocks copy to one place.
__global__ void same_place(int *out) {
    __shared__ alignas(128) int tile[THREADS];
    tile[threadIdx.x] = blockIdx.x;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        put(out + WRONG_OR_RIGHT(0, blockIdx.x * THREADS), tile);
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}

__device__ void wait(barrier &bar, int parity) {
    while (!ptx::mbarrier_test_wait_parity(cuda::device::barrier_native_handle(bar), parity))
        ;
}

// One warp fills stages, and others empty them: the order goes through two objects for each stage.
__global__ void warps_by_roles(const int *in, int *out, int rounds) {
    __shared__ alignas(128) int tiles[2][THREADS];
    __shared__ barrier full[2], empty[2];
    if (threadIdx.x < 2) {
        init(full + threadIdx.x, 1);
        init(empty + threadIdx.x, 96);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int round = 0; round < rounds; round++) {
            int stage = round & 1;
            if (round >= 2)
                wait(empty[stage], (round / 2 - 1) & 1);
            const int *next = in + round * THREADS;
            cuda::device::memcpy_async_tx(tiles[stage], next, cuda::aligned_size_t<16>(THREADS * 4), full[stage]); //~ ERROR data-race
            (void)cuda::device::barrier_arrive_tx(full[stage], 1, THREADS * 4);
        }
    } else if (threadIdx.x >= 32) {
        int sum = 0;
        for (int round = 0; round < rounds; round++) {
            int stage = round & 1;
            wait(full[stage], (round / 2) & 1);
            // The stage is said to be empty before it is read.
            if (WRONG_OR_RIGHT(true, false))
                (void)empty[stage].arrive();
            sum += tiles[stage][threadIdx.x];
            if (WRONG_OR_RIGHT(false, true))
                (void)empty[stage].arrive();
        }
        out[threadIdx.x] = sum;
    }
}

int main() {
    barrier_of_the_block<<<1, THREADS>>>(device<int>(THREADS), device<int>(THREADS));
    same_thread<<<1, THREADS>>>(device<int>(THREADS), device<int>(THREADS));
    next_round<<<1, THREADS>>>(device<int>(1024), device<int>(THREADS), 8);
    two_stages<<<1, THREADS>>>(device<int>(1024), device<int>(THREADS), 8);
    written_too_early<<<1, THREADS>>>(device<int>(1024), 8);
    read_too_early<<<1, THREADS>>>(device<int>(1024));
    begun_too_early<<<1, THREADS>>>(device<int>(1024));
    same_place<<<2, THREADS>>>(device<int>(1024));
    warps_by_roles<<<1, THREADS>>>(device<int>(1024), device<int>(THREADS), 8);
    return finish();
}
