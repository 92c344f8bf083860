// After a kernel has failed, nothing can be freed; what the program tries to free is no leak.
//@ flags: --leak-check full

#include "memcheck.h"

__global__ void set(int *p, int n) {
    p[n] = 1; //~ ERROR out-of-bounds
}

int main() {
    int *one = device<int>(100), *two, *pinned;
    OK(cudaMallocAsync(&two, 400, 0));
    OK(cudaHostAlloc(&pinned, 400, 0));
    set<<<1, 1>>>(one, WRONG_OR_RIGHT(100, 99));
    cudaDeviceSynchronize();
    cudaFreeAsync(two, 0);
    cudaFreeHost(pinned);
    cudaFree(one);
    return finish();
}
