#include "../memcheck/memcheck.h"

// A thread overwrites shared memory that another one has still to read.
const int THREADS = 128;

// The tile of the next round is written while others read this one's.
__global__ void tiles(const int *in, int *out, int rounds) {
    __shared__ int tile[THREADS];
    int sum = 0;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        tile[threadIdx.x] = in[round * THREADS + threadIdx.x]; //~ ERROR data-race
        __syncthreads();
#pragma unroll 1
        for (int i = 0; i < THREADS; i += 32) sum += tile[(threadIdx.x + i) % THREADS]; //~ ERROR data-race
        WRONG_OR_RIGHT((void)0, __syncthreads());
    }
    out[threadIdx.x] = sum;
}

// A rotation in place: everybody must have read before anybody writes.
__global__ void rotate(int *data) {
    __shared__ int ring[THREADS];
    ring[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    int next = ring[(threadIdx.x + 32) % THREADS]; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    ring[threadIdx.x] = next; //~ ERROR data-race
    __syncthreads();
    data[threadIdx.x] = ring[THREADS - 1 - threadIdx.x];
}

// The first thread gives out tickets, one after another, in one place.
__global__ void tickets(int *out, int rounds) {
    __shared__ int ticket;
    for (int round = 0; round < rounds; ++round) {
        if (threadIdx.x == 0) ticket = out[round] + round;
        __syncthreads();
        if (threadIdx.x >= 32) out[THREADS * (round + 1) + threadIdx.x] = ticket; //~ ERROR data-race
        WRONG_OR_RIGHT((void)0, __syncthreads());
    }
}

// The memory of one step is used by the next for something else.
__global__ void two_uses(int *data) {
    __shared__ int scratch[THREADS];
    scratch[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    int first = scratch[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    scratch[threadIdx.x] = first * 2; //~ ERROR data-race
    __syncthreads();
    data[threadIdx.x] = scratch[(threadIdx.x + 64) % THREADS];
}

// The sum of a block is in the first element, which the next call writes before all have taken it.
__device__ int sum_of_block(int value, int *scratch) {
    scratch[threadIdx.x] = value; //~ ERROR warp-synchrony
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) scratch[threadIdx.x] += scratch[threadIdx.x + stride];
        __syncthreads();
    }
    int sum = scratch[0]; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    return sum;
}

__global__ void two_sums(int *data) {
    __shared__ int scratch[THREADS];
    int sum = sum_of_block(data[threadIdx.x], scratch);
    data[threadIdx.x] = sum + sum_of_block(data[threadIdx.x] * sum, scratch);
}

int main() {
    tiles<<<1, THREADS>>>(device<int>(4 * THREADS), device<int>(THREADS), 4);
    rotate<<<1, THREADS>>>(device<int>(THREADS));
    tickets<<<1, 64>>>(device<int>(4 * THREADS), 3);
    two_uses<<<1, THREADS>>>(device<int>(THREADS));
    two_sums<<<1, THREADS>>>(device<int>(THREADS));
    return finish();
}
