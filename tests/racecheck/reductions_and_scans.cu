#include "../memcheck/memcheck.h"

// Sums, scans and histograms of a block.
const int THREADS = 256;

// No barrier in the tree at all, down to the warps.
__global__ void tree(int *data) {
    __shared__ int part[THREADS];
    part[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
#pragma unroll 1
    for (int stride = THREADS / 2; stride >= 32; stride /= 2) {
        if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride]; //~ ERROR data-race
        WRONG_OR_RIGHT((void)0, __syncthreads());
    }
    if (threadIdx.x < 32) data[threadIdx.x] = part[threadIdx.x];
}

// The barrier is there after the first stride only.
__global__ void unrolled_tree(int *data) {
    __shared__ int part[THREADS];
    part[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 128) part[threadIdx.x] += part[threadIdx.x + 128];
    __syncthreads();
    if (threadIdx.x < 64) part[threadIdx.x] += part[threadIdx.x + 64]; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    if (threadIdx.x < 32) data[threadIdx.x] = part[threadIdx.x] + part[threadIdx.x + 32];
}

// Each warp sums by shuffles, and the first warp takes the sums of all too early.
__global__ void sums_of_warps(int *data) {
    __shared__ int sums[8];
    int value = data[threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(~0u, value, offset);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    WRONG_OR_RIGHT((void)0, __syncthreads());
    if (threadIdx.x == THREADS - 32) {
        int sum = 0;
#pragma unroll 1
        for (int i = 0; i < 8; ++i) sum += sums[i]; //~ ERROR data-race
        data[0] = sum; //~ ERROR data-race
    }
}

// A scan by Hillis and Steele in one array: reads and writes of a step need a barrier between them, too.
__global__ void hillis_steele(int *data) {
    __shared__ int part[THREADS];
    part[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
#pragma unroll 1
    for (int offset = 32; offset < THREADS; offset *= 2) {
        int other = threadIdx.x >= offset ? part[threadIdx.x - offset] : 0; //~ ERROR data-race
        WRONG_OR_RIGHT((void)0, __syncthreads());
        part[threadIdx.x] += other;
        __syncthreads();
    }
    data[threadIdx.x] = part[threadIdx.x];
}

// The way down of a scan by Blelloch begins before the root is cleared.
__global__ void blelloch(int *data) {
    __shared__ int part[THREADS];
    part[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    for (int stride = 1; stride < THREADS; stride *= 2) {
        int i = (threadIdx.x + 1) * stride * 2 - 1;
        if (i < THREADS) part[i] += part[i - stride];
        __syncthreads();
    }
    // The last thread, so that the first ones have read already.
    if (threadIdx.x == THREADS - 1) part[THREADS - 1] = 0; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        int i = (threadIdx.x + 1) * stride * 2 - 1;
        if (i < THREADS) {
            int left = part[i - stride];
            part[i - stride] = part[i];
            part[i] += left;
        }
        __syncthreads();
    }
    data[threadIdx.x] = part[threadIdx.x];
}

// Bins are counted before they are zero.
__global__ void histogram(const int *data, int *out) {
    __shared__ int bins[64];
    if (threadIdx.x >= THREADS - 64) bins[threadIdx.x - (THREADS - 64)] = 0; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    atomicAdd(&bins[(data[threadIdx.x] + threadIdx.x) & 31], 1); //~ ERROR data-race
    __syncthreads();
    if (threadIdx.x < 64) out[threadIdx.x] = bins[threadIdx.x];
}

// Bins are taken before all are counted.
__global__ void histogram_read_too_early(const int *data, int *out) {
    __shared__ int bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[(data[threadIdx.x] + threadIdx.x) & 31], 1); //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    if (threadIdx.x >= THREADS - 64) out[threadIdx.x - (THREADS - 64)] = bins[threadIdx.x & 31]; //~ ERROR data-race
}

// Bins are counted without atomics.
__global__ void histogram_without_atomics(const int *data, int *out) {
    __shared__ int bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    __syncthreads();
    if (WRONG_OR_RIGHT(true, false))
        bins[threadIdx.x & 31] += data[threadIdx.x] + threadIdx.x; //~ ERROR data-race
    else
        atomicAdd(&bins[threadIdx.x & 31], data[threadIdx.x] + threadIdx.x);
    __syncthreads();
    if (threadIdx.x < 64) out[threadIdx.x] = bins[threadIdx.x];
}

int main() {
    int numbers[THREADS], *ones = device<int>(THREADS);
    for (int i = 0; i < THREADS; ++i) numbers[i] = 1;
    OK(cudaMemcpy(ones, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    tree<<<1, THREADS>>>(device<int>(THREADS));
    unrolled_tree<<<1, THREADS>>>(device<int>(THREADS));
    sums_of_warps<<<1, THREADS>>>(device<int>(THREADS));
    hillis_steele<<<1, THREADS>>>(device<int>(THREADS));
    blelloch<<<1, THREADS>>>(ones);
    histogram<<<1, THREADS>>>(device<int>(THREADS), device<int>(64));
    histogram_read_too_early<<<1, THREADS>>>(device<int>(THREADS), device<int>(64));
    histogram_without_atomics<<<1, THREADS>>>(device<int>(THREADS), device<int>(64));
    return finish();
}
