#include "memcheck.h"

__global__ void count(int *bins, int *order) {
    int bin = threadIdx.x % WRONG_OR_RIGHT(11, 10);
    order[threadIdx.x] = atomicAdd(&bins[bin], 1); //~ ERROR out-of-bounds
}

int main() {
    count<<<1, 64>>>(device<int>(10), device<int>(64));
    return finish();
}
