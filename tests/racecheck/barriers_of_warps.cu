#include "../memcheck/memcheck.h"

// __syncwarp() orders the lanes of a warp, and nothing else.
const int THREADS = 64;

// It does not order two warps.
__global__ void instead_of_syncthreads(int *data) {
    __shared__ int tile[THREADS];
    tile[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    if (WRONG_OR_RIGHT(false, true))
        __syncthreads();
    else
        __syncwarp();
    data[threadIdx.x] = tile[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
}

// The warps have tiles of their own, one of which reaches into the next.
__global__ void tiles_of_warps(int *data) {
    __shared__ int tile[2][36];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    tile[warp][lane] = data[threadIdx.x] + threadIdx.x; //~ ERROR data-race
    __syncwarp();
    int sum = tile[warp][31 - lane];
    __syncwarp();
    (&tile[0][0])[warp * 36 + lane + WRONG_OR_RIGHT(8, 4)] = sum;
    __syncwarp();
    data[threadIdx.x] = tile[warp][lane];
}

// Sums of warps that are in order inside, and are read by the other warp without a barrier of the block.
__global__ void sums(int *data) {
    __shared__ int part[THREADS];
    int lane = threadIdx.x % 32;
    part[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    __syncwarp();
#pragma unroll 1
    for (int stride = 16; stride > 0; stride /= 2) {
        int sum = part[threadIdx.x] + part[threadIdx.x ^ stride];
        __syncwarp();
        part[threadIdx.x] = sum; //~ ERROR data-race
        __syncwarp();
    }
    WRONG_OR_RIGHT((void)0, __syncthreads());
    data[threadIdx.x] = part[32 - threadIdx.x / 32 * 32 + lane]; //~ ERROR data-race
}

// In global memory, too.
__global__ void in_global_memory(int *data) {
    int value = data[threadIdx.x]; //~ ERROR data-race
    if (WRONG_OR_RIGHT(false, true))
        __syncthreads();
    else
        __syncwarp();
    data[THREADS - 1 - threadIdx.x] = value; //~ ERROR data-race
}

int main() {
    instead_of_syncthreads<<<1, THREADS>>>(device<int>(THREADS));
    tiles_of_warps<<<1, THREADS>>>(device<int>(THREADS));
    sums<<<1, THREADS>>>(device<int>(THREADS));
    in_global_memory<<<1, THREADS>>>(device<int>(THREADS));
    return finish();
}
