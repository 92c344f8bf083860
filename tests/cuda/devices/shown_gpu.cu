// A program that is shown a GPU sees its name, limits and multiprocessors, and can use what these allow.
//@ run: --gpu h100

#include <cooperative_groups.h>
#include <cstring>

#include "../expect.h"

__global__ void fill(int *found, int bytes) {
    extern __shared__ unsigned char tile[];
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) tile[i] = i % 251;
    __syncthreads();
    int sum = 0;
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) sum += tile[bytes - 1 - i] == (bytes - 1 - i) % 251;
    atomicAdd(found, sum);
}

__global__ void meet(int *counts, int blocks) {
    auto grid = cooperative_groups::this_grid();
    if (threadIdx.x == 0) counts[blockIdx.x] = 1;
    grid.sync();
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < blocks; i++) sum += counts[i];
        counts[0] = sum;
    }
}

int main() {
    cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, 0));
    CHECK(strcmp(properties.name, "NVIDIA H100 80GB HBM3") == 0);
    CHECK(properties.major == 9 && properties.minor == 0);
    CHECK(properties.multiProcessorCount == 132);
    CHECK(properties.totalGlobalMem > 79ull << 30 && properties.totalGlobalMem < 80ull << 30);
    CHECK(properties.sharedMemPerBlockOptin == 227 << 10 && properties.sharedMemPerMultiprocessor == 228 << 10);
    CHECK(properties.l2CacheSize == 50 << 20);
    CHECK(properties.integrated == 0 && properties.pageableMemoryAccess == 0);
    int clock = 0;
    OK(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0));
    CHECK(clock == 1980000);

    // All of the shared memory that a block can have.
    const int most = properties.sharedMemPerBlockOptin;
    int *found;
    OK(cudaMallocManaged(&found, 4));
    *found = 0;
    OK(cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    fill<<<2, 128, most>>>(found, most);
    OK(cudaDeviceSynchronize());
    CHECK(*found == 2 * most);
    RETURNS(cudaErrorInvalidValue, cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1));
    int fit = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, fill, 128, most));
    CHECK(fit == 1);

    // A grid that meets must fit on the multiprocessors.
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, meet, 1024, 0));
    CHECK(fit == 2);
    int blocks = 4, *counts;
    OK(cudaMallocManaged(&counts, blocks * sizeof(int)));
    void *arguments[] = {&counts, &blocks};
    OK(cudaLaunchCooperativeKernel(meet, blocks, 32, arguments, 0, nullptr));
    OK(cudaDeviceSynchronize());
    CHECK(counts[0] == blocks);
    RETURNS(cudaErrorCooperativeLaunchTooLarge,
            cudaLaunchCooperativeKernel(meet, fit * properties.multiProcessorCount + 1, 1024, arguments, 0, nullptr));
    return done();
}
