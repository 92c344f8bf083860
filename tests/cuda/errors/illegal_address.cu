// After a write through a wild pointer every call returns error 700, on every thread, for as long as the process lives.
//@ stderr: kernel `write(int*)`
//@ variants: static shared sm_75 sm_90 G lineinfo ptds clang

#include "../expect.h"
#include <thread>

__global__ void write(int *p) { *p = 1; }

int main() {
    int *good, value = 0;
    OK(cudaMalloc(&good, sizeof(int)));
    write<<<1, 1>>>((int *)0x40);
    RETURNS(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    RETURNS(cudaErrorIllegalAddress, cudaGetLastError());
    RETURNS(cudaErrorIllegalAddress, cudaGetLastError()); // Asking does not clear it.
    RETURNS(cudaErrorIllegalAddress, cudaPeekAtLastError());
    void *p;
    cudaStream_t stream;
    cudaEvent_t event;
    RETURNS(cudaErrorIllegalAddress, cudaMalloc(&p, 4));
    RETURNS(cudaErrorIllegalAddress, cudaFree(good));
    RETURNS(cudaErrorIllegalAddress, cudaMemcpy(&value, good, sizeof value, cudaMemcpyDeviceToHost));
    RETURNS(cudaErrorIllegalAddress, cudaMemset(good, 0, sizeof value));
    RETURNS(cudaErrorIllegalAddress, cudaStreamCreate(&stream));
    RETURNS(cudaErrorIllegalAddress, cudaEventCreate(&event));
    RETURNS(cudaErrorIllegalAddress, cudaStreamSynchronize(0));
    write<<<1, 1>>>(good);
    RETURNS(cudaErrorIllegalAddress, cudaGetLastError());
    std::thread([] { RETURNS(cudaErrorIllegalAddress, cudaDeviceSynchronize()); }).join();
    return done();
}
