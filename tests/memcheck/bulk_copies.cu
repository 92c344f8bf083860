//@ architecture: sm_120
#include "memcheck.h"

#include <cuda/ptx>
#include <sys/wait.h>
#include <unistd.h>

namespace ptx = cuda::ptx;

// One thread copies, all wait.
__device__ void wait_for(uint64_t *barrier) {
    while (!ptx::mbarrier_try_wait_parity(barrier, 0)) {}
}

__global__ void to_shared(const int *in, int *out, unsigned bytes) {
    __shared__ alignas(16) int tile[64];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&barrier, 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier, bytes);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, bytes, &barrier); //~ ERROR out-of-bounds
    }
    __syncthreads();
    wait_for(&barrier);
    out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void into_a_neighbour(const int *in, int *out, unsigned bytes) {
    __shared__ alignas(16) int tile[32];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&barrier, 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier, bytes);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, bytes, &barrier); //~ ERROR shared-out-of-bounds
    }
    __syncthreads();
    wait_for(&barrier);
    out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void to_global(int *out, unsigned bytes) {
    __shared__ alignas(16) int tile[64];
    tile[threadIdx.x] = tile[threadIdx.x + 32] = threadIdx.x;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, bytes); //~ ERROR out-of-bounds
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}

// The pointer comes from memory, so its object is not known before.
__global__ void through_a_pointer(int **out, unsigned bytes) {
    __shared__ alignas(16) int tile[64];
    tile[threadIdx.x] = tile[threadIdx.x + 32] = threadIdx.x;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, *out, tile, bytes); //~ ERROR out-of-bounds
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}

// Three numbers at the end of the array are copied, and what is behind it is not touched.
__global__ void masked(int *out, unsigned short mask) {
    __shared__ alignas(16) int tile[4];
    if (threadIdx.x < 4) tile[threadIdx.x] = threadIdx.x;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk_cp_mask(ptx::space_global, ptx::space_shared, out, tile, 16, mask); //~ ERROR out-of-bounds
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}

// The array has five numbers, and the copy is of eight.
__global__ void without_the_end(const int *in, int *out, unsigned left_out) {
    __shared__ alignas(16) int tile[8];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&barrier, 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier, 32);
        ptx::cp_async_bulk_ignore_oob(ptx::space_shared, ptx::space_global, tile, in, 32, 0, left_out, &barrier); //~ ERROR out-of-bounds
    }
    __syncthreads();
    wait_for(&barrier);
    if (threadIdx.x < 5) out[threadIdx.x] = tile[threadIdx.x];
}

// A kernel that goes wrong ends all work of its process.
template <typename F> void in_a_process_of_its_own(F run) {
    if (fork() == 0) {
        run();
        exit(finish());
    }
    wait(nullptr);
}

int main() {
    in_a_process_of_its_own([] { to_shared<<<1, 32>>>(device<int>(36), device<int>(32), WRONG_OR_RIGHT(160, 144)); });
    in_a_process_of_its_own([] { into_a_neighbour<<<1, 32>>>(device<int>(36), device<int>(32), WRONG_OR_RIGHT(144, 128)); });
    in_a_process_of_its_own([] { to_global<<<1, 32>>>(device<int>(40), WRONG_OR_RIGHT(256, 160)); });
    in_a_process_of_its_own([] {
        int *array = device<int>(40), **pointer = device<int *>(1);
        OK(cudaMemcpy(pointer, &array, sizeof array, cudaMemcpyHostToDevice));
        through_a_pointer<<<1, 32>>>(pointer, WRONG_OR_RIGHT(176, 160));
    });
    in_a_process_of_its_own([] { masked<<<1, 32>>>(device<int>(7) + 4, WRONG_OR_RIGHT(0x1fff, 0x0fff)); });
    in_a_process_of_its_own([] { without_the_end<<<1, 32>>>(device<int>(5), device<int>(5), WRONG_OR_RIGHT(11, 12)); });
}
