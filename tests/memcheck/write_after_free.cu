#include "memcheck.h"

__global__ void write(int *data) {
    data[threadIdx.x] = 1; //~ ERROR use-after-free
}

int main() {
    int *data = device<int>(64), *copy = data;
    #ifndef FIXED
    OK(cudaFree(data));
    #endif
    // Memory that was freed is not given out again at once.
    data = device<int>(64);
    write<<<1, 64>>>(copy);
    return finish();
}
