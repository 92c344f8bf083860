// What a kernel says of itself: shared memory, threads, launch bounds, and the occupancy that follows.
//@ variants: static shared sm_75 sm_90 rdc clang

#include "../expect.h"

__global__ void plain(int *p) { *p = threadIdx.x; }
__global__ void with_shared(int *p) {
    __shared__ int cells[256];
    cells[threadIdx.x] = *p;
    __syncthreads();
    p[threadIdx.x] = cells[255 - threadIdx.x];
}
__global__ void __launch_bounds__(128, 2) bounded(int *p) { *p = 1; }
__global__ void with_dynamic(int *p) {
    extern __shared__ int cells[];
    cells[threadIdx.x] = 1;
    *p = cells[threadIdx.x];
}

int main() {
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, plain));
    CHECK(attributes.sharedSizeBytes == 0);
    CHECK(attributes.maxThreadsPerBlock == 1024);
    CHECK(attributes.numRegs > 0);
#ifdef __CUDA_ARCH_LIST__
    // CUB chooses by it what it launches.
    const int built_for[] = {__CUDA_ARCH_LIST__};
    CHECK(attributes.ptxVersion == built_for[0] / 10);
#endif
    CHECK(attributes.maxDynamicSharedSizeBytes == 48 << 10);
    OK(cudaFuncGetAttributes(&attributes, with_shared));
    CHECK(attributes.sharedSizeBytes == 1024);
    CHECK(attributes.maxDynamicSharedSizeBytes == (48 << 10) - 1024);
    OK(cudaFuncGetAttributes(&attributes, bounded));
    CHECK(attributes.maxThreadsPerBlock == 128);
    const char *name = nullptr;
    OK(cudaFuncGetName(&name, (const void *)plain));
    CHECK(name != nullptr);
    OK(cudaFuncSetCacheConfig(plain, cudaFuncCachePreferL1));
    RETURNS(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&attributes, (const void *)main));
    RETURNS(cudaErrorInvalidDeviceFunction, cudaGetLastError());

    // Launches that exceed the bound are refused, and the next one is not.
    int *p;
    OK(cudaMalloc(&p, 1024 * sizeof(int)));
    bounded<<<1, 129>>>(p);
    CHECK(cudaGetLastError() != cudaSuccess);
    bounded<<<1, 128>>>(p);
    OK(cudaGetLastError());

    int blocks = 0, small = 0, grid = 0, block = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 1024, 0));
    CHECK(blocks >= 1);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&small, plain, 32, 0));
    CHECK(small >= blocks);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 256, 0));
    CHECK(blocks == 0);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_dynamic, 32, 48 << 10));
    CHECK(blocks >= 1 && blocks <= 4);
    RETURNS(cudaErrorInvalidValue, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 0, 0));
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 0));
    CHECK(block >= 32 && block <= 1024 && block % 32 == 0);
    CHECK(grid >= 1);
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0));
    CHECK(block <= 128);
    size_t bytes = 0;
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, with_shared, 1, 128));
    CHECK(bytes > 0 && bytes <= (48 << 10) - 1024);
    return done();
}
