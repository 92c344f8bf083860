// A kernel that does not end is ended after the time that `--launch-timeout` gives it: error 702, which lasts.
//@ stderr: kernel `forever(int volatile*)`: the launch did not end in time
//@ run: --launch-timeout 1

#include "../expect.h"

__global__ void forever(volatile int *p) {
    while (*p == 0) {}
}
__global__ void brief(volatile int *p) { *p = 1; }

int main() {
    int *p, value = 0;
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrKernelExecTimeout, 0));
    CHECK(value == 1);
    OK(cudaMalloc(&p, sizeof(int)));
    brief<<<1, 1>>>(p);
    forever<<<1, 1>>>(p); // Ends at once.
    OK(cudaDeviceSynchronize());
    OK(cudaMemset(p, 0, sizeof(int)));
    forever<<<4, 64>>>(p);
    RETURNS(cudaErrorLaunchTimeout, cudaDeviceSynchronize());
    RETURNS(cudaErrorLaunchTimeout, cudaGetLastError());
    return done();
}
