//@ exit: 0
#include "../memcheck/memcheck.h"

// Lanes of a warp that rely on running in step. These are warnings.
__global__ void reduction(int *data) {
    __shared__ int part[64];
    part[threadIdx.x] = data[threadIdx.x];
    part[threadIdx.x + 32] = data[threadIdx.x + 32];
    __syncwarp();
    if (threadIdx.x < 16) {
        for (int stride = 16; stride > 0; stride /= 2) {
            int sum = part[threadIdx.x] + part[threadIdx.x + stride];
            WRONG_OR_RIGHT((void)0, __syncwarp(0xffff));
            part[threadIdx.x] = sum; //~ ERROR warp-synchrony
            WRONG_OR_RIGHT((void)0, __syncwarp(0xffff));
        }
    }
    if (threadIdx.x == 0) data[0] = part[0];
}

__global__ void reverse(int *data) {
    __shared__ int tile[32];
    tile[threadIdx.x] = data[threadIdx.x];
    WRONG_OR_RIGHT((void)0, __syncwarp());
    data[threadIdx.x] = tile[31 - threadIdx.x]; //~ ERROR warp-synchrony
}

// Shuffles exchange registers. They order no memory.
__global__ void shuffle(int *data) {
    __shared__ int tile[32];
    tile[threadIdx.x] = data[threadIdx.x];
    int other = __shfl_xor_sync(~0u, data[threadIdx.x], 16);
    WRONG_OR_RIGHT((void)0, __syncwarp());
    data[threadIdx.x] = tile[31 - threadIdx.x] + other; //~ ERROR warp-synchrony
}

// Nor do votes.
__global__ void vote(int *data) {
    __shared__ int tile[32];
    tile[threadIdx.x] = data[threadIdx.x];
    int is_any = __any_sync(~0u, data[threadIdx.x] > 3);
    unsigned same = __match_any_sync(~0u, is_any);
    WRONG_OR_RIGHT((void)0, __syncwarp());
    data[threadIdx.x] = tile[31 - threadIdx.x] + same; //~ ERROR warp-synchrony
}

// A block of one warp, in global memory.
__global__ void in_global_memory(int *data) {
    int next = data[(threadIdx.x + 1) % 32];
    WRONG_OR_RIGHT((void)0, __syncwarp());
    data[threadIdx.x] = next; //~ ERROR warp-synchrony
}

// The two sides of a branch.
__global__ void sides_of_a_branch(int *data) {
    __shared__ int tile[32];
    if (threadIdx.x < 16) tile[threadIdx.x] = data[threadIdx.x];
    WRONG_OR_RIGHT((void)0, __syncwarp());
    if (threadIdx.x >= 16) data[threadIdx.x] = tile[threadIdx.x - 16]; //~ ERROR warp-synchrony
}

// The next round writes before all lanes have read.
__global__ void rounds(int *data, int count) {
    __shared__ int tile[32];
    int value = data[threadIdx.x];
    for (int round = 0; round < count; ++round) {
        tile[threadIdx.x] = value; //~ ERROR warp-synchrony
        __syncwarp();
        value += tile[31 - threadIdx.x];
        WRONG_OR_RIGHT((void)0, __syncwarp());
    }
    data[threadIdx.x] = value;
}

// A block of which the last warp is not full.
__global__ void last_warp(int *data) {
    __shared__ int tile[40];
    tile[threadIdx.x] = data[threadIdx.x];
    WRONG_OR_RIGHT((void)0, __syncwarp(__activemask()));
    if (threadIdx.x >= 32) data[threadIdx.x] = tile[71 - threadIdx.x]; //~ ERROR warp-synchrony
}

int main() {
    reduction<<<1, 32>>>(device<int>(64));
    reverse<<<1, 32>>>(device<int>(32));
    shuffle<<<1, 32>>>(device<int>(32));
    vote<<<1, 32>>>(device<int>(32));
    in_global_memory<<<1, 32>>>(device<int>(32));
    sides_of_a_branch<<<1, 32>>>(device<int>(32));
    rounds<<<1, 32>>>(device<int>(32), 3);
    last_warp<<<1, 40>>>(device<int>(40));
    return finish();
}
