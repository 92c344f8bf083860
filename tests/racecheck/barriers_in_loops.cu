#include "../memcheck/memcheck.h"

// Loops in which one iteration has no barrier.
const int THREADS = 128;

// The last iteration leaves out the barrier, and what follows reads.
__global__ void not_in_the_last(int *data, int rounds) {
    __shared__ int ring[2][THREADS];
    ring[0][threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    int now = 0;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round, now = 1 - now) {
        ring[1 - now][threadIdx.x] = ring[now][(threadIdx.x + 32) % THREADS]; //~ ERROR data-race
        if (WRONG_OR_RIGHT(round + 1 < rounds, true)) __syncthreads();
    }
    data[threadIdx.x] = ring[now][THREADS - 1 - threadIdx.x]; //~ ERROR data-race
}

// The first iteration has none.
__global__ void not_in_the_first(int *data, int rounds) {
    __shared__ int ring[THREADS];
    int value = data[threadIdx.x];
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        if (WRONG_OR_RIGHT(round > 0, true)) __syncthreads();
        ring[threadIdx.x] = value; //~ ERROR data-race
        if (WRONG_OR_RIGHT(round > 0, true)) __syncthreads();
        value = ring[(threadIdx.x + 64) % THREADS]; //~ ERROR data-race
    }
    data[threadIdx.x] = value;
}

// Every second iteration has none.
__global__ void every_second(int *data, int rounds) {
    __shared__ int ring[2][THREADS];
    ring[0][threadIdx.x] = data[threadIdx.x];
    __syncthreads();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        int now = round & 1;
        ring[1 - now][threadIdx.x] = ring[now][(threadIdx.x + 32) % THREADS]; //~ ERROR data-race
        if (WRONG_OR_RIGHT(now == 0, true)) __syncthreads();
    }
    __syncthreads();
    data[threadIdx.x] = ring[rounds & 1][threadIdx.x];
}

// `continue` jumps over the barrier.
__global__ void jump_over(int *data, const int *skip, int rounds) {
    __shared__ int ring[THREADS];
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        ring[threadIdx.x] = data[round * THREADS + threadIdx.x]; //~ ERROR data-race
        __syncthreads();
        data[round * THREADS + threadIdx.x] = ring[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
        if (skip[round]) continue;
        __syncthreads();
    }
}

// Two buffers need one barrier for each iteration; one buffer needs two.
__global__ void one_buffer(int *data, int rounds) {
    __shared__ int buffer[2][THREADS];
    int value = data[threadIdx.x];
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        int now = WRONG_OR_RIGHT(0, round & 1);
        buffer[now][threadIdx.x] = value; //~ ERROR data-race
        __syncthreads();
        value += buffer[now][(threadIdx.x + 32) % THREADS]; //~ ERROR data-race
    }
    data[threadIdx.x] = value;
}

// Three stages of which the barrier frees only the one before: the distance is one too short.
__global__ void stages(int *data, int rounds) {
    __shared__ int stage[3][THREADS];
    int sum = 0;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        stage[round % WRONG_OR_RIGHT(1, 3)][threadIdx.x] = data[threadIdx.x] + round; //~ ERROR data-race
        __syncthreads();
        sum += stage[round % WRONG_OR_RIGHT(1, 3)][THREADS - 1 - threadIdx.x]; //~ ERROR data-race
    }
    data[threadIdx.x] = sum;
}

int main() {
    not_in_the_last<<<1, THREADS>>>(device<int>(THREADS), 3);
    not_in_the_first<<<1, THREADS>>>(device<int>(THREADS), 3);
    every_second<<<1, THREADS>>>(device<int>(THREADS), 4);
    int skip[4] = {0, WRONG_OR_RIGHT(1, 0), 0, 1};
    int *skips = device<int>(4);
    OK(cudaMemcpy(skips, skip, sizeof skip, cudaMemcpyHostToDevice));
    jump_over<<<1, THREADS>>>(device<int>(4 * THREADS), skips, 4);
    one_buffer<<<1, THREADS>>>(device<int>(THREADS), 4);
    stages<<<1, THREADS>>>(device<int>(THREADS), 4);
    return finish();
}
