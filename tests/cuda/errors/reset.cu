//@ bugs: frees and copies what is not there
// After cudaDeviceReset the device is as new: memory is gone, and work goes on.

#include "../expect.h"

__device__ int counter = 5;
__global__ void increment() { counter += 1; }

int main() {
    int value = 0;
    size_t before = 0, after = 0, total = 0;
    OK(cudaMemGetInfo(&before, &total));
    void *p;
    OK(cudaMalloc(&p, 32 << 20));
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    increment<<<1, 1, 0, stream>>>();
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    CHECK(value == 6);

    OK(cudaDeviceReset());
    CHECK(cudaStreamSynchronize(stream) != cudaSuccess);
    cudaGetLastError();
    RETURNS(cudaErrorInvalidValue, cudaFree(p));
    OK(cudaMemGetInfo(&after, &total));
    CHECK(after + (1 << 20) >= before); // Modules may stay.
    // Variables have their first values again.
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    CHECK(value == 5);
    increment<<<1, 1>>>();
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    CHECK(value == 6);
    return done();
}
