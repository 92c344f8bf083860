//@ architecture: sm_100
#include "memcheck.h"
#include <cuda/barrier>
#include <cuda/ptx>

// Undefined values travel with copies of many bytes, and zeros that are stored in bulk are defined.
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;
const int THREADS = 64;
#pragma nv_diag_suppress static_var_with_dynamic_init

// To shared memory.
__global__ void to_shared(const int *in, int *out) {
    __shared__ alignas(128) int tile[THREADS];
    __shared__ barrier bar;
    if (threadIdx.x == 0)
        init(&bar, THREADS);
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(tile, in, cuda::aligned_size_t<16>(sizeof tile), bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    if (tile[threadIdx.x] > 0) //~ ERROR undefined-branch
        out[0] = 1;
}

// To global memory, of which the second half was never written in the tile.
__global__ void to_global(int *out) {
    __shared__ alignas(128) int tile[THREADS];
    if (threadIdx.x < WRONG_OR_RIGHT(THREADS / 2, THREADS))
        tile[threadIdx.x] = threadIdx.x;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, sizeof tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}

__global__ void decide(const int *in, int *out) {
    if (in[threadIdx.x] > 0) //~ ERROR undefined-branch
        out[0] = 1;
}

// Zeros for a tile, or for half of it.
__global__ void zeros(int *out) {
    __shared__ alignas(128) int tile[THREADS];
    if (threadIdx.x == 0) {
        unsigned long long bytes = WRONG_OR_RIGHT(sizeof tile / 2, sizeof tile);
        asm volatile("st.bulk.weak.shared::cta [%0], %1, 0;" ::"r"((unsigned)__cvta_generic_to_shared(tile)), "l"(bytes) : "memory");
    }
    __syncthreads();
    if (tile[threadIdx.x] > 0) //~ ERROR undefined-branch
        out[0] = 1;
}

int main() {
    int *in = fresh<int>(THREADS), *out = device<int>(THREADS), *copied = fresh<int>(THREADS);
    OK(cudaMemset(in, 0, WRONG_OR_RIGHT(THREADS * 3, THREADS * 4)));
    to_shared<<<1, THREADS>>>(in, out);
    to_global<<<1, THREADS>>>(copied);
    decide<<<1, THREADS>>>(copied, out);
    zeros<<<1, THREADS>>>(out);
    return finish();
}
