// A word at an odd address is error 716, which lasts.
//@ stderr: kernel `read(char const*, int*)`: address

#include "../expect.h"

__global__ void read(const char *p, int *out) { *out = *(const int *)p; }

int main() {
    char *p;
    int *out;
    OK(cudaMalloc(&p, 64));
    OK(cudaMalloc(&out, sizeof(int)));
    read<<<1, 1>>>(p + 4, out);
    OK(cudaDeviceSynchronize());
    read<<<1, 1>>>(p + 1, out);
    RETURNS(cudaErrorMisalignedAddress, cudaDeviceSynchronize());
    RETURNS(cudaErrorMisalignedAddress, cudaFree(out));
    return done();
}
