#include "memcheck.h"

__global__ void read(const int *data, int *out) {
    out[threadIdx.x] = data[threadIdx.x]; //~ ERROR use-after-free
}

int main() {
    int *data = device<int>(64), *out = device<int>(64);
    #ifndef FIXED
    OK(cudaFree(data));
    #endif
    read<<<1, 64>>>(data, out);
    return finish();
}
