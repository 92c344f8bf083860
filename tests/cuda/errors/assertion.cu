// A failed assertion is error 710, and says where, in CUDA's words.
//@ stderr: assertion.cu:11: void check(int *, int): block: [1,0,0], thread: [3,0,0] Assertion `values[i] < limit && "too large"` failed.
//@ variants: static shared sm_75 sm_90 G

#include "../expect.h"
#include <cassert>

// The line of the assertion is part of what is expected above.
__global__ void check(int *values, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(values[i] < limit && "too large");
}

int main() {
    int *values, host[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    OK(cudaMalloc(&values, sizeof host));
    OK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    check<<<2, 4>>>(values, 9);
    OK(cudaDeviceSynchronize());
    check<<<2, 4>>>(values, 8);
    RETURNS(cudaErrorAssert, cudaDeviceSynchronize());
    RETURNS(cudaErrorAssert, cudaGetLastError());
    RETURNS(cudaErrorAssert, cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
    return done();
}
