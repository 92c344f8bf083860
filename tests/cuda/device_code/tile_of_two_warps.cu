// The warps of a tile of 64 threads wait for each other in shared memory, in a grid of one block: nothing else can run.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

__global__ void reverse(int *out) {
    __shared__ cg::block_tile_memory<128> memory;
    __shared__ int values[128];
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<64>(block);
    values[threadIdx.x] = threadIdx.x;
    tile.sync();
    out[threadIdx.x] = values[(threadIdx.x & 64) + 63 - tile.thread_rank()];
}

int main() {
    int *device, host[128];
    cudaMalloc(&device, sizeof host);
    reverse<<<1, 128>>>(device);
    if (cudaMemcpy(host, device, sizeof host, cudaMemcpyDefault) != cudaSuccess) return 1;
    for (int i = 0; i < 128; i++)
        if (host[i] != (i & 64) + 63 - (i & 63)) return 2;
    cudaFree(device);
    puts("PASS");
}
