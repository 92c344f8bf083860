#include "memcheck.h"


#include <csignal>

__global__ void fill(int *data) {
    data[threadIdx.x] = 7; //~ ERROR out-of-bounds
}

int main() {
    fill<<<1, WRONG_OR_RIGHT(64, 60)>>>(device<int>(60));
    cudaDeviceSynchronize();
#ifndef FIXED
    raise(SIGSEGV);
#endif
    return finish();
}
