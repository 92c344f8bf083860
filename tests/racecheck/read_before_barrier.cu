#include "../memcheck/memcheck.h"

// What one thread writes to shared memory another one reads, with no barrier between.
const int THREADS = 256;

__global__ void reverse(int *data) {
    __shared__ int tile[THREADS];
    tile[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    data[threadIdx.x] = tile[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
}

// One thread finds out what all need.
__global__ void broadcast(const int *data, int *sums) {
    __shared__ int pivot;
    if (threadIdx.x == 0) pivot = data[blockIdx.x];
    WRONG_OR_RIGHT((void)0, __syncthreads());
    if (threadIdx.x >= 32) sums[blockIdx.x * blockDim.x + threadIdx.x] = pivot; //~ ERROR data-race
}

// The barrier comes before the write instead of after it.
__global__ void barrier_too_early(int *data) {
    __shared__ int tile[THREADS];
    int value = data[threadIdx.x];
    if (WRONG_OR_RIGHT(true, false)) __syncthreads();
    tile[threadIdx.x] = value; //~ ERROR data-race
    if (WRONG_OR_RIGHT(false, true)) __syncthreads();
    data[threadIdx.x] = tile[(threadIdx.x + 64) % THREADS]; //~ ERROR data-race
}

// Which element is read depends on the data.
__global__ void gather(int *data, const int *index) {
    __shared__ int tile[THREADS];
    tile[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    data[threadIdx.x] = tile[index[threadIdx.x]]; //~ ERROR data-race
}

// Threads past the end leave early; those that stay still need the barrier.
__global__ void early_exit(int *data, int count) {
    __shared__ int tile[THREADS];
    if (threadIdx.x >= count) return;
    tile[threadIdx.x] = data[threadIdx.x]; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    data[threadIdx.x] = tile[(threadIdx.x + 32) % count]; //~ ERROR data-race
}

// A table that all threads fill, each a part of it, before any of them looks up in it.
__global__ void table(const unsigned char *bytes, int *out) {
    __shared__ int squares[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) squares[i] = i * i; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    if (threadIdx.x < 32) out[threadIdx.x] = squares[bytes[threadIdx.x] * 4 + 3 - (threadIdx.x & 3)];
}

int main() {
    reverse<<<1, THREADS>>>(device<int>(THREADS));
    broadcast<<<2, 64>>>(device<int>(2), device<int>(128));
    barrier_too_early<<<1, THREADS>>>(device<int>(THREADS));
    int index[THREADS];
    for (int i = 0; i < THREADS; ++i) index[i] = (i + 32) % THREADS;
    int *indices = device<int>(THREADS);
    OK(cudaMemcpy(indices, index, sizeof index, cudaMemcpyHostToDevice));
    gather<<<1, THREADS>>>(device<int>(THREADS), indices);
    early_exit<<<1, THREADS>>>(device<int>(THREADS), 96);
    unsigned char *bytes = device<unsigned char>(THREADS);
    OK(cudaMemset(bytes, 255, THREADS));
    table<<<1, 64>>>(bytes, device<int>(THREADS));
    return finish();
}
