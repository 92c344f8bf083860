// A kernel that spins on mapped memory ends when the host writes it, and the host sees what the kernel writes meanwhile.
//@ variants: static shared sm_75 sm_90 G ptds clang

#include "../expect.h"

__global__ void answer(volatile int *question, volatile int *reply) {
    *reply = 1;
    __threadfence_system();
    while (*question == 0) {}
    *reply = *question + 1;
}

int main() {
    volatile int *host, *device;
    OK(cudaHostAlloc((void **)&host, 2 * sizeof(int), cudaHostAllocMapped));
    OK(cudaHostGetDevicePointer((void **)&device, (void *)host, 0));
    host[0] = host[1] = 0;
    answer<<<1, 1>>>(device, device + 1);
    OK(cudaGetLastError());
    while (host[1] == 0) {}
    CHECK(host[1] == 1);
    RETURNS(cudaErrorNotReady, cudaStreamQuery(0));
    // That is no error.
    OK(cudaPeekAtLastError());
    host[0] = 41;
    OK(cudaDeviceSynchronize());
    CHECK(host[1] == 42);
    OK(cudaFreeHost((void *)host));
    return done();
}
