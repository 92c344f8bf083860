#include "../memcheck/memcheck.h"
#include <cooperative_groups.h>
#include <cuda/atomic>

// Barriers of the whole grid, by the library and by hand.
namespace cg = cooperative_groups;

__global__ void grid_sync(int *data, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, count = gridDim.x * blockDim.x;
    data[i] = i; //~ ERROR data-race
    if (WRONG_OR_RIGHT(true, false))
        cg::this_thread_block().sync();
    else
        cg::this_grid().sync();
    out[i] = data[(i + blockDim.x) % count]; //~ ERROR data-race
}

// A chain: each block waits for the one before, as in a scan that looks back.
__global__ void chain(int *flags, int *sums) {
    cuda::atomic_ref<int, cuda::thread_scope_device> mine(flags[blockIdx.x + 1]), before(flags[blockIdx.x]);
    if (blockIdx.x > 0)
        while (before.load(cuda::memory_order_acquire) == 0) {}
    sums[blockIdx.x + 1] = sums[blockIdx.x] + 1; //~ ERROR data-race
    mine.store(1, WRONG_OR_RIGHT(cuda::memory_order_relaxed, cuda::memory_order_release));
}

// The data goes over two blocks: order is passed on.
__global__ void passed_on(int *data, int *flags, int *out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> first(flags[0]), second(flags[1]);
    if (blockIdx.x == 0) {
        *data = 42;
        first.store(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1) {
        while (first.load(WRONG_OR_RIGHT(cuda::memory_order_relaxed, cuda::memory_order_acquire)) == 0) {}
        second.store(1, cuda::memory_order_release);
    } else {
        while (second.load(cuda::memory_order_acquire) == 0) {}
        *out = *data; //~ ERROR data-race
    }
}

int main() {
    int *data = device<int>(128), *out = device<int>(128);
    void *arguments[] = {&data, &out};
    OK(cudaLaunchCooperativeKernel((void *)grid_sync, 4, 32, arguments, 0, 0));
    chain<<<4, 1>>>(device<int>(5), device<int>(5));
    passed_on<<<3, 1>>>(device<int>(1), device<int>(2), device<int>(1));
    return finish();
}
