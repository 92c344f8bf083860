#include "../memcheck/memcheck.h"

// Threads of one block and global memory.
const int THREADS = 128;

__global__ void reverse(int *data, int *out) {
    data[threadIdx.x] = threadIdx.x; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    out[threadIdx.x] = data[THREADS - 1 - threadIdx.x]; //~ ERROR data-race
}

// A shift in place.
__global__ void shift(int *data) {
    int next = data[threadIdx.x + 32];
    WRONG_OR_RIGHT((void)0, __syncthreads());
    data[threadIdx.x] = next; //~ ERROR data-race
}

__global__ void counter(int *count) {
    if (threadIdx.x % 32 != 0) return;
    if (WRONG_OR_RIGHT(true, false))
        ++*count; //~ ERROR data-race
    else
        atomicAdd(count, 1);
}

// Each warp has a range of elements; the ranges are one element too long.
__global__ void ranges(int *data, int each) {
    int first = threadIdx.x / 32 * each;
    for (int i = first + threadIdx.x % 32; i < first + each + WRONG_OR_RIGHT(1, 0); i += 32) data[i] += i; //~ ERROR data-race
}

// Results of all threads in one element each; thread 0 sums too early.
__global__ void sum_too_early(const int *in, int *part, int *out) {
    part[threadIdx.x] = in[threadIdx.x] * 2;
    WRONG_OR_RIGHT((void)0, __syncthreads());
    if (threadIdx.x == 96) {
        int sum = 0;
#pragma unroll 1
        for (int i = 0; i < 96; ++i) sum += part[i]; //~ ERROR data-race
        *out = sum;
    }
}

// Input and output are the same array, which the function does not know.
__global__ void average(const float *in, float *out) {
    out[threadIdx.x] = in[threadIdx.x] + in[threadIdx.x + 64]; //~ ERROR data-race
}

// Loads that may be kept in another cache, of what the kernel writes.
__global__ void constant_loads(const int *__restrict__ in, int *out, int *sum) {
    out[threadIdx.x] = threadIdx.x; //~ ERROR data-race
    __syncwarp();
    sum[threadIdx.x] = __ldg(in + (threadIdx.x + 32) % THREADS); //~ ERROR data-race
}

// A barrier orders the threads of each block alone.
__global__ void barrier_of_one_block(int *data, int *out) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    data[i] = i; //~ ERROR data-race
    __syncthreads();
    out[i] = data[WRONG_OR_RIGHT(2 * THREADS - 1 - i, blockIdx.x * THREADS + THREADS - 1 - threadIdx.x)]; //~ ERROR data-race
}

int main() {
    reverse<<<1, THREADS>>>(device<int>(THREADS), device<int>(THREADS));
    shift<<<1, THREADS>>>(device<int>(THREADS + 32));
    counter<<<1, THREADS>>>(device<int>(1));
    ranges<<<1, THREADS>>>(device<int>(401), 100);
    sum_too_early<<<1, THREADS>>>(device<int>(THREADS), device<int>(THREADS), device<int>(1));
    float *numbers = device<float>(192);
    average<<<1, THREADS>>>(numbers, WRONG_OR_RIGHT(numbers, device<float>(THREADS)));
    int *both = device<int>(THREADS);
    constant_loads<<<1, THREADS>>>(WRONG_OR_RIGHT(both, device<int>(THREADS)), both, device<int>(THREADS));
    barrier_of_one_block<<<2, THREADS>>>(device<int>(2 * THREADS), device<int>(2 * THREADS));
    return finish();
}
