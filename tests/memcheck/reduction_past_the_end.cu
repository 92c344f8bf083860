#include "memcheck.h"

__global__ void count(unsigned *bins) {
    atomicMax(&bins[threadIdx.x / WRONG_OR_RIGHT(5, 8)], threadIdx.x); //~ ERROR out-of-bounds
}

int main() {
    count<<<1, 64>>>(device<unsigned>(8));
    return finish();
}
