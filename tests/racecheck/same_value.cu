//@ exit: 0
#include "../memcheck/memcheck.h"

// Writes of the same value, which are warnings.
__global__ void flag_of_many(const int *data, int *found) {
    if (data[threadIdx.x] == 0) {
        if (WRONG_OR_RIGHT(true, false))
            *found = 1; //~ ERROR same-value-race
        else
            atomicExch(found, 1);
    }
}

// By blocks of one thread.
__global__ void flag_of_blocks(int *found) {
    if (WRONG_OR_RIGHT(true, blockIdx.x == 0)) *found = 1; //~ ERROR same-value-race
}

// By warps of a block, in shared memory.
__global__ void flag_of_warps(int *out) {
    __shared__ bool is_done;
    if (WRONG_OR_RIGHT(threadIdx.x % 32 == 0, threadIdx.x == 0)) is_done = out[threadIdx.x] == 0; //~ ERROR same-value-race
    __syncthreads();
    out[threadIdx.x] = is_done;
}

// All threads clear all bins.
__global__ void clear(int *bins) {
#pragma unroll 1
    for (int i = WRONG_OR_RIGHT(0, threadIdx.x); i < 64; i += WRONG_OR_RIGHT(1, 64)) bins[i] = -1; //~ ERROR same-value-race
}

// The overlap of two blocks has the same value in both.
__global__ void overlap(float *out) {
    int i = blockIdx.x * WRONG_OR_RIGHT(30, 32) + threadIdx.x;
    out[i] = 0.5f * i; //~ ERROR same-value-race
}

// After a barrier of the warp, by lanes of one instruction: the record that they find is that of the lane which cleared it.
__global__ void flag_of_a_warp(const int *data, int *out) {
    __shared__ bool is_found[2];
    int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) is_found[warp] = false;
    __syncwarp();
    for (int i = threadIdx.x % 32; i < 128; i += 32) {
        if (data[i] == 0) {
            if (WRONG_OR_RIGHT(true, i == 5)) is_found[warp] = true; //~ ERROR same-value-race
        }
    }
    __syncwarp();
    out[threadIdx.x] = is_found[warp];
}

// At two lines.
__global__ void two_lines(double *out, double first, double second) {
    if (threadIdx.x == 0) out[0] = first;
    __syncwarp();
    if (threadIdx.x == 32) out[WRONG_OR_RIGHT(0, 1)] = second; //~ ERROR same-value-race
}

int main() {
    flag_of_many<<<1, 32>>>(device<int>(32), device<int>(1));
    flag_of_blocks<<<4, 1>>>(device<int>(1));
    flag_of_warps<<<1, 128>>>(device<int>(128));
    flag_of_a_warp<<<1, 64>>>(device<int>(128), device<int>(64));
    clear<<<1, 64>>>(device<int>(64));
    overlap<<<2, 32>>>(device<float>(64));
    two_lines<<<1, 64>>>(device<double>(2), 2, 2);
    return finish();
}
