// A kernel that asks for clusters of several blocks is refused by name, and not run with clusters of one.
//@ variants: sm_90
//@ stderr: launches of clusters of more than one block are not supported by the CPU device
//@ bugs: the kernel does not run

#include "../expect.h"

__global__ void __cluster_dims__(4, 1, 1) set(int *p) { p[blockIdx.x] = 1; }

int main() {
    int *p;
    OK(cudaMallocManaged(&p, 8 * sizeof(int)));
    OK(cudaMemset(p, 0, 8 * sizeof(int)));
    set<<<8, 1>>>(p);
    RETURNS(cudaErrorNotSupported, cudaGetLastError());
    OK(cudaDeviceSynchronize());
    CHECK(p[0] == 0);
    return done();
}
