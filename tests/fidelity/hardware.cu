//@ exit: 0
#include "../memcheck/memcheck.h"

// Time, multiprocessors, and sums of floats whose order is open; and functions of CUDA that are approximate, hints, or missing.
__global__ void kernel(float *sum, long long *times) {
#ifndef FIXED
    long long start = clock64();
    asm volatile("red.global.add.f32 [%0], 0f3F000000;" ::"l"(sum));
    unsigned multiprocessor;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    times[multiprocessor == 1000] = clock64() - start;
#else
    times[0] = threadIdx.x;
#endif
}

int main() {
    cudaEvent_t start, end;
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    cudaEventRecord(start);
    int *managed = nullptr;
    cudaMallocManaged(&managed, 4);
    cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferL1);
    for (int launch = 0; launch < 2; ++launch)
        kernel<<<2, 32>>>(device<float>(1), device<long long>(2));
    cudaEventRecord(end);
    cudaDeviceSynchronize();
    float milliseconds;
    cudaEventElapsedTime(&milliseconds, start, end);
    cudaFree(managed);
#ifndef FIXED
    cudaDestroyExternalSemaphore(nullptr);
#endif
    return finish();
}
