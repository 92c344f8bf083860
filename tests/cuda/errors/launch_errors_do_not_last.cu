// A launch that cannot be is an error once, and the device works on.

#include "../expect.h"

__global__ void set(int *p) { *p = 3; }

int main() {
    int *p, value = 0;
    OK(cudaMalloc(&p, sizeof(int)));
    set<<<1, 2000>>>(p);
    OK(cudaDeviceSynchronize());
    RETURNS(cudaErrorInvalidConfiguration, cudaPeekAtLastError());
    RETURNS(cudaErrorInvalidConfiguration, cudaGetLastError());
    OK(cudaGetLastError());
    set<<<1, 1, 1 << 20>>>(p);
    RETURNS(cudaErrorInvalidValue, cudaGetLastError());
    set<<<1, 1, 0, (cudaStream_t)0x777>>>(p);
    CHECK(cudaGetLastError() != cudaSuccess);
    set<<<1, 1>>>(p);
    OK(cudaGetLastError());
    OK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 3);
    return done();
}
