#include "../memcheck/memcheck.h"
#include <cooperative_groups.h>

// Barriers of cooperative groups.
namespace cg = cooperative_groups;

__global__ void block(int *data) {
    __shared__ int tile[128];
    cg::thread_block block = cg::this_thread_block();
    tile[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, block.sync());
    data[threadIdx.x] = tile[127 - threadIdx.x]; //~ ERROR data-race
}

// A tile of 32 threads is a warp: its barrier does not order two.
__global__ void tile_instead_of_block(int *data) {
    __shared__ int tile[128];
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    tile[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    if (WRONG_OR_RIGHT(true, false))
        warp.sync();
    else
        cg::sync(block);
    data[threadIdx.x] = tile[127 - threadIdx.x]; //~ ERROR data-race
}

// Tiles of sixteen threads, in which each reads what its own tile has written.
__global__ void tiles_of_sixteen(int *data) {
    __shared__ int tile[64];
    auto half = cg::tiled_partition<16>(cg::this_thread_block());
    int first = threadIdx.x / 16 * 16;
    tile[threadIdx.x] = data[threadIdx.x];
    WRONG_OR_RIGHT((void)0, half.sync());
    data[threadIdx.x] = tile[first + 15 - half.thread_rank()]; //~ ERROR warp-synchrony
}

// The rank in the tile instead of that in the block: all tiles write to one place.
__global__ void rank_of_the_tile(int *data) {
    __shared__ int tile[128];
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    tile[WRONG_OR_RIGHT(warp.thread_rank(), block.thread_rank())] = threadIdx.x; //~ ERROR data-race
    block.sync();
    data[threadIdx.x] = tile[threadIdx.x % 32];
}

int main() {
    block<<<1, 128>>>(device<int>(128));
    tile_instead_of_block<<<1, 128>>>(device<int>(128));
    tiles_of_sixteen<<<1, 64>>>(device<int>(64));
    rank_of_the_tile<<<1, 128>>>(device<int>(128));
    return finish();
}
