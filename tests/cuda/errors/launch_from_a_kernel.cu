// A kernel that launches kernels is refused when it is launched, in words that a user knows, and other kernels run.
//@ variants: rdc
//@ build: -lcudadevrt
//@ stderr: it launches kernels itself (dynamic parallelism), which the CPU device does not support

#include "../expect.h"

__global__ void plain(int *p) { *p = 1; }
__global__ void launches(int *p) { plain<<<1, 1>>>(p); }

int main() {
    int *p, value = 0;
    OK(cudaMalloc(&p, sizeof(int)));
    launches<<<1, 1>>>(p);
    RETURNS(cudaErrorNotSupported, cudaGetLastError());
    plain<<<1, 1>>>(p);
    OK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 1);
    return done();
}
