// A read of memory that was freed, and is not used again, is error 700.
//@ stderr: kernel `read(int*, int*)`: illegal address

#include "../expect.h"

__global__ void read(int *p, int *out) { *out = p[100]; }

int main() {
    int *freed, *out;
    OK(cudaMalloc(&freed, 64 << 20));
    OK(cudaMalloc(&out, sizeof(int)));
    read<<<1, 1>>>(freed, out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(freed));
    read<<<1, 1>>>(freed, out);
    RETURNS(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    return done();
}
